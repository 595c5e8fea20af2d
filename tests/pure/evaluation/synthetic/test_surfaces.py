"""Closed surfaces against volumes known in closed form."""

import math

import numpy as np
import pytest

from evaluation.synthetic.surfaces import box, circle, joined, lathe, level_set, outwards, prism, sweep, volume


def test_a_box_holds_exactly_its_volume_and_shares_its_edges():
    vertices, faces = box((1, 2, 3), (2, 4, 6), 0.5)
    assert volume(vertices, faces) == pytest.approx(6, rel=1e-12)
    assert len(vertices) == 2 * (3 * 5 + 3 * 7 + 5 * 7) - 4 * (3 + 5 + 7) + 8
    assert len(vertices) - len(faces) * 3 // 2 + len(faces) == 2  # Euler


def test_a_level_set_of_a_ball_has_the_balls_volume_and_radius():
    vertices, faces = level_set(lambda points: np.linalg.norm(points, axis=1) - 0.8, -1.2, 1.2, 32)
    assert volume(vertices, faces) == pytest.approx(4 / 3 * math.pi * 0.8**3, rel=0.02)
    assert np.linalg.norm(vertices, axis=1) == pytest.approx(0.8, abs=0.02)


def test_a_lathe_makes_a_cylinder_and_a_closed_sweep_a_ring():
    profile = np.array([[0.5, 0.0], [1.0, 0.0], [1.0, 2.0], [0.5, 2.0]])
    assert volume(*lathe(profile, 200)) == pytest.approx(2 * math.pi, rel=1e-3)
    ring = np.concatenate([circle(120), np.zeros((120, 1))], axis=1)
    assert volume(*sweep(ring, circle(60, 0.25), closed=True)) == pytest.approx(2 * math.pi**2 * 0.25**2, rel=5e-3)


def test_a_prism_tapers():
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)
    assert volume(*prism(square, 3.0, 5, 2)) == pytest.approx(12, rel=1e-12)
    assert volume(*prism(square, 3.0, 200, 2, taper=0.5)) == pytest.approx(12 * (1 + 0.5 + 0.25) / 3, rel=1e-3)


def test_parts_keep_their_volumes_and_inverted_surfaces_are_turned():
    one, other = box((0, 0, 0), (1, 1, 1), 1), box((2, 0, 0), (4, 1, 1), 1)
    assert volume(*joined([one, other])) == pytest.approx(3)
    vertices, faces = one
    assert volume(*outwards(vertices, faces[:, ::-1])) == pytest.approx(1)
