"""Visibility of a challenge, a board, a reference and an entry: each rule once, as a filter of a query and as a question to a row.

An entry's rule is a condition on its columns (`visible_to`). `visible_entries` filters by it and `sees_entry` asks it of a row in
memory (`holds`), so a list and a page can never differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import BigIntegerField, Model, Q, QuerySet, Value
from django.utils import timezone

from submissions.entry_states import Reader
from submissions.models import Admission, Challenge, Membership, Participation, Phase, Scope, Submission
from submissions.models.frozen_board import in_time, too_late
from submissions.models.status import ELIGIBLE, RANKED

ORGANIZER = 0  # among keys of teams; no row has it
NOTHING = Q(pk__in=[])
ANYTHING = Q()
# Entries whose files go into what is made of a study.
WITH_FILES = Q(withdrawn_at__isnull=True, artifact_key__gt="")


class Person:
    """Somebody in one challenge, with what the rules ask about them fetched once."""

    def __init__(self, user: Any, challenge: Challenge | None, now: datetime) -> None:
        self.user, self.challenge, self.now = user, challenge, now

    @property
    def known(self) -> bool:
        return bool(self.user and self.user.is_authenticated and self.user.is_active)

    @property
    def is_staff(self) -> bool:
        return self.known and self.user.is_staff and self.reaches(Scope.OPERATE)

    def reaches(self, scope: Scope) -> bool:
        """Return whether the user may act in this scope here: everybody who is logged in, and programs within the limits of their API
        token."""
        reach = getattr(self.user, "reach", None)
        return reach is None or reach.covers(scope, self.challenge.pk if self.challenge else None)

    @cached_property
    def organizes(self) -> bool:
        if not self.known or self.challenge is None:
            return False
        return self.is_staff or (ORGANIZER in self._ties and self.reaches(Scope.ORGANIZE))

    @cached_property
    def participation(self) -> Participation | None:
        if not self.known or self.challenge is None or not self.reaches(Scope.READ):
            return None
        return Participation.objects.filter(challenge=self.challenge, user=self.user).first()

    @cached_property
    def team_id(self) -> int | None:
        if not self.known or self.challenge is None or not self.reaches(Scope.READ):
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
        """True if a verified e-mail address of theirs is on the challenge's list."""
        if not self.known or self.challenge is None or not self.challenge.admitted_emails or not self.reaches(Scope.READ):
            return False
        return bool(_addresses(self.user) & set(self.challenge.admitted_emails))

    def reader(self, submission: Submission) -> Reader:
        """Reader that they are of sentences on an entry."""
        return Reader.TEAM if holds(own(self), submission) else Reader.ORGANIZERS if self.organizes else Reader.PUBLIC

    @property
    def participates(self) -> bool:
        """Admitted, and the rules in force accepted."""
        it, challenge = self.participation, self.challenge
        if it is None or challenge is None:
            return False
        return bool(it.admission == Admission.ADMITTED and it.rules_accepted_at and it.rules_version == challenge.rules_version)


def persons(user: Any, challenges: Iterable[Challenge], now: datetime) -> dict[int, Person]:
    """Somebody in each of several challenges, by its key, with the data for the rules fetched together: three queries, for any number of
    challenges."""
    found = {challenge.pk: Person(user, challenge, now) for challenge in challenges}
    some = next(iter(found.values()), None)
    if some is None or not some.known or some.user.reach is not None:  # a program asks of few
        return found
    here = {"challenge__in": list(found), "user": user}
    ties: dict[int, list[int]] = {pk: [] for pk in found}
    teams = Membership.objects.filter(**here).order_by().values_list("challenge_id", "team_id")
    organizing = Challenge.organizers.through.objects.filter(**here).annotate(tie=Value(ORGANIZER, BigIntegerField()))
    for pk, tie in teams.union(organizing.values_list("challenge_id", "tie")):
        ties[pk].append(tie)
    participations = {row.challenge_id: row for row in Participation.objects.filter(**here)}
    mine = _addresses(user) if any(person.challenge.admitted_emails for person in found.values() if person.challenge) else set()
    for pk, person in found.items():
        listed = bool(mine & set(person.challenge.admitted_emails)) if person.challenge else False
        person.__dict__.update(_ties=ties[pk], participation=participations.get(pk), is_listed=listed)  # in place of its own queries
    return found


def _addresses(user: Any) -> set[str]:
    return {address.lower() for address in EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)}


# --- challenges and boards -------------------------------------------------------------------


def sees_challenge(person: Person, challenge: Challenge) -> bool:
    if person.organizes:
        return True
    if challenge.visibility == Challenge.Visibility.PUBLIC:
        return True
    if challenge.visibility == Challenge.Visibility.DRAFT or not person.known:
        return False
    let_in = person.participation is not None and person.participation.admission != Admission.DECLINED
    return let_in or person.is_listed


def visible_challenges(user: Any) -> QuerySet[Challenge]:
    """All challenges for which `sees_challenge` is true, as one query."""
    public = Q(visibility=Challenge.Visibility.PUBLIC)
    if not (user and user.is_authenticated and user.is_active):
        return Challenge.objects.filter(public)
    if user.is_staff and user.reach is None:
        return Challenge.objects.all()
    if user.reach is not None:  # challenges that are not public are few to one person, and a token's bounds differ from one to the other
        ties = Q(organizers=user) | Q(participations__user=user)
        near = (
            Challenge.objects.exclude(public) if user.is_staff else Challenge.objects.exclude(public).filter(ties | ~Q(admitted_emails=[]))
        )
        people = [(Person(user, challenge, timezone.now()), challenge) for challenge in near.distinct()]
        return Challenge.objects.filter(public | Q(pk__in=[one.pk for person, one in people if sees_challenge(person, one)]))
    found = public | Q(pk__in=organized_by(user).values("pk"))
    private = Q(visibility=Challenge.Visibility.PRIVATE)
    let_in = Participation.objects.filter(user=user).exclude(admission=Admission.DECLINED)
    found |= private & Q(pk__in=let_in.values("challenge_id"))
    # Lists of addresses are JSON, which not every database can search.
    mine = _addresses(user)
    lists = Challenge.objects.filter(private).exclude(admitted_emails=[]).values_list("pk", "admitted_emails") if mine else ()
    return Challenge.objects.filter(found | private & Q(pk__in=[pk for pk, admitted in lists if mine & set(admitted)]))


def organized_by(user: Any) -> QuerySet[Challenge]:
    """Challenges in which somebody acts as an organizer; a program only where its API token lets it."""
    if not (user and user.is_authenticated and user.is_active):
        return Challenge.objects.none()
    reach = user.reach
    if user.is_staff and (reach is None or Scope.OPERATE in reach.scopes):
        found = Challenge.objects.all()
    elif reach is None or Scope.ORGANIZE in reach.scopes:
        found = Challenge.objects.filter(organizers=user)
    else:
        return Challenge.objects.none()
    return found.filter(pk__in=reach.challenges) if reach is not None and reach.challenges else found


def board_is_out(phase: Phase, now: datetime) -> bool:
    """True from when those who may see the challenge may see this phase's board."""
    return phase.has_opened(now) and phase.board_is_public(now)


def sees_board(person: Person, phase: Phase) -> bool:
    return person.organizes or (sees_challenge(person, phase.challenge) and board_is_out(phase, person.now))


# --- references ------------------------------------------------------------------------------


def sees_reference(person: Person, phase: Phase) -> bool:
    """True for organizers. Once the phase is open, also for people who may see its reference: participants, or everybody who sees the
    challenge."""
    if person.organizes:
        return True
    if not sees_challenge(person, phase.challenge) or not phase.has_opened(person.now):
        return False
    access = phase.reference_access
    if access == Phase.ReferenceAccess.PARTICIPANTS:
        return person.participates
    return access == Phase.ReferenceAccess.PUBLIC


# --- entries ---------------------------------------------------------------------------------


def on_board(phase: Phase, now: datetime | None = None) -> Q:
    """Return what the public board of the phase shows at `now`, to those who may see it."""
    return ELIGIBLE & in_time(phase, now)


def public_to(person: Person, phase: Phase) -> Q:
    """Entries that somebody may see because the public board shows them."""
    return on_board(phase, person.now) if sees_board(person, phase) else NOTHING


def own(person: Person) -> Q:
    """Entries of their own team."""
    return NOTHING if person.team_id is None else Q(team_id=person.team_id)


def visible_to(person: Person, phase: Phase) -> Q:
    """Entries of the phase that somebody may see: all for organizers, else their team's in any state and those on the board."""
    return ANYTHING if person.organizes else own(person) | public_to(person, phase)


def visible_entries(person: Person, phase: Phase) -> QuerySet[Submission]:
    return Submission.objects.filter(visible_to(person, phase), phase=phase)


def sees_entry(person: Person, submission: Submission) -> bool:
    return holds(visible_to(person, submission.phase), submission)


def sees_disqualification(person: Person, submission: Submission) -> bool:
    """True for an entry that the public board showed until the organizers disqualified it: those who see the board may read so, and why."""
    phase = submission.phase
    is_told = submission.disqualified_in_public and submission.hidden_at is None
    return is_told and holds(RANKED & in_time(phase, person.now), submission) and sees_board(person, phase)


def entries_of_teams(user: Any) -> QuerySet[Submission]:
    """Every entry of every team that somebody is in, in any state."""
    found = Submission.objects.filter(team__memberships__user=user)
    return found.filter(phase__challenge__in=user.reach.challenges) if user.reach and user.reach.challenges else found


def hidden_ids(phase: Phase, now: datetime | None = None) -> frozenset[int]:
    """Entries that the public is told nothing of, in old rankings and in studies either: hidden, disqualified, or received after
    the freeze. A withdrawn one stays in its place."""
    hidden = Q(hidden_at__isnull=False) | Q(disqualified_at__isnull=False) | too_late(phase, now)
    return frozenset(phase.submissions.filter(hidden).values_list("pk", flat=True))


def hidden_from(person: Person, phase: Phase) -> frozenset[int]:
    """Entries of the phase that somebody is told nothing of: organizers know of all."""
    return frozenset() if person.organizes else hidden_ids(phase, person.now)


# --- conditions ------------------------------------------------------------------------------

LOOKUPS: dict[str, Callable[[Any, Any], bool]] = {
    "exact": lambda value, wanted: value == wanted,
    "isnull": lambda value, wanted: (value is None) == wanted,
    "in": lambda value, wanted: value in wanted,
    "gt": lambda value, wanted: value > wanted,
    "lte": lambda value, wanted: value <= wanted,
}


def holds(condition: Q, row: Model) -> bool:
    """Ask a condition on a row's own columns of a row in memory, as the database would: a comparison with null is never true."""
    if condition.negated:
        raise ValueError("Of columns that may be null a negation differs between Python and SQL; write the condition without one.")
    some = any if condition.connector == Q.OR and condition.children else all
    return some(holds(one, row) if isinstance(one, Q) else _compares(row, *one) for one in condition.children)


def _compares(row: Model, path: str, wanted: Any) -> bool:
    column, _, lookup = path.partition("__")
    value = getattr(row, column)
    return (value is not None or lookup == "isnull") and LOOKUPS[lookup or "exact"](value, wanted)


def through(relation: str, condition: Q) -> Q:
    """The same condition, for rows that refer to the one it is about."""
    found = condition.copy()
    found.children = [through(relation, one) if isinstance(one, Q) else (f"{relation}__{one[0]}", one[1]) for one in condition.children]
    return found
