import numpy as np
import pytest

from evaluation.metrics.mesh.pair import MeshPair
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import EMPTY, FAR, SQUARE, box, mesh, moved, noisy, pair, scaled, shuffled, sphere

chamfer_l1 = with_defaults("chamfer_l1")


def test_the_frame_is_that_of_the_references_surface():
    reference = mesh([*box((10, 0, 0), (14, 2, 1)).vertices, (99, 99, 99)], box().faces)
    found = pair(moved(box(), (12, 1, 0.5)), reference)
    assert found.centre.tolist() == [12, 1, 0.5]
    assert found.longest_side == 4
    assert found.pred_vertices[-1].tolist() == [0.25, 0.25, 0.25]
    assert np.ptp(found.reference.points, axis=0).tolist() == [1, 0.5, 0.25]


def test_degenerate_faces_do_not_widen_the_frame():
    reference = mesh([*box().vertices, (50, 0, 0), (60, 0, 0), (70, 0, 0)], [*box().faces, (8, 9, 10), (8, 8, 9)])
    assert pair(box(), reference).longest_side == 1


def test_lengths_in_the_two_frames():
    found = pair(box(), box((0, 0, 0), (400, 300, 0.5)), unit_scale=0.01)
    assert found.length("gt_unit") == 1
    assert found.length("none") == pytest.approx(4)
    assert found.diagonal("none") == found.reference_diagonal == pytest.approx(np.hypot(np.hypot(4, 3), 0.005))
    assert found.diagonal("gt_unit") == pytest.approx(found.reference_diagonal / 4)


@pytest.mark.parametrize(
    "reference",
    [EMPTY, mesh(SQUARE.vertices), mesh(SQUARE.vertices, [(0, 0, 1)]), mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])],
)
def test_a_reference_without_a_surface_is_refused(reference):
    with pytest.raises(ValueError, match="degenerate_gt"):
        pair(SQUARE, reference)


@pytest.mark.parametrize(
    ("vertices", "faces", "sentence"),
    [
        ([(0, 0)], [], "shape"),
        ([(0, 0, np.nan)], [], "not finite"),
        ([(0, 0, 0)], [(0, 0, 1)], "names a vertex"),
        ([(0, 0, 0)], [(0, 0, -1)], "names a vertex"),
        ([(0, 0, 0)], [(0.0, 0.0, 0.0)], "whole numbers"),
    ],
)
def test_arrays_that_are_no_mesh_are_a_programming_error(vertices, faces, sentence):
    with pytest.raises(ValueError, match=sentence):
        MeshPair(vertices, faces, SQUARE.vertices, SQUARE.faces)


def test_a_unit_must_be_positive():
    with pytest.raises(ValueError, match="unit_scale"):
        pair(SQUARE, SQUARE, unit_scale=0.0)


def test_a_prediction_is_a_surface_or_points_or_nothing():
    assert pair(None, SQUARE).prediction_cloud(10) is None
    assert pair(EMPTY, SQUARE).prediction_cloud(10) is None
    points = pair(mesh([(0.25, 0.5, 0), (0, 0, 0)], [(0, 0, 1)]), SQUARE).prediction_cloud(10)
    assert points.faces is None
    assert points.points.tolist() == [[-0.5, -0.5, 0], [-0.25, 0, 0]]
    assert len(pair(SQUARE, SQUARE).prediction_cloud(10).points) == 10


def test_a_prediction_far_below_the_references_size_has_no_surface():
    assert len(pair(scaled(SQUARE, 1e-6), SQUARE).prediction()) == 2
    assert len(pair(scaled(SQUARE, 1e-8), SQUARE).prediction()) == 0


def test_equal_meshes_give_equal_samples_wherever_they_are():
    shape = moved(noisy(sphere(8), 0.01, 0), FAR)
    found = pair(shuffled(shape, 1), shape)
    assert np.array_equal(found.prediction_cloud(1000).points, found.reference_cloud(1000).points)


def test_the_references_side_is_kept_between_predictions(monkeypatch):
    kept, reference = {}, sphere(6)
    first = chamfer_l1(MeshPair.of(noisy(reference, 0.1, 0), reference, prepared=kept), n=500)
    assert {key.partition(" n=")[0] for key in kept} == {"mesh surface", "mesh samples"}
    monkeypatch.setattr("evaluation.metrics.mesh.pair.MeshPair._reference", None)  # must not be asked for again
    stored = {key: tuple(array.copy() for array in arrays) for key, arrays in kept.items()}
    assert chamfer_l1(MeshPair.of(noisy(reference, 0.1, 0), reference, prepared=stored), n=500) == first
