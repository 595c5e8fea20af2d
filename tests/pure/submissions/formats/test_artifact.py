"""Stored sets of items: what is not one is refused in a sentence, whichever family it is of."""

import numpy as np
import pytest

from submissions.formats.artifact import Stored, counts, id_bytes, rows
from submissions.formats.errors import FormatError
from submissions.formats.mesh import mesh_files
from submissions.formats.npz import write_npz
from submissions.formats.wireframe import wireframe_files

TWO = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0]])]


def stored(**changes) -> bytes:
    arrays = {"ids": id_bytes(["a", "b"]), "n": counts(TWO), "points": rows((2,), np.float64, TWO)} | changes
    return write_npz({name: array for name, array in arrays.items() if array is not None})


def read(data: bytes) -> Stored:
    return Stored.read(data, ("n",), {"points": (2,)}, "drawings")


def test_rows_come_back_item_by_item_and_can_be_written_to() -> None:
    found = read(stored())
    first, second = found.split("points", found.arrays["n"])
    assert found.ids == ["a", "b"] and first.tolist() == TWO[0].tolist() and second.tolist() == TWO[1].tolist()
    first[:] = 0
    assert second.tolist() == [[5, 6]]


def test_nothing_is_stored_and_read_back_as_nothing() -> None:
    found = read(write_npz({"ids": id_bytes([]), "n": counts([]), "points": rows((2,), np.float64, [])}))
    assert found.ids == [] and found.split("points", found.arrays["n"]) == [] and found.arrays["points"].shape == (0, 2)


def _read_and_split(data: bytes) -> None:
    found = read(data)
    found.split("points", found.arrays["n"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"points": None}, "points: is missing; this is not a stored set of drawings"),
        ({"n": np.array([3])}, "lists of different lengths; this is not a stored set of drawings"),
        ({"n": np.array([[2, 1]])}, r"n: has the shape \(1, 2\), it must be \(N,\)"),
        ({"points": np.zeros((3, 3))}, r"points: has the shape \(3, 3\), it must be \(N, 2\)"),
        ({"points": np.zeros((0, 10**9)), "n": np.array([0, 0])}, r"points: has the shape \(0, 1000000000\), it must be \(N, 2\)"),
        ({"ids": id_bytes(["a", "b", "c"])}, "lists of different lengths"),
        ({"n": np.array([2, 2])}, "counts that do not fit"),
        ({"n": np.array([4, -1])}, "counts that do not fit"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, words) -> None:
    with pytest.raises(FormatError, match=words):
        _read_and_split(stored(**changes))


@pytest.mark.parametrize(("family", "what"), [(mesh_files, "meshes"), (wireframe_files, "wireframes")])
def test_each_family_names_what_it_wanted(family, what) -> None:
    with pytest.raises(FormatError, match=f"not a stored set of {what}"):
        family.unpack(stored())


def test_marks_of_another_length_than_the_items_are_refused() -> None:
    empty = {"vertices": np.zeros((0, 3)), "faces": np.zeros((0, 3), np.int32), "face_colours": np.zeros((0, 3), np.uint8)}
    per_item = {"ids": id_bytes(["a", "b"]), "vertex_counts": np.zeros(2, int), "face_counts": np.zeros(2, int)}
    with pytest.raises(FormatError, match="lists of different lengths"):
        mesh_files.unpack(write_npz({**per_item, **empty, "coloured": np.zeros(3, np.uint8)}))
