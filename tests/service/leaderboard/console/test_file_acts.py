"""Acts on the files that participants download."""

from __future__ import annotations

import io

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image, PngImagePlugin

from submissions.models import ChallengeFile
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.leaderboard.console.acts import confirm, upload
from tests.support.pages import faults, refusal


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


def test_a_picture_is_written_anew_and_shown_in_texts_and_as_the_logo(desk, challenge, at):
    text = PngImagePlugin.PngInfo()
    text.add_text("place", "50.0755 N")
    given = io.BytesIO()
    Image.new("RGB", (1600, 400), "navy").save(given, "PNG", pnginfo=text)
    values = {"act": "add", "title": "", "kind": "picture", "phase": ""}
    desk.post(at("files/"), {**values, "file": SimpleUploadedFile("my logo.png", given.getvalue())})
    desk.post(at("files/"), {**values, "file": SimpleUploadedFile("logo.png", given.getvalue())})
    rows = {row.name: row for row in ChallengeFile.objects.all()}
    stored = stored_files.store().read(rows["logo.png"].key)
    assert set(rows) == {"my-logo.png", "logo.png"} and b"50.0755" not in stored and Image.open(io.BytesIO(stored)).size == (1200, 300)
    answer = desk.get(f"/challenges/{challenge.slug}/pictures/logo.png")
    assert answer.content == stored and (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("image/png", "nosniff")
    overview = desk.get(f"/challenges/{challenge.slug}/").content.decode()
    assert f'<img class="logo" src="/challenges/{challenge.slug}/pictures/logo.png?v={rows["logo.png"].sha256[:8]}"' in overview
    # The stored file given again changes nothing, in a bundle or here.
    desk.post(at("files/"), {**values, "file": SimpleUploadedFile("logo.png", stored)})
    assert challenge.audit.filter(action__startswith="file.").count() == 2


def test_a_file_that_is_too_large_is_not_taken(desk, phase, at, settings):
    settings.UPLOAD_MAX_BYTES = 3
    form = {"act": "add", "title": "", "kind": "input", "phase": "", "file": SimpleUploadedFile("points.zip", b"points")}
    assert faults(desk.post(at("files/"), form)) == {"file": ["too_large"]}
    assert faults(desk.post(at(f"phases/{phase.slug}/reference/"), upload(b"points"))) == {"file": ["too_large"]}
    assert not ChallengeFile.objects.exists() and phase.references.count() == 1


def test_what_is_no_picture_is_refused(desk, challenge, at):
    values = {"act": "add", "title": "", "kind": "picture", "phase": ""}
    for name, data in (("a.svg", b"<svg/>"), ("a.png", b"<script>alert(1)</script>"), ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 30)):
        assert refusal(desk.post(at("files/"), {**values, "file": SimpleUploadedFile(name, data)})) == "bad_picture"
        assert not ChallengeFile.objects.exists()


def test_a_full_disk_is_said_on_the_page(desk, phase, at, monkeypatch):
    def full(*arguments):
        raise StorageError("The server's disk is full; try again later.")

    monkeypatch.setattr(type(stored_files.store()), "save_file", full)
    values = {"act": "add", "title": "", "kind": "input", "phase": "", "file": SimpleUploadedFile("points.zip", b"points")}
    assert "disk is full" in desk.post(at("files/"), values, follow=True).content.decode()
    assert not ChallengeFile.objects.exists()
