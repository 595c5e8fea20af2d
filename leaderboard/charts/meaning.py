"""Share of people who prefer the better side of a difference of a metric, by its size."""

from __future__ import annotations

from leaderboard.records.chart import Axis, Band, Chart, Dot, Dots, Line
from leaderboard.stats.meaning import Difference
from leaderboard.wording.board import difference as difference_words
from leaderboard.wording.digits import rounded

STEPS = 40
EACH = 8  # steps from one row of the table to the next
COLUMNS = ("Difference", "People who prefer the better side", "95 % interval", "95 of 100 single pairs")
SUMMARY = (
    "Share of people who prefer the better side of a difference, by its size. "
    "Line: the average over pairs with such a difference, with its 95 % interval. Light band: 95 of 100 single pairs lie in it."
)


def curve(difference: Difference, unit: str = "") -> Chart | None:
    """The curve from no difference to the largest that people were asked about; None without one. `unit` is the metric's."""
    largest = difference.largest
    at = (
        []
        if largest is None
        else [(x, one) for x in (largest * n / STEPS for n in range(STEPS + 1)) if (one := difference.at(x)) is not None]
    )
    if largest is None or difference.unit is None or not at:
        return None
    marks = (
        Band(tuple((x, 100 * one.one[0], 100 * one.one[1]) for x, one in at), "accent", 0.12),
        Band(tuple((x, 100 * one.mean[1], 100 * one.mean[2]) for x, one in at), "accent", 0.3),
        Dots(tuple(Dot(x, 100 * one.mean[0], f"{rounded(x).text}: {one.mean[0]:.0%} of people") for x, one in at), line=Line()),
    )
    rows = tuple(
        (
            rounded(x).text,
            f"{100 * one.mean[0]:.0f} %",
            *(f"{100 * low:.0f}–{100 * high:.0f} %" for low, high in ((one.mean[1], one.mean[2]), one.one)),
        )
        for x, one in at[::EACH]
    )
    x = Axis(f"difference in {unit}" if unit else "difference", ends=(0, largest), has_grid=False)
    y = Axis(ends=(0, 100), ticks=tuple((share, f"{share} %") for share in range(0, 101, 25)))
    return Chart(SUMMARY, COLUMNS, rows, x, y, marks, height=290)


def examples(difference: Difference) -> tuple[tuple[float, str], ...]:
    """Two differences, the median and the largest that people saw, with their statements."""
    sizes = [size for size in (difference.unit, difference.largest) if size is not None]
    return tuple((size, difference_words(one)) for size in sizes if (one := difference.at(size)) is not None)
