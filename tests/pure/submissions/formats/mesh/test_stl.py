import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.formats.errors import Findings, FormatError, Remarks
from submissions.formats.lines import text_blocks
from submissions.formats.mesh import stl
from submissions.formats.mesh.mesh_files import Mesh, read_mesh
from tests.support.examples import examples

FACET = "facet normal 0 0 1\n outer loop\n  vertex {}\n  vertex {}\n  vertex {}\n endloop\nendfacet\n"
TWO = "solid two\n" + FACET.format("0 0 0", "1 0 0", "0 1 0") + FACET.format("1 0 0", "1e0 1 -0", "0 1 0") + "endsolid two\n"
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, -0.0], [0, 1, 0]]


def read(data: bytes | str) -> Mesh:
    return read_mesh(data.encode() if isinstance(data, str) else data, "a.stl")


def binary(corners: list[list[float]], head: bytes = b"") -> bytes:
    rows = np.zeros(len(corners) // 3, stl._RECORD)
    rows["corners"] = np.reshape(corners, (-1, 3, 3))
    return head.ljust(80) + struct.pack("<I", len(rows)) + rows.tobytes()


@pytest.mark.parametrize(
    "data",
    [
        TWO,
        TWO.upper(),
        TWO.replace("\n", "\r\n"),
        TWO.replace("endloop", "end loop").replace("endfacet", "end facet").replace("endsolid", "end solid"),
        TWO.replace("endfacet\nfacet", "endfacet\nendsolid\n\nsolid again\nfacet"),
        " ".join(TWO.split()),
        TWO.replace("\n", " ").replace("endloop", "end loop").upper(),
        binary(CORNERS) + b"\n",
        binary(CORNERS, b"solid x") + b"\r\n\0",
        binary(CORNERS),
        binary(CORNERS, b"solid facet normal outer loop"),
        binary(CORNERS, b"solid x\nfacet normal 0 0 0"),
    ],
)
def test_text_and_binary_alike_and_equal_corners_become_one_vertex(data: bytes | str) -> None:
    found = read(data)
    assert found.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert found.faces.tolist() == [[0, 1, 2], [1, 3, 2]]
    assert found.face_colours is None


def test_text_keeps_float64_and_corners_that_differ_in_the_last_bit_stay_apart() -> None:
    found = read("solid\n" + FACET.format("0.1 0 0", "0.10000000000000002 0 0", "0 1 0") + "endsolid")
    assert found.vertices[:, 0].tolist() == [0.1, 0.10000000000000002, 0]


def test_a_file_whose_number_of_triangles_was_left_at_zero_is_read_with_a_remark() -> None:
    remarks, whole = Remarks(), binary(CORNERS)
    found = read_mesh(whole[:80] + bytes(4) + whole[84:], "a.stl", remarks=remarks)
    assert found.faces.tolist() == [[0, 1, 2], [1, 3, 2]] and remarks.sentences() == [f"{stl.UNCOUNTED} (a.stl)."]
    with pytest.raises(FormatError, match="claims 0 triangles, which take 84 bytes, but has 183"):
        read(whole[:80] + bytes(4) + whole[84:-1])


def test_no_facets_is_a_mesh_without_faces() -> None:
    assert read("solid empty\nendsolid empty\n").faces.shape == read(binary([])).faces.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO.replace(" outer loop\n", "", 1), "line 3: is vertex, where outer loop should stand"),
        (TWO.replace("endloop", "vertex 0 0 0\nendloop", 1), "line 7: is vertex, where endloop should stand"),
        (TWO.replace("endsolid two", "solid two"), "line 16: is solid, where facet should stand"),
        (TWO + "\nfacet normal 0 0 1\n", "line 18: is facet, where solid should stand"),
        (TWO[: TWO.index("endsolid")], "ends within a solid, without endsolid"),
        (TWO.replace("1e0 1 -0", "1e0 1"), "line 12: vertex has 2 numbers, there must be 3"),
        (TWO.replace("1e0 1 -0", "1e0 1 2e9"), "line 12: has the coordinate 2e\\+09"),
    ],
)
def test_a_line_out_of_place_is_named(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read(text)


def test_sorting_by_one_number_finds_every_point_once() -> None:
    points = np.random.default_rng(0).integers(0, 4, (3000, 3)).astype(float)
    order, new = stl._sorted_groups(points)
    assert new.sum() == len(np.unique(points, axis=0)) == 64
    assert sorted(order.tolist()) == list(range(3000))


def test_points_made_to_share_that_number_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def mixed(x: float) -> int:
        word = int(np.float64(x).view(np.uint64))
        return (word ^ (word >> 32)) * 0x9E3779B97F4A7C15 % 2**64

    others = ((x, np.uint64((mixed(1.0) - mixed(x)) % 2**64).view(np.float64)) for x in np.arange(2.0, 50.0))
    x, y = next((x, y) for x, y in others if np.isfinite(y))
    sorts: list[int] = []
    lexsort = np.lexsort
    monkeypatch.setattr(np, "lexsort", lambda keys: sorts.append(1) or lexsort(keys))
    order, new = stl._sorted_groups(np.array([[1.0, 0, 0], [x, y, 0], [1.0, 0, 0], [x, y, 0]]))
    assert sorts == [1]
    assert new.sum() == 2 and {frozenset(order[:2].tolist()), frozenset(order[2:].tolist())} == {frozenset({0, 2}), frozenset({1, 3})}


STRUCTURE = ["solid", "facet", "outer", "loop", "vertex", "endloop", "endfacet", "endsolid", "end"]
WORDS = st.sampled_from([*STRUCTURE, "1", "2.5", "-3", "x"])


@given(st.lists(st.lists(WORDS, max_size=5).map(" ".join) | st.just("vertex 1 2 3") | st.just("Endfacet"), max_size=8))
@examples(150)
def test_a_block_read_as_a_whole_says_what_its_lines_say(lines: list[str]) -> None:
    for block in text_blocks("\n".join([*lines, "solid"]).encode(), "a.stl"):
        whole = stl._whole_block(block)
        if whole is not None:
            by_line = stl._line_by_line(block, Findings("a.stl"))
            assert whole[0] == by_line[0]
            assert np.array_equal(whole[1], by_line[1]) and np.array_equal(whole[2], by_line[2])
