"""Workers' cache of references: made once, by a process that has seen no entry, and never needed for a value."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from evaluation.metrics import prepared
from evaluation.models import EvaluationBatch, PhaseMetric, Score
from evaluation.work.sandbox import JobFailed, sandbox
from evaluation.work.worker import drain
from leaderboard.bundle.apply import remove_phase
from submissions.storage import stored_files
from submissions.storage.local import LocalStore
from submissions.storage.store import StorageError
from tests.support.factories import PhaseFactory, archive, give_reference, perturbed, received

pytestmark = [pytest.mark.django_db, pytest.mark.own_parts]
FOLDER = Path(settings.HOME) / "files" / "prepared"


@pytest.fixture(autouse=True)
def _empty_folder(settings):
    if settings.S3_BUCKET:
        pytest.skip("looks into the folder of the local store")
    shutil.rmtree(FOLDER, ignore_errors=True)  # rows are rolled back between tests, files are not


@pytest.fixture
def jobs(monkeypatch) -> list[dict]:
    """The jobs that the limited process is given."""
    seen: list[dict] = []
    run = sandbox.run

    def watched(folder, job, *rest, **options):
        seen.append(job)
        return run(folder, job, *rest, **options)

    monkeypatch.setattr(sandbox, "run", watched)
    return seen


def kinds(jobs: list[dict]) -> list[str]:
    return [job["kind"] for job in jobs]


def files(phase) -> list[Path]:
    return sorted((FOLDER / str(phase.pk)).glob("*"))


def values(entry) -> dict[str, list[float]]:
    return {score.slug: score.values.tolist() for score in Score.objects.filter(evaluation__submission=entry)}


def test_it_is_made_for_the_first_entry_and_read_for_the_next(phase, scored, jobs):
    first = scored(0.1)
    assert kinds(jobs) == ["validate", *["prepare", "score"] * 4], "four houses are four parts"
    assert len(files(phase)) == 4 and any(prepared.read(path)[0] for path in files(phase))
    jobs.clear()
    second = scored(0.1)
    assert kinds(jobs) == ["validate", *["score"] * 4]
    assert [str(path) for path in files(phase)] == sorted(job["prepared"] for job in jobs[1:])
    assert values(first) == values(second)


def test_who_prepares_is_shown_nothing_of_an_entry(scored, jobs):
    scored(0.1)
    preparing_jobs = [job for job in jobs if job["kind"] == "prepare"]
    assert preparing_jobs
    assert [
        job for job in preparing_jobs if set(job) != {"kind", "family", "reference", "item_ids", "unit_scale", "requests", "card"}
    ] == []


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b"nothing"), lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_an_unreadable_file_changes_no_value_and_is_made_again(phase, scored, jobs, harm):
    first = scored(0.1)
    good = [path.read_bytes() for path in files(phase)]
    for path in files(phase):
        harm(path)
    second = scored(0.1)
    assert values(second) == values(first) and not files(phase)
    jobs.clear()
    assert values(scored(0.1)) == values(first)
    assert "prepare" in kinds(jobs) and [path.read_bytes() for path in files(phase)] == good


def test_where_it_cannot_be_made_entries_are_scored_without_and_it_is_not_tried_for_each(phase, scored, monkeypatch):
    run, tried = sandbox.run, []

    def broken(folder, job, *rest, **options):
        if job["kind"] == "prepare":
            tried.append(job)
            raise JobFailed("memory", "too large")
        return run(folder, job, *rest, **options)

    monkeypatch.setattr(sandbox, "run", broken)
    first, second = scored(0.1), scored(0.1)
    assert first.status == second.status == "scored" and len(tried) == 4
    assert {prepared.read(path) == ({}, False) for path in files(phase)} == {True}
    monkeypatch.undo()
    for path in files(phase):
        path.unlink()
    assert values(scored(0.1)) == values(first), "with what was prepared, at last, the same values"


def test_a_storage_that_refuses_it_stops_nobody(phase, scored, monkeypatch):
    save = LocalStore.save_bytes

    def full(self, key, data):
        if key.startswith("prepared/"):
            raise StorageError("The disk is full.")
        save(self, key, data)

    monkeypatch.setattr(LocalStore, "save_bytes", full)
    entry = scored(0.1)
    assert entry.status == "scored" and not files(phase)
    assert np.isfinite([v for column in values(entry).values() for v in column]).all()


def test_two_phases_and_other_columns_share_nothing_they_should_not(phase, scored, challenge, people, references):
    other = PhaseFactory(challenge=challenge)
    give_reference(other, metrics=({"slug": "hss", "key": "hss", "is_primary": True},))
    scored(0.1)
    entry = received(other, people.team, archive(perturbed(references, 0.1)), user=people.owner)
    drain()
    entry.refresh_from_db()
    assert entry.status == "scored"
    assert {path.name for path in files(phase)}.isdisjoint(path.name for path in files(other)) and len(files(other)) == 4


def test_a_re_evaluation_forgets_what_only_the_old_columns_used(phase, scored, django_capture_on_commit_callbacks):
    scored(0.1)
    old = files(phase)
    with django_capture_on_commit_callbacks(execute=True):
        EvaluationBatch.start(phase, reason="the same again")
        drain()
    assert files(phase) == old, "the same columns under the same reference"
    PhaseMetric.objects.create(phase=phase, slug="wide", key="corner_f1", params={"tau": 2.0}, position=9)
    with django_capture_on_commit_callbacks(execute=True):
        EvaluationBatch.start(phase, reason="another column")
        drain()
    assert len(files(phase)) == 4 and not set(files(phase)) & set(old)


def test_it_goes_with_its_phase(phase, scored, django_capture_on_commit_callbacks):
    entry = scored(0.1)
    assert len(files(phase)) == 4
    entry.delete()
    with django_capture_on_commit_callbacks(execute=True):
        remove_phase(phase)
    assert not files(phase)


def test_a_file_that_cannot_be_deleted_is_left(monkeypatch):
    def away(self, key):
        raise StorageError("The storage does not answer.")

    monkeypatch.setattr(LocalStore, "delete", away)
    stored_files.try_delete("prepared/1/x")
    assert not stored_files.store().exists("prepared/1/x")
