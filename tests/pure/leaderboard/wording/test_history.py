"""Sentences on the changes of a board, by a table of records."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from leaderboard.records.history import (
    Again,
    Baselines,
    Entered,
    Gone,
    Leaving,
    Left,
    Move,
    Moved,
    NewEntry,
    Opened,
    PeopleChanged,
    Ranked,
    Scored,
    Step,
    Texts,
)
from leaderboard.wording.history import change, leaders

MOVES = tuple(Move(name, 1, 2) for name in "abcdef")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (Opened(1), "This is the oldest ranking that is kept. It has 1 entry."),
        (Opened(1200), "This is the oldest ranking that is kept. It has 1,200 entries."),
        (Again(datetime(2026, 3, 1, 9, 5, tzinfo=UTC)), "The ranking of 1 March 2026, 09:05 UTC is shown again."),
        (Again(datetime(2026, 3, 1, 9, 5, tzinfo=ZoneInfo("Asia/Tokyo"))), "The ranking of 1 March 2026, 09:05 JST is shown again."),
        (Again(datetime(2026, 3, 1, tzinfo=ZoneInfo("Etc/GMT+12"))), "The ranking of 1 March 2026, 00:00 UTC−12 is shown again."),
        (Scored(False, (), (), ()), "All entries were scored again."),
        (Scored(False, ("C",), (), ("B",)), "All entries were scored again, with C added; with another definition of B."),
        (Scored(True, (), ("B",), ()), "All entries were scored again, under a new version of the reference; without B."),
        (
            Entered((NewEntry("gable", "Roofs", 1), NewEntry("hip", "", None))),
            "New: gable by Roofs, at rank 1; hip, without a rank.",
        ),
        (Entered(tuple(NewEntry(f"m{n}", "", n) for n in range(5))), "5 new entries: m0, m1, m2 and 2 more."),
        (Left((Gone("gable", Leaving.WITHDRAWN), Gone("hip")), 0, "all"), "Gone: gable: withdrawn by its team; hip."),
        (Left((Gone("old", instead="newer"),), 0, "best"), "Gone: old: its team has a better entry, newer."),
        (Left((Gone("old", instead="newer"),), 0, "latest"), "Gone: old: its team has a later entry, newer."),
        (Left((Gone("old", instead="newer"),), 0, "chosen"), "Gone: old: its team has another choice, newer."),
        (Left((), 1, "all"), "Gone: 1 that is not shown any more."),
        (Left(tuple(Gone(name) for name in "abcde"), 2, "all"), "Gone: a; b; c; and 2 more; 2 that are not shown any more."),
        (Moved((Move("hip", 3, 1), Move("gable", 1, 2))), "hip rises from rank 3 to 1, gable falls from rank 1 to 2."),
        (
            Moved(MOVES),
            "a falls from rank 1 to 2, b falls from rank 1 to 2, c falls from rank 1 to 2, d falls from rank 1 to 2, and 2 more.",
        ),
        (PeopleChanged(0, 120, False, False), "People's votes and ratings were added: 120 votes."),
        (PeopleChanged(0, 90, True, True), "People's votes and ratings were added: 90 ratings."),
        (PeopleChanged(120, 0, False, False), "People's votes and ratings are not shown any more."),
        (PeopleChanged(120, 150, False, False), "People: 30 more votes, 150 in all."),
        (PeopleChanged(90, 60, True, False), "People: 30 fewer ratings, 60 in all."),
        (PeopleChanged(120, 90, True, True), "People's votes and ratings are now of another study: 90 ratings."),
        (Ranked(("hip",), lost=True), "hip has no rank any more."),
        (Ranked(("hip", "ridge")), "hip and ridge have a rank now."),
        (Ranked(tuple("abcd"), lost=True), "4 entries have no rank any more."),
        (Baselines(("hip",)), "hip is now a baseline, without a rank."),
        (Baselines(("hip", "ridge")), "hip and ridge are now baselines, without a rank."),
        (Baselines(tuple("abcd"), made=False), "4 entries are no longer baselines."),
        (Texts(("gable",)), "The description of gable changed."),
        (Texts(tuple("abcd")), "The description of 4 entries changed."),
    ],
)
def test_a_change_is_a_sentence(record, words):
    assert change(record) == words


@pytest.mark.parametrize(("names", "words"), [((), ""), (("a",), "a"), (("a", "b", "c"), "a and 2 more")])
def test_a_step_names_its_first(names, words):
    assert leaders(Step("", datetime(2026, 3, 1, tzinfo=UTC), names, 3, ())) == words
