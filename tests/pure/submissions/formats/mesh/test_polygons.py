"""Polygons as triangles: every corner first, in three formats; bounds of the work; and colours as bytes."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

from submissions.formats.errors import FormatError, Remarks
from submissions.formats.mesh import polygons
from submissions.formats.mesh.mesh_files import Mesh, read_mesh
from submissions.formats.mesh.polygons import bytes_of

Points = Sequence[tuple[float, float]]

CONCAVE: dict[str, tuple[Points, float]] = {  # each with its area
    "L": ([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], 3),
    "arrowhead": ([(0, 0), (4, 0), (1, 1), (0, 4)], 4),
    "U": ([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)], 7),
    "T with corners on its edges": ([(1, 0), (2, 0), (2, 1), (2, 2), (3, 2), (3, 3), (1.5, 3), (0, 3), (0, 2), (1, 2)], 5),
    "comb": ([(0, -1), (7, -1), (7, 4), (6, 0), (5, 4), (4, 0), (3, 4), (2, 0), (1, 4), (0, 0)], 7 + 3 * 4 + 2),
    "ring cut open": ([(0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (1, 1), (1, 3), (3, 3), (3, 1), (1, 1)], 12),
    "corner given twice": ([(0, 0), (2, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], 3),
    "star": ([(np.cos(n * np.pi / 7) * (2 - n % 2), np.sin(n * np.pi / 7) * (2 - n % 2)) for n in range(14)], 14 * np.sin(np.pi / 7)),
}
PLACES = {  # of the plane: its origin and two directions of length 1
    "floor": ((0, 0, 0), (1, 0, 0), (0, 1, 0)),
    "wall seen from behind": ((0, 0, 0), (0, 0, 1), (0, 1, 0)),
    "roof far from the origin": ((456_789.0, 5_345_678.0, 512.0), (0.6, 0, 0.8), (0, 1, 0)),
}


def obj(points: np.ndarray) -> bytes:
    lines = ["v {:.17g} {:.17g} {:.17g}".format(*point) for point in points]
    return "\n".join([*lines, f"f {' '.join(str(n + 1) for n in range(len(points)))}", ""]).encode()


def off(points: np.ndarray) -> bytes:
    lines = ["{:.17g} {:.17g} {:.17g}".format(*point) for point in points]
    return "\n".join([f"OFF\n{len(points)} 1 0", *lines, f"{len(points)} {' '.join(map(str, range(len(points))))}", ""]).encode()


def ply(points: np.ndarray, order: str = "<") -> bytes:
    form = "binary_little_endian" if order == "<" else "binary_big_endian"
    head = f"ply\nformat {form} 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\n"
    head += "element face 1\nproperty list int int vertex_indices\nend_header\n"
    corners = np.arange(-1, len(points)).astype(f"{order}i4")
    corners[0] = len(points)
    return head.encode() + points.astype(f"{order}f8").tobytes() + corners.tobytes()


FORMATS = {"obj": obj, "off": off, "ply": ply}


def in_space(flat: Points, place: str) -> np.ndarray:
    origin, across, up = np.array(PLACES[place])
    return origin + np.array(flat)[:, :1] * across + np.array(flat)[:, 1:] * up


def crosses(mesh: Mesh) -> np.ndarray:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return np.cross(b - a, c - a)


def read(points: np.ndarray, suffix: str) -> tuple[Mesh, list[str]]:
    remarks = Remarks()
    return read_mesh(FORMATS[suffix](points), f"a.{suffix}", remarks=remarks), remarks.sentences()


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CONCAVE)
def test_a_concave_polygon_has_its_own_area_from_every_corner_and_both_ways_round(name: str, place: str, suffix: str) -> None:
    flat, area = CONCAVE[name]
    points = in_space(flat, place)
    for way in (points, points[::-1]):
        # Its normal by Newell, which says which side is its front.
        middle = way - way[0]
        normal = np.cross(middle, np.roll(middle, -1, axis=0)).sum(axis=0) / (2 * area)
        for first in range(len(way)):
            mesh, notes = read(np.roll(way, -first, axis=0), suffix)
            assert len(mesh.faces) == len(flat) - 2
            assert np.linalg.norm(crosses(mesh), axis=1).sum() / 2 == pytest.approx(area, rel=1e-6)
            assert (crosses(mesh) @ normal).min() >= -1e-6, "a triangle shows its back"
            assert notes == []


def test_a_convex_polygon_stays_a_fan_around_its_first_corner() -> None:
    turns = np.arange(12) * np.pi / 6
    points = in_space(list(zip(np.cos(turns), np.sin(turns), strict=True)), "roof far from the origin")
    for suffix in FORMATS:
        assert read(points, suffix)[0].faces.tolist() == [[0, n, n + 1] for n in range(1, 11)]


def test_polygons_of_all_sizes_keep_their_rows_and_their_colours() -> None:
    flat, area = CONCAVE["L"]
    text = "OFF\n8 4 0\n" + "".join(f"{x} {y} 0\n" for x, y in [*flat, (9, 9), (9, 8)])
    text += "3 0 1 2 255 0 0\n6 2 3 4 5 0 1 0 255 0\n4 0 1 2 3 0 0 255\n3 6 7 0 9 9 9\n"
    mesh = read_mesh(text.encode(), "a.off")
    assert mesh.face_colours is not None
    assert mesh.face_colours.tolist() == [[255, 0, 0], *[[0, 255, 0]] * 4, *[[0, 0, 255]] * 2, [9, 9, 9]]
    assert np.linalg.norm(crosses(mesh)[1:5], axis=1).sum() / 2 == pytest.approx(area)
    assert mesh.faces[[0, 7]].tolist() == [[0, 1, 2], [6, 7, 0]]


def test_a_polygon_that_is_not_planar_is_cut_in_its_mean_plane_and_noted() -> None:
    flat, area = CONCAVE["L"]
    points = np.column_stack([np.array(flat), [0, 0.2, 0, 0.2, 0, 0.2]])
    mesh, notes = read(points, "obj")
    assert np.abs(crosses(mesh)[:, 2]).sum() / 2 == pytest.approx(area, rel=0.05)  # seen along an axis near its mean normal
    assert notes == [f"{polygons.UNEVEN} (a.obj: line 7)."]
    assert read(np.column_stack([np.array(flat), [0, 1e-3, 0, 1e-3, 0, 1e-3]]), "ply")[1] == []


@pytest.mark.parametrize(
    "flat",
    [
        [(0, 0), (1, 1), (1, 0), (0, 1)],  # a bow tie, whose halves cancel out
        [(0, 0), (3, 3), (3, 0), (0, 1)],
        [(np.cos(n * 0.8 * np.pi), np.sin(n * 0.8 * np.pi)) for n in range(5)],  # a pentagram
    ],
)
@pytest.mark.parametrize(("suffix", "where"), [("obj", "line {}"), ("off", "line {}"), ("ply", "face 0")])
def test_a_polygon_that_crosses_itself_is_noted_and_read(flat: Points, suffix: str, where: str) -> None:
    mesh, notes = read(in_space(flat, "wall seen from behind"), suffix)
    line = len(flat) + {"obj": 1, "off": 3, "ply": 0}[suffix]
    assert notes == [f"{polygons.CROSSING} (a.{suffix}: {where.format(line)})."]
    assert len(mesh.faces) == len(flat) - 2


def test_a_polygon_without_an_area_stays_as_it_is() -> None:
    for flat in ([(0, 0), (1, 0), (2, 0), (3, 0)], [(1, 1)] * 5, [(0, 0), (2, 0), (1, 0), (3, 0), (0, 0)]):
        mesh, notes = read(in_space(flat, "floor"), "obj")
        assert mesh.faces.tolist() == [[0, n, n + 1] for n in range(1, len(flat) - 1)] and notes == []


@pytest.mark.parametrize(("suffix", "where"), [("obj", "line 100001"), ("off", "line 100003"), ("ply", "face 0")])
def test_100_000_crossing_corners_end_at_once_with_a_sentence(suffix: str, where: str) -> None:
    points = np.column_stack([np.random.default_rng(3).uniform(0, 1, (100_000, 2)), np.zeros(100_000)])
    data = FORMATS[suffix](points)
    begun = time.process_time()
    with pytest.raises(FormatError) as refused:
        read_mesh(data, f"a.{suffix}")
    assert time.process_time() - begun < 5
    said = "is a polygon of 100000 corners that is not convex or crosses itself; export triangles"
    assert str(refused.value) == f"a.{suffix}: {where}: {said}"


def test_many_such_polygons_of_one_file_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polygons, "MAX_SQUARES", 3 * 36 + 1)
    points = in_space(CONCAVE["L"][0], "floor")
    vertices = obj(points).decode().rpartition("f ")[0]
    assert len(read_mesh((vertices + "f 1 2 3 4 5 6\n" * 9 + "f 2 3 4 5 6 1\n" * 3).encode(), "a.obj").faces) == 48
    with pytest.raises(FormatError, match=r"a\.obj: line 7: is a polygon of 6 corners .* one of too many of its kind in this file"):
        read_mesh((vertices + "f 2 3 4 5 6 1\n" * 4).encode(), "a.obj")


def test_without_the_library_the_check_says_what_the_server_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    points = in_space(CONCAVE["L"][0], "floor")
    mesh, notes = read(np.roll(points, -1, axis=0), "obj")
    assert notes == [f"{polygons.ROUGH} (a.obj: line 7)."] and len(mesh.faces) == 4
    assert read(points[[0, 1, 2, 5]], "obj")[1] == [], "nothing is said of polygons that are convex"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([[0.0, 0.5, 1.0]], [[0, 128, 255]]),
        ([[1e308, -1e308, np.nan]], [[255, 0, 0]]),
        ([[0, 128, 255]], [[0, 128, 255]]),
        ([[-1, 256, 2**62]], [[0, 255, 255]]),
    ],
)
def test_shares_and_whole_numbers_become_bytes_and_the_rest_is_cut_off_without_a_warning(given, shown):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bytes_of(np.array(given)).tolist() == shown
