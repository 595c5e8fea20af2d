"""Permissions: the one place that decides who may do what. An act without a rule here is denied. `visibility` decides who may see what.

`allowed(user, action, thing)` answers; `require(...)` raises what a view should raise. Actions are
named `noun.verb`; each has one rule below, a function of a `Viewer` and the thing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from submissions.models import Admission, Challenge, ChallengeFile, Membership, Phase, Scope, Submission, Team
from submissions.visibility import (
    Person,
    holds,
    own,
    public_to,
    sees_board,
    sees_challenge,
    sees_disqualification,
    sees_entry,
    sees_reference,
)


def lacks_second_factor(user: Any) -> bool:
    """Return whether this is a member of staff without the second factor that the setting asks for."""
    asked = settings.STAFF_SECOND_FACTOR and user.is_authenticated and user.is_staff
    return bool(asked) and not Authenticator.objects.filter(user=user).exists()


class Viewer(Person):
    """Somebody looking at one challenge, and what they may do there."""

    def may(self, action: str, thing: Any) -> bool:
        """`allowed`, for a page that asks several things about one challenge."""
        return RULES[action](self, thing)

    def require(self, action: str, thing: Any) -> None:
        """Pass, or raise. Http404 if they may not even know that the thing exists. PermissionDenied if
        they may know of it but not do this; it has a sentence if they can do something about it."""
        if self.may(action, thing):
            return
        see = {Challenge: "challenge.see", Phase: "phase.see", Submission: "submission.see", Team: "team.see"}.get(type(thing))
        if see is not None and (see == action or not self.may(see, thing)):
            raise Http404
        if self.known and self.user.reach is not None and Viewer(self.user.logged_in(), self.challenge, self.now).may(action, thing):
            raise PermissionDenied("This API token does not allow this; make one with the scope and the challenge that you need.")
        if action == "phase.upload":
            in_no_team = f"You are in no team of {thing.challenge.title}; found or join one on its page, a team of one if you like."
            raise PermissionDenied(self.unadmitted or in_no_team)
        asks_admission = {"submission.send": _own, "submission.retry": _own, "team.manage": _leads}.get(action)
        if asks_admission is not None and asks_admission(self, thing):
            raise PermissionDenied(self.unadmitted)
        if action == "challenge.create" and self.known:
            raise PermissionDenied(
                "On this server only staff can start a challenge. Ask its operator to start one with you as an organizer, or to let "
                "everybody with an account start challenges."
            )
        raise PermissionDenied

    @property
    def unadmitted(self) -> str:
        """Sentence on why somebody does not take part in the challenge, with the address of its rules where they have to accept these;
        empty where they take part."""
        it, challenge = self.participation, self.challenge
        assert challenge is not None  # asked of places in a challenge only
        if it is not None and it.admission == Admission.DECLINED:
            return f"The organizers of {challenge.title} have declined your participation; write to them if you think that is a mistake."
        if it is None or it.must_accept:
            rules = f"version {challenge.rules_version} of the rules of {challenge.title}"
            return f"You have not accepted {rules}; accept them at {settings.SITE_URL}{reverse('rules', args=[challenge.slug])} first."
        if it.admission == Admission.PENDING:
            return f"The organizers of {challenge.title} have not admitted you yet; try again once they have."
        return ""


def _see_inputs(v: Viewer, phase: Phase) -> bool:
    """Input files and starter kits: for participants, once the phase has opened."""
    return v.organizes or (v.participates and sees_challenge(v, phase.challenge) and phase.has_opened(v.now))


def _see_file(v: Viewer, file: ChallengeFile) -> bool:
    """A picture with the challenge; a file of one phase as its inputs; one of the whole challenge with the first phase that opens."""
    if file.kind == ChallengeFile.Kind.PICTURE:
        return sees_challenge(v, file.challenge)
    if file.phase_id is not None:
        return _see_inputs(v, file.phase)
    opened = Phase.objects.filter(challenge=v.challenge, opens_at__lte=v.now)
    return v.organizes or (v.participates and sees_challenge(v, file.challenge) and opened.exists())


def _own(v: Viewer, submission: Submission) -> bool:
    return holds(own(v), submission)


def _on_board(v: Viewer, submission: Submission) -> bool:
    return holds(public_to(v, submission.phase), submission)


def _see_scores(v: Viewer, submission: Submission) -> bool:
    if v.organizes:
        return True
    if _own(v, submission):
        return submission.phase.board_is_public(v.now) or not submission.phase.withhold_scores
    return _on_board(v, submission)


def _see_geometry(v: Viewer, submission: Submission) -> bool:
    """Its parsed items beside the reference: only where the reference itself may be seen."""
    mine = _own(v, submission) or _on_board(v, submission)
    return submission.phase.has_files and (v.organizes or (mine and sees_reference(v, submission.phase)))


def _see_render(v: Viewer, submission: Submission) -> bool:
    """Return what its team has sent, drawn without anything of the reference."""
    return submission.phase.has_files and (v.organizes or _own(v, submission) or _see_geometry(v, submission))


def _see_tests(v: Viewer, submission: Submission) -> bool:
    """Return whether they see tests that are computed from its values of single items."""
    return v.organizes or (_see_scores(v, submission) and not submission.phase.withhold_items)


def _leads(v: Viewer, team: Team) -> bool:
    return v.known and v.reaches(Scope.SUBMIT) and Membership.objects.filter(team=team, user=v.user, is_leader=True).exists()


def _manages(v: Viewer, team: Team) -> bool:
    """Return whether they lead the team and are neither declined nor asked to accept the rules; to be waiting for admission is enough,
    as it is for founding a team."""
    it = v.participation
    return it is not None and it.has_accepted and it.admission != Admission.DECLINED and _leads(v, team)


def _upload(v: Viewer, phase: Phase) -> bool:
    return v.reaches(Scope.SUBMIT) and v.participates and v.team_id is not None and sees_challenge(v, phase.challenge)


RULES: dict[str, Callable[[Viewer, Any], bool]] = {
    "challenge.create": lambda v, _: v.is_staff or (v.known and settings.CREATE_CHALLENGES == "anyone"),
    "challenge.see": sees_challenge,
    "challenge.join": lambda v, c: (
        v.known and v.reaches(Scope.SUBMIT) and sees_challenge(v, c) and c.visibility != Challenge.Visibility.DRAFT
    ),
    "challenge.organize": lambda v, _: v.organizes,
    "phase.see": lambda v, p: sees_challenge(v, p.challenge),
    "phase.see_board": sees_board,
    "phase.see_reference": sees_reference,
    "phase.see_inputs": _see_inputs,
    "phase.upload": _upload,
    "file.see": _see_file,
    "submission.see": sees_entry,
    "submission.see_state": lambda v, s: sees_entry(v, s) or sees_disqualification(v, s),
    "submission.see_scores": _see_scores,
    "submission.see_items": lambda v, s: s.phase.may_show_items and _see_tests(v, s),
    "submission.see_tests": _see_tests,
    "submission.see_geometry": _see_geometry,
    "submission.see_render": _see_render,
    "submission.download": lambda v, s: s.phase.has_files and (v.organizes or _own(v, s)),
    "submission.see_problems": lambda v, s: v.organizes or _own(v, s),
    "submission.manage": lambda v, s: _own(v, s) and v.reaches(Scope.SUBMIT),  # pause it, edit its texts, cancel, withdraw
    "submission.send": lambda v, s: _own(v, s) and v.reaches(Scope.SUBMIT) and v.participates,  # its parts, complete, confirm, choose
    "submission.retry": lambda v, s: v.participates and v.reaches(Scope.SUBMIT) if _own(v, s) else v.organizes,
    "submission.moderate": lambda v, _: v.organizes,
    "team.see": lambda v, t: v.organizes or v.team_id == t.pk,
    "team.lead": _leads,  # remove a member, hand over, take back an invitation or the link
    "team.manage": _manages,  # rename it, invite, share the lead
    "operator.see": lambda v, _: v.is_staff,
}


def _challenge_of(thing: Any) -> Challenge | None:
    if thing is None or isinstance(thing, Challenge):
        return thing
    if isinstance(thing, Submission):
        return thing.phase.challenge
    return thing.challenge


def allowed(user: Any, action: str, thing: Any = None, now: datetime | None = None) -> bool:
    """Return whether `user` (anonymous too) may do `action` to `thing` at `now`. Unknown actions: KeyError."""
    return RULES[action](Viewer(user, _challenge_of(thing), now or timezone.now()), thing)


def require(user: Any, action: str, thing: Any = None, now: datetime | None = None) -> None:
    """Pass where `allowed`, else raise what `Viewer.require` raises."""
    Viewer(user, _challenge_of(thing), now or timezone.now()).require(action, thing)
