import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.result import Status
from evaluation.metrics.wireframe import sap
from evaluation.metrics.wireframe.pair import Pair
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.shapes import EMPTY, SQ, moved, noisy, random_wireframe, value, wireframe
from tests.support.examples import examples

sap3d = with_defaults("sap3d")

CORNER = wireframe([(0, 0, 0), (4, 0, 0), (4, 3, 0)], [(0, 1), (1, 2)])


def scored(vertices, edges, scores) -> Wireframe:
    frame = wireframe(vertices, edges)
    return Wireframe(frame.vertices, frame.edges, np.array(scores, dtype=float))


THREE = scored([(4, 0.1, 0), (0, 0.1, 0), (0, 0, 0), (0, 3, 0), (4, 0, 0), (4, 3.2, 0)], [(0, 1), (2, 3), (4, 5)], [0.9, 0.8, 0.7])


def at(delta, prediction, reference, unit_scale=1.0):
    """The average precision at one distance."""
    return value(sap3d, prediction, reference, unit_scale, delta_1=delta, delta_2=delta, delta_3=delta)


def test_worked_example():
    assert at(0.25, THREE, CORNER) == pytest.approx(0.8333333, abs=1e-7)
    assert at(0.1, THREE, CORNER) == 0.0


def test_a_distance_of_exactly_the_threshold_is_no_hit_at_any_coordinates():
    for by in (0.0, 0.1, 538_000.3, 6_584_321.7):
        reference = moved(CORNER, (by, 0, 0))
        exact = scored(moved(reference, (0, 0, 0.25)).vertices, CORNER.edges, [1, 1])
        assert at(0.25, exact, reference) == 0.0
        assert at(0.2501, exact, reference) == 1.0


def test_the_value_is_the_mean_over_three_distances_which_are_parts():
    result = sap3d(Pair.of(THREE, CORNER))
    assert dict(result.parts) == pytest.approx({f"sap_{k}": at(d, THREE, CORNER) for k, d in ((1, 0.25), (2, 0.5), (3, 1.0))})
    assert result.value == pytest.approx(np.mean(list(result.parts.values()))) and result.status is Status.OK


def test_confidence_decides_what_a_wrong_edge_costs():
    vertices, edges = [*CORNER.vertices, (9, 9, 9)], [(0, 1), (1, 2), (2, 3)]
    assert at(0.5, scored(vertices, edges, [0.9, 0.8, 0.1]), CORNER) == 1.0
    assert at(0.5, scored(vertices, edges, [0.8, 0.7, 0.9]), CORNER) == pytest.approx(2 / 3)


def test_an_edge_is_taken_once():
    twice = scored([*CORNER.vertices, (0, 0.01, 0), (4, 0.01, 0)], [(0, 1), (3, 4), (1, 2)], [0.9, 0.8, 0.7])
    assert at(0.25, twice, CORNER) == pytest.approx(0.5 + 0.5 * 2 / 3)


def test_a_doubled_edge_counts_once_with_its_highest_confidence():
    doubled = scored(CORNER.vertices, [(1, 0), (1, 2), (0, 1), (2, 2)], [0.1, 0.5, 0.9, 1.0])
    assert at(0.25, doubled, CORNER) == 1.0
    pair = Pair.of(doubled, CORNER)
    assert pair.segment_scores(None).tolist() == [0.9, 0.5]


def test_an_entry_without_confidences_gets_the_worst_value_and_not_none():
    result = sap3d(Pair.of(SQ, CORNER))
    assert (result.value, result.status, result.flags) == (0.0, Status.NOT_APPLICABLE, ("no_edge_score",))


def test_without_edges():
    assert sap3d(Pair.of(EMPTY, SQ)) == sap3d(Pair.of(scored([(0, 0, 0)], [], []), SQ))
    assert (sap3d(Pair.of(EMPTY, SQ)).value, sap3d(Pair.of(EMPTY, SQ)).status) == (0.0, Status.EMPTY_PRED)
    result = sap3d(Pair.of(THREE, EMPTY))
    assert (result.value, result.status, result.flags) == (None, Status.NOT_APPLICABLE, ("degenerate_gt",))


def test_distances_are_metres_and_vertices_merge_on_request():
    in_centimetres = Wireframe(THREE.vertices * 100, THREE.edges, THREE.edge_score), wireframe(CORNER.vertices * 100, CORNER.edges)
    assert at(0.25, *in_centimetres, unit_scale=0.01) == pytest.approx(0.8333333, abs=1e-7)
    broken = scored([*CORNER.vertices, (4, 0.001, 0), (3.999, 0, 0)], [(0, 1), (3, 2), (4, 2)], [0.9, 0.8, 0.7])
    assert value(sap3d, broken, CORNER, merge_tol=0.01) == 1.0


@pytest.mark.parametrize("scores", [[0.5], [0.5, np.nan, 0.1], [[0.5], [0.1], [0.2]]])
def test_confidences_that_are_not_one_finite_number_per_edge_are_a_programming_error(scores):
    with pytest.raises(ValueError, match="one finite number per edge"):
        Pair(THREE.vertices, THREE.edges, CORNER.vertices, CORNER.edges, pred_scores=scores)


def plain_ap(prediction, reference, delta):
    """Edge by edge, then the area under the curve made monotone from the right."""
    order = sorted(range(len(prediction.edges)), key=lambda k: -prediction.edge_score[k])
    used, hits, curve = set(), 0, []
    for k, edge in enumerate(order, start=1):
        a, b = prediction.vertices[prediction.edges[edge]]
        gaps = []
        for u, v in reference.vertices[reference.edges]:
            gaps.append(min(((a - u) ** 2).sum() + ((b - v) ** 2).sum(), ((a - v) ** 2).sum() + ((b - u) ** 2).sum()))
        nearest = int(np.argmin(gaps))
        if gaps[nearest] < 2 * delta**2 and nearest not in used:
            used.add(nearest)
            hits += 1
        curve.append((hits / len(reference.edges), hits / k))
    recall, precision = [0.0, *(r for r, _ in curve), 1.0], [0.0, *(p for _, p in curve), 0.0]
    for k in range(len(precision) - 2, -1, -1):
        precision[k] = max(precision[k], precision[k + 1])
    return sum((recall[k] - recall[k - 1]) * precision[k] for k in range(1, len(recall)))


@examples(60)
@given(st.integers(0, 1_000_000))
def test_values_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(0, 4, (10, 3))
    edges = np.array([(a, b) for a in range(10) for b in range(a)])
    reference = wireframe(vertices, edges[rng.permutation(45)[: rng.integers(1, 15)]])
    prediction = noisy(wireframe(vertices, edges[rng.permutation(45)[: rng.integers(1, 20)]]), 0.3, seed)
    prediction = Wireframe(prediction.vertices, prediction.edges, rng.random(len(prediction.edges)))
    expected = np.mean([plain_ap(prediction, reference, delta) for delta in (0.25, 0.5, 1.0)])
    assert value(sap3d, prediction, reference) == pytest.approx(expected, abs=1e-12)


def test_equal_confidences_go_by_geometry_not_by_the_order_of_the_file():
    reference = random_wireframe(1, 10, 14)
    prediction = noisy(reference, 0.4, 1)
    rng = np.random.default_rng(0)
    values = set()
    for _ in range(10):
        rows = rng.permutation(len(prediction.edges))
        values.add(value(sap3d, Wireframe(prediction.vertices, prediction.edges[rows], np.full(len(rows), 0.5)), reference))
    assert len(values) == 1


def test_values_do_not_depend_on_the_size_of_the_blocks(monkeypatch):
    reference = random_wireframe(1, 10, 14)
    prediction = scored(reference.vertices + 0.1, reference.edges, np.linspace(0, 1, 14))
    known = value(sap3d, prediction, reference)
    monkeypatch.setattr(sap, "BLOCK", 30)
    assert value(sap3d, prediction, reference) == known
