"""The chart of a judge's scores: a radar with an axis for each criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.charts.boards import TOKENS, Figure, Palette, base_layout, nothing, plain, short

MAX_LINES = 8  # more cannot be followed by eye
MIN_AXES = 3
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "pentagon")


def radar(criteria: Sequence[str], scores: Mapping[str, Sequence[float | None]], colours: Palette = TOKENS) -> Figure:
    """Elo per criterion of each method, in the order given, at most the first eight. With fewer than three criteria there is no area to
    draw, and a chart of dots on parallel axes replaces it."""
    columns = ("Entry", *criteria)
    rows = tuple((name, *("–" if value is None else f"{value:.0f}" for value in values)) for name, values in scores.items())
    known = [(name, values) for name, values in scores.items() if any(value is not None for value in values)]
    if len(known) < 2:
        return nothing("Once a judge has compared two entries, a chart shows their Elo.", columns, colours)
    drawn = known[:MAX_LINES]
    every = [value for _, values in drawn for value in values if value is not None]
    room = 0.08 * (max(every) - min(every) or 100.0)
    span = [min(every) - room, max(every) + room]
    layout = base_layout(colours, height=440)
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "y": -0.12, "font": {"color": colours.ink}}
    if len(criteria) < MIN_AXES:
        layout["yaxis"] |= {"title": {"text": "Elo", "font": {"color": colours.soft}}, "range": span}
        layout["xaxis"] |= {"type": "category", "showgrid": True}
        data = tuple(
            _line(n, name, {"type": "scatter", "x": list(criteria), "y": list(values)}, colours) for n, (name, values) in enumerate(drawn)
        )
    else:
        axis: dict[str, Any] = {"gridcolor": colours.line, "linecolor": colours.line, "tickfont": {"color": colours.soft, "size": 11}}
        layout["polar"] = {
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": axis | {"range": span, "angle": 90, "tickangle": 90, "nticks": 5},
            "angularaxis": axis | {"tickfont": {"color": colours.ink, "size": 12}, "rotation": 90, "direction": "clockwise"},
        }
        # On two lines each, so that it has room beside the chart on a phone.
        axes = ["<br>".join(plain(part) for part in title.split(" ", 1) if part) for title in criteria]
        layout["margin"] = {"l": 90, "r": 90, "t": 40, "b": 40}
        data = tuple(
            _line(n, name, {"type": "scatterpolar", "theta": [*axes, axes[0]], "r": [*values, values[0]]}, colours)
            for n, (name, values) in enumerate(drawn)
        )
    counted = f"the first {len(drawn)} of {len(known)}" if len(drawn) < len(known) else f"{len(drawn)}"
    summary = f"Elo of {counted} entries on {len(criteria)} {'criterion' if len(criteria) == 1 else 'criteria'}, further out is better."
    return Figure(data, layout, summary, columns, rows)


def _line(place: int, name: str, points: dict[str, Any], colours: Palette) -> dict[str, Any]:
    colour = (colours.accent, colours.warn, colours.ink, colours.soft)[place % 4]
    at = "%{theta}: %{r:.0f}" if points["type"] == "scatterpolar" else "%{x}: %{y:.0f}"
    return points | {
        "mode": "lines+markers",
        "name": short(name),
        "line": {"color": colour, "width": 2, "dash": _DASHES[place % len(_DASHES)]},
        "marker": {"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 8, "color": colour},
        "hovertemplate": f"{plain(name)}<br>{at}<extra></extra>",
    }
