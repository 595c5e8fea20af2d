"""The 3D view's scene of meshes: reference and prediction, each vertex with its distance to the other. PURE.

The distances are exact, from the vertices that are drawn to the nearest point of the other's whole
surface, however simplified the picture is. Everything is first moved, in float64, so that the
centre of the reference's bounding box is the origin: float32 at projected coordinates is half a
metre.

The file: `MAGIC`, the length of a JSON header (uint32), the header, and arrays, each at a multiple
of four bytes from the end of the header, all little-endian. Per model of the header:

    positions float32 [V, 3]    faces uint32 [F, 3]    sides uint8 [F]
    distances float32 [V]       only where the other mesh has a face
    colours uint8 [F, 3]        only where the file has colours
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.mesh.closest import distances_within
from leaderboard.viewer.mesh_lod import MAX_FACES, reduced, simplify
from submissions.formats.arrays import Mesh

MAGIC = b"PLM1"
SECONDS = 20.0  # for the distances of one mesh; past it they are upper bounds and said to be
VERSION = 1  # of all that is computed here; what is stored carries it
DTYPES = {"float32": "<f4", "uint32": "<u4", "uint8": "u1"}


def scene(reference: Mesh, prediction: Mesh | None, name: str, unit: str = "m", most: int = MAX_FACES) -> bytes:
    """The file for one item: the reference, and the prediction called `name` where there is one."""
    centre, longest = frame(reference)
    sides = [_Side("reference", "reference", reference, centre, most)]
    if prediction is not None:
        sides.append(_Side(name, "prediction", prediction, centre, most))
    models, blobs = [], _Blobs()
    for side in sides:
        other = next((one for one in sides if one is not side and len(one.mesh.faces)), None)
        drawn, colours = side.drawn, side.mesh.face_colours
        arrays = {
            "positions": blobs.add(drawn.vertices, "float32"),
            "faces": blobs.add(drawn.faces, "uint32"),
            "sides": blobs.add(drawn.sides, "uint8"),
        }
        exact = True
        if other is not None:
            distances, exact = distances_within(drawn.vertices, other.vertices, other.mesh.faces, SECONDS)
            arrays["distances"] = blobs.add(distances, "float32")
        if colours is not None:
            arrays["colours"] = blobs.add(colours[drawn.source], "uint8")
        models.append(
            {
                "name": side.name,
                "role": side.role,
                "vertices": len(side.mesh.vertices),
                "faces": len(side.mesh.faces),
                "simplified": drawn.simplified,
                "exact": exact,
                "arrays": arrays,
            }
        )
    return blobs.file({"version": VERSION, "unit": unit, "origin": centre.tolist(), "longest_side": longest, "models": models})


def single(mesh: Mesh, centre: NDArray[np.float64]) -> bytes:
    """The file of one mesh alone, `centre` subtracted, that says nothing of where it comes from: no name, no origin, and
    vertices and faces in an order of their own. Faces keep their corners' turn; where there are more than `MAX_FACES`, they are simplified.
    """
    vertices, faces, source = mesh.vertices - centre, mesh.faces, np.arange(len(mesh.faces))
    if len(faces) > MAX_FACES:
        vertices, faces, source = simplify(vertices, faces, MAX_FACES)
    used = np.unique(faces)
    placed = vertices[used].astype(np.float32)
    order = np.lexsort(placed.T[::-1])
    name = np.zeros(len(vertices), dtype=np.int64)
    name[used[order]] = np.arange(len(used))
    faces = name[faces]
    first = faces.argmin(axis=1) if len(faces) else np.zeros(0, dtype=np.int64)
    faces = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    turn = np.lexsort(faces.T[::-1])
    blobs = _Blobs()
    arrays = {
        "positions": blobs.add(placed[order], "float32"),
        "faces": blobs.add(faces[turn], "uint32"),
        "sides": blobs.add(np.full(len(faces), 7, dtype=np.uint8), "uint8"),
    }
    if mesh.face_colours is not None:
        arrays["colours"] = blobs.add(mesh.face_colours[source[turn]], "uint8")
    return blobs.file(
        {"models": [{"vertices": len(placed), "faces": len(faces), "simplified": len(mesh.faces) > MAX_FACES, "arrays": arrays}]}
    )


class _Side:
    """One mesh in the common frame, and as it is drawn."""

    def __init__(self, name: str, role: str, mesh: Mesh, centre: NDArray[np.float64], most: int) -> None:
        self.name, self.role, self.mesh = name, role, mesh
        self.vertices = mesh.vertices - centre
        self.drawn = reduced(self.vertices, mesh.faces, most)


def frame(reference: Mesh) -> tuple[NDArray[np.float64], float]:
    """Centre and longest side of the bounding box of the vertices that the reference's faces use; without faces, of all its vertices."""
    used = reference.vertices[np.unique(reference.faces)] if len(reference.faces) else reference.vertices
    if not len(used):
        return np.zeros(3), 0.0
    low, high = used.min(axis=0), used.max(axis=0)
    return (low + high) / 2, float((high - low).max())


class _Blobs:
    """Arrays one behind the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, values: NDArray[Any], kind: str) -> dict[str, Any]:
        """Add an array; return its location as the header states it."""
        data = np.ascontiguousarray(values, dtype=DTYPES[kind]).tobytes()
        place = {"type": kind, "at": self.size, "shape": list(values.shape)}
        self.parts += [data, bytes(-len(data) % 4)]
        self.size += len(data) + -len(data) % 4
        return place

    def file(self, header: dict[str, Any]) -> bytes:
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *self.parts])


def unpacked(data: bytes) -> dict[str, Any]:
    """The header of a file with every array in its place, as the browser reads it."""
    if data[:4] != MAGIC:
        raise ValueError("these are no meshes for the 3D view")
    start = 8 + int.from_bytes(data[4:8], "little")
    header = json.loads(data[8:start])
    for model in header["models"]:
        for name, place in model["arrays"].items():
            n = int(np.prod(place["shape"]))
            array = np.frombuffer(data, DTYPES[place["type"]], n, start + place["at"])
            model["arrays"][name] = array.reshape(place["shape"])
    return header
