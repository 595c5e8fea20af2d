"""The folder of messages of the embedded profile: whole messages or none, and no message that ends a worker."""

from __future__ import annotations

import os
from pathlib import Path
from queue import Empty

import pytest
from celery import Celery
from kombu.exceptions import ChannelError

from evaluation.work import folder_broker
from tests.support.small_disk import fill


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "queue"


def app(folder: Path) -> Celery:
    for name in ("messages", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    options = {
        "data_folder_in": str(folder / "messages"),
        "data_folder_out": str(folder / "messages"),
        "control_folder": str(folder / "control"),
    }
    made = Celery("test", broker=f"{folder_broker.SCHEME}://localhost//", set_as_current=False)
    made.conf.update(broker_transport_options=options, task_ignore_result=True, broker_connection_retry=False)
    return made


@pytest.fixture
def channel(folder):
    with app(folder).connection_for_write() as connection:
        yield connection.channel()


def test_messages_come_out_once_each_in_their_order(folder, channel):
    for n in range(3):
        channel._put("cpu", {"body": n, "properties": {}})
    channel._put("gpu", {"body": "other", "properties": {}})
    assert [channel._get("cpu")["body"] for _ in range(3)] == [0, 1, 2] and channel._size("gpu") == 1
    with pytest.raises(Empty):
        channel._get("cpu")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'"text"', b'{"body": 1}'])
def test_a_message_that_cannot_be_read_is_dropped_and_the_next_one_comes(folder, channel, content):
    (folder / "messages" / "1_a.cpu.msg").write_bytes(content)
    (folder / "messages" / "2_b.cpu.msg").write_text('{"body": "good", "properties": {}}')
    assert channel._get("cpu")["body"] == "good"
    assert not os.listdir(folder / "messages")


def test_a_message_for_which_there_is_no_room_leaves_nothing_behind(small_disk):
    with app(small_disk / "queue").connection_for_write() as connection:
        channel = connection.channel()
        fill(small_disk)
        with pytest.raises(ChannelError, match="No space left on device"):
            channel._put("cpu", {"body": "x" * 100, "properties": {}})
        assert not os.listdir(small_disk / "queue" / "messages")
        (small_disk / "filler").unlink()
        channel._put("cpu", {"body": "again", "properties": {}})
        assert channel._get("cpu")["body"] == "again"


def test_a_table_of_an_exchange_that_is_empty_is_made_anew(folder, channel):
    """As kombu left it where the disk was full: every later start of a worker failed at it."""
    (folder / "control" / "ex.exchange").touch()
    assert channel.get_table("ex") == []
    channel._queue_bind("ex", "key", "", "cpu")
    channel._queue_bind("ex", "key", "", "gpu")
    assert [row.queue for row in channel.get_table("ex")] == ["gpu", "cpu"]
    channel._delete("gpu", "ex", "key", "")
    assert [row.queue for row in channel.get_table("ex")] == ["cpu"]
