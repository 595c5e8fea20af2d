"""A chart as SVG, drawn on the server: all that a page needs until somebody asks for the interactive one.

Positions across are shares of the width and those down are pixels, so that one drawing fits a desk and a phone with letters of one
size. Colours are the page's custom properties, so a theme needs no script.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from leaderboard.records.chart import BAR_GAP, BOX_SPREAD, BOX_WIDTH, Axis, Band, Bars, Box, Cells, Chart, Dash, Dots, Level, Mark, Tone

LETTER = 6.9  # px of a letter, on average
NARROW, WIDE = 326, 640  # px of a chart on a phone, and at least on a desk
SHADES = 24  # of a heat map
SMALL = 11  # px of letters of labels beside marks; those beside lines have the chart's 13
CAP = 4  # px to both sides of an interval's end
HATCH = 6  # px between the lines of hatched bars

_DASHES: dict[Dash, str] = {"solid": "", "dash": "7 5", "dot": "2 4", "dashdot": "7 4 2 4", "longdash": "12 5", "longdashdot": "12 4 2 4"}


def _regular(n: int, turned: float = 0.0, inner: float | None = None) -> str:
    """A regular polygon of radius 1, or with `inner` a star, as a path; the first corner at the top."""
    corners = n if inner is None else 2 * n
    radii = [1.0 if inner is None or k % 2 == 0 else inner for k in range(corners)]
    angles = [turned + 2 * math.pi * k / corners for k in range(corners)]
    return "M" + "L".join(f"{_n(r * math.sin(a))} {_n(-r * math.cos(a))}" for r, a in zip(radii, angles, strict=True)) + "Z"


def _n(value: float) -> str:
    """A number as short as a drawing needs it."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_SYMBOLS = {  # of radius 1; circles need no path
    "square": "M-.9-.9H.9V.9H-.9Z",
    "diamond": _regular(4),
    "triangle-up": _regular(3),
    "triangle-down": _regular(3, math.pi),
    "cross": "M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "x": "M-.95-.5-.5-.95 0-.45.5-.95.95-.5.45 0 .95.5.5.95 0 .45-.5.95-.95.5-.45 0Z",
    "pentagon": _regular(5),
    "star": _regular(5, 0, 0.45),
    "hexagon": _regular(6),
    "bowtie": "M-1-.8 0 0-1 .8ZM1-.8 0 0 1 .8Z",
    "hourglass": "M-.8-1 0 0 .8-1ZM-.8 1 0 0 .8 1Z",
}
_SIDES = {  # of a label beside its point: shift across and down, anchor
    "top center": (0, -9, "middle"),
    "bottom center": (0, 18, "middle"),
    "middle right": (9, 4, "start"),
    "middle left": (-9, 4, "end"),
    "top right": (3, -7, "start"),
    "top left": (-3, -7, "end"),
}


def draw(chart: Chart, name: str) -> str:
    """Markup of a chart that has marks: its legend, where it has one, and the SVG. `name` is its own on the page."""
    title = f"<title>{html.escape(chart.summary)}</title>"
    return _legend(chart, name) + (_round(chart, title) if chart.is_round else _Plane(chart, name).svg(title))


def _words(text: str) -> str:
    return html.escape(text, quote=False)


# ---- axes ----


@dataclass(frozen=True)
class _Scale:
    """An axis with its ends and ticks. All are numbers along it: powers of ten where it is logarithmic."""

    axis: Axis
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]

    def along(self, number: float) -> float:
        """Position along the axis: 0 at its begin, 1 at its end."""
        return (number - self.low) / (self.high - self.low)

    def share(self, value: float) -> float:
        """Position of a value."""
        return self.along(math.log10(value) if self.axis.scale == "log" else value)


def _scale(axis: Axis, values: Sequence[float], holds_zero: bool) -> _Scale:
    """The axis that shows `values`."""
    if axis.ends or axis.names:
        low, high = axis.ends or (-0.5, len(axis.names) - 0.5)
    else:
        places = [math.log10(value) for value in values] if axis.scale == "log" else [*values, *([0.0] if holds_zero else [])]
        low, high = min(places), max(places)
        is_one = high - low <= 1e-9 * max(abs(low), abs(high))  # or apart by rounding alone
        room = {"time": 60.0, "log": 0.1}.get(axis.scale, abs(high) * 0.05 or 0.5) if is_one else (high - low) * 0.05
        stands = holds_zero and low < high  # bars begin at the axis; if none has a height, it is in the middle
        below, above = (0.0 if stands and end == 0 else room for end in (low, high))
        low, high = low - below, high + above
    if axis.ticks is not None:
        return _Scale(axis, low, high, axis.ticks)
    return _Scale(axis, low, high, list(enumerate(axis.names)) or _ticks(axis, low, high))


def _ticks(axis: Axis, low: float, high: float) -> list[tuple[float, str]]:
    """Round numbers or moments between two ends, with words."""
    low, high = sorted((low, high))
    if axis.scale == "time":
        return _moments(low, high)
    if axis.scale == "log":
        steps = (1, 2, 5) if high - low < 2.5 else (1,)
        values = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
        return [
            (math.log10(value), f"{value:,g}" if value < 1e6 else f"{value / 1e6:,g} M")
            for value in values
            if low <= math.log10(value) <= high
        ]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = float(next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough * 0.999))
    if axis.is_whole:
        step = 1.0 if step <= 1 else 2.0 if step == 2.5 else step
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (1 if abs(step / 10 ** math.floor(math.log10(step)) - 2.5) < 1e-6 else 0)
    values = [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return [(value, f"{value + 0.0:,.{digits if step < 10 else 0}f}".replace("-", "−")) for value in values]


_HOUR, _DAY = 3600, 86400
_STEPS = (  # seconds between ticks of time
    *(1, 5, 15, 30, 60, 300, 900, 1800),
    *(_HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY),
)


def _moments(low: float, high: float) -> list[tuple[float, str]]:
    """Moments between two, in seconds, with words that say the day or the year where it is another than before."""
    step = next((step for step in _STEPS if (high - low) / step <= 5), None)
    if step is None:
        months = next((n for n in (1, 3, 6, 12, 24, 60, 120, 600) if (high - low) / (n * 30.4 * _DAY) <= 5), 1200)
        start = datetime.fromtimestamp(low, UTC)
        count = start.year * 12 + start.month - 1
        firsts = [
            datetime((count + n) // 12, (count + n) % 12 + 1, 1, tzinfo=UTC) for n in range(1 + months * 8) if (count + n) % months == 0
        ]
        return [(at.timestamp(), f"{at:%b %Y}" if months < 12 else f"{at:%Y}") for at in firsts if low <= at.timestamp() <= high]
    begin = datetime.fromtimestamp(math.ceil(low / step) * step, UTC)
    moments = [begin + timedelta(seconds=n * step) for n in range(int((high - begin.timestamp()) // step) + 1)]
    ticks: list[tuple[float, str]] = []
    last: datetime | None = None
    for at in moments:
        day, clock = f"{at.day} {at:%b}", f"{at:%H:%M:%S}" if step < 60 else f"{at:%H:%M}"
        if step >= _DAY:
            text = day if last is not None and last.year == at.year else f"{day} {at.year}"
        else:
            text = clock if last is not None and last.date() == at.date() else f"{day} {clock}"
        ticks.append((at.timestamp(), text))
        last = at
    return ticks


# ---- marks ----


def _stroke(tone: Tone, width: float, dash: Dash = "solid") -> str:
    """Attributes of a line that keeps its width however far it is stretched."""
    dashes = f' stroke-dasharray="{_DASHES[dash]}"' if _DASHES[dash] else ""
    return f'fill="none" stroke="var(--{tone})" stroke-width="{_n(width)}"{dashes} vector-effect="non-scaling-stroke"'


def _line(series: Dots, path: str) -> str:
    return f'<path class="line" d="{path}" {_stroke(series.tone, series.line.width, series.line.dash)}/>' if series.line else ""


def _marks(places: Iterable[tuple[str, float]], series: Dots) -> str:
    """Marks of one symbol at places (across as SVG has it, down in px); on a line they have an edge of the ground."""
    radius, paint = series.size / 2, f'fill="var(--{series.tone})"'
    if series.symbol == "circle-open":
        paint = f'fill="var(--panel)" stroke="var(--{series.tone})" stroke-width="1.5"'
    elif series.line:
        paint += ' stroke="var(--panel)" stroke-width="1"'
    if series.symbol in ("circle", "circle-open"):
        marks = "".join(f'<circle cx="{x}" cy="{_n(y)}" r="{_n(radius)}"/>' for x, y in places)
    else:
        path = _SYMBOLS[series.symbol or "square"]
        scaled = f'<path transform="scale({_n(radius * 1.15)})" vector-effect="non-scaling-stroke" d="{path}"/>'
        marks = "".join(f'<svg x="{x}" y="{_n(y)}" overflow="visible">{scaled}</svg>' for x, y in places)
    return f'<g class="marks" {paint}>{marks}</g>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _through(points: Iterable[tuple[float, float] | None], is_stepped: bool = False) -> str:
    """A path through points, with a gap for each None; a stepped one is level up to the next point."""
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        elif runs[-1] and is_stepped:
            runs[-1] += [(point[0], runs[-1][-1][1]), point]
        else:
            runs[-1].append(point)
    return "".join(_path(run) for run in runs if run)


def _fill(bars: Bars, ident: str) -> tuple[str, str]:
    """The pattern that bars need, and the attributes that paint them."""
    colour = f"var(--{bars.tone})"
    if not bars.is_hatched:
        return "", f'fill="{colour}"'
    pattern = (
        f'<pattern id="{ident}" width="{HATCH}" height="{HATCH}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<path d="M0 0V{HATCH}" stroke="{colour}" stroke-width="2.5"/></pattern>'
    )
    return pattern, f'fill="url(#{ident})" stroke="{colour}" stroke-width="1"'


def _legend(chart: Chart, name: str) -> str:
    """The names of the series beside their marks, or the scale of a heat map."""
    keys = []
    for number, mark in enumerate(chart.marks):
        if isinstance(mark, Cells):
            bar = '<i style="background:linear-gradient(90deg,var(--panel),var(--accent))"></i>'
            return f'<p class="chart-keys">{_words(mark.name)} {mark.low:.2f} {bar} {mark.high:.2f}</p>'
        if not chart.has_legend:
            return ""
        if isinstance(mark, Bars):
            pattern, paint = _fill(mark, f"key-{html.escape(name)}-{number}")
            key = f'{pattern}<rect x="2" y="1" width="24" height="10" {paint}/>'
        elif isinstance(mark, Dots):
            key = _line(mark, "M0 6H28") + (_marks([("14", 6.0)], mark) if mark.symbol else "")
        else:
            continue
        keys.append(f'<li><svg width="28" height="12" aria-hidden="true">{key}</svg>{_words(mark.name)}</li>')
    return f'<ul class="chart-keys">{"".join(keys)}</ul>'


# ---- charts with two axes ----


def _held(marks: Iterable[Mark], key: str) -> list[float]:
    """All that one of the axes has to hold."""
    values: list[float] = []
    for mark in marks:
        match mark:
            case Dots(dots=dots) | Bars(dots=dots):
                own = [getattr(dot, key) for dot in dots]
                ends = [end for dot in dots for end in (dot.low, dot.high)] if isinstance(mark, Dots) and mark.along == key else []
                values += [value for value in (*own, *ends) if value is not None]
            case Band():
                values += [x for x, _, _ in mark.points] if key == "x" else [end for _, *ends in mark.points for end in ends]
            case Level() if key == "y":
                values += [value for value in (mark.at, mark.low, mark.high) if value is not None]
            case Box():
                values += mark.values if key == "x" else [mark.at]
    return values


class _Plane:
    """The marks over an x and a y axis. The SVG's own box is the area between the axes; the labels around it overflow into its margins."""

    def __init__(self, chart: Chart, name: str) -> None:
        self.chart, self.name = chart, name
        self.x = _scale(chart.x, _held(chart.marks, "x"), False)
        self.y = _scale(chart.y, _held(chart.marks, "y"), any(isinstance(mark, Bars) for mark in chart.marks))

        # Margins in px, by the words in them.
        self.left = 14 + max((LETTER * len(text) for place, text in self.y.ticks if 0 <= self.y.along(place) <= 1), default=0.0)
        self.right = 22.0
        self.top = 30.0 if chart.y.title else 12.0
        lean = math.radians(chart.x.turned)
        down = 6.0
        if words := [text for _, text in self.x.ticks]:
            down = 10 + LETTER * max(map(len, words)) * math.sin(lean) + 12
            if lean:  # the first label leans out to the left
                self.left = max(self.left, LETTER * len(words[0]) * math.cos(lean))
        self.bottom = down + (18 if chart.x.title else 0)
        self.title_at = down + 12
        self.height = max(90.0, chart.height - self.top - self.bottom)
        self.narrow = max(60.0, NARROW - self.left - self.right)  # px between the axes on a phone

    def across(self, value: float) -> float:
        """0 … 100, as a share of the width in percent."""
        return 100 * self.x.share(value)

    def down(self, value: float) -> float:
        """px from the top."""
        return self.height * (1 - self.y.share(value))

    def svg(self, title: str) -> str:
        below: list[str] = []
        drawn: list[str] = []
        above: list[str] = []
        for number, mark in enumerate(self.chart.marks):
            match mark:
                case Dots():
                    drawn.append(self._dots(mark))
                case Band():
                    edges = [[(self.across(one[0]), self.down(one[end])) for one in mark.points] for end in (1, 2)]
                    path = f"{_path([*edges[0], *reversed(edges[1])])}Z"
                    drawn.append(
                        self._stretched(f'<path class="band" fill="var(--{mark.tone})" fill-opacity="{mark.opacity}" d="{path}"/>')
                    )
                case Bars():
                    drawn.append(self._bars(number, mark))
                case Box():
                    drawn.append(self._box(mark))
                case Cells():
                    drawn.append(self._cells(mark))
                    lines = [[(self.across(at - 0.5), 0.0), (self.across(at - 0.5), self.height)] for at in mark.borders]
                    lines += [[(0.0, self.down(at - 0.5)), (100.0, self.down(at - 0.5))] for at in mark.borders]
                    above += [self._stretched(f'<path d="{_path(line)}" {_stroke("ink", 2)}/>') for line in lines]
                case Level():
                    if mark.low is not None and mark.high is not None:
                        top, foot = self.down(mark.high), self.down(mark.low)
                        place = f'x="0%" y="{_n(top)}" width="100%" height="{_n(foot - top)}"'
                        below.append(f'<rect {place} fill="var(--bar)" fill-opacity="0.35"/>')
                    path = _path([(0, self.down(mark.at)), (100, self.down(mark.at))])
                    above.append(self._stretched(f'<path d="{path}" {_stroke("ink", 1.5, "dot")}/>'))
        style = f"height:{_n(self.height)}px;margin:{_n(self.top)}px {_n(self.right)}px {_n(self.bottom)}px {_n(self.left)}px"
        size = f"--sides:{_n(self.left + self.right)}px"
        return f'<svg class="chart" role="img" style="{style};{size}">{title}{self._grid()}{"".join([*below, *drawn, *above])}</svg>'

    def _grid(self) -> str:
        """Grid, ticks, labels and titles of both axes."""
        parts, height = [], _n(self.height)
        x, y = self.chart.x, self.chart.y
        x_ticks = [(100 * self.x.along(at), text) for at, text in self.x.ticks if -1e-9 <= self.x.along(at) <= 1 + 1e-9]
        y_ticks = [(self.height * (1 - self.y.along(at)), text) for at, text in self.y.ticks if -1e-9 <= self.y.along(at) <= 1 + 1e-9]
        lines = "".join(f'<line x1="{_n(at)}%" x2="{_n(at)}%" y1="0" y2="{height}"/>' for at, _ in x_ticks if x.has_grid)
        lines += "".join(f'<line x1="0" x2="100%" y1="{_n(at)}" y2="{_n(at)}"/>' for at, _ in y_ticks if y.has_grid)
        parts.append(f'<g stroke="var(--line)">{lines}</g>')
        # A line at 0, between numbers.
        if x.has_zero and 0 < self.x.along(0) < 1:
            at = f"{_n(self.across(0))}%"
            parts.append(f'<line stroke="var(--bar)" x1="{at}" x2="{at}" y1="0" y2="{height}"/>')
        if y.has_zero and 0 < self.y.along(0) < 1:
            at = _n(self.down(0))
            parts.append(f'<line stroke="var(--bar)" x1="0" x2="100%" y1="{at}" y2="{at}"/>')
        parts.append(self._x_labels(x_ticks))
        labels = "".join(f'<text x="-8" y="{_n(at + 4)}">{_words(text)}</text>' for at, text in y_ticks)
        parts.append(f'<g text-anchor="end">{labels}</g>')
        if y.title:
            parts.append(f'<text class="axis-title" x="{_n(-self.left + 2)}" y="-14">{_words(y.title)}</text>')
        if x.title:
            room = NARROW - self.left - self.right
            is_long = LETTER * len(x.title) / 2 > room / 2 + self.right  # then it would leave a phone's screen
            place = f'x="100%" dx="{_n(self.right - 8)}" text-anchor="end"' if is_long else 'x="50%" text-anchor="middle"'
            parts.append(f'<text class="axis-title" y="{_n(self.height + self.title_at)}" {place}>{_words(x.title)}</text>')
        return "".join(parts)

    def _x_labels(self, ticks: Sequence[tuple[float, str]]) -> str:
        """Labels below: those that do not fit on a phone are shown on wide screens only, and those that do not fit there nowhere."""
        parts, turned = [], self.chart.x.turned
        ends = {NARROW: -math.inf, WIDE: -math.inf}  # where the last label ends, by width
        for at, text in ticks:
            size = 15.0 if turned else LETTER * len(text) + 8
            fits: dict[int, bool] = {}
            for width in ends:
                middle = at / 100 * max(60.0, width - self.left - self.right)
                fits[width] = middle - size / 2 >= ends[width] - 0.01
                if fits[width]:
                    ends[width] = middle + size / 2
            if not fits[WIDE]:
                continue
            seldom = "" if fits[NARROW] else ' class="roomy"'
            y = _n(self.height + (12 if turned else 18))
            if turned:
                leaning = f'<text transform="rotate({-turned})" text-anchor="end" y="4">{_words(text)}</text>'
                parts.append(f'<svg x="{_n(at)}%" y="{y}" overflow="visible"{seldom}>{leaning}</svg>')
            else:
                parts.append(f'<text x="{_n(at)}%" y="{y}" text-anchor="middle"{seldom}>{_words(text)}</text>')
        return "".join(parts)

    def _stretched(self, content: str) -> str:
        """Paths over the whole area, in percent across and px down."""
        box = f"0 0 100 {_n(self.height)}"
        return f'<svg width="100%" height="{_n(self.height)}" viewBox="{box}" preserveAspectRatio="none" overflow="visible">{content}</svg>'

    def _dots(self, series: Dots) -> str:
        points = [None if dot.y is None else (self.across(dot.x), self.down(dot.y)) for dot in series.dots]
        parts = []
        if series.line:
            parts.append(self._stretched(_line(series, _through(points, series.line.is_stepped))))
        if any(dot.low is not None or dot.high is not None for dot in series.dots):
            parts.append(self._intervals(series))
        if series.symbol:
            parts.append(_marks([(f"{_n(point[0])}%", point[1]) for point in points if point], series))
        if any(dot.label for dot in series.dots):
            parts.append(self._labels(series, points))
        return "".join(parts)

    def _intervals(self, series: Dots) -> str:
        """Intervals of the dots along one axis, each with a bar at both ends."""
        scale, lines = self.x if series.along == "x" else self.y, []
        for dot in series.dots:
            value = dot.x if series.along == "x" else dot.y
            if value is None or dot.y is None:
                continue
            ends = [min(1.0, max(0.0, scale.share(value if end is None else end))) for end in (dot.low, dot.high)]
            if ends[0] == ends[1]:
                continue
            if series.along == "x":
                low, high = (f"{_n(100 * end)}%" for end in ends)
                middle = self.down(dot.y)
                top, foot = _n(middle - CAP), _n(middle + CAP)
                lines.append(f'<line x1="{low}" x2="{high}" y1="{_n(middle)}" y2="{_n(middle)}"/>')
                lines += [f'<line x1="{end}" x2="{end}" y1="{top}" y2="{foot}"/>' for end in (low, high)]
            else:
                low, high = (_n(self.height * (1 - end)) for end in ends)
                caps = "".join(f"M-{CAP} {end}H{CAP}" for end in (low, high))
                lines.append(f'<svg x="{_n(self.across(dot.x))}%" overflow="visible"><path d="M0 {low}V{high}{caps}"/></svg>')
        return f'<g class="errors" fill="none" stroke="var(--{series.interval_tone})" stroke-width="2">{"".join(lines)}</g>'

    def _labels(self, series: Dots, points: Sequence[tuple[float, float] | None]) -> str:
        """Names beside dots; on a phone those alone that have room there."""
        parts, letter = [], SMALL / 13 * LETTER if series.symbol else LETTER
        taken = [(p[0] / 100 * self.narrow - 4, p[1] - 4, p[0] / 100 * self.narrow + 4, p[1] + 4) for p in points if p and series.symbol]
        for dot, point in zip(series.dots, points, strict=True):
            if not dot.label or point is None:
                continue
            wide, middle = letter * len(dot.label), point[0] / 100
            right, down, anchor = self._beside(dot.side, middle, wide)
            begin = middle * self.narrow + right - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
            box = (begin, point[1] + down - 11, begin + wide, point[1] + down + 3)
            fits = box[0] >= -self.left - 8 and box[2] <= self.narrow + self.right + 8
            fits = fits and not any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in taken)
            taken += [box] if fits else []
            seldom = "" if fits else ' class="roomy"'
            shift = f' dx="{_n(right)}"' if right else ""
            place = f'x="{_n(point[0])}%" y="{_n(point[1] + down)}"{shift} text-anchor="{anchor}"{seldom}'
            parts.append(f"<text {place}>{_words(dot.label)}</text>")
        size = f";font-size:{SMALL}px" if series.symbol else ""
        return f'<g class="labels" style="fill:var(--{series.label_tone}){size}">{"".join(parts)}</g>'

    def _beside(self, side: str, middle: float, wide: float) -> tuple[int, int, str]:
        """Shift across and down of a label `wide` px, and its anchor, so that it stays on a desk's chart; `middle` is the place of its
        point."""
        (right, down, anchor), desk = _SIDES[side], WIDE - self.left - self.right
        if anchor == "start" and middle * desk + wide > desk + self.right:
            return -right, down, "end"
        if anchor == "middle" and not wide / 2 < middle * desk + self.left and middle < 0.5:
            return right, down, "start"
        if anchor == "middle" and middle * desk + wide / 2 > desk + self.right:
            return right, down, "end"
        return right, down, anchor

    def _bars(self, number: int, mark: Bars) -> str:
        pattern, paint = _fill(mark, f"hatch-{html.escape(self.name)}-{number}")
        base, half, bars = self.down(0), (1 - BAR_GAP) / 2, []
        for dot in mark.dots:
            left, right, end = self.across(dot.x - half), self.across(dot.x + half), self.down(dot.y or 0.0)
            place = f'x="{_n(left)}%" y="{_n(min(base, end))}" width="{_n(right - left)}%" height="{_n(abs(end - base))}"'
            bars.append(f"<rect {place}/>")
        return f'{pattern}<g class="bars" {paint}>{"".join(bars)}</g>'

    def _box(self, mark: Box) -> str:
        """A box from quartile to quartile, its median, whiskers to the last values within 1.5 of its length, and points."""
        values = np.sort(np.asarray(mark.values, dtype=float))
        q1, median, q3 = (float(value) for value in np.percentile(values, [25, 50, 75]))
        reach = 1.5 * (q3 - q1)
        inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
        # Values that rounding alone parts can all lie beside their quartiles.
        low, high = (min(q1, float(inside[0])), max(q3, float(inside[-1]))) if len(inside) else (float(values[0]), float(values[-1]))
        at, half = self.down(mark.at), BOX_WIDTH / 2 * self.height / abs(self.y.high - self.y.low)
        left, right, middle = self.across(q1), self.across(q3), self.across(median)
        lines = [(self.across(low), left, at, at), (right, self.across(high), at, at), (middle, middle, at - half, at + half)]
        lines += [(self.across(end), self.across(end), at - half / 2, at + half / 2) for end in (low, high)]
        drawn = "".join(f'<line x1="{_n(a)}%" x2="{_n(b)}%" y1="{_n(c)}" y2="{_n(d)}"/>' for a, b, c, d in lines)
        drawn += f'<rect x="{_n(left)}%" y="{_n(at - half)}" width="{_n(right - left)}%" height="{_n(2 * half)}"/>'
        points = "".join(
            # Spread evenly, and the same every time.
            f'<circle cx="{_n(self.across(value))}%" cy="{_n(at + half * BOX_SPREAD * (2 * (n * 0.618034 % 1) - 1))}" r="2"/>'
            for n, value in enumerate(mark.values)
            if mark.has_all_points or not low <= value <= high
        )
        box = f'<g class="box" fill="none" stroke="var(--ink)" stroke-width="1.2">{drawn}</g>'
        return f'<g class="marks" fill="var(--accent)" fill-opacity="0.55">{points}</g>{box}'

    def _cells(self, mark: Cells) -> str:
        """Cells by shade: the more of the accent the greater the value."""
        span = (mark.high - mark.low) or 1.0
        cells: dict[int, list[str]] = {}
        for row, values in enumerate(mark.values):
            for column, value in enumerate(values):
                if value is not None:
                    shade = round(SHADES * min(1.0, max(0.0, (value - mark.low) / span)))
                    x, wide = self.across(column - 0.5), self.across(column + 0.5) - self.across(column - 0.5)
                    y, tall = self.down(row - 0.5), self.down(row + 0.5) - self.down(row - 0.5)
                    cells.setdefault(shade, []).append(f"M{_n(x)} {_n(y)}h{_n(wide)}v{_n(tall)}h{_n(-wide)}z")
        gap = 'stroke="var(--panel)" stroke-width="1" vector-effect="non-scaling-stroke"'
        paths = [
            f'<path fill="color-mix(in srgb,var(--accent) {_n(100 * shade / SHADES)}%,var(--panel))" {gap} d="{"".join(parts)}"/>'
            for shade, parts in sorted(cells.items())
        ]
        return f'<g class="cells">{self._stretched("".join(paths))}</g>'


# ---- charts with an axis for each criterion ----

_RADIUS, _ACROSS, _TALL = 118.0, 400, 320  # of the drawing, which is scaled as a whole


def _round(chart: Chart, title: str) -> str:
    """Lines around a centre; the first axis points up, the others follow clockwise."""
    names, scale = chart.x.names, _scale(chart.y, _held(chart.marks, "y"), False)

    def place(axis: float, value: float) -> tuple[float, float]:
        angle, radius = 2 * math.pi * axis / len(names), _RADIUS * scale.along(value)
        return radius * math.sin(angle), -radius * math.cos(angle)

    ticks = [tick for tick in scale.ticks if scale.low < tick[0] < scale.high]
    parts = [f'<circle r="{_n(_RADIUS * scale.along(value))}"/>' for value, _ in ticks] + [f'<circle r="{_n(_RADIUS)}"/>']
    parts += [f'<path d="{_path([(0, 0), place(n, scale.high)])}"/>' for n in range(len(names))]
    grid = f'<g fill="none" stroke="var(--line)">{"".join(parts)}</g>'
    labels = []
    for axis, name in enumerate(names):
        x, y = place(axis, scale.high + 0.09 * (scale.high - scale.low))
        anchor = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
        lines = name.split(" ", 1)  # on two lines each, so that it has room beside the chart on a phone
        top = y - 14 * (len(lines) - 1) if y < -5 and abs(x) < 5 else y - 7 * (len(lines) - 1) + 4 if abs(x) >= 5 else y + 8
        labels += [f'<text x="{_n(x)}" y="{_n(top + 14 * n)}" text-anchor="{anchor}">{_words(line)}</text>' for n, line in enumerate(lines)]
    drawn = []
    for series in (mark for mark in chart.marks if isinstance(mark, Dots)):
        points = [None if dot.y is None else place(dot.x, dot.y) for dot in series.dots]
        drawn.append(_line(series, _through([*points, points[0]])) + _marks([(_n(p[0]), p[1]) for p in points if p], series))
    numbers = "".join(f'<text x="-5" y="{_n(4 - _RADIUS * scale.along(value))}" text-anchor="end">{text}</text>' for value, text in ticks)
    box = f"{-_ACROSS // 2} {-_TALL // 2} {_ACROSS} {_TALL}"
    words = f'<g style="fill:var(--ink);font-size:12px">{"".join(labels)}</g>'
    values = f'<g style="fill:var(--soft);font-size:11px" class="labels">{numbers}</g>'
    return f'<svg class="chart round" role="img" viewBox="{box}">{title}{grid}{words}{"".join(drawn)}{values}</svg>'
