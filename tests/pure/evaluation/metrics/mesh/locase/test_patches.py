"""What the network sees around a vertex."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from evaluation.metrics.mesh.locase.patches import Surroundings, parts


def test_patches_against_all_distances():
    points = np.random.default_rng(0).normal(size=(200, 3))
    away = cdist(points, points)
    nearest = np.argsort(away, axis=1)[:, :64]
    around = Surroundings(points)
    radius = around.radius()
    assert radius == pytest.approx(np.sort(away, axis=1)[:, :64].mean())
    made = around.patches(np.array([3, 77]), radius)
    assert made.shape == (2, 64, 7) and made.dtype == np.float32
    for row, vertex in enumerate((3, 77)):
        assert made[row, :, :3] == pytest.approx((points[nearest[vertex]] - points[vertex]) / radius, abs=1e-6)
        assert made[row, :, 3] == pytest.approx(np.linalg.norm(made[row, :, :3], axis=1), abs=1e-5)
        assert (made[row, 0, :4] == 0).all() and made[row, :, 4:] == pytest.approx(np.tile(points[vertex], (64, 1)), abs=1e-6)


def test_few_points_are_gone_through_again():
    points = np.eye(5, 3)
    points[4] = [2, 2, 2]
    number, distance = Surroundings(points).neighbours(np.arange(5))
    assert number.shape == (5, 64) and (number[:, 0] == np.arange(5)).all()
    assert np.array_equal(number[:, :5], number[:, 5:10]) and np.array_equal(distance[:, :4], distance[:, 60:])


def test_absurd_distances_stay_finite():
    points = np.random.default_rng(1).normal(size=(80, 3))
    made = Surroundings(points).patches(np.arange(80), 1e-300)
    assert np.isfinite(made).all() and np.abs(made).max() <= 1e4


def test_parts_cover_everything_once():
    assert [part.tolist() for part in parts(5, 2)] == [[0, 1], [2, 3], [4]] and parts(0, 3) == []
