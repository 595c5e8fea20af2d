"""Each test breaks one thing on purpose. The promises: one set of scores, nothing stuck, nothing lost."""

from __future__ import annotations

import sys
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from structlog.testing import capture_logs

from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric, Score
from evaluation.work import attempts, worker
from evaluation.work.sandbox import JobFailed, sandbox
from evaluation.work.sweep import sweep
from submissions.entry_states import Reason, Why
from submissions.errors import Refused
from submissions.models import Phase, Status, Submission
from submissions.models.quota import quota_of
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from submissions.validation import OUR_FAULT
from tests.support.factories import archive, gables, perturbed, received
from tests.support.processes import Worker, end_leases, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def slow_phase(phase):
    """The same phase with a metric that takes some tenths of a second a sample, so that a worker can be caught at work."""
    PhaseMetric.objects.create(
        phase=phase, slug="slow", key="jaccard_distance", position=9, params={"n_samples": 400_000, "primitive": "capsule"}
    )
    EvaluationBatch.start(phase, reference=phase.references.get())
    phase.refresh_from_db()
    return phase


def one_set_of_scores(entry: Submission, columns: int) -> None:
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    assert Evaluation.objects.filter(submission=entry).count() == 1
    assert Score.objects.filter(evaluation__submission=entry).count() == columns
    assert not Part.objects.filter(evaluation__submission=entry).exclude(state=Part.State.DONE).exists()


def test_a_worker_killed_in_the_middle_of_a_part_loses_nothing(slow_phase, people, references):
    entry = received(slow_phase, people.team, archive(perturbed(references, 0.1)))
    at_work = Part.objects.filter(evaluation__submission=entry, started_at__isnull=False, state=Part.State.WAITING)
    with Worker() as first:
        first.catch(at_work)
        part = at_work.first()
        first.kill()
    with Worker():
        wait_until(lambda: bool(sweep()) and Submission.objects.get(pk=entry.pk).status == Status.SCORED, what="the score")
    one_set_of_scores(entry, 4)
    part.refresh_from_db()
    assert (part.attempts, part.losses) == (1, 1), "a lost worker is no attempt"


def test_a_worker_killed_while_it_checks_an_upload_loses_nothing(phase, people, references):
    entry = received(phase, people.team, archive(references))
    held = Submission.objects.to_validate().claim("killed", status=Status.CLAIMED)
    held.begin_validation()
    assert worker.drain() == 0, "a live lease keeps others away"
    Submission.objects.filter(pk=entry.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep()["lost"] == 1 and worker.drain() == 0, "its worker was lost: it waits a while"
    entry.refresh_from_db()
    assert (entry.status, entry.attempts, entry.losses) == (Status.RECEIVED, 0, 1)
    Submission.objects.filter(pk=entry.pk).update(lease_until=timezone.now())
    worker.drain()
    one_set_of_scores(entry, 3)


def test_a_reader_that_breaks_down_rejects_the_entry_once_and_is_logged_as_our_fault(phase, people, references, tmp_path, monkeypatch):
    broken_reader = "from submissions.formats.wireframe import wireframe_files as files; files.read_obj = None"
    program = f"{broken_reader}; from evaluation.work.child import main; main()"
    broken = tmp_path / "python"
    broken.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{program}"\n')
    broken.chmod(0o755)
    sandbox.stop()
    monkeypatch.setattr(sys, "executable", str(broken))
    entry = received(phase, people.team, archive(references))
    with capture_logs() as logs:
        assert worker.drain() == 1, "it is not tried again"
    sandbox.stop()
    entry.refresh_from_db()
    assert entry.status == Status.REJECTED and entry.n_problems == len(references)
    assert OUR_FAULT in entry.problems[0] and "TypeError" in entry.failure_detail
    said = [line for line in logs if line["event"] == "a reader broke down"]
    assert [line["submission"] for line in said] == [entry.pk] * len(references)
    assert {line["log_level"] for line in said} == {"error"} and "TypeError" in said[0]["detail"]


def test_the_same_work_announced_to_two_workers_at_once_is_done_once(phase, people, references):
    entries = [received(phase, people.team, archive(perturbed(references, 0.1, seed=n))) for n in range(3)]
    with Worker(), Worker():
        for _ in range(6):
            sweep()  # nudges again and again, as a broker that delivers twice would
        wait_until(lambda: Submission.objects.filter(status=Status.SCORED).count() == 3, what="three scored entries")
    for entry in entries:
        one_set_of_scores(entry, 3)


def test_a_late_result_under_an_old_token_changes_nothing(phase, people, references):
    entry = received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    late = Part.objects.waiting("cpu").claim("slow worker")
    assert end_leases(Part.objects.filter(pk=late.pk)) == 1
    current = Part.objects.waiting("cpu").claim("next worker")
    assert current.pk == late.pk and current.lease_token != late.lease_token
    assert late.finish({"corner_f1": {"wrong": True}}) is False
    assert late.heartbeat() is False
    current.refresh_from_db()
    assert current.result is None and current.state == Part.State.WAITING
    worker.score(current)
    worker.drain()
    one_set_of_scores(entry, 3)


def test_a_failure_reported_under_an_old_token_changes_nothing(phase, people, references):
    entry = received(phase, people.team, archive(references))
    late = Submission.objects.to_validate().claim("slow worker", status=Status.CLAIMED)
    assert end_leases(Submission.objects.filter(pk=entry.pk)) == 1
    current = Submission.objects.to_validate().claim("next worker", status=Status.CLAIMED)
    assert current.lease_token != late.lease_token
    worker.check(late)
    late.give_up_or_retry(Why(Reason.ERROR), "", final=True)
    assert late.lose("lost") is False
    entry.refresh_from_db()
    assert (entry.status, entry.lease_token) == (Status.CLAIMED, current.lease_token)
    worker.check(current)
    worker.drain()
    one_set_of_scores(entry, 3)


@pytest.mark.parametrize(
    ("status", "act"),
    [
        (Status.SCORED, lambda entry: entry.edit(method_name="Other")),
        (Status.SCORED, lambda entry: entry.withdraw()),
        (Status.SCORING, lambda entry: entry.fail(Why(Reason.ERROR))),
        (Status.SCORING, lambda entry: _in_transaction(entry.complete)),
    ],
)
def test_who_changes_an_entry_does_not_wait_for_a_switch_that_waits_for_them(phase, people, references, status, act):
    entry = received(phase, people.team, archive(references))
    Submission.objects.filter(pk=entry.pk).update(status=status)
    entry.refresh_from_db()
    holding, faults = threading.Event(), []

    def switch() -> None:
        """The order of locks in a switch: the phase, then its entries."""
        try:
            with transaction.atomic():
                Phase.objects.select_for_update().get(pk=phase.pk)
                holding.set()
                time.sleep(0.4)
                Submission.objects.filter(phase=phase).update(warnings=["seen"])
        except Exception as fault:
            faults.append(fault)
        finally:
            connection.close()

    thread = threading.Thread(target=switch)
    thread.start()
    holding.wait(10)
    act(entry)
    thread.join()
    assert not faults
    assert Submission.objects.get(pk=entry.pk).warnings == ["seen"]


def _in_transaction(act) -> None:
    with transaction.atomic():
        act()


def test_two_workers_that_finish_the_last_parts_together_close_once(phase, people, references):
    entry = received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    held = []
    while (part := Part.objects.waiting("cpu").claim("w")) is not None:
        held.append((part, _result_of(part)))
    assert len(held) == 4
    start = threading.Barrier(len(held))
    kept: list[bool] = []

    def finish(part: Part, result: dict) -> None:
        start.wait()
        try:
            kept.append(part.finish(result))
        finally:
            connection.close()

    threads = [threading.Thread(target=finish, args=pair) for pair in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept == [True] * 4
    one_set_of_scores(entry, 3)


def _result_of(part: Part) -> dict:
    from evaluation.work.sandbox import job_folder

    evaluation = Evaluation.objects.select_related("submission__phase", "batch__reference").get(pk=part.evaluation_id)
    with job_folder() as folder:
        return sandbox.run(folder, worker._scoring_job(part, evaluation), lambda: True)["scores"]


def test_work_that_never_ends_well_fails_with_a_reason_and_gives_the_quota_back(phase, people, references, monkeypatch):
    phase.limit_total = 1
    phase.save()
    entry = received(phase, people.team, archive(references))

    def broken(*_):
        raise JobFailed("crash", "Traceback: secret/path.py")

    monkeypatch.setattr("evaluation.work.worker.sandbox.run", broken)
    for _ in range(10):
        Submission.objects.update(lease_until=None)
        worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.FAILED
    assert entry.why == Why(Reason.CRASH)
    assert "Traceback" in entry.failure_detail
    assert entry.attempts == 3, "attempts are bounded"
    assert entry.fault == "service" and quota_of(phase, people.team).left_total == 1
    monkeypatch.undo()
    entry.retry(people.owner)
    assert entry.fault == "" and quota_of(phase, people.team).left_total == 0
    worker.drain()
    one_set_of_scores(entry, 3)


def test_a_part_that_fails_for_good_fails_the_entry_and_a_retry_scores_it(phase, people, references, monkeypatch):
    entry = received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))

    def no_memory(*_):
        raise JobFailed("memory", "")

    monkeypatch.setattr("evaluation.work.worker.sandbox.run", no_memory)
    worker.drain()
    entry.refresh_from_db()
    assert (entry.status, entry.reason, entry.fault) == (Status.FAILED, Reason.MEMORY, "entry")
    assert not Score.objects.exists()
    monkeypatch.undo()
    entry.retry(people.owner)
    worker.drain()
    one_set_of_scores(entry, 3)


def test_cancelling_stops_the_work_and_writes_no_score(slow_phase, people, references):
    for n in range(40):  # minutes of work, of which none is done to its end
        params = {"n_samples": 1_000_000, "primitive": "capsule", "radius": 0.6 + n / 100}
        PhaseMetric.objects.create(phase=slow_phase, slug=f"slow_{n}", key="jaccard_distance", position=10 + n, params=params)
    EvaluationBatch.start(slow_phase, reference=slow_phase.references.get())
    slow_phase.refresh_from_db()
    entry = received(slow_phase, people.team, archive(references))
    with Worker():
        wait_until(Part.objects.filter(started_at__isnull=False).exists, what="a part at work")
        entry.refresh_from_db()
        entry.cancel()
        wait_until(lambda: Evaluation.objects.get().state == Evaluation.State.CANCELLED, what="the evaluation to be dropped")
    assert not Score.objects.exists()
    assert quota_of(slow_phase, people.team).allowed


def test_an_entry_that_arrives_during_a_re_evaluation_is_scored_under_both_and_the_board_switches_once(phase, people, references):
    first = received(phase, people.team, archive(references), method_name="first")
    worker.drain()
    old = EvaluationBatch.current(phase)
    PhaseMetric.objects.create(phase=phase, slug="chamfer", key="ecd_chamfer", position=5)
    new = EvaluationBatch.start(phase, reason="one more metric")
    late = received(phase, people.other_team, archive(perturbed(references, 0.2)), method_name="late")
    assert EvaluationBatch.current(phase) == old, "the board stays until the batch is complete"
    created = {entry.pk: entry.created_at for entry in (first, late)}
    worker.drain()
    assert EvaluationBatch.current(phase) == new
    for entry in (first, late):
        entry.refresh_from_db()
        assert entry.status == Status.SCORED and entry.created_at == created[entry.pk]
        assert Score.objects.filter(evaluation__submission=entry, evaluation__batch=new).count() == 4
        assert Score.objects.filter(evaluation__submission=entry, evaluation__batch=old).count() == 3
    assert Submission.objects.count() == 2


def test_a_failed_member_blocks_the_switch_until_it_is_excluded(phase, people, references, monkeypatch):
    entry = received(phase, people.team, archive(references))
    worker.drain()
    new = EvaluationBatch.start(phase, reason="again")

    def no_memory(*_):
        raise JobFailed("memory", "")

    monkeypatch.setattr("evaluation.work.worker.sandbox.run", no_memory)
    worker.drain()
    new.refresh_from_db()
    entry.refresh_from_db()
    assert new.state == EvaluationBatch.State.BUILDING and new.progress()["failed"] == 1
    assert entry.status == Status.SCORED, "the entry stays as it was under the batch that the board shows"
    new.evaluations.get().exclude()
    new.refresh_from_db()
    assert new.state == EvaluationBatch.State.CURRENT


def test_every_claimed_row_has_a_lease_that_runs_out_and_every_unclaimed_one_is_claimable(phase, people):
    entries = [received(phase, people.team, archive(gables()), method_name=str(n)) for n in range(2)]
    held = Submission.objects.to_validate().claim("w", status=Status.CLAIMED)
    assert held.pk == entries[0].pk, "oldest first"
    assert held.lease_token and timezone.now() < held.lease_until < timezone.now() + timedelta(seconds=4)
    assert Submission.objects.to_validate().claim("v", status=Status.CLAIMED).pk == entries[1].pk
    assert Submission.objects.to_validate().claim("u", status=Status.CLAIMED) is None
    later = timezone.now() + timedelta(seconds=10)
    assert Submission.objects.to_validate().unleased(later).count() == 2


def test_an_entry_left_out_of_a_re_evaluation_while_it_is_scored_does_not_stay_in_scoring(phase, people, references, monkeypatch):
    received(phase, people.other_team, archive(references), method_name="settled")
    worker.drain()
    new = EvaluationBatch.start(phase, reason="again")
    entry = received(phase, people.team, archive(references), method_name="unlucky")
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    Evaluation.objects.get(submission=entry, batch=new).fail(Why(Reason.MEMORY, {"megabytes": 9}), "")
    Part.objects.filter(evaluation__batch__state=EvaluationBatch.State.CURRENT).update(lease_until=timezone.now() + timedelta(hours=1))
    worker.drain()
    Evaluation.objects.get(submission=entry, batch=new).exclude()
    new.refresh_from_db()
    assert new.state == EvaluationBatch.State.CURRENT
    Part.objects.update(lease_until=None)
    sweep()
    worker.drain()
    entry.refresh_from_db()
    assert (entry.status, entry.reason, entry.fault) == (Status.FAILED, Reason.LEFT_OUT, "service")
    entry.retry(people.owner)
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    assert Score.objects.filter(evaluation__submission=entry, evaluation__batch=new).count() == 3


def test_a_batch_that_became_the_current_one_meanwhile_is_not_cancelled(phase, people, references):
    received(phase, people.team, archive(references))
    worker.drain()
    new = EvaluationBatch.start(phase, reason="again")
    seen_before = EvaluationBatch.objects.get(pk=new.pk)
    worker.drain()
    assert EvaluationBatch.current(phase) == new
    with pytest.raises(Refused, match="still being scored"):
        seen_before.cancel()
    assert EvaluationBatch.current(phase) == new


def test_a_row_that_cannot_be_closed_does_not_keep_the_sweeper_from_the_others(phase, people, references, monkeypatch):
    entry = received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    Part.objects.update(state=Part.State.DONE)  # without any result: it cannot be closed
    waiting = received(phase, people.other_team, archive(references))
    nudges = []
    monkeypatch.setattr("submissions.worker_notify.send", lambda name, times=1: nudges.append(name))
    monkeypatch.setattr("submissions.storage.stored_files.clean_uploads", broken_storage)
    with pytest.raises(StorageError):
        sweep()
    assert nudges == ["work"], "the entry that waits is announced"
    assert {Submission.objects.get(pk=it.pk).status for it in (entry, waiting)} == {Status.SCORING, Status.RECEIVED}


def broken_storage() -> int:
    raise StorageError("The file storage does not answer.")


def test_an_outage_of_the_storage_fails_no_entry(phase, people, references, monkeypatch):
    entry = received(phase, people.team, archive(references))

    class Away:
        def local_path(self, key: str):
            raise StorageError("The file storage does not answer.")

        exists = local_path

    def drain() -> None:
        """Do what is there, as if the worker's pause after an outage were over."""
        monkeypatch.setattr(attempts, "_storage_away_until", 0.0)
        worker.drain()

    there = stored_files.store
    for status in (Status.RECEIVED, Status.SCORING):
        monkeypatch.setattr("submissions.storage.stored_files.store", Away)
        for _ in range(6):
            Submission.objects.update(lease_until=None)
            Part.objects.update(lease_until=None)
            drain()
        entry.refresh_from_db()
        assert (entry.status, entry.attempts) == (status, 0)
        assert not Part.objects.exclude(attempts=0).exists()
        monkeypatch.setattr("submissions.storage.stored_files.store", there)
        Submission.objects.update(lease_until=None)
        if status == Status.RECEIVED:
            worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    Part.objects.update(lease_until=None)
    drain()
    one_set_of_scores(entry, 3)


def test_an_entry_that_the_storage_never_gives_back_fails_in_the_end(phase, people, references, monkeypatch):
    entry = received(phase, people.team, archive(references))
    before = timezone.now() - timedelta(days=2)
    Submission.objects.update(created_at=before, received_at=before)
    monkeypatch.setattr(type(stored_files.store()), "local_path", lambda *_: broken_storage())
    for _ in range(4):
        Submission.objects.update(lease_until=None)
        worker.drain()
    entry.refresh_from_db()
    assert (entry.status, entry.reason) == (Status.FAILED, Reason.AWAY)


def test_an_entry_left_out_of_a_batch_can_be_scored_under_it_later(phase, people, references, monkeypatch):
    from leaderboard.console import acts

    entry = received(phase, people.team, archive(references))
    worker.drain()
    new = EvaluationBatch.start(phase, reason="again")

    def no_memory(*_):
        raise JobFailed("memory", "")

    monkeypatch.setattr("evaluation.work.worker.sandbox.run", no_memory)
    worker.drain()
    acts.exclude_member(new.evaluations.get(), people.organizer)
    new.refresh_from_db()
    assert new.state == EvaluationBatch.State.CURRENT
    monkeypatch.undo()
    phase.refresh_from_db()
    acts.retry_member(new.evaluations.get(), people.organizer)
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    assert Score.objects.filter(evaluation__submission=entry, evaluation__batch=new).count() == 3
    before = phase.board_revision
    phase.refresh_from_db()
    assert phase.board_revision > before, "the board follows"
