"""Tables of a study's page: places, what is listed apart, and what contradicts people."""

from __future__ import annotations

from leaderboard.boards.people import lines_of
from leaderboard.boards.study_table import study_table
from leaderboard.records.study import Summary
from leaderboard.records.study_table import Apart, EntryPage, StudyTable
from tests.pure.leaderboard.stats.test_people import said
from tests.pure.leaderboard.wording.test_study import summary_of
from tests.support.leaderboard.boards import board_of

PAGES = {"a": EntryPage(1, "Ridge"), "b": EntryPage(2, "Hip")}


def table_of(summary: Summary, board=None) -> StudyTable:
    return study_table(summary, lines_of(summary, {"m": "The metric"}), board, PAGES, {}, "item")


def test_entries_have_their_places_and_their_ranks_on_the_board():
    board = board_of([0.9, 0.5], name=["a", "b"])
    found = table_of(summary_of(said("a", "b")), board)
    assert [(row.line.method, row.place, row.on_board, row.known) for row in found.entries] == [("a", 1, 1, True), ("b", 2, 2, True)]
    assert found.has_board and found.any_known and found.has_ends and found.reason is None
    assert not table_of(summary_of(said("a", "b"))).has_board


def test_of_parts_that_never_met_each_has_places_of_its_own_and_the_second_says_why_it_is_apart():
    rows = [*said("a", "b"), *said("c", "d")]
    found = table_of(summary_of(rows)).entries
    assert [row.place for row in found] == [1, 2, 1, 2]
    assert [row.opens for row in found] == [None, None, Apart.UNMET, None]


def test_a_metric_that_ranks_and_turns_a_verdict_is_named_beside_the_entry():
    board = board_of([0.9, 0.5], name=["a", "b"], overall={"metrics": ["m"]})
    summary = summary_of(said("a", "b"), a=0.1, b=0.9)
    found = table_of(summary, board)
    assert [row.against for row in found.entries] == [(), (("The metric", "a"),)] and found.any_against
    assert [(row.one.first, row.one.second, row.metric, row.pages) for row in found.turned] == [("a", "b", "The metric", (1, 2))]
    assert not table_of(summary).any_against, "of a metric that orders no board it is listed below alone"


def test_without_enough_raters_there_is_one_reason_and_no_place():
    found = table_of(summary_of(said("a", "b", raters=3)))
    assert not found.any_known and found.reason is None and found.answers[0] > 0
