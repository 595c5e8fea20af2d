"""plumbline score, compare and plot: folders scored and kept, results compared, tables and charts of them.

    plumbline score PREDICTION REFERENCE --metric hss --metric edge_f1 --param edge_f1.tau_edge=0.25 --save r.json
    plumbline compare NEW.json OLD.json --fail-if-worse
    plumbline plot chart.pdf Ours=ours.json Theirs=theirs.json

Exit codes: 0 done; 1 the prediction cannot be scored, its problems are on stderr; 2 the command cannot be carried out as given. With
--fail-if-worse: 0 no metric is significantly worse; 1 one is; 2 it cannot be told.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation import local, score_options
from evaluation.networks import weights
from leaderboard.package.comparison import CANNOT_TELL, compare
from leaderboard.package.errors import CannotEvaluate, Rejected
from leaderboard.package.inputs import metres_per
from leaderboard.package.plots import plot
from leaderboard.package.results import Result, read, scored

REJECTED, USAGE = 1, 2
SHOWN_ITEMS = 40


def main(words: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(words)
    try:
        return int({"score": _score, "compare": _compare, "plot": _plot}[options.command](options))
    except Rejected as error:
        print(error, file=sys.stderr)
        return REJECTED
    except (CannotEvaluate, weights.WeightsError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="plumbline", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    score = commands.add_parser("score", help="score predictions against a reference", allow_abbrev=False)
    score_options.add_to(score)
    score.add_argument("--match", default="{id}", metavar="NAME", help="how predictions are called, as pred_{id} (default {id})")
    score.add_argument("--groups", type=Path, metavar="FILE", help="CSV of item and group, over which means and intervals are taken")
    score.add_argument("--unit", default="m", metavar="UNIT", help="of the coordinates: m, cm, mm, … or metres as a number (default m)")
    score.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that share the items (default 1)")
    score.add_argument("--save", type=Path, metavar="FILE", help="write everything to a JSON file")
    score.add_argument("--csv", type=Path, metavar="FILE", help="write the values of each item")
    score.add_argument("--latex", type=Path, metavar="FILE", help="write a table with intervals")
    score.add_argument("--json", action="store_true", help="print what --save writes")
    compared = commands.add_parser("compare", help="compare two saved results", allow_abbrev=False)
    compared.add_argument("first", type=Path, metavar="A.json", help="the new result")
    compared.add_argument("second", type=Path, metavar="B.json", help="the earlier result to compare with")
    compared.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit status 0: no metric is significantly worse in A than in B; 1: at least one is; 2: the test cannot decide",
    )
    compared.add_argument("--json", action="store_true", help="print the comparison as JSON")
    plotted = commands.add_parser("plot", help="draw saved results with their intervals", allow_abbrev=False)
    plotted.add_argument("chart", type=Path, metavar="CHART", help="the file to write: .pdf, .svg or .png")
    plotted.add_argument("results", nargs="+", metavar="[NAME=]R.json", help="saved results of the same items and metrics")
    return parser


def _score(options: argparse.Namespace) -> int:
    score_options.prepare(options)
    if options.jobs < 1:
        raise ValueError("--jobs must be at least 1.")
    try:
        unit = float(options.unit)
    except ValueError:
        unit = options.unit
    result = scored(
        options.prediction,
        options.reference,
        options.metric,
        options.param,
        options.match,
        options.groups,
        metres_per(unit),
        options.manifest,
        options.jobs,
        progress=sys.stderr.isatty(),
        boxed=options.sandbox,
    )
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if options.save:
        result.save(options.save)
    if options.csv:
        result.to_csv(options.csv)
    if options.latex:
        result.to_latex(options.latex)
    print(json.dumps(result.to_dict(), indent=1, allow_nan=False) if options.json else _table(result))
    return 0


def _compare(options: argparse.Namespace) -> int:
    found = compare(read(options.first), read(options.second))
    if options.json:
        print(
            json.dumps(
                {"metrics": found.rows(), "missing": list(found.missing), "exit_status": found.exit_status, "unclear": found.unclear}
            )
        )
    else:
        print(_text(found.rows(), ("metric", "first", "second", "difference", "low", "high", "p_corrected", "n", "verdict")))
    if not options.fail_if_worse:
        return 0
    if found.exit_status == CANNOT_TELL:
        print(f"It cannot be told whether {options.first} is worse: {found.unclear}.", file=sys.stderr)
    return found.exit_status


def _plot(options: argparse.Namespace) -> int:
    named: dict[str, Result] = {}
    for text in options.results:
        name, equals, path = text.partition("=")
        named[name if equals else Path(text).stem] = read(path if equals else text)
    plot(named, options.chart)
    return 0


def _table(result: Result) -> str:
    """The summary, and the values of each item where these are few."""
    text = _text(result.summary_rows(), ("metric", "value", "low", "high", "n", "missing"))
    if len(result.items) > SHOWN_ITEMS:
        return f"{text}\n\n{len(result.items)} items; --csv FILE writes the values of each, and --save FILE everything."
    return f"{text}\n\n{_text(result.rows(), ('item', *(column.slug for column in result.columns)))}"


def _text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Some columns of rows as text: numbers with four decimals, – where there is none."""

    def cell(value: Any) -> str:
        return "–" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)

    return local.aligned([columns, *([cell(row[column]) for column in columns] for row in rows)])
