"""Meshes in OFF: counts, vertices, then polygons, each with its number of corners. Colours of vertices and polygons are kept."""

import re

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings, FormatError, Remarks
from submissions.formats.lines import Cursor, Rows, spread, word_text
from submissions.formats.mesh.polygons import PLAIN, bytes_of, cut, fan, from_corners

_HEADER = re.compile(rb"\s*(ST)?(C)?(N)?(4)?(n)?OFF(?![A-Za-z])")
_COUNTS = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})(?:\s+\d{1,18})?\s*")


def read_off(data: bytes, file: str, max_vertices: int, max_faces: int, remarks: Remarks | None = None) -> Mesh:
    """Reads OFF text, COFF and NOFF too; raises ``FormatError`` naming lines. Polygons become triangles, see ``polygons.cut``."""
    findings = Findings(file)
    rows = Rows(data, file, comments=True)
    columns, coloured, n_vertices, n_polygons = _header(rows, file)
    for count, most, what in ((n_vertices, max_vertices, "vertices"), (n_polygons, max_faces, "faces")):
        if count > most:
            raise FormatError(file, "", f"has {count} {what}, at most {most} are taken for this item")
    vertex_lines, vertices, vertex_colours = _vertices(rows, n_vertices, columns, coloured, findings)
    face_lines, corners, sizes, face_colours = _polygons(rows, n_polygons, max_faces, findings)
    faces, polygon = fan(corners, sizes)
    naming = Naming(lambda n: f"line {vertex_lines[n]}", lambda n: f"line {face_lines[polygon[n]]}", str, element="face")
    found = mesh(vertices, faces, None, naming, findings)
    faces = cut(found.vertices, found.faces, sizes, lambda n: f"line {face_lines[n]}", file, remarks)
    colours = None if vertex_colours is None else from_corners(vertex_colours, faces)
    return Mesh(found.vertices, faces, colours if face_colours is None else face_colours[polygon])


def _header(rows: Rows, file: str) -> tuple[int, bool, int, int]:
    """Numbers per vertex before its colour, whether a colour follows, and the counts; the word OFF may share their line."""
    place, line = _line(rows)
    match = _HEADER.match(line)
    if not match:
        raise FormatError(file, f"line {place}", f'begins with "{word_text(line.strip()[:20])}", an OFF file begins with OFF')
    texture, colour, normals, fourth, any_size = match.groups()
    rest = line[match.end() :]
    if fourth or any_size or b"BINARY" in rest:
        raise FormatError(file, f"line {place}", "is OFF in binary or other than 3 dimensions; write it as plain OFF text")
    if not rest.strip():
        place, rest = _line(rows)
    counts = _COUNTS.fullmatch(rest)
    if not counts:
        raise FormatError(file, f"line {place}", "must give the numbers of vertices, faces and edges")
    if texture:
        raise FormatError(file, f"line {place}", "is OFF with texture coordinates; write it as plain OFF text")
    return 6 if normals else 3, bool(colour), int(counts[1]), int(counts[2])


def _line(rows: Rows) -> tuple[int, bytes]:
    (piece,) = rows.take(1, "lines of its header")
    return int(piece.places[0]), piece.text


def _vertices(
    rows: Rows, count: int, columns: int, coloured: bool, findings: Findings
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint8] | None]:
    """Line numbers, coordinates and, where every vertex has one, colours."""
    places = [np.zeros(0, np.int64)]
    pieces: list[NDArray[np.float64]] = []
    width = 0
    for piece in rows.take(count, "vertices"):
        width = width or int(piece.words[0])
        if width != columns and width not in (columns + 3, columns + 4):
            expected = f"{columns}{f', {columns + 3} or {columns + 4}' if coloured else ''}"
            raise FormatError(rows.file, f"line {piece.places[0]}", f"has {width} numbers, there must be {expected}")
        places.append(piece.places)
        pieces.append(piece.table(width, findings))
    table = np.concatenate([np.zeros((0, width or columns)), *pieces])
    given = table[:, columns : columns + 3]
    return np.concatenate(places), table[:, :3], _colours(given) if given.shape[1] == 3 else None


def _polygons(
    rows: Rows, count: int, max_faces: int, findings: Findings
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8] | None]:
    """Line numbers, the corners of all polygons in a row, how many each has, and colours where any has one."""
    places = [np.zeros(0, np.int64)]
    corners, sizes, colours = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros((0, 3), np.uint8)]
    n_triangles, coloured = 0, False
    for piece in rows.take(count, "faces"):
        cursor = Cursor(piece, findings)
        found, lengths = cursor.list("corners", least=3)
        n_triangles += int((lengths - 2).sum())
        if n_triangles > max_faces:
            raise FormatError(rows.file, "", f"has more than {max_faces} triangles, the most for this item")
        rest = cursor.rest()
        # One number is a place in a table of colours that the file does not hold.
        own = np.flatnonzero(rest >= 3)
        block = np.full((len(rest), 3), PLAIN, np.uint8)
        if len(own):
            coloured = True
            block[own] = _colours(cursor.values[spread(cursor.at[own], np.full(len(own), 3))].reshape(-1, 3))
        places.append(piece.places)
        corners.append(found)
        sizes.append(lengths)
        colours.append(block)
    every_colour = np.concatenate(colours) if coloured else None
    return np.concatenate(places), np.concatenate(corners), np.concatenate(sizes), every_colour


def _colours(given: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Colours that count to 255 where they are whole numbers, and to 1 where any is a fraction."""
    given = np.nan_to_num(given)  # it is only shown
    whole = not len(given) or bool((np.floor(given) == given).all() and given.max() > 1)
    return bytes_of(np.clip(given, 0, 255).astype(np.int64) if whole else given)
