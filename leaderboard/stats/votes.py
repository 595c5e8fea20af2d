"""Answers of people as arrays: who, on which pair of which sample, said what.

Votes are stored as they were shown: `choice` is left, right or tie, for the two names in `left` and `right`. This file puts them into one
form. A pair is (a, b) in the order of the method names; a verdict is -1 if a was found better, 0 for equal, and +1 if b was. Whether the
sides were swapped (`swapped`) is information only.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from submissions.formats.decimals import SeparatedNumber, cell, hint
from submissions.formats.errors import MAX_PROBLEMS, TableError, control_character, headings_text, more_cells
from submissions.formats.spreadsheet_formulas import restored
from submissions.formats.stand_in import stand_in

VERSION = 26  # of what is computed from answers: raised whenever any number can change
COLUMNS = ("study", "rater", "group", "sample", "left", "right", "choice", "swapped", "seconds", "repeat_of", "criterion")
# Added behind them, in the order in which they came: a reader of earlier files by the position of a column finds it where it was.
MORE = ("gold", "order", "at")
CONDITIONS = ("step", "viewport_width", "viewport_height", "device", "invitation")
DEVICES = ("mouse", "touch", "keyboard")
NEEDED = ("rater", "left", "right", "choice")
NO = ("", "0", "false", "no")
CHOICES = {"left": 0, "right": 1, "tie": 2}
# What files of others call a side or a tie, in small letters and digits alone.
SPELLINGS = {
    "left": {"left", "l", "a", "model a", "modela", "first"},
    "right": {"right", "r", "b", "model b", "modelb", "second"},
    "tie": {"tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "no preference", "both good", "both bad"}
    | {f"tie {kind}" for kind in ("bothbad", "both bad", "bothgood", "both good")},
}
DELIMITERS = ",;\t"
DECIMAL_COLUMNS = ("seconds", "score")
NAMED_OF_SHARED = 3  # lines with one problem that are named
HIGHEST_ORDER = 2**31 - 1
HIGHEST_STEP = 2**15 - 1
# The most characters of a text, as studies store it.
LENGTHS = {
    "rater": 120,
    "group": 60,
    "sample": 240,
    "left": 200,
    "right": 200,
    "entry": 200,
    "criterion": 60,
    "swapped": 8,
    "repeat_of": 40,
    "gold": 8,
    "order": 12,
    "at": 40,
    "invitation": 140,
}

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")


def finite(value: float) -> float | None:
    """The value; None for what is not a number, which no record holds."""
    return float(value) if math.isfinite(value) else None


class VotesError(TableError):
    """A file of votes or of opinion scores cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """Circumstances of an answer: `order` numbers a rater's questions, and `at` is the time of the answer, as `stamp` writes it. The others
    are the conditions: the place of the criterion among the question's, the window's size, the device and the link."""

    order: str = ""
    at: str = ""
    step: str = ""
    viewport_width: str = ""
    viewport_height: str = ""
    device: str = ""
    invitation: str = ""


@dataclass(frozen=True)
class Vote(Circumstances):
    """One answer as it was given. `repeat_of` is not empty if the pair had been asked before on purpose, `gold` if its answer was known
    beforehand."""

    rater: str
    left: str
    right: str
    choice: str
    sample: str = ""
    group: str = ""
    criterion: str = ""
    study: str = ""
    swapped: str = ""
    seconds: float | None = None
    repeat_of: str = ""
    gold: str = ""

    @property
    def is_gold(self) -> bool:
        return self.gold.lower() not in NO


@dataclass(frozen=True, eq=False)
class Votes:
    """Canonical votes, in the order given. All arrays have one entry per vote.

    `rater` and `sample` index `raters` and `samples`; `a` and `b` index `methods` (sorted names), with a < b. `verdict` is -1, 0 or +1.
    `side` is +1 if a was shown left, -1 if right and 0 if unknown. `seconds` is NaN if unknown. `repeat` marks pairs asked again and `gold`
    pairs whose answer was known. `groups` gives each rater's group.
    """

    raters: tuple[str, ...]
    samples: tuple[str, ...]
    methods: tuple[str, ...]
    groups: tuple[str, ...]
    rater: Ints
    sample: Ints
    a: Ints
    b: Ints
    verdict: Ints
    side: Ints
    seconds: Floats
    repeat: NDArray[np.bool_] = field(repr=False)
    gold: NDArray[np.bool_] = field(repr=False)

    def __len__(self) -> int:
        return len(self.verdict)

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """The first verdict of a rater on each pair of a sample, repeats left out."""
        return self._first_among(~self.repeat)

    def _first_among(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The first of these votes of a rater on each pair of a sample."""
        keys = np.stack([self.rater, self.question], axis=1)
        is_first = np.zeros(len(self), dtype=bool)
        asked = np.flatnonzero(wanted)
        is_first[asked[np.unique(keys[asked], axis=0, return_index=True)[1]]] = True
        return is_first

    @cached_property
    def question(self) -> Ints:
        """A number for each pair of a sample: equal where the same was asked."""
        m = len(self.methods)
        return (self.sample * m + self.a) * m + self.b

    def counted(self) -> Votes:
        """The votes that count: of those that neither repeat a question nor answer a gold one, a rater's first on each pair of a sample.
        So an answer to a gold question keeps no later one from counting."""
        return self.take(self._first_among(~self.repeat & ~self.gold))

    def take(self, chosen: NDArray[np.bool_] | Ints) -> Votes:
        """These votes, under the same numbering of raters, samples and methods."""
        columns = ("rater", "sample", "a", "b", "verdict", "side", "seconds", "repeat", "gold")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})


def without_raters(given: T, names: Collection[str]) -> T:
    """The votes, or ratings, of the raters who are not named, who alone are numbered then."""
    if not names:
        return given
    of: Any = given
    kept = [n for n, name in enumerate(of.raters) if name not in names]
    own = of.take(np.isin(of.rater, kept))
    raters, groups = (tuple(column[n] for n in kept) for column in (of.raters, of.groups))
    changed: T = replace(own, raters=raters, groups=groups, rater=np.searchsorted(kept, own.rater).astype(np.int64))
    return changed


def canonical(votes: Iterable[Vote]) -> Votes:
    """The votes as arrays. ValueError for a vote on one method alone or with an unknown choice."""
    rows = list(votes)
    for vote in rows:
        if vote.left == vote.right or vote.choice not in CHOICES:
            raise ValueError(f"no vote between two methods: {vote}")
    raters, rater = numbered(vote.rater for vote in rows)
    samples, sample = numbered(vote.sample for vote in rows)
    methods, sides = numbered([vote.left for vote in rows] + [vote.right for vote in rows])
    left, right = sides[: len(rows)], sides[len(rows) :]
    choice = np.array([CHOICES[vote.choice] for vote in rows], dtype=np.int64)
    side = np.where(left < right, 1, -1)
    verdict = np.array([-1, 1, 0])[choice] * side if rows else choice
    group = {vote.rater: vote.group for vote in reversed(rows)}
    return Votes(
        raters,
        samples,
        methods,
        tuple(group[name] for name in raters),
        rater,
        sample,
        np.minimum(left, right),
        np.maximum(left, right),
        verdict,
        side,
        np.array([math.nan if vote.seconds is None else vote.seconds for vote in rows], dtype=np.float64),
        np.array([bool(vote.repeat_of) for vote in rows], dtype=bool),
        np.array([vote.is_gold for vote in rows], dtype=bool),
    )


def read(path: Path, columns: Mapping[str, str] | None = None, values: Iterable[tuple[str, str]] = ()) -> list[Vote]:
    """The votes of a CSV file with a head line; see `parse`."""
    return read_records(path, lambda stream, name: parse(stream, name, columns, values))


def parse(lines: Iterable[str], name: str, columns: Mapping[str, str] | None = None, values: Iterable[tuple[str, str]] = ()) -> list[Vote]:
    """The votes in the lines of a CSV file called `name`, whose cells are separated by commas, semicolons or tabs.

    `columns` names, for a column of `COLUMNS`, the one that the file has instead; `choice=winner` is such a mapping. `values` says
    what the file's texts in the column `choice` mean: pairs of left, right or tie and a text. Without it are understood: left,
    right and tie, in capitals too; the head of the file's column of left or right; the name of one of the two methods; and
    `SPELLINGS`. Raises `VotesError` with every problem, by line.
    """
    meanings: dict[str, str] = {}
    for side, text in values:
        if side not in CHOICES:
            raise VotesError([f"A choice means left, right or tie, not {headings_text([side])}; map the file's own texts to one of these."])
        if meanings.setdefault(text, side) != side:
            raise VotesError([f"The choice {headings_text([text])} is mapped to {meanings[text]} and to {side}; leave one of the two out."])
    heads = {(columns or {}).get(side, side): side for side in ("left", "right")}

    def vote(row: Mapping[str, str]) -> Vote:
        return _vote({**row, "choice": meanings.get(row["choice"]) or _choice(row, heads)})

    return records(lines, name, columns, (*COLUMNS, *MORE, *CONDITIONS), NEEDED, vote, "votes")


def read_records(path: Path, parse: Callable[[Iterable[str], str], list[T]]) -> list[T]:
    """Read the file's lines with `parse`; `VotesError` for one that is no CSV file in UTF-8."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        return parse(stream, path.name)


@dataclass(frozen=True)
class Table:
    """A table in text: the names of its columns, and each row that holds something with its line in the file."""

    heads: list[str]
    rows: list[tuple[int, dict[Any, Any]]]
    delimiter: str

    def decimal(self, text: str) -> str:
        """The text of a number with a point. Programs that separate cells by semicolons or tabs may write 1,5 for 1.5."""
        return text if self.delimiter == "," else text.replace(",", ".")


def table_of(lines: Iterable[str], name: str) -> Table:
    """The table in a CSV file called `name`, whose cells are separated as most of its heads are: by commas, semicolons or tabs.
    Rows without any text are left out, and so are columns without a name at the end. `VotesError` for a file that is no CSV in UTF-8."""
    try:
        # An accent has two encodings, and file systems and spreadsheets differ: a name must not become two.
        stream = (unicodedata.normalize("NFC", line) for line in lines)
        first = next(stream, "")
        delimiter = max(DELIMITERS, key=lambda one: len(next(csv.reader([first], delimiter=one), ())))
        cells = csv.reader(chain([first], stream), delimiter=delimiter)
        heads = [head.strip() for head in next(cells, ())]
        while heads and not heads[-1]:
            heads.pop()
        if reason := stand_in(",".join(heads).encode(), name):
            raise VotesError([f"{name} {reason}."])
        if twice := next((head for head in heads if head and heads.count(head) > 1), ""):
            raise VotesError([f"{name} has the column {headings_text([twice])} twice; leave one of the two out."])
        rows = []
        for row in cells:
            row = [restored(text) for text in row]
            if any(text.strip() for text in row):
                named: dict[Any, Any] = dict(zip_longest(heads, row[: len(heads)], fillvalue=""))
                rows.append((cells.line_num, named | {None: row[len(heads) :]}))
        return Table(heads, rows, delimiter)
    except (UnicodeDecodeError, csv.Error) as error:
        raise VotesError([f"{name} is not a CSV file in UTF-8 ({error}); save it as one."]) from None


class SharedProblem(ValueError):
    """A problem that many lines of a file may have: the first three are named, and `of_more` follows the number of the others."""

    def __init__(self, sentence: str, of_more: str) -> None:
        super().__init__(sentence)
        self.of_more = of_more


@dataclass
class Problems:
    """Problems of the lines of a file called `name`."""

    name: str
    found: list[str] = field(default_factory=list)
    separated: list[str] = field(default_factory=list)
    shared: Counter[str] = field(default_factory=Counter)

    def add(self, line: int, error: ValueError) -> None:
        kept = self.separated if isinstance(error, SeparatedNumber) else self.found
        if isinstance(error, SharedProblem):
            self.shared[error.of_more] += 1
            if self.shared[error.of_more] > NAMED_OF_SHARED:
                return
        kept.append(f"{self.name}: line {line}: {error}")

    def raise_if_any(self) -> None:
        """Raises `VotesError` with all of them."""
        if self.found or self.separated:
            more = [f"{n - NAMED_OF_SHARED:,} more {what}" for what, n in self.shared.items() if n > NAMED_OF_SHARED]
            raise VotesError([*hint(self.separated), *self.found, *more])


def records(
    lines: Iterable[str],
    name: str,
    columns: Mapping[str, str] | None,
    known: Sequence[str],
    needed: Sequence[str],
    make: Callable[[Mapping[str, str]], T],
    noun: str,
) -> list[T]:
    """A record of each line below the head of a CSV file called `name`. `make` makes it from the `known` columns, "" for an
    absent one; its ValueError is a problem of that line. Raises `VotesError` with every problem."""
    table = table_of(lines, name)
    there = table.heads
    named = {column: (columns or {}).get(column, column) for column in known}
    unknown = sorted(set(columns or {}) - set(known))
    if unknown:
        raise VotesError([f"{noun.capitalize()} have no column {', '.join(unknown)}; what can be named is {', '.join(known)}."])
    absent = sorted({named[column] for column in (*needed, *(columns or {}))} - set(there))
    if absent:
        raise VotesError([f"{name} has no column {headings_text(absent)}; its columns are {headings_text(there)}: name those to take."])
    parsed, problems = [], Problems(name)
    for line, row in table.rows:
        try:
            if surplus := more_cells(row):
                raise ValueError(surplus)
            cells = {column: (row.get(key) or "").strip() for column, key in named.items()}
            cells |= {column: table.decimal(cells[column]) for column in DECIMAL_COLUMNS if column in cells}
            for column, text in cells.items():
                _check_text(column, text)
            parsed.append(make(cells))
        except ValueError as error:
            problems.add(line, error)
            if len(problems.found) == MAX_PROBLEMS:
                break
    problems.raise_if_any()
    if not parsed:
        raise VotesError([f"{name} holds no {noun}; it needs a line for each under its head."])
    return parsed


def _check_text(column: str, text: str) -> None:
    """ValueError, in a sentence, where a cell's text is too long or cannot be read."""
    if len(text) > LENGTHS.get(column, len(text)):
        raise ValueError(f"{column} has {len(text)} characters; at most {LENGTHS[column]} are taken.")
    if found := control_character(text):
        raise ValueError(f"{column} holds the character {found[1]}, which cannot be read; save the file as CSV in UTF-8.")


def write(votes: Iterable[Vote], columns: Sequence[str] = (*COLUMNS, *MORE, *CONDITIONS)) -> Iterator[list[str]]:
    """The rows of a CSV file, its head first; `parse` reads them back."""
    yield list(columns)
    for vote in votes:
        yield cells(vote, columns)


def cells(vote: Vote, columns: Sequence[str]) -> list[str]:
    """One line of such a file."""
    values = (getattr(vote, column) for column in columns)
    return ["" if value is None else str(value) for value in values]


def stamp(at: datetime | None) -> str:
    """A moment as a cell `at` has it: in ISO 8601, in UTC, to the second. Empty where it is not known."""
    return "" if at is None else at.astimezone(UTC).isoformat(timespec="seconds")


def moment(text: str) -> datetime | None:
    """The moment in a cell `at`, in UTC where it names no offset; None for an empty cell. ValueError, in a sentence, where it is none."""
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # in the first and the last year an offset can lead out of the calendar
        raise ValueError(f"at is {text!r}; it must be a time in ISO 8601, such as 2026-11-22T14:05:00+00:00, or empty.") from None


def order_number(text: str, column: str = "order") -> int | None:
    """The number in a cell such as `order`; None for an empty cell. ValueError, in a sentence, where it is none."""
    if text and not (text.isascii() and text.isdecimal() and int(text) <= HIGHEST_ORDER):
        raise ValueError(f"{column} is {text!r}; it must be a whole number that is not negative, or empty.")
    return int(text) if text else None


def number_cell(number: int | None) -> str:
    """A whole number as a cell has it; empty where it is not known."""
    return "" if number is None else str(number)


def check_conditions(row: Mapping[str, str]) -> None:
    """ValueError, in a sentence, where a cell that says under which conditions an answer was given holds something else."""
    for column in ("order", "viewport_width", "viewport_height"):
        order_number(row[column], column)
    if (order_number(row["step"], "step") or 0) > HIGHEST_STEP:
        raise ValueError(f"step is {row['step']}; it is the place of a criterion among a question's, at most {HIGHEST_STEP}.")
    if row["device"] not in ("", *DEVICES):
        raise ValueError(f"device is {row['device']!r}; it must be {', '.join(DEVICES)}, or empty.")
    moment(row["at"])


def seconds_in(row: Mapping[str, str]) -> float | None:
    """The number in the cell `seconds`, None where it is empty. ValueError, in a sentence, for anything else."""
    seconds = cell(row["seconds"], "seconds") if row["seconds"] else None
    if seconds is not None and not 0 <= seconds < math.inf:
        raise ValueError(f"seconds is {row['seconds']!r}; it must be a number that is not negative, or empty.")
    return seconds


def _choice(row: Mapping[str, str], heads: Mapping[str, str]) -> str:
    """The side that a row's choice names, or tie; the text as it is where it names nothing. ValueError where it could be either side."""
    text = row["choice"]
    if text.lower() in CHOICES:
        return text.lower()
    if text in heads:
        return heads[text]
    plain = " ".join(re.findall(r"[a-z0-9]+", text.lower()))
    meant = {side for side, spellings in SPELLINGS.items() if plain in spellings}
    meant |= {side for side in ("left", "right") if text and row[side] == text}
    if len(meant) > 1 and row["left"] != row["right"]:
        raise ValueError(f"choice is {text!r}, which is the name of the method on one side and can mean the other; say which it means.")
    return meant.pop() if len(meant) == 1 else text


def _vote(row: Mapping[str, str]) -> Vote:
    """ValueError, in a sentence, where the row is no vote."""
    for column in NEEDED:
        if not row[column]:
            raise ValueError(f"{column} is empty; every vote has a {column}.")
    if row["choice"] not in CHOICES:
        raise ValueError(f"choice is {row['choice']!r}; it must be left, right or tie, or the name of one of the two.")
    if row["left"] == row["right"]:
        raise ValueError(f"{row['left']!r} stands on both sides; a vote is between two methods.")
    seconds = seconds_in(row)
    check_conditions(row)
    values: dict[str, Any] = {**row, "seconds": seconds}
    return Vote(**values)


def numbered(names: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    """(the names that occur, sorted; the place int64[N] of each one given among them)."""
    distinct, place = np.unique(np.array(list(names), dtype=object).astype(str), return_inverse=True)
    return tuple(distinct.tolist()), place.astype(np.int64)
