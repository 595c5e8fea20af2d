"""Opinion scores as arrays: who gave which entry of which sample how much, on a scale with two ends.

As with votes, the first score of a rater for an entry of a sample on a criterion counts; a later one is kept in the
file and left out of the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.stats.answers import pairs_within
from leaderboard.stats.votes import (
    CONDITIONS,
    Circumstances,
    Floats,
    Ints,
    SharedProblem,
    Votes,
    check_conditions,
    numbered,
    read_records,
    records,
    seconds_in,
)
from submissions.formats.decimals import cell
from submissions.formats.errors import excerpt

Scale = tuple[float, float]
COLUMNS = ("study", "rater", "group", "sample", "entry", "criterion", "score", "seconds")
MORE = ("order", "at")  # stand behind them, as in files of votes
NEEDED = ("rater", "entry", "score")
LOWEST, HIGHEST = 1, 5
USUAL: Scale = (LOWEST, HIGHEST)  # the scale of studies that people rate here, and of files that declare no other


@dataclass(frozen=True)
class Rating(Circumstances):
    """One score as it was given."""

    rater: str
    entry: str
    score: float
    sample: str = ""
    group: str = ""
    criterion: str = ""
    study: str = ""
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Ratings:
    """The scores that count, on one criterion. All arrays have one entry per score.

    `rater`, `sample`, `method` index `raters`, `samples`, `methods` (sorted names); `score` lies on `scale`; `seconds` is NaN
    where it is not known; `groups` gives each rater's group.
    """

    raters: tuple[str, ...]
    samples: tuple[str, ...]
    methods: tuple[str, ...]
    groups: tuple[str, ...]
    rater: Ints
    sample: Ints
    method: Ints
    score: Floats
    seconds: Floats = field(repr=False)
    scale: Scale = USUAL

    def __len__(self) -> int:
        return len(self.score)

    def take(self, chosen: np.ndarray) -> Ratings:
        """These scores, under the same numbering of raters, samples and methods."""
        columns = ("rater", "sample", "method", "score", "seconds")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def comparisons(self) -> Votes:
        """The scores as votes: on each two entries of one sample that one rater scored, the one with the higher score is better, and equal
        scores are a tie."""
        own = self.take(~np.isnan(self.score))
        # In order of rater, sample and entry, so that of two scores in one place the first is of the entry that is named first.
        own = own.take(np.lexsort((own.method, own.sample, own.rater)))
        first, second = pairs_within(own.rater * max(1, len(own.samples)) + own.sample)
        n = len(first)
        return Votes(
            self.raters,
            self.samples,
            self.methods,
            self.groups,
            own.rater[first],
            own.sample[first],
            own.method[first],
            own.method[second],
            np.sign(own.score[second] - own.score[first]).astype(np.int64),
            np.zeros(n, dtype=np.int64),
            np.full(n, math.nan),
            np.zeros(n, dtype=bool),
            np.zeros(n, dtype=bool),
        )

    @cached_property
    def means(self) -> Floats:
        """Mean scores float64[S + 1, M], the last row over all samples; NaN where nobody scored."""
        s, m = len(self.samples), len(self.methods)
        total, count = np.zeros((s + 1, m)), np.zeros((s + 1, m))
        for row in (self.sample, np.full(len(self), s)):
            np.add.at(total, (row, self.method), self.score)
            np.add.at(count, (row, self.method), 1.0)
        return np.divide(total, count, out=np.full_like(total, math.nan), where=count > 0)

    def by_rater(self) -> Floats:
        """float64[K, S * M]: each rater's scores of every entry of every sample, NaN where there is none."""
        table = np.full((len(self.raters), len(self.samples) * len(self.methods)), math.nan)
        table[self.rater, self.sample * len(self.methods) + self.method] = self.score
        return table


def scale_of(text: str) -> Scale:
    """The scale in a text such as `0:100`. ValueError, in a sentence, for any other text."""
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = math.nan, math.nan
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] < ends[1]):
        raise ValueError(f"“{excerpt(text)}” is no scale; write its two ends, such as 0:100.")
    return ends


def canonical(ratings: Iterable[Rating], scale: Scale = USUAL) -> Ratings:
    """The scores as arrays. ValueError for one that is not on the scale."""
    rows = list(ratings)
    for row in rows:
        if not scale[0] <= row.score <= scale[1]:
            raise ValueError(f"no score from {scale[0]:g} to {scale[1]:g}: {row}")
    first: dict[tuple[str, str, str], Rating] = {}
    for row in rows:
        first.setdefault((row.rater, row.sample, row.entry), row)
    group = {row.rater: row.group for row in reversed(rows)}
    rows = list(first.values())
    raters, rater = numbered(row.rater for row in rows)
    samples, sample = numbered(row.sample for row in rows)
    methods, method = numbered(row.entry for row in rows)
    score = np.array([row.score for row in rows], dtype=np.float64)
    seconds = np.array([math.nan if row.seconds is None else row.seconds for row in rows], dtype=np.float64)
    return Ratings(raters, samples, methods, tuple(group[name] for name in raters), rater, sample, method, score, seconds, scale)


def read(path: Path, columns: Mapping[str, str] | None = None, scale: Scale = USUAL) -> list[Rating]:
    """The scores of a CSV file with a head line; `columns` as in `votes.read`. Raises `VotesError` with every problem, by line."""
    return read_records(path, lambda stream, name: parse(stream, name, columns, scale))


def parse(lines: Iterable[str], name: str, columns: Mapping[str, str] | None = None, scale: Scale = USUAL) -> list[Rating]:
    """The scores in the lines of a CSV file called `name`, on that scale; see `read`."""
    return records(lines, name, columns, (*COLUMNS, *MORE, *CONDITIONS), NEEDED, partial(_rating, scale=scale), "scores")


def write(ratings: Iterable[Rating]) -> Iterator[list[str]]:
    """The rows of a CSV file, its head first; `parse` reads them back."""
    yield [*COLUMNS, *MORE, *CONDITIONS]
    for row in ratings:
        values = (getattr(row, column) for column in (*COLUMNS, *MORE, *CONDITIONS))
        cells = (int(value) if isinstance(value, float) and value.is_integer() else value for value in values)
        yield ["" if value is None else str(value) for value in cells]


def _rating(row: Mapping[str, str], scale: Scale) -> Rating:
    """ValueError, in a sentence, where the row is no score."""
    for column in NEEDED:
        if not row[column]:
            raise ValueError(f"{column} is empty; no score can do without.")
    score = cell(row["score"], "score")
    if not scale[0] <= score <= scale[1]:
        said = f"from {scale[0]:g} to {scale[1]:g}"
        raise SharedProblem(f"score is {row['score']!r}; it must be a number {said}. Is the scale another one?", f"scores are not {said}.")
    seconds = seconds_in(row)
    check_conditions(row)
    values: dict[str, Any] = {**row, "score": score, "seconds": seconds}
    return Rating(**values)
