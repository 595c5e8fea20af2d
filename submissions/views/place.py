"""Where a request points: the challenge of its address, and who the viewer is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.http import Http404, HttpRequest
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from submissions.models import Challenge, Phase, Team
from submissions.permissions import Viewer


@dataclass(frozen=True)
class ChallengePlace:
    """A challenge the viewer may see."""

    challenge: Challenge
    viewer: Viewer

    @property
    def now(self) -> datetime:
        return self.viewer.now

    @cached_property
    def phases(self) -> list[Phase]:
        phases = list(self.challenge.phases.order_by("position", "opens_at", "id").select_related("parent"))
        for phase in phases:
            phase.challenge = self.challenge
        return phases

    @cached_property
    def team(self) -> Team | None:
        return Team.objects.filter(pk=self.viewer.team_id).first() if self.viewer.team_id else None

    @cached_property
    def main_phase(self) -> Phase | None:
        """The phase this viewer looks for now: of the open ones the last that admits their team,
        else the next to open, else the last."""
        running = [phase for phase in self.phases if phase.is_open(self.now)]
        coming = [phase for phase in self.phases if not phase.has_opened(self.now)]
        admitting = [phase for phase in running if phase.admits(self.viewer.team_id)]
        return (admitting[-1:] or running[-1:] or coming[:1] or self.phases[-1:] or [None])[0]

    def context(self, here: str) -> dict:
        """What every page of a challenge shows: its frame, and which tab it is."""
        return {"place": self, "challenge": self.challenge, "phases": self.phases, "here": here, "now": self.now}


def challenge_place(request: HttpRequest, challenge: str) -> ChallengePlace:
    """Raises Http404 for a challenge that is not there or not theirs to know of."""
    found = Challenge.objects.filter(slug=challenge).first()
    if found is None:
        raise Http404
    viewer = Viewer(request.user, found, timezone.now())
    if not viewer.may("challenge.see", found):
        raise Http404
    return ChallengePlace(found, viewer)


def go_on(request: HttpRequest, otherwise: str, *arguments: object):
    """Redirect to the form's `next` where that is a page of this service, else to the page named."""
    wanted = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return redirect(wanted) if wanted and here else redirect(otherwise, *arguments)
