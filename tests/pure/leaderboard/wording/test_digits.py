"""Number of digits that a value is shown with, worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.wording.digits import MAX_DECIMALS, decimals_for, fixed, rounded
from tests.support.examples import examples

UNIT = (0.0, 1.0)
quick = examples(100)


@pytest.mark.parametrize(
    ("value", "low", "high", "bounds", "text", "spread"),
    [
        (0.61234, 0.584, 0.640, UNIT, "0.612", "±.028"),
        (0.8425, 0.539186, 0.942007, UNIT, "0.84", "+.10 −.30"),
        (0.79375, 0.508460, 0.888057, UNIT, "0.79", "+.09 −.29"),
        (0.4525, 0.193970, 0.544497, UNIT, "0.45", "+.09 −.26"),
        (0.5, 0.375, 0.6875, UNIT, "0.50", "±.16"),  # the longer side is just one and a half times the shorter
        (0.6, 0.5, 0.7501, UNIT, "0.60", "+.15 −.10"),
        (0.1, 0.0995, 0.1005, UNIT, "0.10000", "±.00050"),
        (0.5, 0.4004, 0.5996, UNIT, "0.50", "±.10"),  # half is .0996, which rounds to .10
        (0.9999996, 0.9990, 1.0, UNIT, "0.99999", "+<.00001 −.00100"),
        (0.9999996, 0.9995, 1.0005, (0.0, None), "1.00000", "±.00050"),
        (0.0000004, 0.0, 0.001, UNIT, "0.00001", "+.00100 −<.00001"),
        (0.0000002, 0.0, 0.0000005, UNIT, "<0.000001", "±<.000001"),
        (12.3456, 11.0, 13.6, (0.0, None), "12.3", "±1.3"),
        (22.4, 1.2, 43.1, (0.0, None), "22", "±21"),
        (1234.5, 1100.0, 1346.0, (0.0, None), "1234", "±123"),
        (-0.001, -0.101, 0.099, (None, None), "0.00", "±.10"),
        (-1.25, -1.5, -1.0, (None, None), "−1.25", "±.25"),
        (0.8, 0.3, 0.8, UNIT, "0.80", "+.00 −.50"),
        (1.0, None, None, UNIT, "1.000", ""),
        (0.99999, None, None, UNIT, "0.999", ""),
        (1 - 1e-14, None, None, UNIT, "1.000", ""),
        (0.0, None, None, UNIT, "0", ""),
        (0.052134, None, None, UNIT, "0.05213", ""),
        (1e-30, None, None, UNIT, "<0.000001", ""),
        (-1e-9, None, None, (None, None), ">−0.000001", ""),
        (61234.4, None, None, (0.0, None), "61234", ""),
        (0.5, 0.5, 0.5, UNIT, "0.5000", ""),  # an interval of no width is none
        (None, 0.1, 0.2, UNIT, "–", ""),
        (math.nan, None, None, UNIT, "–", ""),
        (math.inf, None, None, (None, None), "–", ""),
    ],
)
def test_by_hand(value, low, high, bounds, text, spread):
    found = rounded(value, low, high, bounds)
    assert (found.text, found.spread) == (text, spread)


def test_published_figures_keep_their_decimals_and_those_with_an_interval_their_own():
    assert rounded(0.5, decimals=2).text == "0.50" and rounded(0.0, decimals=1).text == "0.0"
    assert rounded(0.5, 0.472, 0.528, decimals=2).text == "0.500"


def test_both_sides_and_the_ends_have_the_values_decimals():
    found = rounded(0.8425, 0.539186, 0.942007, UNIT)
    assert (found.up, found.down, found.half) == ("+.10", "−.30", "")
    assert (found.end(0.539186), found.end(0.942007)) == ("0.54", "0.94")


def test_a_rounded_zero_has_no_sign():
    assert (fixed(-0.0001, 2), fixed(-1.25, 1), fixed(2.0, 0)) == ("0.00", "−1.2", "2")


@quick
@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e5))
def test_rounding_never_moves_a_value_by_a_twentieth_of_its_interval(value, half):
    found = rounded(value, value - half, value + half)
    moved = abs(float(found.text.replace("−", "-")) - value)
    assert moved <= max(0.06 * half, 0.5 if half >= 9.5 else 0) + 1e-9


@quick
@given(st.floats(0, 1), st.floats(1e-7, 1))
def test_only_what_is_at_a_bound_is_shown_there(value, half):
    text = rounded(value, max(0.0, value - half), min(1.0, value + half), UNIT).text
    number = float(text.removeprefix("<"))
    assert (number == 1) == (value > 1 - 1e-11) and (number == 0) <= (value < 1e-11)


@quick
@given(st.one_of(st.floats(1e-12, 1e9), st.builds(lambda n, e: float(f"{n}e{e}"), st.integers(1, 100_000), st.integers(-12, 4))))
@pytest.mark.parametrize("digits", [2, 4])
def test_decimals_are_those_of_the_exponent_that_formatting_finds(digits, number):
    for near in (math.nextafter(number, 0), number, math.nextafter(number, math.inf)):
        exponent = int(f"{near:.{digits - 1}e}".partition("e")[2])
        assert decimals_for(near, digits) == min(MAX_DECIMALS, max(0, digits - 1 - exponent))
