"""Many people at one team at once: the cap holds, and nobody ends up in two teams."""

from __future__ import annotations

import pytest
from django.utils import timezone

from submissions.models import Admission, Invitation, Membership, Participation, Status, Submission, Team
from tests.support.at_once import outcomes
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


def participants(challenge, n: int) -> list:
    users = [UserFactory() for _ in range(n)]
    for user in users:
        Participation.objects.create(
            challenge=challenge, user=user, admission=Admission.ADMITTED, rules_version="1", rules_accepted_at=timezone.now()
        )
    return users


def test_twelve_parallel_acceptances_never_exceed_the_cap():
    challenge = ChallengeFactory(team_size=4)
    team = TeamFactory(challenge=challenge)
    token = team.make_link()
    users = participants(challenge, 12)
    outcome = outcomes([lambda user=user: Invitation.find(token).accept(user) for user in users])
    assert sorted(outcome) == ["done"] * 4 + ["team_full"] * 8
    assert team.memberships.count() == 4


def test_one_person_accepting_six_invitations_at_once_is_in_one_team():
    challenge = ChallengeFactory()
    (user,) = participants(challenge, 1)
    teams = [TeamFactory(challenge=challenge) for _ in range(6)]
    for team in teams:
        Membership.objects.create(team=team, user=UserFactory(), challenge=challenge, is_leader=True)
    outcome = outcomes([lambda team=team: team.admit(user) for team in teams])
    assert sorted(outcome) == ["done"] + ["in_a_team"] * 5
    assert Membership.objects.filter(user=user).count() == 1


def test_one_emailed_invitation_used_by_four_people_at_once_admits_one():
    challenge = ChallengeFactory()
    leader, *users = participants(challenge, 5)
    team = Team.create(challenge, leader)
    token = team.invite("grace@example.org", leader).token
    found = [Invitation.find(token) for _ in users]
    outcome = outcomes([lambda one=one, user=user: one.accept(user) for one, user in zip(found, users, strict=True)])
    assert sorted(outcome) == ["done", "invite_over", "invite_over", "invite_over"]
    assert team.memberships.count() == 2


def test_parallel_teams_of_one_get_different_names_and_one_team_each():
    challenge = ChallengeFactory()
    users = participants(challenge, 6)
    outcome = outcomes([lambda user=user: Team.of_one(challenge, user) for user in users + users])
    assert outcome == ["done"] * 12
    assert Team.objects.filter(challenge=challenge).count() == 6


def test_two_people_swapping_teams_do_not_block_each_other():
    challenge = ChallengeFactory()
    ada, grace = participants(challenge, 2)
    hers, his = Team.of_one(challenge, ada), Team.of_one(challenge, grace)
    outcome = outcomes([lambda: his.admit(ada), lambda: hers.admit(grace)])
    assert sorted(outcome) == ["done", "gone"]  # who came second found the other's old team dissolved
    assert Membership.objects.filter(challenge=challenge).count() == 2


def test_two_teams_that_take_each_other_in_at_once_become_one():
    challenge = ChallengeFactory()
    phase = PhaseFactory(challenge=challenge)
    first, second = (Team.of_one(challenge, user) for user in participants(challenge, 2))
    for number, team in enumerate((first, second), 1):
        Submission.objects.create(phase=phase, team=team, number=number, method_name="m", file_name="e.zip", status=Status.SCORED)
    outcome = outcomes([lambda: first.take_in(second, None), lambda: second.take_in(first, None)])
    assert sorted(outcome) == ["done", "gone"]
    (left,) = Team.objects.filter(challenge=challenge)
    assert left.memberships.count() == left.submissions.count() == 2


def test_choices_made_at_once_leave_one_chosen_entry():
    team = TeamFactory()
    phase = PhaseFactory(challenge=team.challenge)
    entries = [
        Submission.objects.create(phase=phase, team=team, number=n, method_name="m", file_name="e.zip", status=Status.SCORED)
        for n in range(1, 7)
    ]
    assert outcomes([entry.choose for entry in entries]) == ["done"] * 6
    assert Submission.objects.filter(is_chosen=True).count() == 1
