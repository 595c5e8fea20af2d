"""Single results of a set that is here, by its canonical tables: people's mean of each and a metric's value. They never ship. PURE."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from leaderboard.evidence.canonical import JUDGEMENTS, VALUES


@dataclass(frozen=True)
class Result:
    item: str
    group: str
    value: float
    mean: float


def results(folder: Path, metric: str, criterion: str) -> list[Result]:
    """The results that have both, of the metric with this published name and on this criterion; none where the tables are not there."""
    try:
        return _results(folder, (folder / JUDGEMENTS).stat().st_mtime_ns, metric, criterion) if (folder / VALUES).is_file() else []
    except OSError:
        return []


@lru_cache(maxsize=8)
def _results(folder: Path, stamp: int, metric: str, criterion: str) -> list[Result]:
    """`stamp` is when the tables were written, so that others are read again."""
    said: dict[tuple[str, str], list[float]] = {}
    groups: dict[str, str] = {}
    for row in _rows(folder / JUDGEMENTS):
        answer = row.get("score") or row.get("mean")
        if row["criterion"] == criterion and answer:
            said.setdefault((row["item"], row["entry"]), []).append(float(answer))
            groups[row["item"]] = row["group"]
    found = []
    for row in _rows(folder / VALUES):
        value = next((text for head, text in row.items() if head.partition(":")[0] == metric), "")
        scores = said.get((row["item"], row["entry"]))
        if value and scores:
            found.append(Result(row["item"], groups[row["item"]], float(value), sum(scores) / len(scores)))
    return found


def _rows(path: Path) -> list[Mapping[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        return list(csv.DictReader(stream))
