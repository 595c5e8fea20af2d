"""The verdicts on hand-made distances, at and beside every limit."""

import pytest

from evaluation.properties.verdicts import (
    Held,
    identical,
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


def test_the_triangle_inequality_with_what_is_allowed():
    assert triangle(3.0, 1.0, 2.0, 0.0).official and not triangle(3.005, 1.0, 2.0, 1e-9).official
    assert triangle(3.005, 1.0, 2.0, 0.01).official
