"""Statements on an entry of a ranking, by a table of records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaderboard.records.board import ColumnAcceptanceTest, NoOverallRank, Rule
from leaderboard.records.cell import Cell, Strip
from leaderboard.records.entry_summary import EntrySummary, Extremes, FromFirst, NoRank, OwnPlace, OwnRank, Unranked
from leaderboard.records.people import Basis
from leaderboard.stats.ranking import NoOrder
from leaderboard.wording.entry_summary import brief, extremes, people, people_basis, rank, strip_note, unranked
from leaderboard.wording.statement import Tone
from submissions.entry_states import Reason
from submissions.wording import UNRANKED
from tests.support.leaderboard.boards import column_of

BY_A = Rule("primary", 1, "A")
SECOND = OwnRank(2, 4, 1, BY_A)
VOTES = Basis(of="votes", n=2880, raters=12)
FIRST = OwnPlace(0.8, 0.74, 0.85, (1, 1), True, 4, (), (), 3, True, None, False, 310, VOTES, None)
THIRD = replace(FIRST, place=(2, 3), is_first=False, firsts=("ridge",), tied=True)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (SECOND, "Rank 2 of 4 by A."),
        (replace(SECOND, rule=Rule("mean_rank", 2)), "Rank 2 of 4 by mean rank over 2 metrics."),
        (replace(SECOND, rule=Rule("primary", 0)), "Rank 2 of 4 by the primary metric."),
        (replace(SECOND, level=2), "Rank 2 of 4, shared with 1 other entry by A."),
        (replace(SECOND, level=3), "Rank 2 of 4, shared with 2 other entries by A."),
        (replace(SECOND, ahead=1), "Rank 2 of 4 by A: significantly behind 1 entry."),
        (
            replace(SECOND, behind=1, tied=2, names=("gable", "hip")),
            "Rank 2 of 4 by A: significantly ahead of 1 entry, statistically tied with gable and hip.",
        ),
        (replace(SECOND, behind=1, untested=1), "Rank 2 of 4 by A: significantly ahead of 1 entry. 1 entry is not tested."),
        (replace(SECOND, tied=1), "Rank 2 of 4 by A: statistically tied with 1 other."),
        (replace(SECOND, tied=4, names=("a", "b", "c", "d")), "Rank 2 of 4 by A: statistically tied with 4 others."),
    ],
)
def test_a_rank_names_the_entries_it_is_tied_with_where_they_are_few_and_known(record, words):
    assert rank(record).text == words


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, ""),
        (Unranked(NoRank.BASELINE), "This entry is a baseline: it is shown without a rank."),
        (Unranked(NoRank.LATE), UNRANKED[Reason.LATE]),
        (Unranked(NoRank.OFF, state="hidden"), "This entry is hidden: it has no rank, and the public does not see its scores."),
        (
            Unranked(NoRank.NO_ORDER, problem=NoOverallRank(reason=NoOrder.NO_METRIC)),
            "There is no overall rank here: an overall rank needs at least one metric.",
        ),
        (
            Unranked(NoRank.NOT_PASSED, acceptance_test=ColumnAcceptanceTest(state="failed")),
            "Shown, not ranked: the metric's acceptance test could not run.",
        ),
        (Unranked(NoRank.LACKS, titles=("A", "B")), "This entry has no value in A and B."),
        (Unranked(NoRank.LACKS), "This entry has no value in a metric that decides the order."),
    ],
)
def test_an_entry_without_a_rank_has_one_reason(record, words):
    assert unranked(record) == words


def test_every_reason_for_no_rank_is_worded():
    said = {"problem": NoOverallRank(reason=NoOrder.WEIGHTS), "acceptance_test": ColumnAcceptanceTest(state="failed")}
    every = [unranked(Unranked(reason, state="hidden", titles=(reason,), **said)) for reason in NoRank]
    assert all(every) and len(set(every)) == len(NoRank)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (FIRST, "People put this entry first: they would pick it in 80 of 100 comparisons [74, 85]."),
        (
            replace(FIRST, open=("hip",)),
            "People put this entry first: they would pick it in 80 of 100 comparisons [74, 85]; hip may be first too.",
        ),
        (
            replace(FIRST, open=("hip",), tested=False),
            "People put this entry first: they would pick it in 80 of 100 comparisons [74, 85]; it is tied with hip.",
        ),
        (
            replace(FIRST, open=tuple("abcd"), others=9),
            "People put this entry first: they would pick it in 80 of 100 comparisons [74, 85]; 4 of 9 other entries may be first too.",
        ),
        (
            replace(FIRST, open=tuple("abcd"), others=4),
            "People put this entry first: they would pick it in 80 of 100 comparisons [74, 85]; all 4 other entries may be first too.",
        ),
        (
            replace(FIRST, firsts=("hip",)),
            "People put this entry first, together with hip: they would pick it in 80 of 100 comparisons [74, 85].",
        ),
        (
            replace(FIRST, among_ranked=True),
            "People put this entry first of those that have a rank: they would pick it in 80 of 100 comparisons [74, 85].",
        ),
        (THIRD, "People put this entry 2–3 of 4: they would pick it in 80 of 100 comparisons [74, 85], tied with people's first, ridge."),
        (
            replace(THIRD, tied=False),
            "People put this entry 2–3 of 4: they would pick it in 80 of 100 comparisons [74, 85], behind people's first, ridge.",
        ),
        (replace(THIRD, tied=None), "People put this entry 2–3 of 4: they would pick it in 80 of 100 comparisons [74, 85]."),
        (replace(FIRST, place=None, is_first=False), "People compared this entry: they would pick it in 80 of 100 comparisons [74, 85]."),
        (
            replace(FIRST, value=4.256, low=4.1, high=4.4, basis=Basis(of="ratings", n=90, raters=9)),
            "People put this entry first: 4.26 of 5 on average [4.10, 4.40].",
        ),
    ],
)
def test_a_place_with_people_has_its_figure_its_interval_and_the_entries_it_is_tied_with(record, words):
    said = people(record)
    assert said.text == words
    assert said.parts[0].tone is (Tone.PERSON if record.is_first else Tone.NAME)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (FIRST, "310 votes on this entry, 2,880 votes by 12 raters in all"),
        (replace(FIRST, n=0), "2,880 votes by 12 raters"),
        (
            replace(FIRST, counts=(6, 6, "house")),
            "310 votes on this entry, 2,880 votes by 12 raters in all; few raters and houses: rough intervals",
        ),
    ],
)
def test_a_place_with_people_says_the_answers_it_is_of(record, words):
    assert people_basis(record) == words


def test_a_summary_reads_as_one_text():
    found = EntrySummary(SECOND, None, FIRST, Extremes(1, ("A",), 4, ("B", "C")))
    assert extremes(found) == "Strongest: A (1st). Weakest: B and C (4th)."
    assert brief(found) == f"{rank(SECOND)} {people(FIRST)} {extremes(found)}"
    alone = EntrySummary(None, Unranked(NoRank.BASELINE), None, None)
    assert brief(alone) == unranked(alone.unranked) and extremes(alone) == ""


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, ""),
        (FromFirst(), ""),
        (FromFirst(tied=("ridge", "hip")), "tied with ridge and hip"),
        (FromFirst(tied=("ridge", "hip", "shed")), "tied with ridge and 2 others"),
        (FromFirst(-0.1, True), "−0.100 to the first, tied"),
        (FromFirst(0.25), "+0.250 to the first"),
    ],
)
def test_a_value_says_its_difference_from_the_first(record, words):
    assert strip_note(Strip(Cell(column_of("a", [0.5]), 0), "", 1, 0.0, 0.0, 0.0, None, None, record, is_people=False)) == words
