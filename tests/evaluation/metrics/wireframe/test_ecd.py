import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from evaluation.metrics.seeds import generator
from evaluation.metrics.wireframe import ecd
from evaluation.metrics.wireframe.canon import segments
from evaluation.metrics.wireframe.ecd import ecd_chamfer, ecd_emd, sample_points, stratified_positions, wf_hausdorff
from evaluation.metrics.wireframe.pair import Pair
from tests.evaluation.official import optimal_transport
from tests.evaluation.shapes import EMPTY, SQ, moved, noisy, random_wireframe, segment, shuffled, value, wireframe

ONE, TWO = segment((0, 0, 0), (1, 0, 0)), segment((0, 0, 0), (2, 0, 0))
BOTH = (ecd_chamfer, wf_hausdorff)
ALL = (*BOTH, ecd_emd)


@pytest.mark.parametrize("n", [1, 10, 777, 10_000])
def test_parallel_unit_segments_one_apart_are_one_apart(n):
    for metric in ALL if n < 10_000 else BOTH:
        assert value(metric, ONE, moved(ONE, (0, 1, 0)), n=n) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("n", "chamfer", "hausdorff"), [(10, 0.175, 0.95), (100, 0.13, 0.995), (1000, 0.1255, 0.9995)])
def test_worked_example_of_a_segment_against_one_twice_as_long(n, chamfer, hausdorff):
    assert value(ecd_chamfer, ONE, TWO, n=n) == pytest.approx(chamfer, abs=1e-12)
    assert value(wf_hausdorff, ONE, TWO, n=n) == pytest.approx(hausdorff, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 333, 1024])
def test_the_earth_movers_distance_of_a_segment_and_one_twice_as_long_is_a_half_for_every_n(n):
    assert value(ecd_emd, ONE, TWO, n=n) == pytest.approx(0.5, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000), st.integers(2, 150), st.sampled_from(["stratified", "random"]))
def test_the_earth_movers_distance_is_that_of_pot(seed, n, sampling):
    reference = random_wireframe(seed)
    prediction = noisy(reference, 0.6, seed) if seed % 2 else random_wireframe(seed + 1)
    positions = stratified_positions(n) if sampling == "stratified" else generator("ecd_emd", 3).random(n)
    clouds = [sample_points(segments(frame.vertices, frame.edges), positions) for frame in (prediction, reference)]
    weights = np.full(n, 1 / n)
    expected = optimal_transport().emd2(weights, weights, cdist(*clouds), numItermax=1_000_000)
    assert value(ecd_emd, prediction, reference, n=n, sampling=sampling, seed0=3) == pytest.approx(expected, abs=1e-9)


def test_the_earth_movers_distance_sees_too_much_edge_where_chamfer_hardly_does():
    doubled = wireframe([*SQ.vertices, *moved(SQ, (0, 0, 0.001)).vertices], [*SQ.edges, *(SQ.edges[:1] + 4)])
    assert value(ecd_chamfer, doubled, SQ) < 0.01 < 0.3 < value(ecd_emd, doubled, SQ)


def test_worked_sample_points():
    corner = wireframe([(0, 0, 0), (1, 0, 0), (1, 3, 0)], [(0, 1), (1, 2)])
    points = sample_points(segments(corner.vertices, corner.edges), stratified_positions(4))
    assert points == pytest.approx(np.array([(0.5, 0, 0), (1, 0.5, 0), (1, 1.5, 0), (1, 2.5, 0)]), abs=1e-12)


def test_each_direction_alone_and_as_parts():
    result = ecd_chamfer(Pair.of(ONE, TWO), n=10)
    assert dict(result.parts) == pytest.approx({"pred2gt": 0.05, "gt2pred": 0.3}, abs=1e-12)
    assert value(ecd_chamfer, ONE, TWO, n=10, one_sided="pred2gt") == pytest.approx(0.05, abs=1e-12)
    assert value(ecd_chamfer, ONE, TWO, n=10, one_sided="gt2pred") == pytest.approx(0.3, abs=1e-12)
    assert dict(wf_hausdorff(Pair.of(ONE, TWO), n=10).parts) == pytest.approx({"pred2gt": 0.05, "gt2pred": 0.95}, abs=1e-12)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("prediction", "reference", "expected", "status"),
    [
        (EMPTY, EMPTY, 0.0, "empty_pred"),
        (wireframe([(7, 7, 7)]), wireframe([(1, 1, 1), (1, 1, 1)], [(0, 1)]), 0.0, "empty_pred"),
        (EMPTY, SQ, 5.0, "empty_pred"),
        (wireframe(SQ.vertices), SQ, 5.0, "empty_pred"),
        (SQ, EMPTY, 5.0, "ok"),
    ],
)
def test_wireframes_without_length(metric, prediction, reference, expected, status):
    result = metric(Pair.of(prediction, reference))
    assert (result.value, str(result.status)) == (expected, status)


@pytest.mark.parametrize("metric", ALL)
def test_isolated_vertices_are_ignored(metric):
    with_stray = wireframe([*SQ.vertices, (50, 50, 50)], SQ.edges)
    assert value(metric, with_stray, SQ) == 0.0


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("sampling", ["stratified", "random"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equal_geometry_is_exactly_zero_whatever_the_order_of_the_file(metric, sampling, seed):
    frame = moved(random_wireframe(seed), (538_000.123, 6_584_000.456, 40.7))
    assert value(metric, frame, shuffled(frame, seed), n=500, sampling=sampling) == 0.0


def brute(prediction, reference, positions):
    clouds = []
    for frame in (prediction, reference):
        ends = segments(frame.vertices, frame.edges).ends
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        points = []
        for position in positions * lengths.sum():
            edge = 0
            while edge < len(lengths) - 1 and position >= lengths[edge]:
                position -= lengths[edge]
                edge += 1
            points.append(ends[edge, 0] + position / lengths[edge] * (ends[edge, 1] - ends[edge, 0]))
        clouds.append(np.array(points))
    gaps = cdist(*clouds)
    return gaps.min(axis=1), gaps.min(axis=0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000))
def test_values_are_those_of_all_distances_between_plainly_walked_samples(seed):
    reference = random_wireframe(seed)
    prediction = noisy(reference, 0.4, seed)
    there, back = brute(prediction, reference, (np.arange(200) + 0.5) / 200)
    assert value(ecd_chamfer, prediction, reference, n=200) == pytest.approx((there.mean() + back.mean()) / 2, abs=1e-9)
    assert value(wf_hausdorff, prediction, reference, n=200) == pytest.approx(max(there.max(), back.max()), abs=1e-9)


@pytest.mark.parametrize("metric", BOTH)
def test_random_samples_follow_the_seed_of_the_metric_and_nothing_else(metric):
    reference = random_wireframe(3)
    prediction = noisy(reference, 0.4, 3)
    there, back = brute(prediction, reference, generator(metric.__name__, 7).random(100))
    expected = (there.mean() + back.mean()) / 2 if metric is ecd_chamfer else max(there.max(), back.max())
    assert value(metric, prediction, reference, n=100, sampling="random", seed0=7) == pytest.approx(expected, abs=1e-9)
    assert value(metric, prediction, reference, n=100, sampling="random", seed0=8) != pytest.approx(expected, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000))
def test_the_distances_are_symmetric(seed):
    a, b = random_wireframe(seed), random_wireframe(seed + 1)
    for metric in ALL:
        assert value(metric, a, b, n=200) == pytest.approx(value(metric, b, a, n=200), abs=1e-12)


def test_lengths_come_out_in_metres():
    scaled = wireframe(ONE.vertices * 100, ONE.edges), wireframe(TWO.vertices * 100, TWO.edges)
    assert value(ecd_chamfer, *scaled, unit_scale=0.01, n=10) == pytest.approx(0.175, abs=1e-12)
    assert value(ecd_emd, *scaled, unit_scale=0.01, n=10) == pytest.approx(0.5, abs=1e-12)
    assert value(wf_hausdorff, EMPTY, scaled[1], unit_scale=0.01) == pytest.approx(2.0)


def test_near_vertices_merge_on_request():
    bridged = wireframe([(0, 0, 0), (1, 0, 0), (1.001, 0, 0), (1.001, 0.004, 0)], [(0, 1), (2, 3)])
    assert value(wf_hausdorff, bridged, ONE, n=1000) > 0.003
    assert value(wf_hausdorff, bridged, ONE, n=1000, merge_tol=0.01) == 0.0


def test_samples_are_drawn_once_for_both_metrics(monkeypatch):
    calls = []
    draw = ecd.sample_points
    monkeypatch.setattr(ecd, "sample_points", lambda *given: calls.append(1) or draw(*given))
    pair = Pair.of(noisy(SQ, 0.1, 0), SQ)
    ecd_chamfer(pair)
    ecd_chamfer(pair, one_sided="gt2pred")
    wf_hausdorff(pair)
    assert len(calls) == 2
