"""S23DR's submission file: one row per sample with ``order_id`` or ``sample_id``, ``wf_vertices`` and ``wf_edges``."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from submissions.formats.arrays import Wireframe, wireframe_of
from submissions.formats.errors import Findings, FormatError, Remarks, excerpt
from submissions.formats.parquet import read_rows
from submissions.formats.text import parse_json
from submissions.kinds import WIREFRAME
from submissions.manifest import ITEM_ID

ID_COLUMNS = ("order_id", "sample_id", "__key__")
FILE_NAMES = ("submission.json", "submission.parquet")
_NUMBERS = ("wf_vertices", "wf_edges", "edge_score")
_MAX_ROWS = 20_000
# Bounds the memory of Python, about half a gigabyte; a file this full is larger than an upload may be anyway.
_MAX_VALUES = 8_000_000


def read_s23dr(data: bytes, name: str) -> dict[str, Wireframe]:
    """Reads ``submission.json`` or ``submission.parquet`` (by suffix) into wireframes by sample id, in file order.

    Any samples may occur, within the general limits. Raises ``FormatError`` with every fault found.
    """
    found, findings = judge_s23dr(data, name, None)
    findings.raise_if_any()
    return {sample: frame for sample, frame in found.items() if frame is not None}


def judge_s23dr(
    data: bytes, name: str, limits: Mapping[str, tuple[int, int]] | None, remarks: Remarks | None = None
) -> tuple[dict[str, Wireframe | None], Findings]:
    """The wireframe of each sample that has a row, None where its row is faulty, and the faults by row and sample. ``remarks`` take what is
    worth knowing of the rest.

    ``limits`` gives the most vertices and edges of each sample that may occur; None lets any occur. Raises
    ``FormatError`` where the file as a whole cannot be read.
    """
    max_rows, max_values = _MAX_ROWS, _MAX_VALUES
    if limits is not None:
        max_rows = 2 * len(limits) + 100
        max_values = min(_MAX_VALUES, 100_000 + sum(8 * (v + e) for v, e in limits.values()))
    rows: Iterable[Any]
    if PurePosixPath(name).suffix.lower() == ".parquet":
        rows = read_rows(data, name, ID_COLUMNS, _NUMBERS, max_rows, max_values)
    else:
        rows = parse_json(data, name, max_values)
        if type(rows) is not list:
            raise FormatError(name, "", "must be a list with one object per item")
    findings = Findings(name)
    found: dict[str, Wireframe | None] = {}
    for number, row in enumerate(rows, 1):
        sample, fault = _sample_of(row, found, limits)
        if fault:
            findings.add(f"row {number}{f' ({excerpt(sample)})' if sample else ''}", fault)
            continue
        where = f"row {number} ({sample})"
        found[sample] = None
        absent = [column for column in _NUMBERS[:2] if row.get(column) is None]
        if absent:
            findings.add(where, f"has no {absent[0]}")
            continue
        most = WIREFRAME.most if limits is None else limits[sample]
        found[sample] = wireframe_of(row, "wf_", most, where, findings, remarks)
    return found, findings


def _sample_of(row: Any, earlier: Collection[str], wanted: Collection[str] | None) -> tuple[str, str]:
    """The id that a row gives, and what is wrong with the row or with its id; both may be empty."""
    if type(row) is not dict:
        return "", "must be an object with order_id, wf_vertices and wf_edges"
    given = next((row[column] for column in ID_COLUMNS if row.get(column) is not None), None)
    if type(given) not in (int, str):
        return "", f"has no {ID_COLUMNS[0]} or {ID_COLUMNS[1]}"
    sample = str(given)
    if not ITEM_ID.fullmatch(sample):
        return sample, "has an id that no item can have"
    if sample in earlier:
        return sample, "occurs in an earlier row too; give each item once"
    return sample, "" if wanted is None or sample in wanted else "is not an item of this phase"
