"""Distances to the triangles themselves: by hand, against every triangle one by one, and under hostile meshes."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from evaluation.metrics.mesh import closest
from evaluation.metrics.mesh.closest import Surface

TRIANGLE = np.array([[(0, 0, 0), (4, 0, 0), (0, 3, 0)]], float)


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
    found, exact = Surface(TRIANGLE).distances(np.array([point], float))
    assert exact and found[0] == pytest.approx(distance, abs=1e-12)


def test_triangles_without_area_are_the_segments_and_points_they_are() -> None:
    flat = np.array([[(0, 0, 0), (2, 0, 0), (1, 0, 0)], [(9, 9, 9)] * 3], float)
    points = np.array([(1, 3, 0), (5, 4, 0), (9, 9, 10)], float)
    assert Surface(flat).distances(points)[0] == pytest.approx([3.0, 5.0, 1.0], abs=1e-12)


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
    found, exact = Surface(triangles).distances(points)
    assert exact and found == pytest.approx(one_by_one(points, triangles), abs=1e-12)


def test_a_moved_surface_keeps_its_distances() -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    points = np.random.default_rng(0).normal(size=(200, 3))
    far = np.array([538_000.0, 6_584_000.0, 400.0])
    found = Surface(ball.triangles + far).distances(points + far)[0]
    assert found == pytest.approx(Surface(ball.triangles).distances(points)[0], abs=1e-7)


def test_points_for_which_every_triangle_counts_end_soon_with_an_upper_bound(monkeypatch) -> None:
    ball = trimesh.creation.icosphere(subdivisions=4)
    points = np.random.default_rng(0).normal(scale=1e-6, size=(3000, 3))  # all triangles are equally near
    least = Surface(ball.triangles).distances(points[:50])[0]
    monkeypatch.setattr(closest, "MOST_TESTS", 200_000)
    monkeypatch.setattr(closest, "MOST_PAIRS", 400_000)
    found, exact = Surface(ball.triangles).distances(points)
    assert not exact and (found[:50] >= least - 1e-12).all() and found.max() <= 1.01
