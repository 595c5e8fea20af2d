"""The lease of a remote worker, as the worker itself sees it."""

from __future__ import annotations

import pytest

from evaluation.work import outbound
from evaluation.work.child import SCORED
from evaluation.work.limited import JobFailed

PART = {"id": 1, "fence": "f", "heartbeat_seconds": 5.0, "seconds": 600, "patience": 3.0, "item_seconds": 72.0, "begin_seconds": 600.0}


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(outbound.time, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def lease(clock, tmp_path) -> outbound.Lease:
    return outbound.Lease(None, PART, tmp_path)


def test_it_fails_a_part_whose_first_item_takes_longer_than_it_may_before_the_server_takes_it(lease, clock):
    clock.now += 660
    assert lease.alive()
    clock.now += 8
    with pytest.raises(JobFailed, match="time") as failed:
        lease.alive()
    assert failed.value.end == "time" and failed.value.detail == "One item took longer than 672 s on the clock."


def test_each_item_has_its_time_and_all_together_no_more_than_the_part(lease, clock, tmp_path):
    for done in range(1, 27):
        clock.now += 66
        (tmp_path / SCORED).write_text(str(done))
        assert lease.alive()
    assert clock.now == 1000 + 26 * 66
    clock.now += 66
    assert lease.alive()
    clock.now += 14
    (tmp_path / SCORED).write_text("28")
    with pytest.raises(JobFailed) as failed:
        lease.alive()
    assert failed.value.detail == "It took longer than 1800 s on the clock."


def test_an_item_that_hangs_fails_the_part(lease, clock, tmp_path):
    (tmp_path / SCORED).write_text("1")
    assert lease.alive()
    clock.now += 66
    assert lease.alive()
    clock.now += 2
    with pytest.raises(JobFailed, match="time"):
        lease.alive()


def test_one_whose_lease_is_lost_says_so(lease):
    lease.lost.set()
    assert not lease.alive()


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "Nothing waits"),
        ({"held": 1, "at_once": 2, "waits_until": None}, "Nothing waits"),
        ({"held": 2, "at_once": 2, "waits_until": None}, "as many parts as its organizer allows at a time (2)"),
        ({"held": 2, "at_once": 2, "waits_until": "2026-11-27T22:00:00Z"}, "gets no part before 2026-11-27T22:00:00Z"),
    ],
)
def test_it_says_why_there_is_no_part(tmp_path, about, said):
    class Server:
        def get(self, address):
            return about

    assert said in outbound.Worker(Server(), ["cpu"], tmp_path, "w", print).why_none()
