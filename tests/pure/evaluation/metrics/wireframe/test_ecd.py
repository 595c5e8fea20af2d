import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from evaluation.metrics.seeds import generator
from evaluation.metrics.wireframe import ecd
from evaluation.metrics.wireframe.canon import segments
from evaluation.metrics.wireframe.ecd import sample_points, stratified_positions
from evaluation.metrics.wireframe.pair import Pair
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.official import optimal_transport
from tests.support.evaluation.shapes import (
    EMPTY,
    SPLIT,
    SQ,
    moved,
    noisy,
    random_wireframe,
    segment,
    shuffled,
    value,
    wireframe,
    without_last_edge,
)
from tests.support.examples import examples

ecd_chamfer = with_defaults("ecd_chamfer")
ecd_emd = with_defaults("ecd_emd")
wf_hausdorff = with_defaults("wf_hausdorff")

ONE, TWO = segment((0, 0, 0), (1, 0, 0)), segment((0, 0, 0), (2, 0, 0))
BOTH = (ecd_chamfer, wf_hausdorff)
ALL = (*BOTH, ecd_emd)


@pytest.mark.parametrize("n", [1, 10, 777, 10_000])
def test_parallel_unit_segments_one_apart_are_one_apart(n):
    for metric in ALL if n < 10_000 else BOTH:
        assert value(metric, ONE, moved(ONE, (0, 1, 0)), n=n) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_worked_example_of_a_segment_against_one_twice_as_long(n):
    """Half the samples of the longer one lie beyond the other, a half on average; its far end lies 1 beyond."""
    assert value(ecd_chamfer, ONE, TWO, n=n) == pytest.approx(0.125, abs=1e-12)
    assert value(wf_hausdorff, ONE, TWO, n=n) == pytest.approx(1.0, abs=1e-12)


def test_worked_example_of_a_square_without_an_edge():
    """Nothing is too much; of the 14 m, the points on the missing 3 m are 3/4 m away on average, its middle 3/2 m."""
    result = ecd_chamfer(Pair.of(without_last_edge(SQ), SQ), n=1400)
    assert dict(result.parts) == pytest.approx({"pred2gt": 0.0, "gt2pred": 3 / 14 * 3 / 4}, abs=1e-12)
    assert value(wf_hausdorff, without_last_edge(SQ), SQ, n=14 * 301) == pytest.approx(1.5, abs=1e-12)


def test_a_split_edge_is_the_same_curve():
    for metric in BOTH:
        assert value(metric, SPLIT, SQ) == value(metric, SQ, SPLIT) == 0.0


@examples(8)
@given(st.integers(0, 100_000), st.booleans())
def test_an_edge_that_is_deleted_brings_nothing_of_the_reference_nearer(seed, itself):
    """Nor does it lower the value, where the edges are the reference's own."""
    reference = moved(random_wireframe(seed), (538_000.123, 6_584_000.456, 40.7))
    frame = reference if itself else noisy(reference, 0.5, seed)
    rng = np.random.default_rng(seed)
    before = dict.fromkeys(BOTH, (-1.0, -1.0))
    while len(frame.edges):
        for metric in BOTH:
            result = metric(Pair.of(frame, reference), n=300)
            part, whole = before[metric]
            assert result.parts["gt2pred"] >= part
            assert not itself or (result.value >= whole and result.parts["pred2gt"] == 0.0)
            before[metric] = result.parts["gt2pred"], result.value
        frame = wireframe(frame.vertices, np.delete(frame.edges, rng.integers(len(frame.edges)), axis=0))


@pytest.mark.parametrize("n", [1, 2, 10, 333, 1024])
def test_the_earth_movers_distance_of_a_segment_and_one_twice_as_long_is_a_half_for_every_n(n):
    assert value(ecd_emd, ONE, TWO, n=n) == pytest.approx(0.5, abs=1e-12)


@examples(20)
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
    assert dict(result.parts) == pytest.approx({"pred2gt": 0.0, "gt2pred": 0.25}, abs=1e-12)
    assert value(ecd_chamfer, ONE, TWO, n=10, one_sided="pred2gt") == 0.0
    assert value(ecd_chamfer, ONE, TWO, n=10, one_sided="gt2pred") == pytest.approx(0.25, abs=1e-12)
    assert dict(wf_hausdorff(Pair.of(ONE, TWO), n=10).parts) == pytest.approx({"pred2gt": 0.0, "gt2pred": 1.0}, abs=1e-12)


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


def walked(ends, positions) -> np.ndarray:
    """The points at these shares of the whole length, by walking along one edge after the other."""
    lengths = [math.dist(*edge) for edge in ends]
    points = []
    for position in positions * sum(lengths):
        edge = 0
        while edge < len(lengths) - 1 and position >= lengths[edge]:
            position -= lengths[edge]
            edge += 1
        points.append(ends[edge, 0] + position / lengths[edge] * (ends[edge, 1] - ends[edge, 0]))
    return np.array(points)


def plain_distance(point, start, end) -> float:
    """To a segment, by the triangle of the three points: its height where both angles on the segment are acute."""
    along, to_start, to_end = end - start, point - start, point - end
    if to_start @ along <= 0 or to_end @ along >= 0:
        return min(math.dist(point, start), math.dist(point, end))
    return float(np.linalg.norm(np.cross(along, to_start)) / np.linalg.norm(along))


def brute(prediction, reference, positions) -> tuple[np.ndarray, np.ndarray, float]:
    """Distances of the samples of each side to all segments of the other, and the largest of the ends' distances."""
    curves = [segments(frame.vertices, frame.edges).ends for frame in (prediction, reference)]

    def least(points, others):
        return np.array([min(plain_distance(point, *edge) for edge in others) for point in points])

    there, back = (least(walked(one, positions), other) for one, other in (curves, curves[::-1]))
    ends = max(least(one.reshape(-1, 3), other).max() for one, other in (curves, curves[::-1]))
    return there, back, float(ends)


@examples(5)
@given(st.integers(0, 100_000))
def test_values_are_those_of_all_distances_of_plainly_walked_samples_to_all_segments(seed):
    reference = random_wireframe(seed)
    prediction = noisy(reference, 0.4, seed)
    there, back, ends = brute(prediction, reference, (np.arange(60) + 0.5) / 60)
    assert value(ecd_chamfer, prediction, reference, n=60) == pytest.approx((there.mean() + back.mean()) / 2, abs=1e-9)
    assert value(wf_hausdorff, prediction, reference, n=60) == pytest.approx(max(there.max(), back.max(), ends), abs=1e-9)


@pytest.mark.parametrize("metric", BOTH)
def test_random_samples_follow_the_seed_of_the_metric_and_nothing_else(metric):
    """Measured by the mean or the largest of what was missed, with the reference's ends on the prediction."""
    reference = wireframe([(0, 0, 0), (4, 0, 0), (4, 3, 0)], [(0, 1), (1, 2)])
    prediction = wireframe([(0, 0, 0), (4, 0, 0), (4, 3, 0), (2, 0, 3)], [(0, 3), (3, 1), (1, 2)])
    there, back, _ = brute(prediction, reference, generator(metric.__name__, 7).random(100))
    expected = (there.mean() + back.mean()) / 2 if metric is ecd_chamfer else back.max()
    found, other = (metric(Pair.of(prediction, reference), n=100, sampling="random", seed0=seed0) for seed0 in (7, 8))
    assert (found.value if metric is ecd_chamfer else found.parts["gt2pred"]) == pytest.approx(expected, abs=1e-9)
    assert (other.value if metric is ecd_chamfer else other.parts["gt2pred"]) != pytest.approx(expected, abs=1e-9)


@examples(20)
@given(st.integers(0, 100_000))
def test_the_distances_are_symmetric(seed):
    a, b = random_wireframe(seed), random_wireframe(seed + 1)
    for metric in ALL:
        assert value(metric, a, b, n=200) == pytest.approx(value(metric, b, a, n=200), abs=1e-12)


def test_lengths_come_out_in_metres():
    scaled = wireframe(ONE.vertices * 100, ONE.edges), wireframe(TWO.vertices * 100, TWO.edges)
    assert value(ecd_chamfer, *scaled, unit_scale=0.01, n=10) == pytest.approx(0.125, abs=1e-12)
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
