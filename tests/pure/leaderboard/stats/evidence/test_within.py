"""Agreement within an item: the questions that divide people, another rater, and tests between metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.evidence import within
from leaderboard.stats.states import Counted, Key, Reason, State
from leaderboard.stats.votes import Vote, canonical


def said(*counts: tuple[int, int]) -> Answers:
    """One question an item, about A and B: so many raters prefer A, so many B."""
    rows = [
        Vote(f"r{n}", "A", "B", "left" if n < first else "right", f"s{item}")
        for item, (first, second) in enumerate(counts)
        for n in range(first + second)
    ]
    return answers(canonical(rows))


def test_agreement_on_what_divides_people_by_hand():
    counted = said((3, 1), (4, 1), (2, 2), (1, 0))
    # The larger sides hold 3/4, 4/5, 1/2 and all: the first and the third count, with four answers each.
    always_b = np.tile([0.0, 1.0], (4, 1))
    found = within.split(counted, always_b)
    assert found.n == 8 and found.value == pytest.approx(3 / 8) and found.bound == pytest.approx((4 * 0.75 + 4 * 0.5) / 8)
    assert within.split(counted, 1 - always_b).value == pytest.approx(5 / 8) == found.bound, "what sides with most people reaches the bound"
    assert within.split(said((4, 0), (5, 1)), np.zeros((2, 2))) is None


def test_a_metric_without_a_value_on_what_divides_people_has_a_bound_of_its_own():
    x = np.array([[0.0, 1.0], [np.nan, 1.0]])
    found = within.split(said((3, 1), (2, 2)), x)
    assert (found.n, found.bound) == (4, 0.75)


def test_another_rater_is_how_often_two_say_the_same():
    counted = said(*[(4, 1), (1, 4), (5, 0), (3, 2), (4, 1), (2, 3)])
    found = within.ceiling(counted)
    same = sum((a * (a - 1) + b * (b - 1)) / 4 for a, b in [(4, 1), (1, 4), (5, 0), (3, 2), (4, 1), (2, 3)])
    assert found.another_rater.value == pytest.approx(same / 30) and found.n == 30
    assert found.another_rater.state == State.ROUGH and found.another_rater.groups == 6 and found.another_rater.raters == 5
    assert within.ceiling(said((1, 0), (0, 1))) is None


def test_too_few_raters_of_another_rater_are_a_reason_with_numbers():
    found = within.ceiling(said(*[(2, 1)] * 6))
    assert found.another_rater.low is None and found.another_rater.reason == Reason(Key.FEW, Counted.RATERS, 5, 3)


def test_places_follow_from_the_tests_and_size_gets_none():
    rng = np.random.default_rng(0)
    counted = said(*[(int(k), 8 - int(k)) for k in rng.integers(1, 8, 12)])
    tables = {name: rng.normal(size=(12, 2)) for name in ("x", "y", "size")}
    right = np.array([[1.0, 0.0] if (counted.verdict[counted.sample == s] < 0).mean() > 0.5 else [0.0, 1.0] for s in range(12)])
    found = within.agreements(counted, tables | {"right": right}, True, ("x", "y", "right"))
    assert {(one.first, one.second) for one in found.differences} == {("x", "y"), ("x", "right"), ("y", "right")}
    for key in ("x", "y", "right"):
        sure = [one for one in found.differences if one.p <= 0.05 / 2 and key in (one.first, one.second)]
        above = sum((one.value < 0) == (one.first == key) for one in sure)
        assert found.figures[key].places == (1 + above, 3 - (len(sure) - above)), key
        assert found.figures[key].may_be_best == (above == 0)
    assert found.figures["right"].may_be_best and found.figures["right"].places[1] < 3 and found.figures["right"].above_size
    assert found.figures["size"].places is None and not found.figures["x"].above_size
    ours = next(one for one in found.differences if (one.first, one.second) == ("x", "right"))
    assert ours.value == pytest.approx(found.figures["x"].value - found.figures["right"].value) and ours.low < ours.value < ours.high < 0


def test_intervals_of_means_hold_a_half_for_what_knows_nothing():
    """A coin's agreement with means, groups of two items as clusters: the specification's second simulation, in small."""
    rng = np.random.default_rng(2)
    held, sets = 0, 120
    for _ in range(sets):
        rows = [Vote("r", "A", "B", "left" if one else "right", f"s{n:02}") for n, one in enumerate(rng.random(40) < 0.5)]
        counted = answers(canonical(rows))
        group = np.arange(40) // 2
        counted = replace(counted, group_of=group, rater=group[counted.sample])
        figure = within.agreements(counted, {"coin": rng.normal(size=(40, 2))}, persons=False).figures["coin"]
        assert figure.groups == 20 and figure.raters is None and figure.df == pytest.approx(19)
        held += figure.low <= 0.5 <= figure.high
    assert held / sets >= 0.89, held / sets
