"""The log of work. The promise: a line says that something was done only where it was, and an outage is told a few times a minute."""

from __future__ import annotations

import logging

import pytest

from evaluation.models import Part
from evaluation.work import attempts, worker
from submissions.models import Status, Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.factories import archive, gables, perturbed, received
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db(transaction=True)  # an outage has the connection looked at, and one in a transaction be closed


@pytest.fixture
def lines(caplog):
    """The events of the log, each with what it says of them."""
    caplog.set_level(logging.INFO)

    def found(*events: str) -> list[dict]:
        said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
        return [line for line in said if line["event"] in events]

    return found


@pytest.fixture
def parts(phase, people) -> list[Part]:
    """The waiting parts of two entries."""
    for team, predictions in ((people.team, gables()), (people.other_team, perturbed(gables(), 0.1))):
        received(phase, team, archive(predictions))
        worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    return list(Part.objects.waiting("cpu"))


def test_a_result_that_is_dropped_is_not_told_as_a_part_scored(parts, lines, monkeypatch):
    run = worker.sandbox.run

    def run_and_be_late(*args):
        done = run(*args)
        end_leases(Part.objects.filter(pk=parts[0].pk))
        return done

    with monkeypatch.context() as patched:
        patched.setattr(worker.sandbox, "run", run_and_be_late)
        assert worker.entry_once("cpu")
    (line,) = lines("part scored", "attempt without result")
    assert (line["event"], line["work"], line["row"]) == ("attempt without result", "part scored", parts[0].pk)
    assert line["became"] == "waiting"
    worker.drain()
    assert len(lines("part scored")) == len(parts) and {line["became"] for line in lines("part scored")} == {"done"}


def test_without_storage_a_worker_tries_one_part_and_pauses(parts, lines, monkeypatch):
    def away(*_):
        raise StorageError("The storage does not answer.")

    monkeypatch.setattr(attempts, "_storage_away_until", 0.0)
    with monkeypatch.context() as patched:
        for name in ("local_path", "exists"):
            patched.setattr(type(stored_files.store()), name, away)
        assert len(parts) > 4 and worker.drain() == 1
        assert worker.drain() == 0, "it is not asked again for a while"
        (line,) = lines("part scored", "attempt without result")
        assert line["became"] == "waiting"
        monkeypatch.setattr(attempts, "_storage_away_until", 0.0)
        assert worker.drain() == 1, "the next attempt is at another part"
    monkeypatch.setattr(attempts, "_storage_away_until", 0.0)
    Part.objects.update(lease_until=None)
    worker.drain()
    assert not Submission.objects.exclude(status=Status.SCORED).exists() and not Part.objects.filter(losses__gt=0).exists()


def test_one_file_that_cannot_be_had_keeps_no_other_entry_waiting(parts, monkeypatch):
    broken, local_path = parts[0].evaluation.submission, type(stored_files.store()).local_path

    def one_away(store, key):
        if key == broken.artifact_key:
            raise StorageError("The storage does not give this file.")
        return local_path(store, key)

    monkeypatch.setattr(type(stored_files.store()), "local_path", one_away)
    worker.drain()
    assert [entry.status for entry in Submission.objects.order_by("pk")] == [Status.SCORING, Status.SCORED]
