"""Labels of methods: which are entries of teams or baselines, and which are damaged ones, the empty one or the reference itself.

Figures stand first for entries alone: it is easy to tell a damaged one from any other, and a metric that can do so and
nothing else would look as if it agreed with people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from leaderboard.stats.votes import VotesError, table_of
from submissions.formats.errors import MAX_PROBLEMS, more_cells

DAMAGED = ("corruption", "empty", "reference")
LABELS = ("team", "baseline", *DAMAGED)
COLUMNS = ("method", "label")


class LabelsError(ValueError):
    """Labels do not go with the votes or scores they came with; one sentence."""


def read(path: Path) -> dict[str, str]:
    """The label of each method in a CSV file; `VotesError` with every problem, by line."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        return parse(stream, path.name)


def parse(lines: Iterable[str], name: str) -> dict[str, str]:
    """The labels in the lines of a CSV file called `name`; see `read`."""
    table = table_of(lines, name)
    if not set(COLUMNS) <= set(table.heads):
        raise VotesError([f"{name} must have the columns method and label."])
    labels: dict[str, str] = {}
    problems = []
    for line, row in table.rows:
        method, label = ((row[column] or "").strip() for column in COLUMNS)
        if surplus := more_cells(row):
            problems.append(f"{name}: line {line}: {surplus}")
        elif label not in LABELS:
            problems.append(f"{name}: line {line}: label is {label[:40]!r}; it must be one of {', '.join(LABELS)}.")
        elif labels.setdefault(method, label) != label:
            problems.append(f"{name}: line {line}: {method[:80]!r} was labelled {labels[method]} above; give each method one label.")
    if problems:
        raise VotesError(problems[:MAX_PROBLEMS])
    return labels


def undamaged(methods: Iterable[str], damaged: Collection[str] | None) -> list[str] | None:
    """The methods that are entries of teams or baselines; None where nobody says which are not."""
    return None if damaged is None else [name for name in methods if name not in damaged]


def write(labels: Mapping[str, str]) -> Iterator[list[str]]:
    """The rows of a CSV file, its head first; `parse` reads them back."""
    yield list(COLUMNS)
    yield from ([method, label] for method, label in labels.items())
