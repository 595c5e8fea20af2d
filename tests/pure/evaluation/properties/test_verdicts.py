"""The verdicts on hand-made distances, at and beside every limit."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.properties.verdicts import (
    Held,
    has_fallen,
    identical,
    is_uneven,
    monotone,
    nearly_identical,
    nearly_symmetric,
    proportional,
    symmetric,
    tolerance,
    triangle,
)


@pytest.mark.parametrize(
    ("distances", "grows", "never_falls"),
    [
        ([0, 1, 2, 3], True, True),
        ([0, 1, 1, 3], False, True),
        ([0, 0, 0], False, True),
        ([0, 2, 1], False, False),
        ([0, 1e-9, 2e-9], False, True),  # a strict step is more than 1e-9
        ([0, 1.1e-9, 2.2e-9], True, True),
        ([1, 1 - 0.9e-9], False, True),  # rounding is no fall
        ([1, 1 - 1.1e-9], False, False),
    ],
)
def test_monotone_by_both_rules(distances, grows, never_falls):
    assert monotone(distances, 1.0, strict=True) == Held(grows, grows, never_falls)
    assert monotone(distances, 1.0, strict=False) == Held(never_falls, grows, never_falls)


def test_a_fall_is_judged_by_the_size_of_the_model():
    assert not monotone([5, 5 - 5e-9], 1.0, strict=False).official
    assert monotone([5, 5 - 5e-9], 10.0, strict=False).official
    assert (tolerance(0.5), tolerance(20.0)) == (1e-9, 2e-8)


def test_identity_is_exact_and_near_identity_a_millionth():
    assert identical(0.0).official and identical(-0.0).official and not identical(5e-324).official
    assert nearly_identical(1e-6, 0.3).official and not nearly_identical(1.01e-6, 0.3).official
    assert nearly_identical(-0.99e-5, 10.0).official and not nearly_identical(1.01e-5, 10.0).official


def test_symmetry_is_up_to_rounding_and_near_symmetry_up_to_a_twentieth_of_the_larger():
    assert symmetric(1.0, 1.0 + 0.9e-9, 1.0).official and not symmetric(1.0, 1.0 + 1.1e-9, 1.0).official
    assert nearly_symmetric(0.951, 1.0).official and nearly_symmetric(1.0, 0.951).official
    assert not nearly_symmetric(0.949, 1.0).official and nearly_symmetric(0.0, 0.0).official


def test_proportional_asks_for_even_steps_that_are_not_nothing():
    assert proportional([0, 1, 2, 3]).official and proportional([3, 2, 1]).official
    # Steps 1.1 and 0.9: mean 1, standard deviation 0.1. Steps 1.2 and 0.8: 0.2.
    assert proportional([0, 11, 20]).official and not proportional([0, 12, 20]).official
    assert not proportional([2, 2, 2]).official and not proportional([0, 1, 0]).official


def test_a_fall_decides_and_a_standstill_does_not():
    assert has_fallen([0, 2, 1], 1.0) and not has_fallen([0, 2, 2], 1.0) and not has_fallen([1, 1 - 0.9e-9], 1.0)
    assert has_fallen([5, 5 - 5e-9], 1.0) and not has_fallen([5, 5 - 5e-9], 10.0) and not has_fallen([], 1.0)


def test_uneven_steps_decide_once_no_steps_to_come_can_make_up_for_them():
    # Steps 1 and 2 of three: the best third is (1 + 4) / (1 + 2) = 5/3, and 3 * 5 / (9 + 5) - 1 = 1/14 is above 0.1 squared.
    assert is_uneven([0, 1, 3], 4) and not proportional([0, 1, 3, 3 + 5 / 3]).official
    # Steps 1 and 1.2 of three: 3 * 2.44 / (4.84 + 2.44) - 1 = 0.0055 is below it, and a third of 1.11 makes it hold.
    assert not is_uneven([0, 1, 2.2], 4) and proportional([0, 1, 2.2, 2.2 + 2.44 / 2.2]).official
    assert is_uneven([0, 1, 0], 12) and not is_uneven([0, 1], 12)
    assert not is_uneven([3, 3, 3], 12) and not is_uneven([], 12)


LENGTHS = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(st.lists(LENGTHS, min_size=2, max_size=6), st.integers(1, 6), st.data())
def test_a_verdict_that_is_given_early_is_the_one_given_late(first, more, data):
    """Whatever follows, and above all where the steps that follow are the ones that make the whole most even."""
    steps = [after - before for before, after in pairwise(first)]
    best = math.fsum(step * step for step in steps) / (math.fsum(steps) or 1.0)
    towards_even = [first[-1] + best * k for k in range(1, more + 1)]
    for rest in (towards_even, data.draw(st.lists(LENGTHS, min_size=more, max_size=more))):
        if is_uneven(first, len(first) + more):
            assert not proportional([*first, *rest]).official
        if has_fallen(first, 2.0):
            assert monotone([*first, *rest], 2.0, strict=True) == monotone(first, 2.0, strict=True) == Held(False, False, False)


def test_the_triangle_inequality_with_what_is_allowed():
    assert triangle(3.0, 1.0, 2.0, 0.0).official and not triangle(3.005, 1.0, 2.0, 1e-9).official
    assert triangle(3.005, 1.0, 2.0, 0.01).official
