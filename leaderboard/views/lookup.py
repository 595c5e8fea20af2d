"""Where a request points: the phase or entry of its address, and what the viewer may do there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from leaderboard.models import Snapshot
from submissions.models import Challenge, Phase, Submission
from submissions.permissions import Viewer


@dataclass(frozen=True)
class PhasePlace:
    """A phase the viewer may see, and who they are there."""

    phase: Phase
    viewer: Viewer

    @property
    def challenge(self) -> Challenge:
        return self.phase.challenge

    @property
    def now(self) -> datetime:
        return self.viewer.now

    @property
    def audience(self) -> str:
        return Snapshot.Audience.ORGANIZERS if self.viewer.organizes else Snapshot.Audience.PUBLIC

    @property
    def sees_board(self) -> bool:
        return self.viewer.may("phase.see_board", self.phase)

    def context(self, here: str) -> dict:
        """What every page of a phase shows: its frame, and which tab it is."""
        return {"place": self, "phase": self.phase, "challenge": self.challenge, "here": here, "now": self.now}


def phase_place(request: HttpRequest, challenge: str, phase: str) -> PhasePlace:
    """Raises Http404 for a phase that is not there or not theirs to know of."""
    found = Phase.objects.select_related("challenge").filter(challenge__slug=challenge, slug=phase).first()
    if found is None:
        raise Http404
    viewer = Viewer(request.user, found.challenge, timezone.now())
    if not viewer.may("phase.see", found):
        raise Http404
    return PhasePlace(found, viewer)


@dataclass(frozen=True)
class EntryPlace:
    """An entry the viewer may see."""

    submission: Submission
    viewer: Viewer

    def may(self, action: str) -> bool:
        return self.viewer.may(f"submission.{action}", self.submission)

    @property
    def is_own(self) -> bool:
        return self.may("manage")

    @property
    def phase_place(self) -> PhasePlace:
        return PhasePlace(self.submission.phase, self.viewer)


def entry_place(request: HttpRequest, pk: int) -> EntryPlace:
    """Raises Http404 for an entry that is not there or not theirs to know of."""
    found = Submission.objects.select_related("phase__challenge", "team").filter(pk=pk).first()
    if found is None:
        raise Http404
    place = EntryPlace(found, Viewer(request.user, found.phase.challenge, timezone.now()))
    if not place.may("see"):
        raise Http404
    return place


def not_shown_yet(request: HttpRequest, place: PhasePlace, here: str) -> HttpResponse:
    """The page instead of a board that is not shown to this viewer now: when it will be."""
    return render(request, "leaderboard/not_shown.html", place.context(here))


def whole(text: str | None, default: int, most: int = 10**6) -> int:
    """A whole number of at least 1 from an address; `default` for anything else."""
    return min(max(1, int(text)), most) if text and text.isascii() and text.isdigit() and len(text) < 10 else default


def words(request: HttpRequest, name: str = "q") -> str:
    """Text to look for, from the address: at most 100 characters, without those no database takes."""
    return request.GET.get(name, "")[:100].replace("\x00", "").strip()
