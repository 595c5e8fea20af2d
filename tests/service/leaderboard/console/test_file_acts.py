"""Acts on the files that participants download."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile

from submissions.models import ChallengeFile
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.leaderboard.console.acts import confirm


def test_files_are_added_replaced_and_removed(desk, phase, people, at, django_capture_on_commit_callbacks):
    path = at("files/")
    values = {"act": "add", "title": "Points", "kind": "input", "phase": str(phase.pk)}
    desk.post(path, {**values, "file": SimpleUploadedFile("points.zip", b"points")})
    row = ChallengeFile.objects.get()
    assert (row.phase, row.name, row.title, stored_files.store().read(row.key)) == (phase, "points.zip", "Points", b"points")
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(path, {**values, "file": SimpleUploadedFile("points.zip", b"more")})
    again = ChallengeFile.objects.get()
    assert (again.pk, stored_files.store().read(again.key), stored_files.store().exists(row.key)) == (row.pk, b"more", False)
    confirm(desk, desk.post(path, {"act": "remove", "file": str(row.pk)}))
    assert not ChallengeFile.objects.exists()
    actions = list(phase.challenge.audit.filter(actor=people.organizer).order_by("id").values_list("action", flat=True))
    assert actions == ["file.add", "file.edit", "file.remove"]


def test_a_full_disk_is_said_on_the_page(desk, phase, at, monkeypatch):
    def full(*arguments):
        raise StorageError("The server's disk is full; try again later.")

    monkeypatch.setattr(type(stored_files.store()), "save_file", full)
    values = {"act": "add", "title": "", "kind": "input", "phase": "", "file": SimpleUploadedFile("points.zip", b"points")}
    assert "disk is full" in desk.post(at("files/"), values, follow=True).content.decode()
    assert not ChallengeFile.objects.exists()
