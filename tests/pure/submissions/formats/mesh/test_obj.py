import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.formats.errors import Findings, FormatError
from submissions.formats.lines import text_blocks
from submissions.formats.mesh import obj
from submissions.formats.mesh.mesh_files import Mesh, read_mesh
from tests.support.examples import examples

SQUARE = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def read(data: bytes, library: bytes | None = None) -> Mesh:
    return read_mesh(data, "a.obj", companions=lambda name: library if name == "paint.mtl" else None)


def test_a_polygon_becomes_a_fan_around_its_first_corner() -> None:
    assert read(SQUARE + b"f 2 3 4 1\n").faces.tolist() == [[1, 2, 3], [1, 3, 0]]


@pytest.mark.parametrize(
    "face", [b"f 1 2 3", b"f 1/7 2/8 3/9", b"f 1//7 2//8 3//9", b"f 1/7/7 2/8/8 3/9/9", b"f 1 2/8 3//9", b"f -4 -3 -2", b" f  1\t2 3 # x"]
)
def test_texture_and_normal_numbers_and_counting_backwards_make_no_difference(face: bytes) -> None:
    assert read(SQUARE + face).faces.tolist() == [[0, 1, 2]]


def test_counting_backwards_counts_from_the_line_itself() -> None:
    found = read(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 5 0 0\nf -3 -2 -1\n" * 2)
    assert found.faces.tolist() == [[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]]


def test_line_ends_byte_order_mark_and_odd_comments_are_taken() -> None:
    text = b"\xef\xbb\xbf# caf\xe9 in Latin-1\r\n" + SQUARE.replace(b"\n", b"\r\n") + b"\r\nf 1 2 3"
    assert len(read(text).faces) == 1
    assert len(read(SQUARE.replace(b"\n", b"\r") + b"f 1 2 3\r").faces) == 1


def test_a_point_cloud_and_a_file_of_lines_have_no_faces() -> None:
    assert read(SQUARE).faces.shape == (0, 3)
    assert read(SQUARE + b"l 1 2\n").faces.shape == (0, 3)


def test_materials_colour_the_faces_behind_them_and_win_over_vertex_colours() -> None:
    library = b"# paint\nnewmtl red\nKd 1 0 0\n\nnewmtl light blue\nKd 0.5 0.5 1\nnewmtl bare\nNs 3\nnewmtl odd\nKd spectral x.rfl\n"
    text = b"mtllib paint.mtl\n" + SQUARE + b"f 1 2 3\nusemtl red\nf 1 2 3 4\nusemtl light blue\nf 2 3 4\nusemtl bare\nf 1 3 4\n"
    plain, red, blue = [200, 200, 200], [255, 0, 0], [128, 128, 255]
    assert read(text, library).face_colours.tolist() == [plain, red, red, blue, plain]
    assert read(text).face_colours is None
    coloured = text.replace(b"v 0 0 0\nv 1 0 0\nv 1 1 0", b"v 0 0 0 0 0 0\nv 1 0 0 0 0 0\nv 1 1 0 0 0 1")
    assert read(coloured, library).face_colours.tolist() == [[0, 0, 85], red, red, blue, [67, 67, 152]]


@pytest.mark.parametrize(
    "points", [b"v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\n", b"v 0 0 0 255 0 0\nv 1 0 0 255 0 0\nv 0 1 0 255 0 0\n"]
)
def test_vertex_colours_to_one_and_to_255(points: bytes) -> None:
    assert read(points + b"f 1 2 3\n").face_colours.tolist() == [[255, 0, 0]]


def test_a_broken_library_costs_no_more_than_its_colours() -> None:
    text = b"mtllib paint.mtl\n" + SQUARE + b"usemtl red\nf 1 2 3\n"
    assert read(text, b"newmtl red\nKd one 0 0\nKd 1 0\n").face_colours is None
    assert read(text, b"  \n").face_colours is None


def test_twenty_faults_are_described_and_all_are_counted() -> None:
    with pytest.raises(FormatError) as caught:
        read(SQUARE + b"f 1 2 9\n" * 50)
    assert len(caught.value.all()) == 20 and caught.value.count == 50
    assert (caught.value.file, caught.value.where) == ("a.obj", "line 5")
    with pytest.raises(FormatError) as caught:
        read(SQUARE + b"f 1 2 x\n" * 50)
    assert len(caught.value.all()) == 20


def test_a_fault_far_down_is_found_in_its_own_line() -> None:
    text = SQUARE * 100_000 + b"f 1 2 3\n" * 1000 + b"f 1 two 3\n"
    with pytest.raises(FormatError, match=r'line 401001: "two" is not a vertex number'):
        read(text)


@pytest.mark.parametrize("face", [b"f 1 - 2 3", b"f -4 - 2 3-1", b"f 1 2 3 +", b"f 1/1 -/1 3/1"])
def test_a_sign_that_stands_alone_is_no_number(face: bytes) -> None:
    """It would be taken for that of the next number."""
    with pytest.raises(FormatError, match=r'line 5: "[+-](/1)?" is not a vertex number'):
        read(SQUARE + face + b"\n")


RECORDS = ["v", "f", "vn", "vt", "l", "#", "usemtl", "mtllib", "g", "o"]
NUMBERS = ["1", "2", "3", "-1", "-2", "0.5", "1e2", "1/2", "1//2", "3/1/1", "x", "1.5.2", "1-2", "nan", "-", "+/1"]
WORDS = st.sampled_from(RECORDS + NUMBERS)
LINES = st.lists(
    st.lists(WORDS, max_size=6).map(" ".join)
    | st.just("v 1 2 3")
    | st.just("f 1 1/2 1//3")
    | st.just("f 1 1 1 1")
    | st.just("vn 1 2 3")
    | st.just("usemtl red # x"),
    max_size=8,
)


@given(LINES)
@examples(150)
def test_a_block_read_as_a_whole_says_what_its_lines_say(lines: list[str]) -> None:
    for block in text_blocks("\n".join([*lines, "# end"]).encode(), "a.obj"):
        whole = obj._whole_block(block)
        if whole is not None:
            by_line = obj._line_by_line(block, Findings("a.obj"))
            for name in ("coordinates", "vertex_lines", "numbers", "sizes", "face_lines", "above"):
                assert np.array_equal(getattr(whole, name), getattr(by_line, name)), name
            assert (whole.others, whole.colours) == (by_line.others, by_line.colours)


def test_plain_files_are_read_as_a_whole() -> None:
    text = b"# made by hand\nmtllib a.mtl\ng all\ns off\n" + SQUARE + b"vt 0 0\nvn 0 0 1\nusemtl b\nf 1/1/1 2/1/1 3/1/1\nf 1 2 3 4\n\n"
    (block,) = text_blocks(text, "a.obj")
    assert obj._whole_block(block) is not None
