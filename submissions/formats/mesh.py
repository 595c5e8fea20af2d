"""Mesh files: which reader a name asks for, and the forms meshes are written and stored in."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import MAX_COORDINATE, Mesh
from submissions.formats.errors import FormatError, size_text
from submissions.formats.families import MESH
from submissions.formats.gltf import read_gltf
from submissions.formats.mesh_obj import Companions, read_mesh_obj, write_obj
from submissions.formats.npz import read_npz
from submissions.formats.npz import write_npz as write_arrays
from submissions.formats.off import read_off
from submissions.formats.package import Package, open_package
from submissions.formats.ply import read_ply, write_ply
from submissions.formats.stl import read_stl

__all__ = [
    "MAX_COORDINATE",
    "FormatError",
    "Mesh",
    "beside",
    "file_limit",
    "load_folder",
    "pack",
    "read_mesh",
    "unpack",
    "write_obj",
    "write_ply",
]

SUFFIXES = MESH.suffixes
MAX_VERTICES, MAX_FACES = MESH.most
MAX_MTL_BYTES = 1_000_000
_MAX_ARTIFACT_BYTES = 4_000_000_000
_ARTIFACT = ("ids", "vertex_counts", "face_counts", "vertices", "faces", "coloured", "face_colours")


def file_limit(max_vertices: int, max_faces: int) -> int:
    """The most bytes a file with one mesh of that size is given; generous for text, and for textures in a ``.glb``."""
    return 16_000_000 + 200 * max_vertices + 350 * max_faces


def read_mesh(
    data: bytes,
    name: str,
    max_vertices: int = MAX_VERTICES,
    max_faces: int = MAX_FACES,
    companions: Companions | None = None,
) -> Mesh:
    """Reads one mesh in the format that the suffix of ``name`` says; polygons become triangles.

    ``companions`` gives the content of a file that stands beside it, or None: an OBJ's colours are in its ``.mtl``.
    Raises ``FormatError`` with every fault found (the first twenty described): not the format, larger than allowed,
    a coordinate that is not finite or beyond ±1e7, a face with a vertex that is not there.
    """
    kind = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise FormatError(name, "", f"is none of the mesh formats {', '.join(SUFFIXES)}")
    most = file_limit(max_vertices, max_faces)
    if len(data) > most:
        raise FormatError(name, "", f"is {size_text(len(data))}, at most {size_text(most)} are taken for this sample")
    max_vertices, max_faces = min(max_vertices, MAX_VERTICES), min(max_faces, MAX_FACES)
    if kind == "obj":
        return read_mesh_obj(data, name, max_vertices, max_faces, companions)
    reader = {"glb": read_gltf, "ply": read_ply, "stl": read_stl, "off": read_off}[kind]
    return reader(data, name, max_vertices, max_faces)


def beside(package: Package, name: str) -> Companions:
    """Companions of the file ``name`` of a package: material libraries in its own folder or below it."""
    folder = PurePosixPath(name).parent
    there = {file.name: file.size for file in package.files}

    def content(companion: str) -> bytes | None:
        path = str(folder / companion.replace("\\", "/"))
        if not path.lower().endswith(".mtl") or there.get(path, MAX_MTL_BYTES + 1) > MAX_MTL_BYTES:
            return None
        return package.read(path, MAX_MTL_BYTES)

    return content


def load_folder(path: Path) -> dict[str, Mesh]:
    """All meshes of a folder, zip archive or single file, by file name without suffix, in the order of names.

    For references and for scoring at home; files of other kinds are passed over. Raises ``FormatError``.
    """
    found: dict[str, Mesh] = {}
    with open_package(path) as package:
        for file in package.files:
            name = PurePosixPath(file.name)
            if name.suffix.lower() not in SUFFIXES:
                continue
            if name.stem in found:
                raise FormatError(file.name, "", f"gives {name.stem}, which another file gives too")
            limit = file_limit(MAX_VERTICES, MAX_FACES)
            found[name.stem] = read_mesh(package.read(file.name, limit), file.name, companions=beside(package, file.name))
    return dict(sorted(found.items()))


def pack(items: Mapping[str, Mesh]) -> bytes:
    """Many meshes as one NPZ, float64 kept bit for bit: the form in which a validated entry is stored."""
    meshes = list(items.values())
    colours = [item.face_colours for item in meshes if item.face_colours is not None]
    return write_arrays(
        {
            "ids": np.frombuffer("\n".join(items).encode(), np.uint8),
            "vertex_counts": np.array([len(item.vertices) for item in meshes], np.int64),
            "face_counts": np.array([len(item.faces) for item in meshes], np.int64),
            "vertices": np.concatenate([np.zeros((0, 3)), *(item.vertices for item in meshes)]),
            # Rows of at most two million fit 32 bits, at half the size.
            "faces": np.concatenate([np.zeros((0, 3), np.int32), *(item.faces.astype(np.int32) for item in meshes)]),
            "coloured": np.array([item.face_colours is not None for item in meshes], np.uint8),
            "face_colours": np.concatenate([np.zeros((0, 3), np.uint8), *colours]),
        }
    )


def unpack(data: bytes) -> dict[str, Mesh]:
    """The meshes that ``pack`` stored, in the same order. Raises ``FormatError`` where ``data`` is not that."""
    arrays = read_npz(data, "artifact", _ARTIFACT, _MAX_ARTIFACT_BYTES)
    missing = [name for name in _ARTIFACT if name not in arrays]
    if missing:
        raise FormatError("artifact", missing[0], "is missing; this is not a stored set of meshes")
    text = arrays["ids"].tobytes().decode()
    ids = text.split("\n") if text else []
    coloured = arrays["coloured"].astype(bool)
    vertices = _split(arrays["vertices"], arrays["vertex_counts"])
    faces = _split(arrays["faces"].astype(np.int64), arrays["face_counts"])
    colours = _split(arrays["face_colours"], np.where(coloured, arrays["face_counts"], 0))
    if not len(ids) == len(coloured) == len(vertices) == len(faces):
        raise FormatError("artifact", "", "has lists of different lengths; this is not a stored set of meshes")
    return {name: Mesh(vertices[n], faces[n], colours[n] if coloured[n] else None) for n, name in enumerate(ids)}


def _split(values: NDArray[Any], counts: NDArray[Any]) -> list[NDArray[Any]]:
    """``values`` cut into pieces of the given lengths, each a copy of its own that can be written to."""
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    if ends[-1] != len(values) or (counts < 0).any():
        raise FormatError("artifact", "", "has counts that do not fit; this is not a stored set of meshes")
    return [values[start:end].copy() for start, end in pairwise(ends)]
