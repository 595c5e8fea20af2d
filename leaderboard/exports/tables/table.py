"""A board as a table to be written down: every number in full, and each value as it is read. PURE.

The page of a board, its LaTeX and its Markdown show a cell by `leaderboard.wording.board.column_digits`, so they agree on its digits and
on its interval. Programs read the numbers themselves from CSV and JSON.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from leaderboard.records.board import MetricColumn
from leaderboard.records.cell import is_best
from leaderboard.records.unit import NOUN
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording import stated
from leaderboard.wording.board import column_digits, entry_name
from leaderboard.wording.digits import NONE, Rounded
from leaderboard.wording.figures import number
from submissions.entry_fields import EntryField

KEPT = 16_384  # texts whose escaped form a writer keeps: a board's values have few digits, so most come again and again
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class People:
    """Agreement of a column with people: shares by their name ("decided": decided agreement; "pairs" in rankings of earlier rules),
    Spearman's rho, and its places among the columns. `is_few` says that too few people judged, or too few items, for any figure where
    people read it."""

    figures: dict[str, Figure]
    places: tuple[int, int] | None = None
    trained: str = ""  # "these", "entries", "unknown" or "refused", see `leaderboard.studies.training_overlap`
    is_few: bool = False

    def figure(self, name: str) -> Figure | None:
        """The figure as people read it; None below the smallest numbers of people and items."""
        found = None if self.is_few else self.figures.get(name)
        if found is None or found.value is None or found.state is State.TOO_FEW:
            return None
        # A correlation without an interval is of too few entries; of means that were published it is all there is.
        return None if name == "rho" and "decided" in self.figures and found.low is None else found


# A value, both ends of its 95 % interval, its rank in the column, and of how many groups of items or answers it is; None is missing.
Numbers = tuple[float | None, float | None, float | None, int | None, int | None]


@dataclass(frozen=True)
class Column:
    """A metric of the ranking, with its agreement with people where they judged."""

    metric: MetricColumn
    people: People | None = None

    @property
    def slug(self) -> str:
        return self.metric.slug

    def numbers(self, index: int) -> Numbers:
        metric, value = self.metric, self.metric.value[index]
        return value, *metric.interval(index), metric.rank[index], metric.n[index] or None if value is not None else None


@dataclass(frozen=True)
class Row:
    """One entry; `index` is its place in the lists of the columns, `stated` lines up with the table's columns of what teams state. `flags`
    are words: "baseline", "verified"."""

    index: int
    rank: int | None
    entry: str
    team: str
    ranks: tuple[int, int] | None = None  # its 95 % range
    flags: tuple[str, ...] = ()
    stated: tuple[float | str | None, ...] = ()

    @property
    def place(self) -> str:
        """The rank with its 95 % range."""
        if self.rank is None:
            return NONE
        return str(self.rank) if self.ranks is None else f"{self.rank} ({self.ranks[0]}–{self.ranks[1]})"

    @property
    def name(self) -> str:
        """The entry with its team and its flags."""
        name = entry_name(self.entry, self.team)
        return f"{name} [{', '.join(self.flags)}]" if self.flags else name


@dataclass(frozen=True)
class Caption:
    """Source of a table: enough to cite it. `date` is ISO 8601, `address` the snapshot's own."""

    challenge: str
    phase: str
    snapshot: str
    date: str
    address: str
    people: str = ""  # which study the agreement with people is of

    @property
    def lines(self) -> tuple[str, ...]:
        lines = (f"{self.challenge}, {self.phase}", f"Snapshot {self.snapshot}, {self.date}", self.address)
        return (*lines, f"People: {self.people}") if self.people else lines


@dataclass(frozen=True)
class Table:
    """A leaderboard to be written down, its rows in the order to be shown. `noun` names the units of its intervals. `stated` has the
    field and the title of each column of what teams state of their entries."""

    caption: Caption
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    noun: str = NOUN
    stated: tuple[tuple[EntryField, str], ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.stated) != len(self.stated):
                raise ValueError(f"row {row.entry!r} states {len(row.stated)} values for {len(self.stated)} columns")

    @property
    def headings(self) -> list[str]:
        """Heads of all columns as they are read."""
        return ["Rank", "Entry", *(title for _, title in self.stated), *(column.metric.heading for column in self.columns)]

    def numbers(self, row: Row) -> list[Numbers]:
        """The numbers of a row in full, in the order of the columns."""
        return [column.numbers(row.index) for column in self.columns]

    def shown(self, row: Row) -> list[tuple[Rounded, bool]]:
        """The cells of a row as they are read, each with whether it is the best value of the whole board, which is set in bold."""
        metrics, index = (column.metric for column in self.columns), row.index
        return [(column_digits(metric, index), is_best(metric.rank[index], metric.rank)) for metric in metrics]

    def stated_texts(self, row: Row) -> list[str]:
        """Values that the team of a row's entry states, as they are read."""
        return [stated.value(field, value) for (field, _), value in zip(self.stated, row.stated, strict=True)]

    def people_rows(self) -> list[tuple[str, list[str]]]:
        """Lines below the table that say how far each column agrees with people: a title, and a text for each column, empty below what
        teams state; none where nobody judged."""
        found = []
        titles = {"decided": "Agrees with people", "pairs": "Agrees with people, by an earlier rule", "rho": "Spearman's ρ with people"}
        for name, title in titles.items():
            figures = [column.people.figure(name) if column.people is not None else None for column in self.columns]
            if not any(figure is not None and (figure.low is not None or name != "decided") for figure in figures):
                continue
            texts = []
            for figure in figures:
                more = ["no interval" if figure is None or figure.low is None else f"{number(figure.low, 2)} to {number(figure.high, 2)}"]
                if name == "rho" and figure is not None and figure.n:  # of entries, which no caption counts
                    more.append(f"{figure.n:,} {'entry' if figure.n == 1 else 'entries'}")
                texts.append(NONE if figure is None else f"{number(figure.value, 2)} ({', '.join(more)})")
            found.append((title, [*[""] * len(self.stated), *texts]))
        return found


def finite(value: float | None) -> float | None:
    """A number that every file can hold; None for one that is missing or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def one_line(text: str) -> str:
    """Text without line breaks and control characters."""
    return _CONTROL.sub(" ", text).strip()
