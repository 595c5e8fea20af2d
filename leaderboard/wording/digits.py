"""The digits that a value is shown with: its own precision decides, never another row's.

Pages, charts and tables for papers show a value through `rounded`; CSV and JSON carry the full float.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

MAX_DECIMALS = 6
EVEN = 1.5  # times the shorter side that the longer one may be, for both to be shown as one ±
EQUAL = 1e-12  # of 1 or of the value: two numbers this near are the same
NONE = "–"

UNITS = tuple(10.0**-decimals for decimals in range(MAX_DECIMALS + 1))

Bounds = tuple[float | None, float | None]


class Rounded(NamedTuple):
    """A value as it is read, with a true minus sign. `half` is `±.028` where the interval is about even; else `up` and `down` are its
    two sides, `+.10` and `−.30`; all empty without an interval."""

    text: str
    decimals: int = 0
    half: str = ""
    up: str = ""
    down: str = ""

    @property
    def spread(self) -> str:
        """The interval in one line."""
        return self.half or f"{self.up} {self.down}".strip()

    def end(self, value: float) -> str:
        """An end of the interval, with the value's decimals."""
        return fixed(value, self.decimals)


def rounded(
    value: float | None, low: float | None = None, high: float | None = None, bounds: Bounds = (None, None), decimals: int | None = None
) -> Rounded:
    """`value` with two significant digits of half the width of its interval, or four of its own where it has none.

    `bounds` are the metric's: a value that is not at one is not shown as if it were. `decimals`, where given, is for
    values without an interval, such as those that were published with so many.
    """
    if value is None or not math.isfinite(value):
        return Rounded(NONE)
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        count = decimals_for(value, 4) if decimals is None else decimals
        return Rounded("0" if value == 0 and decimals is None else _value(value, count, bounds), count)
    half = (high - low) / 2
    count = decimals_for(half, 2)
    up, down = high - value, value - low
    text = _value(value, count, bounds)
    if up <= EVEN * down and down <= EVEN * up:
        return Rounded(text, count, half="±" + _side(half, count))
    return Rounded(text, count, up="+" + _side(max(0.0, up), count), down="−" + _side(max(0.0, down), count))


@lru_cache
def _steps(digits: int) -> tuple[float, ...]:
    """Least numbers, in rising order, that need 5, 4, ... 0 decimals to show their first `digits` significant digits. The exponent is
    that after rounding: 0.0996 to two digits is 0.10."""
    steps = []
    for exponent in range(digits - MAX_DECIMALS, digits):
        step = float(f"{10**digits - 0.5}e{exponent - digits}")
        # Whether the float nearest to the step itself is rounded up is for the formatting to say.
        steps.append(step if int(f"{step:.{digits - 1}e}".partition("e")[2]) == exponent else math.nextafter(step, math.inf))
    return tuple(steps)


def decimals_for(number: float, digits: int) -> int:
    """Decimals that show the first `digits` significant digits of `number`, at most six."""
    return 0 if number == 0 else MAX_DECIMALS - bisect_right(_steps(digits), abs(number))


def fixed(value: float, decimals: int) -> str:
    """A fixed number of decimals, a true minus sign, and no sign on a rounded zero."""
    text = f"{value:.{decimals}f}"
    return text if text[0] != "-" else text[1:] if float(text) == 0 else text.replace("-", "−")


def _value(value: float, decimals: int, bounds: Bounds) -> str:
    text, unit = f"{value:.{decimals}f}", UNITS[decimals] if decimals <= MAX_DECIMALS else 10.0**-decimals
    if decimals >= MAX_DECIMALS and abs(value) < unit and value != 0 and float(text) == 0:
        return ("<" if value > 0 else ">−") + f"{unit:.{decimals}f}"
    low, high = bounds
    # Only a value within a unit of a bound can be rounded to it.
    if low is not None and value - low <= unit and _is_moved(value, low, text):
        return fixed(low + unit, decimals)
    if high is not None and high - value <= unit and _is_moved(value, high, text):
        return fixed(high - unit, decimals)
    return text if text[0] != "-" else fixed(value, decimals)


def _is_moved(value: float, bound: float, text: str) -> bool:
    """Return whether rounding puts a value at a bound that it is not at."""
    return float(text) == bound and abs(value - bound) > EQUAL * max(1.0, abs(bound))


def _side(length: float, decimals: int) -> str:
    """A length without the zero before its point; `<` and one unit of the last decimal where it is shorter than half of that."""
    unit = UNITS[decimals]
    text = f"<{unit:.{decimals}f}" if 0 < length < unit / 2 else f"{length:.{decimals}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "<0.")) else text
