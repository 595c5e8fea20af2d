"""Inputs as organizers state them: as a table, and computed from files."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from submissions.formats.errors import FormatError, TableError
from submissions.formats.inputs import COLUMNS, of_files, read_table, write_table
from submissions.manifest import Input

HEAD = ",".join(COLUMNS)
POINTS = np.array([[0.0, 0, 0], [4, 3, 2], [1, 5, -1]])
BOX = Input((0.0, 0.0, -1.0), (4.0, 5.0, 2.0), 3, "")


def test_a_table_is_read_back_as_it_was_written():
    inputs = {"house_01": BOX, "house_02": Input((0.1, 0.2, 0.3), (1e6, 2e6, 300.125), 0, "mm")}
    assert read_table(write_table(inputs)) == inputs and read_table("") == read_table(" \n") == {}


def test_points_and_unit_may_be_left_out_and_columns_stand_in_any_order():
    head = "max_z,item,min_x,min_y,min_z,max_x,max_y"
    assert read_table(f"{head}\n2,a,0,0,-1,4,5\n") == {"a": Input((0, 0, -1), (4, 5, 2))}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a,0,0,0,1,1,one,,", "max_z is 'one'"),
        ("a,0,0,0,1,1,nan,,", "within"),
        ("a,0,0,0,-1,1,1,,", "least coordinate above"),
        ("a,1,1,1,1,1,1,,", "no extent"),
        ("a,0,0,0,1,1,1,many,", "points is 'many'"),
        ("a,0,0,0,1,1,1,,yards", "'yards' is not one of"),
        (",0,0,0,1,1,1,,", "no name"),
        ("a,0,0", "min_z is ''"),
        ("a,0,0,0,1,1,1,,\na,0,0,0,1,1,1,,", "is in the file twice"),
    ],
)
def test_a_row_that_will_not_do_is_named_by_its_line(row, words):
    with pytest.raises(TableError) as refused:
        read_table(f"{HEAD}\n{row}\n")
    assert words in refused.value.problems[0] and refused.value.problems[0].startswith("Line ")


def test_a_table_without_its_head_says_which_one_it_wants():
    with pytest.raises(TableError, match="must read item,min_x"):
        read_table("house_01,0,0,0,1,1,1\n")


def las() -> bytes:
    header = bytearray(227)
    header[:4] = b"LASF"
    struct.pack_into("<I", header, 107, 3)
    struct.pack_into("<6d", header, 179, 4, 0, 5, 0, 2, -1)
    return bytes(header)


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz() -> bytes:
    out = io.BytesIO()
    np.savez(out, points=POINTS)
    return out.getvalue()


TEXT = "\n".join(" ".join(map(str, [*row, 7])) for row in POINTS.tolist()).encode()
PLY = b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n" + b"\n".join(
    " ".join(map(str, row)).encode() for row in POINTS.tolist()
)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.xyz", TEXT),
        ("a.txt", b"x y z intensity\n" + TEXT),
        ("a.pts", b"3\n" + TEXT),
        ("a.csv", b"x,y,z\n" + TEXT.replace(b" ", b",")),
        ("a.asc", b"# made by a scanner\n" + TEXT + b"\n\n"),
        ("a.npy", npy(np.c_[POINTS, [1, 2, 3]])),
        ("a.npz", npz()),
        ("a.las", las()),
        ("a.ply", PLY),
        ("a.obj", b"v 0 0 0\nv 4 3 2\nv 1 5 -1\nf 1 2 3\n"),
    ],
)
def test_every_format_gives_the_same_box(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    assert of_files(tmp_path / name) == {"a": BOX}


def test_an_archive_gives_its_items_alone_and_joins_several_scans_of_one(tmp_path: Path):
    path = tmp_path / "inputs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inputs/a.xyz", TEXT)
        archive.writestr("inputs/more/a.npy", npy(POINTS + 10))
        archive.writestr("inputs/b.xyz", TEXT)
        archive.writestr("inputs/readme.md", "points")
    found = of_files(path, {"a"})
    assert found == {"a": Input((0.0, 0.0, -1.0), (14.0, 15.0, 12.0), 6, "")}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.xyz", b"0 0 0\n1 two 3\n"),
        ("a.npy", b"no array"),
        ("a.npy", npy(np.zeros((3, 2)))),
        ("a.las", b"LASX"),
        ("a.las", bytes(las()[:179]) + struct.pack("<6d", *[float("nan")] * 6)),
        ("a.npy", npy(np.full((2, 3), np.inf))),
        ("a.npy", npy(np.array([{"a": 1}], dtype=object))),
        ("a.zip", b"PK no zip"),
    ],
)
def test_what_is_no_such_file_is_refused_with_a_sentence(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError):
        of_files(tmp_path / name)


def test_a_file_without_extent_says_nothing(tmp_path: Path):
    (tmp_path / "a.xyz").write_bytes(b"1 1 1\n1 1 1\n")
    assert of_files(tmp_path / "a.xyz") == {}
