"""Meshes in glTF 2: ``.glb``, and ``.gltf`` with its data inside. All that a file says of places is checked before use.

What is read is the geometry of the scene, in the scene's own coordinates: nodes with their transforms; triangles,
strips and fans; plain, indexed, sparse and quantised. Base colours are kept for the 3D view; images are never decoded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings
from submissions.formats.gltf_accessor import read, row_count
from submissions.formats.gltf_document import Document, open_document
from submissions.formats.polygons import PLAIN, from_corners, srgb

MAX_DEPTH = 64
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_MODES = {0: "points", 1: "lines", 2: "a loop of lines", 3: "a strip of lines"}


@dataclass(frozen=True)
class _Instance:
    """A primitive as it stands in the scene."""

    primitive: dict[str, Any]
    where: str
    transform: NDArray[np.float64] | None  # [4, 4], or None for none at all
    n_vertices: int
    n_corners: int
    mode: int

    @property
    def n_faces(self) -> int:
        return self.n_corners // 3 if self.mode == _TRIANGLES else max(0, self.n_corners - 2)


def read_gltf(data: bytes, file: str, max_vertices: int, max_faces: int) -> Mesh:
    """Reads all triangles of the default scene; raises ``FormatError`` naming the element of the file at fault."""
    document = open_document(data, file)
    found = _instances(document, max_vertices, max_faces)
    starts = np.cumsum([0, *(instance.n_vertices for instance in found)])
    face_starts = np.cumsum([0, *(instance.n_faces for instance in found)])
    vertices = np.zeros((int(starts[-1]), 3))
    faces = np.zeros((int(face_starts[-1]), 3), np.int64)
    colours = np.full((len(faces), 3), PLAIN, np.uint8)
    coloured = False
    for n, instance in enumerate(found):
        points, corners = _geometry(document, instance)
        own = _colours(document, instance, corners)
        vertices[starts[n] : starts[n + 1]] = points
        faces[face_starts[n] : face_starts[n + 1]] = corners + starts[n]
        if own is not None:
            coloured = True
            colours[face_starts[n] : face_starts[n + 1]] = own

    def place(n: int) -> str:
        at = int(np.searchsorted(starts, n, "right")) - 1
        return f"{found[at].where} vertex {n - starts[at]}"

    return mesh(vertices, faces, colours if coloured else None, Naming(place, str, str, element="face"), Findings(file))


# --- the scene


def _instances(document: Document, max_vertices: int, max_faces: int) -> list[_Instance]:
    """All primitives of the scene, once the sum of their sizes is known to be within the limits."""
    found: list[_Instance] = []
    n_vertices = n_faces = 0
    for mesh_index, transform, where in _placed_meshes(document):
        entry = document.one("meshes", mesh_index, where)
        for n, primitive in enumerate(document.objects(entry, "primitives", f"meshes[{mesh_index}]")):
            instance = _instance(document, primitive, f"meshes[{mesh_index}].primitives[{n}]", transform, max_vertices, max_faces)
            n_vertices, n_faces = n_vertices + instance.n_vertices, n_faces + instance.n_faces
            for count, most, what in ((n_vertices, max_vertices, "vertices"), (n_faces, max_faces, "triangles")):
                if count > most:
                    raise document.fault("", f"has {count} {what} or more in its scene, at most {most} are taken for this sample")
            found.append(instance)
    return found


def _placed_meshes(document: Document) -> Iterator[tuple[Any, NDArray[np.float64] | None, str]]:
    """The meshes of the scene with their transforms and the nodes they hang on; every node once, none too deep."""
    if not document.count("nodes"):
        yield from ((n, None, f"meshes[{n}]") for n in range(document.count("meshes")))
        return
    seen: set[int] = set()
    stack: list[tuple[Any, NDArray[np.float64] | None, int, str]] = [(root, None, 0, where) for root, where in reversed(_roots(document))]
    while stack:
        index, above, depth, where = stack.pop()
        node = document.one("nodes", index, where)
        where = f"nodes[{index}]"
        if index in seen:
            raise document.fault(where, "is a child twice or of itself; every node must have one parent")
        if depth > MAX_DEPTH:
            raise document.fault(where, f"lies more than {MAX_DEPTH} nodes deep")
        seen.add(index)
        transform = _combined(above, _local(document, node, where))
        if "skin" in node:
            raise document.fault(where, "is moved by a skeleton (skin); export the mesh in its final pose")
        if "EXT_mesh_gpu_instancing" in document.object(node, "extensions", where):
            raise document.fault(where, "is repeated by EXT_mesh_gpu_instancing; export plain nodes")
        if "mesh" in node:
            yield node["mesh"], transform, where
        children = node.get("children", [])
        if type(children) is not list:
            raise document.fault(where, 'must have a list as "children"')
        stack += [(child, transform, depth + 1, where) for child in reversed(children)]


def _roots(document: Document) -> list[tuple[Any, str]]:
    """The nodes of the default scene; without any scene, those that are no other node's child."""
    if document.count("scenes"):
        index = document.tree.get("scene", 0)
        roots = document.one("scenes", index, "scene").get("nodes", [])
        if type(roots) is not list:
            raise document.fault(f"scenes[{index}]", 'must have a list as "nodes"')
        return [(root, f"scenes[{index}]") for root in roots]
    nodes = [document.one("nodes", n, "nodes") for n in range(document.count("nodes"))]
    lists = [node.get("children") for node in nodes]
    children = {child for entries in lists if type(entries) is list for child in entries if type(child) is int}
    roots = [n for n in range(len(nodes)) if n not in children]
    if not roots:
        raise document.fault("nodes", "are all children of each other; every node must have one parent")
    return [(root, "nodes") for root in roots]


def _local(document: Document, node: dict[str, Any], where: str) -> NDArray[np.float64] | None:
    """A node's own transform, from its matrix (by columns) or its translation, rotation and scale; None for none."""
    by_columns = document.floats(node, "matrix", 16, where)
    if by_columns is not None:
        return np.array(by_columns).reshape(4, 4).T
    translation = document.floats(node, "translation", 3, where)
    rotation = document.floats(node, "rotation", 4, where)
    scale = document.floats(node, "scale", 3, where)
    if translation is None and rotation is None and scale is None:
        return None
    found = np.eye(4)
    if rotation is not None:
        found[:3, :3] = _rotation(np.array(rotation))
    if scale is not None:
        found[:3, :3] *= np.array(scale)
    if translation is not None:
        found[:3, 3] = translation
    return found


def _rotation(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """A quaternion x, y, z, w as a matrix [3, 3]; it is brought to length 1 first."""
    with np.errstate(all="ignore"):
        x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _combined(above: NDArray[np.float64] | None, own: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    if above is None or own is None:
        return own if above is None else above
    with np.errstate(all="ignore"):
        return above @ own


# --- one primitive


def _instance(
    document: Document,
    primitive: dict[str, Any],
    where: str,
    transform: NDArray[np.float64] | None,
    max_vertices: int,
    max_faces: int,
) -> _Instance:
    """A primitive with its sizes as claimed; what is no plain triangle mesh is refused."""
    mode = document.whole(primitive, "mode", where, _TRIANGLES)
    if mode not in (_TRIANGLES, _STRIP, _FAN):
        raise document.fault(where, f"is {_MODES.get(mode, 'of an unknown mode')}, not triangles; export triangles only")
    if "KHR_draco_mesh_compression" in document.object(primitive, "extensions", where):
        raise document.fault(where, "is compressed with Draco; export it without compression")
    if document.objects(primitive, "targets", where):
        raise document.fault(where, "has morph targets; export the mesh in its final shape")
    positions = document.object(primitive, "attributes", where).get("POSITION")
    if positions is None:
        raise document.fault(where, "has no POSITION; export the mesh with its vertices")
    n_vertices = row_count(document, positions, where, max_vertices, "vertices")
    n_corners = n_vertices
    if "indices" in primitive:
        n_corners = row_count(document, primitive["indices"], where, 3 * max_faces + 2, "corners")
    if mode == _TRIANGLES and n_corners % 3:
        raise document.fault(where, f"has {n_corners} corners, which is no number of whole triangles")
    return _Instance(primitive, where, transform, n_vertices, n_corners, mode)


def _geometry(document: Document, instance: _Instance) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points in the scene's coordinates and faces as rows of them, all within range."""
    primitive, where = instance.primitive, instance.where
    with np.errstate(invalid="ignore"):  # of what is no number, which is refused where points are checked
        points = read(document, primitive["attributes"]["POSITION"], where, ("VEC3",)).astype(np.float64)
    corners = np.arange(instance.n_corners)
    if "indices" in primitive:
        corners = _indices(document, primitive["indices"], where, len(points))
    faces = _triangles(corners, instance.mode)
    if instance.transform is None:
        return points, faces
    turn, move = instance.transform[:3, :3], instance.transform[:3, 3]
    with np.errstate(all="ignore"):
        points = points @ turn.T + move
        mirrored = np.linalg.det(turn) < 0
    # A mirrored mesh would show its inside.
    return points, faces[:, ::-1] if mirrored else faces


def _indices(document: Document, index: Any, where: str, n_vertices: int) -> NDArray[np.int64]:
    rows = read(document, index, where, ("SCALAR",))
    if rows.dtype.kind != "u":
        raise document.fault(f"accessors[{index}]", "must hold whole numbers of at least 0, as it is a list of vertices")
    corners = rows[:, 0].astype(np.int64)
    outside = np.flatnonzero(corners >= n_vertices)
    if len(outside):
        said = f"names vertex {corners[outside[0]]}, there are {n_vertices}, counted from 0"
        raise document.fault(f"{where} corner {outside[0]}", said)
    return corners


def _triangles(corners: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    if mode == _TRIANGLES:
        return corners.reshape(-1, 3)
    if len(corners) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == _FAN:
        return np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    strip = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    strip[1::2] = strip[1::2, [1, 0, 2]]  # every other triangle of a strip runs the other way
    return strip


def _colours(document: Document, instance: _Instance, faces: NDArray[np.int64]) -> NDArray[np.uint8] | None:
    """The base colour of a primitive's material, times its vertex colours; None where it has neither."""
    primitive, where = instance.primitive, instance.where
    factor = None
    if "material" in primitive:
        material = document.one("materials", primitive["material"], where)
        place = f"materials[{primitive['material']}]"
        pbr = document.object(material, "pbrMetallicRoughness", place)
        factor = document.floats(pbr, "baseColorFactor", 4, place)
    colour = document.object(primitive, "attributes", where).get("COLOR_0")
    if colour is None:
        return None if factor is None else np.broadcast_to(srgb(np.array(factor[:3])), (len(faces), 3))
    if row_count(document, colour, where, instance.n_vertices, "colours") != instance.n_vertices:
        raise document.fault(where, "has fewer colours than vertices")
    linear = read(document, colour, where, ("VEC3", "VEC4"))[:, :3].astype(np.float64)
    return from_corners(srgb(linear * np.array((factor or [1, 1, 1])[:3])), faces)
