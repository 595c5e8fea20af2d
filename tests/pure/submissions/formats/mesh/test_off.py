import pytest

from submissions.formats.errors import FormatError
from submissions.formats.mesh.mesh_files import Mesh, read_mesh

BODY = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 1 2 3\n"
FACES = [[0, 1, 2], [0, 2, 3], [1, 2, 3]]


def read(text: str) -> Mesh:
    return read_mesh(text.encode(), "a.off")


@pytest.mark.parametrize(
    "text",
    [
        f"OFF\n4 2 0\n{BODY}",
        f"OFF 4 2 5\n{BODY}",
        f"OFF4 2 0\n{BODY}",
        f"# by hand\n\nOFF # vertices first\n4 2\n\n{BODY}".replace("1 1 0\n", "1 1 0 # a corner\n# done\n"),
        f"OFF\r\n4 2 0\r\n{BODY}".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"NOFF\n4 2 0\n{BODY}".replace("0 0 0\n1 0 0\n1 1 0\n0 1 0\n", "0 0 0 0 0 1\n1 0 0 0 0 1\n1 1 0 0 0 1\n0 1 0 0 0 1\n"),
    ],
)
def test_every_way_to_begin_and_polygons_as_fans(text: str) -> None:
    found = read(text)
    assert found.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert found.faces.tolist() == FACES and found.face_colours is None


def test_colours_of_faces_in_bytes_or_fractions_or_by_a_table() -> None:
    plain = [200, 200, 200]
    assert read(f"OFF\n4 2 0\n{BODY}".replace("3 1 2 3", "3 1 2 3 255 0 9")).face_colours.tolist() == [plain, plain, [255, 0, 9]]
    assert read(f"OFF\n4 2 0\n{BODY}".replace("3 1 2 3", "3 1 2 3 1 0.5 0 1")).face_colours.tolist() == [plain, plain, [255, 128, 0]]
    assert read(f"OFF\n4 2 0\n{BODY}".replace("3 1 2 3", "3 1 2 3 7")).face_colours is None


@pytest.mark.parametrize("head", ["COFF", "OFF"])
def test_colours_of_vertices_are_averaged(head: str) -> None:
    text = f"{head}\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 0 0 255 255\n3 0 1 2\n"
    assert read(text).face_colours.tolist() == [[85, 85, 85]]


def test_a_fault_is_named_by_its_line_in_the_file() -> None:
    with pytest.raises(FormatError, match=r"^a\.off: line 9: face names vertex 8, there are 4, counted from 0$"):
        read(f"# one\n\nOFF\n4 2 0\n{BODY}".replace("4 0 1 2 3", "4 0 1 2 8"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\x1a\n\x1f\n", 6),
        ("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\x1f\n3 0 1 2\n", 7),
    ],
)
def test_a_control_character_is_no_number_with_words_beside_it_or_alone(text: str, line: int) -> None:
    with pytest.raises(FormatError, match=f"a.off: line {line}: "):
        read(text)
