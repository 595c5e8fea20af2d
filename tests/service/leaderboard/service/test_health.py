"""Answers of `/-/ready` and of the doctor's probes where work would not be done, and what the metrics count."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

import pytest
from django.core.cache import cache
from django.utils import timezone

from evaluation.models import Evaluation, MetricProgram, Part, PhaseMetric, Process
from evaluation.programs import sandbox
from evaluation.work import worker
from leaderboard.service import health, traffic
from leaderboard.service.health import Unready
from submissions.models import Status, Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.evaluation import programs, remote_workers
from tests.support.factories import archive, received

LONG_AGO = timedelta(hours=2)


@pytest.fixture(autouse=True)
def lease(settings):
    """Long enough for a machine that does much else; where somebody is to be missed, shorter."""
    settings.LEASE_SECONDS = 60


def process(kind: str, started: timedelta = LONG_AGO, seen: timedelta = timedelta(0), **values) -> Process:
    now = timezone.now()
    name = f"here:{Process.objects.count()}"
    return Process.objects.create(kind=kind, name=name, started_at=now - started, seen_at=now - seen, **values)


def sentence(probe) -> str:
    with pytest.raises(Unready) as refused:
        probe()
    return str(refused.value)


@pytest.fixture
def embedded(settings):
    settings.DATABASE_URL = settings.BROKER_URL = ""


@pytest.mark.django_db
class TestMetricPrograms:
    """Metric programs in use need a sandbox where the workers are."""

    LACKS = "bwrap is not installed; install the package bubblewrap"

    @pytest.fixture
    def column(self, challenge, phase, tmp_path) -> PhaseMetric:
        row = programs.ready(challenge, tmp_path)
        return PhaseMetric.objects.create(phase=phase, slug="own_lengths", key=row.full_key, position=9)

    def test_in_a_cluster_some_worker_must_have_one(self, column, settings):
        settings.DATABASE_URL = settings.BROKER_URL = "redis://"
        assert health.probe_programs().startswith("1 metric program")
        process("worker", queues=["cpu"], sandboxes={"python": self.LACKS})
        process("web")
        phase = f"{column.phase.challenge.slug}/{column.phase.slug}"
        assert [one for one in (phase, column.key, self.LACKS) if one not in sentence(health.probe_programs)] == []

    @pytest.mark.parametrize("there", [{"python": ""}, {}])
    def test_one_that_has_it_or_does_not_say_is_enough(self, column, settings, there):
        settings.BROKER_URL = "redis://"
        process("worker", queues=["cpu"], sandboxes={"python": self.LACKS})
        process("worker", queues=["cpu"], sandboxes=there)
        assert health.probe_programs().startswith("1 metric program")

    def test_of_the_embedded_profile_this_machine_counts_and_it_is_not_ready(self, column, embedded, client, monkeypatch):
        monkeypatch.setattr(sandbox, "missing", lambda *_: self.LACKS)
        assert self.LACKS in client.get("/-/ready").json()["failed"]["programs"]
        column.phase.closes_at = timezone.now() - timedelta(days=1)
        column.phase.save()
        assert "programs" not in client.get("/-/ready").json()["failed"]

    def test_one_that_waits_to_be_checked_waits_for_a_sandbox(self, challenge, phase, tmp_path, embedded, monkeypatch):
        row = programs.ready(challenge, tmp_path)
        assert health.probe_programs()
        MetricProgram.objects.update(state=MetricProgram.State.WAITING)
        monkeypatch.setattr(sandbox, "missing", lambda *_: self.LACKS)
        assert row.full_key in sentence(health.probe_programs)


@pytest.mark.django_db
class TestProbes:
    def test_somebody_must_listen_for_entries(self, phase, people, references, embedded):
        assert "`python manage.py run`" in sentence(health.probe_workers)
        received(phase, people.team, archive(references))
        assert "1 entry" in sentence(health.probe_workers)
        process("worker", queues=["gpu"])
        sentence(health.probe_workers)
        process("worker", queues=["cpu"])
        assert health.probe_workers().startswith("1 worker")

    def test_a_cluster_is_told_its_own_commands(self, settings):
        settings.DATABASE_URL = "postgres://"
        for probe, service in ((health.probe_workers, "worker"), (health.probe_sweeper, "scheduler")):
            assert f"`docker compose up -d {service}`" in sentence(probe)

    def test_who_was_not_heard_of_does_not_count(self, settings):
        process("worker", queues=["cpu"], seen=timedelta(seconds=settings.LEASE_SECONDS + 1))
        sentence(health.probe_workers)

    def test_right_after_a_start_nobody_is_missed(self):
        web = process("web", started=timedelta(seconds=5))
        for probe in (health.probe_workers, health.probe_sweeper):
            assert "started a moment ago" in probe()
        Process.objects.filter(pk=web.pk).update(started_at=timezone.now() - timedelta(seconds=health.START_SECONDS + 1))
        for probe in (health.probe_workers, health.probe_sweeper):
            sentence(probe)

    def test_without_a_sweeper_only_what_workers_do_not_look_for_is_said_to_wait(self, client):
        waits, done = sentence(health.probe_sweeper).split(". Workers do ")
        assert waits.endswith("new tests of metrics, some analyses of studies and the removal of unfinished uploads and old files wait")
        assert done.startswith("entries, rankings and e-mails without it")
        assert "new tests of metrics, some analyses of studies and the removal of old files wait" in client.get("/status/").content.decode()

    def test_a_sweeper_that_hangs_in_a_round_is_missed(self, settings):
        sweeper = process("sweeper", worked_at=timezone.now())
        assert health.probe_sweeper()
        late = timedelta(seconds=health.ROUND_SECONDS + settings.SWEEP_SECONDS + 1)
        Process.objects.filter(pk=sweeper.pk).update(worked_at=timezone.now() - late)
        assert re.search(r"30\d s", sentence(health.probe_sweeper))
        process("sweeper", started=timedelta(seconds=5))
        assert health.probe_sweeper(), "another one has begun"

    def test_a_storage_or_queue_that_fails_is_named(self, client, settings, monkeypatch):
        process("worker", queues=["cpu"])
        process("sweeper", worked_at=timezone.now(), wrote_at=timezone.now())

        def away() -> None:
            raise StorageError("Away.")

        monkeypatch.setattr(stored_files, "store", away)
        answer = client.get("/-/ready")
        assert answer.status_code == 503
        assert answer.json()["failed"] == {"storage": "Away."}


def value(client, name: str, **labels: str) -> float:
    """One number of the metrics."""
    text = client.get("/-/metrics").content.decode()
    wanted = name + ("{" + ",".join(f'{key}="{one}"' for key, one in sorted(labels.items())) + "}" if labels else "")
    (found,) = re.findall(rf"^{re.escape(wanted)} (\S+)$", text, re.M)
    return float(found)


@pytest.mark.django_db
class TestMetrics:
    @pytest.mark.own_parts
    def test_work_in_progress_is_not_work_that_nobody_has_begun(self, phase, people, references, client, scored):
        entry, now = scored(), timezone.now()
        Submission.objects.filter(pk=entry.pk).update(status=Status.SCORING)
        Evaluation.objects.update(state="running", created_at=now - timedelta(seconds=900), started_at=now - timedelta(seconds=600))
        first, *others = Part.objects.order_by("start")
        Part.objects.update(state="waiting", started_at=None)
        waiting, at_work = "plumbline_oldest_waiting_seconds", "plumbline_oldest_in_progress_seconds"
        assert value(client, waiting, kind="scoring") == pytest.approx(900, abs=60)
        Part.objects.filter(pk=first.pk).update(started_at=now)
        assert value(client, waiting, kind="scoring") == 0, "its other parts wait for their turn"
        assert value(client, at_work, kind="scoring") == pytest.approx(600, abs=60)
        Part.objects.filter(pk=others[0].pk).update(device="gpu")
        assert value(client, waiting, kind="scoring") == pytest.approx(900, abs=60), "nobody has begun what is for gpu"

    def test_entries_to_be_checked_wait_and_then_are_in_progress(self, phase, people, references, client):
        entry = received(phase, people.team, archive(references))
        Submission.objects.filter(pk=entry.pk).update(received_at=timezone.now() - timedelta(seconds=300))
        assert value(client, "plumbline_oldest_waiting_seconds", kind="validation") == pytest.approx(300, abs=60)
        Submission.objects.claim("one", status=Status.CLAIMED)
        assert value(client, "plumbline_oldest_waiting_seconds", kind="validation") == 0
        assert value(client, "plumbline_oldest_in_progress_seconds", kind="validation") == pytest.approx(300, abs=60)

    def test_who_works_and_when_was_swept(self, client):
        assert value(client, "plumbline_workers", queue="cpu") == 0
        assert value(client, "plumbline_last_sweep_seconds") == float("inf")
        process("worker", queues=["cpu", "gpu"])
        process("worker", queues=["cpu"])
        process("sweeper", worked_at=timezone.now() - timedelta(seconds=40))
        assert value(client, "plumbline_workers", queue="cpu") == 2 and value(client, "plumbline_workers", queue="gpu") == 1
        assert value(client, "plumbline_last_sweep_seconds") == pytest.approx(40, abs=30)
        assert value(client, "plumbline_processes", kind="sweeper") == 1

    def test_mail_that_was_not_sent_and_background_work_are_counted(self, scored, client, mailoutbox):
        from leaderboard.service.mail import send_due_mail

        scored()
        assert value(client, "plumbline_mail_unsent", kind="outcome") == 1
        send_due_mail()
        assert value(client, "plumbline_mail_unsent", kind="outcome") == 0
        for name in ("analyses", "picture_runs", "judge_runs", "property_runs"):
            assert value(client, f"plumbline_{name}", state="failed") == 0

    def test_what_is_stored_is_counted_once_an_hour(self, client):
        cache.delete(f"{health.STORED}-counted")
        before = health.measure_storage_due()
        stored_files.store().save_bytes("health/seven", b"1234567")
        assert health.measure_storage_due() == 0, "it was counted a moment ago"
        cache.delete(f"{health.STORED}-counted")
        assert health.measure_storage_due() == before + 7
        assert value(client, "plumbline_stored_bytes", folder="health") >= 7
        stored_files.store().delete("health/seven")

    def test_requests_of_several_web_processes_stay_apart(self, client):
        """Two processes answered 3 and 5 pages; each is a series of its own, whichever of them is asked."""
        for n, name in ((3, "one:1"), (5, "two:1")):
            buckets = {"0.1": n - 1, "+Inf": n}
            found = {"200": {"buckets": buckets, "seconds": 0.5 * n}}
            now = timezone.now()
            Process.objects.create(kind="web", name=name, started_at=now, seen_at=now, requests=found)
        count = "plumbline_request_seconds_count"
        assert value(client, count, process="one:1", status="200") == 3 and value(client, count, process="two:1", status="200") == 5
        assert value(client, "plumbline_request_seconds_bucket", process="two:1", status="200", le="0.1") == 4
        assert value(client, "plumbline_request_seconds_sum", process="two:1", status="200") == 2.5

    def test_every_answer_is_counted_by_its_status_but_those_for_operators(self, client):
        def counts() -> dict[str, float]:
            return {status: found["buckets"]["+Inf"] for status, found in traffic.counted().items()}

        before = counts()
        client.get("/nothing-here/")
        client.get("/-/health")
        assert {status: n - before.get(status, 0) for status, n in counts().items() if n != before.get(status, 0)} == {"404": 1}


@pytest.mark.django_db
class TestRemoteWorkers:
    """Parts that remote workers hold are noted, and make the service no less ready."""

    @pytest.fixture
    def token(self, phase, people, references):
        received(phase, people.team, archive(references), user=people.owner)
        worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
        return remote_workers.token_of(phase.challenge)

    def test_one_that_holds_a_part_without_progress_is_noted_with_its_time(self, token, client):
        assert "1 part" not in health.probe_remote()
        part = remote_workers.claim(token)
        assert "1 part" in health.probe_remote()
        remote_workers.elapse(800)
        assert not Part.objects.stalled()
        remote_workers.elapse(401)
        assert Part.objects.stalled() == [part]
        said = sentence(health.probe_remote)
        held = int(re.search(r"1 part .* for (\d+) s .* 0 of 1", said)[1])
        assert held >= 1201
        assert token.challenge.slug not in said, "everybody may read it"
        assert token.challenge.slug in sentence(partial(health.probe_remote, named=True))
        answer = client.get("/-/ready").json()
        assert list(answer["notes"]) == ["remote"] and "remote" not in answer["failed"]
        assert 'plumbline_remote_workers{state="stalled"} 1.0' in client.get("/-/metrics").content.decode()

    def test_a_token_that_waits_is_noted_until_it_is_over(self, token):
        for _ in range(2):
            remote_workers.expire(remote_workers.claim(token))
        assert "1 token" in sentence(health.probe_remote)
        token.refresh_from_db()
        token.note_result()
        assert health.probe_remote()
