"""Pairs, prompts and slots: what is drawn, what is dropped, and what is refused."""

from collections import Counter

import pytest

from leaderboard.studies.judge.instructions import ENSEMBLE, PLANS, Row
from leaderboard.studies.judge.schedule import BudgetError, pairs_of, planned, swept

PROMPTS = [str(n) for n in range(110)]
HAVE = {f"method-{n:02}": PROMPTS for n in range(13)}
A, B = Row(1, True, False, (0,), 3), Row(4, True, True, (1,), 3)


def unordered(one) -> tuple[str, str]:
    return min(one.left, one.right), max(one.left, one.right)


def test_the_published_plan_on_thirteen_methods_asks_everything_evenly():
    found = planned(HAVE, ENSEMBLE, 1501, seed=7)
    assert len(found.comparisons) == found.requests == 1500 and found.skipped == 0
    assert Counter(one.row for one in found.comparisons) == {n: row.comparisons for n, row in enumerate(ENSEMBLE)}
    assert [one.row for one in found.comparisons] == sorted(one.row for one in found.comparisons)
    per_pair = Counter(map(unordered, found.comparisons))
    assert len(per_pair) == 78 and set(per_pair.values()) == {19, 20}  # 1500 / 78
    once = {(*unordered(one), one.sample) for one in found.comparisons}
    assert len(once) == 1500  # no prompt twice for a pair
    left = sum(one.left < one.right for one in found.comparisons)
    assert 670 < left < 830  # a fair coin: 750, standard deviation 19


def test_the_seed_decides_all_of_it():
    assert planned(HAVE, ENSEMBLE, 2000, seed=1) == planned(HAVE, ENSEMBLE, 2000, seed=1)
    assert planned(HAVE, ENSEMBLE, 2000, seed=1) != planned(HAVE, ENSEMBLE, 2000, seed=2)


def test_a_plan_that_reaches_the_budget_is_refused():
    with pytest.raises(BudgetError, match=r"takes 1,500 requests and the budget is 1,500; give a budget above 1,500"):
        planned(HAVE, ENSEMBLE, 1500)


def test_a_dropped_comparison_takes_its_slot_with_it():
    # Two methods with two prompts in common: two of the six planned can be asked, and both belong to the first row.
    found = planned({"x": ["p", "q", "r"], "y": ["q", "p"]}, [A, B], 7, seed=3)
    assert [one.row for one in found.comparisons] == [0, 0] and found.skipped == 4
    # Three methods: x and y share one prompt, z has all. The rows of those that remain are their own.
    have = {"x": ["p"], "y": ["p"], "z": ["p", "q", "r", "s"]}
    for seed in range(20):
        found = planned(have, [A, B], 7, seed=seed)
        assert len(found.comparisons) == 3 and found.skipped == 3
        assert {unordered(one) for one in found.comparisons} == {("x", "y"), ("x", "z"), ("y", "z")}
        assert [one.row for one in found.comparisons] == [0, 0, 0]


def test_every_pair_comes_before_any_comes_again():
    found = planned(dict.fromkeys("abcd", PROMPTS), [Row(1, True, False, (0,), 24)], 25, seed=5)
    for start in range(0, 24, 6):
        assert len({unordered(one) for one in found.comparisons[start : start + 6]}) == 6


def test_a_new_method_meets_every_other_and_none_of_them_each_other():
    found = planned(HAVE, ENSEMBLE, 1501, newcomer="method-05")
    assert [one for one in found.comparisons if "method-05" not in (one.left, one.right)] == []
    assert len(Counter(map(unordered, found.comparisons))) == 12
    assert 0 < sum(one.left == "method-05" for one in found.comparisons) < len(found.comparisons)
    with pytest.raises(KeyError):
        planned(HAVE, ENSEMBLE, 1501, newcomer="method-99")


def test_one_method_alone_leaves_nothing_to_ask():
    assert planned({"x": PROMPTS}, [A], 4).comparisons == () and planned({"x": PROMPTS}, [A], 4).skipped == 3
    assert swept({"x": PROMPTS}, [A], 4).comparisons == ()


def test_sweeps_go_round_all_pairs_until_the_budget_would_be_passed():
    have = {name: ["p", "q"] for name in "abc"}
    found = swept(have, [A], 5, seed=1)
    assert found.requests == 5 and len({unordered(one) for one in found.comparisons[:3]}) == 3
    assert len({(*unordered(one), one.sample) for one in found.comparisons}) == 5
    assert swept(have, [A], 100, seed=1).requests == 6  # three pairs on two prompts: there is no more
    assert swept(have, [A], 5, seed=1, repeats=2).requests == 4
    with pytest.raises(BudgetError, match="One comparison takes 3 requests"):
        swept(have, [A], 2, repeats=3)


def test_a_sweep_with_two_rows_asks_both_of_the_same_sides():
    rows = PLANS["both-ways"][1]
    found = swept({name: ["p", "q"] for name in "abc"}, rows, 12).comparisons
    assert len(found) == 12
    for plain, turned in zip(found[::2], found[1::2], strict=True):
        assert (plain.row, turned.row) == (0, 1) and plain.sample == turned.sample
        assert (plain.left, plain.right) == (turned.right, turned.left)


def test_pairs_are_unordered():
    assert pairs_of({"b": [], "a": [], "c": []}) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs_of({"b": [], "a": [], "c": []}, "b") == [("b", "a"), ("b", "c")]
