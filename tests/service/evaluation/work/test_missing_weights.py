"""Pictures and property tables on a worker that has not the weights of their metric, or others: it leaves them to one that has
them, as it leaves parts, and no try is used up."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric, PictureRun, SuiteRun, sanity_tests
from evaluation.models.runs import Run
from evaluation.networks import weights
from evaluation.work import missing_weights, shares, suites, worker
from submissions.models import Submission
from tests.support import pictures
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.warm_child import warm_child
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference
from tests.support.leaderboard.scores import entry, with_files

__all__ = ["warm_child"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)
MAP = {"slug": "map", "key": "puzzlesim", "is_primary": True}
KINDS = {PictureRun: "making these pictures", SuiteRun: "testing this metric"}


@pytest.fixture
def shelf(warm_child, monkeypatch, settings) -> Path:
    """A folder with PuzzleSim's backbone alone, that this process and its child look for weights in."""
    settings.WEIGHTS = random_weights.shelf(monkeypatch, warm_child / "weights")
    shutil.rmtree(settings.WEIGHTS, ignore_errors=True)
    settings.WEIGHTS.mkdir()
    monkeypatch.setattr(missing_weights, "_left", {})
    monkeypatch.setattr(missing_weights, "SECONDS", 1e6)  # until a test says that it is over
    monkeypatch.setattr(suites, "SLICE_SECONDS", 0.0)  # is over after one value of the metric
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    return settings.WEIGHTS


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def run(request, shelf) -> Run:
    """Pictures, or a property table, of a column that takes the backbone."""
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    give_reference(phase, pictures.views(1), metrics=[MAP])
    if request.param is SuiteRun:
        sanity_tests.request_missing()
        return SuiteRun.objects.get()
    it = with_files(entry(phase, TeamFactory(challenge=phase.challenge), {"map": [0.5]}), pictures.renders(1))
    return PictureRun.request(Evaluation.objects.get(submission=it), "garden", ["garden/view_1"])


def state(run: Run) -> tuple[str, int]:
    run.refresh_from_db()
    return run.state, run.attempts


def got_on(run: Run) -> bool:
    """True if a slice of it was done."""
    run.refresh_from_db()
    return bool(run.n_made if isinstance(run, PictureRun) else run.at)


def test_it_is_asked_once_and_goes_on_with_other_work(run, shelf, monkeypatch):
    weights.published("squeezenet1_1").path.unlink()
    assert worker.drain() == 1 and missing_weights.deferred_rows(type(run)) == [run.pk] and missing_weights.deferred_rows(Part) == []
    type(run).objects.update(lease_until=None)
    assert worker.drain() == 0, "left to others for a while"
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    missing_weights._left.clear()
    assert worker.work_once("cpu") and got_on(run)


def test_many_workers_that_lack_them_use_up_no_tries(run, shelf, settings):
    weights.published("squeezenet1_1").path.unlink()
    for _ in range(3 * settings.MAX_ATTEMPTS):
        missing_weights._left.clear()
        type(run).objects.update(lease_until=None)
        assert worker.drain() == 1
    assert state(run) == ("waiting", 0)


def test_what_no_worker_has_the_weights_for_fails_with_the_sentence(run, shelf):
    weights.published("squeezenet1_1").path.unlink()
    since = timezone.now() - missing_weights.MAX_WAIT - timedelta(seconds=1)
    type(run).objects.update(lacking_since=since)
    assert worker.drain() == 1
    assert state(run)[0] == "failed" and run.failure.endswith(" fetch_weights squeezenet1_1")
    assert run.restart() and state(run) == ("waiting", 0) and run.lacking_since is None


def test_with_other_weights_than_asked_for_nothing_is_made(run, shelf):
    (metric,) = EvaluationBatch.objects.get().metrics
    other = {"weights_sha256": "0" * 64, "fingerprint": registry.fingerprint(metric["key"], metric["params"], "0" * 64)}
    EvaluationBatch.objects.update(metrics=[metric | other])
    SuiteRun.objects.update(fingerprint="0" * 64)
    assert worker.drain() == 1 and not got_on(run)
    assert state(run) == ("waiting", 0) and "(their sha256 differs)" in run.failure


def test_a_file_that_changed_is_found_by_the_child_and_is_no_try(run, shelf):
    with weights.published("squeezenet1_1").path.open("ab") as file:
        file.write(b"more")
    assert worker.drain() == 1 and not got_on(run)
    assert state(run) == ("waiting", 0) and "squeezenet1_1" in run.failure


def test_a_part_left_to_others_does_not_keep_this_worker_from_measuring(shelf):
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    give_reference(phase, pictures.views(1), metrics=[MAP])
    team = TeamFactory(challenge=phase.challenge)
    evaluation = Evaluation.objects.get(submission=entry(phase, team, {"map": [0.5]}))
    part = Part.objects.create(evaluation=evaluation, slugs=["map"], start=0, stop=1)
    assert shares.entries_wait()
    missing_weights.defer(Part.objects.waiting("cpu").claim("w"), "No worker could.")
    Part.objects.update(lease_until=None)
    assert not shares.entries_wait() and missing_weights.deferred_rows(Part) == [part.pk]
    assert Submission.objects.get().status == "scored" and PhaseMetric.objects.get().slug == "map"
