"""Wireframes in OBJ: ``v`` and ``l`` records. Vertex numbers count from 1, or backwards from -1."""

import re
from array import array

import numpy as np

from submissions.formats.arrays import Naming, Wireframe, wireframe
from submissions.formats.errors import Findings, Remarks
from submissions.formats.lines import has_comma, number_fault, text_blocks, word_text

# Other records of the format, without effect on a wireframe.
IGNORED_RECORDS = frozenset(
    b"vt vn vp vc f fo p g o s mg usemtl mtllib usemap maplib bevel c_interp d_interp lod shadow_obj trace_obj deg "
    b"bmat step cstype curv curv2 surf parm trim hole scrv sp end con call csh ctech stech bzp bsp cdc cdp res".split()
)
# A line's vertex may carry a texture coordinate: 3/1 or 3/.
_INDEX = re.compile(rb"([+-]?\d{1,18})(?:/(?:[+-]?\d{1,18})?)?")


class _Reader:
    """State of one pass over a file: coordinates, 0-based edges, and the line each came from."""

    def __init__(self, findings: Findings, max_vertices: int, max_edges: int) -> None:
        self.findings, self.max_vertices, self.max_edges = findings, max_vertices, max_edges
        self.coordinates, self.vertex_lines = array("d"), array("q")
        self.indices, self.edge_lines = array("q"), array("q")

    def read(self, number: int, line: bytes) -> None:
        words = line.partition(b"#")[0].split()
        record = words[0] if words else b""
        if record == b"v":
            self._vertex(number, words[1:])
        elif record == b"l":
            self._polyline(number, words[1:])
        elif record and record not in IGNORED_RECORDS:
            self.findings.add(f"line {number}", f'begins with "{word_text(record)}", which is not an OBJ record')
        if self.findings.full:
            self.findings.raise_if_any()

    def _vertex(self, number: int, words: list[bytes]) -> None:
        if len(self.vertex_lines) == self.max_vertices:
            self._too_many(number, "vertices", self.max_vertices)
        # x y z, or with a weight, a colour, or both.
        wrong = [fault for fault in map(number_fault, words[:3]) if fault]
        if len(words) not in (3, 4, 6, 7):
            self.findings.add(f"line {number}", f"vertex has {len(words)} numbers, there must be 3")
        for fault in wrong:
            self.findings.add(f"line {number}", f"coordinate {fault}")
        if any(map(has_comma, words[:3])):
            self.findings.raise_if_any()  # so is every number of the file, most probably
        # A faulty vertex still counts, so that edges further down are judged against the right number.
        good = not wrong and len(words) >= 3
        self.coordinates.extend(map(float, words[:3]) if good else (0.0, 0.0, 0.0))
        self.vertex_lines.append(number)

    def _polyline(self, number: int, words: list[bytes]) -> None:
        if len(words) < 2:
            self.findings.add(f"line {number}", "polyline has fewer than 2 vertices")
        if len(self.edge_lines) + len(words) - 1 > self.max_edges:
            self._too_many(number, "edges", self.max_edges)
        before = None
        for word in words:
            index = None
            match = _INDEX.fullmatch(word)
            value, defined = int(match[1]) if match else 0, len(self.vertex_lines)
            if not match:
                self.findings.add(f"line {number}", f'"{word_text(word)}" is not a vertex number')
            elif value == 0:
                self.findings.add(f"line {number}", "edge names vertex 0, the first vertex is 1")
            elif -value > defined:
                self.findings.add(f"line {number}", f"edge names vertex {value}, only {defined} are defined above it")
            else:
                index = value - 1 if value > 0 else defined + value
            if before is not None and index is not None:
                self.indices.extend((before, index))
                self.edge_lines.append(number)
            before = index

    def _too_many(self, number: int, what: str, most: int) -> None:
        self.findings.add(f"line {number}", f"there are more than {most} {what}, the most for this item")
        self.findings.raise_if_any()


def read_obj(data: bytes, file: str, max_vertices: int, max_edges: int, remarks: Remarks | None = None) -> Wireframe:
    """Reads ``v`` and ``l`` records; raises ``FormatError`` naming lines. A polyline is its consecutive edges."""
    findings = Findings(file)
    reader = _Reader(findings, max_vertices, max_edges)
    for block in text_blocks(data, file, continued=True):
        for number, line in enumerate(block.split(), block.first):
            reader.read(number, line)
    vertices = np.array(reader.coordinates, dtype=np.float64).reshape(-1, 3)
    edges = np.array(reader.indices, dtype=np.int64).reshape(-1, 2)
    naming = Naming(
        vertex=lambda n: f"line {reader.vertex_lines[n]}",
        edge=lambda n: f"line {reader.edge_lines[n]}",
        score=lambda n: "",
        base=1,
    )
    found = wireframe(vertices, edges, None, naming, findings, remarks)
    findings.raise_if_any()
    assert found is not None
    return found


def write_obj(frame: Wireframe) -> bytes:
    """OBJ text; coordinates read back bit for bit. OBJ has no place for edge scores, so they are left out."""
    lines = [f"# {len(frame.vertices)} vertices, {len(frame.edges)} edges"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in frame.vertices.tolist()]
    lines += [f"l {i + 1} {j + 1}" for i, j in frame.edges.tolist()]
    return ("\n".join(lines) + "\n").encode()
