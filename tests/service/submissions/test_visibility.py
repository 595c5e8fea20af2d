"""Query, predicate and a plain reading of the rule agree on random rows, for everybody; and a condition means in Python what it means
to the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Q
from hypothesis import given
from hypothesis import strategies as st

from submissions.models import Admission, Challenge, Participation, Phase, Status, Submission, User
from submissions.permissions import Viewer, allowed
from submissions.visibility import (
    WITH_FILES,
    hidden_ids,
    holds,
    on_board,
    sees_challenge,
    through,
    visible_challenges,
    visible_entries,
)
from tests.support.examples import examples
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory, join
from tests.support.people import People

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MOMENTS = st.sampled_from([NOW - timedelta(days=2), NOW - timedelta(days=1), NOW, NOW + timedelta(days=1)])
MAYBE = st.none() | MOMENTS

ENTRIES = st.fixed_dictionaries(
    {
        "status": st.sampled_from([Status.SCORED] * 4 + list(Status)),
        "received_at": MAYBE,
        "withdrawn_at": st.just(None) | MAYBE,
        "hidden_at": st.just(None) | MAYBE,
        "disqualified_at": st.just(None) | MAYBE,
        "made_as": st.sampled_from(["", "", "", "empty@1"]),
        "is_baseline": st.booleans(),
        "artifact_key": st.sampled_from(["", "artifacts/1.npz"]),
    }
)
PHASES = st.fixed_dictionaries({"opens_at": MOMENTS, "board": st.sampled_from(Phase.Board.values), "board_at": MOMENTS})
CHALLENGES = st.fixed_dictionaries(
    {"visibility": st.sampled_from(Challenge.Visibility.values), "admitted_emails": st.sampled_from([[], ["listed@example.org"]])}
)


@contextmanager
def undone() -> Iterator[None]:
    """Undo what an example makes before the next."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def crowd(challenge: Challenge) -> dict[str, User]:
    """All the people of the tests, and those whom a private challenge treats each in its own way."""
    people = People.around(challenge)
    users = people.users()
    for name, admission in (("pending", Admission.PENDING), ("declined", Admission.DECLINED)):
        users[name] = UserFactory(username=name)
        Participation.objects.create(challenge=challenge, user=users[name], admission=admission)
    users["declined_member"] = UserFactory(username="declined_member")
    join(users["declined_member"], people.team)
    Participation.objects.filter(user=users["declined_member"]).update(admission=Admission.DECLINED)
    for name, verified in (("listed", True), ("unproven", False)):
        users[name] = UserFactory(username=name)
        EmailAddress.objects.create(user=users[name], email="Listed@example.org" if verified else "listed@example.org", verified=verified)
    for name in ("organizer", "mate", "staff"):
        users[f"inactive_{name}"] = UserFactory(username=f"inactive_{name}", is_active=False, is_staff=name == "staff")
    challenge.organizers.add(users["inactive_organizer"])
    join(users["inactive_mate"], people.team)
    return users


def plainly(name: str, challenge: Challenge, phase: Phase, entry: Submission) -> bool:
    """The rule as one would say it, word by word."""
    if name in ("organizer", "staff"):
        return True
    if name in ("owner", "mate", "declined_member") and entry.team.name == "Ridge":
        return True
    if name == "other" and entry.team.name == "Valley":
        return True
    listed = name == "listed" and challenge.admitted_emails != []
    knows = challenge.visibility == "public" or (
        challenge.visibility == "private" and (name in ("owner", "mate", "other", "pending") or listed)
    )
    board = phase.opens_at <= NOW and (phase.board != "hidden" or phase.board_at <= NOW)
    frozen = phase.board == "frozen" and phase.board_at <= NOW
    in_time = not frozen or (entry.received_at is not None and entry.received_at <= phase.board_at)
    flagged = entry.withdrawn_at or entry.hidden_at or entry.disqualified_at
    return bool(knows and board and in_time and entry.status == "scored" and not entry.made_as and not flagged)


def made(phase: Phase, people: list, values: list[dict]) -> list[Submission]:
    """Entries of two teams in turn."""
    rows = []
    for number, one in enumerate(values, 1):
        name = one["made_as"] and f"{one['made_as']}{number}"
        rows.append(Submission(phase=phase, team=people[number % 2], number=number, method_name=f"m{number}", **one | {"made_as": name}))
    return Submission.objects.bulk_create(rows)


@examples(100)
@given(challenge=CHALLENGES, phase=PHASES, values=st.lists(ENTRIES, min_size=4, max_size=12))
def test_query_predicate_and_plain_words_agree(challenge, phase, values):
    with undone():
        challenge = ChallengeFactory(**challenge)
        phase = PhaseFactory(challenge=challenge, closes_at=None, **phase)
        beside = PhaseFactory(challenge=challenge)
        users = crowd(challenge)
        teams = list(challenge.teams.order_by("name"))
        entries = made(phase, teams, values)
        made(beside, teams, values[:2])
        for name, user in users.items():
            viewer = Viewer(user, challenge, NOW)
            listed = set(visible_entries(viewer, phase).values_list("pk", flat=True))
            asked = {entry.pk for entry in entries if allowed(user, "submission.see", entry, NOW)}
            said = {entry.pk for entry in entries if plainly(name, challenge, phase, entry)}
            assert listed == asked == said, name
            known = visible_challenges(user).filter(pk=challenge.pk).exists()
            assert known == sees_challenge(viewer, challenge), name


@examples(100)
@given(phase=PHASES, values=st.lists(ENTRIES, min_size=4, max_size=12))
def test_what_a_board_shows_and_what_it_hides_are_apart(phase, values):
    with undone():
        phase = PhaseFactory(closes_at=None, **phase)
        People.around(phase.challenge)
        entries = made(phase, list(phase.challenge.teams.order_by("name")), values)
        for condition in (on_board(phase, NOW), WITH_FILES):
            there = set(Submission.objects.filter(condition, phase=phase).values_list("pk", flat=True))
            assert there == {entry.pk for entry in entries if holds(condition, entry)}
        shown = set(phase.submissions.filter(on_board(phase, NOW)).values_list("pk", flat=True))
        hidden = hidden_ids(phase, NOW)
        assert not shown & hidden
        assert {entry.pk for entry in entries if entry.hidden_at or entry.disqualified_at} <= hidden


def test_a_condition_goes_through_a_relation_with_all_its_parts():
    condition = Q(status="scored", hidden_at__isnull=True) | (Q(pk__in=[1]) & Q(made_as=""))
    assert through("submission", condition) == Q(submission__status="scored", submission__hidden_at__isnull=True) | (
        Q(submission__pk__in=[1]) & Q(submission__made_as="")
    )


def test_a_negated_condition_is_refused_because_null_would_part_the_two():
    with pytest.raises(ValueError, match="negation"):
        holds(~Q(made_as=""), Submission())


def test_scores_of_an_entry_that_left_the_board_stay_with_its_team(people, scored):
    entry = scored()

    def may() -> list[bool]:
        return [allowed(user, "submission.see_scores", entry) for user in (people.organizer, people.mate, people.other, people.stranger)]

    assert may() == [True] * 4
    Submission.objects.filter(pk=entry.pk).update(withdrawn_at=NOW)
    entry.refresh_from_db()
    assert may() == [True, True, False, False]
