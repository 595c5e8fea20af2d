"""A chart as a figure of Plotly, for somebody who explores it: plain dicts that go straight into JSON.

plotly's own Python objects are not imported: they take longer than the charts. Colours are names of the page's custom properties, for a
script to put the current theme's values in their place. Texts are shown as they are: markup in them is not obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from leaderboard.records.chart import BAR_GAP, BOX_SPREAD, BOX_WIDTH, Axis, Band, Bars, Box, Cells, Chart, Dot, Dots, Level, Mark, Tone

CLEAR = "rgba(0,0,0,0)"


def figure(chart: Chart) -> dict[str, Any]:
    """`{"data", "layout"}` of a chart."""
    traces = [trace for mark in chart.marks for trace in _traces(chart, mark)]
    layout = {
        "height": chart.height,
        "margin": {"l": 8, "r": 16, "t": 16, "b": 8},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": _colour("ink")},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "hoverlabel": {"bgcolor": _colour("panel"), "bordercolor": _colour("bar"), "font": {"color": _colour("ink")}},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": chart.has_legend,
        "bargap": BAR_GAP,
        "barmode": "overlay",
        "shapes": [shape for mark in chart.marks for shape in _shapes(mark)],
    }
    if chart.is_round:
        axis = {"gridcolor": _colour("line"), "linecolor": _colour("line"), "tickfont": {"color": _colour("soft"), "size": 11}}
        layout |= {
            "margin": {"l": 90, "r": 90, "t": 40, "b": 40},
            "legend": {"orientation": "h", "y": -0.12},
            "polar": {
                "bgcolor": CLEAR,
                "radialaxis": axis | {"range": chart.y.ends, "angle": 90, "tickangle": 90, "nticks": 5},
                "angularaxis": axis | {"tickfont": {"color": _colour("ink"), "size": 12}, "rotation": 90, "direction": "clockwise"},
            },
        }
    else:
        layout |= {"xaxis": _axis(chart.x), "yaxis": _axis(chart.y)}
    return {"data": traces, "layout": layout}


def _colour(tone: Tone) -> str:
    return f"var(--{tone})"


def _text(text: str) -> str:
    """A text of a record: with any tags in it, on the lines that it has."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {
        "gridcolor": _colour("line"),
        "linecolor": _colour("line"),
        "zerolinecolor": _colour("bar"),
        "automargin": True,
        "tickfont": {"color": _colour("ink")},
        "title": {"text": _text(axis.title), "font": {"color": _colour("soft")}},
        "type": "category" if axis.names else "date" if axis.scale == "time" else axis.scale,
        "showgrid": axis.has_grid,
        "zeroline": axis.has_zero,
    }
    if axis.turned:
        found["tickangle"] = -axis.turned
    if axis.names:
        names = [_text(name) for name in axis.names]
        found |= {"categoryorder": "array", "categoryarray": names, "range": [-0.5, len(names) - 0.5]}
    if axis.ends:
        found["range"] = list(axis.ends)
    if axis.ticks is not None:
        found |= {"tickvals": [at for at, _ in axis.ticks], "ticktext": [_text(text) for _, text in axis.ticks]}
    if axis.is_whole and axis.scale == "linear":
        found["tickformat"] = "d"
    return found


def _places(axis: Axis, places: Sequence[float]) -> list[Any]:
    """Places on an axis as Plotly takes them: names of categories, and moments as text."""
    if axis.names:
        return [_text(axis.names[int(at)]) for at in places]
    return [f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in places] if axis.scale == "time" else list(places)


def _traces(chart: Chart, mark: Mark) -> list[dict[str, Any]]:
    match mark:
        case Dots():
            return [_dots(chart, mark)]
        case Band(points=points):
            there = [*points, *reversed(points)]
            heights = [low for _, low, _ in points] + [high for *_, high in reversed(points)]
            edge = {"type": "scatter", "mode": "lines", "x": _places(chart.x, [x for x, *_ in there]), "y": heights, "line": {"width": 0}}
            return [
                edge
                | {"fill": "toself", "fillcolor": _colour(mark.tone), "opacity": mark.opacity, "hoverinfo": "skip", "showlegend": False}
            ]
        case Bars(dots=dots):
            colour = _colour(mark.tone)
            hatch = {"line": {"color": colour, "width": 1}, "pattern": {"shape": "/", "fillmode": "replace", "size": 6}}
            bars = {"type": "bar", "name": _text(mark.name), "x": _places(chart.x, [dot.x for dot in dots]), "y": [dot.y for dot in dots]}
            said = {"text": [_text(dot.said) for dot in dots], "textposition": "none", "hoverinfo": "text"}
            return [bars | said | {"marker": {"color": colour} | (hatch if mark.is_hatched else {})}]
        case Box():
            return [
                {
                    "type": "box",
                    "orientation": "h",
                    "name": _text(mark.name),
                    "x": mark.values,
                    "y": [mark.at] * len(mark.values),
                    "text": [_text(said) for said in mark.said],
                    "hoverinfo": "text",
                    "hoveron": "points",
                    "boxpoints": "all" if mark.has_all_points else "outliers",
                    "jitter": BOX_SPREAD,
                    "pointpos": 0,
                    "width": BOX_WIDTH,
                    "marker": {"color": _colour("accent"), "size": 4, "opacity": 0.55},
                    "line": {"color": _colour("ink"), "width": 1.2},
                    "fillcolor": CLEAR,
                }
            ]
        case Cells():
            title = {"title": {"text": _text(mark.name)}, "thickness": 12, "outlinewidth": 0, "tickfont": {"color": _colour("ink")}}
            shades = {"zmin": mark.low, "zmax": mark.high, "colorscale": [[0, _colour("panel")], [1, _colour("accent")]], "colorbar": title}
            texts = [[_text(one) for one in row] for row in mark.said]
            hover = {"text": texts, "hoverinfo": "text", "hoverongaps": False}
            return [{"type": "heatmap", "z": mark.values, "xgap": 1, "ygap": 1} | shades | hover]
        case Level():
            return []


def _dots(chart: Chart, series: Dots) -> dict[str, Any]:
    dots = [*series.dots, series.dots[0]] if chart.is_round else series.dots
    across, heights = _places(chart.x, [dot.x for dot in dots]), [dot.y for dot in dots]
    colour, labels = _colour(series.tone), [_text(dot.label) for dot in dots]
    modes = [mode for mode, there in (("lines", series.line), ("markers", series.symbol), ("text", any(labels))) if there]
    trace: dict[str, Any] = {"mode": "+".join(modes), "name": _text(series.name)}
    if chart.is_round:  # names on two lines each, so that they have room beside the chart on a phone
        trace |= {"type": "scatterpolar", "theta": [name.replace(" ", "<br>", 1) for name in across], "r": heights}
    else:
        trace |= {"type": "scatter", "x": across, "y": heights, "cliponaxis": False}
    said = [_text(dot.said) for dot in dots]
    trace |= {"hovertext": said, "hoverinfo": "text"} if any(said) else {"hoverinfo": "skip"}
    if series.line:
        shape = "hv" if series.line.is_stepped else "linear"
        trace["line"] = {"color": colour, "width": series.line.width, "dash": series.line.dash, "shape": shape}
    if series.symbol:
        trace["marker"] = {"symbol": series.symbol, "size": series.size, "color": colour}
        trace["marker"] |= {"line": {"color": _colour("panel"), "width": 1}} if series.line else {}
    if any(labels):
        trace |= {"text": labels, "textposition": [dot.side for dot in dots]}
        trace["textfont"] = {"color": _colour(series.label_tone)} | ({"size": 11} if series.symbol else {})
    return trace | _intervals(series, dots)


def _intervals(series: Dots, dots: Sequence[Dot]) -> dict[str, Any]:
    """The part of a trace that draws the intervals of its dots; empty where none has one."""
    if all(dot.low is None and dot.high is None for dot in dots):
        return {}
    ends = [(dot.x if series.along == "x" else dot.y or 0.0, dot.low, dot.high) for dot in dots]
    bars = {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - at for at, _, high in ends],
        "arrayminus": [0 if low is None else at - low for at, low, _ in ends],
        "color": _colour(series.interval_tone),
        "thickness": 2,
        "width": 4,
    }
    return {f"error_{series.along}": bars}


def _shapes(mark: Mark) -> list[dict[str, Any]]:
    """Lines and areas over the whole width or height."""
    across, down = {"xref": "x domain", "x0": 0, "x1": 1}, {"yref": "y domain", "y0": 0, "y1": 1}
    shapes: list[dict[str, Any]] = []
    match mark:
        case Level():
            if mark.low is not None and mark.high is not None:
                area = {"type": "rect", "layer": "below", "y0": mark.low, "y1": mark.high, "fillcolor": _colour("bar"), "opacity": 0.35}
                shapes.append(across | area | {"line": {"width": 0}})
            line = {"color": _colour("ink"), "dash": "dot", "width": 1.5}
            shapes.append(across | {"type": "line", "y0": mark.at, "y1": mark.at, "line": line})
        case Cells():
            for at in (border - 0.5 for border in mark.borders):
                line = {"type": "line", "line": {"color": _colour("ink"), "width": 2}}
                shapes += [line | down | {"x0": at, "x1": at}, line | across | {"y0": at, "y1": at}]
    return shapes
