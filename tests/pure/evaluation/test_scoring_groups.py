"""Metrics whose value is a group's or the whole set's: found per item, finished when all items are there."""

import json
from dataclasses import replace

import pytest

from evaluation.metrics import registry
from evaluation.metrics.registry import Param
from evaluation.metrics.result import SampleScores
from evaluation.metrics.scoring import MetricRequest, finish, score_items
from tests.support.evaluation import fake_metrics
from tests.support.evaluation.shapes import SPLIT, SQ, TRI

IDS = ("a", "b", "c", "d")
GROUPS = ["one", "one", "two", "three"]
REFERENCES = dict.fromkeys(IDS, SQ)
PREDICTIONS = {"a": SQ, "b": TRI, "c": SPLIT}  # 4, 3, 5 edges; d is missing


def spec_of(level, **values):
    return fake_metrics.spec(
        fake_metrics.edges_of_a_group, level=level, finish=fake_metrics.finish_edges, higher_is_better=True, **{"worst": "0", **values}
    )


@pytest.fixture
def use(monkeypatch):
    def put(spec):
        monkeypatch.setattr(registry, "REGISTRY", {spec.key: spec})
        return [MetricRequest("s", spec.key, {})]

    return put


def finished(requests, predictions=PREDICTIONS, cut=2, groups=GROUPS):
    """Scored in two slices that went through JSON, as workers do it."""
    slices = [score_items(predictions, REFERENCES, requests, item_ids=ids) for ids in (IDS[:cut], IDS[cut:])]
    through_json = [{slug: SampleScores.from_dict(json.loads(json.dumps(s.to_dict()))) for slug, s in part.items()} for part in slices]
    return finish(requests, through_json[::-1], IDS, groups)["s"]


def test_each_item_of_a_group_gets_the_groups_value_and_keeps_its_own_parts(use):
    scores, summary = finished(use(spec_of("group")))
    assert scores.values == (7.0, 7.0, 5.0, 0.0)
    assert [parts["own"] for parts in scores.parts] == [4.0, 3.0, 5.0, 0.0]
    assert scores.statuses == ("ok", "ok", "ok", "missing_pred")
    assert (summary.value, summary.n, summary.resampled) == (4.0, 3, "group")
    assert (summary.ci_low, summary.ci_high) == (None, None), "three groups are too few"


def test_nothing_partial_is_left_once_it_is_finished(use):
    requests = use(spec_of("group"))
    scored = score_items(PREDICTIONS, REFERENCES, requests)["s"]
    assert scored.partials == ({"edges": 4}, {"edges": 3}, {"edges": 5}, {"edges": 0})
    assert "partials" in scored.to_dict() and scored.values == (None,) * 4
    assert finished(requests)[0].partials == () and "partials" not in finished(requests)[0].to_dict()


def test_a_set_has_one_value_and_no_interval(use):
    scores, summary = finished(use(spec_of("set")))
    assert scores.values == (12.0,) * 4
    assert (summary.value, summary.n, summary.resampled) == (12.0, 1, "set")
    assert (summary.ci_low, summary.ci_high, summary.sd, summary.n_missing) == (None, None, None, 1)


def test_one_group_alone_has_no_interval_either(use):
    _, summary = finished(use(spec_of("group")), groups=["one"] * 4)
    assert (summary.value, summary.n, summary.ci_low, summary.resampled) == (12.0, 1, None, "group")


def test_a_metric_may_have_no_value_where_an_item_is_missing(use):
    spec = spec_of("set", worst="null", params=(Param("whole", True, "bool"),))
    # The fake takes no parameters for an item, only to finish.
    requests = use(replace(spec, function=with_whole))
    scores, summary = finished(requests)
    assert scores.values == (None,) * 4 and scores.statuses[3] == "missing_pred"
    assert (summary.value, summary.n, summary.n_null) == (None, 0, 4)
    scores, summary = finished(requests, {**PREDICTIONS, "d": SQ})
    assert summary.value == 16.0


def with_whole(pair, whole):
    return fake_metrics.edges_of_a_group(pair)


def test_a_groups_value_is_no_worse_than_the_worst(use):
    scores, _ = finished(use(spec_of("group", worst="6")))
    assert scores.values == (7.0, 7.0, 6.0, 6.0)
    assert scores.flags[2] == ("capped",) and scores.parts[2] == {"own": 5.0, "uncapped": 5.0}


def test_cuts_between_groups_change_nothing(use):
    requests = use(spec_of("group"))
    assert finished(requests, cut=2) == finished(requests, cut=3) == finished(requests, cut=4)


def test_a_metric_that_gives_the_items_of_a_group_different_values_is_refused(use):
    requests = use(replace(spec_of("group"), finish=fake_metrics.finish_each))
    with pytest.raises(ValueError, match="one and the same value"):
        finished(requests)
