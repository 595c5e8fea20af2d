"""A lost worker is not the entry's fault: losses are counted apart from failures, waited for, and given up late."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluation.models import EvaluationBatch, Part, PhaseMetric, PictureRun, SuiteRun
from evaluation.work import worker
from evaluation.work.progress import standing
from evaluation.work.sandbox import JobFailed, sandbox
from evaluation.work.sweep import sweep
from leaderboard.models import JudgeRun, Study, StudyAnalysis
from leaderboard.service.health import Unready, probe_lost
from leaderboard.studies.judge import planning
from submissions import leases
from submissions.entry_states import Reason
from submissions.leases import Leased, on_two_machines, pause_after
from submissions.models import Phase, Status, Submission
from tests.support.factories import archive, gables, received
from tests.support.leaderboard.studies.judge.studies import study_of_objects
from tests.support.processes import Worker, end_leases, wait_until

pytestmark = pytest.mark.django_db
with_workers = pytest.mark.django_db(transaction=True)


def test_pauses_double_from_ten_seconds_to_ten_minutes(settings):
    settings.LOSS_SECONDS = 10.0
    assert [pause_after(n) for n in range(1, 12)] == [10, 20, 40, 80, 160, 320, 600, 600, 600, 600, 600]


@pytest.mark.parametrize(
    ("machines", "two"),
    [
        (["a 1"], False),
        (["a 1", "a 1"], False),
        (["a 1", "b 1"], False),  # a container made anew, on the same kernel
        (["a 1", "a 2"], False),  # started anew
        (["a 1", "b 2"], True),
        (["a 1", "a 1", "b 2", "a 1"], True),
        (["", "b 2"], False),  # of a row from before machines were noted
        (["rack-7", "rack-8"], True),  # as the setting names them
    ],
)
def test_machines_are_told_apart_by_name_and_boot(machines, two):
    assert on_two_machines(machines) is two


def _submission(phase: Phase, people) -> Submission:
    return received(phase, people.team, archive(gables()))


def _part(phase: Phase, people) -> Part:
    entry = _submission(phase, people)
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    return Part.objects.filter(evaluation__submission=entry).first()


def _pictures(phase: Phase, people) -> PictureRun:
    part = _part(phase, people)
    return PictureRun.objects.create(evaluation=part.evaluation, scene="a", items=["a/1"], digest="d")


def _suite(phase: Phase, people) -> SuiteRun:
    return SuiteRun.objects.create(fingerprint="f", key="corner_f1", params={}, version="sanity/1")


def _analysis(phase: Phase, people) -> StudyAnalysis:
    study = Study.objects.create(phase=phase, slug="s", title="S")
    return StudyAnalysis.objects.create(study=study, wanted="1")


def _judge(phase: Phase, people) -> JudgeRun:
    phase.batches.all().delete()
    run = planning.make(study_of_objects(phase), None, "seer-1", planning.Wish("one-view", 1000))
    run.start(None)
    return run


KINDS: dict[str, Callable[[Phase, object], Leased]] = {
    "submission": _submission,
    "part": _part,
    "pictures": _pictures,
    "suite": _suite,
    "analysis": _analysis,
    "judge": _judge,
}


@pytest.fixture(params=KINDS)
def row(request, phase, people) -> Leased:
    """One of every kind of row that workers claim, waiting for them."""
    return KINDS[request.param](phase, people)


def lose(row: Leased, machine: str = "a 1") -> None:
    """A worker on that machine claims the row, and is lost."""
    rows = type(row).objects.filter(pk=row.pk)
    leases.machine.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "machine", lambda: machine)
        assert rows.claim(f"worker on {machine}") is not None
    assert end_leases(rows) == 1
    row.refresh_from_db()


def is_failed(row: Leased) -> bool:
    return (row.status if isinstance(row, Submission) else row.state) == "failed"


def test_eleven_losses_fail_nothing_and_the_twelfth_gives_up_and_tells_the_operator(row, settings):
    assert "no work" in probe_lost()
    for n in range(1, 12):
        lose(row)
        assert (row.losses, row.attempts, is_failed(row)) == (n, 0, False)
    lose(row)
    assert row.losses == 12 and is_failed(row) and row.lease_token is None
    if isinstance(row, Part | Submission):
        entry = row.evaluation.submission if isinstance(row, Part) else row
        assert (entry.reason, entry.numbers["times"], entry.fault) == (Reason.LOST, 12, "service")
    else:
        assert (row.reason, row.numbers["times"]) == (Reason.LOST, 12)
    assert row.failure_detail.count("worker on a 1 on a 1: ") == 12
    with pytest.raises(Unready, match=r"^1 given up after losing 12 workers each\. The last worker of .* was worker on a 1, lost at "):
        probe_lost()


def test_workers_lost_on_two_machines_count_as_the_rows_own_attempts(row, settings):
    lose(row, "a 1")
    lose(row, "c 1")
    assert (row.losses, row.attempts) == (2, 0), "another container of the same machine"
    lose(row, "b 2")
    assert (row.losses, row.attempts, is_failed(row)) == (3, 1, False)
    lose(row, "a 1")
    assert (row.attempts, is_failed(row)) == (2, False)
    lose(row, "a 1")
    assert is_failed(row) and settings.MAX_ATTEMPTS == 3
    if isinstance(row, Part | Submission):
        entry = row.evaluation.submission if isinstance(row, Part) else row
        assert (entry.reason, entry.fault) == (Reason.LOST_ON_MACHINES, "entry")
    else:
        assert row.reason == Reason.LOST_ON_MACHINES


def test_a_lost_row_waits_its_pause_and_a_holder_that_was_only_slow_keeps_it(row, settings):
    settings.LOSS_SECONDS = 10.0
    rows, now = type(row).objects.filter(pk=row.pk), timezone.now()
    held = rows.claim("slow")
    assert rows.note_losses() == 0 and held.heartbeat(), "its lease has not ended"
    rows.update(lease_until=now)
    assert held.heartbeat() and rows.note_losses() == 0, "it renewed its lease before anybody noted a loss"
    late = now + timedelta(minutes=5)
    assert rows.note_losses(late) == 1 and rows.claim("next", now=late) is None and not held.heartbeat()
    row.refresh_from_db()
    assert (row.lease_until - late).total_seconds() == pytest.approx(10.0)
    assert rows.claim("next", now=late + timedelta(seconds=9)) is None
    assert rows.claim("next", now=late + timedelta(seconds=11)) is not None


def test_an_entry_that_is_tried_again_begins_without_losses(phase, people, settings):
    settings.MAX_LOSSES = 1
    entry = _submission(phase, people)
    lose(entry)
    assert is_failed(entry) and (entry.reason, entry.fault) == (Reason.LOST, "service")
    settings.MAX_LOSSES = 12
    entry.retry(people.owner)
    assert (entry.losses, entry.lost, entry.failure_detail) == (0, [], "")
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED and "no work" in probe_lost()


@pytest.fixture
def slow_phase(phase):
    """With a metric that takes about a second a sample, so that a worker can be caught at work."""
    params = {"n_samples": 1_000_000, "primitive": "capsule"}
    PhaseMetric.objects.create(phase=phase, slug="slow", key="jaccard_distance", position=9, params=params)
    EvaluationBatch.start(phase, reference=phase.references.get())
    phase.refresh_from_db()
    return phase


@with_workers
def test_a_worker_names_its_machine_as_the_setting_says(slow_phase, people, references):
    entry = received(slow_phase, people.team, archive(references))
    at_work = Part.objects.filter(evaluation__submission=entry, started_at__isnull=False, state=Part.State.WAITING)
    with Worker(PLUMBLINE_MACHINE="rack-7") as other:
        wait_until(lambda: bool(sweep()) and at_work.exists(), what="a part at work")
        other.catch(at_work)
        assert at_work.get().machine == "rack-7"
        other.kill()


def test_a_scoring_process_killed_from_outside_is_a_loss_and_one_that_breaks_down_by_itself_an_attempt(phase, people, monkeypatch):
    part = _part(phase, people)
    inner = sandbox.run

    def killed(folder, job, heartbeat, *limits):
        def kill_and_go_on() -> bool:
            if sandbox._process.poll() is None:
                os.kill(sandbox._process.pid, signal.SIGKILL)
            return heartbeat()

        return inner(folder, {"kind": "suite", "hang": True} | job, kill_and_go_on, *limits)

    def hang() -> None:
        """Have the next job's process stand still until it is killed."""
        if sandbox._process is None:
            with worker.job_folder() as folder, pytest.raises(JobFailed):
                inner(folder, {"kind": "no such kind"}, lambda: True)
        os.kill(sandbox._process.pid, signal.SIGSTOP)

    hang()
    monkeypatch.setattr(worker.sandbox, "run", killed)
    worker.score(Part.objects.filter(pk=part.pk).claim("w"))
    part.refresh_from_db()
    assert (part.losses, part.attempts, part.state) == (1, 0, Part.State.WAITING)
    assert part.lost[0]["what"].endswith(" -9")

    monkeypatch.setattr(worker.sandbox, "run", lambda folder, job, *rest: inner(folder, job | {"reference": "/nowhere"}, *rest))
    Part.objects.update(lease_until=None)
    worker.score(Part.objects.filter(pk=part.pk).claim("w"))
    part.refresh_from_db()
    assert (part.losses, part.attempts, part.state) == (1, 1, Part.State.WAITING)
    assert "FileNotFoundError" in part.failure_detail


def test_the_job_of_a_part_killed_from_outside_is_a_loss(slow_phase, people, settings):
    """As by a machine that runs out of memory: the worker lives, and so does its child."""
    settings.HEARTBEAT_SECONDS = 0.02  # the kill comes with one, before a fast machine is done
    part = _part(slow_phase, people)
    seen: list[int] = []

    def kill_the_job() -> bool:
        child = sandbox._process.pid
        for pid in Path(f"/proc/{child}/task/{child}/children").read_text().split():
            seen.append(int(pid))
            os.kill(int(pid), signal.SIGKILL)
        return True

    held = Part.objects.filter(pk=part.pk).claim("w")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Part, "heartbeat", lambda *_, **__: kill_the_job())
        worker.score(held)
    part.refresh_from_db()
    assert seen and (part.losses, part.attempts) == (1, 0)


def test_the_team_reads_that_a_worker_was_lost_and_when_the_entry_is_tried_again(phase, people, client, settings):
    settings.LOSS_SECONDS = 600.0
    entry = _submission(phase, people)
    for n in range(2):
        assert Submission.objects.to_validate().claim("w", status=Status.CLAIMED)
        Submission.objects.update(lease_until=timezone.now())
        assert Submission.objects.all().note_losses() == 1
        if n == 0:
            Submission.objects.update(lease_until=None)
    client.force_login(people.owner)
    page = client.get(f"/entries/{entry.pk}/progress/").content.decode()
    assert "crashed twice" in page and "20 min" in page
    entry.refresh_from_db()
    assert standing(entry).attempts == 0 and "This is attempt" not in page
    Submission.objects.update(lease_until=None)
    worker.check(Submission.objects.to_validate().claim("w", status=Status.CLAIMED))
    assert "crashed" not in client.get(f"/entries/{entry.pk}/progress/").content.decode(), "validation is behind it"
    part = Part.objects.filter(evaluation__submission=entry).first()
    lose(part)
    Part.objects.filter(pk=part.pk).claim("again")
    page = client.get(f"/entries/{entry.pk}/progress/").content.decode()
    assert "crashed once" in page
