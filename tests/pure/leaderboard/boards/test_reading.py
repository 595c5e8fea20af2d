"""The sentences and strips of an entry's page: what they say, and what they leave unsaid."""

from __future__ import annotations

import pytest

from leaderboard.boards.reading import above, close_to, reading, strips, unranked
from leaderboard.records.board import Board, HumanAgreement
from tests.support.leaderboard.boards import board_of
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
    return board.model_copy(update={"people": HumanAgreement.read(people | changes)})


class TestSentence:
    def test_who_it_is_told_from_and_who_it_is_too_close_to(self):
        first, last = (reading(with_tests(), n) for n in (0, 3))
        assert first.rank == "Rank 1 of 4"
        assert first.by_metrics == " by A: significantly ahead of 1, tied with ridge and hip."
        assert last.by_metrics == " by A: significantly behind 3."

    def test_without_a_test_nothing_is_said_of_chance(self):
        ranks = {"rank_low": [None] * 3, "rank_high": [None] * 3}
        found = reading(board_of([0.9, 0.8, 0.1], overall=ranks), 1)
        assert (found.rank, found.by_metrics) == ("Rank 2 of 3", " by A.")
        assert "chance" not in found.brief and not found.people

    def test_level_entries_are_said_to_be_level(self):
        ranks = {"rank_low": [None] * 3, "rank_high": [None] * 3}
        assert reading(board_of([0.9, 0.9, 0.1], overall=ranks), 0).rank == "Rank 1 of 3, level with 1 other"
        assert reading(board_of([0.9, 0.9, 0.9], overall=ranks), 0).rank == "Rank 1 of 3, level with 2 others"

    def test_where_only_some_of_the_close_ones_are_known_their_number_is_given(self):
        """A rule over several metrics decides the order: which pairs it leaves open is not kept."""
        board = with_tests()
        several = board.overall.model_copy(update={"rule": "mean_rank", "metrics": ["a", "b"]})
        words = reading(board.model_copy(update={"overall": several}), 0).by_metrics
        assert words == " by mean rank of 2: significantly ahead of 1, tied with 2 others."

    def test_people_are_said_with_interval_number_and_whom_they_do_not_tell_apart(self):
        found = reading(judged(with_tests()), 1)
        assert (found.people, found.people_first) == ("People put it first", True)
        assert found.by_people == ": it wins 80 % of its comparisons [74, 85]; they do not tell it from hip."
        assert found.people_basis == "310 votes of it, 2,880 votes by 12 raters in all"
        third, last = (reading(judged(with_tests()), n) for n in (2, 3))
        assert (third.people, third.by_people) == (
            "People put it 2nd of 4",
            ": it wins 60 % of its comparisons [50, 70], tied with their first, ridge.",
        )
        assert last.by_people.endswith("behind their first, ridge.")

    def test_who_may_be_first_too_is_named_by_the_intervals_of_places(self):
        """As the board and the study say it: the first's comparisons, all pairs counted, are another test."""
        board = with_tests()
        assert reading(judged(board, may_be_first=[1]), 1).by_people == ": it wins 80 % of its comparisons [74, 85]."
        assert reading(judged(board, may_be_first=[1]), 2).by_people.endswith(", behind their first, ridge.")
        both = judged(board, may_be_first=[1, 2])
        assert reading(both, 1).by_people.endswith("; hip may be first too.")
        assert reading(both, 2).by_people.endswith(", tied with their first, ridge.")

    def test_entries_that_share_first_place_with_people_are_level(self):
        board = judged(with_tests(), value=[0.5, 0.6, 0.6, 0.3], may_be_first=[0, 1, 2])
        found = reading(board, 1)
        assert found.people == "People put it first, level with hip"
        assert found.by_people == ": it wins 60 % of its comparisons [74, 85]; gable may be first too."
        assert reading(board, 0).by_people.endswith("tied with their first, ridge and hip.")
        assert reading(board, 3).by_people.endswith("behind their first, ridge and hip.")

    def test_a_baseline_that_people_put_before_the_first_is_not_passed_over(self):
        """It holds no rank, so the next one is first of those that do; the study's page puts the baseline first."""
        board = judged(with_tests(), value=[0.9, 0.8, 0.6, 0.1])
        entries = [board.entries[0].model_copy(update={"counted": False, "baseline": True}), *board.entries[1:]]
        found = reading(board.model_copy(update={"entries": entries}), 1)
        assert found.people == "People put it first of those that hold a rank" and found.people_first
        assert reading(judged(with_tests()), 1).people == "People put it first"

    def test_after_peoples_first_is_withheld_nobody_is_said_to_be_first_in_its_place(self):
        """Until the next ranking is made it is not known whether they tell the second from the others."""
        board = judged(with_tests())
        left = board.people.redacted({1}, {board.entries[1].id}, {"ridge"})
        found = reading(board.model_copy(update={"people": left}), 2)
        assert (found.people, found.by_people, found.people_first) == (
            "People judged it",
            ": it wins 60 % of its comparisons [50, 70].",
            False,
        )

    def test_below_the_smallest_numbers_there_is_no_figure_of_people(self):
        for changes in ({"reason": few_raters(3)}, {"people": 1}, {"low": [None] * 4, "high": [None] * 4}):
            found = reading(judged(with_tests(), **changes), 1)
            assert not found.people and not found.by_people and "80" not in found.brief, changes

    def test_strongest_and_weakest_are_said_only_where_their_ranks_are_kept_apart(self):
        board = with_tests()
        b = board.metrics[1]

        def ranked(low: list[int], high: list[int]) -> Board:
            again = b.model_copy(update={"rank": [4, 3, 2, 1], "rank_low": low, "rank_high": high})
            return board.model_copy(update={"metrics": [board.metrics[0], again]})

        assert reading(ranked([4] * 4, [4] * 4), 0).extremes == "Strongest: A (1st). Weakest: B (4th)."
        assert reading(ranked([2] * 4, [4] * 4), 0).extremes == ""


class TestWithoutARank:
    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"baseline": [True, False]}, "It is a baseline"),
            ({"late": [True, False]}, "received after the board was frozen"),
            ({"state": ["hidden", ""]}, "It is hidden"),
            ({"state": ["waiting for re-evaluation", ""]}, "It waits for a re-evaluation"),
        ],
    )
    def test_the_reason_is_a_sentence(self, fields, words):
        board = board_of([None, 0.5], overall={"explanation": ["It lacks A.", ""]}, **fields)
        assert words in unranked(board, 0) and unranked(board, 1) == ""
        assert reading(board, 0).by_metrics == unranked(board, 0) and reading(board, 0).rank == ""

    def test_a_missing_value_and_a_missing_order_are_told_apart(self):
        assert unranked(board_of([None, 0.5], overall={"explanation": ["It lacks A.", ""]}), 0) == "It lacks A."
        problem = {"problem": "no metric takes part", "rank": [None, None]}
        assert unranked(board_of([0.1, 0.5], overall=problem), 0) == "There is no overall rank here: no metric takes part."


class TestStrips:
    def test_better_stands_to_the_right_in_both_directions(self):
        a, b = strips(board_of([0.2, 0.6, 1.0], [0.2, 0.6, 1.0]), 0)
        assert (a.dot, b.dot) == (0.0, 100.0), "of B lower is better"
        assert (a.ticks, b.ticks) == ("M50 0V14M100 0V14", "M0 0V14M50 0V14")
        assert (a.place, b.place, a.n) == ("3rd", "1st", 3)

    def test_the_interval_is_turned_with_the_scale(self):
        board = board_of([0.2, 0.6, 1.0], [0.2, 0.6, 1.0])
        ends = {"ci_low": [0.2, 0.5, 0.9], "ci_high": [0.3, 0.8, 1.0], "n": [9, 9, 9]}
        turned = board.model_copy(update={"metrics": [column.model_copy(update=ends) for column in board.metrics]})
        a, b = strips(turned, 1)
        assert (a.left, a.width) == (37.5, 37.5) and (b.left, b.width) == (25.0, 37.5)

    def test_five_thousand_entries_make_at_most_two_hundred_and_one_ticks(self):
        (strip, _) = strips(board_of([n / 5000 for n in range(5000)]), 0)
        assert strip.ticks.count("M") <= 201 and strip.n == 5000

    def test_what_has_no_value_has_no_strip(self):
        assert [one.slug for one in strips(board_of([None, 0.5], [0.1, 0.2]), 0)] == ["b"]

    def test_the_first_names_who_is_close_and_others_their_distance(self):
        notes = [strips(with_tests(), n)[0].note for n in range(4)]
        assert notes == [
            "tied with ridge and hip",
            "−0.1 to the first, tied",
            "−0.2 to the first, tied",
            "−0.8 to the first",
        ]

    def test_people_stand_first_and_only_with_a_figure(self):
        found = strips(judged(with_tests()), 1)
        assert (found[0].is_people, found[0].shown.text, found[0].place) == (True, "80 %", "1st")
        assert not any(one.is_people for one in strips(judged(with_tests(), reason=few_raters(3)), 1))


def test_the_one_above_and_those_not_told_apart():
    board = with_tests()
    assert [above(board, n) for n in range(4)] == [None, 0, 1, 2]
    assert close_to(board.metrics[0], 1) == [0, 2] and close_to(board.metrics[0], 3) == []
    assert above(board_of([None, 0.5]), 0) is None
    assert above(board_of([0.9, 0.9, 0.1]), 1) is None, "level with the first, there is nobody above"
