"""One reader of lines for every format of text: how lines end and go on, what comments may hold, and numbers that are none."""

from __future__ import annotations

import numpy as np
import pytest

from submissions.formats import lines
from submissions.formats.errors import FormatError
from submissions.formats.inputs import _text
from submissions.formats.lines import text_blocks
from submissions.formats.mesh.mesh_files import read_mesh
from submissions.formats.wireframe.wireframe_files import read_wireframe

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
FILES = {  # a square in each format of text, with a comment where the format has them
    "wireframe.obj": f"# %s\n{SQUARE}l 1 2 3 4 1\n",
    "mesh.obj": f"# %s\n{SQUARE}f 1 2 3 4\n",
    "mesh.off": "# %s\nOFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    "mesh.ply": "ply\nformat ascii 1.0\ncomment %s\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    "mesh.stl": "solid %s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\n"
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n",
    "points.xyz": "# %s\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n",
}
COMMENTS = {"ascii": "roof", "latin-1": "Dächer für München", "gbk": "屋顶模型", "shift-jis": "屋根の表"}  # the last ends in byte 5C


def corners(name: str, data: bytes) -> list[list[float]]:
    if name == "points.xyz":
        return _text(data, name).tolist()
    return (read_wireframe if name.startswith("wireframe") else read_mesh)(data, name).vertices.tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", COMMENTS)
@pytest.mark.parametrize("name", FILES)
def test_lines_end_in_any_way_and_comments_are_in_any_encoding(name: str, encoding: str, end: str) -> None:
    text = (FILES[name] % COMMENTS[encoding]).replace("\n", end)
    assert corners(name, text.encode(encoding)) == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_backslash_at_the_end_goes_on_in_the_next_line_of_both_readers_of_obj(end: str) -> None:
    vertices = "v 0 0 0\nv 1 \\\n 0 0\nv \\ \n1 1\\\n 0\nv 0 1 0\n".replace("\n", end)
    frame = read_wireframe((vertices + "l 1 2 \\\n3 \\\n 4 1\n".replace("\n", end)).encode(), "a.obj")
    mesh = read_mesh((vertices + "f 1 2 3 \\\n4\n".replace("\n", end)).encode(), "a.obj")
    assert frame.vertices.tolist() == mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert frame.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]] and mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_comments_and_names_may_end_in_a_backslash_of_their_own() -> None:
    text = "# C:\\models\\\nmtllib C:\\mine\\\no 表\\\ng roof\\\nusemtl a\\\n" + SQUARE + "vt 0 0 # \\\n"
    assert read_wireframe(f"{text}l 1 2\n".encode(), "a.obj").edges.tolist() == [[0, 1]]
    assert read_mesh(f"{text}f 1 2 3\n".encode(), "a.obj").faces.tolist() == [[0, 1, 2]]


def test_faults_behind_a_continued_line_are_named_by_their_own_line() -> None:
    with pytest.raises(FormatError, match=r"a\.obj: line 8: face names vertex 9, there are 4"):
        read_mesh(f"{SQUARE}f 1 2 \\\n3 \\\n4\nf 1 2 9\n".encode(), "a.obj")
    with pytest.raises(FormatError, match=r"a\.obj: line 5: face names vertex 9, there are 4"):
        read_mesh(f"{SQUARE}f 1 2 \\\n9 \\\n4\n".encode(), "a.obj")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_continued_line_at_the_border_of_blocks_stays_whole(monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 16)
    text = b"v 1 2 3" + end + b"v 1 \\" + end + b"  \\" + end + b" 5 6" + end + b"v 7 8 9" + end
    found = [line.split() for block in text_blocks(text, "a.obj", continued=True) for line in block.split()]
    assert found == [[b"v", b"1", b"2", b"3"], [b"v", b"1", b"5", b"6"], [], [], [b"v", b"7", b"8", b"9"]]


def test_backslashes_without_end_are_read_in_their_time_and_refused_by_their_length() -> None:
    with pytest.raises(FormatError, match=r"line 1: is longer than 1 MB"):
        list(text_blocks(b"v \\\n" * 1_000_000, "a.obj", continued=True))
    with pytest.raises(FormatError, match=r"line 1: vertex has 400001 numbers"):
        read_wireframe(b"v " + b"\\ " * 400_000 + b"x\n", "a.obj")


@pytest.mark.parametrize("word", ["nan", "-nan", "NaN", "nan(ind)", "inf", "-Infinity"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.obj", "v 0 0 0 1 0 0\nv 1 0 0 {0} 0 0\nv 1 1 0 1 0 0\nf 1 2 3\n"),
        ("a.obj", "v 0 0 0 255 0 0\nv 1 0 0 {0} {0} {0}\nv 1 1 0 255 0 0\nvn {0} 0 0\nvt {0} 0\nf 1 2 3\n"),
        ("a.off", "COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 {0} 0 0 255\n1 1 0 255 0 0 255\n3 0 1 2\n"),
        ("a.off", "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 {0} 0 1\n1 1 0 0 0 1\n3 0 1 2\n"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\nproperty list uchar int vertex_indices\n"
            "end_header\n0 0 0 {0} 255 0 0\n1 0 0 0 {0} 0 0\n1 1 0 0 255 0 0\n3 0 1 2\n",
        ),
    ],
)
def test_a_colour_or_a_normal_that_is_not_finite_costs_no_mesh(name: str, text: str, word: str) -> None:
    mesh = read_mesh(text.format(word).encode(), name)
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]] and mesh.faces.tolist() == [[0, 1, 2]]
    assert mesh.face_colours is None or 150 < mesh.face_colours[0, 0] <= 255


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.obj", "v 0 0 nan\n", 'line 1: "nan" is not finite'),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 inf\n1 1 0\n3 0 1 2\n", "line 4: has a coordinate that is not finite"),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n1 1 0\n3 0 nan 2\n", "line 6: face names vertex nan, which is not a whole number"),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n1 1 0\nnan 0 1 2\n", 'line 6: has a length of its "corners" that is not a whole number'),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 nanx\n1 1 0\n3 0 1 2\n", 'line 4: "nanx" is not a number'),
        ("a.obj", "v 0 0 0 1 x 0\n", 'line 1: "x" is not a number'),
    ],
)
def test_a_coordinate_or_a_corner_that_is_not_finite_is_refused_by_its_line(name: str, text: str, said: str) -> None:
    with pytest.raises(FormatError) as refused:
        read_mesh(text.encode(), name)
    assert said in str(refused.value)


def test_points_of_inputs_have_as_many_numbers_in_every_line_or_not() -> None:
    assert np.array_equal(_text(b"3\n0 0 0 9\r1 2 3\r\n\n4,5,6;7\n", "a.xyz"), [[0, 0, 0], [1, 2, 3], [4, 5, 6]])
    assert _text(b" \n", "a.xyz").shape == (0, 3)
