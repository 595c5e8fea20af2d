"""A local folder and an S3 server keep the same promises; S3 is a real server over HTTP."""

from __future__ import annotations

import hashlib
import io
import os
import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from submissions.errors import Refused
from submissions.models import Status, Submission
from submissions.storage import stored_files, uploads
from submissions.storage.local import STALE_SECONDS
from submissions.storage.store import MAX_PARTS, PartsMissing, StorageError, chosen_part_size, part_plan

MIB = 1024 * 1024


@pytest.fixture
def local(settings, local_files):
    settings.UPLOAD_PART_BYTES = 1_000
    return local_files


@pytest.fixture
def s3(settings, s3_files):
    settings.UPLOAD_PART_BYTES = 5 * MIB
    return s3_files


@pytest.fixture(params=["local", "s3"])
def store(request):
    return request.getfixturevalue(request.param)


def put(url: str, data: bytes) -> None:
    """Send the bytes to a signed address, as a browser does."""
    httpx.put(url, content=data).raise_for_status()


# --- files -----------------------------------------------------------------------------------


def test_what_is_saved_is_read_back_in_every_way(store, tmp_path):
    (tmp_path / "source").write_bytes(b"from a file")
    store.save_bytes("a/b/one.bin", b"bytes")
    store.save_file("a/two.bin", tmp_path / "source")
    assert store.read("a/b/one.bin") == b"bytes" and store.local_path("a/two.bin").read_bytes() == b"from a file"
    with store.open("a/two.bin") as file:
        file.seek(5)
        assert file.read() == b"a file"
    assert (store.exists("a/two.bin"), store.size("a/two.bin")) == (True, 11)


def test_what_is_deleted_or_never_was_is_not_there(store):
    store.save_bytes("gone", b"x")
    store.delete("gone")
    store.delete("gone")
    assert not store.exists("gone")
    for ask in (store.read, store.open, store.size, store.local_path):
        with pytest.raises(FileNotFoundError):
            ask("gone")


def test_what_lies_below_a_folder_is_listed_with_its_time(store):
    begun = time.time()
    for key in ("a/b/one", "a/two", "ab/three", "c/four"):
        store.save_bytes(key, b"x")
    found = dict(store.keys("a"))
    assert sorted(found) == ["a/b/one", "a/two"] and list(store.keys("nowhere")) == []
    assert {key: made for key, made in found.items() if not begun - 2 < made.timestamp() < time.time() + 2} == {}, (
        "to the second, which S3 keeps"
    )
    with pytest.raises(ValueError, match="key"):
        list(store.keys("../up"))


@pytest.mark.parametrize("key", ["../up", "a/../../up", "/root", "a//b", "", ".", "a/./b", "a\\b", "a\0b", ".new/x", "x" * 300])
def test_a_key_that_leads_out_of_the_store_is_an_error(store, key):
    for act in (store.read, store.exists, store.delete, store.local_path, lambda k: store.save_bytes(k, b"x")):
        with pytest.raises(ValueError, match="key"):
            act(key)


def test_a_write_that_breaks_off_leaves_nothing_and_harms_nothing(local, monkeypatch):
    local.save_bytes("kept", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageError, match="disk is full"):
        local.save_bytes("kept", b"new")
    assert local.read("kept") == b"old" and not list((local.root / ".new").iterdir())


def test_a_folder_that_cannot_be_written_is_one_sentence(local):
    local.root.mkdir()
    (local.root / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot use its disk"):
        local.save_bytes("file/below", b"x")


def test_a_signed_link_downloads_under_the_name_asked_for(s3):
    s3.save_bytes("k/x.zip", b"content")
    link = s3.link("k/x.zip", "My entry.zip", 60)
    answer = httpx.get(link)
    assert answer.content == b"content"
    asked = parse_qs(urlsplit(link).query)
    assert asked["response-content-disposition"] == ['attachment; filename="My entry.zip"'] and asked["X-Amz-Expires"] == ["60"]


def test_a_local_store_has_no_links(local):
    assert local.link("k", "x.zip", 60) is None


def test_an_s3_server_that_is_away_is_one_sentence(settings, tmp_path):
    settings.HOME, settings.S3_BUCKET, settings.S3_ENDPOINT = tmp_path, "nowhere", "http://127.0.0.1:9"
    settings.S3_PUBLIC_ENDPOINT, settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY = "", "a", "b"
    for act in (lambda s: s.read("k"), lambda s: s.exists("k"), lambda s: s.save_bytes("k", b""), lambda s: s.start_upload("k", "x", 1)):
        with pytest.raises(StorageError, match="does not answer"):
            act(stored_files.store())


def test_a_bucket_that_is_not_there_is_one_sentence(s3, settings, tmp_path):
    settings.S3_BUCKET = "no-such-bucket"
    with pytest.raises(StorageError, match=r"NoSuchBucket"):
        stored_files.store().save_bytes("k", b"x")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(StorageError, match="does not accept it"):
        stored_files.store().save_file("k", tmp_path / "file")


def test_local_copies_are_fetched_once_and_the_oldest_make_room(s3, settings, tmp_path, monkeypatch):
    settings.CACHE_BYTES = 250
    store = stored_files.store()
    for name in "abc":
        store.save_bytes(name, name.encode() * 100)
    first, second = store.local_path("a"), store.local_path("b")
    store.delete("a")
    assert store.local_path("a") == first  # from the copy
    for age, path in ((7200, second), (9000, first)):
        os.utime(path, (time.time() - age, time.time() - age))
    store.local_path("c")
    assert not first.exists() and second.exists()


def test_a_copy_that_may_still_be_in_use_is_not_dropped(s3, settings):
    settings.CACHE_BYTES = 50
    store = stored_files.store()
    for name in "ab":
        store.save_bytes(name, b"x" * 100)
    assert store.local_path("a").exists() and store.local_path("b").exists() and store.local_path("a").exists()


# --- uploads in parts --------------------------------------------------------------------------


def test_parts_are_joined_in_order_whatever_order_they_come_in(local):
    data = os.urandom(2_500)
    notes = local.start_upload("submissions/1", "x.zip", len(data))
    for number in (3, 1, 2):
        local.save_part(notes, number, io.BytesIO(data[(number - 1) * 1_000 : number * 1_000]))
    arrived = local.finish_upload(notes)
    assert (arrived.size, arrived.sha256) == (2_500, hashlib.sha256(data).hexdigest()) and local.read(arrived.key) == data


def test_a_part_that_is_cut_short_is_not_there(local):
    notes = local.start_upload("submissions/1", "x.zip", 1_500)
    with pytest.raises(PartsMissing):
        local.save_part(notes, 1, io.BytesIO(b"x" * 999))
    assert local.parts_done(notes) == [] and len(list(local.uploads.rglob("*.part"))) == 0


def test_what_is_used_is_counted_by_folder(store):
    before = store.used()
    for key, size in {"submissions/1/a": 3, "submissions/2/b": 4, "weighed/c": 5}.items():
        store.save_bytes(key, b"x" * size)
    after = store.used()
    assert after["weighed"] - before.get("weighed", 0) == 5 and after["submissions"] - before.get("submissions", 0) == 7


def test_two_different_joins_of_one_upload_lie_under_two_keys(local):
    notes = local.start_upload("submissions/1", "x.zip", 3)
    local.save_part(notes, 1, io.BytesIO(b"one"))
    first = local.finish_upload(notes)
    local.save_part(notes, 1, io.BytesIO(b"two"))
    second = local.finish_upload(notes)
    assert first.key != second.key and local.read(first.key) == b"one"


def test_temporary_files_are_swept_when_nobody_can_still_be_writing(local):
    (local.root / ".new").mkdir(parents=True)
    for name, age in (("old", 2 * STALE_SECONDS), ("fresh", 10)):
        path = local.root / ".new" / name
        path.write_bytes(b"x")
        os.utime(path, (time.time() - age, time.time() - age))
    assert local.clean(set()) == 1 and (local.root / ".new" / "fresh").exists()


def test_many_parts_are_made_larger_instead(settings):
    settings.UPLOAD_PART_BYTES = 1_000
    size = 50_000_000
    chosen = chosen_part_size(size)
    assert len(part_plan(size, chosen)) <= MAX_PARTS and sum(part_plan(size, chosen)) == size


@pytest.fixture
def multipart(s3, phase, people):
    """An announced upload of two parts to S3, and its bytes."""
    data = os.urandom(5 * MIB + 1_000)
    submission = uploads.start(
        people.owner, phase, file_name="entry.zip", size=len(data), sha256=hashlib.sha256(data).hexdigest(), method_name="m"
    )
    return submission, data


@pytest.mark.django_db
def test_signed_parts_go_straight_to_s3_and_resume(s3, multipart):
    submission, data = multipart
    offer = uploads.offer(submission)
    assert offer.kind == "multipart" and sorted(offer.urls) == [1, 2]
    put(offer.urls[2], data[5 * MIB :])
    again = uploads.offer(Submission.objects.get(pk=submission.pk))
    assert again.parts_done == [2] and sorted(again.urls) == [1]
    with pytest.raises(Refused, match="part 1 is missing"):
        uploads.finish(submission)
    put(again.urls[1], data[: 5 * MIB])
    assert uploads.finish(submission).status == Status.RECEIVED
    assert s3.read(submission.file_key) == data
    assert uploads.finish(Submission.objects.get(pk=submission.pk)).status == Status.RECEIVED


@pytest.mark.django_db
def test_the_length_of_each_part_is_part_of_its_signature(multipart):
    for url in uploads.offer(multipart[0]).urls.values():
        asked = parse_qs(urlsplit(url).query)
        assert asked["X-Amz-SignedHeaders"] == ["content-length;host"]
        assert 0 < int(asked["X-Amz-Expires"][0]) <= 6 * 3600


@pytest.mark.django_db
def test_what_really_lies_in_s3_is_measured_and_other_bytes_are_removed(s3, multipart):
    submission, data = multipart
    offer = uploads.offer(submission)
    put(offer.urls[1], b"?" * (5 * MIB))
    put(offer.urls[2], data[5 * MIB :])
    with pytest.raises(Refused, match="another checksum"):
        uploads.finish(submission)
    submission.refresh_from_db()
    assert submission.status == Status.CANCELLED
    assert s3.client.list_objects_v2(Bucket=s3.bucket, Prefix="submissions/").get("KeyCount", 0) == 0


@pytest.mark.django_db
def test_a_part_of_another_size_than_agreed_counts_as_missing(multipart):
    submission, data = multipart
    offer = uploads.offer(submission)
    put(offer.urls[1], data[: 5 * MIB])
    put(offer.urls[2], data[5 * MIB :] + b"more")  # this test's server does not check signatures
    with pytest.raises(Refused, match="part 2 is missing"):
        uploads.finish(submission)


@pytest.mark.django_db
def test_a_join_whose_answer_was_lost_is_picked_up(s3, multipart):
    submission, data = multipart
    offer = uploads.offer(submission)
    put(offer.urls[1], data[: 5 * MIB])
    put(offer.urls[2], data[5 * MIB :])
    s3.finish_upload(submission.upload_data)  # and then this process died
    assert uploads.offer(submission).parts_done == [1, 2]
    assert uploads.finish(submission).status == Status.RECEIVED


@pytest.mark.django_db
def test_the_remains_of_a_cancelled_upload_leave_s3(s3, multipart):
    submission, data = multipart
    put(uploads.offer(submission).urls[1], data[: 5 * MIB])
    submission.cancel()
    assert stored_files.clean_uploads() == 1
    assert "Uploads" not in s3.client.list_multipart_uploads(Bucket=s3.bucket)


@pytest.mark.django_db
def test_a_storage_that_is_away_does_not_stop_the_sweep(multipart, s3, settings):
    submission, _ = multipart
    submission.cancel()
    there, settings.S3_ENDPOINT = settings.S3_ENDPOINT, "http://127.0.0.1:9"
    assert stored_files.clean_uploads() == 0
    settings.S3_ENDPOINT = there
    assert stored_files.clean_uploads() == 1


@pytest.mark.django_db
def test_a_whole_file_sent_through_the_page_lands_in_s3_too(s3, phase, people, tmp_path):
    path = tmp_path / "entry.zip"
    path.write_bytes(b"small entry")
    submission = uploads.send_whole(people.owner, phase, path, file_name="entry.zip", method_name="m")
    assert submission.status == Status.RECEIVED and s3.read(submission.file_key) == b"small entry"
