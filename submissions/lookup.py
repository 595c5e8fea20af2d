"""From an address to the thing it names, for pages and API: what somebody may not know of is not there."""

from __future__ import annotations

from django.http import Http404

from submissions.models import Challenge, Phase, Submission, Team
from submissions.permissions import require


def challenge_for(user, slug: str) -> Challenge:
    """Raises Http404 where there is none that `user` may know of."""
    found = Challenge.objects.filter(slug=slug).first()
    if found is None:
        raise Http404
    require(user, "challenge.see", found)
    return found


def phase_for(user, challenge: str, phase: str) -> Phase:
    """Raises Http404 where there is none that `user` may know of."""
    found = Phase.objects.select_related("challenge", "parent").filter(challenge__slug=challenge, slug=phase).first()
    if found is None:
        raise Http404
    require(user, "phase.see", found)
    return found


def submission_for(user, pk: int, action: str = "submission.see") -> Submission:
    """The entry, if `user` may do `action` to it; Http404 where it is not theirs to know of."""
    found = Submission.objects.select_related("phase__challenge", "team").filter(pk=pk).first()
    if found is None:
        raise Http404
    require(user, action, found)
    return found


def own_team(user, challenge: Challenge, lead: bool = False) -> Team:
    """The team `user` is in; Http404 where there is none, PermissionDenied where they must lead it."""
    team = Team.of(challenge, user)
    if team is None:
        raise Http404
    if lead:
        require(user, "team.lead", team)
    return team
