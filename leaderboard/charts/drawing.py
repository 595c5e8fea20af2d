"""A chart as SVG, drawn on the server: all that a page needs until somebody asks for the interactive one.

Positions across are shares of the width and those down are pixels, so that one drawing fits a desk and a phone with letters of one
size. Colours are the page's custom properties as the figure names them, so a theme needs no script. What a figure says that is not
drawn here raises ValueError: nothing vanishes from a chart unseen.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

LETTER = 6.9  # px of a letter, on average
NARROW, WIDE = 326, 640  # px of a figure on a phone, and at least on a desk
SHADES = 24  # of a heat map

_TRACE = {"type", "name", "hoverinfo", "hovertemplate", "text"}
_LINES = _TRACE | {"mode", "x", "y", "line", "marker"}
_KNOWN = {  # what is drawn of a trace, or needs no drawing
    "scatter": _LINES | {"textposition", "textfont", "hovertext", "error_x", "error_y", "fill", "fillcolor", "cliponaxis"},
    "bar": _TRACE | {"x", "y", "textposition", "marker"},
    "box": _TRACE | {"orientation", "x", "y", "hoveron", "boxpoints", "jitter", "pointpos", "width", "marker", "line", "fillcolor"},
    "heatmap": _TRACE | {"z", "zmin", "zmax", "hoverongaps", "colorscale", "xgap", "ygap", "colorbar"},
    "scatterpolar": _TRACE | {"mode", "theta", "r", "line", "marker"},
}
_LAYOUT = {
    "height",
    "margin",
    "font",
    "paper_bgcolor",
    "plot_bgcolor",
    "hoverlabel",
    "legend",
    "showlegend",
    "xaxis",
    "yaxis",
    "polar",
    "shapes",
    "bargap",
    "barmode",
}
_AXIS = {
    "gridcolor",
    "linecolor",
    "zerolinecolor",
    "automargin",
    "tickfont",
    "title",
    "range",
    "type",
    "categoryorder",
    "categoryarray",
    "tickangle",
    "showgrid",
    "zeroline",
    "tickvals",
    "ticktext",
    "tickformat",
    "dtick",
    "autorange",
    "showticklabels",
}
_DASHES = {"solid": "", "dash": "7 5", "dot": "2 4", "dashdot": "7 4 2 4", "longdash": "12 5", "longdashdot": "12 4 2 4"}


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


_CROSS = "M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z"
_SYMBOLS = {  # of radius 1
    "circle": "",
    "circle-open": "",
    "square": "M-.9-.9H.9V.9H-.9Z",
    "diamond": _regular(4),
    "triangle-up": _regular(3),
    "triangle-down": _regular(3, math.pi),
    "cross": _CROSS,
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
    "top right": (3, -5, "start"),
}


def draw(figure: Mapping[str, Any], name: str) -> str:
    """Markup of a figure (`boards.Figure.to_dict()`) that has data: its legend, where it has one, and the SVG. `name` is its own on the
    page. Raises ValueError for what is not drawn here."""
    data, layout = figure["data"], figure["layout"]
    _only("The layout", layout, _LAYOUT)
    for trace in data:
        if trace["type"] not in _KNOWN:
            raise ValueError(f"Traces of the type {trace['type']} cannot be drawn.")
        _only(f"A trace of the type {trace['type']}", trace, _KNOWN[trace["type"]])
        if set(trace.get("mode", "lines").split("+")) - {"lines", "markers", "text"} or trace.get("fill") not in (None, "tonexty"):
            raise ValueError(f"The mode {trace.get('mode')} with the fill {trace.get('fill')} cannot be drawn.")
    if layout.get("barmode", "overlay") != "overlay":
        raise ValueError(f"Bars in the mode {layout['barmode']} cannot be drawn.")
    title = f"<title>{html.escape(figure['summary'])}</title>"
    if data[0]["type"] == "scatterpolar":
        return _legend(data, layout, name) + _polar(data, layout, title)
    return _legend(data, layout, name) + _Plane(data, layout, name).svg(title)


def _only(what: str, given: Mapping[str, Any], known: set[str]) -> None:
    if set(given) - known:
        raise ValueError(f"{what} says {', '.join(sorted(set(given) - known))}, which cannot be drawn.")


def _words(text: str) -> str:
    """A name as Plotly takes it, its markup made harmless, as a text of the SVG."""
    return html.escape(html.unescape(text), quote=False)


# ---- axes ----


@dataclass
class _Axis:
    """One axis: `low` lies at its begin (left or below), `high` at its end; either may be the greater."""

    kind: str  # linear, log, date, category
    low: float
    high: float
    categories: list[str] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)  # place as `number` gives it, and words

    def number(self, value: Any) -> float:
        return _number(self.kind, value, self.categories)

    def share(self, value: Any) -> float:
        """Position of a value along the axis: 0 at its begin, 1 at its end."""
        return self.along(self.number(value))

    def along(self, place: float) -> float:
        return (place - self.low) / (self.high - self.low)


def _number(kind: str, value: Any, categories: Sequence[str]) -> float:
    if kind == "category" and isinstance(value, str):
        return float(categories.index(value))
    if kind == "date":
        return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
    return math.log10(value) if kind == "log" else float(value)


def _axis(layout: Mapping[str, Any], values: Sequence[Any], extra: Sequence[float], is_padded: bool, holds_zero: bool) -> _Axis:
    """The axis that shows `values` and the places `extra`, as its layout asks for it."""
    _only("An axis", layout, _AXIS)
    kind = layout.get("type", "linear")
    if kind not in ("linear", "log", "date", "category"):
        raise ValueError(f"Axes of the type {kind} cannot be drawn.")
    categories = list(dict.fromkeys([*layout.get("categoryarray", ()), *values])) if kind == "category" else []
    if "range" in layout:
        if kind not in ("linear", "category"):
            raise ValueError(f"A range of an axis of the type {kind} cannot be drawn.")
        axis = _Axis(kind, float(layout["range"][0]), float(layout["range"][1]), categories)
    elif kind == "category":
        axis = _Axis(kind, -0.5, len(categories) - 0.5, categories)
    else:
        places = [_number(kind, value, ()) for value in values] + list(extra) + ([0.0] if holds_zero else [])
        low, high = min(places), max(places)
        is_one = high - low <= 1e-9 * max(abs(low), abs(high))  # or apart by rounding alone
        room = {"date": 60.0, "log": 0.1}.get(kind, abs(high) * 0.05 or 0.5) if is_one else (high - low) * 0.05
        stands = holds_zero and low < high  # bars begin at the axis; if none has a height, it is in the middle
        below, above = (0.0 if not is_padded or (stands and end == 0) else room for end in (low, high))
        axis = _Axis(kind, low - below, high + above, categories)
    if layout.get("autorange") == "reversed":
        axis.low, axis.high = axis.high, axis.low
    if "tickvals" in layout:
        axis.ticks = [(float(value), text) for value, text in zip(layout["tickvals"], layout["ticktext"], strict=True)]
    else:
        axis.ticks = _ticks(axis, layout, counts=bool(values) and all(isinstance(value, int) for value in values))
    return axis


def _ticks(axis: _Axis, layout: Mapping[str, Any], counts: bool = False) -> list[tuple[float, str]]:
    """Places and words of an axis's ticks; none between `counts`."""
    low, high = sorted((axis.low, axis.high))
    if axis.kind == "category":
        return [(float(n), text) for n, text in enumerate(axis.categories)]
    if axis.kind == "date":
        return _dates(low, high)
    if axis.kind == "log":
        steps = (1, 2, 5) if high - low < 2.5 else (1,)
        values = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
        return [
            (math.log10(value), f"{value:,g}" if value < 1e6 else f"{value / 1e6:,g} M")
            for value in values
            if low <= math.log10(value) <= high
        ]
    if layout.get("tickformat") not in (None, "d"):
        raise ValueError(f"Ticks of the format {layout['tickformat']} cannot be drawn.")
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = float(layout.get("dtick") or next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough * 0.999))
    if counts or layout.get("tickformat") == "d":
        step = 1.0 if step <= 1 else 2.0 if step == 2.5 else step
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (1 if abs(step / 10 ** math.floor(math.log10(step)) - 2.5) < 1e-6 else 0)
    values = [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return [(value, f"{value + 0.0:,.{digits if step < 10 else 0}f}".replace("-", "−")) for value in values]


_STEPS = (  # seconds between ticks of time
    1,
    5,
    15,
    30,
    60,
    300,
    900,
    1800,
    3600,
    3 * 3600,
    6 * 3600,
    12 * 3600,
    86400,
    2 * 86400,
    7 * 86400,
    14 * 86400,
)
_DAY = 86400


def _dates(low: float, high: float) -> list[tuple[float, str]]:
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


def _stroke(line: Mapping[str, Any], colour: str) -> str:
    """Attributes of a line that keeps its width however far it is stretched."""
    dash = _DASHES[line.get("dash", "solid")]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{colour}" stroke-width="{_n(line.get("width", 2))}"{dashes} vector-effect="non-scaling-stroke"'


def _marks(places: Iterable[tuple[str, float]], marker: Mapping[str, Any], colour: str) -> str:
    """Marks of one symbol at places (across as SVG has it, down in px)."""
    symbol, radius = marker.get("symbol", "circle"), marker.get("size", 6) / 2
    edge = marker.get("line", {})
    paint = f'fill="{colour}"'
    if symbol == "circle-open":
        paint = f'fill="var(--panel)" stroke="{colour}" stroke-width="1.5"'
    elif edge.get("width"):
        paint += f' stroke="{edge["color"]}" stroke-width="{_n(edge["width"])}"'
    if "opacity" in marker:
        paint += f' fill-opacity="{marker["opacity"]}"'
    path = _SYMBOLS[symbol]
    if not path:
        marks = "".join(f'<circle cx="{x}" cy="{_n(y)}" r="{_n(radius)}"/>' for x, y in places)
    else:
        scaled = f'<path transform="scale({_n(radius * 1.15)})" vector-effect="non-scaling-stroke" d="{path}"/>'
        marks = "".join(f'<svg x="{x}" y="{_n(y)}" overflow="visible">{scaled}</svg>' for x, y in places)
    return f'<g class="marks" {paint}>{marks}</g>'


def _runs(points: Sequence[tuple[float, float] | None]) -> list[list[tuple[float, float]]]:
    """Points that follow each other without a gap."""
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _colour(trace: Mapping[str, Any], of: str) -> str:
    other = "line" if of == "marker" else "marker"
    return trace.get(of, {}).get("color") or trace.get(other, {}).get("color") or "var(--accent)"


def _hatch(marker: Mapping[str, Any], ident: str) -> str:
    pattern = marker["pattern"]
    if pattern["shape"] != "/":
        raise ValueError(f"Bars hatched with {pattern['shape']} cannot be drawn.")
    size = pattern["size"]
    return (
        f'<pattern id="{ident}" width="{size}" height="{size}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<path d="M0 0V{size}" stroke="{marker["color"]}" stroke-width="2.5"/></pattern>'
    )


def _legend(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], name: str) -> str:
    """The names of the traces beside their marks, or the scale of a heat map."""
    heat = next((trace for trace in data if trace["type"] == "heatmap"), None)
    if heat is not None:
        (_, first), (_, last) = heat["colorscale"]
        bar = f'<i style="background:linear-gradient(90deg,{first},{last})"></i>'
        return f'<p class="chart-keys">{_words(heat["colorbar"]["title"]["text"])} {heat["zmin"]:.2f} {bar} {heat["zmax"]:.2f}</p>'
    if not layout.get("showlegend"):
        return ""
    keys = []
    for number, trace in enumerate(data):
        if trace["type"] == "bar":
            ident, marker = f"key-{html.escape(name)}-{number}", trace["marker"]
            hatch = _hatch(marker, ident) if "pattern" in marker else ""
            edge = f' stroke="{marker["line"]["color"]}"' if "line" in marker else ""
            mark = f'{hatch}<rect x="2" y="1" width="24" height="10" fill="{f"url(#{ident})" if hatch else marker["color"]}"{edge}/>'
        else:
            line = f'<path d="M0 6H28" {_stroke(trace["line"], _colour(trace, "line"))}/>' if "line" in trace else ""
            mark = line + _marks([("14", 6.0)], trace["marker"], _colour(trace, "marker"))
        keys.append(f'<li><svg width="28" height="12" aria-hidden="true">{mark}</svg>{_words(trace["name"])}</li>')
    return f'<ul class="chart-keys">{"".join(keys)}</ul>'


# ---- charts with two axes ----


class _Plane:
    """The traces over an x and a y axis. The SVG's own box is the area between the axes; the labels around it overflow into its margins."""

    def __init__(self, data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], name: str) -> None:
        self.data, self.layout, self.name = data, layout, name
        kinds = {trace["type"] for trace in data}
        shapes = layout.get("shapes", ())
        heat = next((trace["z"] for trace in data if trace["type"] == "heatmap"), None)
        self.axes: dict[str, _Axis] = {}
        for key, ends, length in (("x", ("x0", "x1"), len(heat[0]) if heat else 0), ("y", ("y0", "y1"), len(heat) if heat else 0)):
            values = [value for trace in data for value in trace.get(key, ()) if value is not None]
            extra = [float(shape[end]) for shape in shapes for end in ends]
            for trace in data:
                if error := trace.get(f"error_{key}"):
                    extra += [end for n, at in enumerate(trace[key]) for end in (at - error["arrayminus"][n], at + error["array"][n])]
            if length:
                extra += [-0.5, length - 0.5]
            has_base = key == "y" and "bar" in kinds
            self.axes[key] = _axis(layout[f"{key}axis"], values, extra, not length, has_base)
        self.x, self.y = self.axes["x"], self.axes["y"]

        # Margins in px, by the words in them.
        x, y = layout["xaxis"], layout["yaxis"]
        if "showticklabels" in y:
            raise ValueError("A y axis without labels cannot be drawn.")
        y_words = [html.unescape(text) for place, text in self.y.ticks if 0 <= self.y.along(place) <= 1]
        self.left = 14 + max((LETTER * len(text) for text in y_words), default=0.0)
        self.right = 22.0
        self.top = 30.0 if self._title("y") else 12.0
        self.angle = -float(x.get("tickangle", 0))
        x_words = [html.unescape(text) for _, text in self.x.ticks] if x.get("showticklabels", True) else []
        longest = LETTER * max(map(len, x_words), default=0)
        down = 10 + longest * math.sin(math.radians(self.angle)) + 12 if x_words else 6.0
        if self.angle and x_words:  # the first label leans out to the left
            self.left = max(self.left, LETTER * len(x_words[0]) * math.cos(math.radians(self.angle)))
        self.bottom = down + (18 if self._title("x") else 0)
        self.title_at = down + 12
        self.height = max(90.0, layout["height"] - self.top - self.bottom)

    def _title(self, key: str) -> str:
        return self.layout[f"{key}axis"]["title"].get("text", "")

    def across(self, value: Any) -> float:
        """0 … 100, as a share of the width in percent."""
        return 100 * self.x.share(value)

    def down(self, value: Any) -> float:
        """px from the top."""
        return self.height * (1 - self.y.share(value))

    def svg(self, title: str) -> str:
        below: list[str] = []
        above: list[str] = []
        for shape in self.layout.get("shapes", ()):
            x0, x1, y0, y1 = self.across(shape["x0"]), self.across(shape["x1"]), self.down(shape["y0"]), self.down(shape["y1"])
            if shape["type"] == "line":
                drawn = self._stretched(f'<path d="{_path([(x0, y0), (x1, y1)])}" {_stroke(shape["line"], shape["line"]["color"])}/>')
            elif shape["type"] == "rect":
                place = f'x="{_n(min(x0, x1))}%" y="{_n(min(y0, y1))}" width="{_n(abs(x1 - x0))}%" height="{_n(abs(y1 - y0))}"'
                drawn = f'<rect {place} fill="{shape["fillcolor"]}" fill-opacity="{shape.get("opacity", 1)}"/>'
            else:
                raise ValueError(f"Shapes of the type {shape['type']} cannot be drawn.")
            (below if shape.get("layer") == "below" else above).append(drawn)
        draw_by_type = {"bar": self._bars, "box": self._box, "heatmap": self._heat, "scatter": self._scatter}
        traces = [draw_by_type[trace["type"]](number, trace) for number, trace in enumerate(self.data)]
        style = f"height:{_n(self.height)}px;margin:{_n(self.top)}px {_n(self.right)}px {_n(self.bottom)}px {_n(self.left)}px"
        size = f"--sides:{_n(self.left + self.right)}px"
        return f'<svg class="chart" role="img" style="{style};{size}">{title}{self._grid()}{"".join([*below, *traces, *above])}</svg>'

    def _grid(self) -> str:
        """Grid, ticks, labels and titles of both axes."""
        parts, height = [], _n(self.height)
        x, y = self.layout["xaxis"], self.layout["yaxis"]
        x_ticks = [(100 * self.x.along(place), text) for place, text in self.x.ticks if -1e-9 <= self.x.along(place) <= 1 + 1e-9]
        y_ticks = [
            (self.height * (1 - self.y.along(place)), text) for place, text in self.y.ticks if -1e-9 <= self.y.along(place) <= 1 + 1e-9
        ]
        lines = "".join(f'<line x1="{_n(at)}%" x2="{_n(at)}%" y1="0" y2="{height}"/>' for at, _ in x_ticks if x.get("showgrid", True))
        lines += "".join(f'<line x1="0" x2="100%" y1="{_n(at)}" y2="{_n(at)}"/>' for at, _ in y_ticks if y.get("showgrid", True))
        parts.append(f'<g stroke="{x["gridcolor"]}">{lines}</g>')
        for key, layout in (("x", x), ("y", y)):
            axis = self.axes[key]
            if layout.get("zeroline", True) and axis.kind == "linear" and 0 < axis.along(0) < 1:
                if key == "x":
                    ends = f'x1="{_n(100 * axis.along(0))}%" x2="{_n(100 * axis.along(0))}%" y1="0" y2="{height}"'
                else:
                    ends = f'x1="0" x2="100%" y1="{_n(self.down(0))}" y2="{_n(self.down(0))}"'
                parts.append(f'<line stroke="{layout["zerolinecolor"]}" {ends}/>')
        if x.get("showticklabels", True):
            parts.append(self._x_labels(x_ticks))
        labels = "".join(f'<text x="-8" y="{_n(at + 4)}">{_words(text)}</text>' for at, text in y_ticks)
        parts.append(f'<g text-anchor="end">{labels}</g>')
        if title := self._title("y"):
            parts.append(f'<text class="axis-title" x="{_n(-self.left + 2)}" y="-14">{_words(title)}</text>')
        if title := self._title("x"):
            room = NARROW - self.left - self.right
            is_long = LETTER * len(html.unescape(title)) / 2 > room / 2 + self.right  # then it would leave a phone's screen
            place = f'x="100%" dx="{_n(self.right - 8)}" text-anchor="end"' if is_long else 'x="50%" text-anchor="middle"'
            parts.append(f'<text class="axis-title" y="{_n(self.height + self.title_at)}" {place}>{_words(title)}</text>')
        return "".join(parts)

    def _x_labels(self, ticks: Sequence[tuple[float, str]]) -> str:
        """Labels below: those that do not fit on a phone are shown on wide screens only, and those that do not fit there nowhere."""
        parts = []
        ends = {NARROW: -math.inf, WIDE: -math.inf}  # where the last label ends, by width
        for at, text in ticks:
            size = 15.0 if self.angle else LETTER * len(html.unescape(text)) + 8
            fits: dict[int, bool] = {}
            for width in ends:
                middle = at / 100 * max(60.0, width - self.left - self.right)
                fits[width] = middle - size / 2 >= ends[width] - 0.01
                if fits[width]:
                    ends[width] = middle + size / 2
            if not fits[WIDE]:
                continue
            seldom = "" if fits[NARROW] else ' class="roomy"'
            y = _n(self.height + (12 if self.angle else 18))
            if self.angle:
                turned = f'<text transform="rotate({_n(-self.angle)})" text-anchor="end" y="4">{_words(text)}</text>'
                parts.append(f'<svg x="{_n(at)}%" y="{y}" overflow="visible"{seldom}>{turned}</svg>')
            else:
                parts.append(f'<text x="{_n(at)}%" y="{y}" text-anchor="middle"{seldom}>{_words(text)}</text>')
        return "".join(parts)

    def _stretched(self, content: str) -> str:
        """Paths over the whole area, in percent across and px down."""
        box = f"0 0 100 {_n(self.height)}"
        return f'<svg width="100%" height="{_n(self.height)}" viewBox="{box}" preserveAspectRatio="none" overflow="visible">{content}</svg>'

    def _scatter(self, number: int, trace: Mapping[str, Any]) -> str:
        points = [None if x is None or y is None else (self.across(x), self.down(y)) for x, y in zip(trace["x"], trace["y"], strict=True)]
        known = [point for point in points if point is not None]
        modes, parts = trace["mode"].split("+"), []
        if "fill" in trace:  # down to the trace before
            under = self.data[number - 1]
            edge = [(self.across(x), self.down(y)) for x, y in zip(under["x"], under["y"], strict=True)]
            parts.append(self._stretched(f'<path class="band" fill="{trace["fillcolor"]}" d="{_path([*edge, *reversed(known)])}Z"/>'))
        if "lines" in modes and trace.get("line", {}).get("width", 2) > 0:
            shape = trace.get("line", {}).get("shape", "linear")
            if shape not in ("linear", "hv"):
                raise ValueError(f"Lines of the shape {shape} cannot be drawn.")
            path = ""
            for run in _runs(points):
                bent = [run[0]]
                for point in run[1:]:
                    bent += [(point[0], bent[-1][1]), point] if shape == "hv" else [point]
                path += _path(bent)
            parts.append(self._stretched(f'<path class="line" d="{path}" {_stroke(trace.get("line", {}), _colour(trace, "line"))}/>'))
        for key in ("x", "y"):
            if f"error_{key}" in trace:
                parts.append(self._errors(key, trace))
        if "markers" in modes:
            parts.append(_marks([(f"{_n(x)}%", y) for x, y in known], trace.get("marker", {}), _colour(trace, "marker")))
        if "text" in modes:
            parts.append(self._labels(trace, points))
        return "".join(parts)

    def _errors(self, key: str, trace: Mapping[str, Any]) -> str:
        """Intervals of the points along one axis, each with a bar at both ends."""
        error, axis, half, lines = trace[f"error_{key}"], self.axes[key], trace[f"error_{key}"]["width"], []
        if error["type"] != "data" or error["symmetric"]:
            raise ValueError("Error bars of one length to both sides cannot be drawn.")
        for n, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            at = trace[key][n]
            ends = [min(1.0, max(0.0, axis.share(end))) for end in (at - error["arrayminus"][n], at + error["array"][n])]
            if ends[0] == ends[1]:
                continue
            if key == "x":
                low, high = (f"{_n(100 * end)}%" for end in ends)
                middle = self.down(y)
                top, foot = _n(middle - half), _n(middle + half)
                lines.append(f'<line x1="{low}" x2="{high}" y1="{_n(middle)}" y2="{_n(middle)}"/>')
                lines += [f'<line x1="{end}" x2="{end}" y1="{top}" y2="{foot}"/>' for end in (low, high)]
            else:
                place = f"{_n(self.across(x))}%"
                low, high = (_n(self.height * (1 - end)) for end in ends)
                caps = "".join(f"M-{half} {end}H{half}" for end in (low, high))
                lines.append(f'<svg x="{place}" overflow="visible"><path d="M0 {low}V{high}{caps}"/></svg>')
        return f'<g class="errors" fill="none" stroke="{error["color"]}" stroke-width="{_n(error["thickness"])}">{"".join(lines)}</g>'

    def _labels(self, trace: Mapping[str, Any], points: Sequence[tuple[float, float] | None]) -> str:
        """Names beside points; on a phone those alone that have room there."""
        sides = trace.get("textposition", "top center")
        font, parts = trace["textfont"], []
        narrow = max(60.0, NARROW - self.left - self.right)
        taken = [(p[0] / 100 * narrow - 4, p[1] - 4, p[0] / 100 * narrow + 4, p[1] + 4) for p in points if p] if "marker" in trace else []
        for n, (text, point) in enumerate(zip(trace["text"], points, strict=True)):
            if not text or point is None:
                continue
            right, down, anchor = _SIDES[sides if isinstance(sides, str) else sides[n]]
            wide = font.get("size", 13) / 13 * LETTER * len(html.unescape(text))
            middle, desk = point[0] / 100, WIDE - self.left - self.right
            if anchor == "start" and middle * desk + wide > desk + self.right:
                right, anchor = -right, "end"
            elif anchor == "middle" and not wide / 2 < middle * desk + self.left and middle < 0.5:
                anchor = "start"
            elif anchor == "middle" and middle * desk + wide / 2 > desk + self.right:
                anchor = "end"
            begin = middle * narrow + right - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
            box = (begin, point[1] + down - 11, begin + wide, point[1] + down + 3)
            fits = box[0] >= -self.left - 8 and box[2] <= narrow + self.right + 8
            fits = fits and not any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in taken)
            taken += [box] if fits else []
            seldom = "" if fits else ' class="roomy"'
            shift = f' dx="{_n(right)}"' if right else ""
            place = f'x="{_n(point[0])}%" y="{_n(point[1] + down)}"{shift} text-anchor="{anchor}"{seldom}'
            parts.append(f"<text {place}>{_words(text)}</text>")
        size = f";font-size:{font['size']}px" if "size" in font else ""
        return f'<g class="labels" style="fill:{font["color"]}{size}">{"".join(parts)}</g>'

    def _bars(self, number: int, trace: Mapping[str, Any]) -> str:
        marker, wide = trace["marker"], 1 - self.layout.get("bargap", 0.2)
        ident = f"hatch-{html.escape(self.name)}-{number}"
        hatch = _hatch(marker, ident) if "pattern" in marker else ""
        paint = f'fill="{f"url(#{ident})" if hatch else marker["color"]}"'
        if "line" in marker:
            paint += f' stroke="{marker["line"]["color"]}" stroke-width="{_n(marker["line"]["width"])}"'
        base, bars = self.down(0), []
        for x, y in zip(trace["x"], trace["y"], strict=True):
            middle, end = self.x.number(x), self.down(y)
            left, right = 100 * self.x.along(middle - wide / 2), 100 * self.x.along(middle + wide / 2)
            place = f'x="{_n(left)}%" y="{_n(min(base, end))}" width="{_n(right - left)}%" height="{_n(abs(end - base))}"'
            bars.append(f"<rect {place}/>")
        return f'{hatch}<g class="bars" {paint}>{"".join(bars)}</g>'

    def _box(self, number: int, trace: Mapping[str, Any]) -> str:
        """A box from quartile to quartile, its median, whiskers to the last values within 1.5 of its length, and points."""
        if trace["orientation"] != "h" or trace["boxpoints"] not in ("all", "outliers") or trace["pointpos"] != 0:
            raise ValueError("Boxes other than horizontal ones with their points on them cannot be drawn.")
        values = np.sort(np.asarray(trace["x"], dtype=float))
        q1, median, q3 = (float(value) for value in np.percentile(values, [25, 50, 75]))
        reach = 1.5 * (q3 - q1)
        inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
        # Values that rounding alone parts can all lie beside their quartiles.
        low, high = (min(q1, float(inside[0])), max(q3, float(inside[-1]))) if len(inside) else (float(values[0]), float(values[-1]))
        unit = self.height / abs(self.y.high - self.y.low)
        at, half = self.down(trace["y"][0]), trace["width"] / 2 * unit
        left, right, middle = self.across(q1), self.across(q3), self.across(median)
        lines = [(self.across(low), left, at, at), (right, self.across(high), at, at), (middle, middle, at - half, at + half)]
        lines += [(self.across(end), self.across(end), at - half / 2, at + half / 2) for end in (low, high)]
        drawn = "".join(f'<line x1="{_n(a)}%" x2="{_n(b)}%" y1="{_n(c)}" y2="{_n(d)}"/>' for a, b, c, d in lines)
        drawn += f'<rect x="{_n(left)}%" y="{_n(at - half)}" width="{_n(right - left)}%" height="{_n(2 * half)}"/>'
        line, marker = trace["line"], trace["marker"]
        box = f'<g class="box" fill="none" stroke="{line["color"]}" stroke-width="{_n(line["width"])}">{drawn}</g>'
        spread = half * trace["jitter"]
        points = [
            (f"{_n(self.across(value))}%", at + spread * (2 * (n * 0.618034 % 1) - 1))  # spread evenly, and the same every time
            for n, value in enumerate(trace["x"])
            if trace["boxpoints"] == "all" or not low <= value <= high
        ]
        return _marks(points, marker, marker["color"]) + box

    def _heat(self, number: int, trace: Mapping[str, Any]) -> str:
        """Cells by shade: the second colour of the scale over the first, the more the greater the value."""
        (start, first), (end, last) = trace["colorscale"]
        if (start, end) != (0, 1):
            raise ValueError("A colour scale of other than two colours cannot be drawn.")
        span = (trace["zmax"] - trace["zmin"]) or 1.0
        cells: dict[int, list[str]] = {}
        for row, values in enumerate(trace["z"]):
            for column, value in enumerate(values):
                if value is not None:
                    shade = round(SHADES * min(1.0, max(0.0, (value - trace["zmin"]) / span)))
                    x, wide = self.across(column - 0.5), self.across(column + 0.5) - self.across(column - 0.5)
                    y, tall = self.down(row - 0.5), self.down(row + 0.5) - self.down(row - 0.5)
                    cells.setdefault(shade, []).append(f"M{_n(x)} {_n(y)}h{_n(wide)}v{_n(tall)}h{_n(-wide)}z")
        gap = f'stroke="{first}" stroke-width="{trace["xgap"]}" vector-effect="non-scaling-stroke"'
        paths = [
            f'<path fill="color-mix(in srgb,{last} {_n(100 * shade / SHADES)}%,{first})" {gap} d="{"".join(parts)}"/>'
            for shade, parts in sorted(cells.items())
        ]
        return f'<g class="cells">{self._stretched("".join(paths))}</g>'


# ---- charts with an axis for each criterion ----

_RADIUS, _ACROSS, _TALL = 118.0, 400, 320  # of the drawing, which is scaled as a whole


def _polar(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], title: str) -> str:
    """Lines around a centre; the first axis points up, the others follow clockwise."""
    radial, angular = layout["polar"]["radialaxis"], layout["polar"]["angularaxis"]
    names = list(dict.fromkeys(theta for trace in data for theta in trace["theta"]))
    low, high = radial["range"]

    def place(name: str, value: float) -> tuple[float, float]:
        angle, radius = 2 * math.pi * names.index(name) / len(names), _RADIUS * (value - low) / (high - low)
        return radius * math.sin(angle), -radius * math.cos(angle)

    ticks = [tick for tick in _ticks(_Axis("linear", low, high), {}) if low < tick[0] < high]
    parts = [f'<circle r="{_n(_RADIUS * (value - low) / (high - low))}"/>' for value, _ in ticks] + [f'<circle r="{_n(_RADIUS)}"/>']
    parts += [f'<path d="{_path([(0, 0), place(name, high)])}"/>' for name in names]
    grid = f'<g fill="none" stroke="{radial["gridcolor"]}">{"".join(parts)}</g>'
    labels = []
    for name in names:
        x, y = place(name, high + 0.09 * (high - low))
        anchor = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
        lines = name.split("<br>")
        top = y - 14 * (len(lines) - 1) if y < -5 and abs(x) < 5 else y - 7 * (len(lines) - 1) + 4 if abs(x) >= 5 else y + 8
        labels += [f'<text x="{_n(x)}" y="{_n(top + 14 * n)}" text-anchor="{anchor}">{_words(line)}</text>' for n, line in enumerate(lines)]
    drawn = []
    for trace in data:
        points = [None if r is None else place(theta, r) for theta, r in zip(trace["theta"], trace["r"], strict=True)]
        path = "".join(map(_path, _runs(points)))
        line = f'<path class="line" d="{path}" {_stroke(trace["line"], _colour(trace, "line"))}/>'
        open_points = points[:-1] if len(points) > 1 and trace["theta"][0] == trace["theta"][-1] else points
        drawn.append(line + _marks([(_n(p[0]), p[1]) for p in open_points if p], trace["marker"], _colour(trace, "marker")))
    numbers = "".join(
        f'<text x="-5" y="{_n(4 - _RADIUS * (value - low) / (high - low))}" text-anchor="end">{text}</text>' for value, text in ticks
    )
    scale = f'<g style="fill:{radial["tickfont"]["color"]};font-size:{radial["tickfont"]["size"]}px" class="labels">{numbers}</g>'
    box = f"{-_ACROSS // 2} {-_TALL // 2} {_ACROSS} {_TALL}"
    words = f'<g style="fill:{angular["tickfont"]["color"]};font-size:{angular["tickfont"]["size"]}px">{"".join(labels)}</g>'
    return f'<svg class="chart round" role="img" viewBox="{box}">{title}{grid}{words}{"".join(drawn)}{scale}</svg>'
