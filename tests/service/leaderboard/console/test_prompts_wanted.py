"""A metric that compares with prompts has no place where a reference holds none: refused at every door, in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.metrics import registry
from evaluation.models import PhaseMetric, Reference, SuiteRun
from evaluation.models.sanity_tests import is_measurable
from evaluation.networks import weights
from leaderboard.bundle.apply import apply
from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import with_phase
from leaderboard.console.metric_evidence import MetricEvidence
from submissions.errors import Refused
from submissions.kinds import RENDER
from submissions.models import Phase
from tests.support.factories import give_reference
from tests.support.leaderboard.console.acts import metric_values, upload
from tests.support.pages import refusal
from tests.support.scenes import views, zipped

KEY = "clip_sim_text"
CHOSEN = {"param_weights": "openai-vit-b-32", "param_precision": "float32"}
PSNR = ({"slug": "psnr", "key": "psnr", "is_primary": True},)
BARE = views({"chair": 2, "owl": 1})
PROMPTED = {name: replace(item, prompt="a red chair") if name.startswith("chair") else item for name, item in BARE.items()}


@pytest.fixture
def phase(challenge, monkeypatch):
    monkeypatch.setattr(weights, "refusal", lambda spec, params, command="": "")  # as if its files were here
    challenge.family = "render"
    challenge.save()
    return Phase.objects.create(challenge=challenge, slug="final", title="Final")


def test_the_metric_is_not_put_beside_a_reference_without_prompts(desk, phase, at):
    give_reference(phase, BARE, PSNR)
    path = at(f"phases/final/metrics/new/{KEY}/")
    assert desk.get(path).context["evidence"].missing
    assert refusal(desk.post(path, metric_values(slug=KEY, **CHOSEN))) == "plan_refused" and phase.metrics.count() == 1


def test_it_is_put_where_some_object_has_one(desk, phase, at):
    give_reference(phase, PROMPTED, PSNR)
    path = at(f"phases/final/metrics/new/{KEY}/")
    assert not desk.get(path).context["evidence"].missing
    desk.post(path, metric_values(slug=KEY, **CHOSEN))
    assert phase.metrics.count() == 2
    assert not SuiteRun.objects.filter(key=KEY).exists()


def test_a_reference_stored_before_prompts_were_noted_is_looked_through(phase):
    give_reference(phase, PROMPTED, PSNR)
    Reference.objects.update(prompts={})
    assert phase.references.get().has_prompts
    spec = registry.get(KEY)
    assert MetricEvidence(spec, registry.resolve_params(KEY, {}), phase).refusal == ""


def test_a_reference_without_prompts_does_not_come_where_the_metric_is(desk, phase, at):
    PhaseMetric.objects.create(phase=phase, slug="text", key=KEY, is_primary=True)
    path = at("phases/final/reference/")
    assert refusal(desk.post(path, upload(zipped(dict(RENDER.files(BARE)))))) == "no_prompts" and not phase.references.exists()
    answer = desk.post(path, upload(zipped(dict(RENDER.files(PROMPTED)))), follow=True)
    assert "owl: " in answer.content.decode() and len(phase.references.get().item_ids) == 3


def test_neither_comes_in_a_bundle(phase, challenge):
    give_reference(phase, BARE, PSNR)
    before = read(challenge)
    text = replace(before.phase("final").metrics[0], slug="text", key=KEY, params={}, is_primary=False)
    new = replace(before.phase("final"), slug="another", metrics=(replace(text, is_primary=True),))
    for definition in (
        with_phase(before, "final", metrics=(*before.phase("final").metrics, text)),
        replace(before, phases=(*before.phases, new)),
    ):
        with pytest.raises(Refused) as refused:
            apply(definition, None)
        assert refused.value.code == "plan_refused"


def test_what_else_is_changed_of_a_phase_that_has_it_stands_in_no_way(phase, challenge):
    PhaseMetric.objects.create(phase=phase, slug="text", key=KEY, is_primary=True)
    Reference.add(phase, BARE)
    apply(with_phase(read(challenge), "final", title="Finale"), None)
    phase.refresh_from_db()
    assert phase.title == "Finale"


def test_no_sanity_test_applies_to_it():
    assert not is_measurable(registry.get(KEY)) and is_measurable(registry.get("clip_sim"))
