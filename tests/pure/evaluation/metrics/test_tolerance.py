"""Results of two machines are compared with each other, each number within its metric's tolerance."""

import dataclasses
import math

import numpy as np
import pytest

from evaluation.metrics import registry
from evaluation.metrics.registry import REGISTRY, fingerprint, get, resolve_params
from evaluation.metrics.render.fid import packed
from evaluation.metrics.tolerance import EXACT, OF_NETWORKS, Tolerance, differences, same
from evaluation.networks.weights import NOT_NETWORKS

RESULT = {
    "slug": "map",
    "item_ids": ["garden/1"],
    "values": [0.5],
    "statuses": ["ok"],
    "parts": [{"share_below_0.6": 0.25, "puzzlesim_p05": 0.125}],
    "flags": [[]],
}


def result(**changes):
    return {**RESULT, **changes}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1.0, 1.0 + 9e-7, True),
        (1.0, 1.0 + 2e-6, False),
        (1e9, 1e9 + 900.0, True),
        (0.0, 9e-10, True),
        (0.0, 2e-9, False),
        (None, None, True),
        (None, 0.0, False),
        ("ok", "missing_pred", False),
        ([1.0, 2.0], [1.0, 2.0 + 1e-6], True),
        ([1.0, 2.0], [1.0], False),
        ({"a": 1.0}, {"b": 1.0}, False),
    ],
)
def test_numbers_agree_within_the_tolerance_and_all_else_exactly(one, other, expected):
    assert same(one, other, EXACT) is expected and same(other, one, EXACT) is expected


def test_a_part_may_have_a_tolerance_of_its_own():
    spec = get("puzzlesim")
    far = result(parts=[{"share_below_0.6": 0.2515, "puzzlesim_p05": 0.125}])
    assert same(RESULT, far, spec.tolerance)
    assert not same(RESULT, result(parts=[{"share_below_0.6": 0.25, "puzzlesim_p05": 0.1265}]), spec.tolerance)
    assert not same(RESULT, result(values=[0.5015]), spec.tolerance)
    assert [one.name for one in differences(RESULT, far, EXACT)] == ["share_below_0.6"]


def test_the_largest_difference_is_told_as_a_share_of_what_is_allowed():
    (found,) = differences(RESULT, result(values=[0.5005]), OF_NETWORKS)
    assert (found.name, found.found, found.allowed) == ("values", pytest.approx(5e-4), pytest.approx(5.005e-4)) and 0.9 < found.share < 1
    (found,) = differences(RESULT, result(flags=[["resized"]]), OF_NETWORKS)
    assert found.share == math.inf


def test_packed_features_are_held_against_each_other_as_one_vector():
    spec, features = get("fid"), np.linspace(0, 1, 2048, dtype=np.float32)
    near, far = features.copy(), features.copy()
    near[3] += 5e-4  # large beside that number, and little beside the largest
    far[3] += 5e-3
    sides = [result(partials=[{"pred": packed(values), "ref": packed(features)}]) for values in (features, near, far)]
    assert same(sides[0], sides[1], spec.tolerance) and not same(sides[0], sides[2], spec.tolerance)
    broken = result(partials=[{"pred": packed(features)[:-8], "ref": packed(features)}])
    assert not same(sides[0], broken, spec.tolerance)
    assert not same(sides[0], result(partials=[{"pred": "no number", "ref": packed(features)}]), spec.tolerance)


@pytest.mark.parametrize("spec", REGISTRY.values(), ids=list(REGISTRY))
def test_metrics_with_networks_declare_a_tolerance_and_others_need_none(spec):
    has_network = any(network not in NOT_NETWORKS for network, _ in spec.networks)
    assert (spec.tolerance != EXACT) == has_network


def test_where_parameters_choose_a_way_without_a_network_the_result_is_exact():
    spec = get("puzzlesim_pieces")
    assert spec.tolerance_with(resolve_params(spec.key, {"features": "dictionary"})) == EXACT
    assert [
        name for name in ("lite0", "squeeze") if spec.tolerance_with(resolve_params(spec.key, {"features": name})) != spec.tolerance
    ] == []


def test_the_tolerance_is_no_part_of_the_fingerprint(monkeypatch):
    before = fingerprint("fid", {}, "0" * 64)
    monkeypatch.setattr(registry, "REGISTRY", {"fid": dataclasses.replace(get("fid"), tolerance=Tolerance(0.5))})
    assert fingerprint("fid", {}, "0" * 64) == before
