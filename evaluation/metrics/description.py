"""All that is known of a metric, as text: for docstrings and the command line. PURE."""

from __future__ import annotations

import textwrap
from itertools import chain

from evaluation.metrics import peers
from evaluation.metrics.spec import MetricSpec

OF_POINTS = (
    "Points without faces, as an array [N, 3], are their own samples. A value against a reference of points has no fingerprint: no "
    "leaderboard has such a reference."
)
WIDTH = 100  # characters of a line


def described(spec: MetricSpec) -> str:
    """Description of a metric: what it measures, its formula, its parameters, other programs and its source."""
    better = "Higher is better." if spec.higher_is_better else "Lower is better."
    lines = [f"{spec.title}: {spec.doc} {better}", ""]
    lines += [*(f"    {line}" for line in spec.formula.splitlines()), ""] if spec.formula else []
    for one in spec.params:
        lines += [] if one is not spec.params[0] else ["Parameters:"]
        lines.append(f"    {one.name} ({one.kind}, {one.default!r}{f' {one.unit}' if one.unit else ''}): {one.doc}")
    lines += [""] if spec.params else []
    lines += [OF_POINTS, ""] if spec.of_points else []
    others = peers.of(spec.key)
    lines += ["Beside other programs:", *(f"    {peer}" for peer in others), ""] if others else []
    lines += [f"Source: {spec.origin}."] if spec.origin else []
    wrapped = (textwrap.wrap(line, WIDTH, subsequent_indent=" " * (8 if line.startswith("    ") else 0)) or [""] for line in lines)
    return "\n".join(chain.from_iterable(wrapped)).rstrip() + "\n"
