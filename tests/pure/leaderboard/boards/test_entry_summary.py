"""Summary of an entry for its page: its rank, its place with people, the reason for no rank, and its strips."""

from __future__ import annotations

import pytest

from leaderboard.boards.entry_summary import above, entry_summary, from_first, strips, tied_with
from leaderboard.boards.unranked import unranked
from leaderboard.records.board import WAITING, Board, ColumnAcceptanceTest, HumanAgreement, NoOverallRank, Rule
from leaderboard.records.entry_summary import Extremes, FromFirst, NoRank, OwnRank, Unranked
from leaderboard.stats.ranking import NoOrder
from tests.support.leaderboard.boards import board_of, column_of
from tests.support.leaderboard.reasons import few_raters

# Four entries; by metric A only the last is told from any other, and the middle two not from each other.
PAIRS = {"tested": [0, 1, 2, 3], "p": [[0.3, 0.2, 0.01], [0.9, 0.04], [0.01]]}
NAMES = ["gable", "ridge", "hip", "shed"]


def with_tests(**changes) -> Board:
    """A board whose metric A was tested; `overall` as the test of all pairs leaves it."""
    ranks = {"rank_low": [1, 1, 1, 4], "rank_high": [3, 3, 3, 4]}
    board = board_of([0.9, 0.8, 0.7, 0.1], name=NAMES, overall=ranks)
    column = board.metrics[0].model_validate(board.metrics[0].model_dump() | {"pairs": PAIRS, **ranks} | changes)
    return board.model_copy(update={"metrics": [column, *board.metrics[1:]]})


def judged(board: Board, **changes) -> Board:
    """The board with what people say of its entries: they put the second first, and do not tell it from the third."""
    over = [None if p is None else {"value": (0.8, 0.7, 0.9), "p_holm": p} for p in (0.01, None, 0.4, 0.001)]
    people = {
        "people": 4,
        "study": {"id": 7, "slug": "s", "title": "S", "question": "", "source": "", "simulated": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "closer",
        "raters": 12,
        "groups": [],
        "answers": 2880,
        "questions": 480,
        "at": "2026-05-01T00:00:00Z",
        "note": "",
        "left_out": [],
        "reason": None,
        "band": None,
        "metrics": [],
        "value": [0.5, 0.8, 0.6, 0.1],
        "low": [0.4, 0.74, 0.5, 0.05],
        "high": [0.6, 0.85, 0.7, 0.2],
        "n": [300, 310, 320, 330],
        "first": 1,
        "over": over,
        "marks": {},
    }
    return board.model_copy(update={"people": HumanAgreement.model_validate(people | changes)})


class TestRank:
    def test_the_entries_it_is_different_from_are_counted_and_those_it_is_tied_with_named(self):
        first, last = (entry_summary(with_tests(), n).rank for n in (0, 3))
        assert first == OwnRank(1, 4, 1, Rule("primary", 1, "A"), ahead=0, behind=1, tied=2, names=("ridge", "hip"))
        assert (last.ahead, last.behind, last.tied, last.names) == (3, 0, 0, ())

    def test_entries_that_are_not_tested_are_neither_different_nor_tied(self):
        """The third lacks items; its rank counts for the ranges of the others."""
        ranks = {"rank_low": [1, 2, None, 4], "rank_high": [1, 2, None, 4], "untested": ["", "", "lacks", ""]}
        board = board_of([0.9, 0.8, 0.7, 0.1], overall=ranks)
        found = [entry_summary(board, n).rank for n in (0, 1, 3)]
        assert [(one.ahead, one.behind, one.tied, one.untested) for one in found] == [(0, 2, 0, 1), (1, 1, 0, 1), (2, 0, 0, 1)]

    def test_an_open_range_says_only_with_the_tests_of_one_metric_which_entries_are_tied(self):
        """The first three of five entries are tested: the second is tied with the third, the third with any below."""
        ranks = {"rank_low": [1, 2, 2, None, None], "rank_high": [1, 5, 5, None, None], "untested": ["", "", "", "first", "first"]}
        board = board_of([0.9, 0.8, 0.7, 0.2, 0.1], overall=ranks)
        pairs = {"tested": [0, 1, 2], "p": [[0.01, 0.01], [0.3], []]}
        column = board.metrics[0].model_validate(board.metrics[0].model_dump() | {"pairs": pairs})
        board = board.model_copy(update={"metrics": [column, board.metrics[1]]})
        second = entry_summary(board, 1).rank
        assert (second.ahead, second.behind, second.tied, second.names, second.untested) == (1, 0, 1, ("method 2",), 2)
        several = board.overall.model_copy(update={"rule": "mean_rank", "metrics": ["a", "b"]})
        second = entry_summary(board.model_copy(update={"overall": several}), 1).rank
        assert (second.ahead, second.behind, second.tied, second.untested) == (1, 0, 0, 2)

    def test_without_a_test_none_is_different_or_tied(self):
        ranks = {"rank_low": [None] * 3, "rank_high": [None] * 3}
        found = entry_summary(board_of([0.9, 0.8, 0.1], overall=ranks), 1)
        assert found.rank == OwnRank(2, 3, 1, Rule("primary", 1, "A")) and found.people is None

    def test_level_entries_are_counted(self):
        ranks = {"rank_low": [None] * 3, "rank_high": [None] * 3}
        assert entry_summary(board_of([0.9, 0.9, 0.1], overall=ranks), 0).rank.level == 2
        assert entry_summary(board_of([0.9, 0.9, 0.9], overall=ranks), 0).rank.level == 3

    def test_tied_entries_are_not_named_where_several_metrics_decide(self):
        """The pairs that such a rule leaves open are not kept."""
        board = with_tests()
        several = board.overall.model_copy(update={"rule": "mean_rank", "metrics": ["a", "b"]})
        rank = entry_summary(board.model_copy(update={"overall": several}), 0).rank
        assert (rank.behind, rank.tied, rank.names, rank.rule) == (1, 2, (), Rule("mean_rank", 2))

    def test_strongest_and_weakest_are_known_only_where_their_ranks_are_apart(self):
        board = with_tests()
        b = board.metrics[1]

        def ranked(low: list[int], high: list[int]) -> Board:
            again = b.model_copy(update={"rank": [4, 3, 2, 1], "rank_low": low, "rank_high": high})
            return board.model_copy(update={"metrics": [board.metrics[0], again]})

        assert entry_summary(ranked([4] * 4, [4] * 4), 0).extremes == Extremes(1, ("A",), 4, ("B",))
        assert entry_summary(ranked([2] * 4, [4] * 4), 0).extremes is None


class TestPlaceWithPeople:
    def test_the_first_has_its_figure_and_the_others_whether_they_are_tied_with_it(self):
        first, third, last = (entry_summary(judged(with_tests()), n).people for n in (1, 2, 3))
        assert (first.value, first.low, first.high, first.is_first, first.placed) == (0.8, 0.74, 0.85, True, 4)
        assert (first.open, first.tested, first.n, first.basis.n) == (("hip",), False, 310, 2880)
        assert (third.place, third.firsts, third.tied) == ((2, 2), ("ridge",), True)
        assert (last.firsts, last.tied) == (("ridge",), False)

    def test_the_intervals_of_places_say_who_may_be_first_too(self):
        """As the board and the study say it: the first's own comparisons, all pairs counted, are another test."""
        board = with_tests()
        assert entry_summary(judged(board, may_be_first=[1]), 1).people.open == ()
        assert entry_summary(judged(board, may_be_first=[1]), 2).people.tied is False
        assert entry_summary(judged(board, may_be_first=[1], over=[None] * 4), 2).people.tied is False
        assert entry_summary(judged(board, over=[None] * 4), 2).people.tied is None, "no test of the two is known"
        both = judged(board, may_be_first=[1, 2])
        assert entry_summary(both, 1).people.open == ("hip",) and entry_summary(both, 2).people.tied is True

    def test_entries_that_share_first_place_with_people_are_level(self):
        board = judged(with_tests(), value=[0.5, 0.6, 0.6, 0.3], may_be_first=[0, 1, 2])
        found = [entry_summary(board, n).people for n in range(4)]
        assert (found[1].is_first, found[1].firsts, found[1].open) == (True, ("hip",), ("gable",))
        assert (found[0].firsts, found[0].tied, found[3].tied) == (("ridge", "hip"), True, False)

    def test_a_baseline_that_people_put_before_the_first_is_not_passed_over(self):
        """It holds no rank, so the next one is first of those that do; the study's page puts the baseline first."""
        board = judged(with_tests(), value=[0.9, 0.8, 0.6, 0.1])
        entries = [board.entries[0].model_copy(update={"counted": False, "baseline": True}), *board.entries[1:]]
        found = entry_summary(board.model_copy(update={"entries": entries}), 1).people
        assert found.among_ranked and found.is_first
        assert not entry_summary(judged(with_tests()), 1).people.among_ranked

    def test_after_peoples_first_is_withheld_nobody_is_first_in_its_place(self):
        """Until the next ranking is made it is not known whether they tell the second from the others."""
        board = judged(with_tests())
        left = board.people.redacted({1}, {board.entries[1].id}, {"ridge"})
        found = entry_summary(board.model_copy(update={"people": left}), 2).people
        assert (found.place, found.is_first, found.tied, found.value) == (None, False, None, 0.6)

    def test_below_the_smallest_numbers_there_is_no_figure_of_people(self):
        for changes in ({"reason": few_raters(3)}, {"people": 1}, {"low": [None] * 4, "high": [None] * 4}):
            assert entry_summary(judged(with_tests(), **changes), 1).people is None, changes


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"baseline": [True, False]}, Unranked(NoRank.BASELINE)),
        ({"late": [True, False]}, Unranked(NoRank.LATE)),
        ({"state": ["hidden", ""]}, Unranked(NoRank.OFF, state="hidden")),
        ({"state": [WAITING, ""]}, Unranked(NoRank.WAITING)),
        ({}, Unranked(NoRank.LACKS, titles=("A",))),
    ],
)
def test_an_entry_without_a_rank_has_a_reason(fields, found):
    board = board_of([None, 0.5], **fields)
    summary = entry_summary(board, 0)
    assert unranked(board, board.overall, 0) == summary.unranked == found and summary.rank is None
    assert unranked(board, board.overall, 1) is None


def test_a_board_without_an_order_and_a_metric_that_may_not_rank_are_reasons_too():
    board = board_of([0.1, 0.5], overall={"problem": {"reason": "no_metric"}, "rank": [None, None]})
    assert unranked(board, board.overall, 0) == Unranked(NoRank.NO_ORDER, problem=NoOverallRank(reason=NoOrder.NO_METRIC))
    column = column_of("a", [None, 0.5])
    assert unranked(board, column, 0) == Unranked(NoRank.LACKS, titles=("A",)) and unranked(board, column, 1) is None
    test = ColumnAcceptanceTest(state="waiting", percent=40)
    waiting = column.model_copy(update={"acceptance_test": test})
    assert unranked(board, waiting, 0) == Unranked(NoRank.NOT_PASSED, acceptance_test=test)


class TestStrips:
    def test_better_stands_to_the_right_in_both_directions(self):
        a, b = strips(board_of([0.2, 0.6, 1.0], [0.2, 0.6, 1.0]), 0)
        assert (a.dot, b.dot) == (0.0, 100.0), "of B lower is better"
        assert (a.ticks, b.ticks) == ("M50 0V14M100 0V14", "M0 0V14M50 0V14")
        assert (a.place, b.place, a.n) == ((3, 3), (1, 1), 3)

    def test_the_interval_is_turned_with_the_scale(self):
        board = board_of([0.2, 0.6, 1.0], [0.2, 0.6, 1.0])
        ends = {"ci_low": [0.2, 0.5, 0.9], "ci_high": [0.3, 0.8, 1.0], "n": [9, 9, 9]}
        turned = board.model_copy(update={"metrics": [column.model_copy(update=ends) for column in board.metrics]})
        a, b = strips(turned, 1)
        assert (a.left, a.width) == (37.5, 37.5) and (b.left, b.width) == (25.0, 37.5)

    def test_five_thousand_entries_make_at_most_two_hundred_and_one_ticks(self):
        (strip, _) = strips(board_of([n / 5000 for n in range(5000)]), 0)
        assert strip.ticks.count("M") <= 201 and strip.n == 5000

    def test_values_outside_the_scale_are_counted_at_its_end_and_have_no_tick(self):
        """Six close values and one far below, which is the best of B, where lower is better."""
        values = [0.80, 0.82, 0.84, 0.86, 0.88, 0.90, 0.05]
        made = board_of(values, values)
        cut = made.model_copy(update={"metrics": [one.model_copy(update={"scale": (0.79, 0.91)}) for one in made.metrics]})
        a, b = strips(cut, 0)
        assert (a.n_worse, a.n_better, b.n_worse, b.n_better) == (1, 0, 0, 1)
        assert a.ticks.count("M") == b.ticks.count("M") == 5 and (a.dot, b.dot) == (0.0, 100.0)
        own, _ = strips(cut, 6)
        assert (own.n_worse, own.n_better, own.dot, own.ticks.count("M")) == (0, 0, 0.0, 6), "its own value is always on the scale"

    def test_what_has_no_value_has_no_strip(self):
        assert [one.column.slug for one in strips(board_of([None, 0.5], [0.1, 0.2]), 0)] == ["b"]

    def test_the_first_has_those_tied_with_it_and_others_their_difference(self):
        board = with_tests()
        found = [from_first(board, board.metrics[0], n) for n in range(4)]
        assert found[0] == FromFirst(tied=("ridge", "hip"))
        assert [round(one.difference, 9) for one in found[1:]] == [-0.1, -0.2, -0.8]
        assert [one.is_tied for one in found[1:]] == [True, True, False]

    def test_people_stand_first_and_only_with_a_figure(self):
        found = strips(judged(with_tests()), 1)
        assert (found[0].is_people, found[0].cell.value, found[0].place) == (True, 0.8, (1, 1))
        assert [one for one in strips(judged(with_tests(), reason=few_raters(3)), 1) if one.is_people] == []


def test_the_one_above_and_those_tied():
    board = with_tests()
    assert [above(board, n) for n in range(4)] == [None, 0, 1, 2]
    assert tied_with(board.metrics[0], 1) == [0, 2] and tied_with(board.metrics[0], 3) == []
    assert above(board_of([None, 0.5]), 0) is None
    assert above(board_of([0.9, 0.9, 0.1]), 1) is None, "level with the first, there is nobody above"
