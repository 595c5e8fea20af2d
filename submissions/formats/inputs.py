"""Inputs of participants, as an organizer describes them: a bounding box, a number of points and a unit for each item. PURE.

Entries are compared with them before they are scored. They are computed from the input files or stated in a table, never taken from a
reference.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.archive import open_package
from submissions.formats.decimals import SeparatedNumber, cell, delimiter, hint
from submissions.formats.errors import FormatError, TableError, is_blank
from submissions.formats.lines import Block, number_fault, numbers, text_blocks
from submissions.formats.mesh import mesh_files
from submissions.formats.npz import read_npz
from submissions.formats.stand_in import STAND_IN_BYTES, stand_in
from submissions.manifest import Bounds, Input

COLUMNS = ("item", "min_x", "min_y", "min_z", "max_x", "max_y", "max_z", "points", "unit")
NEEDED = COLUMNS[:7]
UNITS = {"m": 1.0, "mm": 0.001, "cm": 0.01, "dm": 0.1, "km": 1000.0, "in": 0.0254, "ft": 0.3048}  # metres each
TEXTS = (".xyz", ".txt", ".pts", ".csv", ".asc")
READ = (*mesh_files.SUFFIXES, *TEXTS, ".npy", ".npz", ".las")
LARGEST = 1e12
MAX_TEXT = 4_000_000  # characters of a table
BOUNDS = Bounds(max_archive_bytes=4_000_000_000, max_total_bytes=8_000_000_000, max_file_bytes=1_000_000_000)
_WITH_COMMA = re.compile(rb"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?")
_LAS_BOX, _LAS_COUNT, _LAS_HEADER = 179, 107, 227


def read_table(text: str) -> dict[str, Input]:
    """The inputs by item from a CSV table with the heads `COLUMNS`, of which points and unit may be left out or empty; nothing of an
    empty text. Raises ``TableError``, a sentence for each row that will not do."""
    if not text.strip():
        return {}
    if reason := stand_in(text[:STAND_IN_BYTES].encode(errors="replace"), ""):
        raise TableError([f"The table of inputs {reason}."])
    text = text.strip()
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True, restval="", delimiter=delimiter(text.partition("\n")[0]))
    heads = [head.strip() for head in rows.fieldnames or ()]
    missing = [name for name in NEEDED if name not in heads]
    if missing:
        raise TableError([f"The table of inputs has no column {', '.join(missing)}; its first line must read {','.join(COLUMNS)}."])
    rows.fieldnames = heads
    found: dict[str, Input] = {}
    problems: list[str] = []
    separated: list[str] = []
    for row in rows:
        if is_blank(row):
            continue
        name = row["item"].strip()
        try:
            if name in found:
                raise ValueError(f"the item {name} is in the file twice")
            found[name] = _input(row)
        except SeparatedNumber as error:
            separated.append(f"Line {rows.line_num} of the table of inputs: {error}")
        except ValueError as error:
            problems.append(f"Line {rows.line_num} of the table of inputs: {error}.")
    if problems or separated:
        raise TableError([*hint(separated), *problems])
    return found


def _input(row: Mapping[str, str]) -> Input:
    if not row["item"].strip():
        raise ValueError("the item has no name")
    x, y, z, *far = (_coordinate(row[name].strip(), name) for name in NEEDED[1:])
    low, high = (x, y, z), (far[0], far[1], far[2])
    if any(a > b for a, b in zip(low, high, strict=True)) or low == high:
        raise ValueError("the box has no extent, or a least coordinate above the greatest")
    points, unit = row.get("points", "").strip(), row.get("unit", "").strip()
    if points and not (points.isascii() and points.isdecimal() and len(points) < 16):
        cell(points, "points")
        raise ValueError(f"points is {points[:20]!r} and no whole number")
    if unit and unit not in UNITS:
        raise ValueError(f"the unit {unit[:20]!r} is not one of {', '.join(UNITS)}")
    return Input(low, high, int(points or 0), unit)


def _coordinate(text: str, name: str) -> float:
    value = cell(text, name)
    if math.isnan(value) and text.lower() != "nan":
        raise ValueError(f"{name} is {text[:20]!r} and no number")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise ValueError(f"{name} is {text[:20]} and must lie within ±{LARGEST:.0e}")
    return value


def write_table(inputs: Mapping[str, Input]) -> str:
    """The table that ``read_table`` reads back."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for name, one in inputs.items():
        rows.writerow([name, *(repr(float(v)) for v in (*one.low, *one.high)), one.points or "", one.unit])
    return out.getvalue()


def of_files(path: Path, items: Collection[str] | None = None, name: str | None = None) -> dict[str, Input]:
    """The box and the number of points of each file of a folder, archive or single file, by file name without suffix (of `items` alone,
    if they are given). Files of other kinds are passed over. Raises ``FormatError``."""
    found: dict[str, Input] = {}
    label = name or path.name
    with ExitStack() as stack:
        if path.is_file() and PurePosixPath(label).suffix.lower() in READ:
            contents: list[tuple[str, Callable[[], bytes]]] = [(label, path.read_bytes)]
        else:
            package = stack.enter_context(open_package(path, BOUNDS, name))
            contents = [(file.name, partial(package.read, file.name)) for file in package.files]
        for file, content in contents:
            pure = PurePosixPath(file)
            if pure.suffix.lower() not in READ or (items is not None and pure.stem not in items):
                continue
            one = _measured(content(), file)
            before = found.get(pure.stem)
            if one is not None and before is not None:  # several scans of one item
                low, high = np.minimum(before.low, one.low).tolist(), np.maximum(before.high, one.high).tolist()
                one = Input(tuple(low), tuple(high), before.points + one.points, before.unit)
            if one is not None:
                found[pure.stem] = one
    return dict(sorted(found.items()))


def _measured(data: bytes, file: str) -> Input | None:
    """The box and the number of points of one file; None where they have no extent. Raises ``FormatError``."""
    if reason := stand_in(data, file):
        raise FormatError(file, "", reason)
    suffix = PurePosixPath(file).suffix.lower()
    if suffix == ".las":
        return _las(data, file)
    if suffix in (".npy", ".npz"):
        points = _array(data, file)
    elif suffix in TEXTS:
        points = _text(data, file)
    else:
        points = mesh_files.read_mesh(data, file).vertices
    if not len(points):
        return None
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return None if low == high else Input(tuple(low), tuple(high), len(points), "")


def _las(data: bytes, file: str) -> Input:
    """The box and the number of points that the header of a LAS file states."""
    if data[:4] != b"LASF" or len(data) < _LAS_HEADER:
        raise FormatError(file, "", "is not a LAS file")
    high_x, low_x, high_y, low_y, high_z, low_z = np.frombuffer(data, "<f8", 6, _LAS_BOX).tolist()
    low, high = (low_x, low_y, low_z), (high_x, high_y, high_z)
    if not all(math.isfinite(v) and abs(v) <= LARGEST for v in (*low, *high)) or any(a > b for a, b in zip(low, high, strict=True)):
        raise FormatError(file, "", "states no bounding box in its header; write it again")
    return Input(low, high, int(np.frombuffer(data, "<u4", 1, _LAS_COUNT)[0]), "")


def _array(data: bytes, file: str) -> NDArray[np.float64]:
    if file.lower().endswith(".npy"):
        try:
            array: Any = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise FormatError(file, "", f"is not an array of numbers ({error})") from None
    else:
        array = next(iter(read_npz(data, file, {"points": (3,)}, 4_000_000_000).values()), None)
    if array is None or array.ndim != 2 or array.shape[1] < 3 or array.dtype.kind not in "fiu":
        raise FormatError(file, "", "holds no array of points, one row of x, y, z each (in an npz: called points)")
    return _finite(array[:, :3].astype(np.float64), file)


def _text(data: bytes, file: str) -> NDArray[np.float64]:
    """The first three numbers of every line; a first line of words, a number of points, and lines after # or // are passed over."""
    found = [np.zeros((0, 3))]
    for block in text_blocks(data, file) if data.strip() else ():
        width = int(block.words.max())
        values = numbers(block.text) if width >= 3 and set(block.words.tolist()) <= {0, width} else None
        if values is not None and len(values) == block.words.sum():  # as many numbers in every line
            found.append(values.reshape(-1, width)[:, :3])
        else:
            found.append(_line_by_line(block, file))
    return _finite(np.concatenate(found), file)


def _line_by_line(block: Block, file: str) -> NDArray[np.float64]:
    rows: list[list[float]] = []
    for number, line in enumerate(block.split(), block.first):
        words = line.replace(b";", b" ").split()
        if len(words) >= 3 and all(_WITH_COMMA.fullmatch(word) for word in words[:3]) and b"," in b"".join(words[:3]):
            raise FormatError(file, f"line {number}", "has commas within its numbers; write decimals with a point, such as 0.5")
        words = line.replace(b",", b" ").replace(b";", b" ").split()
        if len(words) < 3 or words[0].startswith((b"#", b"//")):
            continue
        values = numbers(b" ".join(words[:3]))
        if values is not None and len(values) == 3:
            rows.append(values.tolist())
        elif number > 1:
            raise FormatError(file, f"line {number}", f"{number_fault(words[0])}; each line begins with x, y and z")
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _finite(points: NDArray[np.float64], file: str) -> NDArray[np.float64]:
    if not np.isfinite(points).all() or (np.abs(points) > LARGEST).any():
        raise FormatError(file, "", f"holds coordinates that are not numbers, or beyond ±{LARGEST:.0e}")
    return points
