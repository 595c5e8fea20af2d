"""The z-buffer against rays through every sample, and its edges."""

import numpy as np
import pytest

from evaluation.rendering import visibility
from evaluation.rendering.cameras import looking
from evaluation.rendering.visibility import NOTHING, seen

CAMERA = looking(np.array([0.0, -3.0, 0.5]), np.zeros(3), 60)


def by_rays(corners, camera, width, height, back_faces=True):
    """The nearest triangle along the ray through each sample, by Möller and Trumbore's test, one triangle after the other."""
    focal = camera.focal * height
    x, y = np.meshgrid((np.arange(width) + 0.5 - width / 2) / focal, (np.arange(height) + 0.5 - height / 2) / focal)
    rays = np.stack([x, y, np.ones_like(x)], -1) @ camera.turn
    nearest, found = np.full((height, width), np.inf), np.full((height, width), NOTHING)
    for number, (a, b, c) in enumerate(corners):
        e1, e2, s = b - a, c - a, camera.eye - a
        p = np.cross(rays, e2)
        det = p @ e1
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v, t = p @ s / det, rays @ np.cross(s, e1) / det, np.cross(s, e1) @ e2 / det
        hit = (np.abs(det) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-2) & (t < nearest)
        if not back_faces:
            hit &= det > 0
        nearest, found = np.where(hit, t, nearest), np.where(hit, number, found)
    return found


@pytest.mark.parametrize("back_faces", [True, False])
def test_it_sees_what_rays_hit(back_faces):
    rng = np.random.default_rng(1)
    corners = rng.normal(size=(60, 1, 3)) * 0.8 + rng.normal(size=(60, 3, 3)) * 0.5
    found = seen(corners, CAMERA, 96, 64, back_faces).triangle
    expected = by_rays(corners, CAMERA, 96, 64, back_faces)
    assert (expected != NOTHING).mean() > 0.2 and (found != expected).mean() < 2e-3


def test_triangles_that_reach_behind_the_camera_are_drawn_as_far_as_they_are_before_it():
    floor = np.array([[[-50.0, -50, -1], [50, -50, -1], [0, 80, -1]], [[-1.0, -9, 0], [1, -9, 0], [0, -5, 1]]])
    found = seen(floor, CAMERA, 80, 60).triangle
    assert (found == by_rays(floor, CAMERA, 80, 60)).mean() > 0.999
    assert (found[40:] == 0).all() and (found[:10] == NOTHING).all()


def test_a_surface_of_many_triangles_has_no_gaps():
    rng = np.random.default_rng(2)
    grid = np.stack(np.meshgrid(np.linspace(-4, 4, 30), np.linspace(-4, 4, 30), indexing="ij"), -1)
    grid[1:-1, 1:-1] += rng.uniform(-0.1, 0.1, (28, 28, 2))
    points = np.concatenate([grid[..., :1], 0 * grid[..., :1], grid[..., 1:]], -1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    corners = np.concatenate([np.stack([a, b, c], 2).reshape(-1, 3, 3), np.stack([a, c, d], 2).reshape(-1, 3, 3)])
    assert (seen(corners, CAMERA, 300, 300).triangle != NOTHING).all()


def test_degenerate_triangles_and_none_at_all_draw_nothing():
    line = np.array([[[0.0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0.0, 0, 0]] * 3])
    assert (seen(line, CAMERA, 20, 20).triangle == NOTHING).all()
    assert (seen(np.zeros((0, 3, 3)), CAMERA, 20, 20).triangle == NOTHING).all()


def test_the_result_does_not_depend_on_how_much_is_drawn_at_once(monkeypatch):
    corners = np.random.default_rng(3).normal(size=(50, 3, 3))
    whole = seen(corners, CAMERA, 60, 60).triangle
    monkeypatch.setattr(visibility, "AT_ONCE", 500)
    assert np.array_equal(seen(corners, CAMERA, 60, 60).triangle, whole)
