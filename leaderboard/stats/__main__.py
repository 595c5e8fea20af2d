"""`python -m leaderboard.stats STUDY.csv`: the whole analysis of a study on one's own machine, without a server.

A file with the columns entry and score holds opinion scores from 1 to 5; one with left, right and choice holds votes on pairs.

Exit codes: 0 done; 1 the votes or scores cannot be used, every problem on stderr; 2 the command cannot be carried out as given.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.stats import labels, opinion_study, summaries
from leaderboard.stats import mos_table as rating
from leaderboard.stats import votes as voting
from leaderboard.stats.agreement import FEW_TWICE
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import FEW, Votes, VotesError
from submissions.client.broken_pipe import end
from submissions.formats.errors import more_cells

DIRECTIONS = {"higher": True, "lower": False}
GUARDS = ("constant", "coin", "size", "reference only")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
LARGEST = 1e100  # of a value, so that no sum of squares is infinite
VOTES, SCORES = (*voting.COLUMNS, *voting.MORE, *voting.CONDITIONS), (*rating.COLUMNS, *rating.MORE, *voting.CONDITIONS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m leaderboard.stats", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "votes",
        type=Path,
        metavar="STUDY.csv",
        help=f"votes, with the columns {', '.join(VOTES)}; or opinion scores, with {', '.join(SCORES)}",
    )
    parser.add_argument(
        "--column", type=_mapping, action="append", default=[], metavar="COLUMN=NAME", help="the file's own name of a column"
    )
    parser.add_argument("--criterion", action="append", default=[], help="only the votes on this criterion; default: each in turn")
    parser.add_argument(
        "--scores",
        type=Path,
        metavar="FILE",
        help="CSV of sample (empty: a value over everything), method and KEY:higher or KEY:lower for each metric",
    )
    parser.add_argument(
        "--tie", type=_tie, action="append", default=[], metavar="KEY=DIFFERENCE", help="a metric's differences that are ties"
    )
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help=f"CSV of method and label: {', '.join(labels.LABELS)}; without it all are entries"
    )
    parser.add_argument("--no-fragility", action="store_true", help="do not search for the answers that first place hangs on")
    parser.add_argument("--gold", type=_order, action="append", default=[], metavar="BETTER:WORSE", help="a pair of methods of known order")
    parser.add_argument("--anchor", metavar="METHOD", help="the method whose judges' Elo is 1000; default: the first by name")
    parser.add_argument(
        "--screen",
        choices=opinion_study.SCREENS,
        nargs="?",
        const="others",
        default="",
        help="leave out raters of opinion scores by a rule",
    )
    parser.add_argument(
        "--left-out", action="append", default=[], metavar="ENTRY", help="an entry that takes no part in correlations with opinion scores"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="of the resampling")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    try:
        for path in (options.votes, options.scores, options.labels):
            if path is not None and not path.is_file():
                raise ValueError(f"There is no file {path}; name one that can be read.")
        if options.tie and not options.scores:
            raise ValueError("--tie is about metrics, and there are none without --scores; give both, or neither.")
        columns = dict(options.column)
        with options.votes.open(newline="", encoding="utf-8-sig") as stream:
            head, _ = voting.rows_of(stream, options.votes.name)
        holds_opinions = columns.get("score", "score") in head and columns.get("choice", "choice") not in head
        analyses = _opinions(options) if holds_opinions else _pairs(options)
    except VotesError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"criteria": analyses}, ensure_ascii=False))
        return 0
    for criterion, analysis in analyses.items():
        print("\n".join(_report(criterion, analysis)))
    return 0


def _pairs(options: argparse.Namespace) -> dict[str, Any]:
    """The analysis of votes on pairs, by criterion."""
    _refuse(options, ("screen", "left_out"), "votes on pairs")
    rows = list(_by_criterion(options, voting.read(options.votes, dict(options.column)), "votes"))
    there = {name for _, chosen in rows for row in chosen for name in (row.left, row.right)}
    for pair in options.gold:
        if unknown := [name for name in pair if name not in there]:
            raise ValueError(
                f"--gold names {unknown[0]!r}, which is no method of {options.votes.name}; it has: {', '.join(sorted(there)[:8])}."
            )
    known = set() if any(row.gold for _, chosen in rows for row in chosen) else {frozenset(pair) for pair in options.gold}
    found = {}
    for criterion, chosen in rows:
        # A file that does not say which questions were gold has all of these pairs as such.
        votes = voting.canonical(replace(row, gold="yes") if {row.left, row.right} in known else row for row in chosen)
        metrics = _metrics(options, votes)
        analysis = analyse(votes, metrics, options.gold, options.anchor, options.seed)
        damaged = _damaged(options, votes)
        found[criterion] = summaries.of_pairs(analysis, votes, metrics, damaged, options.seed, not options.no_fragility)
    return found


def _opinions(options: argparse.Namespace) -> dict[str, Any]:
    """The analysis of opinion scores, by criterion."""
    _refuse(options, ("gold", "anchor"), "opinion scores")
    rows = _by_criterion(options, rating.read(options.votes, dict(options.column)), "scores")
    counted = {criterion: rating.canonical(chosen) for criterion, chosen in rows}
    found = {}
    for criterion, scores in counted.items():
        metrics = _metrics(options, scores)
        analysis = opinion_study.analyse(scores, metrics, options.screen, options.left_out, options.seed)
        summary = summaries.of_scores(analysis, scores, metrics, _damaged(options, scores), options.seed)
        raters = [{name: row[name] for name in ("rater", "bias", "inconsistency")} for row in summary["reliability"]["raters"]]
        found[criterion] = summary | {"raters": raters}
    return found


def _damaged(options: argparse.Namespace, counted: Votes | Ratings) -> set[str] | None:
    """The methods that are no entries of teams or baselines, by the file of labels; None without one, where nobody says."""
    if options.labels is None:
        return None
    known = labels.read(options.labels)
    if known.keys().isdisjoint(counted.methods):
        raise VotesError([f"{options.labels.name} names none of the methods of {options.votes.name}: {', '.join(counted.methods[:5])}."])
    return {name for name in counted.methods if known.get(name) in labels.DAMAGED}


def _metrics(options: argparse.Namespace, counted: Votes | Ratings) -> list[MetricScores]:
    return read_scores(options.scores, counted, dict(options.tie)) if options.scores else []


def _by_criterion(options: argparse.Namespace, rows: list[Any], noun: str) -> Iterable[tuple[str, list[Any]]]:
    for criterion in options.criterion or sorted({row.criterion for row in rows}):
        chosen = [row for row in rows if row.criterion == criterion]
        if not chosen:
            raise VotesError([f"{options.votes.name} holds no {noun} on {criterion!r}; leave --criterion out to see all it has."])
        yield criterion, chosen


def _refuse(options: argparse.Namespace, names: Sequence[str], noun: str) -> None:
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name)]
    if given:
        raise ValueError(f"{options.votes.name} holds {noun}, for which {' and '.join(given)} means nothing; leave it out.")


def read_scores(path: Path, votes: Votes | Ratings, ties: dict[str, float]) -> list[MetricScores]:
    """Metrics from a CSV file: the columns sample and method, then KEY:higher or KEY:lower for each metric.

    A line without a sample, where the votes name them, has the method's values over everything, which count of a metric that has none
    on a sample. What the votes do not name is left out. Raises `VotesError` with every problem.
    """
    with path.open(newline="", encoding="utf-8-sig") as stream:
        there, rows = voting.rows_of(stream, path.name)
    heads = [name for name in there if name not in ("sample", "method")]
    bad = [name for name in heads if name.rpartition(":")[2] not in DIRECTIONS or not name.rpartition(":")[0]]
    if bad or not heads or not {"sample", "method"} <= set(there):
        raise VotesError([f"{path.name} must have the columns sample, method and KEY:higher or KEY:lower for each metric."])
    keys = {name: name.rpartition(":")[0] for name in heads}
    for key, n in Counter(keys.values()).items():
        if n > 1:
            raise VotesError([f"{path.name} has {n} columns of {key}; give each metric a name of its own."])
        if key in GUARDS:
            raise VotesError(
                [f"{path.name} calls a metric {key!r}, as a guard is called that stands in every table; give it another name."]
            )
    unknown = sorted(set(ties) - set(keys.values()))
    if unknown:
        raise VotesError([f"--tie names {', '.join(unknown)}, which {path.name} does not have; it has {', '.join(keys.values())}."])
    samples = {sample: n for n, sample in enumerate(votes.samples)}
    whole = samples.setdefault("", len(samples))
    values = {name: np.full((len(samples), len(votes.methods)), math.nan) for name in heads}
    methods = {method: n for n, method in enumerate(votes.methods)}
    read: dict[tuple[int, int], int] = {}
    problems = []
    for line, row in rows:
        if surplus := more_cells(row):
            problems.append(f"{path.name}: line {line}: {surplus}")
            continue
        sample, method = (row["sample"] or "").strip(), (row["method"] or "").strip()
        if sample not in samples or method not in methods:
            continue
        at = samples[sample], methods[method]
        if at in read:
            twice = f"{method} on {sample or 'the whole'} stands in line {read[at]} already; leave one of the two out."
            problems.append(f"{path.name}: line {line}: {twice}")
            continue
        read[at] = line
        for head, matrix in values.items():
            text = (row[head] or "").strip()
            if not text or text.lower() == "nan":
                continue
            if not NUMBER.fullmatch(text):
                problems.append(f"{path.name}: line {line}: {head} is {text!r}; it must be a number, or empty.")
            elif abs(float(text)) > LARGEST:
                problems.append(f"{path.name}: line {line}: {head} is {text!r}; it must be a number of at most {LARGEST:g}, or empty.")
            else:
                matrix[at] = float(text)
    if problems:
        raise VotesError(problems)
    metrics = []
    for name, key in keys.items():
        by_sample, overall = values[name][: len(votes.samples)], None
        if whole == len(votes.samples) and np.isnan(by_sample).all():
            overall = values[name][whole]
        metrics.append(MetricScores(key, by_sample, DIRECTIONS[name.rpartition(":")[2]], ties.get(key, 0.0), overall))
    return metrics


def _metric_report(analysis: dict[str, Any]) -> list[str]:
    """Agreement of each metric with people, guards last."""
    lines = [""]
    best = analysis["ceiling"]
    if analysis["why"]:
        return [*lines, analysis["why"]]
    if best is None:
        lines.append(FEW_TWICE)
    else:
        lines.append(
            f"Two people pick the same winner in {_percent(best['two_people']['value'])}; the best possible is between "
            f"{_percent(best['low'])} and {_percent(best['high'])}, {_percent(best['likely'])} most likely."
        )
    lines += ["", f"{'metric':28} {'decided':>8} {'95 % interval':>17} {'answers':>8} {'tier':>5} {'winner':>7} {'ties':>7} {'rho':>7}"]
    for row in analysis["metrics"]:
        decided = row["decided"]
        if decided["why"].startswith(FEW):
            lines.append(f"{row['key'][:28]:28} {decided['why']}")
            continue
        ends = "–" if decided["low"] is None else f"[{_number(decided['low'])}, {_number(decided['high'])}]"
        cells = f"{_number(decided['value']):>8} {ends:>17} {decided['n']:>8} {row['tier'] or '–':>5}"
        more = (row[name]["value"] for name in ("auc_better_worse", "auc_different_similar", "rho"))
        lines.append(f"{row['key'][:28]:28} {cells} {' '.join(f'{_number(value):>7}' for value in more)}")
    return lines


def _report(criterion: str, analysis: dict[str, Any]) -> list[str]:
    """The analysis in lines for people."""
    if analysis["kind"] == "opinions":
        left = analysis["n_raters"] - len(analysis["screened"])
        lines = [f"# {criterion or 'all scores'}", ""]
        lines.append(f"{analysis['counted']} scores of {left} raters on {len(analysis['samples'])} samples.")
        if analysis["screened"]:
            lines.append(f"Left out, because they hardly go with the others: {', '.join(analysis['screened'])}.")
        lines += ["", f"{'entry':28} {'MOS':>7} {'95 % interval':>17} {'sd':>7} {'scores':>7}"]
        for row in analysis["scales"]:
            mean, low, high = row["mos"] if not row["why"].startswith(FEW) else [None] * 3  # no figure below the stated minimum
            ends, sd = f"[{_number(low)}, {_number(high)}]", _number(None if mean is None else row["sd"])
            lines.append(f"{row['method'][:28]:28} {_number(mean):>7} {ends:>17} {sd:>7} {row['n']:>7}")
        return lines + _metric_report(analysis)
    lines = [f"# {criterion or 'all votes'}", ""]
    lines.append(
        f"{analysis['counted']} votes of {len(analysis['raters'])} raters on "
        f"{analysis['questions']} pairs, {_percent(analysis['ties'])} ties."
    )
    lines += ["", f"{'method':28} {'preferred':>9} {'95 % interval':>17} {'places':>8} {'ability':>8} {'answers':>8} {'win rate':>8}"]
    for row in analysis["scales"]:
        implied, theta, rank = row.get("implied") or [None] * 3, row.get("theta") or [None] * 3, row.get("rank")
        rate = row["win_rate"][0]
        if analysis["why"].startswith(FEW):  # no figure below the stated minimum
            implied, theta, rate = [None] * 3, [None] * 3, None
        ends = "–" if implied[1] is None else f"[{_number(implied[1])}, {_number(implied[2])}]"
        places = "–" if rank is None else f"{rank[0]}–{rank[1]}"
        numbers = f"{_number(theta[0]):>8} {row.get('answers', 0):>8} {_number(rate):>8}"
        lines.append(f"{row['method'][:28]:28} {_number(implied[0]):>9} {ends:>17} {places:>8} {numbers}")
    for note in analysis["model"]["notes"] if analysis["model"] else ():
        lines.append(note)
    if analysis["fragile"]:
        hangs = ", ".join(f"{n} {noun}" for noun, n in analysis["fragile"].items() if n is not None)
        lines.append(f"First place hangs on at most {hangs}." if hangs else "No half of the answers decides first place.")
    lines += [*_metric_report(analysis), ""]
    for curve in analysis["adequacy"] if not analysis["why"] else ():
        settled = curve["enough"] is not None and curve["enough"] < curve["sizes"][-1]  # all of them agree with all of them anyway
        enough = f"enough from {curve['enough']} of {curve['sizes'][-1]}" if settled else "more are needed"
        lines.append(f"{curve['resource']}: {enough}.")
    return lines


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _pair(text: str, separator: str) -> tuple[str, str]:
    first, found, second = text.partition(separator)
    if not (first and found and second):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form A{separator}B")
    return first, second


def _mapping(text: str) -> tuple[str, str]:
    return _pair(text, "=")


def _tie(text: str) -> tuple[str, float]:
    key, value = _pair(text, "=")
    if not NUMBER.fullmatch(value) or float(value) < 0:
        raise argparse.ArgumentTypeError(f"{value!r} is not a difference, which is a number from 0 on")
    return key, float(value)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed, which is a whole number from 0 on")
    return int(text)


def _order(text: str) -> tuple[str, str]:
    return _pair(text, ":")


if __name__ == "__main__":
    end(main)
