"""Meshes in STL, text and binary. Corners that are exactly equal become one vertex, for STL itself knows none."""

import re
import struct

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings, FormatError
from submissions.formats.lines import WIDE, note_number_faults, numbers, text_blocks, word_text

_HEADER, _TRIANGLE = 84, 50
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_TEXT = re.compile(rb"\s*solid\b[^\r\n]*\s*(?:facet|end\s*solid)\b", re.IGNORECASE)
# One letter for each kind of line: a text file is a sentence of them.
_LETTERS = {b"solid": "s", b"facet": "f", b"outer": "o", b"vertex": "v", b"endloop": "l", b"endfacet": "e", b"endsolid": "x"}
_WORDS = {letter: word.decode() for word, letter in _LETTERS.items()}
_FACET = "fovvvle"
_SENTENCE = re.compile(r"(?:s(?:fovvvle)*+x)*+(?:s(?:fovvvle)*+)?+")


def read_stl(data: bytes, file: str, max_vertices: int, max_faces: int) -> Mesh:
    """Reads an STL file; raises ``FormatError`` naming lines or facets.

    Binary files may begin with "solid" as text does, so a size that fits the binary form decides first.
    """
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= _HEADER else 0
    fits = len(data) == _HEADER + _TRIANGLE * count
    if not fits and (_TEXT.match(data[:10_000]) or data.startswith(WIDE) or not data):
        return _read_text(data, file, max_vertices, max_faces)
    if len(data) < _HEADER:
        raise FormatError(file, "", "is no STL file: neither text with solid and facet nor as long as a binary header")
    if not fits:
        need, held = _HEADER + _TRIANGLE * count, len(data)
        raise FormatError(file, "", f"claims {count} triangles, which take {need} bytes, but has {held}; write it again")
    if count > max_faces:
        raise FormatError(file, "", f"has {count} triangles, at most {max_faces} are taken for this sample")
    corners = np.frombuffer(data, _RECORD, count, _HEADER)["corners"].reshape(-1, 3)
    naming = Naming(lambda n: f"facet {n // 3}", str, str)
    return _merged(corners, naming, Findings(file), max_vertices)


def _merged(corners: NDArray[np.floating], naming: Naming, findings: Findings, max_vertices: int) -> Mesh:
    """Three corners per facet as a mesh in which exactly equal corners are one vertex, in order of appearance."""
    apart = mesh(corners, np.arange(len(corners)).reshape(-1, 3), None, naming, findings)
    points = apart.vertices + 0.0  # so that -0 and 0 are one
    order = np.lexsort(points.T)
    new = np.ones(len(points), bool)
    new[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    group = np.empty(len(points), np.int64)
    group[order] = np.cumsum(new) - 1
    first = order[new]  # lexsort is stable: the first of each group
    rank = np.empty(len(first), np.int64)
    by_appearance = np.argsort(first)
    rank[by_appearance] = np.arange(len(first))
    if len(first) > max_vertices:
        raise FormatError(findings.file, "", f"has {len(first)} different corners, at most {max_vertices} are taken for this sample")
    return Mesh(points[first[by_appearance]], rank[group].reshape(-1, 3))


# --- text


def _read_text(data: bytes, file: str, max_vertices: int, max_faces: int) -> Mesh:
    findings = Findings(file)
    corners: list[NDArray[np.float64]] = []
    sentence: list[str] = []
    n_faces = 0
    for first, lines in text_blocks(data, file):
        letters, rows, places = _kinds(first, lines, findings)
        sentence.append(letters)
        corners.append(_corners(rows, places, findings))
        n_faces += letters.count("e")
        if n_faces > max_faces:
            raise FormatError(file, "", f"has more than {max_faces} triangles, the most for this sample")
    _check_order("".join(sentence), data, findings)
    points = np.concatenate([np.zeros((0, 3)), *corners])
    places_of: list[int] = []

    def place(n: int) -> str:
        if not places_of:
            places_of.extend(line for first, lines in text_blocks(data, file) for line in _kinds(first, lines, findings)[2])
        return f"line {places_of[n]}"

    return _merged(points, Naming(place, str, str), findings, max_vertices)


def _kinds(first: int, lines: list[bytes], findings: Findings) -> tuple[str, list[list[bytes]], list[int]]:
    """The kinds of lines of a block as letters; the numbers of its vertices and the lines they stand in."""
    letters: list[str] = []
    rows: list[list[bytes]] = []
    places: list[int] = []
    for number, line in enumerate(lines, first):
        words = line.split()
        if not words:
            continue
        word = words[0].lower()
        if word == b"end" and len(words) > 1:
            word += words[1].lower()
        letter = _LETTERS.get(word)
        if letter is None:
            findings.add(f"line {number}", f'begins with "{word_text(words[0])}", which is no line of an STL file')
            if findings.full:
                break
            continue
        letters.append(letter)
        if letter == "v":
            rows.append(words[1:])
            places.append(number)
    findings.raise_if_any()
    return "".join(letters), rows, places


def _corners(rows: list[list[bytes]], places: list[int], findings: Findings) -> NDArray[np.float64]:
    if not set(map(len, rows)) <= {3}:
        for row, place in zip(rows, places, strict=True):
            if len(row) != 3:
                findings.add(f"line {place}", f"vertex has {len(row)} numbers, there must be 3")
        findings.raise_if_any()
    values = numbers(b" ".join([word for row in rows for word in row]))
    if values is None:
        note_number_faults(rows, places, findings)
        findings.raise_if_any()
    assert values is not None
    return values.reshape(-1, 3)


def _check_order(sentence: str, data: bytes, findings: Findings) -> None:
    """Raises where a line does not belong, or the file ends within a solid."""
    match = _SENTENCE.match(sentence)
    assert match is not None
    at = match.end()
    if at == len(sentence) and sentence.endswith("x"):
        return
    rest = sentence[at : at + len(_FACET)]
    good = next((n for n, (is_, should) in enumerate(zip(rest, _FACET, strict=False)) if is_ != should), len(rest))
    if at + good >= len(sentence):
        raise FormatError(findings.file, "", "ends within a solid, without endsolid; is it cut short?")
    line = _nth_line(data, findings.file, at + good)
    expected = _WORDS[_FACET[good]] if sentence else "solid"
    raise FormatError(findings.file, f"line {line}", f"is {_WORDS[sentence[at + good]]}, where {expected} should stand")


def _nth_line(data: bytes, file: str, wanted: int) -> int:
    """The line number of the line that is number ``wanted``, from 0, of those that are not blank."""
    seen = 0
    for first, lines in text_blocks(data, file):
        for number, line in enumerate(lines, first):
            if line.strip():
                if seen == wanted:
                    return number
                seen += 1
    return 0
