"""Studies of people as a researcher has them: votes on pairs, opinion scores or means, from frames, paths or open files.

    study = plumbline.opinions(frame, scale=(0, 10))
    study.entries()
    study.agreement(values)                  # PLCC, SRCC and KRCC over stimuli, the fitted PLCC and RMSE
    study.agreement(values, by="item")       # comparisons within items

A stimulus is an entry on an item. The figures are the published sets' own, with the same intervals: they speak of other raters and of
other groups of items.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import registry
from leaderboard.evidence.tables import Criterion, EvidenceTables, Label, Means, Pairs, PublishedMetric, RatersAre, Scores, Stimuli
from leaderboard.package.frames import frame
from leaderboard.stats import mos_table
from leaderboard.stats import votes as voting
from leaderboard.stats.evidence import analysis, entry_order, plain_correlations
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.judged import Basis, Judged, judged
from leaderboard.stats.evidence.record import CriterionFigures
from leaderboard.stats.votes import VotesError
from leaderboard.wording.reasons import sentence

if TYPE_CHECKING:
    from pandas import DataFrame

Table = Any  # a frame, a path, or an open file of CSV text
Scale = tuple[float, float] | None
DIRECTIONS = {"higher": True, "lower": False}
BY = ("stimulus", "item", "entry")
OF_MEANS = ("sample", "entry", "mean", "sd", "n", "se", "low", "high")


@dataclass(frozen=True, eq=False)
class HumanStudy:
    """Answers of people on entries of items, on one criterion: `kind` is "votes", "opinions" or "means", `scale` its two ends, None for a
    scale without ends and for votes."""

    kind: str
    scale: Scale
    _tables: EvidenceTables
    _basis: Basis

    def __repr__(self) -> str:
        one = self._judged
        return f"<{self.kind} on {len(one)} stimuli: {len(one.entries)} entries on {len(one.items)} items in {len(one.groups)} groups>"

    def entries(self) -> DataFrame:
        """One row per entry, best first: mean over its items with the ends of its 95 % interval. Of votes, use `agreement`."""
        if self._basis.pairs:
            raise ValueError("votes on pairs have no means; `plumbline study` gives the order of their entries")
        rows = [
            {
                "entry": one.entry,
                "mean": one.mean.value,
                "low": one.mean.low,
                "high": one.mean.high,
                "n": one.mean.n,
                "why": sentence(one.mean.reason),
            }
            for one in entry_order.entry_means(self._judged, not self._tables.better_is_higher)
        ]
        return frame(rows)

    def agreement(self, values: Table, by: str = "stimulus", higher_is_better: Mapping[str, bool] | None = None) -> DataFrame:
        """Agreement of metrics with people, one row per metric, each figure with the ends of its 95 % interval and, where it has none, why.

        `values` has the columns sample (or item), entry (or method), and one per metric. A column's direction is the direction of the
        metric with its name, or follows a colon ("mine:lower"), or is `higher_is_better`.

        `by` "stimulus": all stimuli in one order: `srcc`, `plcc`, `krcc`; `plcc_fitted` after an increasing logistic, and its `rmse` in
        units of the scale. "item": `decided`, the share of comparisons within items that the metric decides as people did, and where
        persons are not known `concordance` with means. "entry": `rho`, `tau` and `r` of the entries' order over all items.
        """
        if by not in BY:
            raise ValueError(f"there is no agreement by {by!r}; give one of {', '.join(BY)}")
        if by == "stimulus" and self._basis.pairs:
            raise ValueError("votes on pairs have no order of all stimuli; give by='item' or by='entry'")
        tables = self._with_values(values, higher_is_better or {})
        one = judged(tables, tables.criteria[0], self._basis)
        found = analysis.figures(one, tables.metrics, (), tables.name, turned=not tables.better_is_higher)
        keys = [key for key, line in found.metrics.items() if not line.reference_point]
        if by == "stimulus":
            return frame(self._over_stimuli(one, found, keys))
        wanted = {"item": ("decided", "concordance"), "entry": ("rho", "tau", "r")}[by]
        rows = []
        for key in keys:
            row: dict[str, Any] = {"metric": key}
            for name in wanted:
                figure = getattr(found.metrics[key], name)
                row |= {} if figure is None else {**_cells(name, figure), f"{name}_n": figure.n, f"{name}_why": sentence(figure.reason)}
            rows.append(row)
        return frame(rows)

    def _over_stimuli(self, one: Judged, found: CriterionFigures, keys: Sequence[str]) -> list[dict[str, Any]]:
        plain = plain_correlations.correlations(one, {key: one.x[:, n] for n, key in enumerate(keys)}, self._basis.persons)
        rows = []
        for n, key in enumerate(keys):
            line, known = found.metrics[key], ~np.isnan(one.x[:, n])
            assert line.srocc is not None  # of every basis but pairs
            assert line.plcc is not None
            spread = float(one.y[known].std()) if known.any() else math.nan
            # Residual of the best curve: its correlation r with means of standard deviation s leaves s √(1 - r²).
            left = [
                None if r is None else spread * math.sqrt(max(0.0, 1 - r * r)) for r in (line.plcc.value, line.plcc.high, line.plcc.low)
            ]
            rows.append(
                {"metric": key, "n": line.srocc.n}
                | _cells("srcc", line.srocc)
                | _cells("plcc", plain["pearson"][key])
                | _cells("krcc", plain["kendall"][key])
                | _cells("plcc_fitted", line.plcc)
                | {"rmse": left[0], "rmse_low": left[1], "rmse_high": left[2]}
                | {"groups": line.srocc.groups, "raters": line.srocc.raters, "why": sentence(line.srocc.reason)}
            )
        return rows

    @cached_property
    def _judged(self) -> Judged:
        return judged(self._tables, self._tables.criteria[0], self._basis)

    def _with_values(self, values: Table, directions: Mapping[str, bool]) -> EvidenceTables:
        """The tables with the metrics' values by stimulus."""
        table, name = _opened(values, "values", lambda lines, name: (voting.table_of(lines, name), name))
        sample, entry = (next((one for one in names if one in table.heads), "") for names in (("sample", "item"), ("entry", "method")))
        heads = [head for head in table.heads if head not in (sample, entry)]
        if not entry or not heads:
            raise VotesError([f"{name} must have the columns sample, entry and one for each metric."])
        metrics = tuple(PublishedMetric(*_directed(head, directions)) for head in heads)
        stimuli = self._tables.stimuli
        at = {(stimuli.items[i], stimuli.entries[e]): n for n, (i, e) in enumerate(zip(stimuli.item, stimuli.entry, strict=True))}
        found, problems = np.full((len(stimuli), len(heads)), math.nan), []
        for line, row in table.rows:
            place = at.get((row[sample].strip() if sample else "", row[entry].strip()))
            for n, head in enumerate(heads):
                text = table.decimal(row[head].strip())
                try:
                    number = float(text) if text else math.nan
                except ValueError:
                    problems.append(f"{name}: line {line}: {head} is {text!r}; it must be a number, or empty.")
                    continue
                if place is not None and math.isfinite(number):
                    found[place, n] = number
        if problems:
            raise VotesError(problems)
        if np.isnan(found).all():
            raise VotesError([f"{name} has no value of a stimulus that people judged; both must name samples and entries alike."])
        return replace(self._tables, metrics=metrics, values=found)


def opinions(
    data: Table,
    scale: tuple[float, float],
    *,
    groups: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    criterion: str = "",
    better_is_higher: bool = True,
) -> HumanStudy:
    """A study of single scores: one row per score with the columns rater, entry, score, and where there are several items sample.

    `scale` are the two ends of the scale; a score outside is refused. `groups` names the group of each sample (such as the source that
    several were made of), which intervals count as one; without it each sample is its own. `columns` names columns that are called
    otherwise, as {"rater": "subject"}. `criterion` chooses among several. A rater's first score of a stimulus counts.
    """
    low, high = _checked(scale)
    rows = _opened(data, "scores", lambda lines, name: mos_table.parse(lines, name, columns, (low, high)))
    rows = _on_criterion(rows, criterion)
    first: dict[tuple[str, str, str], float] = {}
    for row in rows:
        first.setdefault((row.rater, row.sample, row.entry), row.score)
    stimuli, at = _stimuli(((row.sample, row.entry) for row in rows), groups)
    raters = {name: n for n, name in enumerate(dict.fromkeys(rater for rater, _, _ in first))}
    scores = Scores(
        np.array([at[sample, entry] for _, sample, entry in first]),
        np.array([raters[rater] for rater, _, _ in first]),
        np.array(list(first.values()), dtype=np.float64),
        ("",),
        np.zeros(len(raters), dtype=np.int64),
        np.arange(1, len(raters) + 1),
    )
    return HumanStudy("opinions", (low, high), _tables(stimuli, Criterion("", scores=scores), (low, high), better_is_higher), Basis.PERSONS)


def means(
    data: Table,
    scale: Scale = None,
    *,
    groups: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    better_is_higher: bool = True,
) -> HumanStudy:
    """A study of which means alone are known: the columns entry and mean, and where they are known sample, se (or sd and n, or the ends low
    and high of 95 % intervals). `scale` is None for a scale without ends, such as JOD. See `opinions` for the rest."""
    ends = None if scale is None else _checked(scale)
    rows = _opened(
        data, "means", lambda lines, name: voting.records(lines, name, columns, OF_MEANS, ("entry", "mean"), _mean_in(ends), "means")
    )
    stimuli, at = _stimuli(((row["sample"], row["entry"]) for row in rows), groups)
    if len(at) < len(rows):
        raise VotesError(["A stimulus has two means; leave one of the two out."])
    columns_of = {name: np.full(len(stimuli), math.nan) for name in ("mean", "sd", "n", "se", "low", "high")}
    for row in rows:
        for name, column in columns_of.items():
            column[at[row["sample"], row["entry"]]] = row[name]
    se = columns_of["se"]
    with np.errstate(invalid="ignore"):
        se = np.where(np.isnan(se), columns_of["sd"] / np.sqrt(columns_of["n"]), se)
        se = np.where(np.isnan(se), (columns_of["high"] - columns_of["low"]) / (2 * 1.959964), se)
    found = Means(columns_of["mean"], columns_of["sd"], columns_of["n"], se)
    basis = Basis.MEANS if np.isnan(se).all() else Basis.ERRORS
    return HumanStudy("means", ends, _tables(stimuli, Criterion("", means=found), ends, better_is_higher, RatersAre.NONE), basis)


def votes(
    data: Table,
    *,
    groups: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    values: Iterable[tuple[str, str]] = (),
    criterion: str = "",
) -> HumanStudy:
    """A study of votes on pairs: one row per vote with the columns rater, left, right and choice, and where there are several items sample.
    `choice` is left, right, tie, or the name of one of the two; `values` says what other texts mean, as [("left", "1")]. Repeated and gold
    questions are left out. See `opinions` for the rest."""
    rows = _on_criterion(_opened(data, "votes", lambda lines, name: voting.parse(lines, name, columns, values)), criterion)
    counted = voting.canonical(rows).counted()
    names = [(counted.samples[s], counted.methods[m]) for side in (counted.a, counted.b) for s, m in zip(counted.sample, side, strict=True)]
    stimuli, at = _stimuli(names, groups)
    n, raters = len(counted), len(counted.raters)
    found = Pairs(
        np.array([at[name] for name in names[:n]]),
        np.array([at[name] for name in names[n:]]),
        counted.verdict,
        counted.rater,
        ("",),
        np.zeros(raters, dtype=np.int64),
        np.arange(1, raters + 1),
    )
    return HumanStudy("votes", None, _tables(stimuli, Criterion("", pairs=found), None, True), Basis.PAIRS)


def _opened(data: Table, noun: str, parse: Callable[[Iterable[str], str], Any]) -> Any:
    """`parse` of the lines of a frame, a path or an open file, and of its name for messages."""
    if hasattr(data, "to_csv"):
        return parse(io.StringIO(data.to_csv(index=False)), f"the frame of {noun}")
    if isinstance(data, (str, PathLike)):
        with Path(data).open(newline="", encoding="utf-8-sig") as stream:
            return parse(stream, Path(data).name)
    if hasattr(data, "readline"):
        return parse(data, Path(str(getattr(data, "name", noun))).name)
    raise TypeError(f"{noun} must be a frame, a path or an open file, got {type(data).__name__}")


def _checked(scale: tuple[float, float]) -> tuple[float, float]:
    low, high = (float(end) for end in scale)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"scale must be its lowest and its highest score, got {scale!r}")
    return low, high


def _on_criterion(rows: list[Any], criterion: str) -> list[Any]:
    known = sorted({row.criterion for row in rows})
    if not criterion and len(known) > 1:
        raise VotesError([f"People were asked several things; give criterion= as one of {', '.join(map(repr, known))}."])
    chosen = [row for row in rows if row.criterion == (criterion or known[0])]
    if not chosen:
        raise VotesError([f"There is nothing on {criterion!r}; what people were asked is {', '.join(map(repr, known))}."])
    return chosen


def _stimuli(named: Iterable[tuple[str, str]], groups: Mapping[str, str] | None) -> tuple[Stimuli, dict[tuple[str, str], int]]:
    """The stimuli of these items and entries, by item and then by entry, and the place of each."""
    pairs = list(dict.fromkeys(named))
    items, entries = list(dict.fromkeys(item for item, _ in pairs)), list(dict.fromkeys(entry for _, entry in pairs))
    absent = [item for item in items if groups is not None and item not in groups]
    if absent:
        raise ValueError(f"groups names no group of {absent[0]!r}; {len(absent)} of {len(items)} samples have none")
    of = [item if groups is None else groups[item] for item in items]
    named_groups = list(dict.fromkeys(of))
    pairs.sort(key=lambda pair: (items.index(pair[0]), entries.index(pair[1])))
    stimuli = Stimuli(
        tuple(items),
        tuple(named_groups),
        tuple(entries),
        tuple(entries),
        (Label.ENTRY,) * len(entries),
        np.array([items.index(item) for item, _ in pairs]),
        np.array([entries.index(entry) for _, entry in pairs]),
        np.array([named_groups.index(group) for group in of]),
        np.arange(len(entries)),
    )
    return stimuli, {pair: n for n, pair in enumerate(pairs)}


def _tables(
    stimuli: Stimuli, criterion: Criterion, scale: Scale, better_is_higher: bool, raters_are: RatersAre = RatersAre.PERSONS
) -> EvidenceTables:
    values = np.zeros((len(stimuli), 0))
    return EvidenceTables("study", "", raters_are, "", scale, "", better_is_higher, stimuli, (criterion,), (), values)


def _mean_in(ends: Scale) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    def read(row: Mapping[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {"sample": row["sample"], "entry": row["entry"]}
        for name in OF_MEANS[2:]:
            found[name] = float(row[name].replace(",", ".")) if row[name] else math.nan
        if not row["entry"] or not math.isfinite(found["mean"]):
            raise ValueError("a line must have an entry and a mean.")
        if ends is not None and not ends[0] <= found["mean"] <= ends[1]:
            raise ValueError(f"mean is {row['mean']}; it must be a number from {ends[0]:g} to {ends[1]:g}.")
        return found

    return read


def _directed(head: str, directions: Mapping[str, bool]) -> tuple[str, str, bool]:
    """(name, published name, True if higher is better) of a column of values."""
    name, _, said = head.rpartition(":")
    if name and said in DIRECTIONS:
        return name, "", DIRECTIONS[said]
    spec = registry.find(head)
    if head in directions or spec is not None:
        return head, "", directions[head] if head in directions else bool(spec and spec.higher_is_better)
    raise VotesError(
        [f"Nothing says whether a higher {head} is better; call the column {head}:higher or {head}:lower, or give higher_is_better."]
    )


def _cells(name: str, figure: SetFigure) -> dict[str, Any]:
    return {name: figure.value if figure.shown else None, f"{name}_low": figure.low, f"{name}_high": figure.high}
