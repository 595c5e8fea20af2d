import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import directed_hausdorff

from evaluation.metrics.registry import resolve_params
from evaluation.metrics.wireframe import edges
from evaluation.metrics.wireframe.edges import ends_apart, match_edges, sampled_hausdorff, segment_hausdorff
from evaluation.metrics.wireframe.pair import Pair
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.shapes import EMPTY, SPLIT, SQ, moved, noisy, random_wireframe, segment, shuffled, value, wireframe
from tests.support.examples import examples

edge_f1 = with_defaults("edge_f1")
edge_precision = with_defaults("edge_precision")
edge_recall = with_defaults("edge_recall")

ALL = (edge_precision, edge_recall, edge_f1)
UNIT_4 = np.array([[[0, 0, 0], [4, 0, 0]]], dtype=float)


def three(prediction, reference, **params):
    pair = Pair.of(prediction, reference, params.pop("unit_scale", 1.0))
    return [metric(pair, **params).value for metric in ALL]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0, 0.3, 0), (4, 0.4, 0), 0.4),
        ((0, 0, 0), (2, 0, 0), 2.0),
        ((4, 0, 0), (0, 0, 0), 0.0),
        ((0.05, 0, 0), (4.1, 0.02, 0), 0.1019804),
    ],
)
def test_worked_hausdorff_distances(a, b, expected):
    assert segment_hausdorff(UNIT_4, np.array([[a, b]], dtype=float))[0, 0] == pytest.approx(expected, abs=1e-7)


def test_worked_example_of_a_split_edge():
    assert three(SPLIT, SQ) == pytest.approx([0.6, 0.75, 2 / 3], abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected", "status"),
    [
        (EMPTY, EMPTY, [1, 1, 1], "empty_pred"),
        (wireframe(SQ.vertices), wireframe(SQ.vertices), [1, 1, 1], "empty_pred"),
        (wireframe(SQ.vertices), SQ, [0, 0, 0], "empty_pred"),
        (SQ, wireframe(SQ.vertices), [0, 0, 0], "ok"),
        (moved(SQ, (9, 9, 9)), SQ, [0, 0, 0], "ok"),
    ],
)
def test_degenerate_cases(prediction, reference, expected, status):
    pair = Pair.of(prediction, reference)
    assert [metric(pair).value for metric in ALL] == expected
    assert {str(metric(pair).status) for metric in ALL} == {status}


def test_repeated_reversed_and_degenerate_edges_and_isolated_vertices_change_nothing():
    vertices = [*SQ.vertices, (7, 7, 7), (0, 0, 1e-10)]
    frame = wireframe(vertices, [*SQ.edges, (1, 0), (2, 2), (0, 5)])
    assert three(frame, SQ) == [1, 1, 1]


def test_a_distance_of_exactly_the_threshold_is_a_hit():
    assert three(moved(SQ, (0.3, 0.4, 0)), SQ) == [1, 1, 1]
    assert three(moved(SQ, (0.3001, 0.4, 0)), SQ) == [0, 0, 0]
    assert three(moved(moved(SQ, (0.3, 0.4, 0)), (538_000.1, 6_584_000.3, 0)), moved(SQ, (538_000.1, 6_584_000.3, 0))) == [1, 1, 1]


def test_the_threshold_is_a_parameter_in_metres():
    assert three(moved(SQ, (0.3, 0, 0)), SQ, tau_edge=0.2) == [0, 0, 0]
    scaled = wireframe(moved(SQ, (0.3, 0, 0)).vertices * 100, SQ.edges), wireframe(SQ.vertices * 100, SQ.edges)
    assert three(*scaled, unit_scale=0.01) == [1, 1, 1]
    assert three(*scaled) == [0, 0, 0]


def test_near_vertices_merge_on_request():
    broken = wireframe([(0, 0, 0), (2, 0, 0), (2.001, 0, 0), (2.002, 0, 0)], [(0, 1), (2, 3)])
    whole = segment((0, 0, 0), (2, 0, 0))
    assert three(broken, whole)[0] == 0.5
    assert three(broken, whole, merge_tol=0.01)[0] == 1.0


def test_the_way_of_measuring_is_a_parameter_that_can_tip_a_hit():
    lines = np.random.default_rng(0).uniform(0, 5, (2, 40, 2, 3))
    sampled, exact = sampled_hausdorff(*lines), segment_hausdorff(*lines)
    i, j = np.unravel_index((sampled - exact).argmax(), exact.shape)
    between = (sampled[i, j] + exact[i, j]) / 2
    prediction, reference = segment(*lines[0, i]), segment(*lines[1, j])
    assert three(prediction, reference, tau_edge=between)[2] == 1.0
    assert three(prediction, reference, tau_edge=between, hausdorff="sampled20")[2] == 0.0


def building3d_distance(a, b):
    """The definition of the Building3D evaluator: 20 points on each line, symmetric discrete Hausdorff."""
    step = np.linspace(0, 1, 20)[:, None]
    first, second = (line[0] + step * (line[1] - line[0]) for line in (a, b))
    return max(directed_hausdorff(first, second)[0], directed_hausdorff(second, first)[0])


@examples(30)
@given(st.integers(0, 100_000))
def test_sampled_distances_are_those_of_the_building3d_definition_and_bound_the_exact_ones(seed):
    a, b = np.random.default_rng(seed).uniform(0, 5, (2, 4, 2, 3))
    sampled, exact = sampled_hausdorff(a, b), segment_hausdorff(a, b)
    for i in range(4):
        for j in range(4):
            assert sampled[i, j] == pytest.approx(building3d_distance(a[i], b[j]), abs=1e-9)
            step = max(np.linalg.norm(a[i, 1] - a[i, 0]), np.linalg.norm(b[j, 1] - b[j, 0])) / 19
            assert exact[i, j] - 1e-12 <= sampled[i, j] <= exact[i, j] + step / 2 + 1e-12


@examples(6)
@given(st.integers(0, 100_000))
def test_exact_distances_are_the_limit_of_dense_sampling(seed):
    a, b = np.random.default_rng(seed).uniform(0, 5, (2, 3, 2, 3))
    assert segment_hausdorff(a, b) == pytest.approx(sampled_hausdorff(a, b, points=1500), abs=0.005)


@examples(30)
@given(st.integers(0, 100_000))
def test_exact_distances_are_symmetric_and_blind_to_direction(seed):
    a, b = np.random.default_rng(seed).uniform(-5, 5, (2, 4, 2, 3))
    distance = segment_hausdorff(a, b)
    assert distance == pytest.approx(segment_hausdorff(b, a).T, abs=1e-12)
    assert distance == pytest.approx(segment_hausdorff(a[:, ::-1], b), abs=1e-12)
    assert segment_hausdorff(a, a).diagonal() == pytest.approx(0, abs=1e-12)


def test_distances_do_not_depend_on_the_size_of_the_blocks(monkeypatch):
    a, b = np.random.default_rng(2).uniform(0, 5, (2, 9, 2, 3))
    whole = segment_hausdorff(a, b)
    monkeypatch.setattr(edges, "BLOCK", 7)
    assert np.array_equal(segment_hausdorff(a, b), whole)


@examples(25)
@given(st.integers(0, 100_000))
def test_f1_is_symmetric_and_no_value_depends_on_the_order_of_the_file(seed):
    a = random_wireframe(seed)
    b = noisy(a, 0.3, seed)
    forward, backward = three(a, b), three(b, a)
    assert forward[2] == backward[2] and forward[:2] == backward[1::-1]
    assert three(shuffled(a, seed), shuffled(b, seed)) == forward


def test_ties_do_not_depend_on_the_order_of_the_file():
    grid = [(x * 0.5, y * 0.5, 0) for x in range(3) for y in range(3)]
    lines = [(3 * x + y, 3 * x + y + 1) for x in range(3) for y in range(2)]
    a, b = wireframe(grid, lines), moved(wireframe(grid, lines), (0.25, 0.25, 0))
    known = three(a, b, tau_edge=0.4)
    for seed in range(8):
        assert three(shuffled(a, seed), shuffled(b, seed + 9), tau_edge=0.4) == known


def test_of_assignments_with_equal_totals_the_one_with_the_nearest_ends_is_taken():
    # The two left corners are 10 apart, which is the Hausdorff distance of every pair here: both assignments total 20.
    # The ends of like and like are twice the root of 116 apart, those of the other two pairs the roots of 134 and 150.
    prediction = wireframe([(0, 0, 0), (2, 5, 0), (3, 0, 0)], [(0, 1), (0, 2)])
    reference = wireframe([(-10, 0, 0), (-1, 0, 0), (-2, 5, 0)], [(0, 1), (0, 2)])
    for far in (0.0, 6_500_000.1):
        pair = Pair.of(moved(prediction, (far, 0, 0)), moved(reference, (far, 0, 0)))
        hits, (pred, ref) = match_edges(pair, **resolve_params("edge_f1", {"tau_edge": 10.5})), pair.segments(None)
        assert hits.distance == pytest.approx([10, 10])
        rises = np.ptp(pred.ends[hits.pred, :, 1], axis=1), np.ptp(ref.ends[hits.ref, :, 1], axis=1)
        assert np.column_stack(rises).tolist() in ([[0, 0], [5, 5]], [[5, 5], [0, 0]])  # like goes with like


def test_the_ends_of_segments_are_compared_the_nearer_way_round():
    a = np.array([[[0, 0, 0], [2, 5, 0]], [[0, 0, 0], [3, 0, 0]]], dtype=float)
    b = np.array([[[-10, 0, 0], [-1, 0, 0]], [[-10, 0, 0], [-2, 5, 0]]], dtype=float)
    assert ends_apart(a, b) == pytest.approx(np.sqrt([[134, 116], [116, 150]]))
    assert ends_apart(a[:, ::-1], b) == pytest.approx(ends_apart(a, b))
    assert ends_apart(a[:0], b).shape == (0, 2)


def test_hits_are_named_by_the_canonical_edges():
    pair = Pair.of(noisy(SQ, 0.1, 0), SQ)
    hits = match_edges(pair, **resolve_params("edge_f1", {}))
    pred, ref = pair.segments(None)
    for p, g, distance in zip(hits.pred, hits.ref, hits.distance, strict=True):
        assert segment_hausdorff(pred.ends[p : p + 1], ref.ends[g : g + 1])[0, 0] == distance


def test_the_matching_is_solved_once_for_all_three(monkeypatch):
    calls = []
    solve = edges.match
    monkeypatch.setattr(edges, "match", lambda *given, **named: calls.append(1) or solve(*given, **named))
    three(SPLIT, SQ)
    assert len(calls) == 1


def test_capped_matching_finds_at_least_as_many_hits():
    found = [
        (value(edge_f1, noisy(f, 0.3, s), f, matching=m))
        for s in range(6)
        for f in [random_wireframe(s)]
        for m in ("hungarian_raw", "hungarian_capped")
    ]
    assert [(raw, capped) for raw, capped in zip(found[::2], found[1::2], strict=True) if not raw <= capped] == []
