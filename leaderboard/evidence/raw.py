"""Published files as tables of texts: CSV and TeX here, spreadsheets by a function that reads them in the limited process. PURE."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.evidence.manifest import SourceFile
from submissions.formats.errors import FormatError, TableError, excerpt, headings_text, size_text
from submissions.formats.spreadsheet import MAX_BYTES, MAX_CELLS, MAX_COLUMNS, MAX_ROWS
from submissions.formats.spreadsheet_formulas import restored
from submissions.formats.text import decode_text

MAX_TEX = 1_000_000
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|[{}]")
MAX_CELL = 32_767  # characters, as spreadsheets have it
ReadSheet = Callable[[Path, str], list[list[str]]]  # raises FormatError


class EvidenceError(TableError):
    """A published set that is not taken in; one sentence for each fault."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """Rows of texts below their heads. `lines` has the number of each row in its file, where the heads are on row 1."""

    name: str
    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]

    def places(self, columns: Sequence[str]) -> dict[str, int]:
        """Places of these columns. Raises `EvidenceError` naming those that are not there."""
        found, faults = {}, []
        for column in dict.fromkeys(columns):
            if column in self.heads:
                found[column] = self.heads.index(column)
                continue
            near = difflib.get_close_matches(column, self.heads, n=1, cutoff=0.6)
            hint = f"did you mean {excerpt(near[0])}?" if near else f"there are: {headings_text(self.heads)}."
            faults.append(f"{self.name} has no column {excerpt(column)}; {hint}")
        if faults:
            raise EvidenceError(faults)
        return found


def read_table(path: Path, file: SourceFile, read_sheet: ReadSheet) -> RawTable:
    """The table in a published file. Raises `EvidenceError`."""
    try:
        if file.format == "xlsx":
            rows = read_sheet(path, file.sheet)
        elif file.format == "tex":
            rows = read_tex(path, file.heads)
        else:
            rows = read_csv(path, "\t" if file.format == "tsv" else ",")
    except FormatError as error:
        raise EvidenceError([f"{error}."]) from None
    numbered = [(line, row) for line, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    if len(numbered) < 2:
        raise EvidenceError([f"{file.name} has no rows below its heads."])
    heads = [head.strip() for head in numbered[0][1]]
    while heads and not heads[-1]:
        heads.pop()
    if twice := [head for head, n in Counter(filter(None, heads)).items() if n > 1]:
        raise EvidenceError([f"{file.name} has the column {excerpt(min(twice))} twice; which one is meant cannot be told."])
    body = []
    for line, row in numbered[1:]:
        if any(cell.strip() for cell in row[len(heads) :]):
            raise EvidenceError([f"{file.name}, row {line}: there is a cell beyond the head's last."])
        body.append([*row[: len(heads)], *[""] * (len(heads) - len(row))])
    return RawTable(file.name, tuple(heads), body, [line for line, _ in numbered[1:]])


def read_csv(path: Path, delimiter: str) -> list[list[str]]:
    """Cells of a CSV file in UTF-8, row by row; blank lines are empty rows. Raises `FormatError`."""
    size, name = path.stat().st_size, path.name
    if size > MAX_BYTES:
        raise FormatError(name, "", f"is {size_text(size)}, at most {size_text(MAX_BYTES)} here")
    text = decode_text(path.read_bytes(), name)
    rows: list[list[str]] = []
    cells = 0
    before = csv.field_size_limit(MAX_CELL)
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            cells += len(row)
            if len(row) > MAX_COLUMNS or len(rows) >= MAX_ROWS or cells > MAX_CELLS:
                most = f"{MAX_ROWS:,} rows, {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells"
                raise FormatError(name, f"row {len(rows) + 1}", f"is beyond what is read; at most {most} are")
            rows.append([restored(cell) for cell in row])
    except csv.Error as error:
        raise FormatError(name, f"row {len(rows) + 1}", f"cannot be read as CSV ({error})") from None
    finally:
        csv.field_size_limit(before)
    return rows


def read_tex(path: Path, heads: Sequence[str]) -> list[list[str]]:
    """Rows of a TeX table below the given column heads: lines with the same number of cells, without TeX commands. Raises `FormatError`."""
    if path.stat().st_size > MAX_TEX:
        raise FormatError(path.name, "", f"is {size_text(path.stat().st_size)}, at most {size_text(MAX_TEX)} here")
    found: list[list[str]] = [list(heads)]
    for line in decode_text(path.read_bytes(), path.name).splitlines():
        cells = [_COMMAND.sub("", cell).strip() for cell in line.rstrip().removesuffix("\\\\").split("&")]
        found.append(cells if len(cells) == len(heads) else [])
    return found
