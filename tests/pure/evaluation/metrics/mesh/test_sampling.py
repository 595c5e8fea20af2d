import numpy as np
import pytest

from evaluation.metrics.mesh.sampling import morton_order, samples
from evaluation.metrics.mesh.surface import surface
from tests.support.evaluation.solids import SQUARE, box, mesh, shuffled, sphere


def of(shape):
    return surface(shape.vertices, shape.faces, 0.0)


def test_samples_lie_on_the_face_they_name():
    found = of(sphere(6))
    points, faces = samples(found, 2000)
    from_corner = points - found.points[found.faces[faces, 0]]
    assert np.abs(np.einsum("ij,ij->i", from_corner, found.normals()[faces])).max() < 1e-12


def test_faces_get_samples_by_their_area():
    shape = mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 0, 0), (8, 0, 0), (5, 1, 0)], [(0, 1, 2), (3, 4, 5)])
    found = of(shape)
    share = np.mean(samples(found, 100_000)[1] == int(found.areas.argmax()))
    assert share == pytest.approx(0.75, abs=0.005)


def test_samples_are_uniform_over_a_square():
    points, _ = samples(of(SQUARE), 100_000)
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=10, range=[[0, 1], [0, 1]])
    chi_squared = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_squared < 150  # 99 degrees of freedom: more than 148.2 once in a thousand draws


def test_samples_follow_the_seed_and_not_the_file():
    first, again, other = samples(of(box()), 500), samples(of(shuffled(box(), 3)), 500), samples(of(box()), 500, seed0=1)
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_morton_order_is_a_permutation_that_keeps_neighbours_together():
    points = np.random.default_rng(0).random((20_000, 3))
    order = morton_order(points)
    assert sorted(order) == list(range(len(points)))
    steps = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
    assert np.median(steps) < 0.1 * np.median(np.linalg.norm(np.diff(points, axis=0), axis=1))


def test_one_point_and_equal_points_have_an_order():
    assert morton_order(np.zeros((1, 3))).tolist() == [0]
    assert sorted(morton_order(np.ones((5, 3)))) == [0, 1, 2, 3, 4]
