"""Results of several methods as a LaTeX table for a paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.metrics import registry
from leaderboard.package.comparison import compare
from leaderboard.package.scored import Column, Scored
from leaderboard.stats.uncertainty import brackets
from leaderboard.wording.digits import rounded

SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
SIGNS = {"±": r"\pm ", "−": "-", "<": "<", "+": "+"}


def best(results: Mapping[str, Scored], column: Column) -> set[str]:
    """Names of the results whose value of a metric is the best, and of those that are tied with the best."""
    names = list(results)
    values = [results[name].summaries[column.slug].value for name in names]
    if len(names) == 1 or all(value is None for value in values):
        return set()
    board = brackets(np.stack([results[name].units(column.slug)[1] for name in names]), column.higher_is_better, values)
    first = board.order[0]
    firsts = {place for place, rank in enumerate(board.rank) if rank == board.rank[first]}
    return {names[place] for place in firsts | set(board.tied[first])}


def latex(results: Mapping[str, Scored]) -> str:
    """A table (booktabs) with a row for each result. The best of a metric, and what no significant difference parts from it, is bold."""
    first, *others = results.values()
    for other in others:
        compare(first, other)  # which refuses what is of other items, references or metrics
    bold = {column.slug: best(results, column) for column in first.columns}
    arrows = {True: r"$\uparrow$", False: r"$\downarrow$"}
    heads = [f"{escaped(column.title)} {arrows[column.higher_is_better]}" for column in first.columns]
    groups = f"{len(set(first.groups))} groups of {len(first.items)} items"
    lines = [
        f"% Mean over {groups}, with 95 % intervals. Bold: the best of a column, and what is tied with it",
        "% (paired test of random signs, p > .05 corrected for all pairs of the column).",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        " & ".join(["Method", *heads]) + r" \\",
        r"\midrule",
    ]
    for name, result in results.items():
        cells = [_cell(result, column, name in bold[column.slug]) for column in first.columns]
        lines.append(" & ".join([escaped(name), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _cell(result: Scored, column: Column, is_best: bool) -> str:
    summary = result.summaries[column.slug]
    spec = registry.REGISTRY.get(column.key)
    shown = rounded(summary.value, summary.ci_low, summary.ci_high, spec.bounds if spec else (None, None))
    value = "".join(SIGNS.get(sign, sign) for sign in shown.text)
    if shown.half:
        spread = "".join(SIGNS.get(sign, sign) for sign in shown.half)
    else:
        spread = f"^{{{shown.up}}}_{{{shown.down.replace('−', '-')}}}" if shown.up else ""
    if summary.value is None:
        return "--"
    return f"$\\mathbf{{{value}}}{spread}$" if is_best else f"${value}{spread}$"


def escaped(text: str) -> str:
    """Text as LaTeX prints it."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)
