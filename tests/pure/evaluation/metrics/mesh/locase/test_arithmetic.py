"""Sums, axes and angles that no processor turns: against the libraries whose last digits it may."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation.metrics.mesh.locase.arithmetic import direction, lengths, power, principal_axes, total, totals, turned_to


def test_a_sum_is_rounded_once_whatever_the_order():
    rng = np.random.default_rng(0)
    values = rng.normal(size=999) * 10.0 ** rng.integers(-12, 12, 999)
    exact = float(sum(map(Fraction, values)))
    assert {total(rng.permutation(values)) for _ in range(5)} == {exact}
    assert totals(np.stack([values, -values], 1)).tolist() == [exact, -exact]


def test_the_axes_are_the_eigenvectors_longest_first():
    points = np.random.default_rng(1).normal(size=(80, 3)) @ np.array([[3, 1, 0], [0, 2, 0.5], [0.2, 0, 1]])
    axes = principal_axes(points)
    _, theirs = np.linalg.eigh(points.T @ points)
    assert np.abs((axes * theirs[:, ::-1]).sum(axis=0)) == pytest.approx(1, abs=1e-12)
    assert turned_to(points, axes) == pytest.approx(points @ axes, abs=1e-12) and np.allclose(axes.T @ axes, np.eye(3), atol=1e-14)
    assert lengths(points) == pytest.approx(np.linalg.norm(points, axis=1), rel=1e-14)


def test_a_cube_has_its_edges_for_axes():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / math.sqrt(3)
    assert principal_axes(corners).tolist() == np.eye(3).tolist()
    assert principal_axes(corners * [1, 2, 3]).tolist() == np.eye(3)[:, ::-1].tolist()


def test_a_power_is_that_of_a_complex_number():
    x, y = np.random.default_rng(2).normal(size=(2, 20))
    for exponent in (1, 2, 5, 16):
        real, imaginary = power(x, y, exponent)
        assert real + 1j * imaginary == pytest.approx((x + 1j * y) ** exponent, rel=1e-12)


@pytest.mark.parametrize("share", [1, 2, 3, 4, 16])
def test_a_share_of_an_angle(share):
    for angle in (-3.1415, -2.0, -1e-9, 0.0, 0.3, 1.0, math.pi / 2, 3.0, math.pi):
        x, y = 7.3 * math.cos(angle), 7.3 * math.sin(angle)
        wanted = math.cos(angle / share), math.sin(angle / share)
        assert direction(x, y, share) == pytest.approx(wanted, abs=1e-15)
    assert direction(0.0, 0.0, share) == (1, 0)


def test_other_last_digits_of_the_library_leave_an_angle_as_it_is(monkeypatch):
    """Another C library's sine, cosine and arc tangent may be off by a unit in the last place."""
    directions = np.random.default_rng(3).normal(size=(50, 2)).tolist()
    expected = [direction(x, y, 3) for x, y in directions]
    for name in ("atan2", "cos", "sin"):
        own = getattr(math, name)
        monkeypatch.setattr(math, name, lambda *given, own=own: math.nextafter(own(*given), 9.0))
    assert [direction(x, y, 3) for x, y in directions] == expected
