"""Figures that papers print of metrics and people, without the answers behind them: shown with where they are from, never pooled.

They stand in `paper_figures.toml`, number by number as printed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.metrics import papers
from leaderboard.stats.correlation import few_entries, with_interval
from leaderboard.stats.minimums import ENTRIES_FOR_CORRELATION_INTERVAL
from leaderboard.wording.reasons import sentence

FILE = Path(__file__).with_suffix(".toml")
UNSTATED = "not stated"
MAX_COLUMNS = 6  # of a table whose figures stand in a line


@dataclass(frozen=True)
class Row:
    """A metric as a paper calls it, `key` where it is one of ours (else empty), and its figures in the order of the table's columns."""

    name: str
    key: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Table:
    """A table of a paper, or a part of one. The `statistic` is over `n` things called `of`; `n` is None where that is not stated. `kind` is
    rho, tau or r where an interval may be made from the figure and n, else empty."""

    name: str
    statistic: str
    kind: str
    over: str
    n: int | None
    of: str
    family: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def basis(self) -> str:
        """Over what the figures are, and how many, in words."""
        return f"{self.over}; n {f'= {self.n} {self.of}' if self.n is not None else UNSTATED}"

    @property
    def why(self) -> str:
        """Reason why the figures have no interval; empty where they have one."""
        if self.n is None:
            return "Their number is not stated, so there is no interval."
        if not self.kind:
            return "Single answers are not printed: no interval."
        return "" if self.n >= ENTRIES_FOR_CORRELATION_INTERVAL else sentence(few_entries(self.n))

    def ends(self, value: float) -> tuple[float, float] | None:
        """The 95 % interval of a figure, which speaks of other things like these; None where it has none, as `why` says."""
        if self.n is None or not self.kind:
            return None
        found = with_interval(self.kind, value, self.n)
        return None if found.low is None or found.high is None else (found.low, found.high)

    @property
    def lines(self) -> list[tuple[Row, list[tuple[float, tuple[float, float] | None]]]]:
        """Each row with its figures and their intervals. A mean over columns is over other things than its columns are, so has none."""
        return [
            (row, [(value, None if head == "average" else self.ends(value)) for head, value in zip(self.columns, row.values, strict=True)])
            for row in self.rows
        ]


@dataclass(frozen=True)
class Other:
    """A table of a paper on something else than metrics and people, cell by cell as printed; `about` says what it holds."""

    name: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Paper:
    """Source of figures: what was asked of whom (`says`), and how the paper's metrics are ours (`mapping`). The `headline` is the table and
    the column that stand for it in a line, and the statistic in words."""

    slug: str
    short: str
    source: papers.Paper
    says: str
    mapping: str
    headline: tuple[str, str, str]
    tables: tuple[Table, ...]
    others: tuple[Other, ...]
    advice: str = ""

    @property
    def headed(self) -> tuple[Table, int, str]:
        """Table of the headline, the place of its column, and its statistic."""
        name, head, statistic = self.headline
        table = next(table for table in self.tables if table.name == name)
        return table, table.columns.index(head), statistic

    @property
    def in_a_line(self) -> str:
        """Range of the figures of its headline, with what they are over. No order of metrics follows from them, so none is given."""
        table, at, statistic = self.headed
        low, *_, high = sorted((row.values[at], row.name) for row in (*table.rows, table.rows[0]))
        reach = f"{len(table.rows)} metrics from {low[0]:.3f} ({low[1]}) to {high[0]:.3f} ({high[1]})"
        n = f"n = {table.n}" if table.n is not None else f"n {UNSTATED}"
        return f"{f'{high[1]} {high[0]:.3f}' if len(table.rows) == 1 else reach}: {statistic}; {n}"

    def reported(self, key: str) -> str:
        """Figure of metric `key` in the headline with its interval, what it is, and what it is over; empty where it has none there."""
        table, at, statistic = self.headed
        cells = next((cells for row, cells in table.lines if row.key == key), None)
        if cells is None:
            return ""
        value, ends = cells[at]
        n = f"n = {table.n} {table.of}" if table.n is not None else f"n {UNSTATED}"
        return f"{value:.3f}{f' [{ends[0]:.2f}, {ends[1]:.2f}]' if ends else ''}: {statistic}; {n}"

    @property
    def families(self) -> frozenset[str]:
        return frozenset(table.family for table in self.tables)


@dataclass(frozen=True)
class Mention:
    """Figures of one table on one metric of ours."""

    paper: Paper
    table: Table
    row: Row

    @property
    def in_a_line(self) -> str:
        """Its figures with their intervals; of many columns how far they reach."""
        values, heads = self.row.values, self.table.columns
        if len(heads) > MAX_COLUMNS:
            return f"{min(values):.3f} to {max(values):.3f} in {len(heads)} columns"
        cells = next(cells for row, cells in self.table.lines if row is self.row)
        return ", ".join(
            f"{head} {value:.3f}{f' [{ends[0]:.2f}, {ends[1]:.2f}]' if ends else ''}"
            for head, (value, ends) in zip(heads, cells, strict=True)
        )


@cache
def studied() -> dict[str, Paper]:
    """By slug, in the order of the file."""
    found = {}
    for paper in tomllib.loads(FILE.read_text(encoding="utf-8"))["paper"]:
        tables = []
        for table in paper["tables"]:
            rows = tuple(Row(name, key, tuple(map(float, values))) for name, key, *values in table["rows"])
            tables.append(Table(**{"n": None} | table | {"columns": tuple(table["columns"]), "rows": rows}))
        others = (Other(**it | {"columns": tuple(it["columns"]), "rows": tuple(map(tuple, it["rows"]))}) for it in paper.get("others", ()))
        source, headline = papers.STUDIED[paper["slug"]], tuple(paper["headline"])
        found[paper["slug"]] = Paper(**paper | {"source": source, "headline": headline, "tables": tuple(tables), "others": tuple(others)})
    return found


def printed(link: str) -> dict[str, float]:
    """By key of a metric, the figure in the headline of the paper at that address; nothing where there is no such paper."""
    paper = next((paper for paper in studied().values() if link and paper.source.link == link), None)
    if paper is None:
        return {}
    table, at, _ = paper.headed
    return {row.key: row.values[at] for row in table.rows if row.key}


def mentions(key: str) -> Iterator[Mention]:
    """All that papers print of metric `key`."""
    return (Mention(paper, table, row) for paper in studied().values() for table in paper.tables for row in table.rows if row.key == key)
