"""S23DR's submission file: one row per sample with ``order_id`` or ``sample_id``, ``wf_vertices`` and ``wf_edges``."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from submissions.formats.arrays import Wireframe, counted_from_zero, scores, table, wireframe
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
    max_rows = _MAX_ROWS if limits is None else 2 * len(limits) + 100
    allowed = _MAX_VALUES if limits is None else 100_000 + sum(8 * (v + e) for v, e in limits.values())
    max_values = min(_MAX_VALUES, allowed)
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
        fault, sample = "", ""
        if type(row) is not dict:
            fault = "must be an object with order_id, wf_vertices and wf_edges"
        else:
            given = next((row[column] for column in ID_COLUMNS if row.get(column) is not None), None)
            if type(given) not in (int, str):
                fault = f"has no {ID_COLUMNS[0]} or {ID_COLUMNS[1]}"
            else:
                sample = str(given)
                fault = "" if ITEM_ID.fullmatch(sample) else "has an id that no item can have"
        if not fault and sample in found:
            fault = "occurs in an earlier row too; give each item once"
        if not fault and limits is not None and sample not in limits:
            fault = "is not an item of this phase"
        if fault:
            findings.add(f"row {number}{f' ({excerpt(sample)})' if sample else ''}", fault)
            continue
        most = WIREFRAME.most if limits is None else limits[sample]
        where = f"row {number} ({sample})"
        found[sample] = None
        absent = [column for column in _NUMBERS[:2] if row.get(column) is None]
        if absent:
            findings.add(where, f"has no {absent[0]}")
            continue
        vertices = table(row["wf_vertices"], 3, "wf_vertices", most[0], where, findings)
        edges = table(row["wf_edges"], 2, "wf_edges", most[1], where, findings)
        edge_score = None if row.get("edge_score") is None else scores(row["edge_score"], where, findings)
        if vertices is not None and edges is not None:
            found[sample] = wireframe(vertices, edges, edge_score, counted_from_zero(f"{where} wf_"), findings, remarks)
    return found, findings
