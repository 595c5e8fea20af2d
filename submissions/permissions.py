"""Who may do what: the one place where permission is asked. What is not said here is denied.

`allowed(user, action, thing)` answers; `require(...)` raises what a view should raise. Actions are
named `noun.verb`; each has one rule below, a function of a `Viewer` and the thing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import BigIntegerField, Q, QuerySet, Value
from django.http import Http404
from django.utils import timezone

from submissions.models import Admission, Challenge, ChallengeFile, Membership, Participation, Phase, Status, Submission, Team


def lacks_second_factor(user) -> bool:
    """Whether this is a member of staff without the second factor that the setting asks for."""
    asked = settings.STAFF_SECOND_FACTOR and user.is_authenticated and user.is_staff
    return bool(asked) and not Authenticator.objects.filter(user=user).exists()


ORGANIZER = 0  # among keys of teams; no row has it


class Viewer:
    """Somebody looking at one challenge, with what the rules ask about them fetched once."""

    def __init__(self, user, challenge: Challenge | None, now: datetime) -> None:
        self.user, self.challenge, self.now = user, challenge, now

    def may(self, action: str, thing: object) -> bool:
        """`allowed`, for a page that asks several things about one challenge."""
        return RULES[action](self, thing)

    @property
    def known(self) -> bool:
        return bool(self.user and self.user.is_authenticated and self.user.is_active)

    @property
    def is_staff(self) -> bool:
        return self.known and self.user.is_staff

    @cached_property
    def organizes(self) -> bool:
        if not self.known or self.challenge is None:
            return False
        return self.is_staff or ORGANIZER in self._ties

    @cached_property
    def participation(self) -> Participation | None:
        if not self.known or self.challenge is None:
            return None
        return Participation.objects.filter(challenge=self.challenge, user=self.user).first()

    @cached_property
    def team_id(self) -> int | None:
        if not self.known or self.challenge is None:
            return None
        return next((team for team in self._ties if team != ORGANIZER), None)

    @cached_property
    def _ties(self) -> list[int]:
        """Their team in the challenge, and ORGANIZER if they organize it: one query, because boards ask for both."""
        here = {"challenge": self.challenge, "user": self.user}
        teams = Membership.objects.filter(**here).order_by().values_list("team_id", flat=True)
        organizing = Challenge.organizers.through.objects.filter(**here).annotate(tie=Value(ORGANIZER, BigIntegerField()))
        return list(teams.union(organizing.values_list("tie", flat=True)))

    @cached_property
    def is_listed(self) -> bool:
        """Whether a verified e-mail address of theirs is on the challenge's list."""
        if not self.known or not self.challenge.admitted_emails:
            return False
        mine = EmailAddress.objects.filter(user=self.user, verified=True).values_list("email", flat=True)
        return bool({address.lower() for address in mine} & set(self.challenge.admitted_emails))

    @property
    def participates(self) -> bool:
        """Admitted, and the rules in force accepted."""
        it = self.participation
        return bool(it and it.admission == Admission.ADMITTED and it.rules_accepted_at and it.rules_version == self.challenge.rules_version)


def _see_challenge(v: Viewer, challenge: Challenge) -> bool:
    if v.organizes:
        return True
    if challenge.visibility == Challenge.Visibility.PUBLIC:
        return True
    if challenge.visibility == Challenge.Visibility.DRAFT or not v.known:
        return False
    let_in = v.participation is not None and v.participation.admission != Admission.DECLINED
    return let_in or v.is_listed


def visible_challenges(user) -> QuerySet[Challenge]:
    """All challenges for which `_see_challenge` says yes, as one query."""
    public = Q(visibility=Challenge.Visibility.PUBLIC)
    if not (user and user.is_authenticated and user.is_active):
        return Challenge.objects.filter(public)
    if user.is_staff:
        return Challenge.objects.all()
    found = public | Q(pk__in=Challenge.objects.filter(organizers=user).values("pk"))
    private = Q(visibility=Challenge.Visibility.PRIVATE)
    let_in = Participation.objects.filter(user=user).exclude(admission=Admission.DECLINED)
    found |= private & Q(pk__in=let_in.values("challenge_id"))
    # Lists of addresses are JSON, which not every database can search.
    mine = {address.lower() for address in EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)}
    lists = Challenge.objects.filter(private).exclude(admitted_emails=[]).values_list("pk", "admitted_emails") if mine else ()
    return Challenge.objects.filter(found | private & Q(pk__in=[pk for pk, admitted in lists if mine & set(admitted)]))


def _see_board(v: Viewer, phase: Phase) -> bool:
    return v.organizes or (_see_challenge(v, phase.challenge) and phase.has_opened(v.now) and phase.board_is_public(v.now))


def _see_reference(v: Viewer, phase: Phase) -> bool:
    if v.organizes:
        return True
    if not _see_challenge(v, phase.challenge) or not phase.has_opened(v.now):
        return False
    access = phase.reference_access
    if access == Phase.ReferenceAccess.PARTICIPANTS:
        return v.participates
    return access == Phase.ReferenceAccess.PUBLIC


def _see_inputs(v: Viewer, phase: Phase) -> bool:
    """Input files and starter kits: for participants, once the phase has opened."""
    return v.organizes or (v.participates and _see_challenge(v, phase.challenge) and phase.has_opened(v.now))


def _see_file(v: Viewer, file: ChallengeFile) -> bool:
    """A file of one phase as its inputs; one of the whole challenge with the first phase that opens."""
    if file.phase_id is not None:
        return _see_inputs(v, file.phase)
    opened = Phase.objects.filter(challenge=v.challenge, opens_at__lte=v.now)
    return v.organizes or (v.participates and _see_challenge(v, v.challenge) and opened.exists())


def _own(v: Viewer, submission: Submission) -> bool:
    return v.team_id is not None and v.team_id == submission.team_id


def _on_board(v: Viewer, submission: Submission) -> bool:
    """Whether the public board of its phase may show this entry."""
    shown = (
        submission.status == Status.SCORED
        and not submission.made_as
        and submission.withdrawn_at is None
        and submission.hidden_at is None
        and submission.disqualified_at is None
    )
    frozen = submission.phase.frozen_since(v.now)
    return shown and (frozen is None or submission.received_at <= frozen) and _see_board(v, submission.phase)


def _see_scores(v: Viewer, submission: Submission) -> bool:
    if v.organizes:
        return True
    if _own(v, submission):
        return submission.phase.board_is_public(v.now) or not submission.phase.withhold_scores
    return _on_board(v, submission)


def _see_items(v: Viewer, submission: Submission) -> bool:
    if submission.phase.is_imported:
        return False  # there are none
    return v.organizes or (_see_scores(v, submission) and not submission.phase.withhold_items)


def _see_geometry(v: Viewer, submission: Submission) -> bool:
    """Its parsed items beside the reference: only where the reference itself may be seen."""
    mine = _own(v, submission) or _on_board(v, submission)
    if submission.phase.is_imported:
        return False  # there is none
    return v.organizes or (mine and _see_reference(v, submission.phase))


def _see_render(v: Viewer, submission: Submission) -> bool:
    """What its team has sent, drawn without anything of the reference."""
    return not submission.phase.is_imported and (v.organizes or _own(v, submission) or _see_geometry(v, submission))


def _leads(v: Viewer, team: Team) -> bool:
    return v.known and Membership.objects.filter(team=team, user=v.user, is_leader=True).exists()


def _upload(v: Viewer, phase: Phase) -> bool:
    return v.participates and v.team_id is not None and _see_challenge(v, phase.challenge)


RULES: dict[str, Callable[[Viewer, object], bool]] = {
    "challenge.create": lambda v, _: v.is_staff or (v.known and settings.CREATE_CHALLENGES == "anyone"),
    "challenge.see": _see_challenge,
    "challenge.join": lambda v, c: v.known and _see_challenge(v, c) and c.visibility != Challenge.Visibility.DRAFT,
    "challenge.organize": lambda v, _: v.organizes,
    "phase.see": lambda v, p: _see_challenge(v, p.challenge),
    "phase.see_board": _see_board,
    "phase.see_reference": _see_reference,
    "phase.see_inputs": _see_inputs,
    "phase.upload": _upload,
    "file.see": _see_file,
    "submission.see": lambda v, s: v.organizes or _own(v, s) or _on_board(v, s),
    "submission.see_scores": _see_scores,
    "submission.see_items": _see_items,
    "submission.see_geometry": _see_geometry,
    "submission.see_render": _see_render,
    "submission.download": lambda v, s: not s.phase.is_imported and (v.organizes or _own(v, s)),
    "submission.see_problems": lambda v, s: v.organizes or _own(v, s),
    "submission.manage": _own,  # edit its texts, cancel, withdraw, choose
    "submission.retry": lambda v, s: v.organizes or _own(v, s),
    "submission.moderate": lambda v, _: v.organizes,
    "team.see": lambda v, t: v.organizes or v.team_id == t.pk,
    "team.lead": _leads,
    "operator.see": lambda v, _: v.is_staff,
}


def _challenge_of(thing: object) -> Challenge | None:
    if thing is None or isinstance(thing, Challenge):
        return thing
    if isinstance(thing, Submission):
        return thing.phase.challenge
    return thing.challenge


def allowed(user, action: str, thing: object = None, now: datetime | None = None) -> bool:
    """Whether `user` (anonymous too) may do `action` to `thing` at `now`. Unknown actions: KeyError."""
    return RULES[action](Viewer(user, _challenge_of(thing), now or timezone.now()), thing)


def _lacks_for_upload(v: Viewer, phase: Phase) -> str:
    """What stands between somebody who may see a phase and an upload there."""
    it, challenge = v.participation, phase.challenge
    if it is not None and it.admission == Admission.DECLINED:
        return f"The organizers of {challenge.title} have declined your participation; write to them if you think that is a mistake."
    if it is None or not it.has_accepted:
        return f"You have not accepted version {challenge.rules_version} of the rules of {challenge.title}; accept them on its page."
    if it.admission == Admission.PENDING:
        return f"The organizers of {challenge.title} have not admitted you yet; upload again once they have."
    return f"You are in no team of {challenge.title}; found or join one on its page, a team of one if you like."


def require(user, action: str, thing: object = None, now: datetime | None = None) -> None:
    """Pass, or raise: Http404 where even the thing's being there is not theirs to know,
    PermissionDenied where they may know of it but not do this, with a sentence where there is something to be done."""
    if allowed(user, action, thing, now):
        return
    see = {Challenge: "challenge.see", Phase: "phase.see", Submission: "submission.see", Team: "team.see"}.get(type(thing))
    if see is not None and (see == action or not allowed(user, see, thing, now)):
        raise Http404
    if action == "phase.upload":
        raise PermissionDenied(_lacks_for_upload(Viewer(user, _challenge_of(thing), now or timezone.now()), thing))
    raise PermissionDenied
