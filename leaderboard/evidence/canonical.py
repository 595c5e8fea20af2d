"""The canonical tables of a set as CSV files, which `manage.py study import` takes. PURE."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from leaderboard.evidence.tables import Criterion, EvidenceTables, Label, Pairs, Scores
from submissions.formats.formulas import neutral_row

CHOICES = {-1: "left", 1: "right", 0: "tie"}
SCORES = ("item", "group", "entry", "family", "criterion", "rater", "session", "score")
MEANS = ("item", "group", "entry", "family", "criterion", "mean", "sd", "n", "se")
PAIRS = ("item", "group", "left", "right", "criterion", "rater", "session", "choice")


def write(tables: EvidenceTables, folder: Path) -> list[str]:
    """Write the tables into a folder, and return the names of the files."""
    files: dict[str, list[Sequence[str]]] = {}
    scores = [row for one in tables.criteria if one.scores for row in _scores(tables, one, one.scores)]
    means = [row for one in tables.criteria if one.means for row in _means(tables, one)]
    if scores or means:
        files["judgements.csv"] = [SCORES, *scores] if scores else [MEANS, *means]
    if pairs := [row for one in tables.criteria if one.pairs for row in _pairs(tables, one, one.pairs)]:
        files["pairs.csv"] = [PAIRS, *pairs]
    if tables.metrics:
        files["values.csv"] = list(_values(tables))
    stimuli = tables.stimuli
    if labels := [(entry, str(label)) for entry, label in zip(stimuli.entries, stimuli.labels, strict=True) if label != Label.ENTRY]:
        files["labels.csv"] = [("entry", "label"), *labels]
    for name, rows in files.items():
        with (folder / name).open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(map(neutral_row, rows))
    return list(files)


def _about(tables: EvidenceTables, stimulus: int) -> tuple[str, str, str, str]:
    """Item, group, entry and family of a stimulus."""
    of = tables.stimuli
    item, entry = of.item[stimulus], of.entry[stimulus]
    return of.items[item], of.groups[of.group_of[item]], of.entries[entry], of.families[of.family_of[entry]]


def _scores(tables: EvidenceTables, criterion: Criterion, scores: Scores) -> Iterator[Sequence[str]]:
    for stimulus, rater, score in zip(scores.stimulus.tolist(), scores.rater.tolist(), scores.score.tolist(), strict=True):
        session = scores.sessions[scores.session_of[rater]]
        yield *_about(tables, stimulus), criterion.name, str(scores.number_of[rater]), session, _number(score)


def _means(tables: EvidenceTables, criterion: Criterion) -> Iterator[Sequence[str]]:
    assert criterion.means is not None
    columns = (criterion.means.mean, criterion.means.sd, criterion.means.n, criterion.means.se)
    for stimulus, numbers in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if not math.isnan(numbers[0]):
            yield *_about(tables, stimulus), criterion.name, *(_number(number) for number in numbers)


def _pairs(tables: EvidenceTables, criterion: Criterion, pairs: Pairs) -> Iterator[Sequence[str]]:
    rows = (pairs.left.tolist(), pairs.right.tolist(), pairs.choice.tolist(), pairs.rater.tolist())
    for left, right, choice, rater in zip(*rows, strict=True):
        item, group, entry, _ = _about(tables, left)
        other = _about(tables, right)[2]
        session = pairs.sessions[pairs.session_of[rater]]
        yield item, group, entry, other, criterion.name, str(pairs.number_of[rater]), session, CHOICES[choice]


def _values(tables: EvidenceTables) -> Iterator[Sequence[str]]:
    heads = (f"{one.name or one.column}:{'higher' if one.higher_is_better else 'lower'}" for one in tables.metrics)
    yield "item", "entry", *heads
    for stimulus, row in enumerate(tables.values.tolist()):
        item, _, entry, _ = _about(tables, stimulus)
        yield item, entry, *(_number(value) for value in row)


def _number(value: float) -> str:
    """A number that reads back the same, whole ones without decimals; nothing for a missing one."""
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
