"""Reasons why an entry waits, on its page and in the API. The promise: each is read from rows, and goes when they go."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluation.models import EvaluationBatch, MetricProgram, Part, Process, RemoteWorker, WorkerToken
from evaluation.work import worker
from evaluation.work.progress import standing, standings
from submissions.entry_states import Reason
from submissions.models import Phase, Status, Submission
from tests.support.evaluation.programs import added, written
from tests.support.factories import TeamFactory, archive, gables, perturbed, received

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.own_parts]


def listening(*queues: str) -> None:
    now = timezone.now()
    heard = now + timedelta(hours=1)  # so that it is not lost within the test
    Process.objects.create(kind="worker", name=f"of {queues}", queues=list(queues), started_at=now, seen_at=heard)


def sent(phase: Phase, team=None) -> Submission:
    return received(phase, team or TeamFactory(challenge=phase.challenge), archive(perturbed(gables(4), 0.1)))


def checked(entry: Submission) -> Submission:
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    entry.refresh_from_db()
    return entry


def waits(entry: Submission) -> list[tuple[Reason, int]]:
    return [(one.reason, one.numbers.get("n", 0)) for one in standing(entry).waits_for]


def test_without_a_worker_it_waits_for_one(phase, people):
    entry = sent(phase, people.team)
    assert waits(entry) == [(Reason.WORKER, 0)]
    listening("cpu")
    assert waits(entry) == [(Reason.TURN, 0)]
    checked(entry)
    Part.objects.update(device="gpu")
    assert waits(entry) == [(Reason.GPU_WORKER, 0)]
    token, _ = WorkerToken.make(phase.challenge, None, "lab", ["gpu"], 30)
    RemoteWorker.hear(token, "w", "m", {})
    assert waits(entry) == [(Reason.TURN, 0)]


def test_entries_ahead_are_counted(phase, people):
    listening("cpu")
    first, second, third = sent(phase), sent(phase), sent(phase, people.team)
    assert [waits(one) for one in (first, second, third)] == [[(Reason.TURN, 0)], [(Reason.ENTRIES, 1)], [(Reason.ENTRIES, 2)]]


def test_parts_of_a_re_evaluation_that_come_first_are_counted(phase, scored, people):
    listening("cpu")
    scored()
    EvaluationBatch.start(phase, reference=phase.references.get(), reason="another reason")
    assert Part.objects.filter(state=Part.State.WAITING).count() == 4
    Part.objects.filter(state=Part.State.WAITING).update(turn=0.0)
    entry = checked(sent(phase, people.team))
    own = Part.objects.filter(evaluation__submission=entry, evaluation__batch__state="current")
    own.update(turn=1.0)
    assert (Reason.REEVALUATION, 4) in waits(entry)
    own.update(turn=-1.0)
    assert waits(entry) == [(Reason.TURN, 0)]


def test_a_worker_at_a_metric_program_is_said(phase, people, tmp_path, monkeypatch):
    monkeypatch.setattr("evaluation.programs.sandbox.refusal", lambda *_: "")
    listening("cpu")
    added(phase.challenge, written(tmp_path))
    entry = sent(phase, people.team)
    MetricProgram.objects.waiting().claim("w")
    assert waits(entry) == [(Reason.OTHER_WORK, 1)]


def test_nothing_is_waited_for_while_somebody_works_on_it_or_it_is_done(phase, people):
    listening("cpu")
    entry = sent(phase, people.team)
    Submission.objects.to_validate().claim("w", status=Status.CLAIMED)
    entry.refresh_from_db()
    assert waits(entry) == []
    Submission.objects.update(status=Status.RECEIVED, lease_token=None, lease_until=None)
    checked(entry)
    part = Part.objects.waiting("cpu").claim("w")
    part.begin(started_at=timezone.now())
    assert waits(entry) == []
    part.defer(0.0)
    assert waits(entry) == [(Reason.TURN, 0)], "between two parts of it"
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED and waits(entry) == []


def test_what_no_worker_has_the_weights_for_waits_for_one_that_has(phase, people):
    listening("cpu")
    entry = checked(sent(phase, people.team))
    Part.objects.update(lacking_since=timezone.now())
    assert waits(entry) == [(Reason.EQUIPMENT, 0)]


def test_page_and_api_say_the_same(phase, people, client):
    listening("cpu")
    sent(phase)
    entry = sent(phase, people.team)
    client.force_login(people.owner)
    found = client.get(f"/api/v1/submissions/{entry.pk}").json()["waits_for"]
    assert [(one["what"], one["n"]) for one in found] == [("entries", 1)]
    page = " ".join(client.get(f"/entries/{entry.pk}/progress/").content.decode().split())
    assert found[0]["sentence"] in page
    Submission.objects.exclude(pk=entry.pk).delete()
    (found,) = client.get(f"/api/v1/submissions/{entry.pk}").json()["waits_for"]
    assert (found["what"], found["n"]) == ("turn", None)


def test_many_entries_take_as_many_queries_as_one(phase, people, django_assert_num_queries):
    listening("cpu")
    for _ in range(4):
        sent(phase)
    entries = list(Submission.objects.select_related("phase__challenge").order_by("pk"))
    with CaptureQueriesContext(connection) as one:
        standings(entries[:2])  # the first in line asks what workers do, the next one who is ahead
    with django_assert_num_queries(len(one)):
        standings(entries)
