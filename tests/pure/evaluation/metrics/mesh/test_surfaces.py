import numpy as np
import point_cloud_utils
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.mesh import closest
from evaluation.metrics.mesh.distances import nearest
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
    FAR,
    NO_SURFACE,
    SQUARE,
    box,
    mesh,
    moved,
    noisy,
    pair,
    random_soup,
    rounded,
    scaled,
    shuffled,
    sphere,
    value,
)
from tests.support.examples import examples

chamfer_l1 = with_defaults("chamfer_l1")
normal_difference = with_defaults("normal_difference")
p2s = with_defaults("p2s")


def tilted(degrees: float):
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return mesh(SQUARE.vertices @ np.array([[1, 0, 0], [0, cos, sin], [0, -sin, cos]]), SQUARE.faces)


def test_worked_example_of_a_square_over_a_square():
    result = p2s(pair(moved(SQUARE, (0, 0, 0.2)), SQUARE))
    assert result.value == pytest.approx(0.2, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"p2s_max": 0.2}, abs=1e-12)
    larger = scaled(SQUARE, (3, 3, 1))
    assert value(p2s, moved(SQUARE, (1, 1, 0.2)), larger) == pytest.approx(0.2 / 3, abs=1e-12)
    assert value(p2s, moved(SQUARE, (1, 1, 0.2)), larger, normalize="none", unit_scale=0.01) == pytest.approx(0.002, abs=1e-12)


@pytest.mark.parametrize("degrees", [0, 30, 60, 90, 150])
def test_worked_example_of_a_tilted_square(degrees):
    expected = 1 - abs(np.cos(np.radians(degrees)))
    result = normal_difference(pair(tilted(degrees), SQUARE), n=2000)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"pred2gt": expected, "gt2pred": expected}, abs=1e-12)


def test_the_worked_number_for_thirty_degrees():
    assert value(normal_difference, tilted(30), SQUARE, n=2000) == pytest.approx(0.1339746, abs=1e-7)


def test_equal_surfaces_are_exactly_zero_and_inside_out_does_not_count():
    for shape in (sphere(8), moved(noisy(sphere(6), 0.05, 0), FAR), random_soup(3)):
        for metric in (p2s, normal_difference):
            assert value(metric, shuffled(shape, 1), shape, n=3000) == 0.0
            assert value(metric, mesh(shape.vertices, shape.faces[:, ::-1]), shape, n=3000) == 0.0


def test_a_part_of_the_reference_is_no_distance_from_it():
    half = mesh(sphere(8).vertices, sphere(8).faces[::2])
    assert value(p2s, half, sphere(8)) == 0.0
    assert value(chamfer_l1, half, sphere(8)) > 0.004, "the other half is missed"


@examples(10)
@given(st.integers(0, 100_000))
def test_distances_to_triangles_are_those_of_trimesh_to_each_triangle(seed):
    reference = pair(SQUARE, random_soup(seed)).reference
    points = np.random.default_rng(seed).normal(0, 1, (40, 3))
    triangles = reference.points[reference.faces]
    found = [trimesh.triangles.closest_point(triangles, np.repeat(point[None], len(triangles), axis=0)) for point in points]
    expected = [np.linalg.norm(each - point, axis=1).min() for each, point in zip(found, points, strict=True)]
    assert closest.distances(points, reference.points, reference.faces) == pytest.approx(np.array(expected), abs=1e-12)


def test_parity_with_trimesh_proximity():
    reference = noisy(sphere(10), 0.03, 0)
    found = pair(noisy(reference, 0.1, 1), reference)
    surface = found.reference
    _, expected, _ = trimesh.proximity.closest_point(
        trimesh.Trimesh(surface.points, surface.faces, process=False), found.prediction_cloud(2000).points
    )
    assert p2s(found, n=2000).value == pytest.approx(expected.mean(), abs=1e-6)


def test_parity_with_point_cloud_utils():
    found = pair(noisy(sphere(10), 0.1, 1), sphere(10))
    a, b = found.prediction_cloud(3000), found.reference_cloud(3000)
    assert nearest(a.points, b)[0] == pytest.approx(point_cloud_utils.k_nearest_neighbors(a.points, b.points, 1)[0], abs=1e-9)
    both = point_cloud_utils.chamfer_distance(a.points, b.points)  # the sum of the two means
    assert chamfer_l1(found, n=3000).value == pytest.approx(both / 2, abs=1e-9)


@pytest.mark.parametrize("prediction", NO_SURFACE)
def test_without_faces(prediction):
    directions = normal_difference(pair(prediction, box()))
    assert (directions.value, str(directions.status)) == (1.0, "empty_pred")
    distance = p2s(pair(prediction, box()))
    if prediction is None or not len(prediction.vertices):
        assert (distance.value, str(distance.status)) == (pytest.approx(np.sqrt(3)), "empty_pred")
    else:
        assert (distance.value, distance.flags) == (p2s(pair(prediction, box()), n=1).value, ("points_only",))


def test_a_shift_of_millions_changes_nothing_above_a_millionth():
    for seed, shape in enumerate((sphere(8), box(), random_soup(5))):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.05, seed))
        for metric in (p2s, normal_difference):
            here = value(metric, prediction, reference, n=5000)
            assert value(metric, moved(prediction, FAR), moved(reference, FAR), n=5000) == pytest.approx(here, rel=1e-6)
