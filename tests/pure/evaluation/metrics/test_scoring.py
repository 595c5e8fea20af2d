import json
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import registry
from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.result import MetricResult, SampleScores
from evaluation.metrics.scoring import MetricRequest, finish, score_items
from evaluation.metrics.shared import TOGETHER
from tests.support.evaluation import fake_metrics
from tests.support.evaluation.shapes import EMPTY, SPLIT, SQ, TRI, moved, noisy, random_wireframe, wireframe
from tests.support.examples import examples

REFERENCES = {name: random_wireframe(seed, 6, 7) for seed, name in enumerate(("d", "b", "a", "e", "c"))}
PREDICTIONS = {
    "a": noisy(REFERENCES["a"], 0.3, 0),
    "b": noisy(REFERENCES["b"], 0.1, 1),
    "c": EMPTY,
    "d": moved(REFERENCES["d"], (900, 0, 0)),
}
CHEAP = {"jaccard_distance": {"n_samples": 500}, "ecd_chamfer": {"n": 100}, "ecd_emd": {"n": 100}, "wf_hausdorff": {"n": 100}}
KEYS = [key for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights]
EVERYTHING = [MetricRequest(key, key, CHEAP.get(key, {})) for key in KEYS]
IDS = tuple(REFERENCES)
GROUPS = ["one", "two", "one", "three", "two"]


def one(key, prediction, reference, unit_scale=1.0, **params):
    """(value, status, parts, flags) of one item."""
    predictions = {} if prediction is None else {"x": prediction}
    scores = score_items(predictions, {"x": reference}, [MetricRequest("s", key, params)], unit_scale)["s"]
    return scores.values[0], scores.statuses[0], scores.parts[0], scores.flags[0]


def test_every_metric_is_scored_on_every_item_in_the_references_order(one_pass):
    assert list(one_pass) == KEYS
    for found in one_pass.values():
        assert found.item_ids == IDS
        assert found.statuses[IDS.index("e")] == "missing_pred"
        assert found.statuses[IDS.index("c")] == "empty_pred"
        assert [value for value in found.values if not isinstance(value, float)] == []


WORST = {
    "corner_offset": 0.5,
    "jaccard_distance": 1.0,
    **dict.fromkeys(("ecd_chamfer", "ecd_emd", "wf_hausdorff"), 5.0),
    **dict.fromkeys(("wed_prereg", "wed_mnn", "wed_nearest", "wed_hungarian"), pytest.approx(24 / 14)),
    "wed_ap": 1.0,
    "spectral_l1": pytest.approx(7.0),
    "spectral_l2": pytest.approx(74**0.5),
}


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_item_gets_the_worst_value(key):
    value, status, _, _ = one(key, None, SQ)
    assert (value, status) == (WORST.get(key, 0.0), "missing_pred")


@pytest.mark.parametrize("key", KEYS)
def test_an_empty_prediction_is_never_better_than_a_missing_one(key):
    value, status, _, _ = one(key, EMPTY, SQ)
    assert (value, status) == (WORST.get(key, 0.0), "empty_pred")


@pytest.mark.parametrize("key", KEYS)
def test_leaving_an_item_out_never_pays(key):
    for seed, scale in enumerate((0.1, 3.0, 300.0)):
        prediction = noisy(moved(SPLIT, (scale, 0, 0)), scale, seed)
        value, worst = one(key, prediction, SQ, **CHEAP.get(key, {}))[0], one(key, None, SQ)[0]
        assert value >= worst if REGISTRY[key].higher_is_better else value <= worst


def test_a_value_worse_than_missing_is_capped_and_kept_uncapped_in_the_parts():
    value, status, parts, flags = one("ecd_chamfer", moved(SQ, (300, 0, 0)), SQ)
    assert (value, status, flags) == (5.0, "ok", ("capped",))
    assert 290 < parts["uncapped"] < 310
    value, _, parts, flags = one("ecd_chamfer", moved(SQ, (0.1, 0, 0)), SQ)
    assert value < 0.2 and flags == () and "uncapped" not in parts


def test_the_worst_offset_is_the_threshold_asked_for_and_the_worst_distance_is_in_metres():
    assert one("corner_offset", None, SQ, tau=1.5)[0] == 1.5
    assert one("wf_hausdorff", None, SQ, unit_scale=0.01)[0] == pytest.approx(0.05)


def test_missing_items_bring_the_references_counts_to_the_micro_figures():
    assert one("corner_recall", None, SQ)[2] == {"tp": 0.0, "n_pred": 0.0, "n_gt": 4.0}
    request = [MetricRequest("s", "corner_recall", {})]
    scores = score_items({"x": SQ}, {"x": SQ, "y": TRI}, request)
    _, summary = finish(request, [scores], ("x", "y"), ["x", "y"])["s"]
    assert summary.extra == {"corner_recall_micro": 4 / 7} and summary.value == 0.5


def test_the_offset_over_all_hits_is_published_beside_the_mean():
    request = [MetricRequest("s", "corner_offset", {})]
    predictions = {"x": moved(SQ, (0.1, 0, 0)), "y": wireframe([(0.4, 0, 0)])}
    scores = score_items(predictions, {"x": SQ, "y": SQ}, request)
    _, summary = finish(request, [scores], ("x", "y"), ["x", "y"])["s"]
    assert summary.value == pytest.approx(0.25)
    assert summary.extra["corner_offset_micro"] == pytest.approx((4 * 0.1 + 0.4) / 5)


@pytest.fixture
def fakes(monkeypatch):
    made = [
        fake_metrics.spec(fake_metrics.null_where_the_reference_has_no_edge, higher_is_better=True),
        fake_metrics.spec(fake_metrics.vertices_missing_or_extra, worst="empty_prediction"),
    ]
    monkeypatch.setattr(registry, "REGISTRY", {spec.key: spec for spec in made})
    return [spec.key for spec in made]


def test_null_comes_from_the_reference_alone_even_for_a_missing_item(fakes):
    no_edges = wireframe(SQ.vertices)
    assert one(fakes[0], SQ, no_edges)[:2] == (None, "no_object")
    assert one(fakes[0], None, no_edges)[:2] == (None, "no_object")
    assert one(fakes[0], None, SQ)[:2] == (0.0, "missing_pred")


def test_the_worst_value_can_be_that_of_the_empty_prediction(fakes):
    assert one(fakes[1], None, SQ)[0] == 4.0
    assert one(fakes[1], wireframe([(k, 0, 0) for k in range(20)]), SQ)[:3] == (4.0, "ok", {"uncapped": 16.0})


def test_the_same_metric_twice_needs_two_slugs_and_gives_two_columns():
    requests = [MetricRequest("wide", "corner_f1", {"tau": 2.0}), MetricRequest("tight", "corner_f1", {"tau": 0.01})]
    scores = score_items({"x": moved(SQ, (0.1, 0, 0))}, {"x": SQ}, requests)
    assert (scores["wide"].values, scores["tight"].values) == ((1.0,), (0.0,))
    with pytest.raises(ValueError, match="share a slug"):
        score_items({}, {"x": SQ}, [requests[0], requests[0]])


def test_unknown_metrics_and_parameters_are_refused_before_anything_is_scored():
    with pytest.raises(registry.UnknownMetric):
        score_items({}, {"x": SQ}, [MetricRequest("s", "hs", {})])
    with pytest.raises(registry.ParamError):
        score_items({}, {"x": SQ}, [MetricRequest("s", "hss", {"tau": 1})])


def test_progress_counts_every_item():
    seen = []
    score_items(PREDICTIONS, REFERENCES, EVERYTHING[:1], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_scores_survive_plain_json_exactly(one_pass):
    for scores in one_pass.values():
        assert SampleScores.from_dict(json.loads(json.dumps(scores.to_dict(), allow_nan=False))) == scores


@pytest.fixture(scope="module")
def one_pass():
    return score_items(PREDICTIONS, REFERENCES, EVERYTHING)


@pytest.fixture(scope="module")
def finished(one_pass):
    return finish(EVERYTHING, [one_pass], IDS, GROUPS)


@examples(15)
@given(st.permutations(IDS), st.sets(st.integers(1, 4)), st.randoms(use_true_random=False))
def test_any_slices_joined_give_bit_for_bit_the_same_as_one_pass(finished, order, cuts, random):
    bounds = [0, *sorted(cuts), len(order)]
    slices = [score_items(PREDICTIONS, REFERENCES, EVERYTHING, item_ids=order[start:end]) for start, end in pairwise(bounds)]
    random.shuffle(slices)
    through_json = [{slug: SampleScores.from_dict(json.loads(json.dumps(s.to_dict()))) for slug, s in part.items()} for part in slices]
    assert finish(EVERYTHING, through_json, IDS, GROUPS) == finished


@examples(15)
@given(st.permutations(range(len(IDS))))
def test_the_score_is_the_same_bit_for_bit_in_whatever_order_items_are_listed(finished, one_pass, order):
    found = finish(EVERYTHING, [one_pass], [IDS[n] for n in order], [GROUPS[n] for n in order])
    assert {slug: summary for slug, (_, summary) in found.items()} == {slug: summary for slug, (_, summary) in finished.items()}


def test_slices_of_different_metrics_are_joined_too(finished):
    by_metric = [score_items(PREDICTIONS, REFERENCES, [request]) for request in EVERYTHING]
    assert finish(EVERYTHING, by_metric, IDS, GROUPS) == finished


def test_joined_slices_must_hold_every_item_once():
    request = EVERYTHING[:1]
    part = score_items(PREDICTIONS, REFERENCES, request, item_ids=("a", "b"))
    with pytest.raises(ValueError, match="in two slices"):
        finish(request, [part, part], ("a", "b"), ["a", "b"])
    with pytest.raises(ValueError, match="do not cover"):
        finish(request, [part], ("a", "b", "c"), ["a", "b", "c"])
    with pytest.raises(ValueError, match="do not cover"):
        finish(request, [part], ("a",), ["a"])


def test_an_item_scores_the_same_whatever_it_is_called_and_whoever_is_beside_it(one_pass):
    alone = score_items({"zz": PREDICTIONS["a"]}, {"zz": REFERENCES["a"]}, EVERYTHING)
    for slug, scores in alone.items():
        assert scores.values[0] == one_pass[slug].values[IDS.index("a")]


def test_values_at_projected_coordinates_are_those_near_the_origin():
    far = (538_000.0, 6_584_000.0, 32.0)
    here = {"x": noisy(SQ, 0.2, 3)}
    near = score_items(here, {"x": SQ}, EVERYTHING)
    away = score_items({"x": moved(here["x"], far)}, {"x": moved(SQ, far)}, EVERYTHING)
    for key in KEYS:
        tolerance = 2e-3 if key == "jaccard_distance" else 1e-7
        assert away[key].values[0] == pytest.approx(near[key].values[0], abs=tolerance)


def test_groups_are_averaged_before_the_submission():
    request = [MetricRequest("s", "corner_f1", {})]
    references = {"a": SQ, "b": SQ, "c": SQ}
    scores = score_items({"a": SQ}, references, request)
    _, summary = finish(request, [scores], ("a", "b", "c"), ["g", "h", "h"])["s"]
    assert (summary.value, summary.n, summary.n_missing, summary.n_ok) == (0.5, 2, 2, 1)
    assert (summary.ci_low, summary.ci_high) == (None, None), "two groups are too few"


def test_the_clock_times_every_column_and_changes_no_value(one_pass):
    clock = {"hss": 1000.0}
    timed = score_items(PREDICTIONS, REFERENCES, EVERYTHING, clock=clock)
    assert timed == one_pass
    assert set(KEYS) <= set(clock) and {key: seconds for key, seconds in clock.items() if not seconds > 0} == {}
    assert {slug for name in clock for slug in name.split(TOGETHER)} == set(KEYS)
    assert 1000 < clock["hss"] < 1100, "a clock that runs already goes on"


def test_shared_work_is_a_cost_of_the_group_whoever_asks_first(monkeypatch):
    """Two metrics that wait for one piece of work, and a third that does not."""

    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def work(seconds):
        now[0] += seconds

    def waiting(pair):
        work(1)
        pair.once("samples", lambda: pair.once("surface", lambda: work(4)) or work(8))
        return MetricResult(1.0)

    def alone(pair):
        work(2)
        return MetricResult(1.0)

    specs = {
        key: replace(registry.get("corner_f1"), key=key, params=(), function=function)
        for key, function in {"one": waiting, "two": waiting, "own": alone}.items()
    }
    monkeypatch.setattr(registry, "REGISTRY", specs)
    for order in (("one", "two", "own"), ("own", "two", "one")):
        clock: dict[str, float] = {}
        score_items({"x": SQ}, {"x": SQ}, [MetricRequest(key, key, {}) for key in order], clock=clock)
        assert clock == {"one": 1, "two": 1, "own": 2, "one+two": 12}
