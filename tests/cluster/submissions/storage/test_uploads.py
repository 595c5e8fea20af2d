"""An upload through the door that page, API and client share."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from submissions.errors import Refused
from submissions.models import Status, Submission
from submissions.storage import stored_files, uploads
from submissions.storage.store import StorageError

DATA = os.urandom(2_500)


@pytest.fixture(autouse=True)
def small_parts(settings, local_files):
    settings.UPLOAD_PART_BYTES = 1_000


def start(user, phase, data=DATA, declare=True, **values) -> Submission:
    values = {"method_name": "PC2WF", "file_name": "entry.zip"} | values
    digest = hashlib.sha256(data).hexdigest() if declare else ""
    return uploads.start(user, phase, size=len(data), sha256=digest, **values)


def send(submission, data=DATA, numbers=None) -> None:
    for number in numbers or range(1, -(-len(data) // 1_000) + 1):
        uploads.save_part(submission, number, io.BytesIO(data[(number - 1) * 1_000 : number * 1_000]))


def test_three_parts_become_one_received_entry_with_the_same_bytes(phase, people):
    submission = start(people.owner, phase)
    send(submission)
    uploads.finish(submission)
    assert (submission.status, submission.team, submission.size) == (Status.RECEIVED, people.team, 2_500)
    assert stored_files.store().read(submission.file_key) == DATA


def test_an_upload_goes_on_where_it_broke_off(phase, people):
    submission = start(people.owner, phase)
    send(submission, numbers=[2])
    again = uploads.offer(Submission.objects.get(pk=submission.pk))
    assert again.parts_done == [2] and again.part_size == 1_000
    send(submission, numbers=[1, 3])
    assert uploads.finish(submission).status == Status.RECEIVED


def test_finishing_too_early_names_the_missing_parts_and_loses_nothing(phase, people):
    submission = start(people.owner, phase)
    send(submission, numbers=[1])
    with pytest.raises(Refused, match="parts 2, 3 are missing") as refused:
        uploads.finish(submission)
    assert refused.value.code == "parts_missing"
    send(submission, numbers=[2, 3])
    assert uploads.finish(submission).status == Status.RECEIVED


def test_finishing_twice_is_the_same_as_once(phase, people):
    submission = start(people.owner, phase)
    send(submission)
    first = uploads.finish(submission).received_at
    assert uploads.finish(Submission.objects.get(pk=submission.pk)).received_at == first


@pytest.mark.parametrize(("number", "size"), [(1, 999), (1, 1_001), (3, 1_000), (4, 10), (0, 10), (-1, 10), (10**9, 10)])
def test_a_part_of_another_size_or_number_is_refused_and_not_kept(phase, people, number, size):
    submission = start(people.owner, phase)
    with pytest.raises(Refused) as refused:
        uploads.save_part(submission, number, io.BytesIO(b"x" * size))
    assert refused.value.code == "part_size"
    assert uploads.offer(submission).parts_done == []


def test_other_bytes_than_announced_give_the_reservation_back(phase, people):
    submission = start(people.owner, phase)
    send(submission, b"y" * 2_500)
    with pytest.raises(Refused, match="another checksum"):
        uploads.finish(submission)
    submission.refresh_from_db()
    assert submission.status == Status.CANCELLED and not phase.submissions.counted().exists()
    assert not any((stored_files.store().root / "submissions" / str(submission.pk)).rglob("*.zip"))


def test_the_server_computes_the_checksum_where_none_was_announced(phase, people):
    submission = start(people.owner, phase, declare=False)
    send(submission)
    assert uploads.finish(submission).sha256 == hashlib.sha256(DATA).hexdigest()


def test_bytes_sent_again_after_receipt_change_nothing(phase, people):
    submission = start(people.owner, phase, declare=False)
    send(submission)
    uploads.finish(submission)
    with pytest.raises(Refused, match="no longer open"):
        send(submission, b"z" * 2_500)
    assert stored_files.store().read(submission.file_key) == DATA


def test_two_finishes_at_once_keep_the_file_of_the_one_that_won(phase, people):
    submission = start(people.owner, phase)
    send(submission)
    late = Submission.objects.get(pk=submission.pk)
    uploads.finish(submission)
    late.upload_data = {}  # it read the row before
    with pytest.raises(Refused):
        uploads.finish(late)
    submission.refresh_from_db()
    assert submission.status == Status.RECEIVED and stored_files.store().read(submission.file_key) == DATA


def test_a_whole_file_in_one_request_is_received_at_once(phase, people, tmp_path):
    path = tmp_path / "whatever"
    path.write_bytes(DATA)
    submission = uploads.send_whole(people.mate, phase, path, file_name="C:\\data\\my entry.zip", method_name="PC2WF")
    assert (submission.status, submission.file_name) == (Status.RECEIVED, "my entry.zip")
    assert stored_files.store().read(submission.file_key) == DATA


def test_the_same_bytes_again_are_a_warning_not_a_refusal(phase, people):
    first, second = start(people.owner, phase), start(people.owner, phase)
    assert not Submission.sent_before([second])  # the first has not arrived
    send(first)
    uploads.finish(first)
    assert Submission.sent_before([second, first]) == {second.pk: first}
    send(second)
    assert uploads.finish(second).status == Status.RECEIVED
    theirs = start(people.other, phase)
    assert not Submission.sent_before([theirs])  # another team's bytes are none of their business


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a\0b", "x" * 161 + ".zip", "dir/", "a\nb.zip"])
def test_file_names_that_could_harm_a_path_are_refused(phase, people, name):
    with pytest.raises(Refused) as refused:
        start(people.owner, phase, file_name=name)
    assert refused.value.code == "file_name"


def test_folders_in_a_file_name_are_dropped(phase, people):
    assert start(people.owner, phase, file_name="../../etc/entry.zip").file_name == "entry.zip"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"method_name": "  "}, "method_name"),
        ({"method_name": "x" * 81}, "method_name"),
        ({"paper_url": "javascript:alert(1)"}, "paper_url"),
        ({"code_url": "github.com/x"}, "code_url"),
        ({"data": b""}, "empty_file"),
    ],
)
def test_what_is_entered_is_checked_before_anything_is_reserved(phase, people, values, code):
    with pytest.raises(Refused) as refused:
        start(people.owner, phase, **values)
    assert refused.value.code == code and not phase.submissions.exists()


def test_a_file_larger_than_the_phase_takes_is_refused_before_it_is_sent(phase, people):
    phase.max_archive_bytes = 2_499
    with pytest.raises(Refused) as refused:
        start(people.owner, phase)
    assert refused.value.code == "too_large"


@pytest.mark.parametrize("name", ["anonymous", "stranger", "other_organizer"])
def test_people_who_do_not_take_part_cannot_reserve(phase, people, name):
    with pytest.raises((PermissionDenied, Http404)):
        start(people.users()[name], phase)


def test_a_full_disk_is_one_sentence_and_uses_up_nothing(phase, people, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(StorageError, match="disk is full"):
        start(people.owner, phase)
    assert not phase.submissions.exists(), "no cancelled entry for each try"


def test_an_upload_in_one_request_that_the_storage_does_not_take_leaves_no_entry(phase, people, monkeypatch, tmp_path):
    path = tmp_path / "entry.zip"
    path.write_bytes(DATA)

    def away(self, key, path):
        raise StorageError("The storage does not answer.")

    monkeypatch.setattr(type(stored_files.store()), "save_file", away)
    with pytest.raises(StorageError, match="does not answer"):
        uploads.send_whole(people.owner, phase, path, file_name="entry.zip", method_name="m")
    assert not phase.submissions.exists()


def test_a_disk_that_fills_up_while_joining_loses_no_part(phase, people, monkeypatch):
    submission = start(people.owner, phase)
    send(submission)

    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(StorageError, match="disk is full"):
            uploads.finish(submission)
    submission.refresh_from_db()
    assert submission.status == Status.UPLOADING and uploads.offer(submission).parts_done == [1, 2, 3]
    assert uploads.finish(submission).status == Status.RECEIVED


def test_the_remains_of_expired_and_cancelled_uploads_are_swept(phase, people):
    expired, cancelled, running = (start(people.owner, phase) for _ in range(3))
    for submission in (expired, cancelled, running):
        send(submission, numbers=[1])
    folders = [stored_files.store().uploads / s.upload_data["parts"] for s in (expired, cancelled, running)]
    assert Submission.expire_uploads(timezone.now() + timedelta(hours=24)) == 3
    Submission.objects.filter(pk=running.pk).update(status=Status.UPLOADING)
    assert stored_files.clean_uploads() == 2
    assert [folder.exists() for folder in folders] == [False, False, True]
    assert stored_files.clean_uploads() == 0


def test_cancelling_an_upload_removes_what_was_sent(phase, people):
    submission = start(people.owner, phase)
    send(submission, numbers=[1])
    uploads.cancel(submission)
    assert submission.status == Status.CANCELLED
    assert not (stored_files.store().uploads / f"submissions-{submission.pk}").exists()


def test_cancelling_a_received_entry_removes_its_file_and_the_download_says_so(phase, people):
    entry = start(people.owner, phase)
    send(entry)
    uploads.finish(entry)
    key = entry.file_key
    uploads.cancel(entry)
    assert not stored_files.store().exists(key)
    with pytest.raises(Refused, match="cancelled entry is removed"):
        uploads.stored_file(entry)


def ended(phase, people, status, days, **values) -> Submission:
    """A received entry with a file and an artifact that came to `status` so many days ago."""
    data = os.urandom(len(DATA))
    entry = start(people.owner, phase, data)
    send(entry, data)
    uploads.finish(entry)
    stored_files.store().save_bytes(f"artifacts/{entry.pk}.npz", b"parsed")
    values = {"status": status, "finished_at": timezone.now() - timedelta(days=days), "artifact_key": f"artifacts/{entry.pk}.npz"} | values
    Submission.objects.filter(pk=entry.pk).update(**values)
    entry.refresh_from_db()
    return entry


def has_files(entry: Submission) -> tuple[bool, bool]:
    """Presence of the entry's file and of its artifact; the row must agree. `entry` is as it was before the sweep."""
    there = stored_files.store().exists(entry.file_key), stored_files.store().exists(entry.artifact_key)
    entry.refresh_from_db()
    assert there == (bool(entry.file_key), bool(entry.artifact_key))
    return there


def test_files_of_rejected_entries_go_after_a_while_and_those_of_cancelled_ones_at_once(phase, people, settings):
    settings.KEEP_REJECTED_DAYS = 7
    fresh, old = ended(phase, people, Status.REJECTED, 6.9), ended(phase, people, Status.REJECTED, 7.1)
    cancelled = ended(phase, people, Status.CANCELLED, 0.1)
    scored, failed = ended(phase, people, Status.SCORED, 900), ended(phase, people, Status.FAILED, 900)
    assert "7 days" in fresh.file_note and scored.file_note == failed.file_note == ""
    assert stored_files.clean_uploads() >= 2
    assert [has_files(entry) for entry in (fresh, scored, failed)] == [(True, True)] * 3
    assert [has_files(entry) for entry in (old, cancelled)] == [(False, False)] * 2
    with pytest.raises(Refused, match="no longer kept"):
        uploads.stored_file(old)
    assert stored_files.clean_uploads() == 0


def test_of_a_team_that_is_rejected_often_only_the_newest_files_stay(phase, people, settings):
    entries = [ended(phase, people, Status.REJECTED, days) for days in (3, 2, 1)]
    settings.KEEP_REJECTED_BYTES = 2 * entries[0].size
    stored_files.clean_uploads()
    assert [has_files(entry)[0] for entry in entries] == [False, True, True]


def test_a_file_that_the_storage_cannot_remove_now_is_removed_by_a_later_sweep(phase, people, monkeypatch):
    entry = ended(phase, people, Status.REJECTED, 30)

    def away(self, key):
        raise StorageError("The storage does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(type(stored_files.store()), "delete", away)
        stored_files.clean_uploads()
        assert has_files(entry) == (True, True)
    stored_files.clean_uploads()
    assert has_files(entry) == (False, False)
