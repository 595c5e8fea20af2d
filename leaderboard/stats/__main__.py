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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from leaderboard.stats import labels, screening
from leaderboard.stats import mos_table as rating
from leaderboard.stats import votes as voting
from leaderboard.stats.another_rater import Ceiling
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.plain_correlations import correlations
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.records import (
    NOTHING,
    REFERENCE_TITLES,
    Entry,
    StudySummary,
)
from leaderboard.stats.states import too_few
from leaderboard.stats.study import MetricScores, analyse, stimuli
from leaderboard.stats.votes import Votes, VotesError, without_raters
from leaderboard.wording.agreement import STANDINGS, may_be_best
from leaderboard.wording.reasons import notes, sentence
from leaderboard.wording.settling import settling
from leaderboard.wording.worded import told
from submissions.client.broken_pipe import end
from submissions.formats.decimals import cell
from submissions.formats.errors import more_cells

DIRECTIONS = {"higher": True, "lower": False}
APART = "These methods were compared by too few raters, or on too few samples, to have a place:"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
MAX_NAMED = 8  # methods that a sentence names
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
    parser.add_argument(
        "--value",
        type=_mapping,
        action="append",
        default=[],
        metavar="SIDE=TEXT",
        help="what a text in the column choice means: left=1, tie=nobody; common texts are understood without it",
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
        choices=screening.ONE_OF,
        nargs="?",
        const="others",
        default="",
        help="leave out raters of opinion scores by a rule",
    )
    parser.add_argument(
        "--left-out", action="append", default=[], metavar="ENTRY", help="an entry that metrics are not compared with opinion scores of"
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
            head = voting.table_of(stream, options.votes.name).heads
        holds_opinions = columns.get("score", "score") in head and columns.get("choice", "choice") not in head
        # On a terminal alone, and gone when the analysis is printed.
        with tqdm(desc="Analysing", unit=" steps", disable=None, leave=False, file=sys.stderr) as bar:
            analyses = (_opinions if holds_opinions else _pairs)(options, bar.update)
    except VotesError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"criteria": {name: _json(summary) for name, (summary, _) in analyses.items()}}, ensure_ascii=False))
        return 0
    for _, report in analyses.values():
        print("\n".join(report))
    return 0


def _pairs(options: argparse.Namespace, step: Callable[[], None]) -> dict[str, tuple[StudySummary, list[str]]]:
    """The analysis of votes on pairs, by criterion, and the lines of its report."""
    _refuse(options, ("screen", "left_out"), "votes on pairs")
    rows = list(_by_criterion(options, voting.read(options.votes, dict(options.column), options.value), "votes"))
    there = {name for _, chosen in rows for row in chosen for name in (row.left, row.right)}
    _check_named("--gold", (name for pair in options.gold for name in pair), there, options.votes)
    known = set() if any(row.gold for _, chosen in rows for row in chosen) else {frozenset(pair) for pair in options.gold}
    found: dict[str, tuple[StudySummary, list[str]]] = {}
    for criterion, chosen in rows:
        # A file that does not say which questions were gold has all of these pairs as such.
        votes = voting.canonical(replace(row, gold="yes") if {row.left, row.right} in known else row for row in chosen)
        summary = analyse(
            votes,
            _metrics(options, votes),
            options.gold,
            options.anchor,
            options.seed,
            step=step,
            damaged=_damaged(options, votes),
            fragility=not options.no_fragility,
        )
        found[criterion] = summary, _pair_report(criterion, summary)
    return found


def _opinions(options: argparse.Namespace, step: Callable[[], None]) -> dict[str, tuple[StudySummary, list[str]]]:
    """The analysis of opinion scores, by criterion, and the lines of its report."""
    _refuse(options, ("gold", "anchor", "value"), "opinion scores")
    rows = list(_by_criterion(options, rating.read(options.votes, dict(options.column)), "scores"))
    _check_named("--left-out", options.left_out, {row.entry for _, chosen in rows for row in chosen}, options.votes)
    counted = {criterion: rating.canonical(chosen) for criterion, chosen in rows}
    found = {}
    for criterion, scores in counted.items():
        metrics, damaged = _metrics(options, scores), _damaged(options, scores)
        rule = {options.screen: screening.DEFAULTS[options.screen]} if options.screen else {}
        screened = screening.of_scores(scores, rule)
        summary = analyse(
            scores,
            metrics,
            seed=options.seed,
            step=step,
            damaged=damaged,
            left_out=options.left_out,
            screening=options.screen or False,
            screened=screened,
        )
        entries = set(scores.methods).difference(damaged or (), options.left_out)
        rated, method = stimuli(without_raters(scores, screened), entries)
        more = correlations(rated, {one.key: one.scored.x[rated.group, method] for one in metrics}, persons=True)
        summary = replace(summary, scales=[row for row in summary.scales if row.method not in (damaged or ())])
        found[criterion] = summary, [*_opinion_report(criterion, summary), *_stimulus_report(summary, more)]
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


def _check_named(option: str, names: Iterable[str], there: Collection[str], path: Path) -> None:
    """ValueError, in a sentence, for a name that is not a method of the file."""
    for name in names:
        if name not in there:
            known = sorted(there)
            more = " and others" if len(known) > MAX_NAMED else ""
            raise ValueError(
                f"{option} names {name!r}, which is not a method of {path.name}; name one it has: {', '.join(known[:MAX_NAMED])}{more}."
            )


def _refuse(options: argparse.Namespace, names: Sequence[str], noun: str) -> None:
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name)]
    if given:
        raise ValueError(f"{options.votes.name} holds {noun}, for which {' and '.join(given)} means nothing; leave it out.")


def read_scores(path: Path, votes: Votes | Ratings, ties: dict[str, float]) -> list[MetricScores]:
    """Metrics from a CSV file: the columns sample and method, then KEY:higher or KEY:lower for each metric.

    A line without a sample, where the votes name them, has the method's values over everything, which count of a metric that has none on a
    sample. Names that the votes do not have are left out. Raises `VotesError` with every problem.
    """
    with path.open(newline="", encoding="utf-8-sig") as stream:
        table = voting.table_of(stream, path.name)
    keys = _metric_columns(table.heads, path.name)
    unknown = sorted(set(ties) - set(keys.values()))
    if unknown:
        raise VotesError([f"--tie names {', '.join(unknown)}, which {path.name} does not have; it has {', '.join(keys.values())}."])
    samples = {sample: n for n, sample in enumerate(votes.samples)}
    whole = samples.setdefault("", len(samples))
    values = {name: np.full((len(samples), len(votes.methods)), math.nan) for name in keys}
    methods = {method: n for n, method in enumerate(votes.methods)}
    read: dict[tuple[int, int], int] = {}
    problems = voting.Problems(path.name)
    for line, row in table.rows:
        if surplus := more_cells(row):
            problems.add(line, ValueError(surplus))
            continue
        sample, method = row["sample"].strip(), row["method"].strip()
        if sample not in samples or method not in methods:
            continue
        at = samples[sample], methods[method]
        if (first := read.setdefault(at, line)) != line:
            twice = f"{method} on {sample or 'the whole'} stands in line {first} already; leave one of the two out."
            problems.add(line, ValueError(twice))
            continue
        for head, matrix in values.items():
            try:
                matrix[at] = _value(table.decimal(row[head].strip()), head)
            except ValueError as error:
                problems.add(line, error)
    problems.raise_if_any()
    metrics = []
    for name, key in keys.items():
        by_sample, overall = values[name][: len(votes.samples)], None
        if whole == len(votes.samples) and np.isnan(by_sample).all():
            overall = values[name][whole]
        metrics.append(MetricScores(key, by_sample, DIRECTIONS[name.rpartition(":")[2]], ties.get(key, 0.0), overall))
    return metrics


def _value(text: str, head: str) -> float:
    """The number in a cell of scores, NaN where it is empty. ValueError, in a sentence, where it is none."""
    if not text or text.lower() == "nan":
        return math.nan
    if not NUMBER.fullmatch(text):
        cell(text, head)
        raise ValueError(f"{head} is {text!r}; it must be a number, or empty.")
    if abs(float(text)) > LARGEST:
        raise ValueError(f"{head} is {text!r}; it must be a number of at most {LARGEST:g}, or empty.")
    return float(text)


def _metric_columns(heads: Sequence[str], file: str) -> dict[str, str]:
    """The metric of each column KEY:higher or KEY:lower of a file of scores, by the column. Raises `VotesError`."""
    keys = {name: name.rpartition(":")[0] for name in heads if name not in ("sample", "method")}
    bad = [name for name, key in keys.items() if name.rpartition(":")[2] not in DIRECTIONS or not key]
    if bad or not keys or not {"sample", "method"} <= set(heads):
        raise VotesError([f"{file} must have the columns sample, method and KEY:higher or KEY:lower for each metric."])
    for key, n in Counter(keys.values()).items():
        if n > 1:
            raise VotesError([f"{file} has {n} columns of {key}; give each metric a name of its own."])
        if key in REFERENCE_TITLES:
            raise VotesError(
                [f"{file} calls a metric {key!r}, as a reference point is called that stands in every table; give it another name."]
            )
    return keys


# --- as JSON


def _json(summary: StudySummary) -> dict[str, Any]:
    """Summary as the command prints it, with the sentence of each reason. Of ratings `raters` are more than the names."""
    found: dict[str, Any] = told(summary)
    if summary.opinions:
        found["raters"] = [{name: row[name] for name in ("rater", "bias", "inconsistency")} for row in found["reliability"]["raters"]]
    return found


# --- in lines for people


def _metric_report(summary: StudySummary) -> list[str]:
    """Agreement of each metric with people, reference points last."""
    if summary.reason is not None:
        return ["", sentence(summary.reason)]
    lines = ["", _ceiling(summary.ceiling)]
    lines += ["", f"{'metric':28} {'decided':>8} {'95 % interval':>17} {'answers':>8} {'places':>7} {'winner':>7} {'ties':>7} {'rho':>7}"]
    for row in summary.metrics:
        decided = row.decided
        if row.few:
            lines.append(f"{row.key[:28]:28} {sentence(decided.reason)}")
            continue
        ends = _interval(decided.low, decided.high)
        cells = f"{_number(decided.value):>8} {ends:>17} {decided.n:>8} {_places(row.places):>7}"
        more = [figure.value for figure in (row.auc_better_worse, row.auc_different_similar)]
        # No figure without its interval, except one that can have none: all entries are in one line.
        in_line = row.rho.value is not None and abs(row.rho.value) == 1 and not too_few(row.rho.reason)
        more.append(row.rho.value if in_line or row.rho.low is not None else None)
        state = STANDINGS[row.standing][1] if row.standing is not None and not row.reference_point else ""
        lines.append(f"{row.key[:28]:28} {cells} {' '.join(f'{_number(value):>7}' for value in more)}  {state}".rstrip())
    if said := may_be_best({row.title or row.key: row.places for row in summary.metrics if row.places is not None}):
        lines += ["", f"{said} Each statement holds for one metric at 95 %, not for all at once."]
    return lines


def _ceiling(best: Ceiling | None) -> str:
    """Agreement of two raters, in a sentence."""
    if best is None:
        return "No two raters decided the same question, so it is not known how often two raters agree."
    if too_few(best.two_people.reason):
        why = sentence(best.two_people.reason)
        return f"Too few raters answered the same questions to say how well a metric could do. {why}"
    two, ends = best.two_people, ", without an interval"
    if two.low is not None and two.high is not None:
        ends = f" [{100 * two.low:.1f}, {100 * two.high:.1f}]"
    return f"Another rater picks the same winner in {_percent(two.value)}{ends}, by {best.n} answers on questions that two decided."


def _stimulus_report(summary: StudySummary, more: Mapping[str, Mapping[str, SetFigure]]) -> list[str]:
    """Correlations of each metric with mean scores over all stimuli. `more` are Pearson's and Kendall's, "pearson" and "kendall"."""
    rows = [row for row in summary.metrics if not row.reference_point and row.srocc is not None]
    if not rows:
        return []
    lines = ["", "Over all stimuli, each an entry on a sample, with 95 % intervals:", ""]
    lines.append(f"{'metric':28} {'stimuli':>8} {'SRCC':>24} {'PLCC':>24} {'KRCC':>24}")
    for row in rows:
        assert row.srocc is not None
        if too_few(row.srocc.reason):
            lines.append(f"{row.key[:28]:28} {sentence(row.srocc.reason)}")
            continue
        cells = []
        for figure in (row.srocc, more["pearson"][row.key], more["kendall"][row.key]):
            ends = "" if figure.low is None else f" [{_number(figure.low)}, {_number(figure.high)}]"
            cells.append(f"{_number(figure.value) + ends:>24}")
        lines.append(f"{row.key[:28]:28} {row.srocc.n:>8} {' '.join(cells)}")
    return lines


def _opinion_report(criterion: str, summary: StudySummary) -> list[str]:
    left = len(summary.raters) - len(summary.screened)
    lines = [f"# {criterion or 'all scores'}", ""]
    of = f"{_count(summary.counted, 'score')} of {_count(left, 'rater')}"
    lines.append(f"{of} on {_count(len(summary.samples), 'sample')}.")
    if isinstance(summary.screening, str) and summary.screening:
        out = f": {', '.join(summary.screened)}." if summary.screened else ". Nobody had to be left out."
        lines.append(f"Left out is who {screening.words(summary.screening, screening.DEFAULTS[summary.screening])}{out}")
    lines += ["", f"{'entry':28} {'MOS':>7} {'95 % interval':>17} {'sd':>7} {'scores':>7}"]
    rows = _in_order(summary)
    first_apart = next((row for row in rows if row in summary.unranked), None)
    for row in rows:
        if row is first_apart:
            lines.append(APART)
        mean, low, high = row.mos if not too_few(row.reason) else NOTHING  # no figure below the stated minimum
        ends = _interval(low, high)
        sd = _number(None if mean is None else row.sd)
        lines.append(f"{row.method[:28]:28} {_number(mean):>7} {ends:>17} {sd:>7} {row.n:>7}{_reason(row, summary)}")
    return lines + _metric_report(summary)


def _pair_report(criterion: str, summary: StudySummary) -> list[str]:
    lines = [f"# {criterion or 'all votes'}", ""]
    of = f"{_count(summary.counted, 'vote')} of {_count(len(summary.raters), 'rater')}"
    lines.append(f"{of} on {_count(summary.questions, 'pair')}, {_percent(summary.ties)} ties.")
    lines += ["", f"{'method':28} {'preferred':>9} {'95 % interval':>17} {'places':>8} {'ability':>8} {'answers':>8} {'win rate':>8}"]
    part, apart = 1, summary.unranked
    for row in _in_order(summary):
        implied, theta, rate = row.implied, row.theta, row.win_rate[0]
        # No figure below the stated minimum, which a part by itself may not reach, nor of what was compared with no entry.
        if summary.reason is not None or too_few(row.reason):
            implied, theta, rate = NOTHING, NOTHING, None
        if row in apart[:1]:
            lines.append(APART)
        elif row not in apart and row.part is not None and row.part != part:
            part = row.part
            lines.append("Nobody compared these methods with the methods above; they have places of their own:")
        ends, places = _interval(implied[1], implied[2]), _places(row.rank)
        numbers = f"{_number(theta[0]):>8} {row.answers or row.appearances:>8} {_number(rate):>8}"
        lines.append(f"{row.method[:28]:28} {_number(implied[0]):>9} {ends:>17} {places:>8} {numbers}{_reason(row, summary)}")
    lines += notes(summary.model.omitted, summary.model.prior) if summary.model else []
    if not summary.shares_first:  # nothing hangs on a first place that is shared
        lines += _first_place(summary)
    lines += [*_metric_report(summary), ""]
    for curve in summary.adequacy if summary.reason is None else ():
        if len([mean for mean in curve.mean if mean is not None]) < 2:
            continue  # of an order in which all are level no part can say anything
        parts = f"the order stays with {curve.steady} of {curve.sizes[-1]}" if curve.steady else "the order changes with fewer"
        lines.append(f"{curve.resource}: {parts}.")
    return lines


def _first_place(summary: StudySummary) -> list[str]:
    """Lines on first place: the answers that would settle it, and those that it hangs on."""
    lines = []
    if summary.enough is not None and summary.enough.plans is not None:
        lines.append(" ".join(["First place is open.", *settling(summary.enough, summary.given, summary.raters_counted, "samples")]))
    if summary.fragile:
        hangs = ", ".join(_count(n, noun.removesuffix("s")) for noun, n in vars(summary.fragile).items() if n is not None)
        none = "The search found no way to change first place by leaving out up to half of the answers."
        lines.append(f"First place hangs on at most {hangs}." if hangs else none)
    return lines


def _reason(row: Entry, summary: StudySummary) -> str:
    """Reason why an entry has no interval, behind its line; empty where it has one, and where one sentence says it of all of them."""
    return f"  {sentence(row.reason)}" if row.reason is not None and row.reason != summary.reason else ""


def _in_order(summary: StudySummary) -> list[Entry]:
    """The rows by what people prefer; by name where nothing puts them in an order. Of opinion scores, means that are not shown put nothing
    in an order: their rows are last, by name, among those that have a place and among those that have none."""
    if summary.reason is not None:
        return sorted(summary.scales, key=lambda row: row.method)
    if summary.kind != "opinions":
        return summary.scales
    apart = summary.unranked

    def key(row: Entry) -> tuple[bool, bool, str]:
        hidden = too_few(row.reason)
        return row in apart, hidden, row.method if hidden else ""

    return sorted(summary.scales, key=key)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None else f"[{_number(low)}, {_number(high)}]"


def _places(ends: tuple[int, int] | None) -> str:
    return "–" if ends is None else f"{ends[0]}–{ends[1]}"


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
