"""Results of several methods as a chart: a panel for each metric, a mark with its 95 % interval for each method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from leaderboard.package import installed
from leaderboard.package.comparison import compare
from leaderboard.package.errors import CannotEvaluate
from leaderboard.package.tables import best

if TYPE_CHECKING:
    from leaderboard.package.results import Result

SUFFIXES = (".pdf", ".svg", ".png")
WIDTH, HEIGHT = 2.6, 0.32  # inches of a panel, and of a method in it
COLOUR, OTHERS = "#1f5f8b", "#6b7280"


def plot(results: Mapping[str, Result], path: Path) -> None:
    """Draw the chart into a PDF, SVG or PNG file. The best of a metric, and what is tied with it, is dark."""
    if path.suffix.lower() not in SUFFIXES:
        raise CannotEvaluate(f"A chart is written as {', '.join(SUFFIXES)}, not {path.suffix or 'without a suffix'}.")
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(installed.missing("matplotlib", "plot") or str(error), name=error.name) from None
    first, *others = results.values()
    for other in others:
        compare(first, other)
    names, n = list(results), len(first.columns)
    figure = Figure(figsize=(1.2 + WIDTH * n, 0.9 + HEIGHT * len(names)), layout="constrained")
    panels = figure.subplots(1, n, sharey=True, squeeze=False)[0]
    for panel, column in zip(panels, first.columns, strict=True):
        chosen = best(results, column)
        for place, name in enumerate(names):
            one = results[name].summaries[column.slug]
            colour = COLOUR if name in chosen or len(names) == 1 else OTHERS
            if one.ci_low is not None and one.ci_high is not None:
                panel.plot([one.ci_low, one.ci_high], [place, place], color=colour, linewidth=1.5, solid_capstyle="butt")
            if one.value is not None:
                panel.plot([one.value], [place], marker="o", color=colour, markersize=5)
        arrow = "↑" if column.higher_is_better else "↓"
        panel.set_title(f"{column.title} {arrow}{f' ({column.unit})' if column.unit else ''}", fontsize=9)
        panel.tick_params(labelsize=8, left=False)
        panel.grid(axis="x", color="#e5e7eb", linewidth=0.6)
        panel.spines[["top", "right", "left"]].set_visible(False)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    figure.savefig(path, dpi=200)
