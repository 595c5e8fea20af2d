"""A worker of the queue gpu whose graphics card cannot be used: it computes nothing on the processor in silence, its parts go to others.

No test has a card: this machine has none, which is trouble of its own, and a card that works is pretended by the jobs' answers.
"""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.models import Part, Process
from evaluation.networks import graphics_card
from evaluation.work import graphics_card as cards
from evaluation.work import worker
from evaluation.work.graphics_card import EVERY, Card
from evaluation.work.sandbox import JobFailed, sandbox
from leaderboard.service import health
from submissions.models import Status
from tests.cluster.evaluation import test_gpu_parts
from tests.cluster.evaluation.test_gpu_parts import entry, phase, state
from tests.support.evaluation.warm_child import warm_child

__all__ = ["entry", "phase", "warm_child"]  # the fixtures
pytestmark = [
    *test_gpu_parts.pytestmark,
    pytest.mark.skipif(graphics_card.may_be_there(), reason="this machine has a graphics card, and these tests ask what happens without"),
]
TOO_OLD = "The graphics card cannot be computed on: The NVIDIA driver on your system is too old (found version 11040)."


@pytest.fixture
def card(entry, monkeypatch) -> Card:
    """The card of this worker, as it is before anybody has asked; parts for cards need one, and those for processors are done."""
    worker.drain("cpu")
    found = cards.card
    monkeypatch.setattr(Card, "is_needed", lambda self, device: device == "gpu")
    monkeypatch.setattr(found, "trouble", "")
    monkeypatch.setattr(found, "_tried_at", None)
    return found


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(cards, "clock", lambda: now[0])
    return now


def untouched(entry) -> bool:
    """True if the part for cards waits as if nobody had begun it."""
    part = Part.objects.get(device="gpu")
    return (
        state(entry) == Status.SCORING and (part.state, part.attempts, part.losses) == (Part.State.WAITING, 0, 0) and not part.lease_token
    )


def answering(monkeypatch, answers) -> list[str]:
    """Let jobs answer so, by kind: an end other than ok, or their real answer where none is given; returns the kinds that ran."""
    run, kinds = sandbox.run, []

    def answer(folder, job, *given):
        kinds.append(job["kind"])
        said = answers.get(job["kind"])
        if said is None:
            return run(folder, job, *given)
        if isinstance(said, JobFailed):
            raise said
        return said

    monkeypatch.setattr(sandbox, "run", answer)
    return kinds


def test_without_a_card_no_part_is_begun_and_another_worker_does_it(card, entry, monkeypatch):
    assert worker.drain("gpu") == 0 and untouched(entry)
    assert "compiled with CUDA" in card.trouble
    monkeypatch.setattr(Card, "is_needed", lambda self, device: False)  # the other worker
    assert worker.drain("gpu") == 1 and state(entry) == Status.SCORED


def test_a_card_that_disappears_gives_the_part_back_without_an_attempt(card, entry, monkeypatch):
    """It answered a moment ago; the job itself finds that it is gone, and computes nothing on the processor."""
    kinds = answering(monkeypatch, {"card": {"name": "a card", "free": 1}})
    assert worker.work_once("gpu") and untouched(entry)
    assert kinds[0] == "card" and "compiled with CUDA" in card.trouble
    assert not worker.work_once("gpu"), "and takes no more"


@pytest.mark.parametrize("sentence", ["Other programs hold 70.1 of the 79.6 GiB of the graphics card.", TOO_OLD])
def test_a_card_in_trouble_is_tried_every_minute(card, entry, monkeypatch, clock, sentence):
    answers = {"card": JobFailed("card", sentence)}
    kinds = answering(monkeypatch, answers)
    assert not worker.work_once("gpu") and card.trouble == sentence and kinds == ["card"]
    clock[0] += EVERY - 1
    assert not worker.work_once("gpu") and kinds == ["card"]
    clock[0] += 1
    assert not worker.work_once("gpu") and kinds == ["card", "card"] and untouched(entry)
    answers["card"] = {"name": "a card", "free": 1}
    clock[0] += EVERY
    worker.work_once("gpu")
    assert kinds[:3] == ["card"] * 3 and kinds[3:], "a part was begun"


def test_a_worker_without_torch_begins_parts_for_cards(card, entry, monkeypatch):
    """Metric programs bring their own; what needs torch is left to others by the part itself."""
    answering(monkeypatch, {"card": JobFailed("library", "torch is not installed on this machine, which this work needs.")})
    assert card.is_usable() and not card.trouble


@pytest.mark.parametrize(("answers", "attempts"), [(True, 1), (False, 0)])
def test_an_error_on_the_card_is_the_parts_where_the_card_still_answers(card, entry, monkeypatch, answers, attempts):
    failed = JobFailed("accelerator", "CUDA error: unspecified launch failure")
    tried = iter([{"name": "a card", "free": 1}, {"name": "a card", "free": 1} if answers else JobFailed("card", TOO_OLD)])
    run = {"prepare": failed, "score": failed}
    answering(monkeypatch, run)
    inner = sandbox.run

    def answer(folder, job, *given):
        if job["kind"] == "card":
            run["card"] = next(tried)
        return inner(folder, job, *given)

    monkeypatch.setattr(sandbox, "run", answer)
    assert worker.work_once("gpu")
    part = Part.objects.get(device="gpu")
    assert part.attempts == attempts and (card.trouble == TOO_OLD) == (not answers)


def test_operators_and_visitors_are_told(card, entry, settings):
    now, settings.LEASE_SECONDS = timezone.now(), 600.0  # both are alive however slow this machine is
    assert worker.drain("gpu") == 0
    Process.beat(Process.Kind.WORKER, "here:1", now, queues=["gpu"], card_trouble=card.trouble)
    assert Process.objects.listeners()["gpu"] == 0 and Process.objects.card_troubles() == [card.trouble]
    with pytest.raises(
        health.Unready, match=r"^1 worker of the queue gpu cannot use its graphics card, .* Torch not compiled .* every minute"
    ):
        health.probe_gpu()
    assert "compiled with CUDA" in Client().get("/status/").content.decode()
    Process.beat(Process.Kind.WORKER, "there:1", now, queues=["gpu"])
    assert health.probe_gpu().startswith("1 worker ") and health.probe_gpu().endswith(card.trouble)
    Process.beat(Process.Kind.WORKER, "here:1", now, queues=["gpu"], card_trouble="")
    assert health.probe_gpu().startswith("2 workers ") and "compiled with CUDA" not in Client().get("/status/").content.decode()


def test_a_column_in_a_precision_that_the_device_lacks_is_left_to_others(entry, phase, monkeypatch):
    worker.drain("cpu")
    part = Part.objects.get(device="gpu")
    batch = part.evaluation.batch
    from evaluation.metrics import registry

    for column in batch.metrics:
        if column["slug"] in part.slugs:
            column["params"]["precision"] = "tf32"
            column["fingerprint"] = registry.fingerprint(column["key"], column["params"])
    batch.save()
    assert worker.work_once("gpu")
    part.refresh_from_db()
    assert (part.state, part.attempts) == (Part.State.WAITING, 0) and part.lacking_since
    assert "tf32" in part.failure
