"""The things that requests point to: the challenge, phase, entry or team of its address, for pages, API, console and rating alike.

Objects that a user may not know of raise Http404. Acts on known objects without the right raise PermissionDenied.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from submissions.models import Challenge, Phase, Submission, Team, User
from submissions.permissions import Viewer

YEAR = 365  # days: a page of a phase tells no closing date that is further away


@dataclass(frozen=True)
class ChallengePlace:
    """A challenge, and who the viewer is there."""

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
        """The phase this viewer looks for now: of the open ones the last to which their team can upload, else the last; without an open
        one the next to open, else the last of all."""
        running = [phase for phase in self.phases if phase.is_open(self.now)]
        coming = [phase for phase in self.phases if not phase.has_opened(self.now)]
        admitting = [phase for phase in running if phase.has_teams and phase.admits(self.viewer.team_id)]
        return next(iter(admitting[-1:] or running[-1:] or coming[:1] or self.phases[-1:]), None)

    def context(self, here: str) -> dict[str, Any]:
        """The frame of every page of a challenge, and which tab it is."""
        return {"place": self, "challenge": self.challenge, "phases": self.phases, "here": here, "now": self.now}


@dataclass(frozen=True)
class PhasePlace:
    """A phase, and who the viewer is there."""

    phase: Phase
    viewer: Viewer

    @property
    def challenge(self) -> Challenge:
        return self.phase.challenge

    @property
    def now(self) -> datetime:
        return self.viewer.now

    @property
    def sees_board(self) -> bool:
        return self.viewer.may("phase.see_board", self.phase)

    @property
    def closes_in(self) -> int | None:
        """Whole days that the phase is still open; None where that is over a year, or over."""
        closes = self.phase.closes_at
        days = (closes - self.now).days if closes is not None and closes > self.now else None
        return days if days is not None and days <= YEAR else None

    def context(self, here: str) -> dict[str, Any]:
        """The frame of every page of a phase, and which tab it is."""
        return {"place": self, "phase": self.phase, "challenge": self.challenge, "here": here, "now": self.now}


@dataclass(frozen=True)
class EntryPlace:
    """An entry, and who the viewer is to it."""

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


def private_challenge(slug: str) -> Challenge:
    """A challenge that the visitor may not know of, for the page of its access key."""
    return get_object_or_404(Challenge, slug=slug)


def challenge_place(user: Any, slug: str, action: str = "challenge.see") -> ChallengePlace:
    challenge = get_object_or_404(Challenge, slug=slug)
    viewer = Viewer(user, challenge, timezone.now())
    viewer.require(action, challenge)
    return ChallengePlace(challenge, viewer)


def team_place(user: Any, slug: str) -> ChallengePlace:
    """The challenge, for what the members of a team may do even where they no longer see the challenge, such as leave the team."""
    challenge = get_object_or_404(Challenge, slug=slug)
    viewer = Viewer(user, challenge, timezone.now())
    if viewer.team_id is None:
        viewer.require("challenge.see", challenge)
    return ChallengePlace(challenge, viewer)


def phase_place(user: Any, challenge: str, slug: str, action: str = "phase.see") -> PhasePlace:
    rows = Phase.objects.select_related("challenge", "parent")
    return place_of(user, get_object_or_404(rows, challenge__slug=challenge, slug=slug), action)


def place_of(user: Any, phase: Phase, action: str = "phase.see") -> PhasePlace:
    """The phase that something else has led to."""
    viewer = Viewer(user, phase.challenge, timezone.now())
    viewer.require(action, phase)
    return PhasePlace(phase, viewer)


def entry_place(user: Any, pk: int, action: str = "submission.see") -> EntryPlace:
    submission = get_object_or_404(Submission.objects.select_related("phase__challenge", "team"), pk=pk)
    viewer = Viewer(user, submission.phase.challenge, timezone.now())
    viewer.require(action, submission)
    return EntryPlace(submission, viewer)


def challenge_for(user: Any, slug: str, action: str = "challenge.see") -> Challenge:
    return challenge_place(user, slug, action).challenge


def phase_for(user: Any, challenge: str, slug: str) -> Phase:
    return phase_place(user, challenge, slug).phase


def submission_for(user: Any, pk: int, action: str = "submission.see") -> Submission:
    return entry_place(user, pk, action).submission


def phase_of(challenge: Challenge, slug: str) -> Phase:
    """One of the phases of a challenge that has been found already."""
    found = get_object_or_404(challenge.phases, slug=slug)
    found.challenge = challenge
    return found


def submission_of(challenge: Challenge, pk: int) -> Submission:
    return get_object_or_404(
        Submission.objects.select_related("phase__challenge", "team", "uploaded_by"), pk=pk, phase__challenge=challenge
    )


def team_of(challenge: Challenge, pk: int) -> Team:
    return get_object_or_404(challenge.teams, pk=pk)


def phase_with_manifest(user: Any, challenge: str, slug: str) -> Phase:
    """A phase whose manifest is available: to all who may see the phase once it has opened, because an entry can be checked without an
    account."""
    place = phase_place(user, challenge, slug)
    if not place.phase.manifest_data or not (place.phase.has_opened(place.now) or place.viewer.organizes):
        raise Http404
    return place.phase


def own_team(user: Any, challenge: Challenge, action: str = "team.see") -> Team:
    """The team `user` is in; Http404 if there is none, PermissionDenied if they may not do this."""
    team = Team.of(challenge, user)
    if team is None:
        raise Http404
    Viewer(user, challenge, timezone.now()).require(action, team)
    return team


def any_team(pk: int) -> Team:
    """A team for any visitor, with its challenge: its page shows only what boards show of it. Of one that another has taken in, that
    one."""
    teams = Team.objects.select_related("challenge")
    return teams.filter(pk=pk).first() or get_object_or_404(teams, former__number=pk)


def person_with_page(user: Any, name: str) -> User:
    """Somebody who lets everybody see a page of theirs; for themselves it is there anyway."""
    them = get_object_or_404(User, username=name, is_active=True)
    if not them.shows_page and them != user:
        raise Http404
    return them


def row_number(text: str | None) -> int:
    """The key of a row that a form or an address names; 0, which no row has, for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0
