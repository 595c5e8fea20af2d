import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from evaluation.metrics.mesh import distances
from evaluation.metrics.mesh.pair import Cloud
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
    EMPTY,
    FAR,
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
chamfer_l2 = with_defaults("chamfer_l2")
mesh_fscore = with_defaults("mesh_fscore")
uhd = with_defaults("uhd")

ALL = (chamfer_l1, chamfer_l2, mesh_fscore, uhd)
TOY = np.array([(0, 0, 0), (1, 0, 0)], dtype=float), np.array([(0, 0, 0), (1, 0.3, 0), (3, 0, 0)], dtype=float)


@pytest.fixture
def toy(monkeypatch):
    """A pair whose samples are the points of the worked examples."""
    clouds = [Cloud(points, np.zeros(len(points), np.int32)) for points in TOY]
    found = pair(SQUARE, SQUARE)
    monkeypatch.setattr(found, "prediction_cloud", lambda *given: clouds[0])
    monkeypatch.setattr(found, "reference_cloud", lambda *given: clouds[1])
    nothing = pair(EMPTY, SQUARE).prediction()  # no surface and no vertex
    monkeypatch.setattr(found, "prediction", lambda *given: nothing)
    monkeypatch.setattr(found, "reference", nothing)
    return found


def test_worked_example_of_points(toy):
    first = chamfer_l1(toy)
    assert first.value == pytest.approx(0.4583333, abs=1e-7)
    assert dict(first.parts) == pytest.approx({"accuracy": 0.15, "completeness": 2.3 / 3, "mean_a2": 0.045, "mean_b2": 4.09 / 3}, abs=1e-12)
    assert chamfer_l2(toy).value == pytest.approx(1.4083333, abs=1e-7)
    assert uhd(toy).value == pytest.approx(2.0, abs=1e-12)
    assert uhd(toy).parts["uhd_pred2gt"] == pytest.approx(0.3, abs=1e-12)


@pytest.mark.parametrize(("threshold", "precision", "recall", "f"), [(0.3, 1.0, 2 / 3, 0.8), (0.05, 0.5, 1 / 3, 0.4)])
def test_worked_example_of_the_fscore(toy, threshold, precision, recall, f):
    result = mesh_fscore(toy, threshold=threshold)
    assert result.value == pytest.approx(f, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"precision": precision, "recall": recall}, abs=1e-12)


def test_worked_example_of_parallel_squares():
    above = moved(SQUARE, (0, 0, 0.2))
    assert value(chamfer_l1, above, SQUARE, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(chamfer_l2, above, SQUARE, n=2000) == pytest.approx(0.08, abs=1e-12)
    assert value(uhd, above, SQUARE, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(mesh_fscore, above, SQUARE, n=2000, threshold=0.2) == 1.0
    assert value(mesh_fscore, above, SQUARE, n=2000, threshold=0.1999) == 0.0


@pytest.mark.parametrize("shape", [SQUARE, sphere(8), moved(noisy(sphere(8), 0.05, 0), FAR), random_soup(0)])
def test_equal_surfaces_are_exactly_zero_whatever_the_order_of_the_file(shape):
    for metric in ALL:
        expected = 1.0 if metric is mesh_fscore else 0.0
        assert value(metric, shuffled(shape, 1), shape, n=2000) == expected
        assert value(metric, shape, shape, n=2000, seed0=5) == expected


@examples(15)
@given(st.integers(0, 100_000))
def test_values_are_those_of_all_distances(seed):
    reference = random_soup(seed)
    found = pair(noisy(reference, 0.2, seed), reference)
    a, b = found.prediction_cloud(300).points, found.reference_cloud(300).points
    everything = cdist(a, b)
    there, back = everything.min(axis=1), everything.min(axis=0)
    assert chamfer_l1(found, n=300).value == pytest.approx((there.mean() + back.mean()) / 2, abs=1e-12)
    assert chamfer_l2(found, n=300).value == pytest.approx((there**2).mean() + (back**2).mean(), abs=1e-12)
    precision, recall = (there <= 0.05).mean(), (back <= 0.05).mean()
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert mesh_fscore(found, n=300).value == pytest.approx(expected, abs=1e-12)


def test_lengths_in_metres_on_request():
    above = scaled(moved(SQUARE, (0, 0, 0.2)), 500)
    reference = scaled(SQUARE, 500)
    assert value(chamfer_l1, above, reference, 0.01, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(chamfer_l1, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(1.0, abs=1e-12)
    assert value(chamfer_l2, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(2.0, abs=1e-12)
    assert value(uhd, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(1.0, abs=1e-12)
    assert value(mesh_fscore, above, reference, 0.01, n=2000, normalize="none", threshold=1.0) == 1.0
    assert value(mesh_fscore, above, reference, 0.01, n=2000, normalize="none", threshold=0.99) == 0.0


@pytest.mark.parametrize("prediction", [None, EMPTY, mesh([], [])])
@pytest.mark.parametrize(("normalize", "diagonal"), [("gt_unit", np.sqrt(3)), ("none", 2 * np.sqrt(3))])
def test_a_prediction_without_vertices_gets_the_worst_value(prediction, normalize, diagonal):
    worst = {chamfer_l1: diagonal, chamfer_l2: diagonal**2, uhd: diagonal, mesh_fscore: 0.0}
    for metric, expected in worst.items():
        result = metric(pair(prediction, scaled(box(), 2)), normalize=normalize)
        assert (result.value, str(result.status)) == (pytest.approx(expected), "empty_pred")


def test_points_without_faces_stand_for_themselves():
    above = mesh([(0.5, 0.5, 0.25), (0.5, 0.5, 0.75)])
    result = chamfer_l1(pair(above, SQUARE))
    assert result.flags == ("points_only",)
    assert str(result.status) == "ok"
    assert result.parts["accuracy"] == pytest.approx(0.5, abs=0.005)
    largest = uhd(pair(above, SQUARE))
    assert largest.value == pytest.approx(np.sqrt(0.5 + 0.25**2), abs=1e-12), "from a corner of the square"
    assert largest.parts["uhd_pred2gt"] == pytest.approx(0.75, abs=1e-12)
    assert value(chamfer_l1, mesh(above.vertices[::-1]), SQUARE) == result.value


def test_a_shift_of_millions_changes_nothing_above_a_millionth():
    for seed, shape in enumerate((sphere(10), box(), random_soup(4), scaled(sphere(6), (9.0, 4.0, 3.0)))):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.05, seed))
        for metric in ALL:
            here = value(metric, prediction, reference, n=2000)
            assert value(metric, moved(prediction, FAR), moved(reference, FAR), n=2000) == pytest.approx(here, rel=1e-6)


def test_aligning_undoes_a_similarity():
    reference = noisy(scaled(sphere(10), (3.0, 2.0, 1.0)), 0.02, 0)
    angle = np.radians(8)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    prediction = mesh(1.07 * reference.vertices @ turn.T + (0.2, -0.1, 0.1), reference.faces)
    plain, aligned = (chamfer_l1(pair(prediction, reference), n=3000, align=align) for align in ("none", "similarity_icp"))
    assert aligned.value < plain.value / 5
    assert aligned.parts["align_scale"] == pytest.approx(1 / 1.07, rel=5e-3)
    assert aligned.parts["align_r01"] == pytest.approx(np.sin(angle), abs=5e-3)
    assert not any(name.startswith("align") for name in plain.parts)


def test_the_four_metrics_share_one_search(monkeypatch):
    calls = []
    search = distances.nearest
    monkeypatch.setattr(distances, "nearest", lambda points, others: calls.append(len(points)) or search(points, others))
    found = pair(noisy(sphere(6), 0.1, 0), sphere(6))
    for metric in ALL:
        metric(found)
        metric(found, normalize="none")
    assert calls == [100_000, 100_000]
