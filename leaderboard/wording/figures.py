"""Figures and their intervals as text: the one place that writes `[78, 88]`. PURE."""

from __future__ import annotations

import math

from leaderboard.wording.digits import NONE

SMALLEST = 1e-9  # a value nearer to 0 is shown as 0
CHANCE = 0.5  # share of comparisons in which a coin picks as people do
POINTS = "points"  # the differences of two shares, in points of a hundred


def number(value: float | None, digits: int | None = None) -> str:
    """A value with `digits` decimals (by default three, and more where it is small) and a true minus sign; a dash for null and
    not-a-number."""
    if value is None or math.isnan(value):
        return NONE
    if digits is None:
        size = abs(value)
        digits = 3 if size >= 0.1 or size < SMALLEST else 2 - math.floor(math.log10(size))
    text = f"{value:,.{digits}f}"
    if not text.strip("-0."):  # no sign on a rounded zero
        text = text.removeprefix("-")
    return text.replace("-", "−").replace("inf", "∞")


def share(value: float | None) -> str:
    """A share as a whole number of hundredths, without the sign; none that is not 0 or 1 reads as such."""
    if value is None:
        return NONE
    whole = round(100 * value)
    return f"{min(max(whole, 1), 99) if SMALLEST < value < 1 - SMALLEST else whole}"


def points(value: float | None) -> str:
    """A difference of two shares in whole points of a hundred, with its sign."""
    if value is None:
        return NONE
    whole = round(100 * value)
    return f"+{whole}" if whole > 0 else f"−{-whole}" if whole else "0"


def written(value: float | None, digits: int | str | None = None) -> str:
    """A value in the way of its figure: a share in hundredths, with `digits` decimals, or in `points`."""
    return share(value) if digits is None else points(value) if digits == POINTS else number(value, int(digits))


def interval(low: float | None, high: float | None, digits: int | str | None = None) -> str:
    """The interval of a value that is `written` so; empty where it is not known. An end that would round to chance, and is not there, has a
    decimal: `[50.3, 88]`."""
    if low is None or high is None:
        return ""
    low_end, high_end = (share_end(end) if digits is None else written(end, digits) for end in (low, high))
    return f"[{low_end}, {high_end}]"


def share_end(value: float) -> str:
    """A share of 100 as an end of an interval."""
    return beside_chance(value) or share(value)


def beside_chance(value: float) -> str:
    """A share of 100 that would round to chance and is not there: `50.3`, or `>50` where a decimal does not show it; else empty."""
    if abs(value - CHANCE) < SMALLEST or round(100 * value) != round(100 * CHANCE):
        return ""
    text = f"{100 * value:.1f}"
    return text if float(text) != 100 * CHANCE else f"{'>' if value > CHANCE else '<'}{share(CHANCE)}"
