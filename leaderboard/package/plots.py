"""Results of several methods as a chart: a panel for each metric, a mark with its 95 % interval for each method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from leaderboard.package import installed
from leaderboard.package.comparison import compare
from leaderboard.package.errors import CannotEvaluate
from leaderboard.package.scored import Column, Scored
from leaderboard.package.tables import best
from leaderboard.records.chart import Axis, Chart, Dot, Dots, Tone
from leaderboard.wording.digits import rounded

SUFFIXES = (".pdf", ".svg", ".png")
WIDTH, HEIGHT = 2.6, 0.32  # inches of a panel, and of a method in it
COLOURS: dict[Tone, str] = {"accent": "#1f5f8b", "soft": "#6b7280"}  # on white


def plot(results: Mapping[str, Scored], path: Path) -> None:
    """Draw the chart into a PDF, SVG or PNG file, whose title says the same in words. The best of a metric, and what is tied with it, is
    dark."""
    if path.suffix.lower() not in SUFFIXES:
        raise CannotEvaluate(f"A chart is written as {', '.join(SUFFIXES)}, not {path.suffix or 'without a suffix'}.")
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(installed.missing("matplotlib", "plot") or str(error), name=error.name) from None
    first, *others = results.values()
    for other in others:
        compare(first, other)
    charts = [described(results, column) for column in first.columns]
    figure = Figure(figsize=(1.2 + WIDTH * len(charts), 0.9 + HEIGHT * len(results)), layout="constrained")
    panels = figure.subplots(1, len(charts), sharey=True, squeeze=False)[0]
    for panel, chart in zip(panels, charts, strict=True):
        for series in chart.marks:
            assert isinstance(series, Dots)  # as `described` makes it
            colour = COLOURS[series.tone]
            for dot in series.dots:
                if dot.low is not None and dot.high is not None:
                    panel.plot([dot.low, dot.high], [dot.y, dot.y], color=colour, linewidth=1.5, solid_capstyle="butt")
                panel.plot([dot.x], [dot.y], marker="o", color=colour, markersize=series.size)
        panel.set_title(chart.x.title, fontsize=9)
        panel.tick_params(labelsize=8, left=False)
        panel.grid(axis="x", color="#e5e7eb", linewidth=0.6)
        panel.spines[["top", "right", "left"]].set_visible(False)
    y = charts[0].y
    panels[0].set_yticks(*zip(*(y.ticks or ()), strict=True))
    panels[0].set_ylim(y.ends)
    figure.savefig(path, dpi=200, metadata={"Title": " ".join(chart.summary for chart in charts)})


def described(results: Mapping[str, Scored], column: Column) -> Chart:
    """The chart of one metric: methods from the top down in the order given. The best, and what is tied with it, has the accent."""
    chosen = best(results, column) if len(results) > 1 else set(results)
    dots: dict[Tone, list[Dot]] = {"accent": [], "soft": []}
    rows = []
    for place, (name, result) in enumerate(results.items()):
        one = result.summaries[column.slug]
        digits = rounded(one.value, one.ci_low, one.ci_high)
        ends = "no interval"
        if one.ci_low is not None and one.ci_high is not None:
            ends = f"{digits.end(one.ci_low)} to {digits.end(one.ci_high)}"
        rows.append((name, digits.text, ends))
        if one.value is not None:
            dots["accent" if name in chosen else "soft"].append(Dot(one.value, place, low=one.ci_low, high=one.ci_high))
    unit = f" ({column.unit})" if column.unit else ""
    return Chart(
        f"{column.title}{unit} with 95 % intervals: {'; '.join(f'{name} {value} ({ends})' for name, value, ends in rows)}.",
        ("Method", column.title, "95 % interval"),
        tuple(rows),
        Axis(f"{column.title} {'↑' if column.higher_is_better else '↓'}{unit}"),
        Axis(ticks=tuple(enumerate(results)), ends=(len(results) - 0.5, -0.5), has_grid=False),
        tuple(Dots(tuple(some), tone=tone, symbol="circle", size=5) for tone, some in dots.items() if some),
    )
