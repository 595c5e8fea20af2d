"""Cameras: where points land, and the grid of views."""

import math

import numpy as np
import pytest

from evaluation.rendering.cameras import View, around, grid, looking, turntable


def test_a_point_ahead_is_in_the_middle_and_others_lie_right_and_below():
    camera = looking(np.array([0.0, -2.0, 0.0]), np.zeros(3), field=90)
    places = camera.projected(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, -1]]), 200, 100)
    # 90° from top to bottom: at depth 2 the image shows 4 units over 100 pixels
    assert np.allclose(places, [[100, 50], [125, 50], [100, 75]])


def test_a_camera_is_a_rotation_also_where_it_looks_straight_down():
    for eye in ([1.0, 2, 3], [0.0, 0, 5], [0.0, 0, -5]):
        turn = looking(np.array(eye), np.zeros(3)).turn
        assert np.allclose(turn @ turn.T, np.eye(3)) and np.linalg.det(turn) == pytest.approx(1)


def test_the_grid_is_24_azimuths_at_11_elevations_and_two_poles():
    views = grid()
    assert len(views) == 266 and len({(view.azimuth, view.elevation) for view in views}) == 266
    assert [view.elevation for view in views[-2:]] == [-90, 90]
    assert {view.elevation for view in views[:-2]} == set(range(-75, 76, 15))
    assert {view.azimuth for view in views} == set(range(0, 360, 15))
    assert [view.name for view in views] == [str(n) for n in range(266)]


def test_the_turntable_is_the_grids_equator():
    equator = {(view.azimuth, view.elevation) for view in grid() if view.elevation == 0}
    assert {(view.azimuth, view.elevation) for view in turntable()} == equator
    assert [view.azimuth for view in turntable(4)] == [0, 90, 180, 270]


@pytest.mark.parametrize("view", [View("0", 0, 0), View("1", 75, -45), View("2", 0, 90), View("3", 0, -90)])
def test_the_whole_ball_is_in_the_image_with_a_margin(view):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 3))
    points = np.array([1.0, 2, 3]) + 0.7 * points / np.linalg.norm(points, axis=1, keepdims=True)
    places = around(view, np.array([1.0, 2, 3]), 0.7).projected(points, 100, 100)
    assert 0 < places.min() < 5 and 95 < places.max() < 100


def test_azimuth_0_looks_from_x_and_90_from_y():
    for azimuth, eye in ((0, [1.0, 0, 0]), (90, [0.0, 1, 0])):
        camera = around(View("", azimuth, 0), np.zeros(3), 1.0)
        assert np.allclose(camera.eye / np.linalg.norm(camera.eye), eye)
        assert np.linalg.norm(camera.eye) == pytest.approx(1.05 / math.sin(math.radians(20)))
