"""Acts on a phase's metrics: parameters, order, and what is scored anew."""

from __future__ import annotations

import pytest

from evaluation.models import EvaluationBatch
from tests.support.evaluation.networks import random_weights
from tests.support.leaderboard.console.acts import confirm, metric_values
from tests.support.pages import faults, refusal


def test_a_metric_is_added_with_typed_parameters(desk, phase, people, at):
    path = at(f"phases/{phase.slug}/metrics/new/hss/")
    desk.post(path, metric_values())
    metric = phase.metrics.get(slug="hss-2")
    assert (metric.params, metric.position) == ({"vert_thresh": 0.25}, 3)
    assert [m["slug"] for m in EvaluationBatch.current(phase).metrics] == ["corner_f1", "edge_f1", "hss", "hss-2"]
    assert phase.challenge.audit.get(action="metric.add").actor == people.organizer


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("param_vert_thresh", "0", "bad_parameter"),
        ("param_sections", "2", "min_value"),
        ("slug", "hss", "taken"),
        ("slug", "H!", "bad_slug"),
        ("weight", "-1", "min_value"),
    ],
)
def test_a_parameter_out_of_range_is_said_at_the_field(desk, phase, at, field, value, code):
    answer = desk.post(at(f"phases/{phase.slug}/metrics/new/hss/"), metric_values(**{field: value}))
    assert faults(answer) == {field: [code]}
    assert phase.metrics.count() == 3


def test_another_parameter_shows_how_many_entries_are_scored_anew(desk, phase, scored, at):
    scored(0.1)
    answer = desk.post(at(f"phases/{phase.slug}/metrics/edit/hss/"), metric_values(param_vert_thresh="0.3"))
    assert [one.entries for one in answer.context["plan"].rescorings] == [1]
    assert EvaluationBatch.objects.filter(phase=phase).count() == 1
    confirm(desk, answer)
    assert EvaluationBatch.latest(phase).state == "building"
    assert phase.metrics.get(slug="hss").params == {"vert_thresh": 0.3}


def test_a_precision_is_stored_where_it_is_not_float32_and_is_a_column_of_its_own(desk, phase, at, monkeypatch, tmp_path):
    random_weights.learned_shelf(monkeypatch, tmp_path)
    random_weights.put_learned(tmp_path)
    path = at(f"phases/{phase.slug}/metrics/new/wf_learned/")
    page = desk.get(path).content.decode()
    assert '<option value="float32" selected>' in page and '<option value="tf32">' in page
    for slug, precision in (("plain", "float32"), ("quick", "bfloat16")):
        sent = {"slug": slug, "title": "", "weight": "1", "param_weights": "drawn", "param_precision": precision}
        assert desk.post(path, sent).status_code == 302
    plain, quick = (phase.metrics.get(slug=slug) for slug in ("plain", "quick"))
    assert plain.params == {"weights": "drawn"} and quick.params == {"weights": "drawn", "precision": "bfloat16"}
    assert plain.column().params == {"weights": "drawn"} and plain.fingerprint != quick.fingerprint
    assert '<option value="bfloat16" selected>' in desk.get(at(f"phases/{phase.slug}/metrics/edit/quick/")).content.decode()
    shown = desk.get(f"/metrics/wf_learned/?params={quick.fingerprint}").content.decode()
    assert "precision" in shown and "bfloat16" in shown


def test_metrics_are_ordered_made_primary_and_removed(desk, phase, at):
    path = at(f"phases/{phase.slug}/metrics/")
    desk.post(path, {"act": "move", "slug": "hss", "to": "up"})
    desk.post(path, {"act": "primary", "slug": "hss"})
    assert [(m.slug, m.is_primary) for m in phase.metrics.all()] == [("corner_f1", False), ("hss", True), ("edge_f1", False)]
    assert [m["slug"] for m in EvaluationBatch.current(phase).metrics] == ["corner_f1", "hss", "edge_f1"]
    confirm(desk, desk.post(path, {"act": "remove", "slug": "hss"}))
    assert [(m.slug, m.is_primary) for m in phase.metrics.all()] == [("corner_f1", True), ("edge_f1", False)]
    assert phase.challenge.audit.filter(action="metric.remove").exists()


def test_the_last_metric_stays(desk, phase, at):
    path = at(f"phases/{phase.slug}/metrics/")
    for slug in ("hss", "edge_f1"):
        confirm(desk, desk.post(path, {"act": "remove", "slug": slug}))
    assert refusal(desk.post(path, {"act": "remove", "slug": "corner_f1"})) == "plan_refused"
