"""The frame of a mesh: the worked example, and what must not change it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase.alignment import aligned, merged, shape, thinned, vertex_weights
from evaluation.synthetic.distortions import soup, subdivide
from evaluation.synthetic.meshes import mesh
from tests.support.examples import examples

EXAMPLE = np.array([[0, 0, 0], [4, 0, 0], [0, 2, 0], [0, 0, 1]], dtype=float)
ROWS = [
    [-0.465521, -0.304048, -0.279531],
    [1.656409, 0.064584, 0.008219],
    [-0.684852, 0.712130, 0.036056],
    [-0.506037, -0.472666, 0.235257],
]
TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_the_worked_example():
    assert aligned(EXAMPLE) == pytest.approx(np.array(ROWS), abs=1e-6)
    assert np.linalg.norm(aligned(EXAMPLE), axis=1).mean() == pytest.approx(1, abs=1e-12)
    found = shape(EXAMPLE, TETRAHEDRON)
    assert np.sort(found.points, axis=0) == pytest.approx(np.sort(ROWS, axis=0), abs=1e-6)


@examples(100)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_place_turn_and_size_do_not_change_the_frame(seed, scale, shift):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) * [3, 2, 1] + rng.exponential(size=(60, 3))
    moved = Rotation.random(rng=rng).apply(points) * scale + shift
    assert aligned(moved) == pytest.approx(aligned(points), abs=1e-8 * max(1.0, abs(shift) / scale))


def test_an_exact_similarity_changes_almost_nothing():
    points = mesh("plane", 1).vertices
    turned = Rotation.from_euler("xyz", [0.3, -1.2, 2.0]).apply(points)
    assert np.abs(aligned(turned * 2) - aligned(points)).max() < 1e-12


def test_the_axes_come_longest_first_and_right_handed():
    points = aligned(mesh("table", 4).vertices)
    variances = (points**2).mean(axis=0)
    assert variances[0] > variances[1] > variances[2]
    assert (points[:, :2] ** 3).sum(axis=0).min() > -1e-9, "0 but for rounding along an axis of symmetry"
    source = mesh("table", 4).vertices
    map_ = np.linalg.lstsq(source - source.mean(axis=0), points, rcond=None)[0]
    assert np.linalg.det(map_) > 0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along_an_axis_of_symmetry_rounding_does_not_choose(axis):
    half = np.random.default_rng(axis).normal(size=(40, 3)) * [3, 2, 1] + [0, 0, 0.2]
    half[:, [0, 1, 2]] += 0.4 * half[:, [1, 2, 0]] ** 2  # lopsided along the other axes
    half[:, axis] = np.abs(half[:, axis])
    mirror = np.ones(3)
    mirror[axis] = -1
    points = np.concatenate([half, half * mirror])
    first = aligned(points)
    for far in (0.0, 1e3, 6.5e6):
        moved = Rotation.from_euler("xyz", [0.4, 1.0, -2.0]).apply(points) + far
        again = aligned(moved)
        same = min(np.abs(again - first).max(), np.abs(again - np.roll(first, 40, axis=0)).max())  # or each point's mirror image
        assert same < 1e-6


def test_soup_and_any_order_of_vertices_and_faces_give_the_same_bits():
    source, rng = mesh("chair", 2), np.random.default_rng(0)
    first = shape(source.vertices, source.faces)
    order = rng.permutation(len(source.vertices))
    places = np.argsort(order)
    shuffled = places[source.faces][rng.permutation(len(source.faces))]
    rolled = np.roll(shuffled, 1, axis=1)
    loose = soup(source)
    for vertices, faces in ((source.vertices[order], rolled), (loose.vertices, loose.faces)):
        again = shape(vertices, faces)
        assert np.array_equal(again.points, first.points) and np.array_equal(again.weights, first.weights)


def test_unused_vertices_and_flat_faces_count_for_nothing():
    vertices = np.concatenate([EXAMPLE, [[9, 9, 9], [2, 0, 0]]])
    faces = np.concatenate([TETRAHEDRON, [[0, 1, 5], [2, 2, 3]]])
    points, kept = merged(vertices, faces)
    assert len(points) == 4 and len(kept) == 4


def test_weights_are_thirds_of_areas_and_subdivision_spreads_them():
    points, faces = merged(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    assert vertex_weights(points, faces).tolist() == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 3])
    source = mesh("rock", 3)
    coarse, fine = shape(source.vertices, source.faces), shape(subdivide(source).vertices, subdivide(source).faces)
    assert coarse.weights.sum() == pytest.approx(1) and fine.weights.sum() == pytest.approx(1)
    assert (fine.weights @ np.abs(fine.points)) == pytest.approx(coarse.weights @ np.abs(coarse.points), rel=0.02)


def test_thinning_leaves_one_point_per_cell_and_the_whole_weight():
    rng = np.random.default_rng(1)
    points, weights = rng.random((3_000, 3)), rng.random(3_000)
    few, share = thinned(points, weights, 500)
    assert 400 < len(few) <= 500 and share.sum() == pytest.approx(weights.sum())
    assert (few[:, None] == points[None]).all(axis=-1).any(axis=1).all()
    assert thinned(points, weights, 3_000)[0] is points
    again, _ = thinned(points, weights, 500)
    assert np.array_equal(few, again)


def test_a_big_mesh_is_thinned_to_ten_thousand_points():
    source = mesh("blob", 1)
    for _ in range(2):
        source = subdivide(source)
    found = shape(source.vertices, source.faces)
    assert len(source.vertices) > 20_000 and 8_000 < len(found.points) <= 10_000 and found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("vertices", "faces"),
    [
        (np.empty((0, 3)), np.empty((0, 3), dtype=int)),
        (EXAMPLE, np.empty((0, 3), dtype=int)),
        (EXAMPLE[:3], [[0, 1, 2]]),
        (np.ones((5, 3)), [[0, 1, 2], [2, 3, 4]]),
        (np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0.0]]), [[0, 1, 2], [1, 2, 3]]),
    ],
)
def test_degenerate_meshes_have_no_shape(vertices, faces):
    assert shape(vertices, np.asarray(faces)) is None
