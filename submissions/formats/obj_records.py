"""The records of an OBJ file that a mesh is made of, a block of lines at a time.

A block of plain records is read as a whole, by its letters; any other one, and one with a fault, is read line by line.
Both give the same.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings
from submissions.formats.lines import Block, note_number_faults, numbers, whole_numbers, word_text
from submissions.formats.obj import IGNORED_RECORDS

_IGNORED = (IGNORED_RECORDS | {b"l"}) - {b"f", b"usemtl", b"mtllib"}
_NONE = np.zeros(0, np.int64)
_V, _F, _SLASH, _SPACE = ord("v"), ord("f"), ord("/"), 32
# First letters of lines that say nothing here: normals, texture points and parameters, comments, groups, smoothing, lines.
_PASSED = np.array([ord(letter) for letter in "#gosl"], np.uint8)
_PASSED_V = np.array([ord(letter) for letter in "ntp"], np.uint8)
_WIDTHS = (4, 5, 7, 8)  # words of a vertex: v x y z, with a weight, a colour, or both


@dataclass
class Records:
    """What a block holds: x, y, z of its vertices in a row; its polygons' vertex numbers, as written, in a row.

    ``above`` counts the vertices of the block above each polygon; ``others`` are the lines about materials, each with
    the number of the block's polygons above it; ``colours`` are the last three words of vertices with a colour.
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
            findings.add(f"line {line}", f'begins with "{word_text(record)}", which is no OBJ record')
        if findings.full:
            break
    findings.raise_if_any()
    found.coordinates = _coordinates(vertex_lines, vertices, findings)
    found.numbers = _numbers_by_word(face_lines, faces, findings)
    found.sizes = np.fromiter(map(len, faces), np.int64, len(faces))
    found.vertex_lines, found.face_lines, found.above = (np.array(rows, np.int64) for rows in (vertex_lines, face_lines, above))
    return found


def _coordinates(lines: list[int], rows: list[list[bytes]], findings: Findings) -> NDArray[np.float64]:
    values = numbers(b" ".join([word for row in rows for word in row]))
    if values is None or len(values) != 3 * len(rows):
        note_number_faults(lines, rows, findings)
    assert values is not None
    return values


def _numbers_by_word(lines: list[int], rows: list[list[bytes]], findings: Findings) -> NDArray[np.int64]:
    words = [word.partition(b"/")[0] for row in rows for word in row]
    values = whole_numbers(b" ".join(words))
    if values is None or len(values) != len(words):
        for line, row in zip(lines, rows, strict=True):
            for word in row:
                value = whole_numbers(word.partition(b"/")[0])
                if value is None or len(value) != 1:
                    findings.add(f"line {line}", f'"{word_text(word)}" is not a vertex number')
            if findings.count >= MAX_FINDINGS_PER_FILE:
                break
        findings.raise_if_any()
    assert values is not None
    return values
