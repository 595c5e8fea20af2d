"""Tables of published figures: a row for each method, or for each method and item, and a declared column for each figure.

Nothing is known of such a figure but what its column declares, so there is no definition that could be compared with one of the
service's own metrics. A table without items has no samples and no intervals either.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from evaluation.metrics.aggregation import unit_matrix
from evaluation.metrics.column import Column, Imported
from submissions.entry_fields import Door, through
from submissions.formats.decimals import SeparatedNumber, cell, delimiter, hint
from submissions.formats.errors import TableError, control_character, headings_text, is_blank, more_cells
from submissions.formats.stand_in import STAND_IN_BYTES, stand_in

MAX_ROWS = 2000
MAX_ITEM_ROWS = 100_000  # of a table with a row for each method and item
MAX_ITEM_DECIMALS = 4  # of a mean over items
MAX_NAME = 80
MAX_ITEM = 200
MAX_DETAIL = 240
MAX_ADDRESS = 200
LINKS = tuple(one.public for one in through(Door.RESULTS))
NO_VALUE = frozenset({"", "-", "–", "—"})


class ResultsError(TableError):
    """A table of results cannot be used."""


@dataclass(frozen=True)
class ResultColumn:
    """One figure: the head it has in the table, and what a board shows of it. Which way is better is always said."""

    slug: str
    column: str
    title: str
    higher_is_better: bool
    unit: str = ""
    weight: float = 1.0
    is_primary: bool = False
    in_ranking: bool = True


@dataclass(frozen=True)
class Detail:
    """A text shown under a method's name: the head it has in the table, and the title and unit that it is shown with, if any."""

    column: str
    title: str = ""
    unit: str = ""

    def words(self, text: str) -> str:
        """That text of a row; empty where the row has none."""
        return " ".join(filter(None, (self.title, text, self.unit))) if text not in NO_VALUE else ""

    def to_value(self) -> str | dict[str, str]:
        """The head alone where that says all, as in layouts from before details had titles."""
        given = {name: value for name, value in asdict(self).items() if value}
        return self.column if len(given) == 1 else given

    @classmethod
    def from_value(cls, value: str | Mapping[str, str]) -> Detail:
        """The inverse of to_value."""
        return cls(value) if isinstance(value, str) else cls(**value)


@dataclass(frozen=True)
class Layout:
    """Layout of a table: the heads of the methods' names, the texts shown under a name, and the heads of links by the public name of their
    field. With `item` the table has a row for each method and item, and `group` is the head of the column of groups."""

    columns: tuple[ResultColumn, ...]
    method: str = "method"
    details: tuple[Detail, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    item: str = ""
    group: str = ""

    @property
    def heads(self) -> tuple[str, ...]:
        """Every head the table must have."""
        others = (*(it.column for it in self.details), *self.links.values(), self.item, self.group)
        return tuple(filter(None, (self.method, *(it.column for it in self.columns), *others)))

    def to_dict(self) -> dict[str, Any]:
        plain = {"details": [it.to_value() for it in self.details], **{name: self.links.get(name, "") for name in LINKS}}
        return {name: value for name, value in asdict(self).items() if name != "links"} | plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Layout:
        columns = tuple(ResultColumn(**column) for column in data["columns"])
        details = tuple(map(Detail.from_value, data["details"]))
        links = {name: data[name] for name in LINKS if data.get(name)}
        return cls(columns, data["method"], details, links, data.get("item", ""), data.get("group", ""))


@dataclass(frozen=True)
class ResultRow:
    """One method: a value per column of the layout, None where the table has none; with items also a value per column and item, NaN where
    there is none."""

    method: str
    values: tuple[float | None, ...]
    detail: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    vectors: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Table:
    """The rows in the table's order, and per column how many decimals it is printed with; the items and the group of each."""

    rows: tuple[ResultRow, ...]
    decimals: tuple[int, ...]
    items: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def read(text: str, layout: Layout) -> Table:
    """The rows of a CSV text with a head line. Raises `ResultsError` with every problem, by line."""
    found = _Reading(layout, [0] * len(layout.columns))
    for number, line in lines(text, layout.heads, MAX_ITEM_ROWS if layout.item else MAX_ROWS):
        found.add(number, line)
    if found.problems or found.separated:
        raise ResultsError([*hint(found.separated), *found.problems])
    return (
        _by_method(found.rows, found.digits, found.places, found.group_of) if layout.item else Table(tuple(found.rows), tuple(found.digits))
    )


@dataclass
class _Reading:
    """Rows of a table while they are read, and what is wrong with them."""

    layout: Layout
    digits: list[int]  # the most after the point in each column
    rows: list[ResultRow] = field(default_factory=list)
    places: list[str] = field(default_factory=list)  # the item of each row
    group_of: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    separated: list[str] = field(default_factory=list)  # numbers with separators
    seen: dict[tuple[str, str], int] = field(default_factory=dict)  # the first line of a method, or of a method and item

    def add(self, number: int, line: Mapping[str, str]) -> None:
        layout = self.layout
        name = " ".join(line[layout.method].split())
        item = line[layout.item] if layout.item else ""
        if not name or len(name) > MAX_NAME:
            self.problems.append(f"line {number}: {layout.method} is {name[:20]!r}; it must be a name of 1 to {MAX_NAME} characters.")
        elif (first := self.seen.setdefault((name.casefold(), item), number)) != number:
            of_item = " of an item" if item else ""
            self.problems.append(f"line {number}: {name} is on line {first} too; a method has one row{of_item}.")
        if layout.item:
            self._add_item(number, item, line[layout.group] if layout.group else item)
        values = self._values(number, line)
        for head in layout.links.values():
            if line[head] and not (line[head].startswith(("https://", "http://")) and len(line[head]) <= MAX_ADDRESS):
                must = f"it must be a web address of at most {MAX_ADDRESS} characters, or empty"
                self.problems.append(f"line {number}: {head} is {line[head][:60]!r}; {must}.")
        detail = " · ".join(filter(None, (it.words(line[it.column]) for it in layout.details)))[:MAX_DETAIL]
        self.rows.append(ResultRow(name, values, detail, {name: line[head] for name, head in layout.links.items()}))

    def _add_item(self, number: int, item: str, group: str) -> None:
        if not item or len(item) > MAX_ITEM:
            self.problems.append(f"line {number}: {self.layout.item} must be a name of 1 to {MAX_ITEM} characters.")
        elif (known := self.group_of.setdefault(item, group)) != group:
            self.problems.append(f"line {number}: {item} is in two groups: {known} and {group}.")
        self.places.append(item)

    def _values(self, number: int, line: Mapping[str, str]) -> tuple[float | None, ...]:
        values = []
        for place, it in enumerate(self.layout.columns):
            printed = line[it.column]
            try:
                values.append(number_in(printed, it.column))
            except SeparatedNumber as error:
                self.separated.append(f"line {number}: {error}")
            except ValueError:
                self.problems.append(f"line {number}: {it.column} is {printed!r}; it must be a number, or empty.")
            else:
                after_point = 0 if "e" in printed.lower() else len(printed.partition(".")[2])
                self.digits[place] = max(self.digits[place], after_point)
        return tuple(values)


def _by_method(rows: Sequence[ResultRow], digits: Sequence[int], places: Sequence[str], group_of: Mapping[str, str]) -> Table:
    """The rows of each method as one, whose values are means over groups of their means."""
    items = tuple(group_of)
    place = {item: n for n, item in enumerate(items)}
    methods: dict[str, list[tuple[str, ResultRow]]] = {}
    for item, row in zip(places, rows, strict=True):
        methods.setdefault(row.method, []).append((item, row))
    joined = []
    for own in methods.values():
        vectors = np.full((len(digits), len(items)), math.nan)
        for item, row in own:
            vectors[:, place[item]] = [math.nan if value is None else value for value in row.values]
        units = unit_matrix(vectors, tuple(group_of.values()), names=items)
        n = np.isfinite(units).sum(axis=1)
        values = [float(total / k) if k else None for total, k in zip(np.nansum(units, axis=1), n, strict=True)]
        joined.append(replace(own[0][1], values=tuple(values), vectors=tuple(map(tuple, vectors.tolist()))))
    return Table(tuple(joined), tuple(min(n, MAX_ITEM_DECIMALS) for n in digits), items, tuple(group_of.values()))


def lines(text: str, heads: Iterable[str], most: int = MAX_ROWS) -> list[tuple[int, dict[str, str]]]:
    """The rows below the head, each with its line and its cells by head, stripped. Raises `ResultsError` where a head is missing,
    and where a row has more cells than the head: a comma that was not quoted would move the figures into other columns."""
    if reason := stand_in(text[:STAND_IN_BYTES].encode(errors="replace"), ""):
        raise ResultsError([f"the table {reason}."])
    if found := control_character(text):
        line = text.count("\n", 0, found[0]) + 1
        raise ResultsError([f"line {line}: there is the character {found[1]}, which cannot be read; save the table as CSV in UTF-8."])
    try:
        text = text.removeprefix("\ufeff")
        table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter(text.partition("\n")[0]), strict=True)
        there = [head.strip() for head in table.fieldnames or ()]
        absent = [head for head in dict.fromkeys(heads) if head not in there]
        if absent:
            raise ResultsError([f"the table has no column {headings_text(absent)}; its columns are {headings_text(there)}."])
        if len(set(there)) < len(there):
            raise ResultsError(["the table has two columns of one name; give each its own."])
        rows, problems = [], []
        for row in table:
            if is_blank(row):
                continue
            if surplus := more_cells(row):
                problems.append(f"line {table.line_num}: {surplus}")
            rows.append((table.line_num, {head.strip(): (cell or "").strip() for head, cell in row.items()}))
    except csv.Error as error:
        raise ResultsError([f"the table is not CSV ({error}); save it as CSV in UTF-8."]) from None
    if not 0 < len(rows) <= most:
        raise ResultsError([f"the table has {len(rows):,} rows; it must have 1 to {most:,}."])
    if problems:
        raise ResultsError(problems)
    return rows


def number_in(text: str, column: str) -> float | None:
    """The number in a cell of that column; None for an empty cell or a dash. ValueError for anything else."""
    if text in NO_VALUE:
        return None
    value = cell(text, column)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def column_of(it: ResultColumn, position: int, decimals: int, digest: str, has_items: bool = False) -> Column:
    """Return what a batch keeps of the column, in the place of a metric's: `digest` is the table's, so that the values of two tables
    never share a column."""
    content = json.dumps(["imported", it.slug, it.column, it.higher_is_better, it.unit, digest])
    return Column(
        slug=it.slug,
        key="",
        params={},
        fingerprint=hashlib.sha256(content.encode()).hexdigest(),
        title=it.title,
        weight=it.weight,
        is_primary=it.is_primary,
        in_ranking=it.in_ranking,
        position=position,
        imported=Imported(it.higher_is_better, it.unit, decimals, has_items),
    )
