"""Meshes in OBJ: ``v`` and ``f`` records, with the colours of the ``.mtl`` file that stands beside it where there is one."""

import codecs
from array import array
from collections.abc import Callable
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings, FormatError
from submissions.formats.lines import note_number_faults, numbers, text_blocks, whole_numbers, word_text
from submissions.formats.obj import IGNORED_RECORDS
from submissions.formats.polygons import PLAIN, bytes_of, fan, from_corners

MAX_MATERIALS = 10_000
Companions = Callable[[str], bytes | None]
_IGNORED = (IGNORED_RECORDS | {b"l"}) - {b"f", b"usemtl", b"mtllib"}


class _Reader:
    """State of one pass over a file: coordinates and corners, and the line that each vertex and polygon came from."""

    def __init__(self, findings: Findings, max_vertices: int, max_faces: int) -> None:
        self.findings, self.max_vertices, self.max_faces = findings, max_vertices, max_faces
        self.vertex_lines, self.face_lines, self.sizes = array("q"), array("q"), array("q")
        self.above = array("q")  # vertices defined above each polygon, for numbers that count backwards
        self.n_triangles = 0
        self.coordinates: list[NDArray[np.float64]] = []
        self.corners: list[NDArray[np.int64]] = []
        self.colour_rows: list[tuple[int, list[bytes]]] = []
        self.materials: list[tuple[int, bytes]] = []
        self.libraries: list[str] = []

    def block(self, first: int, lines: list[bytes]) -> None:
        vertices: list[list[bytes]] = []
        corners: list[bytes] = []
        n_faces, n_vertices = len(self.sizes), len(self.vertex_lines)
        for number, line in enumerate(lines, first):
            words = (line.partition(b"#")[0] if b"#" in line else line).split()
            if not words:
                continue
            record = words[0]
            if record == b"v":
                self._vertex(number, words)
                vertices.append(words[1:4])
            elif record == b"f":
                self._face(number, words)
                corners += words[1:]
            elif record not in _IGNORED:
                self._other(number, words)
            if self.findings.full:
                self.findings.raise_if_any()
        self.coordinates.append(self._numbers(vertices, n_vertices))
        self.corners.append(self._indices(corners, n_faces))

    def _vertex(self, number: int, words: list[bytes]) -> None:
        if len(self.vertex_lines) == self.max_vertices:
            self._too_many(number, "vertices", self.max_vertices)
        # x y z, or with a weight, a colour, or both.
        if len(words) not in (4, 5, 7, 8):
            self.findings.add(f"line {number}", f"vertex has {len(words) - 1} numbers, there must be 3")
            self.findings.raise_if_any()
        if len(words) > 5:
            self.colour_rows.append((len(self.vertex_lines), words[-3:]))
        self.vertex_lines.append(number)

    def _face(self, number: int, words: list[bytes]) -> None:
        if len(words) < 4:
            self.findings.add(f"line {number}", f"face has {len(words) - 1} vertices, there must be 3 or more")
            self.findings.raise_if_any()
        self.n_triangles += len(words) - 3
        if self.n_triangles > self.max_faces:
            self._too_many(number, "triangles", self.max_faces)
        self.sizes.append(len(words) - 1)
        self.face_lines.append(number)
        self.above.append(len(self.vertex_lines))

    def _other(self, number: int, words: list[bytes]) -> None:
        if words[0] == b"usemtl":
            self.materials.append((len(self.sizes), b" ".join(words[1:])))
        elif words[0] == b"mtllib":
            self.libraries.append(b" ".join(words[1:]).decode("utf-8", "replace"))
        else:
            self.findings.add(f"line {number}", f'begins with "{word_text(words[0])}", which is no OBJ record')
        if len(self.materials) > MAX_MATERIALS or len(self.libraries) > MAX_MATERIALS:
            self._too_many(number, "changes of material", MAX_MATERIALS)

    def _numbers(self, rows: list[list[bytes]], before: int) -> NDArray[np.float64]:
        values = numbers(b" ".join([word for row in rows for word in row]))
        if values is None:
            note_number_faults(rows, self.vertex_lines[before:], self.findings)
            self.findings.raise_if_any()
        assert values is not None
        return values.reshape(-1, 3)

    def _indices(self, words: list[bytes], before: int) -> NDArray[np.int64]:
        """Vertex numbers of a block as rows from 0, those that count backwards resolved; faults by line."""
        plain = [word.partition(b"/")[0] for word in words]
        values = whole_numbers(b" ".join(plain))
        lines = np.repeat(np.array(self.face_lines[before:], np.int64), np.array(self.sizes[before:], np.int64))
        if values is None or len(values) != len(words):
            for line, word, number in zip(lines.tolist(), words, plain, strict=True):
                if not number or whole_numbers(number) is None:
                    self.findings.add(f"line {line}", f'"{word_text(word)}" is not a vertex number')
            self.findings.raise_if_any()
        assert values is not None
        wrong = values <= 0
        if wrong.any():
            above = np.repeat(np.array(self.above[before:], np.int64), np.array(self.sizes[before:], np.int64))
            for at in np.flatnonzero((values == 0) | (-values > above))[:20].tolist():
                said = "names vertex 0, the first vertex is 1"
                if values[at]:
                    said = f"names vertex {values[at]}, only {above[at]} are defined above it"
                self.findings.add(f"line {lines[at]}", f"face {said}")
            self.findings.raise_if_any()
            values = np.where(wrong, values + above + 1, values)
        return values - 1

    def _too_many(self, number: int, what: str, most: int) -> None:
        self.findings.add(f"line {number}", f"there are more than {most} {what}, the most for this sample")
        self.findings.raise_if_any()


def read_mesh_obj(data: bytes, file: str, max_vertices: int, max_faces: int, companions: Companions | None = None) -> Mesh:
    """Reads ``v`` and ``f`` records; raises ``FormatError`` naming lines. A polygon is a fan around its first corner.

    ``companions`` gives the content of a file that stands beside this one by its name, or None; only ``.mtl`` files
    are asked for, and only their diffuse colours are read.
    """
    findings = Findings(file)
    reader = _Reader(findings, max_vertices, max_faces)
    for first, lines in text_blocks(data, file):
        reader.block(first, lines)
    vertices = np.concatenate([np.zeros((0, 3)), *reader.coordinates])
    sizes = np.array(reader.sizes, np.int64)
    faces, polygon = fan(np.concatenate([np.zeros(0, np.int64), *reader.corners]), sizes)
    naming = Naming(
        vertex=lambda n: f"line {reader.vertex_lines[n]}",
        edge=lambda n: f"line {reader.face_lines[polygon[n]]}",
        score=lambda n: "",
        base=1,
        element="face",
    )
    found = mesh(vertices, faces, None, naming, findings)
    return Mesh(found.vertices, found.faces, _colours(reader, found.faces, polygon, companions))


def write_obj(item: Mesh) -> bytes:
    """OBJ text; coordinates read back bit for bit. OBJ has no place for colours of faces, so they are left out."""
    lines = [f"# {len(item.vertices)} vertices, {len(item.faces)} faces"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in item.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (item.faces + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


# --- colours


def _colours(
    reader: _Reader, faces: NDArray[np.int64], polygon: NDArray[np.int64], companions: Companions | None
) -> NDArray[np.uint8] | None:
    """Colours of faces: those of their materials, else those of their corners, else plain; None where none has any."""
    colours = np.full((len(faces), 3), PLAIN, np.uint8)
    by_corner = _corner_colours(reader)
    if by_corner is not None:
        colours = from_corners(by_corner, faces)
    known = _library(reader.libraries, companions)
    starts = [start for start, _ in reader.materials]
    used = [known.get(name) for _, name in reader.materials]
    if by_corner is None and not any(colour is not None for colour in used):
        return None
    for start, end, colour in zip(starts, [*starts[1:], len(reader.sizes)], used, strict=True):
        if colour is not None:
            first, last = np.searchsorted(polygon, [start, end])
            colours[first:last] = colour
    return colours


def _corner_colours(reader: _Reader) -> NDArray[np.uint8] | None:
    if not reader.colour_rows:
        return None
    values = numbers(b" ".join([word for _, words in reader.colour_rows for word in words]))
    if values is None:
        note_number_faults(
            [words for _, words in reader.colour_rows], [reader.vertex_lines[n] for n, _ in reader.colour_rows], reader.findings
        )
        reader.findings.raise_if_any()
    assert values is not None
    # Some writers count to 255 here.
    given = bytes_of(values if values.max() <= 1 else np.rint(np.clip(values, 0, 255)).astype(np.int64)).reshape(-1, 3)
    colours = np.full((len(reader.vertex_lines), 3), PLAIN, np.uint8)
    colours[[n for n, _ in reader.colour_rows]] = given
    return colours


def _library(names: list[str], companions: Companions | None) -> dict[bytes, NDArray[np.uint8]]:
    """Diffuse colours by material, from the libraries that stand beside the file; a missing one costs only its colours."""
    found: dict[bytes, NDArray[np.uint8]] = {}
    for name in dict.fromkeys(names):
        data = companions(str(PurePosixPath(name))) if companions else None
        if data is not None:
            found |= read_mtl(data, name)
    return found


def read_mtl(data: bytes, file: str) -> dict[bytes, NDArray[np.uint8]]:
    """The diffuse colours (``Kd``) of a material library, by material; textures are not looked at.

    Raises ``FormatError`` where it is no text. A colour that cannot be read is passed over, for it is only shown.
    """
    found: dict[bytes, NDArray[np.uint8]] = {}
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        return found
    material = b""
    for first, lines in text_blocks(data, file):
        for number, line in enumerate(lines, first):
            words = line.partition(b"#")[0].split()
            if words[:1] == [b"newmtl"]:
                material = b" ".join(words[1:])
            elif words[:1] == [b"Kd"] and len(words) == 4:
                values = numbers(b" ".join(words[1:]))
                if values is not None:
                    found[material] = bytes_of(values)
            if len(found) > MAX_MATERIALS:
                raise FormatError(file, f"line {number}", f"has more than {MAX_MATERIALS} materials")
    return found
