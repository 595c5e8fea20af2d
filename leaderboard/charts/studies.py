"""Charts of a study: who agrees with whom, and whether enough was labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.charts.boards import TOKENS, Figure, Palette, base_layout, nothing, plain, short
from leaderboard.stats.subsample_stability import Curve
from leaderboard.wording.nouns import NOUN, plural

_COLUMNS = ("Rater", "Other", "Agreement", "Pairs in common")
POSITIONS = ("top center", "bottom center", "middle right", "middle left")  # of labels
WIDE, TALL, LETTER = 900, 270, 6.5  # px of a scatter plot on a desk, and of a letter in it
MAX_NAMES = 60  # below a heat map; more would overlap, and are listed beside it
MAX_ROWS = 400  # of the table that says the same in numbers


def agreement_map(
    names: Sequence[str],
    agree: Sequence[Sequence[float | None]],
    common: Sequence[Sequence[float]],
    order: Sequence[int],
    borders: Sequence[int],
    who: str,
    colours: Palette = TOKENS,
) -> Figure:
    """A heat map of agreement [k][k] in the given order; `borders` are places in that order at which another cluster begins, `who`
    says in words who is in it."""
    ordered = [names[n] for n in order]
    if len(ordered) < 2:
        return nothing("Once there are two raters, a matrix shows who agrees with whom.", _COLUMNS, colours)
    values = [[agree[i][j] if i != j else None for j in order] for i in order]
    flat = [value for row in values for value in row if value is not None]
    low = min(flat, default=0.0)
    layout = base_layout(colours, height=180 + 15 * len(ordered))
    layout["margin"] = {"l": 8, "r": 8, "t": 8, "b": 8}
    ticks: dict[str, Any] = {"tickvals": list(range(len(ordered))), "showgrid": False, "zeroline": False}
    layout["xaxis"] |= ticks | {
        "ticktext": [short(name) for name in ordered],
        "tickangle": -60,
        "showticklabels": len(ordered) <= MAX_NAMES,
    }
    layout["yaxis"] |= ticks | {"ticktext": [short(name) for name in ordered], "autorange": "reversed"}
    layout["shapes"] = [
        line
        for at in borders
        for line in (
            _line(at - 0.5, at - 0.5, -0.5, len(ordered) - 0.5, colours),
            _line(-0.5, len(ordered) - 0.5, at - 0.5, at - 0.5, colours),
        )
    ]
    text = [[f"{plain(one)} and {plain(other)}" for other in ordered] for one in ordered]
    heat = {
        "type": "heatmap",
        "z": values,
        "zmin": min(low, 0.5),
        "zmax": 1.0,
        "text": text,
        "hoverongaps": False,
        "colorscale": [[0, colours.panel], [1, colours.accent]],
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"title": {"text": "agreement"}, "thickness": 12, "outlinewidth": 0, "tickfont": {"color": colours.ink}},
        "hovertemplate": "%{text}: %{z:.2f}<extra></extra>",
    }
    rows = [
        (ordered[i], ordered[j], f"{values[i][j]:.3f}", str(int(common[order[i]][order[j]])))
        for i in range(len(order))
        for j in range(i)
        if values[i][j] is not None
    ]
    summary = f"Agreement of {who} on the pairs each two have in common"
    summary += "; a line divides people and metrics." if borders else "."
    return Figure((heat,), layout, summary, _COLUMNS, tuple(rows[:MAX_ROWS]))


def adequacy(curve: Curve, colours: Palette = TOKENS, noun: str = NOUN) -> Figure:
    """Tau to the ranking by all over the size of the part: the mean as a line, the middle 95 % of the parts as a band. ``noun`` is what
    samples are called."""
    what = {"raters": "people", "comparisons": "answers", "samples": plural(noun)}[curve.resource]
    columns = (what.capitalize(), "Mean τ", "95 % of parts from", "to")
    known = [row for row in zip(curve.sizes, curve.mean, curve.low, curve.high, strict=True) if row[1] is not None]
    if not known and len(curve.sizes) > 1:
        return nothing(f"All stand level, so there is no order that a part of the {what} could keep.", columns, colours)
    if len(known) < 2:
        return nothing(f"There are too few {what} to take parts of.", columns, colours)
    sizes, mean, low, high = (list(column) for column in zip(*known, strict=True))
    layout = base_layout(colours, height=230)
    layout["xaxis"] |= {
        "type": "log" if sizes[-1] > 50 else "linear",
        "title": {"text": what, "font": {"color": colours.soft}},
    }
    layout["yaxis"] |= {"range": [min(0.0, *low) - 0.02, 1.03], "title": {"text": "τ-b", "font": {"color": colours.soft}}}
    hidden: dict[str, Any] = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": sizes}
    mark = {"type": "scatter", "mode": "lines", "x": [sizes[0], sizes[-1]], "y": [0.95, 0.95], "hoverinfo": "skip"}
    data = (
        hidden | {"y": low},
        hidden | {"y": high, "fill": "tonexty", "fillcolor": colours.line},
        mark | {"line": {"color": colours.warn, "width": 1, "dash": "dash"}},
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": sizes,
            "y": mean,
            "line": {"color": colours.accent, "width": 2},
            "marker": {"size": 5},
            "hovertemplate": f"%{{x}} {what}: τ %{{y:.3f}}<extra></extra>",
        },
    )
    if curve.steady is not None:
        summary = f"{what.capitalize()}: the order stays with parts of {curve.steady:,} of {sizes[-1]:,} and more."
    else:
        summary = f"{what.capitalize()}: with no part of the {sizes[-1]:,} the order is sure to stay."
    rows = tuple((f"{size:,}", *(f"{value:.3f}" for value in row)) for size, *row in known[:-1])
    rows += ((f"{sizes[-1]:,}", f"{mean[-1]:.3f}", "–", "–"),)  # there is one part of all
    return Figure(data, layout, summary, columns, rows)


@dataclass(frozen=True)
class Point:
    """An entry with a metric's value and its mean opinion score with the ends of its interval; `is_out` takes no part in correlations."""

    label: str
    value: float
    mos: float
    low: float | None
    high: float | None
    is_out: bool = False


def scatter(
    title: str, higher_is_better: bool, points: Sequence[Point], scale: tuple[float, float] = (1.0, 5.0), colours: Palette = TOKENS
) -> Figure:
    """Mean opinion scores on their scale, with their intervals, over a metric's values."""
    columns = ("Entry", title, "Opinion score", "95 % low", "95 % high")
    if not points:
        return nothing("No entry has both a value of this metric and an opinion score.", columns, colours)
    layout = base_layout(colours, height=380)
    arrow = "higher is better" if higher_is_better else "lower is better"
    layout["xaxis"] |= {"title": {"text": f"{plain(title)} ({arrow})", "font": {"color": colours.soft}}}
    ends = [end for point in points for end in (point.low, point.high) if end is not None]  # which may lie beyond the scale
    room = (scale[1] - scale[0]) / 40
    layout["yaxis"] |= {
        "range": [min([scale[0], *ends]) - room, max([scale[1], *ends]) + room],
        "title": {"text": "opinion score", "font": {"color": colours.soft}},
    }
    data, labels = [], _labels(points, scale)
    for is_out, colour, symbol in ((False, colours.accent, "circle"), (True, colours.soft, "circle-open")):
        chosen = [n for n, point in enumerate(points) if point.is_out == is_out]
        part = [points[n] for n in chosen]
        if not part:
            continue
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": [point.value for point in part],
                "y": [point.mos for point in part],
                "text": [labels[n][0] for n in chosen],
                "textposition": [labels[n][1] for n in chosen],
                "textfont": {"size": 11, "color": colours.soft},
                "hovertext": [plain(point.label) for point in part],
                "marker": {"size": 8, "color": colour, "symbol": symbol},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "color": colours.bar,
                    "thickness": 1.5,
                    "width": 3,
                    "array": [0 if point.high is None else point.high - point.mos for point in part],
                    "arrayminus": [0 if point.low is None else point.mos - point.low for point in part],
                },
                "hovertemplate": "%{hovertext}: %{x:.4g}, opinion score %{y:.2f}<extra></extra>",
                "cliponaxis": False,
            }
        )
    out = [plain(point.label) for point in points if point.is_out]
    summary = f"Opinion scores of {len(points)} entries over {plain(title)}" + (f"; hollow: left out, {', '.join(out)}." if out else ".")
    rows = tuple(
        (point.label, f"{point.value:.4g}", f"{point.mos:.3f}", *("–" if end is None else f"{end:.3f}" for end in (point.low, point.high)))
        for point in sorted(points, key=lambda point: -point.mos)
    )
    return Figure(tuple(data), layout, summary, columns, rows)


def _labels(points: Sequence[Point], scale: tuple[float, float]) -> list[tuple[str, str]]:
    """The text beside each point and on which side it has room; none where it would lie over another one or over a point."""
    low, high = min(point.value for point in points), max(point.value for point in points)
    tall = TALL / (scale[1] - scale[0])
    places = [((point.value - low) / ((high - low) or 1.0) * WIDE, (scale[1] - point.mos) * tall) for point in points]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    labels = [("", POSITIONS[0])] * len(points)
    for n in sorted(range(len(points)), key=lambda n: -points[n].mos):
        (x, y), wide = places[n], LETTER * len(short(points[n].label))
        sides = ((x - wide / 2, y - 20), (x - wide / 2, y + 6), (x + 7, y - 7), (x - 7 - wide, y - 7))
        for position, (left, top) in zip(POSITIONS, sides, strict=True):
            box = (left, top, left + wide, top + 14)
            if not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken):
                taken.append(box)
                labels[n] = (short(points[n].label), position)
                break
    return labels


def _line(x0: float, x1: float, y0: float, y1: float, colours: Palette) -> dict[str, Any]:
    return {"type": "line", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": colours.ink, "width": 2}}
