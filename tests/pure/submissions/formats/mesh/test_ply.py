import struct

import numpy as np
import pytest

from submissions.formats.errors import FormatError
from submissions.formats.mesh.mesh_files import Mesh, read_mesh

POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
XYZ = ["property float x", "property float y", "property float z"]


def ply(form: str, elements: list[str], body: bytes) -> bytes:
    return "\n".join(["ply", f"format {form} 1.0", "comment by hand", *elements, "end_header\n"]).encode() + body


def read(*args) -> Mesh:
    return read_mesh(ply(*args), "a.ply")


@pytest.mark.parametrize(("form", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
def test_binary_of_either_order_with_polygons_of_different_lengths(form: str, order: str) -> None:
    body = b"".join(struct.pack(f"{order}fdf", *point) for point in POINTS)
    body += struct.pack(f"{order}B3iB4iB3i", 3, 0, 1, 2, 4, 0, 1, 2, 3, 3, 1, 2, 3)
    elements = ["element vertex 4", XYZ[0], "property double y", XYZ[2], "element face 3", "property list uchar int vertex_indices"]
    found = read(form, elements, body)
    assert found.vertices.tolist() == [list(map(float, point)) for point in POINTS]
    assert found.faces.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3], [1, 2, 3]]


def test_text_with_columns_in_any_order_and_other_elements_between() -> None:
    elements = ["element edge 1", "property int a", "property list char float b", "element face 1", "property short material"]
    elements += ["property list uint8 uint32 vertex_index", "property list uchar float texcoord", "element vertex 4"]
    elements += ["property double z", "property uchar confidence", "property double x", "property double y"]
    body = b"7 2 0.5 0.5\n-1 4 0 1 2 3 2 0.1 0.2\n" + b"\n".join(b"%d 9 %d %d" % (z, x, y) for x, y, z in POINTS) + b"\n"
    found = read("ascii", elements, body)
    assert found.vertices.tolist() == [list(map(float, point)) for point in POINTS]
    assert found.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_the_same_in_binary() -> None:
    elements = ["element edge 1", "property int a", "property list char float b", "element face 2", "property short material"]
    elements += ["property list uint8 uint32 vertex_index", "property list uchar float texcoord", "element vertex 4"]
    elements += ["property double z", "property uchar confidence", "property double x", "property double y"]
    body = (
        struct.pack("<ib2f", 7, 2, 0.5, 0.5)
        + struct.pack("<hB4IB2f", -1, 4, 0, 1, 2, 3, 2, 0.1, 0.2)
        + struct.pack("<hB3IB", -1, 3, 3, 2, 1, 0)
    )
    body += b"".join(struct.pack("<dBdd", z, 9, x, y) for x, y, z in POINTS)
    found = read("binary_little_endian", elements, body)
    assert found.vertices.tolist() == [list(map(float, point)) for point in POINTS]
    assert found.faces.tolist() == [[0, 1, 2], [0, 2, 3], [3, 2, 1]]


def test_text_keeps_every_digit_whatever_type_the_header_names() -> None:
    found = read("ascii", ["element vertex 1", *XYZ], b"0.1 538123.0625 0.30000000000000004\n")
    assert found.vertices.tolist() == [[0.1, 538123.0625, 0.30000000000000004]] and found.faces.shape == (0, 3)


COLOURS = ["property uchar red", "property uchar green", "property uchar blue"]


def test_vertex_colours_are_averaged_and_face_colours_win() -> None:
    rows = b"0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 0 0 255\n"
    elements = ["element vertex 3", *XYZ, *COLOURS, "element face 1", "property list uchar int vertex_indices"]
    assert read("ascii", elements, rows + b"3 0 1 2\n").face_colours.tolist() == [[85, 85, 85]]
    assert read("ascii", elements + COLOURS, rows + b"3 0 1 2 9 8 7\n").face_colours.tolist() == [[9, 8, 7]]
    fractions = [line.replace("uchar", "float") for line in COLOURS]
    assert read(
        "ascii", ["element vertex 3", *XYZ, *fractions, *elements[7:]], b"0 0 0 1 0.5 0\n" * 3 + b"3 0 1 2\n"
    ).face_colours.tolist() == [[255, 128, 0]]


def test_binary_face_colours_of_polygons_of_different_lengths() -> None:
    body = np.array(POINTS, "<f4").tobytes() + struct.pack("<B3i3B", 3, 0, 1, 2, 1, 2, 3) + struct.pack("<B4i3B", 4, 0, 1, 2, 3, 4, 5, 6)
    elements = ["element vertex 4", *XYZ, "element face 2", "property list uchar int vertex_indices", *COLOURS]
    assert read("binary_little_endian", elements, body).face_colours.tolist() == [[1, 2, 3], [4, 5, 6], [4, 5, 6]]


def test_carriage_returns_in_the_header_of_a_binary_file() -> None:
    head = ply("binary_little_endian", ["element vertex 4", *XYZ], b"").replace(b"\n", b"\r\n")
    assert len(read_mesh(head + np.array(POINTS, "<f4").tobytes(), "a.ply").vertices) == 4


def test_lines_of_text_are_counted_from_the_top_of_the_file() -> None:
    with pytest.raises(FormatError, match=r'^a\.ply: line 11: "x" is not a number$'):
        read("ascii", ["element vertex 2", *XYZ], b"0 0 0\n\n0 x 0\n")
