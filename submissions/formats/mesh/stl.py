"""Meshes in STL, text and binary. STL has no shared vertices, so corners that are exactly equal become one vertex."""

import re
import struct

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings, FormatError, Remarks
from submissions.formats.lines import Block, numbers, row_numbers, spread, text_blocks, word_text
from submissions.formats.text import is_wide

UNCOUNTED = "A binary STL says that it has no triangle, and holds some, which were read"
_HEADER, _TRIANGLE = 84, 50
# All in one line, which some programs write: each of these words begins a line of its own.
_ONE_LINE = re.compile(rb"\s*solid\b[^\r\n]*[ \t]facet[ \t]+normal[ \t]", re.IGNORECASE)
_BEGINS = re.compile(rb"\s(?=(?:facet|outer|vertex|end\s*(?:loop|facet|solid))\b)", re.IGNORECASE)
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_TEXT = re.compile(rb"\s*solid\b[^\r\n]*\s*(?:facet|end\s*solid)\b", re.IGNORECASE)
# One letter for each kind of line, known by the first five of its own: a text file is a sentence of them.
_LETTERS = {b"solid": b"s", b"facet": b"f", b"outer": b"o", b"verte": b"v", b"endlo": b"l", b"endfa": b"e", b"endso": b"x"}
_WORDS = {"s": "solid", "f": "facet", "o": "outer loop", "v": "vertex", "l": "endloop", "e": "endfacet", "x": "endsolid"}
_FACET = "fovvvle"
_SOLID = re.compile(r"s(?:fovvvle)*+x?+")  # as far as it goes; Python 3.11.2 misreads one possessive repeat within another
_KNOWN = 5  # letters
_CODES = np.array([int.from_bytes(word, "little") for word in _LETTERS])
_ORDER = np.argsort(_CODES)
_IN_ORDER = np.frombuffer(b"".join(_LETTERS.values()), np.uint8)[_ORDER]
_VERTEX = len("vertex")


def read_stl(data: bytes, file: str, max_vertices: int, max_faces: int, remarks: Remarks | None = None) -> Mesh:
    """Reads an STL file; raises ``FormatError`` naming lines or facets.

    Binary files may begin with "solid" as text does, so a size that fits the binary form decides first. Some programs write the triangles
    as they come and leave their number at 0, and some end a file with a line's end.
    """
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= _HEADER else 0
    is_text = bool(_TEXT.match(data[:10_000]))
    held, rest = divmod(len(data) - _HEADER, _TRIANGLE)
    if count == rest == 0 < held and not is_text:
        count = held
        (remarks or Remarks()).add(UNCOUNTED, [file])
    need = _HEADER + _TRIANGLE * count
    fits = len(data) == need or (len(data) > need and not is_text and not data[need:].strip(b"\0 \t\r\n"))
    if not fits and (is_text or is_wide(data) or not data):
        return _read_text(data, file, max_vertices, max_faces)
    if len(data) < _HEADER:
        raise FormatError(file, "", "is not an STL file: neither text with solid and facet nor as long as a binary header")
    if not fits:
        raise FormatError(file, "", f"claims {count} triangles, which take {need} bytes, but has {len(data)}; write it again")
    if count > max_faces:
        raise FormatError(file, "", f"has {count} triangles, at most {max_faces} are taken for this item")
    corners = np.frombuffer(data, _RECORD, count, _HEADER)["corners"].reshape(-1, 3)
    naming = Naming(lambda n: f"facet {n // 3}", str, str)
    return _merged(corners, naming, Findings(file), max_vertices)


def _merged(corners: NDArray[np.floating], naming: Naming, findings: Findings, max_vertices: int) -> Mesh:
    """Three corners per facet as a mesh in which exactly equal corners are one vertex, in order of appearance."""
    apart = mesh(corners, np.arange(len(corners)).reshape(-1, 3), None, naming, findings)
    points = apart.vertices + 0.0  # so that -0 and 0 are one
    order, new = _sorted_groups(points)
    first = np.minimum.reduceat(order, np.flatnonzero(new)) if len(points) else order
    if len(first) > max_vertices:
        raise FormatError(findings.file, "", f"has {len(first)} different corners, at most {max_vertices} are taken for this item")
    by_appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(len(first))
    vertex = np.empty(len(points), np.int64)
    vertex[order] = rank[np.cumsum(new) - 1]
    return Mesh(points[first[by_appearance]], vertex.reshape(-1, 3))


def _sorted_groups(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """An order that brings equal points together, and where in it each new point begins."""
    bits = points.view(np.uint64).reshape(-1, 3)
    mixed = bits[:, 0]
    for column in (1, 2):
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15) + bits[:, column]
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    order = np.argsort(mixed)
    new = _changes(points[order])
    if (new[1:] != (np.diff(mixed[order]) != 0)).any():  # two points share a number: sort by the points themselves
        order = np.lexsort(points.T)
        new = _changes(points[order])
    return order, new


def _changes(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.concatenate([np.ones(min(1, len(points)), bool), (points[1:] != points[:-1]).any(axis=1)])


# --- text


def _read_text(data: bytes, file: str, max_vertices: int, max_faces: int) -> Mesh:
    if _ONE_LINE.match(data[:10_000]):
        data = _BEGINS.sub(b"\n", data)
    findings = Findings(file)
    corners = [np.zeros(0)]
    vertex_lines = [np.zeros(0, np.int64)]
    sentence: list[bytes] = []
    n_faces = 0
    for block in text_blocks(data, file):
        letters, values, lines = _whole_block(block) or _line_by_line(block, findings)
        sentence.append(letters)
        corners.append(values)
        vertex_lines.append(lines)
        n_faces += letters.count(b"e")
        if n_faces > max_faces:
            raise FormatError(file, "", f"has more than {max_faces} triangles, the most for this item")
    _check_order(b"".join(sentence).decode(), data, file)
    lines = np.concatenate(vertex_lines)
    return _merged(np.concatenate(corners).reshape(-1, 3), Naming(lambda n: f"line {lines[n]}", str, str), findings, max_vertices)


_Piece = tuple[bytes, NDArray[np.float64], NDArray[np.int64]]  # kinds of lines, coordinates, and the vertices' lines


def _whole_block(block: Block) -> _Piece | None:
    """A block read by its letters; None where any line asks for a closer look."""
    filled = block.words > 0
    starts = block.word_starts[block.first_words[filled]]
    if not len(starts):
        return b"", np.zeros(0), np.zeros(0, np.int64)
    if starts[-1] + _VERTEX > len(block.letters):
        return None
    codes = np.zeros(len(starts), np.int64)
    for n in range(_KNOWN):
        codes |= (block.letters[starts + n].astype(np.int64) | 0x20) << (8 * n)
    at = np.minimum(np.searchsorted(_CODES[_ORDER], codes), len(_CODES) - 1)
    if (_CODES[_ORDER][at] != codes).any():
        return None
    kinds = _IN_ORDER[at]
    vertex = kinds == ord("v")
    lines = np.flatnonzero(filled)[vertex]
    if (block.words[lines] != 4).any():
        return None
    # What is left of a vertex's line behind the word itself.
    from_ = starts[vertex] + _VERTEX
    values = numbers(block.letters[spread(from_, block.ends[lines] + 1 - from_)].tobytes())
    if values is None or len(values) != 3 * len(lines):
        return None
    return kinds.tobytes(), values, lines + block.first


def _line_by_line(block: Block, findings: Findings) -> _Piece:
    letters: list[bytes] = []
    rows: list[list[bytes]] = []
    places: list[int] = []
    for line, text in enumerate(block.split(), block.first):
        words = text.split()
        if not words:
            continue
        joined = b"".join(words[:2]) if words[0].lower() == b"end" else words[0]
        letter = _LETTERS.get(joined[:_KNOWN].lower())
        if letter is None:
            findings.add(f"line {line}", f'begins with "{word_text(words[0])}", which is not a line of an STL file')
        elif letter == b"v":
            if len(words) != 4:
                findings.add(f"line {line}", f"vertex has {len(words) - 1} numbers, there must be 3")
            rows.append(words[1:])
            places.append(line)
        letters.append(letter or b"")
        if findings.full:
            break
    findings.raise_if_any()
    return b"".join(letters), row_numbers(places, rows, 3, findings), np.array(places, np.int64)


def _check_order(sentence: str, data: bytes, file: str) -> None:
    """Raises where a line does not belong, or the file ends within a solid."""
    at = 0
    while match := _SOLID.match(sentence, at):
        at = match.end()
        if sentence[at - 1] != "x":
            break
    if at == len(sentence) and sentence.endswith("x"):
        return
    expected = _FACET if "s" in sentence[:at] and sentence[at - 1] != "x" else "s"
    rest = sentence[at : at + len(expected)]
    good = next((n for n, (is_, should) in enumerate(zip(rest, expected, strict=False)) if is_ != should), len(rest))
    if at + good >= len(sentence):
        raise FormatError(file, "", "ends within a solid, without endsolid; is it cut short?")
    wanted, line = at + good, 0  # of the lines that are not blank
    for block in text_blocks(data, file):
        filled = np.flatnonzero(block.words)
        if wanted < len(filled):
            line = block.first + int(filled[wanted])
            break
        wanted -= len(filled)
    raise FormatError(file, f"line {line}", f"is {_WORDS[rest[good]]}, where {_WORDS[expected[good]]} should stand")
