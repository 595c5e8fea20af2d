"""The arrays of a wireframe or a mesh, checked: shapes, finite numbers, ranges and indices. Each fault names its element."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings, Remarks, excerpt

MAX_COORDINATE = 1e7
SELF_EDGES = "Edges join a corner to itself, so they have no length"


@dataclass(frozen=True, eq=False)
class Wireframe:
    """Corners and the straight edges between them.

    ``vertices``: float64 [V, 3], finite, each within ±1e7, in the file's own unit. ``edges``: int64 [E, 2], 0-based
    rows of ``vertices``; self-loops and repeats are kept. ``edge_score``: float64 [E] confidences, or None.
    """

    vertices: NDArray[np.float64]
    edges: NDArray[np.int64]
    edge_score: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh.

    ``vertices``: float64 [V, 3], finite, each within ±1e7, in the file's own unit. ``faces``: int64 [F, 3], 0-based
    rows of ``vertices``; degenerate and repeated faces are kept. ``face_colours``: uint8 [F, 3] sRGB base colours
    from the file's materials or vertex colours, for the 3D view only, or None.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    face_colours: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Naming:
    """Names that one format uses for its elements: places of vertices, edges or faces, and scores, and the number that it counts from."""

    vertex: Callable[[int], str]
    edge: Callable[[int], str]
    score: Callable[[int], str]
    base: int = 0
    element: str = "edge"


def counted_from_zero(prefix: str = "") -> Naming:
    """The naming of JSON, NPZ and tables: ``vertices[3]``, ``edges[12]``."""

    def place(label: str) -> Callable[[int], str]:
        return lambda n: f"{prefix}{label}[{n}]"

    return Naming(place("vertices"), place("edges"), place("edge_score"))


def wireframe_of(
    record: Mapping[str, Any], prefix: str, most: tuple[int, int], where: str, findings: Findings, remarks: Remarks | None = None
) -> Wireframe | None:
    """The wireframe in an object of JSON or a row of a table, with ``prefix`` before the names of its vertices and edges; None, with
    findings, where it is faulty."""
    vertices = table(record[f"{prefix}vertices"], 3, f"{prefix}vertices", most[0], where, findings)
    edges = table(record[f"{prefix}edges"], 2, f"{prefix}edges", most[1], where, findings)
    edge_score, given = None, record.get("edge_score")
    if given is not None:
        if type(given) is list and set(map(type, given)) <= {int, float}:
            edge_score = np.array(given, dtype=np.float64)
        else:
            findings.add(where, '"edge_score" must be a list with one number per edge')
    if vertices is None or edges is None:
        return None
    return wireframe(vertices, edges, edge_score, counted_from_zero(f"{where} {prefix}".lstrip()), findings, remarks)


def table(rows: Any, columns: int, label: str, most: int, where: str, findings: Findings) -> NDArray[np.float64] | None:
    """Nested lists as float64 [N, columns]; None, with findings, where they are anything but lists of numbers."""
    if type(rows) is not list:
        findings.add(where, f'"{label}" must be a list of lists of {columns} numbers')
        return None
    if len(rows) > most:
        findings.add(where, f"has {len(rows)} {label}, at most {most} are taken for this item")
        return None
    if set(map(type, rows)) <= {list} and set(map(len, rows)) <= {columns}:
        flat = list(chain.from_iterable(rows))
        if set(map(type, flat)) <= {int, float}:
            return np.array(flat, dtype=np.float64).reshape(-1, columns)
    for number, row in enumerate(rows):
        place = f"{where} {label}[{number}]".lstrip()
        if type(row) is not list or len(row) != columns:
            given = f"a list of {len(row)}" if type(row) is list else _kind(row)
            findings.add(place, f"must be a list of {columns} numbers, not {given}")
        elif wrong := [value for value in row if type(value) not in (int, float)]:
            findings.add(place, f"holds {_kind(wrong[0])} where a number belongs")
        if findings.full:
            break
    return None


def wireframe(
    vertices: NDArray[Any],
    edges: NDArray[Any],
    edge_score: NDArray[Any] | None,
    naming: Naming,
    findings: Findings,
    remarks: Remarks | None = None,
) -> Wireframe | None:
    """Numeric arrays [V, 3], [E, 2] and [E] as a checked wireframe; None, with findings, where one is wrong. A remark names edges that join
    a corner to itself."""
    before = findings.count
    vertices = vertices.astype(np.float64)
    _check_coordinates(vertices, naming, findings)
    _check_indices(edges, len(vertices), naming, findings)
    if edge_score is not None:
        edge_score = edge_score.astype(np.float64)
        if len(edge_score) == len(edges):
            _each(~np.isfinite(edge_score), findings, naming.score, lambda n: "is not finite")
        else:
            place = naming.score(0).rsplit("[", 1)[0]
            findings.add(place, f"has {len(edge_score)} values, there are {len(edges)} edges")
    if findings.count > before:
        return None
    own = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if remarks is not None:
        remarks.add(SELF_EDGES, [f"{findings.file}: {naming.edge(n)}" for n in own[:1].tolist()], len(own))
    return Wireframe(vertices, edges.astype(np.int64), edge_score)


def mesh(
    vertices: NDArray[Any],
    faces: NDArray[Any],
    face_colours: NDArray[np.uint8] | None,
    naming: Naming,
    findings: Findings,
) -> Mesh:
    """Numeric arrays [V, 3], [F, 3] and uint8 [F, 3] as a checked mesh; raises what was found where one is wrong."""
    with np.errstate(invalid="ignore"):  # of a float32 that is no number; it is found below
        vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    _check_coordinates(vertices, naming, findings)
    _check_indices(faces, len(vertices), naming, findings)
    findings.raise_if_any()
    return Mesh(vertices, np.ascontiguousarray(faces, dtype=np.int64), face_colours)


@dataclass(frozen=True)
class Elements:
    """Elements that join the vertices of an item, and the names of both in objects of other programs.

    ``label`` names the array and ``columns`` is the number of vertices that a row joins; ``item`` is the class of items. ``attributes``
    are names of vertices and elements in objects of other programs, tried in this order; an object with one of ``foreign`` is an item of
    another kind. Each element may have a score where ``scored``. Where ``points``, an item may be vertices alone, which ``points`` names in
    objects of other programs. ``make`` checks the arrays, as `wireframe` and `mesh` do.
    """

    label: str
    columns: int
    item: type
    make: Callable[[Any, Any, Any, Naming, Findings], Any]
    attributes: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...] = ()
    scored: bool = False
    points: tuple[str, ...] = ()


# An object with faces has edges too: its triangles' edges. open3d calls a mesh's faces triangles, and a wireframe's corners and edges
# points and lines.
EDGES = Elements("edges", 2, Wireframe, wireframe, (("vertices", "edges"), ("points", "lines")), ("faces", "triangles"), scored=True)
FACES = Elements("faces", 3, Mesh, mesh, (("vertices", "faces"), ("vertices", "triangles")), points=("points", "vertices"))


def _check_coordinates(vertices: NDArray[np.float64], naming: Naming, findings: Findings) -> None:
    # Honest files pass by two reductions; only a file with a fault pays for finding out where.
    if vertices.size and not (vertices.min() >= -MAX_COORDINATE and vertices.max() <= MAX_COORDINATE):
        _each(~np.isfinite(vertices).all(axis=1), findings, naming.vertex, lambda n: "has a coordinate that is not finite")
        with np.errstate(invalid="ignore"):
            large = np.abs(vertices)
        large[~np.isfinite(large)] = 0
        most = large.max(axis=1, initial=0)
        _each(
            most > MAX_COORDINATE,
            findings,
            naming.vertex,
            lambda n: f"has the coordinate {vertices[n][large[n].argmax()]:.6g}, the limit is ±{MAX_COORDINATE:.0f}",
        )


def _check_indices(edges: NDArray[Any], n_vertices: int, naming: Naming, findings: Findings) -> None:
    if edges.dtype.kind in "iu" and (not edges.size or (edges.min() >= 0 and edges.max() < n_vertices)):
        return
    whole = np.ones(edges.shape, dtype=bool)
    if edges.dtype.kind == "f":
        whole = np.isfinite(edges) & (np.floor(np.where(np.isfinite(edges), edges, 0)) == edges)
        _each(
            ~whole.all(axis=1),
            findings,
            naming.edge,
            lambda n: f"{naming.element} names vertex {edges[n][~whole[n]][0]:.6g}, which is not a whole number",
        )
    outside = whole & ((edges < 0) | (edges >= n_vertices))
    from_one = bool(edges.size) and not naming.base and bool(whole.all()) and edges.min() >= 1 and edges.max() == n_vertices
    asks = ". Are your indices 1-based?" if from_one else ""

    def fault(n: int) -> str:
        named = int(edges[n][outside[n]][0]) + naming.base
        counting = "" if naming.base else ", counted from 0"
        return f"{naming.element} names vertex {named}, there are {n_vertices}{counting}{asks}"

    _each(outside.any(axis=1), findings, naming.edge, fault)


def _each(wrong: NDArray[np.bool_] | np.bool_, findings: Findings, place: Callable[[int], str], reason: Callable[[int], str]) -> None:
    """Notes the first faults of a mask one by one and counts the rest."""
    at = np.flatnonzero(wrong)
    for n in at[:MAX_FINDINGS_PER_FILE].tolist():
        findings.add(place(n), reason(n))
    findings.count_more(max(0, len(at) - MAX_FINDINGS_PER_FILE))


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f'the text "{excerpt(value[:40])}"'
    return "an object" if type(value) is dict else "a list" if type(value) is list else f"a {type(value).__name__}"
