"""Meshes in PLY: text and both binary forms, elements and properties in any order, polygons, colours of vertices or faces."""

import re
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings, FormatError, Remarks
from submissions.formats.lines import Cursor, Piece, Rows, spread, word_text
from submissions.formats.mesh.polygons import bytes_of, cut, fan, from_corners

MAX_HEADER_BYTES = 100_000
MAX_ELEMENTS, MAX_PROPERTIES = 32, 512
_FORMATS = {b"ascii": "", b"binary_little_endian": "<", b"binary_big_endian": ">"}
_KINDS = {
    "i1": b"char int8",
    "u1": b"uchar uint8",
    "i2": b"short int16",
    "u2": b"ushort uint16",
    "i4": b"int int32",
    "u4": b"uint uint32",
    "i8": b"int64",  # as some libraries write their own arrays
    "u8": b"uint64",
    "f4": b"float float32",
    "f8": b"double float64",
}
_KIND_OF = {name: code for code, names in _KINDS.items() for name in names.split()}
# The words before a property's name: its type and, for a list, its length's type.
_TYPES: dict[tuple[bytes, ...], tuple[str, str]] = {(name,): (code, "") for name, code in _KIND_OF.items()} | {
    (b"list", of_length, name): (code, length)
    for of_length, length in _KIND_OF.items()
    if length[0] != "f"
    for name, code in _KIND_OF.items()
}
_UNPACK = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}
_CORNERS = ("vertex_indices", "vertex_index")
_NO_VALUES, _NONE = np.zeros(0), np.zeros(0, np.int64)
_COLOUR = ("red", "green", "blue")
_END = re.compile(rb"(?<=[\r\n])end_header[ \t]*(?:\r\n|\n|\r)")


@dataclass(frozen=True)
class Property:
    """A column of an element: its type, and for a list the type of its length too, as numpy writes them."""

    name: str
    kind: str
    length: str = ""


@dataclass(frozen=True)
class Element:
    name: str
    count: int
    properties: list[Property]

    @property
    def least(self) -> int:
        """The fewest bytes that a row of it takes in a binary file."""
        return sum(np.dtype(column.length or column.kind).itemsize for column in self.properties)

    @property
    def corners(self) -> Property | None:
        return next((column for column in self.properties if column.length and column.name in _CORNERS), None)

    def fault(self, max_vertices: int, max_faces: int, held: int) -> str:
        """Fault of its claims, with ``held`` bytes behind the header; empty if nothing is."""
        most = {"vertex": max_vertices, "face": max_faces}.get(self.name, self.count)
        if self.count > most:
            plural = {"vertex": "vertices", "face": "faces"}[self.name]
            return f"has {self.count} {plural}, at most {most} are taken for this item"
        if self.count and not self.properties:
            return f'has an element "{self.name}" without properties'
        if self.count > held:
            return f'claims {self.count} rows of "{self.name}", {held} bytes follow its header'
        if self.name == "vertex" and not set("xyz") <= {column.name for column in self.properties if not column.length}:
            return "has vertices without x, y and z"
        if self.name == "face" and self.count and self.corners is None:
            return f"has faces without a list {' or '.join(_CORNERS)}"
        return "holds strips of triangles; export plain faces" if self.name == "tristrips" and self.count else ""


@dataclass
class _Table:
    """The rows of an element that are kept: plain columns, and one list as its values in a row and its lengths."""

    element: str
    columns: dict[str, NDArray[Any]]
    values: NDArray[Any] = field(default_factory=lambda: _NO_VALUES)
    sizes: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    places: NDArray[np.int64] = field(default_factory=lambda: _NONE)  # the lines of a text file; of none in a binary one

    def place(self, n: int) -> str:
        return f"line {self.places[n]}" if len(self.places) else f"{self.element} {n}"

    @property
    def colours(self) -> NDArray[np.uint8] | None:
        if not set(_COLOUR) <= self.columns.keys():
            return None
        return bytes_of(np.stack([self.columns[name] for name in _COLOUR], axis=1))


def read_ply(data: bytes, file: str, max_vertices: int, max_faces: int, remarks: Remarks | None = None) -> Mesh:
    """Reads a PLY file; raises ``FormatError`` naming lines or elements. Polygons become triangles, see ``polygons.cut``."""
    findings = Findings(file)
    order, elements, start = _header(data, file)
    for element in elements:
        if fault := element.fault(max_vertices, max_faces, len(data) - start):
            raise FormatError(file, "", fault)
    if order:
        tables = _read_binary(data, start, order, elements, findings)
    else:
        first_line = len(data[:start].splitlines()) + 1
        tables = _read_text(Rows(data, file, start, first_line), elements, findings)
    vertex, face = tables.get("vertex"), tables.get("face")
    if vertex is None:
        raise FormatError(file, "", 'has no element "vertex"')
    if not set("xyz") <= vertex.columns.keys():
        raise FormatError(file, "", "has lists of different lengths among the properties of its vertices; export plain vertices")
    with np.errstate(invalid="ignore"):  # of what is no number, which is refused below
        points = np.stack([vertex.columns[axis].astype(np.float64) for axis in "xyz"], axis=1)
    if face is None:
        return mesh(points, np.zeros((0, 3), np.int64), None, Naming(vertex.place, str, str), findings)
    if int((face.sizes - 2).sum()) > max_faces:
        raise FormatError(file, "", f"has {int((face.sizes - 2).sum())} triangles, at most {max_faces} are taken for this item")
    faces, polygon = fan(face.values if face.values.dtype.kind == "f" else face.values.astype(np.int64), face.sizes)
    naming = Naming(vertex.place, lambda n: face.place(int(polygon[n])), str, element="face")
    found = mesh(points, faces, None, naming, findings)
    faces = cut(found.vertices, found.faces, face.sizes, face.place, file, remarks)
    by_face, by_vertex = face.colours, vertex.colours
    colours = None if by_vertex is None else from_corners(by_vertex, faces)
    return Mesh(found.vertices, faces, colours if by_face is None else by_face[polygon])


def write_ply(item: Mesh) -> bytes:
    """Binary PLY with coordinates in 64 bits, and colours of faces where there are any; reads back bit for bit."""
    coloured = item.face_colours is not None
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(item.vertices)}"]
    head += [f"property double {axis}" for axis in "xyz"]
    head += [f"element face {len(item.faces)}", "property list uchar int vertex_indices"]
    head += [f"property uchar {name}" for name in _COLOUR] if coloured else []
    rows = np.zeros(len(item.faces), np.dtype([("n", "u1"), ("corners", "<i4", 3), *([("colour", "u1", 3)] if coloured else [])]))
    rows["n"], rows["corners"] = 3, item.faces
    if coloured:
        rows["colour"] = item.face_colours
    return "\n".join([*head, "end_header\n"]).encode() + item.vertices.astype("<f8").tobytes() + rows.tobytes()


# --- the header


def _header(data: bytes, file: str) -> tuple[str, list[Element], int]:
    """The byte order (empty for text), the elements and where they begin: a case for each line that a header may have."""
    if not data.startswith(b"ply"):
        raise FormatError(file, "", "is not a PLY file: it does not begin with ply")
    end = _END.search(data[:MAX_HEADER_BYTES])
    if not end:
        raise FormatError(file, "", f"is not a PLY file: it has no end_header in its first {MAX_HEADER_BYTES} bytes")
    order: str | None = None
    elements: list[Element] = []
    for number, line in enumerate(data[: end.start()].splitlines(), 1):
        fault = ""
        match line.split():
            case [] | [b"ply" | b"comment" | b"obj_info", *_]:
                pass
            case [b"format", form, _] if form in _FORMATS:
                order = _FORMATS[form]
            case [b"element", name, count] if re.fullmatch(rb"\d{1,18}", count):
                elements.append(Element(word_text(name), int(count), []))
                fault = "there are too many elements" if len(elements) > MAX_ELEMENTS else ""
            case [b"property", *words] if elements and tuple(words[:-1]) in _TYPES:
                column, columns = Property(word_text(words[-1]), *_TYPES[tuple(words[:-1])]), elements[-1].properties
                columns.append(column)
                if len(columns) > MAX_PROPERTIES or column.name in {other.name for other in columns[:-1]}:
                    fault = f'the property "{column.name}" is one too many, or is declared twice'
            case [b"property", *words] if elements:
                fault = f'"{word_text(b" ".join([b"property", *words]))}" is not a property of PLY'
            case _:
                fault = f'"{word_text(line)}" is not a line of a PLY header'
        if fault:
            raise FormatError(file, f"line {number}", fault)
    if order is None:
        raise FormatError(file, "", "does not say its format: ascii, binary_little_endian or binary_big_endian")
    if len({element.name for element in elements}) != len(elements):
        raise FormatError(file, "", "has two elements of one name")
    return order, elements, end.end()


# --- text


def _read_text(rows: Rows, elements: list[Element], findings: Findings) -> dict[str, _Table]:
    tables: dict[str, _Table] = {}
    for element in elements:
        read = element.name in ("vertex", "face")
        taken = rows.take(element.count, f'rows of "{element.name}"')
        pieces = [_text_piece(element, piece, findings) for piece in taken if read]
        if not read:
            continue
        columns: dict[str, NDArray[Any]] = {}
        for column in element.properties:
            if column.length:
                continue
            whole = np.concatenate([_NO_VALUES, *(piece.columns[column.name] for piece in pieces)])
            # Colours alone depend on the type; coordinates are kept as exactly as they are written.
            columns[column.name] = whole if column.kind[0] == "f" else np.clip(np.nan_to_num(whole), -(2**31), 2**32).astype(np.int64)
        values = np.concatenate([_NO_VALUES, *(piece.values for piece in pieces)])
        sizes, places = (np.concatenate([_NONE, *(getattr(piece, name) for piece in pieces)]) for name in ("sizes", "places"))
        tables[element.name] = _Table(element.name, columns, values, sizes, places)
    return tables


def _text_piece(element: Element, piece: Piece, findings: Findings) -> _Table:
    kept = element.corners if element.name == "face" else None
    if not any(column.length for column in element.properties):
        table = piece.table(len(element.properties), findings)
        return _Table(element.name, {column.name: table[:, n] for n, column in enumerate(element.properties)}, places=piece.places)
    found = _Table(element.name, {}, places=piece.places)
    cursor = Cursor(piece, findings)
    for column in element.properties:
        if column is kept:
            found.values, found.sizes = cursor.list(column.name, least=3)
        elif column.length:
            cursor.list(column.name)
        else:
            found.columns[column.name] = cursor.number(column.name)
    return found


# --- binary


def _read_binary(data: bytes, at: int, order: str, elements: list[Element], findings: Findings) -> dict[str, _Table]:
    tables: dict[str, _Table] = {}
    for element in elements:
        if at + element.count * element.least > len(data):
            raise FormatError(findings.file, f"element {element.name}", f"ends before its {element.count} rows; is it cut short?")
        if not any(column.length for column in element.properties):
            kind = np.dtype([(column.name, order + column.kind) for column in element.properties])
            rows = np.frombuffer(data, kind, element.count, at)
            at += element.count * kind.itemsize
            found = _Table(element.name, {name: rows[name] for name in kind.names or ()})
        else:
            found, at = _binary_lists(data, at, order, element, findings)
        if element.name in ("vertex", "face"):
            tables[element.name] = found
    return tables


def _binary_lists(data: bytes, at: int, order: str, element: Element, findings: Findings) -> tuple[_Table, int]:
    """Rows with lists: all together if every list is as long as in the first row, otherwise row by row."""
    kept = element.corners
    first = _lengths_at(data, at, order, element) if element.count else None
    if first is not None:
        fields: list[tuple[Any, ...]] = []
        for column in element.properties:
            if column.length:
                # No name in a header ends with a space, so this one is free.
                fields.append((f"{column.name} ", order + column.length))
                fields.append((column.name, order + column.kind, (first[column.name],)))
            else:
                fields.append((column.name, order + column.kind))
        kind = np.dtype(fields)
        if at + element.count * kind.itemsize <= len(data):
            rows = np.frombuffer(data, kind, element.count, at)
            if all((rows[f"{name} "] == length).all() for name, length in first.items()):
                found = _Table(element.name, {column.name: rows[column.name] for column in element.properties if not column.length})
                if kept:
                    _refuse_short(np.full(1, first[kept.name]), findings)
                    found.values, found.sizes = rows[kept.name].reshape(-1), np.full(element.count, first[kept.name], np.int64)
                return found, at + element.count * kind.itemsize
    return _row_by_row(data, at, order, element, kept, findings)


def _lengths_at(data: bytes, at: int, order: str, element: Element) -> dict[str, int] | None:
    """The lengths of the lists of the row at byte ``at``; None where it runs past the end."""
    found = {}
    for column in element.properties:
        size = np.dtype(column.kind).itemsize
        if column.length:
            width = np.dtype(column.length).itemsize
            if at + width > len(data):
                return None
            (length,) = struct.unpack_from((order or "<") + _UNPACK[column.length], data, at)
            if length < 0 or at + width + length * size > len(data):
                return None
            found[column.name] = length
            at += width + length * size
        else:
            at += size
    return found if at <= len(data) else None


def _row_by_row(data: bytes, at: int, order: str, element: Element, kept: Property | None, findings: Findings) -> tuple[_Table, int]:
    """Rows found one by one, each with the beginning of its kept list; the values are then gathered by their places."""
    # Bytes between two lists are skipped in one step: (bytes to skip, unpack the length, its width, bytes per value, kept?).
    steps, gap = [], 0
    for column in element.properties:
        size = np.dtype(column.kind).itemsize
        if column.length:
            unpack = struct.Struct(order + _UNPACK[column.length])
            steps.append((gap, unpack.unpack_from, unpack.size, size, column is kept))
            gap = 0
        else:
            gap += size
    starts, lists, sizes, n = [], [], [], 0
    try:
        for n in range(element.count):
            starts.append(at)
            for skip, unpack_from, width, size, is_kept in steps:
                at += skip
                (length,) = unpack_from(data, at)
                if length < 0:
                    raise FormatError(findings.file, f"{element.name} {n}", f"has a list of {length} values")
                at += width
                if is_kept:
                    lists.append(at)
                    sizes.append(length)
                at += length * size
            at += gap
    except struct.error:
        at = len(data) + 1
    if at > len(data):
        raise FormatError(findings.file, f"{element.name} {n}", "reaches past the end of the file; is it cut short?")
    lengths = np.array(sizes, np.int64)
    _refuse_short(lengths, findings)
    values = _gathered(data, np.array(lists, np.int64), lengths, np.dtype(order + kept.kind)) if kept else _NO_VALUES
    # The columns of rows of different lengths, if they are before any list or right behind the only one.
    n_lists = sum(bool(column.length) for column in element.properties)
    columns: dict[str, NDArray[Any]] = {}
    places = np.array(starts, np.int64)
    for column in element.properties:
        size = np.dtype(column.kind).itemsize
        if not column.length:
            columns[column.name] = _gathered(data, places, np.ones(len(places), np.int64), np.dtype(order + column.kind))
            places = places + size
        elif n_lists == 1 and column is kept:
            places = np.array(lists, np.int64) + lengths * size
        else:
            break
    return _Table(element.name, columns, values, lengths), at


def _refuse_short(sizes: NDArray[np.int64], findings: Findings) -> None:
    for n in np.flatnonzero(sizes < 3)[:MAX_FINDINGS_PER_FILE].tolist():
        findings.add(f"face {n}", f"has {sizes[n]} vertices, there must be 3 or more")
    findings.raise_if_any()


def _gathered(data: bytes, starts: NDArray[np.int64], counts: NDArray[np.int64], kind: np.dtype) -> NDArray[Any]:
    """Runs of values of one type that begin at the given bytes, one run after the other."""
    places = spread(starts, counts * kind.itemsize)
    return np.frombuffer(np.frombuffer(data, np.uint8)[places].tobytes(), kind)
