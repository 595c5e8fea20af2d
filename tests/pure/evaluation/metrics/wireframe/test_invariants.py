"""Invariants of every wireframe metric, on thousands of random and degenerate pairs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.metrics.registry import REGISTRY, resolve_params
from evaluation.metrics.spec import Symmetry
from evaluation.metrics.wireframe.canon import canon
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.wed import DegenerateReference
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.support.evaluation.shapes import EMPTY, degenerate_wireframe, moved, noisy, random_wireframe, wireframe
from tests.support.examples import examples

SPECS = {key: spec for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights}  # a network: test_learned
FEW = {"n": 40, "n_samples": 150}
BOOLEAN = {"hss", "hss_exact"}  # slower, so held to fewer pairs
QUICK = {key: spec for key, spec in SPECS.items() if key not in BOOLEAN}
FAR = (6_500_000.0, 538_000.0, 1_000.0)
SEEDS = st.integers(0, 10_000_000)


def scored(frame: Wireframe, seed: int) -> Wireframe:
    """With confidences that belong to the edges' geometry, whatever their order."""
    middles = frame.vertices[frame.edges].mean(axis=1) if len(frame.edges) else np.empty((0, 3))
    return Wireframe(frame.vertices, frame.edges, np.cos(middles.sum(axis=1) * (1 + seed % 7)))


def degenerate_pair(seed: int) -> tuple[Wireframe, Wireframe]:
    reference = degenerate_wireframe(seed)
    prediction = reference if seed % 5 == 0 else degenerate_wireframe(seed + 1)
    return (scored(prediction, seed) if seed % 3 else prediction), reference


def generic_pair(seed: int) -> tuple[Wireframe, Wireframe]:
    rng = np.random.default_rng(seed)
    reference = random_wireframe(seed, int(rng.integers(3, 14)), int(rng.integers(1, 20)), float(rng.choice([1.0, 6.0, 40.0])))
    prediction = noisy(reference, 0.3, seed) if seed % 2 else random_wireframe(seed + 1, int(rng.integers(2, 14)), int(rng.integers(0, 20)))
    return scored(prediction, seed), reference


def results(prediction, reference, specs=QUICK, unit_scale=1.0, **params):
    """Every metric's result, or "degenerate" where it refuses the reference."""
    pair = Pair.of(prediction, reference, unit_scale)
    found = {}
    for key, spec in specs.items():
        known = resolve_params(key, {})
        given = {name: value for name, value in {**FEW, **params}.items() if name in known}
        try:
            found[key] = spec.function(pair, **resolve_params(key, given))
        except DegenerateReference:
            found[key] = "degenerate"
    return found


def shuffled(frame: Wireframe, seed: int) -> Wireframe:
    """In another order, confidences with their edges."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(frame.vertices))
    place = np.argsort(order)
    rows = rng.permutation(len(frame.edges))
    edges = place[frame.edges[rows]] if len(rows) else frame.edges
    turned = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    return Wireframe(frame.vertices[order], turned, None if frame.edge_score is None else frame.edge_score[rows])


@examples(300)
@given(SEEDS, st.sampled_from([1.0, 0.01, 1000.0]), st.sampled_from([None, 0.3]))
def test_degenerate_pairs_give_finite_values_within_bounds_and_the_same_ones_again(seed, unit_scale, merge_tol):
    prediction, reference = degenerate_pair(seed)
    found = results(prediction, reference, unit_scale=unit_scale, merge_tol=merge_tol)
    assert found == results(prediction, reference, unit_scale=unit_scale, merge_tol=merge_tol)
    for key, result in found.items():
        if result == "degenerate":
            assert key.startswith("wed") and not canon_length(reference)
        elif result.value is None:
            assert str(result.status) == "not_applicable" and (key == "sap3d" or merge_tol)
        else:
            low, high = SPECS[key].bounds
            assert low <= result.value <= (math.inf if high is None else high), key


def canon_length(frame: Wireframe) -> float:
    edges = canon(frame.vertices, frame.edges)[1]
    return float(np.linalg.norm(frame.vertices[edges[:, 0]] - frame.vertices[edges[:, 1]], axis=1).sum())


@examples(300)
@given(SEEDS)
def test_the_order_of_the_files_of_degenerate_pairs_leaves_no_trace(seed):
    prediction, reference = degenerate_pair(seed)
    assert results(shuffled(prediction, seed), shuffled(reference, seed + 1)) == results(prediction, reference)


@examples(150)
@given(SEEDS)
def test_the_order_of_the_files_of_generic_pairs_leaves_no_trace(seed):
    prediction, reference = generic_pair(seed)
    assert results(shuffled(prediction, seed), shuffled(reference, seed + 1)) == results(prediction, reference)


def assert_close(found, known):
    for key, result in known.items():
        if result == "degenerate":
            assert found[key] == "degenerate"
        elif result.value is None:
            assert found[key].value is None
        else:
            assert found[key].value == pytest.approx(result.value, rel=1e-6, abs=1e-6), key


@examples(200)
@given(SEEDS)
def test_degenerate_pairs_score_the_same_at_projected_coordinates(seed):
    prediction, reference = degenerate_pair(seed)
    assert_close(results(moved(prediction, FAR), moved(reference, FAR)), results(moved(prediction, (0, 0, 0)), reference))


@examples(150)
@given(SEEDS, st.floats(0, 1))
@example(1131, 0.0)  # here and in the next, two assignments of edges have the same total, and rounding chose between them
@example(7822963, 0.5)
def test_generic_pairs_score_the_same_at_projected_coordinates(seed, by):
    prediction, reference = generic_pair(seed)
    away = np.array(FAR) + by
    assert_close(results(moved(prediction, away), moved(reference, away)), results(moved(prediction, (0, 0, 0)), reference))


# The same pairs every time: the engine gets about one such tangle in 3,000 wrong (2627 is one), which is stated where hss is.
@examples(20, derandomize=True)
@given(SEEDS)
@example(68)  # a repeated edge, on which the union was once smaller than one of its parts
@example(257)
def test_the_metrics_of_solids_hold_the_same_on_generic_pairs(seed):
    reference = random_wireframe(seed, 5, 5)
    prediction = noisy(reference, 0.3, seed)
    specs = {key: SPECS[key] for key in BOOLEAN}
    known = results(prediction, reference, specs)
    assert known == results(prediction, reference, specs)
    assert_close(results(shuffled(prediction, seed), shuffled(reference, seed + 1), specs), known)
    assert_close(results(moved(prediction, FAR), moved(reference, FAR), specs), known)


@examples(25)
@given(SEEDS)
def test_the_metrics_of_solids_are_finite_on_degenerate_pairs(seed):
    found = results(*degenerate_pair(seed), {key: SPECS[key] for key in BOOLEAN})
    assert {key: result for key, result in found.items() if not 0.0 <= result.value <= 1.0} == {}


@examples(150)
@given(SEEDS)
def test_a_wireframe_without_double_vertices_is_at_no_distance_of_itself(seed):
    frame = random_wireframe(seed, 12, 16) if seed % 2 else degenerate_wireframe(seed)
    frame = wireframe(*distinct(frame))
    for key, result in results(scored(frame, seed), frame).items():
        if result != "degenerate" and result.value is not None:
            distance = 1.0 - result.value if SPECS[key].higher_is_better else result.value
            assert distance == 0.0 or (key == "wed_prereg" and distance < 1e-9) or (key == "sap3d" and not canon_length(frame)), key


def distinct(frame: Wireframe) -> tuple[np.ndarray, np.ndarray]:
    """Its vertices without doubles, and its edges."""
    vertices, place = np.unique(frame.vertices.reshape(-1, 3), axis=0, return_inverse=True)
    return vertices, place.reshape(-1)[frame.edges] if len(frame.edges) else frame.edges


SWAPS = {"corner_precision": "corner_recall", "edge_precision": "edge_recall"}


@examples(120)
@given(SEEDS)
def test_the_symmetric_metrics_are_symmetric_and_precision_and_recall_change_places(seed):
    a, b = degenerate_pair(seed) if seed % 2 else generic_pair(seed)
    forward, backward = results(a, b), results(b, a)
    symmetric = {key: spec.symmetry for key, spec in SPECS.items() if spec.symmetry is not Symmetry.NONE}
    assert len(symmetric) >= 8
    for key, symmetry in symmetric.items():
        other = backward[key].value
        assert forward[key].value == (other if symmetry is Symmetry.EXACT else pytest.approx(other, rel=1e-9, abs=1e-9)), key
    for one, other in SWAPS.items():
        assert (forward[one].value, forward[other].value) == (backward[other].value, backward[one].value)


@examples(20)
@given(SEEDS)
def test_added_and_deleted_edges_are_seen_as_they_must_be(seed):
    """Step by step, from a house-like wireframe: what cannot change does not, what grows never falls."""
    rng = np.random.default_rng(seed)
    reference = random_wireframe(seed, 10, 14)
    vertices, edges = canon(reference.vertices, reference.edges)
    absent = [(a, b) for a in range(10) for b in range(a + 1, 10) if [a, b] not in edges.tolist()]
    wrong, kept = rng.permutation(absent), rng.permutation(edges)
    added = [wireframe(vertices, [*edges, *wrong[:k]]) for k in range(4)]
    deleted = [wireframe(vertices, kept[k:]) for k in range(4)]
    growing = [key for key in SPECS if key.startswith(("wed", "spectral"))]
    for steps, constant in ((added, "edge_recall"), (deleted, "edge_precision")):
        rows = [results(step, reference) for step in steps]
        for key in growing:
            values = [row[key].value for row in rows]
            assert [(before, after) for before, after in pairwise(values) if not after >= before - 1e-9] == [], key
        for key in ("corner_precision", "corner_recall", "corner_f1", "corner_offset", constant):
            assert len({row[key].value for row in rows}) == 1, key


@examples(40)
@given(SEEDS)
def test_edges_cut_loose_change_nothing_for_the_edge_metrics(seed):
    frame = random_wireframe(seed, 10, 14)
    (a, b), *others = canon(frame.vertices, frame.edges)[1].tolist()
    loose = wireframe([*frame.vertices, frame.vertices[a]], [(len(frame.vertices), b), *others])
    found = results(loose, frame)
    assert [found[key].value for key in ("edge_precision", "edge_recall", "edge_f1", "corner_recall")] == [1, 1, 1, 1]


@pytest.mark.parametrize("key", SPECS)
def test_two_empty_sides_give_a_value_or_a_reason(key):
    result = results(EMPTY, EMPTY, {key: SPECS[key]})[key]
    assert result == "degenerate" or str(result.status) in ("empty_pred", "not_applicable")
