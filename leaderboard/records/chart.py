"""A chart as a record: what is drawn, along which axes, and the same in a sentence and a table. PURE.

Two writers on the server read it, `leaderboard/charts/svg.py` and `plotly.py`, and one of the package, `leaderboard/package/plots.py`.
Texts are plain: each writer escapes markup in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal, get_args

Tone = Literal["ink", "soft", "line", "accent", "bar", "warn", "panel"]  # colours of the page, by purpose; panel is the ground
Dash = Literal["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
Side = Literal["top center", "bottom center", "middle right", "middle left", "top right", "top left"]
Symbol = Literal[
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "pentagon",
    "star",
    "hexagon",
    "bowtie",
    "hourglass",
    "circle-open",
]

DASHES: tuple[Dash, ...] = get_args(Dash)
SYMBOLS: tuple[Symbol, ...] = get_args(Symbol)[:-1]  # filled ones, in the order in which series take them

LABEL_LENGTH = 24  # leaves a phone room for the chart
BOX_WIDTH, BOX_SPREAD = 0.6, 0.6  # of the distance between boxes, and of a box's width over which its points are spread
BAR_GAP = 0.15  # of the distance between bars


@dataclass(frozen=True)
class Axis:
    """An axis. `ends` are its begin (left, below) and its end, either of which may be the greater; without them it holds all that is drawn.
    `ticks` are places with words, `()` for none; without them ticks are round numbers. `names` are categories, at the places 0, 1, 2.
    Places on an axis of time are seconds since 1970 of the clock that is shown. `turned` are degrees by which words lean."""

    title: str = ""
    scale: Literal["linear", "log", "time"] = "linear"
    ends: tuple[float, float] | None = None
    ticks: tuple[tuple[float, str], ...] | None = None
    names: tuple[str, ...] = ()
    turned: int = 0
    has_grid: bool = True
    is_whole: bool = False  # no ticks between whole numbers

    @property
    def has_zero(self) -> bool:
        """Test whether a line is drawn at 0, as between numbers."""
        return self.scale == "linear" and self.ticks is None and not self.names


@dataclass(frozen=True)
class Dot:
    """A place with the text that the pointer shows, a label beside it, and the ends of its interval. Without y the line has a gap."""

    x: float
    y: float | None
    said: str = ""
    label: str = ""
    side: Side = "top center"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A line through dots; a stepped one keeps its height up to the next dot."""

    width: float = 2
    dash: Dash = "solid"
    is_stepped: bool = False


@dataclass(frozen=True)
class Dots:
    """Dots of one series, joined by `line` and marked by `symbol`, or one of the two. Intervals lie along the axis `along`."""

    dots: tuple[Dot, ...]
    name: str = ""
    tone: Tone = "accent"
    line: Line | None = None
    symbol: Symbol | None = None
    size: float = 8  # px across a symbol
    along: Literal["x", "y"] = "x"
    interval_tone: Tone = "soft"
    label_tone: Tone = "soft"


@dataclass(frozen=True)
class Band:
    """The area between two lines: (x, low, high)."""

    points: tuple[tuple[float, float, float], ...]
    tone: Tone = "line"
    opacity: float = 1


@dataclass(frozen=True)
class Bars:
    """Bars from 0, hatched or solid."""

    dots: tuple[Dot, ...]
    name: str
    tone: Tone
    is_hatched: bool = False


@dataclass(frozen=True)
class Level:
    """A value over the whole width, with the area of its interval."""

    at: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Box:
    """Spread of values at the height `at`: a box from quartile to quartile, with all values as points or those alone that lie far out."""

    name: str
    at: float
    values: tuple[float, ...]
    said: tuple[str, ...]
    has_all_points: bool


@dataclass(frozen=True)
class Cells:
    """A heat map: `values[row][column]` from `low` to `high`, and lines before the rows and columns in `borders`."""

    name: str
    values: tuple[tuple[float | None, ...], ...]
    said: tuple[tuple[str, ...], ...]
    low: float
    high: float
    borders: tuple[int, ...] = ()


Mark = Dots | Band | Bars | Level | Box | Cells


@dataclass(frozen=True)
class Chart:
    """A chart. `summary`, with `columns` and `rows`, says the same in words. Without anything to draw there are no marks, and the summary
    says so. In a round chart x counts the axes around the centre, whose names are `x.names`, and y is the distance from it."""

    summary: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()
    x: Axis = Axis()
    y: Axis = Axis()
    marks: tuple[Mark, ...] = ()
    height: int = 360  # px
    has_legend: bool = False
    is_round: bool = False


def labels(names: Sequence[str], methods: Sequence[str] = ()) -> list[str]:
    """Labels that leave room for the chart, no two of them the same. A long `method (team)` loses its team if no other entry has that
    method, which is the one of `methods` at its place. Other long names are cut in their middle. Labels that are still the same get a
    number."""
    times, found = Counter([*names, *methods]), dict[str, None]()
    for name, method in zip(names, methods or names, strict=True):
        text = method if len(name) > LABEL_LENGTH and times[method] == 1 else name
        marks = chain([""], (f" ({n})" for n in count(2)))
        options = (f"{shortened(text, LABEL_LENGTH - len(mark))}{mark}" for mark in marks)
        found[next(one for one in options if one not in found)] = None
    return list(found)


def shortened(name: str, most: int = 36) -> str:
    """A name of at most so many letters, cut in its middle: names of one team often differ at the end alone."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1].rstrip()}…{name[-(most // 3) :].lstrip()}"
