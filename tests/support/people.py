"""The people of the tests. The stranger must see nothing."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from submissions.models import Challenge, Team, User
from tests.support.factories import ChallengeFactory, TeamFactory, UserFactory, join


@dataclass(frozen=True)
class People:
    """People around the challenge of the `people` fixture, by their part in it."""

    anonymous: AnonymousUser
    stranger: User  # signed in, takes part in nothing
    owner: User  # leads the team whose entries are looked at
    mate: User  # member of the same team
    other: User  # leads another team of the challenge
    organizer: User
    other_organizer: User  # organizes another challenge
    staff: User
    team: Team
    other_team: Team

    def users(self) -> dict[str, User | AnonymousUser]:
        names = ("anonymous", "stranger", "owner", "mate", "other", "organizer", "other_organizer", "staff")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def around(cls, challenge: Challenge) -> People:
        team, other_team = TeamFactory(challenge=challenge, name="Ridge"), TeamFactory(challenge=challenge, name="Valley")
        names = ("stranger", "owner", "mate", "other", "organizer", "other_organizer")
        built = [UserFactory.build(username=name) for name in names]
        built.append(UserFactory.build(username="staff", is_staff=True, is_superuser=True))
        users = {user.username: user for user in User.objects.bulk_create(built)}
        join(users["owner"], team, leader=True)
        join(users["mate"], team)
        join(users["other"], other_team, leader=True)
        challenge.organizers.add(users["organizer"])
        ChallengeFactory().organizers.add(users["other_organizer"])
        return cls(anonymous=AnonymousUser(), team=team, other_team=other_team, **users)
