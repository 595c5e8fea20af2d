"""The lease of a remote worker, as the worker itself sees it."""

from __future__ import annotations

import httpx
import pytest

from evaluation.work import remote_worker_client
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
    monkeypatch.setattr(remote_worker_client.time, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def lease(clock, tmp_path) -> remote_worker_client.Lease:
    return remote_worker_client.Lease(None, PART, tmp_path)


def test_it_fails_a_part_whose_first_item_takes_longer_than_it_may_before_the_server_takes_it(lease, clock):
    clock.now += 660
    assert lease.alive()
    clock.now += 8
    with pytest.raises(JobFailed, match="time") as failed:
        lease.alive()
    assert failed.value.end == "time" and "One item" in failed.value.detail and "672 s" in failed.value.detail


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
    assert failed.value.end == "time" and "1800 s" in failed.value.detail


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

    assert said in remote_worker_client.Worker(Server(), ["cpu"], tmp_path, "w", print).why_none()


class TestAGraphicsCardInTrouble:
    """A worker of the queue gpu asks for no such part while its card cannot be used, and tries the card every minute."""

    TOO_OLD = "The graphics card cannot be computed on: The NVIDIA driver on your system is too old (found version 11040)."

    @pytest.fixture
    def asked(self):
        return []

    @pytest.fixture
    def one(self, asked, tmp_path, monkeypatch):
        """A worker whose jobs end as `ends` says, by kind; what it says is in `said`."""

        class Server:
            def request(self, method, address, json):
                asked.append(json["queues"])
                return httpx.Response(204, headers={"retry-after": "5"})

            def once(self, address, body, seconds):
                asked.append((address, body["kind"]))

        said = []
        worker = remote_worker_client.Worker(Server(), ["cpu", "gpu"], tmp_path, "w", said.append, cards="2")
        worker.said, worker.ends = said, {}

        def run(folder, job, *given):
            if job["kind"] in worker.ends:
                raise JobFailed(worker.ends[job["kind"]], self.TOO_OLD)
            return {"name": "a card"}

        monkeypatch.setattr(worker._sandbox, "run", run)
        return worker

    def test_its_jobs_see_the_card_that_the_environment_names(self, one):
        assert one._limits.cards == "2"

    def test_it_takes_other_parts_and_says_why(self, one, asked, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(remote_worker_client.time, "monotonic", lambda: now[0])
        one.ends["card"] = "card"
        one.claim()
        now[0] += 59
        one.claim()
        assert asked == [["cpu"], ["cpu"]] and len(one.said) == 1 and one.said[0].startswith(self.TOO_OLD)
        one.ends.clear()
        now[0] += 1
        one.claim()
        assert asked[2:] == [["cpu", "gpu"]] and len(one.said) == 2 and self.TOO_OLD not in one.said[1]

    def test_one_without_torch_takes_parts_for_cards_that_need_none(self, one, asked):
        one.ends["card"] = "library"
        one.claim()
        assert asked == [["cpu", "gpu"]] and not one.said

    def test_one_for_cards_alone_asks_for_nothing(self, one, asked):
        one.queues, one.ends["card"] = ["gpu"], "card"
        part, wait = one.claim()
        assert part is None and 50 < wait <= 60 and not asked and one.why_none() == self.TOO_OLD.removesuffix(".")

    @pytest.mark.parametrize(
        ("end", "card_answers", "kind"), [("card", True, "stopped"), ("accelerator", False, "stopped"), ("accelerator", True, "failed")]
    )
    def test_a_part_that_meets_it_goes_back(self, one, asked, monkeypatch, end, card_answers, kind):
        def scored(part, folder, lease):
            raise JobFailed(end, self.TOO_OLD)

        monkeypatch.setattr(one, "_scored", scored)
        if not card_answers:
            one.ends["card"] = "card"
        one.do({"id": 7, "fence": "f", "device": "gpu", "heartbeat_seconds": 60, "item_ids": ["a"]})
        assert asked == [("api/v1/worker/parts/7/giveup", kind)]
        assert bool(one.card_trouble) == (kind == "stopped")
