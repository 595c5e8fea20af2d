"""Mesh files: the reader for each suffix, and the forms in which meshes are written and stored."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np

from submissions.formats import artifact
from submissions.formats.archive import Package, open_package
from submissions.formats.arrays import FACES, MAX_COORDINATE, Mesh
from submissions.formats.errors import FormatError, Remarks, size_text
from submissions.formats.mesh.gltf import read_gltf
from submissions.formats.mesh.obj import Companions, read_mesh_obj, write_obj
from submissions.formats.mesh.off import read_off
from submissions.formats.mesh.ply import read_ply, write_ply
from submissions.formats.mesh.polygons import folded_fans
from submissions.formats.mesh.stl import read_stl
from submissions.formats.npz import write_npz as write_arrays
from submissions.kinds import MESH

ELEMENTS = FACES

__all__ = [
    "MAX_COORDINATE",
    "FormatError",
    "Mesh",
    "beside",
    "file_limit",
    "load_folder",
    "looks_misread",
    "pack",
    "read_mesh",
    "reference_warnings",
    "stored_extents",
    "unpack",
    "write_obj",
    "write_ply",
]

SUFFIXES = MESH.suffixes
MAX_VERTICES, MAX_FACES = MESH.most
MAX_MTL_BYTES = 1_000_000


def file_limit(max_vertices: int, max_faces: int) -> int:
    """The most bytes a file with one mesh of that size is given; generous for text, and for textures in a ``.glb``."""
    return 16_000_000 + 200 * max_vertices + 350 * max_faces


def read_mesh(
    data: bytes,
    name: str,
    max_vertices: int = MAX_VERTICES,
    max_faces: int = MAX_FACES,
    companions: Companions | None = None,
    remarks: Remarks | None = None,
) -> Mesh:
    """Reads one mesh in the format that the suffix of ``name`` says; polygons become triangles.

    ``companions`` gives the content of a file beside it, or None: an OBJ's colours are in its ``.mtl``. ``remarks`` takes
    what is worth knowing of how it was read.
    Raises ``FormatError`` with every fault found (the first twenty described): not the format, larger than allowed,
    a coordinate that is not finite or beyond ±1e7, a face with a vertex that is not there.
    """
    kind = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise FormatError(name, "", f"is not a mesh format ({', '.join(SUFFIXES)})")
    most = file_limit(max_vertices, max_faces)
    if len(data) > most:
        raise FormatError(name, "", f"is {size_text(len(data))}, at most {size_text(most)} are taken for this item")
    max_vertices, max_faces = min(max_vertices, MAX_VERTICES), min(max_faces, MAX_FACES)
    if kind == "obj":
        return read_mesh_obj(data, name, max_vertices, max_faces, companions, remarks)
    if kind == "glb":
        left = most - len(data)

        def buffer(beside: str) -> bytes | None:
            """Files beside it count toward the most bytes that it is given."""
            nonlocal left
            content = companions(beside) if companions and left > 0 else None
            left -= len(content or b"")
            return content if left >= 0 else None

        return read_gltf(data, name, max_vertices, max_faces, remarks, buffer)
    reader = {"ply": read_ply, "off": read_off, "stl": read_stl}[kind]
    return reader(data, name, max_vertices, max_faces, remarks)


def beside(package: Package, name: str) -> Companions:
    """Companions of the file ``name`` of a package: material libraries in its own folder or below it, and buffers of a glTF."""
    folder = PurePosixPath(name).parent
    there = {file.name: file.size for file in package.files}

    def content(companion: str) -> bytes | None:
        path = unicodedata.normalize("NFC", str(folder / companion.replace("\\", "/")))
        most = MAX_MTL_BYTES if path.lower().endswith(".mtl") else MESH.max_file_bytes
        is_buffer = name.lower().endswith((".gltf", ".glb")) and "/" not in companion
        if not (path.lower().endswith(".mtl") or is_buffer) or there.get(path, most + 1) > most:
            return None
        return package.read(path, most)

    return content


def load_folder(path: Path, remarks: Remarks | None = None) -> dict[str, Mesh]:
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
            data = package.read(file.name, limit)
            found[name.stem] = read_mesh(data, file.name, companions=beside(package, file.name), remarks=remarks)
    return dict(sorted(found.items()))


def looks_misread(item: Mesh) -> bool:
    """Return whether the surface folds back on itself, as it does where a concave polygon was cut as a fan."""
    return folded_fans(item.vertices, item.faces) > 0


def reference_warnings(items: Mapping[str, Mesh]) -> list[str]:
    """Sentences about what an organizer may not have meant."""
    folded = [name for name, item in items.items() if looks_misread(item)]
    if not folded:
        return []
    more = f" and {len(folded) - 1} more" if len(folded) > 1 else ""
    return [f"{folded[0]}{more}: triangles lie on top of each other, as where a program has cut a concave polygon wrongly."]


def pack(items: Mapping[str, Mesh]) -> bytes:
    """Many meshes as one NPZ, float64 kept bit for bit: the form in which a validated entry is stored."""
    meshes = list(items.values())
    colours = [item.face_colours for item in meshes if item.face_colours is not None]
    return write_arrays(
        {
            "ids": artifact.id_bytes(items),
            "vertex_counts": artifact.counts(item.vertices for item in meshes),
            "face_counts": artifact.counts(item.faces for item in meshes),
            "vertices": artifact.rows((3,), np.float64, (item.vertices for item in meshes)),
            # Rows of at most two million fit 32 bits, at half the size.
            "faces": artifact.rows((3,), np.int32, (item.faces for item in meshes)),
            "coloured": np.array([item.face_colours is not None for item in meshes], np.uint8),
            "face_colours": artifact.rows((3,), np.uint8, colours),
        }
    )


def unpack(data: bytes) -> dict[str, Mesh]:
    """The meshes that ``pack`` stored, in the same order. Raises ``FormatError`` where ``data`` is not that."""
    rows = {"vertices": (3,), "faces": (3,), "face_colours": (3,)}
    stored = artifact.Stored.read(data, ("vertex_counts", "face_counts", "coloured"), rows, "meshes")
    coloured, face_counts = stored.flags("coloured"), stored.arrays["face_counts"]
    vertices = stored.split("vertices", stored.arrays["vertex_counts"])
    faces = stored.split("faces", face_counts)
    colours = stored.split("face_colours", np.where(coloured, face_counts, 0))
    return {name: Mesh(vertices[n], faces[n].astype(np.int64), colours[n] if coloured[n] else None) for n, name in enumerate(stored.ids)}


def stored_extents(source: BinaryIO) -> dict[str, artifact.Extent]:
    """The number of faces of each stored mesh, and whether it has colours; neither corners nor faces are read. Raises ``FormatError``."""
    stored = artifact.Stored.read(source, ("face_counts", "coloured"), {}, "meshes")
    counts = stored.arrays["face_counts"].tolist()
    return {name: artifact.Extent(*one) for name, *one in zip(stored.ids, counts, stored.flags("coloured").tolist(), strict=True)}
