"""Votes of raters, as examples to learn from and in parts to judge by: who won against whom on which sample. PURE.

The file is the one that studies export (`rater, group, sample, left, right, choice, ...`). Only a rater's first answer to a pair of a
sample counts. Questions that were repeated on purpose do not count, and ties teach nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.training.errors import DataError
from submissions.formats.decimals import delimiter
from submissions.formats.errors import headings_text, more_cells
from submissions.formats.spreadsheet_formulas import restored

COLUMNS = ("rater", "sample", "left", "right", "choice", "repeat_of", "criterion")
NEEDED = ("rater", "sample", "left", "right", "choice")
MAIN = "overall"  # the criterion that is meant where there are several


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisive first answers in the order of the file; several raters of a pair are several examples.

    ``sample``, ``winner`` and ``loser``: int64[N], rows of ``samples`` and ``methods`` (sorted names). ``raters`` counts
    people and ``votes`` all votes. Of these, ``equal`` ties and ``again`` repeated votes were left out.
    """

    samples: tuple[str, ...]
    methods: tuple[str, ...]
    sample: NDArray[np.int64]
    winner: NDArray[np.int64]
    loser: NDArray[np.int64]
    raters: int
    votes: int
    equal: int
    again: int
    criterion: str = ""

    def __len__(self) -> int:
        return len(self.sample)

    @classmethod
    def of(cls, votes: Sequence[Mapping[str, str]], criterion: str) -> Decisions:
        """The decisions in votes on one criterion, each with its cells by COLUMNS."""
        first: dict[tuple[str, str, frozenset[str]], Mapping[str, str]] = {}
        for vote in votes:
            if not vote["repeat_of"]:
                first.setdefault((vote["rater"], vote["sample"], frozenset((vote["left"], vote["right"]))), vote)
        samples = sorted({vote["sample"] for vote in votes})
        methods = sorted({vote[side] for vote in votes for side in ("left", "right")})
        rows = {label: row for row, label in enumerate(samples)}
        places = {label: place for place, label in enumerate(methods)}
        decided = [vote for vote in first.values() if vote["choice"] != "tie"]
        loser_of = {"left": "right", "right": "left"}
        kept = [(rows[vote["sample"]], places[vote[vote["choice"]]], places[vote[loser_of[vote["choice"]]]]) for vote in decided]
        sample, winner, loser = np.array(kept, dtype=np.int64).reshape(-1, 3).T
        raters, equal, again = len({vote["rater"] for vote in votes}), len(first) - len(decided), len(votes) - len(first)
        return cls(tuple(samples), tuple(methods), sample, winner, loser, raters, len(votes), equal, again, criterion)

    def take(self, chosen: NDArray[np.bool_]) -> Decisions:
        """Selection of examples, under the same numbering."""
        return replace(self, sample=self.sample[chosen], winner=self.winner[chosen], loser=self.loser[chosen])


def read(path: Path, criterion: str | None = None, columns: Mapping[str, str] | None = None) -> Decisions:
    """The decisions in a CSV file of votes. ``columns`` names, for one of COLUMNS, the column that the file has instead.

    Without a ``criterion`` it is the only one there is, or the one called overall. DataError, in a sentence, by line.
    """
    rows = _rows(path, columns or {})
    found = sorted({row["criterion"] for _, row in rows})
    if criterion is None:
        criterion = MAIN if MAIN in found else found[0] if len(found) == 1 else None
    if criterion not in found:
        raise DataError(f"{path.name} holds votes on {', '.join(map(repr, found))}; name one of them with --criterion.")
    votes = [_checked(row, f"{path.name}: line {line}") for line, row in rows if row["criterion"] == criterion]
    return Decisions.of(votes, criterion)


def _checked(vote: dict[str, str], where: str) -> dict[str, str]:
    """The vote itself. DataError if it lacks something, or is none between two methods."""
    if empty := next((column for column in NEEDED if not vote[column]), None):
        raise DataError(f"{where}: {empty} is empty; every vote has a {empty}.")
    left, right, choice = vote["left"], vote["right"], vote["choice"]
    if choice not in ("left", "right", "tie") or left == right:
        raise DataError(f"{where}: a vote is left, right or tie between two methods, got {choice!r} of {left!r} and {right!r}.")
    return vote


def _rows(path: Path, columns: Mapping[str, str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file, at least one, each with its line and its cells by the names in COLUMNS. Raises DataError."""
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown:
        raise DataError(f"Votes have no column {', '.join(unknown)}; what can be named is {', '.join(COLUMNS)}.")
    named = {column: columns.get(column, column) for column in COLUMNS}
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            head = stream.readline()
            stream.seek(0)
            table = csv.DictReader(stream, delimiter=delimiter(head))
            there = table.fieldnames or []
            absent = sorted({named[column] for column in (*NEEDED, *columns)} - set(there))
            if absent:
                raise DataError(f"{path.name} has no column {headings_text(absent)}; its columns are {headings_text(there)}.")
            rows = [(table.line_num, _named(row, named, f"{path.name}: line {table.line_num}")) for row in table]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} is not a CSV file in UTF-8 ({error}); save it as one.") from None
    if not rows:
        raise DataError(f"{path.name} holds no votes; it needs a line for each under its head.")
    return rows


def _named(row: dict, named: Mapping[str, str], where: str) -> dict[str, str]:
    if surplus := more_cells(row):
        raise DataError(f"{where}: {surplus}")
    return {column: restored((row.get(key) or "").strip()) for column, key in named.items()}


METHOD_GROUPS = 3


@dataclass(frozen=True)
class Fold:
    """A fold of the cross-validation: tested on pairs of its methods on its samples, trained on pairs with none of these methods and
    samples. All other pairs are left out."""

    samples: tuple[int, ...]
    methods: tuple[int, ...]

    def unseen(self, decisions: Decisions) -> NDArray[np.bool_]:
        """bool[N]: the pairs to judge by."""
        sample, one, other = self._touches(decisions)
        return sample & one & other

    def seen(self, decisions: Decisions) -> NDArray[np.bool_]:
        """bool[N]: the pairs to train on."""
        sample, one, other = self._touches(decisions)
        return ~(sample | one | other)

    def _touches(self, decisions: Decisions) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        return np.isin(decisions.sample, self.samples), np.isin(decisions.winner, self.methods), np.isin(decisions.loser, self.methods)


def folds(samples: int, methods: int, count: int) -> list[Fold]:
    """At most `count` folds: samples, and methods into three groups, are dealt in the order of their names; fold f is judged
    on its samples by group f mod 3.

    With 10 samples and 27 methods that is one sample and nine methods (36 pairs) a fold, and 9 · 153 pairs to train on. With fewer than six
    methods there are two groups. With fewer than four methods or two samples there are no folds.
    """
    groups = min(METHOD_GROUPS, methods // 2)
    count = min(count, samples) if groups >= 2 and samples >= 2 else 0
    return [Fold(_dealt(samples, count, number), _dealt(methods, groups, number % groups)) for number in range(count)]


def _dealt(n: int, hands: int, hand: int) -> tuple[int, ...]:
    return tuple(range(hand, n, hands))


def named(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """The names of these rows."""
    return [names[number] for number in numbers]
