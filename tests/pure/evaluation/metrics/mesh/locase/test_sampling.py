"""Input of the network around a vertex.

The points looked at and the frames they are seen in.
"""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase.alignment import Shape, aligned, shape
from evaluation.metrics.mesh.locase.sampling import MAX_SEEN, Sampling, Surroundings, parts, sampled, sampling
from evaluation.synthetic.distortions import add_noise, subdivide
from evaluation.synthetic.meshes import mesh
from tests.support.evaluation.metrics.mesh.locase.simulated import brick


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


@pytest.mark.parametrize(("folds", "count"), [((0, 0), 4), ((3, 0), 8), ((0, 5), 8), ((4, 4), 24)])
def test_frames_are_rotations_in_every_order_that_nearly_equal_axes_may_come_in(folds, count):
    frames = Sampling(1.0, 0.0, folds).frames
    assert frames.shape == (count, 3, 3) and np.allclose(np.linalg.det(frames), 1)
    assert len({tuple(frame.round().astype(int).ravel()) for frame in frames}) == count
    if not any(folds):
        assert [frame for frame in frames if not (np.count_nonzero(frame) == 3 and (np.diag(frame) != 0).all())] == []


def test_axes_are_nearly_equal_within_five_hundredths():
    points = np.concatenate([np.eye(3), -np.eye(3)])
    for second, third, even in ((0.98, 0.5, [True, False]), (0.97, 0.5, [False, False]), (0.8, 0.79, [False, True]), (1, 1, [True, True])):
        scaled = points * np.sqrt([1, second**2, third**2])
        assert [fold > 0 for fold in sampling(Shape(scaled, np.full(6, 1 / 6))).folds] == even


def test_a_small_mesh_is_seen_whole_and_a_large_one_thinned_to_the_cells_of_the_reference():
    small = shape(*_arrays(brick(1.5)))
    assert sampling(small).cell == 0 and len(sampled(small, sampling(small)).points) == len(small.points)
    whole = mesh("rock", 3)
    coarse, fine = shape(*_arrays(whole)), shape(*_arrays(subdivide(whole)))
    how = sampling(coarse)
    seen = [sampled(points, how) for points in (coarse, fine)]
    assert MAX_SEEN / 2 < len(seen[0].points) <= MAX_SEEN
    assert len(seen[1].points) == pytest.approx(len(seen[0].points), rel=0.2), "one grain for both"
    assert [points.weights.sum() for points in seen] == pytest.approx([1, 1])


def test_thinning_ends_where_all_but_three_vertices_lie_in_one_place():
    """No grid that can be numbered tells the others apart."""
    vertices = np.random.default_rng(0).normal(size=(900, 3)) * 1e-4
    vertices[:3] = np.eye(3) * 1e7
    fan = [[k % 3, k, k + 1] for k in range(3, 899)]
    points = shape(vertices, np.array(fan))
    assert len(points.points) == 900 and len(sampled(points, sampling(points)).points) <= MAX_SEEN


def test_a_mirror_image_is_thinned_to_the_mirror_image():
    points = shape(*_arrays(mesh("rock", 3)))
    how, mirror = sampling(points), np.array([1.0, -1.0, -1.0])
    turned = sampled(Shape(points.points * mirror, points.weights), how)
    assert {tuple(p) for p in turned.points.round(9)} == {tuple(p) for p in (sampled(points, how).points * mirror).round(9)}


def test_noise_that_nobody_sees_turns_no_table_within_its_plane():
    """A square one, whose two long axes may point anywhere by the covariance alone."""
    side = np.linspace(-1, 1, 15)
    top = np.stack(np.meshgrid(side, side, [0.5]), -1).reshape(-1, 3)
    legs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in np.linspace(-0.5, 0.4, 9)])
    points = np.concatenate([top, legs])
    seen = []
    for seed in range(3):
        turn = Rotation.from_euler("z", 20 * seed, degrees=True).as_matrix()
        moved = points @ turn.T + np.random.default_rng(seed).normal(size=points.shape) * 1e-3
        given = Shape(moved - moved.mean(axis=0), np.full(len(points), 1 / len(points)))
        assert sampling(given).folds == (4, 0)
        seen.append(sampled(given, Sampling(1.0, 0.0, (4, 0))).points)
    for other in seen[1:]:
        quarter = [np.abs(other[:, None, :2] @ _turn(k) - seen[0][None, :, :2]).max(axis=2).min(axis=1).max() for k in range(4)]
        assert min(quarter) < 0.02


def test_noise_that_nobody_sees_turns_no_knot_of_three_loops():
    along = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    reach = 2 + np.cos(3 * along)
    points = np.stack([reach * np.cos(2 * along), reach * np.sin(2 * along), 0.5 * np.sin(3 * along)], -1)
    noisy = [points + np.random.default_rng(seed).normal(size=points.shape) * 1e-3 for seed in range(2)]
    given = [Shape(aligned(some), np.full(300, 1 / 300)) for some in (points, *noisy)]
    how = sampling(given[0])
    assert how.folds == (3, 0)
    seen = [sampled(some, how).points for some in given]
    for other in seen[1:]:
        assert min(cKDTree(other @ frame.T).query(seen[0])[0].max() for frame in how.frames) < 0.02


def test_a_sampling_comes_back_from_its_array():
    how = Sampling(0.3, 0.125, (4, 0))
    assert Sampling.from_array(how.to_array()) == how


def test_the_sampling_hardly_changes_with_invisible_noise():
    whole = mesh("chair", 5)
    noisy = add_noise(whole, 5e-4, np.random.default_rng(0))
    first, second = (shape(*_arrays(m)) for m in (whole, noisy))
    assert sampling(second).cell == sampling(first).cell and sampling(second).radius == pytest.approx(sampling(first).radius, rel=0.02)


def _arrays(given):
    return given.vertices, given.faces


def _turn(quarters):
    angle = np.pi / 2 * quarters
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
