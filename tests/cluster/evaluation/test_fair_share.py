"""Whose turn it is: as workers take parts and uploads, and as it is shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, Part
from evaluation.work import worker
from evaluation.work.progress import standings
from submissions.models import Status, Submission
from tests.support.factories import PhaseFactory, archive, gables, give_reference, received

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase(challenge):
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(8))
    return phase


def cut(phase, team) -> Submission:
    entry = received(phase, team, archive(gables(8)))
    held = Submission.objects.filter(pk=entry.pk).claim("checks", status=Status.CLAIMED)
    worker.check(held)
    return held


def claimed() -> list[int]:
    """The entries of all parts, in the order in which workers come to them."""
    found = []
    while part := Part.objects.waiting("cpu").claim("w"):
        found.append(part.evaluation.submission_id)
    return found


def test_teams_take_turns(phase, people):
    """One sends three entries, then another sends one: its four parts come one by one beside the other's first four."""
    many = [cut(phase, people.team).pk for _ in range(3)]
    one = cut(phase, people.other_team).pk
    order = claimed()
    assert order[:8].count(one) == 4 and order[:8].count(many[0]) == 4
    assert order[8:] == [many[1]] * 4 + [many[2]] * 4, "a team's own come in the order of sending"


def test_short_parts_come_before_long_ones_that_were_sent_first(phase, people):
    long = cut(phase, people.team)
    Part.objects.update(cost=600.0)
    for n, part in enumerate(Part.objects.order_by("start"), 1):
        Part.objects.filter(pk=part.pk).update(turn=600.0 * n)
    assert Part.objects.waiting("cpu").claim("w").evaluation.submission_id == long.pk
    short = cut(phase, people.other_team)
    own = cut(phase, people.team)
    assert claimed() == sorted([short.pk] * 4 + [own.pk] * 4, key=first_turn) + [long.pk] * 3


def first_turn(pk: int) -> float:
    return min(Part.objects.filter(evaluation__submission=pk).values_list("turn", flat=True))


def test_costs_are_what_the_phases_scores_took(phase, people):
    entry = cut(phase, people.team)
    guessed = Part.objects.filter(evaluation__submission=entry).first().cost
    worker.drain()
    Evaluation.objects.get().scores.update(cost_ms=2000.0)
    again = cut(phase, people.team)
    part = Part.objects.filter(evaluation__submission=again).first()
    assert guessed == pytest.approx(0.5 + 3 * 2 * 0.02)
    assert part.cost == pytest.approx(0.5 + 3 * 2 * 2.0), "three metrics on two items at two seconds"


def test_a_re_evaluation_has_one_share_for_all_teams(phase, people):
    for team in (people.team, people.other_team):
        cut(phase, team)
    worker.drain()
    again = EvaluationBatch.start(phase, reason="again")
    late = cut(phase, people.team)
    Part.objects.filter(evaluation__submission=late, evaluation__batch=again).delete()
    order = claimed()
    assert order[:9].count(late.pk) == 4, "turn by turn with all that is scored anew"


def test_a_row_that_waits_for_something_else_does_not_hold_the_clock(phase, people):
    cut(phase, people.team)
    first = Part.objects.waiting("cpu").first()
    for n, part in enumerate(Part.objects.exclude(pk=first.pk), 1):
        Part.objects.filter(pk=part.pk).update(turn=100.0 * n)
    assert Part.objects.clock("cpu") == first.turn
    Part.objects.filter(pk=first.pk).update(lease_until=timezone.now() + timedelta(minutes=10))
    assert Part.objects.clock("cpu") == 100.0
    Part.objects.update(state=Part.State.DONE)
    assert Part.objects.clock("cpu") == 300.0


def test_uploads_are_checked_in_turns_too(phase, people):
    many = [received(phase, people.team, archive(gables(8))).pk for _ in range(3)]
    one = received(phase, people.other_team, archive(gables(8))).pk
    order = []
    while held := Submission.objects.to_validate().claim("w", status=Status.CLAIMED):
        order.append(held.pk)
    assert order == [many[0], one, many[1], many[2]]


def test_the_place_that_is_shown_is_that_of_the_turn(phase, people):
    many = [cut(phase, people.team) for _ in range(3)]
    one = received(phase, people.other_team, archive(gables(8)))
    found = standings([*Submission.objects.all()])
    places = {pk: it.position for pk, it in found.items()}
    assert places == {many[0].pk: 1, one.pk: 2, many[1].pk: 3, many[2].pk: 4}, "not checked yet, but ahead of the others"
    self_cut = Submission.objects.filter(pk=one.pk).claim("checks", status=Status.CLAIMED)
    worker.check(self_cut)
    assert {pk: it.position for pk, it in standings([*Submission.objects.all()]).items()} == places
    order = list(dict.fromkeys(claimed()))
    assert order == sorted(places, key=lambda pk: places[pk])
