"""Meshes in OBJ: ``v``, ``f`` and the records of materials.

A block of plain records is parsed in one piece. A block with other records, or with a fault, is parsed line by line, with the same result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings, FormatError, Remarks
from submissions.formats.lines import (
    Block,
    note_number_faults,
    numbers,
    numbers_or_nan,
    row_numbers,
    text_blocks,
    whole_numbers,
    word_text,
)
from submissions.formats.mesh.polygons import PLAIN, bytes_of, cut, fan, from_corners
from submissions.formats.wireframe.obj import IGNORED_RECORDS

_IGNORED = (IGNORED_RECORDS | {b"l"}) - {b"f", b"usemtl", b"mtllib"}
_NONE = np.zeros(0, np.int64)
_V, _F, _SLASH, _SPACE = ord("v"), ord("f"), ord("/"), 32
# First letters of lines that say nothing here: normals, texture points and parameters, comments, groups, smoothing, lines.
_PASSED = np.array([ord(letter) for letter in "#gosl"], np.uint8)
_PASSED_V = np.array([ord(letter) for letter in "ntp"], np.uint8)
_WIDTHS = (4, 5, 7, 8)  # words of a vertex: v x y z, with a weight, a colour, or both


@dataclass
class Records:
    """The content of a block: x, y, z of its vertices in a row; its polygons' vertex numbers, as written, in a row.

    ``above`` counts the vertices of the block above each polygon. ``others`` are the lines about materials, each with
    the number of the block's polygons above it. ``colours`` are the last three words of vertices with a colour.
    """

    coordinates: NDArray[np.float64]
    vertex_lines: NDArray[np.int64]
    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]
    face_lines: NDArray[np.int64]
    above: NDArray[np.int64]
    others: list[tuple[int, list[bytes]]] = field(default_factory=list)
    colours: list[tuple[int, list[bytes]]] = field(default_factory=list)


def read_records(block: Block, findings: Findings) -> Records:
    """The records of a block; raises faults by line. Whether the numbers are in range is for the caller to say."""
    return _whole_block(block) or _line_by_line(block, findings)


# --- a block as a whole


def _whole_block(block: Block) -> Records | None:
    """The records of a block of plain ones; None where any line asks for a closer look."""
    first = block.letters[block.starts]
    second = block.letters[np.minimum(block.starts + 1, len(block.letters) - 1)]
    vertex, face = (first == _V) & (second <= _SPACE), (first == _F) & (second <= _SPACE)
    rest = ~(vertex | face | np.isin(first, _PASSED) & (second <= _SPACE) | (first == _V) & np.isin(second, _PASSED_V))
    rest &= (block.words > 0) & (first != ord("#"))
    if np.count_nonzero(rest) > 10_000 or (block.words[vertex] != 4).any() or (block.words[face] < 4).any():
        return None
    others = []
    above_line = np.cumsum(face)
    for at in np.flatnonzero(rest).tolist():
        words = block.text[block.starts[at] : block.ends[at]].partition(b"#")[0].split()
        if words and words[0] not in (b"usemtl", b"mtllib"):
            return None
        others.append((int(above_line[at]), words))
    coordinates = numbers(block.text_of(vertex).replace(b"v", b""))
    written = _vertex_numbers(block.text_of(face).replace(b"f", b""))
    sizes = block.words[face] - 1
    if coordinates is None or len(coordinates) != 3 * np.count_nonzero(vertex):
        return None
    if written is None or len(written) != sizes.sum():
        return None
    vertex_lines, face_lines = (np.flatnonzero(lines) + block.first for lines in (vertex, face))
    return Records(coordinates, vertex_lines, written, sizes, face_lines, np.cumsum(vertex)[face], [o for o in others if o[1]])


def _vertex_numbers(text: bytes) -> NDArray[np.int64] | None:
    """The numbers before the first slash of each word."""
    if b"/" not in text:
        return whole_numbers(text)
    if text.translate(None, b"0123456789+-/ \t\n"):
        return None
    letters = np.frombuffer(text, np.uint8)
    places = np.arange(len(letters), dtype=np.int32)
    last_space = np.maximum.accumulate(np.where(letters <= _SPACE, places, -1))
    last_slash = np.maximum.accumulate(np.where(letters == _SLASH, places, -1))
    return whole_numbers(letters[last_slash <= last_space].tobytes())


# --- line by line


def _line_by_line(block: Block, findings: Findings) -> Records:
    vertices: list[list[bytes]] = []
    vertex_lines: list[int] = []
    faces: list[list[bytes]] = []
    face_lines: list[int] = []
    above: list[int] = []
    found = Records(np.zeros(0), _NONE, _NONE, _NONE, _NONE, _NONE)
    for line, text in enumerate(block.split(), block.first):
        words = text.partition(b"#")[0].split()
        record = words[0] if words else b""
        if record == b"v":
            if len(words) not in _WIDTHS:
                findings.add(f"line {line}", f"vertex has {len(words) - 1} numbers, there must be 3")
            if len(words) in _WIDTHS[2:]:
                found.colours.append((len(vertices), words[-3:]))
            vertices.append(words[1:4])
            vertex_lines.append(line)
        elif record == b"f":
            if len(words) < 4:
                findings.add(f"line {line}", f"face has {len(words) - 1} vertices, there must be 3 or more")
            faces.append(words[1:])
            face_lines.append(line)
            above.append(len(vertices))
        elif record in (b"usemtl", b"mtllib"):
            found.others.append((len(faces), words))
        elif record and record not in _IGNORED:
            findings.add(f"line {line}", f'begins with "{word_text(record)}", which is not an OBJ record')
        if findings.full:
            break
    findings.raise_if_any()
    found.coordinates = row_numbers(vertex_lines, vertices, 3, findings)
    found.numbers = _corner_numbers(face_lines, faces, findings)
    found.sizes = np.fromiter(map(len, faces), np.int64, len(faces))
    found.vertex_lines, found.face_lines, found.above = (np.array(rows, np.int64) for rows in (vertex_lines, face_lines, above))
    return found


def _corner_numbers(lines: list[int], faces: list[list[bytes]], findings: Findings) -> NDArray[np.int64]:
    """The vertex numbers of faces, in a row; raises every word that begins with none, by the line of its face."""
    first_parts = [word.partition(b"/")[0] for row in faces for word in row]
    written = whole_numbers(b" ".join(first_parts))
    if written is None or len(written) != len(first_parts):
        for line, row in zip(lines, faces, strict=True):
            for word in row:
                value = whole_numbers(word.partition(b"/")[0])
                if value is None or len(value) != 1:
                    findings.add(f"line {line}", f'"{word_text(word)}" is not a vertex number')
            if findings.full:
                break
        findings.raise_if_any()
    assert written is not None
    return written


# --- the file as a whole

MAX_MATERIALS = 10_000
Companions = Callable[[str], bytes | None]


class _Reader:
    """State of one pass over a file: coordinates and corners, and the line that each vertex and polygon came from."""

    def __init__(self, findings: Findings, max_vertices: int, max_faces: int) -> None:
        self.findings, self.max_vertices, self.max_faces = findings, max_vertices, max_faces
        self.n_vertices = self.n_polygons = self.n_triangles = 0
        self.coordinates, self.vertex_lines = [np.zeros(0)], [_NONE]
        self.corners, self.sizes, self.face_lines = [_NONE], [_NONE], [_NONE]
        self.colour_rows: list[tuple[int, list[bytes]]] = []
        self.materials: list[tuple[int, bytes]] = []
        self.libraries: list[str] = []

    def add(self, records: Records) -> None:
        """Takes a block's records in, once they are known to be within the limits and to name vertices that exist."""
        room = self.max_vertices - self.n_vertices
        if len(records.vertex_lines) > room:
            self._too_many(records.vertex_lines[room], "vertices", self.max_vertices)
        over = np.flatnonzero(np.cumsum(records.sizes - 2) > self.max_faces - self.n_triangles)
        if len(over):
            self._too_many(records.face_lines[over[0]], "triangles", self.max_faces)
        for polygons_above, words in records.others:
            name = b" ".join(words[1:])
            if words[0] == b"usemtl":
                self.materials.append((self.n_polygons + polygons_above, name))
            else:
                self.libraries.append(name.decode("utf-8", "replace"))
        if len(self.materials) > MAX_MATERIALS or len(self.libraries) > MAX_MATERIALS:
            raise FormatError(self.findings.file, "", f"changes its material more than {MAX_MATERIALS} times")
        self.colour_rows += [(self.n_vertices + n, words) for n, words in records.colours]
        # Vertex numbers as rows from 0, those that count backwards from their own line resolved.
        written = records.numbers
        corners = written - 1
        backwards = written <= 0
        if backwards.any():
            above = np.repeat(records.above + self.n_vertices, records.sizes)
            lines = np.repeat(records.face_lines, records.sizes)
            for at in np.flatnonzero((written == 0) | (-written > above))[:MAX_FINDINGS_PER_FILE].tolist():
                said = f"names vertex {written[at]}, only {above[at]} are defined above it"
                self.findings.add(f"line {lines[at]}", f"face {said if written[at] else 'names vertex 0, the first vertex is 1'}")
            self.findings.raise_if_any()
            corners = np.where(backwards, written + above, corners)
        self.corners.append(corners)
        self.coordinates.append(records.coordinates)
        self.vertex_lines.append(records.vertex_lines)
        self.sizes.append(records.sizes)
        self.face_lines.append(records.face_lines)
        self.n_vertices += len(records.vertex_lines)
        self.n_polygons += len(records.sizes)
        self.n_triangles += int((records.sizes - 2).sum())

    def _too_many(self, line: int, what: str, most: int) -> None:
        raise FormatError(self.findings.file, f"line {line}", f"there are more than {most} {what}, the most for this item")


def read_mesh_obj(
    data: bytes, file: str, max_vertices: int, max_faces: int, companions: Companions | None = None, remarks: Remarks | None = None
) -> Mesh:
    """Reads ``v`` and ``f`` records; raises ``FormatError`` naming lines. Polygons become triangles, see ``polygons.cut``.

    ``companions`` gives the content of a file beside this one by its name, or None; only ``.mtl`` files are read, and of these only the
    diffuse colours.
    """
    findings = Findings(file)
    reader = _Reader(findings, max_vertices, max_faces)
    for block in text_blocks(data, file, continued=True):
        reader.add(read_records(block, findings))
    vertices = np.concatenate(reader.coordinates).reshape(-1, 3)
    vertex_lines, face_lines = np.concatenate(reader.vertex_lines), np.concatenate(reader.face_lines)
    sizes = np.concatenate(reader.sizes)
    faces, polygon = fan(np.concatenate(reader.corners), sizes)
    naming = Naming(lambda n: f"line {vertex_lines[n]}", lambda n: f"line {face_lines[polygon[n]]}", str, base=1, element="face")
    found = mesh(vertices, faces, None, naming, findings)
    faces = cut(found.vertices, found.faces, sizes, lambda n: f"line {face_lines[n]}", file, remarks)
    return Mesh(found.vertices, faces, _colours(reader, faces, polygon, vertex_lines, companions))


def write_obj(item: Mesh) -> bytes:
    """OBJ text; coordinates read back bit for bit. OBJ has no place for colours of faces, so they are left out."""
    lines = [f"# {len(item.vertices)} vertices, {len(item.faces)} faces"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in item.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (item.faces + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


# --- colours


def _colours(
    reader: _Reader,
    faces: NDArray[np.int64],
    polygon: NDArray[np.int64],
    vertex_lines: NDArray[np.int64],
    companions: Companions | None,
) -> NDArray[np.uint8] | None:
    """Colours of faces: from their materials, else from their corners, else plain; None if no face has any."""
    by_corner = _corner_colours(reader, vertex_lines) if reader.colour_rows else None
    known: dict[bytes, NDArray[np.uint8]] = {}
    for name in dict.fromkeys(reader.libraries):
        data = companions(name) if companions else None
        if data is not None and data.strip():  # a library that is missing costs only its colours
            known |= read_mtl(data, name)
    used = [known.get(name) for _, name in reader.materials]
    if by_corner is None and all(colour is None for colour in used):
        return None
    colours = np.full((len(faces), 3), PLAIN, np.uint8) if by_corner is None else from_corners(by_corner, faces)
    bounds = np.searchsorted(polygon, [*(start for start, _ in reader.materials), reader.n_polygons])
    for (first, last), colour in zip(pairwise(bounds), used, strict=True):
        if colour is not None:
            colours[first:last] = colour
    return colours


def _corner_colours(reader: _Reader, vertex_lines: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Colours of vertices; plain where a vertex has none. Some writers count to 255."""
    at, rows = np.array([n for n, _ in reader.colour_rows]), [words for _, words in reader.colour_rows]
    values = numbers_or_nan([word for row in rows for word in row])
    if values is None:
        note_number_faults(vertex_lines[at].tolist(), rows, reader.findings)
    assert values is not None
    values = values.reshape(-1, 3)
    known = np.isfinite(values).all(axis=1)  # a colour is only shown, so one that is not finite costs no more than itself
    given = values[known]
    colours = np.full((len(vertex_lines), 3), PLAIN, np.uint8)
    colours[at[known]] = bytes_of(given if given.max(initial=0) <= 1 else np.rint(np.clip(given, 0, 255)).astype(np.int64))
    return colours


def read_mtl(data: bytes, file: str) -> dict[bytes, NDArray[np.uint8]]:
    """The diffuse colours (``Kd``) of a material library, by material; textures are not looked at.

    Raises ``FormatError`` where it is no text. A colour that cannot be read is passed over, for it is only shown.
    """
    found: dict[bytes, NDArray[np.uint8]] = {}
    material = b""
    for block in text_blocks(data, file):
        for line, text in enumerate(block.split(), block.first):
            words = text.partition(b"#")[0].split()
            if words[:1] == [b"newmtl"]:
                material = b" ".join(words[1:])
            elif words[:1] == [b"Kd"] and len(words) == 4:
                values = numbers(b" ".join(words[1:]))
                if values is not None and len(values) == 3:
                    found[material] = bytes_of(values)
            if len(found) > MAX_MATERIALS:
                raise FormatError(file, f"line {line}", f"has more than {MAX_MATERIALS} materials")
    return found
