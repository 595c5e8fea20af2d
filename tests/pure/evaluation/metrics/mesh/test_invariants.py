"""Invariants of every mesh metric, on random and on degenerate meshes, through `scoring` and alone."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.metrics.mesh import alignment
from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.scoring import MetricRequest, score_items
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
    EMPTY,
    FAR,
    box,
    mesh,
    moved,
    noisy,
    odd_meshes,
    pair,
    random_soup,
    rounded,
    scaled,
    shuffled,
    sphere,
)
from tests.support.examples import examples

CHEAP = {
    "chamfer_l1": {"n": 200},
    "chamfer_l2": {"n": 200},
    "mesh_fscore": {"n": 200},
    "uhd": {"n": 200},
    "p2s": {"n": 200},
    "normal_difference": {"n": 200},
    "volume_iou": {"resolution": 12},
    "saucd": {},
}
# Of the box with the sides 1, 2, 2, whose diagonal is 3 times its shortest side.
REFERENCE = box((0, 0, 0), (1, 2, 2))
WORST = {
    "chamfer_l1": 1.5,
    "chamfer_l2": 2.25,
    "mesh_fscore": 0.0,
    "uhd": 1.5,
    "p2s": 1.5,
    "normal_difference": 1.0,
    "volume_iou": 0.0,
    "saucd": 2.0,
}
REQUESTS = [MetricRequest(key, key, params) for key, params in CHEAP.items()]


def scored(prediction, reference, unit_scale=1.0):
    """{key: (value, status, flags, parts)} of every metric."""
    found = score_items({"x": prediction}, {"x": reference}, REQUESTS, unit_scale)
    return {key: (s.values[0], s.statuses[0], s.flags[0], dict(s.parts[0])) for key, s in found.items()}


def values(prediction, reference, unit_scale=1.0):
    return {key: row[0] for key, row in scored(prediction, reference, unit_scale).items()}


def usable(reference) -> bool:
    try:
        pair(None, reference)
    except ValueError as error:
        if "degenerate_gt" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("prediction", [None, EMPTY])
def test_a_missing_and_an_empty_prediction_get_the_worst_value(prediction):
    found = scored(prediction, REFERENCE)
    status = "missing_pred" if prediction is None else "empty_pred"
    assert {key: row[0] for key, row in found.items()} == pytest.approx(WORST)
    assert {row[1] for row in found.values()} == {status}


def test_the_worst_value_of_a_length_is_in_the_frame_asked_for():
    for key, expected in (("chamfer_l1", 0.03), ("chamfer_l2", 0.0009), ("uhd", 0.03), ("p2s", 0.03)):
        request = [MetricRequest("s", key, {"normalize": "none"})]
        assert score_items({}, {"x": REFERENCE}, request, 0.01)["s"].values[0] == pytest.approx(expected)


def test_a_far_prediction_is_capped_and_keeps_its_own_value():
    value, status, flags, parts = scored(moved(REFERENCE, (900, 0, 0)), REFERENCE)["chamfer_l1"]
    assert (value, status, flags) == (1.5, "ok", ("capped",))
    assert parts["uncapped"] == pytest.approx(450, rel=0.01)


@examples(25)
@given(odd_meshes(), odd_meshes())
def test_odd_meshes_give_finite_values_within_their_bounds(prediction, reference):
    assume(usable(reference))
    worst = values(None, reference)
    for key, (value, status, _, parts) in scored(prediction, reference).items():
        spec = REGISTRY[key]
        if value is None:
            assert key in ("saucd", "volume_iou") and status == "not_applicable"
            continue
        assert math.isfinite(value) and {key: part for key, part in parts.items() if not math.isfinite(part)} == {}
        assert spec.bounds[0] <= value <= (spec.bounds[1] if spec.bounds[1] is not None else math.inf)
        assert value >= worst[key] if spec.higher_is_better else value <= worst[key]


@examples(12)
@given(odd_meshes(), st.integers(0, 100_000))
def test_a_mesh_against_itself_is_perfect(shape, seed):
    assume(usable(shape))
    for key, value in values(shuffled(shape, seed), shape).items():
        if key == "mesh_fscore":
            assert value == 1.0
        elif key == "volume_iou":
            assert value in (1.0, None)  # a flat mesh encloses nothing
        elif key == "normal_difference":
            assert value <= 0.5  # needles may lie in one another and face two ways
        else:
            assert value in (0.0, None)


@examples(10)
@given(st.integers(0, 100_000), st.sampled_from([0.02, 0.5]))
def test_no_order_of_vertices_and_faces_shows(seed, sigma):
    reference = random_soup(seed)
    assume(usable(reference))
    prediction = noisy(reference, sigma, seed)
    assert scored(shuffled(prediction, seed), shuffled(reference, seed + 1)) == scored(prediction, reference)


@examples(5)
@given(st.integers(0, 100_000))
def test_place_and_unit_do_not_show(seed):
    reference = rounded(noisy(sphere(4), 0.1, seed))
    prediction = rounded(noisy(reference, 0.1, seed + 1))
    here = values(prediction, reference)
    assert values(moved(prediction, FAR), moved(reference, FAR)) == pytest.approx(here, rel=1e-6)
    assert values(scaled(prediction, 128), scaled(reference, 128), 1 / 128) == pytest.approx(here, rel=1e-9)


@examples(6)
@given(st.integers(0, 100_000), st.sampled_from([0.02, 0.5]))
def test_aligning_gives_finite_values_on_anything(seed, sigma):
    reference = random_soup(seed)
    assume(usable(reference))
    lone = mesh(reference.vertices[:1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "POINTS", 1000)
        for prediction in (noisy(reference, sigma, seed), lone, mesh(lone.vertices.repeat(3, axis=0), [(0, 1, 2)])):
            result = with_defaults("chamfer_l1")(pair(prediction, reference), n=100, align="similarity_icp")
            assert math.isfinite(result.value) and len(result.parts) == 18
