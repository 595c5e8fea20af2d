"""Many workers claim at once. The promise: each gets a part while there are some, and no part has two."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from django.db import connection, transaction

from evaluation.models import Part
from evaluation.work import worker
from submissions import leases
from submissions.models import Status, Submission
from tests.support.at_once import together
from tests.support.factories import archive, gables, received

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS, EACH = 8, 25


@pytest.fixture
def parts(phase, people) -> list[int]:
    """Waiting parts by turn, more than the workers claim."""
    received(phase, people.team, archive(gables()))
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    first = Part.objects.first()
    Part.objects.exclude(pk=first.pk).delete()
    more = [Part(evaluation_id=first.evaluation_id, slugs=first.slugs, start=0, stop=1, turn=first.turn + n) for n in range(WORKERS * EACH)]
    Part.objects.bulk_create(more)
    return list(Part.objects.waiting("cpu").values_list("pk", flat=True))


def claims(name: str, n: int) -> list[int | None]:
    found = (worker.PARTS["cpu"].claim(name) for _ in range(n))
    return [part and part.pk for part in found]


@pytest.fixture
def postgresql() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")


def test_eight_workers_at_once_get_a_part_with_every_claim_and_none_twice(parts, postgresql):
    claimed = [pk for found in together([lambda n=n: claims(f"w{n}", EACH) for n in range(WORKERS)]) for pk in found]
    assert len(set(claimed)) == WORKERS * EACH and None not in claimed
    assert set(claimed) == set(parts[: WORKERS * EACH]), "in their turns"
    assert Part.objects.held().filter(attempts=1).count() == WORKERS * EACH


def test_a_part_that_another_act_has_locked_is_skipped_while_others_wait_and_waited_for_where_it_is_the_last(parts, postgresql):
    Part.objects.filter(pk__in=parts[2:]).delete()
    locked, release = threading.Event(), threading.Event()

    def act() -> None:
        with transaction.atomic():
            list(Part.objects.select_for_update().filter(pk=parts[0]))
            locked.set()
            release.wait(30)

    def claim_two() -> list[int | None]:
        locked.wait(30)
        first = claims("w", 1)
        threading.Timer(0.5, release.set).start()
        return [*first, *claims("w", 2)]

    assert together([act, claim_two])[1] == [parts[1], parts[0], None]


def test_a_part_that_was_done_meanwhile_is_not_claimed(parts, postgresql):
    """Its row is looked at again once the act that had it locked has ended."""
    Part.objects.exclude(pk=parts[0]).delete()
    locked = threading.Event()

    def act() -> None:
        with transaction.atomic():
            Part.objects.filter(pk=parts[0]).update(state=Part.State.DONE)
            locked.set()
            time.sleep(0.5)

    assert together([act, lambda: locked.wait(30) and claims("w", 1)])[1] == [None]


def test_a_worker_looks_for_losses_once_a_second_and_not_with_each_claim(parts, monkeypatch):
    looked = []
    monkeypatch.setattr(leases.LeasedQuerySet, "note_losses", lambda self, now=None: looked.append(self.model))
    monkeypatch.setattr(leases, "_noted", {})
    moments = iter([100.0, 100.5, 100.9, 101.0, 101.5, 101.5])
    monkeypatch.setattr(leases, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    assert None not in claims("w", 5) and looked == [Part, Part]
    Submission.objects.to_validate().claim("w", status=Status.CLAIMED)
    assert looked == [Part, Part, Submission], "of each kind of row"


def test_of_a_query_that_asks_for_no_row_none_is_claimed():
    assert Part.objects.filter(pk__in=[]).claim("worker") is None
