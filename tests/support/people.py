"""The people of the tests. The stranger must see nothing."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from submissions.models import Team, User


@dataclass(frozen=True)
class People:
    """Who stands where in the challenge of the `people` fixture."""

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
