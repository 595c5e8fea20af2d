from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.registry import resolve_params
from evaluation.metrics.result import Status
from evaluation.metrics.wireframe import corners
from evaluation.metrics.wireframe.corners import match_corners
from evaluation.metrics.wireframe.pair import Pair
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.official import metric_helper
from tests.support.evaluation.shapes import EMPTY, SPLIT, SQ, moved, noisy, random_wireframe, shuffled, value, wireframe
from tests.support.examples import examples

corner_f1 = with_defaults("corner_f1")
corner_offset = with_defaults("corner_offset")
corner_precision = with_defaults("corner_precision")
corner_recall = with_defaults("corner_recall")

HALF_RIGHT = wireframe([(0.3, 0, 0), (4, 0.4, 0), (4, 3, 1), (9, 9, 9)])
RAW_P = wireframe([(1, 1.8, 0), (1.9, 0.7, 0), (1.1, 0.6, 0)])
RAW_G = wireframe([(1.2, 0.7, 0), (0.8, 1.8, 0), (0.5, 1.2, 0)])
ALL = (corner_precision, corner_recall, corner_f1, corner_offset)


def four(prediction, reference, **params):
    pair = Pair.of(prediction, reference, params.pop("unit_scale", 1.0))
    return [metric(pair, **params).value for metric in ALL]


def test_worked_example_with_two_of_four_corners_right():
    assert four(HALF_RIGHT, SQ) == pytest.approx([0.5, 0.5, 0.5, 0.35], abs=1e-12)


def test_worked_example_of_a_split_edge():
    assert four(SPLIT, SQ) == pytest.approx([0.8, 1.0, 0.8888888888888888, 0.0], abs=1e-12)


def test_worked_example_where_raw_and_capped_matching_differ():
    assert four(RAW_P, RAW_G)[2:] == pytest.approx([1 / 3, 0.2], abs=1e-9)
    assert four(RAW_P, RAW_G, matching="hungarian_capped")[2:] == pytest.approx([2 / 3, 0.1707107], abs=1e-7)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected", "status"),
    [
        (EMPTY, EMPTY, [1, 1, 1, 0], "empty_pred"),
        (EMPTY, SQ, [0, 0, 0, 0.5], "empty_pred"),
        (SQ, EMPTY, [0, 0, 0, 0.5], "ok"),
        (moved(SQ, (100, 0, 0)), SQ, [0, 0, 0, 0.5], "ok"),
    ],
)
def test_degenerate_cases(prediction, reference, expected, status):
    pair = Pair.of(prediction, reference)
    results = [metric(pair) for metric in ALL]
    assert [result.value for result in results] == expected
    assert {str(result.status) for result in results} == {status}


def test_the_offset_without_a_hit_is_the_threshold_asked_for():
    assert value(corner_offset, moved(SQ, (100, 0, 0)), SQ, tau=2.5) == 2.5


def test_doubled_predicted_corners_are_extra_predictions():
    doubled = wireframe([*SQ.vertices, SQ.vertices[0]])
    assert four(doubled, SQ)[:2] == [0.8, 1.0]


def test_isolated_corners_count_unless_they_are_dropped():
    frame = wireframe([*SQ.vertices, (9, 9, 9)], SQ.edges)
    assert four(frame, SQ)[0] == 0.8
    assert four(frame, SQ, drop_isolated=True)[0] == 1.0


def test_corners_merge_on_request():
    frame = wireframe([*SQ.vertices, (0.001, 0, 0)], SQ.edges)
    assert four(frame, SQ)[0] == 0.8
    assert four(frame, SQ, merge_tol=0.01)[0] == 1.0


def test_edges_play_no_part():
    assert four(wireframe(SQ.vertices), SQ) == [1, 1, 1, 0]


def test_a_distance_of_exactly_the_threshold_is_a_hit():
    assert four(wireframe([(0.5, 0, 0)]), wireframe([(0, 0, 0)]))[2] == 1.0
    assert four(wireframe([(0.5000001, 0, 0)]), wireframe([(0, 0, 0)]))[2] == 0.0


@pytest.mark.parametrize("base", [0.1, 538_000.3, 6_584_321.7, 9_999_999.1])
def test_an_exact_threshold_holds_at_projected_coordinates_which_cannot_store_it(base):
    assert four(wireframe([(base + 0.3, base + 0.4, 0)]), wireframe([(base, base, 0)]))[2] == 1.0
    assert four(wireframe([(base + 0.30001, base + 0.4, 0)]), wireframe([(base, base, 0)]))[2] == 0.0


def test_thresholds_are_metres_and_offsets_come_out_in_metres():
    in_centimetres = wireframe(HALF_RIGHT.vertices * 100), wireframe(SQ.vertices * 100)
    assert four(*in_centimetres, unit_scale=0.01) == pytest.approx([0.5, 0.5, 0.5, 0.35], abs=1e-12)
    assert four(*in_centimetres) == [0, 0, 0, 0.5]


def test_parts_are_the_counts_that_add_up_over_items():
    result = corner_offset(Pair.of(HALF_RIGHT, SQ))
    assert dict(result.parts) == {"tp": 2.0, "n_pred": 4.0, "n_gt": 4.0, "distance_sum": pytest.approx(0.7)}
    assert dict(corner_f1(Pair.of(EMPTY, SQ)).parts) == {"tp": 0.0, "n_pred": 0.0, "n_gt": 4.0}
    assert corner_f1(Pair.of(EMPTY, SQ)).status is Status.EMPTY_PRED


def test_the_matching_is_solved_once_for_all_four(monkeypatch):
    calls = []
    solve = corners.match
    monkeypatch.setattr(corners, "match", lambda *given, **named: calls.append(1) or solve(*given, **named))
    pair = Pair.of(SPLIT, SQ)
    for metric in ALL:
        metric(pair)
        metric(pair, tau=0.25)
    assert len(calls) == 2


def test_hits_are_named_by_the_canonical_corners():
    pair = Pair.of(shuffled(HALF_RIGHT, 3), shuffled(SQ, 4))
    hits = match_corners(pair, **resolve_params("corner_f1", {}))
    pred, ref = pair.corners(None, False)
    assert np.linalg.norm(pred[hits.pred] - ref[hits.ref], axis=1) == pytest.approx(hits.distance)


def best_capped(prediction, reference, tau):
    """Most hits, then least total distance, over all one-to-one assignments."""
    gaps = np.linalg.norm(prediction.vertices[:, None] - reference.vertices[None], axis=-1)
    if gaps.shape[0] > gaps.shape[1]:
        gaps = gaps.T
    best = (0, 0.0)
    for columns in permutations(range(gaps.shape[1]), gaps.shape[0]):
        kept = [gaps[row, column] for row, column in enumerate(columns) if gaps[row, column] <= tau]
        best = max(best, (len(kept), -sum(kept)))
    return best[0], -best[1]


@examples(25)
@given(st.integers(0, 100_000), st.integers(1, 5), st.integers(1, 5))
def test_capped_matching_is_the_best_of_all_assignments(seed, n_pred, n_ref):
    prediction, reference = random_wireframe(seed, n_pred + 1, 0, 1.5), random_wireframe(seed + 1, n_ref + 1, 0, 1.5)
    hits = match_corners(Pair.of(prediction, reference), **resolve_params("corner_f1", {"matching": "hungarian_capped"}))
    count, total = best_capped(prediction, reference, 0.5)
    assert (len(hits.distance), hits.distance.sum()) == (count, pytest.approx(total, abs=1e-9))


@examples(25)
@given(st.integers(0, 100_000))
def test_f1_is_that_of_the_official_scorer(seed):
    reference = random_wireframe(seed, 14, 10)
    prediction = noisy(reference, 0.35, seed)
    prediction = wireframe(prediction.vertices[: 8 + seed % 7])
    expected = metric_helper().compute_ap_metrics(prediction.vertices, reference.vertices, 0.5)
    assert value(corner_f1, prediction, reference) == pytest.approx(expected, abs=1e-12)


@examples(25)
@given(st.integers(0, 100_000))
def test_f1_is_symmetric_and_precision_and_recall_swap_even_with_ties(seed):
    rng = np.random.default_rng(seed)
    a = wireframe(rng.integers(0, 3, (rng.integers(1, 7), 3)) * 0.5)
    b = wireframe(rng.integers(0, 3, (rng.integers(1, 7), 3)) * 0.5)
    forward, backward = four(a, b), four(b, a)
    assert forward[2] == backward[2]
    assert forward[:2] == backward[1::-1]


@examples(25)
@given(st.integers(0, 100_000))
def test_no_value_depends_on_the_order_of_the_file_even_with_ties(seed):
    rng = np.random.default_rng(seed)
    a, b = (wireframe(rng.integers(0, 3, (6, 3)) * 0.5) for _ in range(2))
    assert four(shuffled(a, seed), shuffled(b, seed + 1)) == four(a, b)


def test_a_wireframe_compared_with_itself_is_perfect():
    frame = random_wireframe(5)
    assert four(frame, shuffled(frame, 1)) == [1, 1, 1, 0]
