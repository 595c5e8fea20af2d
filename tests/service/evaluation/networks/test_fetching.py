"""Weights over a real HTTP server: resumed after a cut, checked, pinned, and in the way of nothing when it goes wrong."""

import dataclasses
import errno
import fcntl
import hashlib
import json
import os
from collections import namedtuple

import pytest

from evaluation.networks import fetching, weights
from evaluation.networks.fetching import FetchError, OtherFile, fetch
from tests.support.evaluation import publisher

DATA = os.urandom(3_000_000)
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def server():
    with publisher.published(DATA) as it:
        yield it


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(weights, "_folder", [tmp_path / "weights"])
    return tmp_path / "weights"


@pytest.fixture
def made(monkeypatch, server, cache):
    """`made(stated=...)`: a published file of the list, at the test's server."""

    def make(stated: str = "") -> weights.PublishedFile:
        file = dataclasses.replace(weights.published("squeezenet1_1"), url=server.url, stated=stated, megabytes=3)
        monkeypatch.setattr(weights, "FILES", {**weights.FILES, file.name: file})
        return file

    return make


def get(file, source="", pauses=None):
    return fetch(file, source, pause=(pauses if pauses is not None else []).append)


def test_it_comes_is_checked_and_leaves_nothing_but_itself_and_its_record(made, server, cache):
    file = made(SHA[:8])
    assert not file.there and file.sha256 is None
    assert "(3.0 MB" in get(file)
    assert file.there and file.path.read_bytes() == DATA and file.sha256 == SHA
    assert sorted(path.name for path in cache.iterdir()) == [file.filename, f"{file.filename}.json"]
    record = json.loads((cache / f"{file.filename}.json").read_text())
    assert (record["sha256"], record["bytes"], record["source"]) == (SHA, len(DATA), server.url)
    assert weights.get("backbone", "squeezenet-imagenet").read() == DATA


def test_what_is_here_is_not_fetched_again(made, server):
    file = made(SHA[:8])
    get(file)
    assert "is already installed" in get(file) and len(server.asked) == 1


def test_after_a_cut_it_goes_on_where_it_stopped_within_one_run(made, server):
    server.cut_after = [1_000_000, 500_000]
    pauses = []
    get(file := made(SHA[:8]), pauses=pauses)
    assert file.path.read_bytes() == DATA
    assert [asked.get("Range") for asked in server.asked] == [None, "bytes=1000000-", "bytes=1500000-"]
    assert [asked for asked in server.asked[1:] if asked["If-Range"] != '"one"'] == [] and pauses == [1.0, 1.0]


def test_after_a_run_that_failed_the_next_one_goes_on(made, server):
    file = made(SHA[:8])
    server.cut_after = [1_200_000, *[0] * fetching.ATTEMPTS]
    with pytest.raises(FetchError, match=r"1\.2 MB"):
        get(file)
    assert not file.there and fetching.partly(file) == 1_200_000
    server.asked.clear(), server.cut_after.clear()
    get(file)
    assert file.path.read_bytes() == DATA and [asked["Range"] for asked in server.asked] == ["bytes=1200000-"]


def test_a_file_that_was_replaced_meanwhile_comes_whole(made, server):
    file = made()
    server.cut_after = [1_200_000, *[0] * fetching.ATTEMPTS]
    with pytest.raises(FetchError):
        get(file)
    server.data, server.etag = DATA[::-1], '"two"'
    server.cut_after.clear()
    get(file)
    assert file.path.read_bytes() == DATA[::-1], "never half of the one and half of the other"


def test_without_a_mark_of_its_version_or_without_pieces_it_starts_anew(made, server):
    file = made(SHA[:8])
    for options in ({"etag": ""}, {"ranges": False}):
        vars(server).update(options)
        server.cut_after = [1_200_000, *[0] * fetching.ATTEMPTS]
        with pytest.raises(FetchError):
            get(file)
        server.cut_after.clear()
        get(file)
        assert file.path.read_bytes() == DATA
        file.path.unlink()


def test_what_had_come_to_its_end_is_only_checked(made, server, cache):
    file = made(SHA[:8])
    cache.mkdir()
    (cache / f"{file.filename}.part").write_bytes(DATA)
    (cache / f"{file.filename}.part.json").write_text(json.dumps({"url": server.url, "validator": '"one"', "total": len(DATA)}))
    get(file)
    assert file.there and server.asked == []


def test_more_than_the_publisher_has_is_thrown_away(made, server, cache):
    file = made(SHA[:8])
    cache.mkdir()
    (cache / f"{file.filename}.part").write_bytes(DATA + b"more")
    (cache / f"{file.filename}.part.json").write_text(json.dumps({"url": server.url, "validator": '"one"', "total": 10**9}))
    get(file)
    assert file.path.read_bytes() == DATA


def test_trouble_at_the_server_is_waited_out(made, server):
    server.statuses, pauses = [503, 429, 500], []
    get(file := made(SHA[:8]), pauses=pauses)
    assert file.there and pauses == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_one_sentence_and_not_repeated(made, server, status):
    server.statuses = [status] * 9
    with pytest.raises(FetchError, match=rf"{status}\..* squeezenet1_1 .*--from"):
        get(made(SHA[:8]))
    assert len(server.asked) == 1


def test_a_page_that_stands_in_for_the_file_is_never_pinned(made, server):
    server.kind = "text/html; charset=utf-8"
    with pytest.raises(FetchError, match=r"web page .*--from"):
        get(made())
    assert not made().there and not made().record


def test_no_server_at_all_is_one_sentence(made, cache):
    file = dataclasses.replace(made(SHA[:8]), url="http://127.0.0.1:9/nothing")
    with pytest.raises(FetchError, match=r"http://127\.0\.0\.1:9/nothing"):
        get(file)
    assert not list(cache.glob("*.part"))


def test_a_redirection_is_followed(made, server):
    with publisher.published(DATA) as other:
        server.redirect = other.url
        get(file := made(SHA[:8]))
        assert file.there and len(other.asked) == 1


def test_another_digest_than_stated_is_not_kept(made, cache):
    file = made("b8a52dc0")
    with pytest.raises(OtherFile, match=f"{SHA}.* b8a52dc0,") as refused:
        get(file)
    assert refused.value.digest == SHA
    assert not file.there and list(cache.iterdir()) == []


def test_a_digest_stated_in_full_is_held_in_full(made, cache):
    assert get(made(SHA)) and made(SHA).sha256 == SHA
    other = SHA[:-1] + ("1" if SHA.endswith("0") else "0")
    with pytest.raises(FetchError, match=f"must be {other}"):
        get(made(other))


def test_a_digest_that_the_server_states_is_held_and_said(made, server, cache):
    """Large files of Hugging Face lie elsewhere: the answer that leads there states the digest."""
    with publisher.published(DATA) as elsewhere:
        server.redirect, server.linked = elsewhere.url, f'"{SHA}"'
        get(file := made())
        assert file.record["stated_by"] == "127.0.0.1"
        assert "127.0.0.1" in file.pinned_by
        file.path.unlink()
        (cache / f"{file.filename}.json").unlink()
        elsewhere.data, elsewhere.etag = DATA[::-1], '"two"'
        with pytest.raises(OtherFile, match=SHA):
            get(file)
        assert list(cache.iterdir()) == []


def test_where_none_is_stated_the_first_one_is_pinned_also_after_the_file_is_gone(made, server):
    file = made()
    before = file.pinned_by
    get(file)
    first = file.record
    assert file.sha256 == SHA and file.pinned_by != before
    file.path.unlink()
    server.data, server.etag = DATA[::-1], '"two"'
    with pytest.raises(OtherFile, match=rf"{SHA}.* remove .*\.json"):
        get(file)
    assert not file.there and file.sha256 == SHA
    server.data = DATA
    get(file)
    assert file.there and file.record["fetched"] == first["fetched"]


def test_a_record_that_is_not_what_the_publisher_states_does_not_count(made, cache):
    get(made())
    assert made(SHA[:8]).there and not made("0" * 8 if SHA[:8] != "0" * 8 else "1" * 8).there


def test_a_file_that_was_changed_in_place_is_refused_and_fetched_again(made, server):
    file = made(SHA[:8])
    get(file)
    file.path.write_bytes(DATA[:-1] + bytes([DATA[-1] ^ 1]))
    found = weights.get("backbone", "squeezenet-imagenet")
    with pytest.raises(weights.WeightsError, match=r"manage\.py fetch_weights squeezenet1_1"):
        found.read()
    get(file)
    assert found.read() == DATA


def test_a_file_put_there_by_hand_counts_only_once_it_was_checked(made, cache):
    file = made(SHA[:8])
    cache.mkdir()
    file.path.write_bytes(DATA)
    assert not file.there
    get(file)
    assert file.there


def test_a_local_file_is_checked_just_the_same(made, tmp_path, server):
    given = tmp_path / "given.pth"
    given.write_bytes(DATA[::-1])
    with pytest.raises(FetchError, match=r"given\.pth .*squeezenet1_1"):
        get(made(SHA[:8]), str(given))
    given.write_bytes(DATA)
    get(file := made(SHA[:8]), str(given))
    assert file.there and file.record["source"] == str(given) and server.asked == []
    with pytest.raises(FetchError, match=r"nowhere\.pth"):
        file.path.unlink() or get(file, str(tmp_path / "nowhere.pth"))


def test_a_full_disk_is_told_before_anything_comes(made, monkeypatch, cache):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda folder: usage(0, 0, (64 << 20) + 1_000_000))
    with pytest.raises(FetchError, match=r"squeezenet1_1 .*3 MB .* 68 MB"):
        get(made(SHA[:8]))
    assert not made(SHA[:8]).there


def test_a_disk_that_fills_up_on_the_way_leaves_what_came(made, monkeypatch, server):
    """A limit on the size of files stands for the end of the disk: writing fails in the middle, for real."""
    import resource
    import signal

    file = made(SHA[:8])
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, before[1]))
    try:
        with pytest.raises(FetchError, match="squeezenet1_1") as refused:
            get(file)
        assert refused.value.__cause__.errno == errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    got = fetching.partly(file)
    assert 0 < got <= 2_000_000
    get(file)
    assert file.path.read_bytes() == DATA and server.asked[-1]["Range"] == f"bytes={got}-"


def test_a_folder_that_cannot_be_written_is_one_sentence(made, monkeypatch, tmp_path):
    (tmp_path / "weights").write_text("a file where the folder should be")
    with pytest.raises(FetchError, match="squeezenet1_1") as refused:
        get(made(SHA[:8]))
    assert isinstance(refused.value.__cause__, FileExistsError | NotADirectoryError)


def test_two_processes_do_not_write_the_same_file(made, cache):
    file = made(SHA[:8])
    cache.mkdir()
    with (cache / f"{file.filename}.part").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(FetchError, match="another process"):
            get(file)
    get(file)
    assert file.there


def test_the_bar_is_told_what_comes_and_what_was_there(made, server):
    seen = []

    class Bar:
        def __init__(self, *given):
            seen.append([*given, 0])

        def update(self, n):
            seen[-1][-1] += n

        def close(self):
            seen[-1].append("closed")

    server.cut_after = [1_000_000]
    fetch(made(SHA[:8]), progress=Bar, pause=lambda seconds: None)
    assert seen == [["squeezenet1_1", 3_000_000, 0, 1_000_000, "closed"], ["squeezenet1_1", 3_000_000, 1_000_000, 2_000_000, "closed"]]
