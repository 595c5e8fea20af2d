"""Values of one sheet of an .xlsx file, bounded before anything is built from it. PURE.

The file is a zip of XML. It is walked once as a zip, where every member is unpacked into nothing, counted, and searched for declarations
of entities; only then does the library read it. The library evaluates no formula and follows no link: a formula has the value that was
stored with it. It is meant for the limited process all the same.
"""

from __future__ import annotations

import datetime
import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from submissions.formats.archive import UNREADABLE
from submissions.formats.errors import FormatError, excerpt, size_text

MAX_BYTES = 64 << 20  # of the file
MAX_UNPACKED = 256 << 20  # of all members together
MAX_MEMBERS = 2_000
MAX_ROWS, MAX_COLUMNS, MAX_CELLS = 200_000, 2_000, 10_000_000
_CHUNK = 1 << 20
_OVERLAP = 64  # characters of one piece that are looked at again with the next, so that nothing is cut in two
_WORKBOOK = "xl/workbook.xml"
_CELL = re.compile(rb"""\br\s*=\s*["']\s*([A-Za-z]{0,7})([0-9]{0,12})\s*["']""")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([^"']*)["']""")


class SheetError(FormatError):
    """A spreadsheet that is not read; the reason is one sentence without its full stop."""


def read_sheet(path: Path, sheet: str = "") -> list[list[str]]:
    """Cells of a sheet (the only one, where none is named) as text, row by row from the first; empty cells are empty text. A whole number
    has no decimals, other numbers are written so that they read back the same. Raises `SheetError`."""
    name = path.name
    _walk(path)
    import python_calamine  # loaded on first use: the web process reads no spreadsheet

    try:
        with python_calamine.CalamineWorkbook.from_path(path) as workbook:
            if not sheet and len(workbook.sheet_names) != 1:
                raise SheetError(name, "", f"has the sheets {_listed(workbook.sheet_names)}; say which one is meant")
            if sheet and sheet not in workbook.sheet_names:
                raise SheetError(name, "", f"has no sheet {excerpt(sheet)}; there are: {_listed(workbook.sheet_names)}")
            found = workbook.get_sheet_by_name(sheet or workbook.sheet_names[0])
            if found.total_height * found.total_width > MAX_CELLS:  # a row or column that names no place counts on from the one before
                raise SheetError(name, "", f"has {found.total_height:,} rows of {found.total_width:,} cells, more than is read")
            return [[_text(cell) for cell in row] for row in found.to_python(skip_empty_area=False)]
    except python_calamine.PasswordError:
        raise SheetError(name, "", "is protected by a password; save it without one") from None
    except (python_calamine.CalamineError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, SheetError):
            raise
        raise SheetError(name, "", f"cannot be read as a spreadsheet ({excerpt(str(error))})") from None


def _walk(path: Path) -> None:
    """Hold the file against every bound. Raises `SheetError`."""
    name, size = path.name, path.stat().st_size
    if size > MAX_BYTES:
        raise SheetError(name, "", f"is {size_text(size)}, at most {size_text(MAX_BYTES)} here")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise SheetError(name, "", f"holds {len(members):,} files, at most {MAX_MEMBERS:,} here; a spreadsheet holds a few")
            names = [member.filename for member in members]
            if _WORKBOOK not in names or len(set(names)) < len(names):
                raise SheetError(name, "", "is no .xlsx spreadsheet; save it as .xlsx or as CSV")
            claimed = sum(member.file_size for member in members)
            if claimed > MAX_UNPACKED:
                raise SheetError(name, "", _too_large(size))
            left = MAX_UNPACKED
            for member in members:
                if member.flag_bits & 1:
                    raise SheetError(name, "", "is protected by a password; save it without one")
                with archive.open(member) as stream:
                    left = _search(stream, member, left, name, size)
    except UNREADABLE as error:
        if isinstance(error, SheetError):
            raise
        raise SheetError(name, "", f"cannot be unpacked ({excerpt(str(error))}); is it an .xlsx spreadsheet?") from None


def _search(stream: IO[bytes], member: zipfile.ZipInfo, left: int, name: str, size: int) -> int:
    """Bytes left of what may be unpacked, after this member. Raises `SheetError` where it is too large, declares entities, is text in
    another encoding, or has cells beyond the bounds."""
    is_xml = member.filename.lower().endswith((".xml", ".rels", ".vml"))
    is_sheet = is_xml and member.filename.lower().startswith("xl/worksheets/")
    rows = columns = 0
    for number, (fresh, piece) in enumerate(_pieces(stream)):
        left -= len(fresh)
        if left < 0:
            raise SheetError(name, "", _too_large(size))
        if not is_xml:
            continue
        if number == 0 and _in_other_encoding(piece):
            raise SheetError(name, excerpt(member.filename), "is not text in UTF-8, as spreadsheets are")
        if b"<!DOCTYPE" in piece or b"<!ENTITY" in piece:
            said = "declares a document type or entities, which no spreadsheet needs; save it again"
            raise SheetError(name, excerpt(member.filename), said)
        for letters, row in _CELL.findall(piece) if is_sheet else ():
            rows, columns = max(rows, int(row or 0)), max(columns, _column(letters))
        if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
            most = f"{MAX_ROWS:,} rows, {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells"
            raise SheetError(name, excerpt(member.filename), f"reaches to row {rows:,} and column {columns:,}; at most {most} are read")
    return left


def _in_other_encoding(start: bytes) -> bool:
    """Return whether a member that begins like this is anything but text in UTF-8."""
    declared = _ENCODING.match(start.removeprefix(b"\xef\xbb\xbf"))
    encoding = declared[1].lower() if declared else b"utf-8"
    return start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start[:64] or encoding not in (b"utf-8", b"us-ascii")


def _pieces(stream: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The bytes of a member, piece by piece, each alone and with the end of the piece before."""
    end = b""
    while piece := stream.read(_CHUNK):
        yield piece, end + piece
        end = (end + piece)[-_OVERLAP:].rjust(_OVERLAP, b" ")


def _column(letters: bytes) -> int:
    """Number of a column by its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _too_large(size: int) -> str:
    return f"is {size_text(size)} and unpacks to more than {size_text(MAX_UNPACKED)}, which is not read; save the sheet as CSV"


def _text(value: object) -> str:
    """A cell's value as text."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _listed(names: list[str]) -> str:
    shown = ", ".join(excerpt(name) for name in names[:10])
    return f"{shown} and {len(names) - 10:,} more" if len(names) > 10 else shown or "none"
