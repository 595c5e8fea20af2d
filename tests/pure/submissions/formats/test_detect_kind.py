import pytest

from submissions.formats.detect_kind import family_of
from submissions.formats.errors import FormatError
from submissions.kinds import MESH, RENDER, WIREFRAME

LINES, FACES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3\n", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("files", "family"),
    [
        ({"a.json": b"{}"}, WIREFRAME),
        ({"a.npz": b""}, WIREFRAME),
        ({"submission.parquet": b""}, WIREFRAME),
        ({"a.glb": b""}, MESH),
        ({"a.PLY": b"", "b.stl": b"", "notes.json": b"{}"}, MESH),
        ({"a.obj": LINES}, WIREFRAME),
        ({"a.obj": FACES}, MESH),
        ({"a.obj": FACES + b"l 1 2\n"}, WIREFRAME),  # a wireframe's file may carry faces
        ({"a.obj": LINES, "b.obj": FACES, "c.obj": FACES}, MESH),
        ({"a.obj": b"# f 1 2 3\nv 0 0 0\n", "b.obj": b"  f 1 2 3"}, MESH),
        ({"a.txt": b"f 1 2 3"}, WIREFRAME),
    ],
)
def test_files_tell_what_they_are(tmp_path, files, family) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert family_of([tmp_path]) is family


@pytest.mark.parametrize("note", ["attic/rois.json", "attic/views.json", "prompts.json"])
def test_notes_beside_views_make_them_no_wireframes(tmp_path, note) -> None:
    for name in (note, "attic/00.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    assert family_of([tmp_path]) is RENDER


def test_the_second_path_is_asked_where_the_first_tells_nothing(tmp_path) -> None:
    for name, data in {"first": b"v 0 0 0\n", "second": FACES}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.obj").write_bytes(data)
    assert family_of([tmp_path / "first", tmp_path / "second"]) is MESH
    assert family_of([tmp_path / "first"]) is WIREFRAME


def test_what_is_no_package_is_said(tmp_path) -> None:
    (tmp_path / "a.zip").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="zip archive"):
        family_of([tmp_path / "a.zip"])
