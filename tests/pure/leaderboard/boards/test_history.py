"""Sentences on the step from one ranking to the next, and the drawing of ranks over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from leaderboard.boards.history import Moment, chart, steps
from leaderboard.records.board import Board
from tests.support.leaderboard.boards import board_of, judged

START = datetime(2026, 3, 1, tzinfo=UTC)


def moments(*boards: Board) -> list[Moment]:
    return [Moment(f"{n}" * 64, START + timedelta(days=n), board) for n, board in enumerate(boards)]


def said(before: Board, after: Board, left=None) -> list[str]:
    return [change.words for change in steps(moments(before, after), left)[0].changes]


def without(board: Board, *gone: int) -> Board:
    """The ranking as if these entries were not there, ranked anew by its first metric."""
    kept = [n for n in range(len(board.entries)) if n not in gone]
    values = [board.metrics[0].value[n] for n in kept]
    again = board_of(
        values,
        name=[board.entries[n].name for n in kept],
        team=[board.entries[n].team for n in kept],
        team_id=[board.entries[n].team_id for n in kept],
    )
    entries = [entry.model_copy(update={"id": board.entries[n].id}) for entry, n in zip(again.entries, kept, strict=True)]
    return again.model_copy(update={"entries": entries})


NOW = board_of([0.9, 0.8, 0.7, 0.6], name=["gable", "ridge", "hip", "shed"])


def test_the_oldest_is_said_to_be_the_oldest_that_is_kept():
    (step,) = steps(moments(NOW))
    assert [change.words for change in step.changes] == ["The oldest ranking that is kept: 4 entries."] and step.first == "gable"


def test_the_newest_step_comes_first_and_nothing_is_said_where_nothing_changed():
    found = steps(moments(without(NOW, 0), NOW, NOW))
    assert [step.digest[0] for step in found] == ["2", "1", "0"] and [one.kind for one in found[0].changes] == ["nothing"]


def test_new_entries_are_named_with_their_ranks_and_whom_they_push_down():
    words = said(without(NOW, 0), NOW)
    assert words == ["New: gable by team 0, at rank 1.", "ridge falls from 1 to 2, hip falls from 2 to 3, shed falls from 3 to 4."]
    many = board_of([n / 10 for n in range(9)], name=[f"m{n}" for n in range(9)])
    assert said(without(many, 4, 5, 6, 7, 8), many)[0] == "5 new entries: m4, m5, m6 and 2 more."


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({1: (START + timedelta(days=1), "withdrawn by its team")}, "Gone: gable: withdrawn by its team."),
        ({1: (START + timedelta(days=2), "withdrawn by its team")}, "Gone: gable."),  # it was gone before
        ({}, "Gone: gable."),
    ],
)
def test_entries_that_left_are_named_with_why_where_that_may_be_said(left, words):
    assert said(NOW, without(NOW, 0), left)[0] == words


def test_a_teams_better_entry_is_the_reason_why_its_other_went():
    both = board_of([0.9, 0.8], name=["old", "other"], team_id=[7, 8])
    after = board_of([0.95, 0.8], name=["newer", "other"], team_id=[7, 8])
    entries = [after.entries[0].model_copy(update={"id": 99}), after.entries[1]]
    assert said(both, after.model_copy(update={"entries": entries}))[1] == "Gone: old: its team has a better entry, newer."


def test_what_people_gave_is_counted_by_its_own_name():
    few, more = (judged(NOW, [0.2, 0.8, 0.5, 0.4], answers=n) for n in (120, 150))
    some, most = (judged(NOW, [4.2, 3.1, 2.0, 1.5], kind="opinions", of="ratings", answers=n) for n in (90, 60))
    assert said(NOW, few) == ["People's part came: 120 votes."] and said(NOW, some) == ["People's part came: 90 ratings."]
    assert said(few, more) == ["People: 30 more votes, 150 in all."]
    assert said(some, most) == ["People: 30 fewer ratings, 60 in all."]
    assert said(few, some) == ["People's part is of another study: 90 ratings."]


def test_what_was_hidden_since_is_counted_and_named_nowhere():
    before, after = NOW.redacted({1}), without(NOW, 0)
    found = steps(moments(before, after))
    assert found[0].changes[0].words == "Gone: 1 that is not shown any more."
    assert not any("gable" in change.words for step in found for change in step.changes) and found[1].first != "gable"


def test_a_reevaluation_says_what_for():
    again = NOW.model_copy(update={"batch": 2})
    assert said(NOW, again) == ["All entries were scored again."]
    other = again.metrics[1].model_copy(update={"fingerprint": "other"})
    assert said(NOW, again.model_copy(update={"metrics": [again.metrics[0], other]})) == [
        "All entries were scored again, with another definition of B."
    ]
    assert said(NOW, again.model_copy(update={"metrics": again.metrics[:1], "reference": 2})) == [
        "All entries were scored again, under a new version of the reference; without B."
    ]


class TestChart:
    def test_a_line_breaks_where_the_entry_was_not_there(self):
        drawn = chart(moments(NOW, without(NOW, 0), NOW))
        gable = next(line for line in drawn.lines if line.name == "gable")
        assert gable.path.count("M") == 2 and gable.path.count("L") == 0 and len(gable.dots) == 2 and gable.is_first
        ridge = next(line for line in drawn.lines if line.name == "ridge")
        assert (ridge.path.count("M"), ridge.path.count("L")) == (1, 2)
        heights = [y for _, y, _ in ridge.dots]
        assert heights[1] < heights[0] == heights[2], "it was first for a while, and the first stands on top"

    def test_names_of_level_entries_do_not_lie_on_each_other(self):
        level = board_of([0.5] * 4, name=["a", "b", "c", "d"])
        heights = sorted(line.y for line in chart(moments(level, level)).lines)
        assert all(b - a >= 13 for a, b in pairwise(heights))
        assert chart(moments(level, level)).height >= heights[-1]

    def test_one_ranking_and_an_unranked_board_have_none(self):
        assert chart(moments(NOW)) is None and chart(moments(board_of([None]), board_of([None]))) is None


def test_texts_that_changed_are_said_to_have():
    entries = [NOW.entries[0].model_copy(update={"parameters": 38_000_000}), *NOW.entries[1:]]
    assert said(NOW, NOW.model_copy(update={"entries": entries})) == ["What is said of gable changed."]
    renamed = [entry.model_copy(update={"name": f"{entry.name} 2"}) for entry in NOW.entries]
    assert said(NOW, NOW.model_copy(update={"entries": renamed})) == ["What is said of 4 entries changed."]


def test_a_ranking_that_stands_again_is_said_to_be_one_of_before():
    first, second, again = moments(NOW, without(NOW, 0), NOW)
    again = Moment(again.digest, first.at, again.board)
    found = steps([first, second, again])
    assert found[0].changes[0].kind == "again" and found[0].changes[1].words.startswith("New: gable")
    assert not any(change.kind == "again" for step in found[1:] for change in step.changes)
