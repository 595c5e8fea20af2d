"""A worker that has not the weights of a metric, or others than the phase is scored with: it leaves the part to one that
has them, and nothing becomes a value that is none."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric
from evaluation.networks import weights, yolox
from evaluation.work import missing_weights, worker
from submissions.entry_states import Reason
from submissions.formats.file_digest import file_digest
from submissions.models import Status, Submission
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.warm_child import warm_child
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference, received
from tests.support.processes import end_leases
from tests.support.scenes import archive, noisy, views

__all__ = ["warm_child"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)
VIEWS = views({"garden": 2})
OSIM = {"slug": "osim", "key": "osim", "params": {"weights": "yolox-nano"}, "is_primary": True}


@pytest.fixture
def shelf(warm_child, monkeypatch, settings) -> Path:
    """A folder with yolox-nano alone, of random weights, that this process and its child look for weights in."""
    settings.WEIGHTS = random_weights.shelf(monkeypatch, warm_child / "weights")
    settings.WEIGHTS.mkdir(exist_ok=True)
    put()
    monkeypatch.setattr(missing_weights, "_left", {})
    monkeypatch.setattr(missing_weights, "SECONDS", 1e6)  # until a test says that it is over
    return settings.WEIGHTS


def put(seed: int = 0) -> None:
    """The file as publishers write it, with the note of its fetching."""
    file = weights.published("yolox-nano")
    torch.save({"model": random_weights.lively(yolox.build("yolox-nano"), seed)}, file.path)
    size = file.path.stat().st_size
    record = {"sha256": file_digest(file.path), "bytes": size, "source": "a test", "fetched": f"2026-01-0{seed + 1}"}
    (file.path.parent / f"{file.filename}.json").write_text(json.dumps(record))
    weights._record.cache_clear()


@pytest.fixture
def entry(shelf) -> Submission:
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    give_reference(phase, VIEWS, metrics=[OSIM])
    entry = received(phase, TeamFactory(challenge=phase.challenge), archive({name: noisy(view, 8) for name, view in VIEWS.items()}))
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    return entry


def state(entry: Submission) -> str:
    entry.refresh_from_db()
    return entry.status


def test_what_no_worker_has_the_weights_for_fails_with_the_sentence(entry, shelf, monkeypatch):
    weights.published("yolox-nano").path.unlink()
    assert worker.drain() == 1, "asked once, then left to others for a while"
    part = Part.objects.get()
    assert missing_weights.deferred_rows(Part) == [part.pk] and worker.drain() == 0
    missing_weights._left.clear()
    since = timezone.now() - missing_weights.MAX_WAIT - timedelta(seconds=1)
    Part.objects.update(lacking_since=since, lease_until=None)
    worker.drain()
    assert state(entry) == Status.FAILED
    assert entry.reason == Reason.LACKING and "“yolox-nano” of OSIM" in entry.failure
    assert not Evaluation.objects.get().scores.exists()


def test_how_long_weights_were_lacking_is_counted_anew_once_a_worker_has_begun(entry, shelf, monkeypatch):
    """One had them and was killed; another that has not may not end at once what was lacking long before."""
    Part.objects.update(lacking_since=timezone.now() - missing_weights.MAX_WAIT - timedelta(seconds=1))
    with monkeypatch.context() as patch:
        patch.setattr(worker.reference_cache, "local_path", _killed)
        with pytest.raises(KeyboardInterrupt):
            worker.drain()
    weights.published("yolox-nano").path.unlink()
    assert end_leases(Part.objects.all()) == 1
    assert worker.drain() == 1
    assert (Part.objects.get().state, state(entry)) == (Part.State.WAITING, Status.SCORING)


def _killed(*_):
    raise KeyboardInterrupt


def test_a_batch_of_a_metric_that_is_no_more_is_left_to_newer_code_and_then_fails_with_a_sentence(entry):
    batch = EvaluationBatch.objects.get()
    batch.metrics[0]["key"] = "no_such_metric"
    batch.save()
    worker.drain()
    assert state(entry) == Status.SCORING
    missing_weights._left.clear()
    Part.objects.update(lacking_since=timezone.now() - missing_weights.MAX_WAIT - timedelta(seconds=1), lease_until=None)
    worker.drain()
    assert state(entry) == Status.FAILED
    assert entry.reason == Reason.LACKING and "no_such_metric" in entry.failure


def test_other_weights_than_the_batch_began_with_score_nothing(entry, shelf):
    fixed = EvaluationBatch.objects.get().metrics[0]
    assert fixed["weights_sha256"] == weights.digest("yolox", "yolox-nano") and len(fixed["weights_sha256"]) == 64
    put(seed=1)
    assert worker.drain() == 1
    part = Part.objects.get()
    assert (part.state, part.attempts, part.result) == (Part.State.WAITING, 0, None)
    assert "“yolox-nano” of OSIM" in part.failure and "sha256" in part.failure
    put(seed=0)
    missing_weights._left.clear()
    Part.objects.update(lease_until=None)
    worker.drain()
    assert state(entry) == Status.SCORED


def test_a_file_that_changed_since_it_was_fetched_is_found_by_the_child(entry, shelf):
    with weights.published("yolox-nano").path.open("ab") as file:
        file.write(b"more")
    assert worker.drain() == 1
    part = Part.objects.get()
    assert (part.state, part.attempts, part.result) == (Part.State.WAITING, 0, None)
    assert "yolox_nano.pth" in part.failure


def test_batches_from_before_digests_were_kept_are_scored(entry, shelf):
    batch = EvaluationBatch.objects.get()
    del batch.metrics[0]["weights_sha256"]
    batch.save()
    worker.drain()
    assert state(entry) == Status.SCORED


def test_what_takes_no_weights_is_hindered_by_nothing():
    assert PhaseMetric(slug="hss", key="hss").column().weights_sha256 is None
    spec = dataclasses.replace(registry.get("osim"), title="O")
    assert "“yolox-nano” of O" in weights.difference(spec, {"weights": "yolox-nano"}, "0" * 64)
