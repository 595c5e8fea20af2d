"""Progress of an entry: worked by hand, and as a worker reports it in the middle of a part."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import Evaluation, Part
from evaluation.work import worker
from evaluation.work.child import SCORED
from evaluation.work.progress import standing
from submissions.models import Phase, Status, Submission
from tests.support.factories import PhaseFactory, archive, gables, give_reference, perturbed, received

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.own_parts]


@pytest.fixture
def phase(challenge) -> Phase:
    """A phase of eight houses, so parts have two items each."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(8))
    return phase


def checked(phase, people) -> Submission:
    entry = received(phase, people.team, archive(perturbed(gables(8), 0.1)))
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    entry.refresh_from_db()
    return entry


def test_items_of_parts_at_work_count_as_far_as_they_are(phase, people):
    """One of four parts of two items is done, and one has one item behind it: 3 of 8 in 30 seconds, so 50 are left."""
    entry, now = checked(phase, people), timezone.now()
    first, second, *_ = Part.objects.filter(evaluation__submission=entry)
    Part.objects.filter(pk=first.pk).update(state=Part.State.DONE, started_at=now)
    Part.objects.filter(pk=second.pk).update(scored=1, started_at=now)
    Evaluation.objects.update(started_at=now - timedelta(seconds=30))
    found = standing(entry, now)
    assert (found.done, found.total, found.position) == (3, 8, None) and found.seconds_left == pytest.approx(50)
    assert found.percent == 37.5


def test_the_time_left_is_told_from_the_first_item_on_and_is_a_rough_one_at_first(phase, people):
    entry, now = checked(phase, people), timezone.now()
    Evaluation.objects.update(started_at=now - timedelta(seconds=30))
    assert standing(entry, now).seconds_left is None
    Part.objects.filter(evaluation__submission=entry, start=0).update(stop=40, scored=1)  # of 46 items
    found = standing(entry, now)
    assert found.is_rough and found.seconds_left == pytest.approx(30 * 45)
    Part.objects.filter(evaluation__submission=entry, start=0).update(scored=3)
    found = standing(entry, now)
    assert not found.is_rough and found.seconds_left == pytest.approx(30 * 43 / 3)


def test_before_the_first_item_is_done_the_limit_is_told(phase, people, client, settings):
    """The limit of a part is three times its 600 seconds on the wall; it was begun 30 seconds ago."""
    settings.CHILD_SECONDS = 600
    entry, now = checked(phase, people), timezone.now()
    assert standing(entry, now).max_seconds_left is None, "nobody works on it"
    part = Part.objects.waiting("cpu").claim("w")
    part.begin(started_at=now - timedelta(seconds=30))
    Evaluation.objects.update(started_at=now - timedelta(seconds=30))
    found = standing(entry, now)
    assert (found.done, found.seconds_left) == (0, None) and found.max_seconds_left == pytest.approx(3 * 600 - 30)
    client.force_login(people.owner)
    page = client.get(f"/entries/{entry.pk}/progress/").content.decode()
    assert re.search(r"at most (30|29) min", page)
    assert standing(entry, now + timedelta(hours=1)).max_seconds_left == 0


@pytest.mark.parametrize(("said", "scored"), [(None, 0), (b"", 0), (b"7", 7), (b"80", 8), (b"-3", 0), (b"1e9", 0), (b"9" * 4000, 8)])
def test_what_the_scoring_process_says_is_read_as_hostile(tmp_path, said, scored):
    if said is not None:
        (tmp_path / SCORED).write_bytes(said)
    assert worker._scored(tmp_path, 8) == scored
