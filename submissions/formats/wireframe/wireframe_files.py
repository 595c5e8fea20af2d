"""Wireframe files: the reader for each suffix, and the forms in which wireframes are written and stored."""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from submissions.formats import artifact
from submissions.formats.archive import open_package
from submissions.formats.arrays import EDGES, MAX_COORDINATE, Wireframe, counted_from_zero, wireframe, wireframe_of
from submissions.formats.errors import Findings, FormatError, Remarks, size_text
from submissions.formats.npz import read_npz
from submissions.formats.npz import write_npz as write_arrays
from submissions.formats.text import parse_json
from submissions.formats.wireframe.obj import read_obj, write_obj
from submissions.formats.wireframe.s23dr import read_s23dr
from submissions.kinds import WIREFRAME

ELEMENTS = EDGES

__all__ = [
    "MAX_COORDINATE",
    "FormatError",
    "Wireframe",
    "file_limit",
    "load_folder",
    "pack",
    "read_s23dr",
    "read_wireframe",
    "stored_extents",
    "unpack",
    "write_json",
    "write_npz",
    "write_obj",
]

SUFFIXES = WIREFRAME.suffixes
MAX_VERTICES, MAX_EDGES = WIREFRAME.most


def file_limit(max_vertices: int, max_edges: int) -> int:
    """The most bytes a file with one wireframe of that size is given; generous for text with indentation."""
    return 1_000_000 + 400 * max_vertices + 200 * max_edges


def read_wireframe(
    data: bytes, name: str, max_vertices: int = MAX_VERTICES, max_edges: int = MAX_EDGES, remarks: Remarks | None = None
) -> Wireframe:
    """Reads one wireframe in the format that the suffix of ``name`` says.

    Raises ``FormatError`` with every fault found (the first twenty described): not the format, larger than allowed,
    a coordinate that is not finite or beyond ±1e7, an edge to a vertex that is not there.
    """
    kind = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise FormatError(name, "", f"is not a wireframe format ({', '.join(SUFFIXES)})")
    most = file_limit(max_vertices, max_edges)
    if len(data) > most:
        raise FormatError(name, "", f"is {size_text(len(data))}, at most {size_text(most)} are taken for this item")
    max_vertices, max_edges = min(max_vertices, MAX_VERTICES), min(max_edges, MAX_EDGES)
    reader = {"json": _read_json, "obj": read_obj, "npz": _read_npz}[kind]
    return reader(data, name, max_vertices, max_edges, remarks)


def _read_json(data: bytes, name: str, max_vertices: int, max_edges: int, remarks: Remarks | None = None) -> Wireframe:
    record = parse_json(data, name, max_values=100_000 + 8 * (max_vertices + max_edges))
    findings = Findings(name)
    # Tables of wireframes call them so, and so do files that were made from their rows.
    prefix = "wf_" if type(record) is dict and {"wf_vertices", "wf_edges"} <= record.keys() else ""
    if type(record) is not dict or not {f"{prefix}vertices", f"{prefix}edges"} <= record.keys():
        raise FormatError(name, "", 'must be an object with "vertices" and "edges"')
    found = wireframe_of(record, prefix, (max_vertices, max_edges), "", findings, remarks)
    findings.raise_if_any()
    assert found is not None
    return found


def _read_npz(data: bytes, name: str, max_vertices: int, max_edges: int, remarks: Remarks | None = None) -> Wireframe:
    most = max(24 * max_vertices, 16 * max_edges)
    arrays = read_npz(data, name, {"vertices": (3,), "edges": (2,), "edge_score": ()}, most)
    findings = Findings(name)
    for label, max_rows in (("vertices", max_vertices), ("edges", max_edges)):
        if label not in arrays:
            findings.add("", f'has no array "{label}"')
        elif len(arrays[label]) > max_rows:
            findings.add(label, f"has {len(arrays[label])} rows, at most {max_rows} are taken for this item")
    findings.raise_if_any()
    found = wireframe(arrays["vertices"], arrays["edges"], arrays.get("edge_score"), counted_from_zero(), findings, remarks)
    findings.raise_if_any()
    assert found is not None
    return found


def write_json(frame: Wireframe) -> bytes:
    """One line of JSON text; every number reads back bit for bit, because Python writes the shortest text that does."""
    record = {"vertices": frame.vertices.tolist(), "edges": frame.edges.tolist()}
    if frame.edge_score is not None:
        record["edge_score"] = frame.edge_score.tolist()
    return json.dumps(record, allow_nan=False).encode() + b"\n"


def write_npz(frame: Wireframe) -> bytes:
    """NPZ with the arrays ``vertices``, ``edges`` and, where there are scores, ``edge_score``."""
    arrays: dict[str, NDArray[Any]] = {"vertices": frame.vertices, "edges": frame.edges}
    if frame.edge_score is not None:
        arrays["edge_score"] = frame.edge_score
    return write_arrays(arrays)


def load_folder(path: Path, remarks: Remarks | None = None) -> dict[str, Wireframe]:
    """All wireframes of a folder, zip archive or single file, by file name without suffix, in the order of names.

    For references and for scoring at home; files of other kinds are passed over. Raises ``FormatError``.
    """
    found: dict[str, Wireframe] = {}
    with open_package(path) as package:
        for file in package.files:
            name = PurePosixPath(file.name)
            if name.name in ("submission.json", "submission.parquet") or name.suffix == ".parquet":
                rows = read_s23dr(package.read(file.name), file.name)
            elif name.suffix.lower() in SUFFIXES:
                limit = file_limit(MAX_VERTICES, MAX_EDGES)
                rows = {name.stem: read_wireframe(package.read(file.name, limit), file.name, remarks=remarks)}
            else:
                continue
            twice = found.keys() & rows.keys()
            if twice:
                raise FormatError(file.name, "", f"gives {min(twice)}, which another file gives too")
            found |= rows
    return dict(sorted(found.items()))


def pack(items: Mapping[str, Wireframe]) -> bytes:
    """Many wireframes as one NPZ, float64 kept bit for bit: the form in which a validated entry is stored."""
    frames = list(items.values())
    scored = [frame.edge_score for frame in frames if frame.edge_score is not None]
    return write_arrays(
        {
            "ids": artifact.id_bytes(items),
            "vertex_counts": artifact.counts(frame.vertices for frame in frames),
            "edge_counts": artifact.counts(frame.edges for frame in frames),
            "vertices": artifact.rows((3,), np.float64, (frame.vertices for frame in frames)),
            "edges": artifact.rows((2,), np.int64, (frame.edges for frame in frames)),
            "scored": np.array([frame.edge_score is not None for frame in frames], np.uint8),
            "edge_score": artifact.rows((), np.float64, scored),
        }
    )


def unpack(data: bytes) -> dict[str, Wireframe]:
    """The wireframes that ``pack`` stored, in the same order. Raises ``FormatError`` where ``data`` is not that."""
    rows = {"vertices": (3,), "edges": (2,), "edge_score": ()}
    stored = artifact.Stored.read(data, ("vertex_counts", "edge_counts", "scored"), rows, "wireframes")
    scored, edge_counts = stored.flags("scored"), stored.arrays["edge_counts"]
    vertices = stored.split("vertices", stored.arrays["vertex_counts"])
    edges = stored.split("edges", edge_counts)
    edge_scores = stored.split("edge_score", np.where(scored, edge_counts, 0))
    return {name: Wireframe(vertices[n], edges[n], edge_scores[n] if scored[n] else None) for n, name in enumerate(stored.ids)}


def stored_extents(source: BinaryIO) -> dict[str, artifact.Extent]:
    """The number of edges of each stored wireframe; neither corners nor edges are read. Raises ``FormatError``."""
    stored = artifact.Stored.read(source, ("edge_counts",), {}, "wireframes")
    return {name: artifact.Extent(n) for name, n in zip(stored.ids, stored.arrays["edge_counts"].tolist(), strict=True)}
