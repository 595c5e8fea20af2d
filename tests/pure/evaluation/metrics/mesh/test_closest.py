"""Distances to the triangles themselves: by hand, against every triangle one by one, and under hostile meshes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh

from evaluation.metrics.mesh import closest
from evaluation.metrics.mesh.closest import distances, distances_within

LONG = 600.0  # seconds; no test takes them
TRIANGLE = np.array([[(0, 0, 0), (4, 0, 0), (0, 3, 0)]], float)


def as_mesh(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return triangles.reshape(-1, 3), np.arange(len(triangles) * 3).reshape(-1, 3)


def both(points, triangles: np.ndarray) -> np.ndarray:
    """Distances by both searches, which must agree."""
    points = np.asarray(points, float)
    found, exact = distances_within(points, *as_mesh(triangles), LONG)
    assert exact and found.tolist() == distances(points, *as_mesh(triangles)).tolist()
    return found


@pytest.mark.parametrize(
    ("point", "distance"),
    [
        ((1, 1, 2), 2.0),  # above the inside
        ((2, -5, 0), 5.0),  # beside an edge
        ((-3, -4, 0), 5.0),  # off a corner
        ((2, 1.5, 0), 0.0),  # on the long side
        ((4 + 3, 4, 0), np.hypot(3, 4)),  # off a corner: the long side ends there
        ((2 + 3, 1.5 + 4, 0), 5.0),  # straight out from the long side, whose normal is (3, 4)/5
    ],
)
def test_a_triangle_by_hand(point, distance) -> None:
    assert both([point], TRIANGLE)[0] == pytest.approx(distance, abs=1e-12)


def test_triangles_without_area_are_the_segments_and_points_they_are() -> None:
    flat = np.array([[(0, 0, 0), (2, 0, 0), (1, 0, 0)], [(9, 9, 9)] * 3], float)
    assert both([(1, 3, 0), (5, 4, 0), (9, 9, 10)], flat) == pytest.approx([3.0, 5.0, 1.0], abs=1e-12)


def one_by_one(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The same by trimesh's own routine, for every triangle."""
    near = [trimesh.triangles.closest_point(triangles, np.repeat(point[None], len(triangles), axis=0)) for point in points]
    return np.array([np.linalg.norm(found - point, axis=1).min() for found, point in zip(near, points, strict=True)])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 500])
def test_every_number_of_triangles_gives_the_least_of_all(n) -> None:
    rng = np.random.default_rng(n)
    # Of all sizes, so that the nearest centroid often is not of the nearest triangle.
    triangles = rng.normal(size=(n, 1, 3)) + rng.normal(size=(n, 3, 3)) * rng.exponential(0.5, size=(n, 1, 1))
    points = rng.normal(size=(150, 3)) * 2
    assert both(points, triangles) == pytest.approx(one_by_one(points, triangles), abs=1e-12)


def test_a_moved_surface_keeps_its_distances() -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    points = np.random.default_rng(0).normal(size=(200, 3))
    far = np.array([538_000.0, 6_584_000.0, 400.0])
    assert both(points + far, ball.triangles + far) == pytest.approx(both(points, ball.triangles), abs=1e-7)


def test_views_and_other_orders_in_memory_are_taken() -> None:
    ball = trimesh.creation.icosphere(subdivisions=1)
    points = np.random.default_rng(0).normal(size=(40, 6))[:, ::2]
    corners, faces = np.asfortranarray(ball.vertices), np.asarray(ball.faces, np.int64)
    found, exact = distances_within(points, corners, faces, LONG)
    assert exact and found == pytest.approx(one_by_one(points, np.asarray(ball.triangles)), abs=1e-12)


def test_points_for_which_every_triangle_counts_get_an_upper_bound_once_time_is_up(monkeypatch) -> None:
    ball = trimesh.creation.icosphere(subdivisions=3)
    corners, faces = np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64)
    points = np.random.default_rng(0).normal(scale=1e-6, size=(5000, 3))  # all triangles are equally near
    ticks = itertools.count()
    monkeypatch.setattr(closest.time, "monotonic", lambda: float(next(ticks)))
    found, exact = distances_within(points, corners, faces, 11.0)
    least = distances(points, corners, faces)
    # A reading each at the begin, before a step and after it; no step is within the pace, so each is half the last.
    measured = 16 + 8 + 4 + 2 + 1
    assert not exact and found[:measured] == pytest.approx(least[:measured], abs=1e-12)
    assert (found >= least - 1e-12).all() and (found[measured:] > least[measured:] + 1e-6).all()
    assert found.max() <= 1.5, "a corner, and at most half as far again as the nearest"
