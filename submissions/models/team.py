"""Teams and their members: create, invite, join, leave, merge.

A change of a team's members locks its row (and, for joining, the person's participation), so a cap holds for parallel acts and nobody is in
two teams of one challenge.
"""

from __future__ import annotations

import itertools
import secrets
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.core.validators import validate_email
from django.db import models, transaction
from django.db.models.functions import Lower
from django.utils import timezone

from submissions import worker_notify
from submissions.errors import Refused
from submissions.format_time import in_words
from submissions.formats.invisible import has_invisible
from submissions.look_alikes import folded, look_alike
from submissions.models.audit import AuditEntry
from submissions.models.challenge import Challenge
from submissions.models.frozen_board import in_time
from submissions.models.participation import Admission, Participation
from submissions.models.quota import most_tries, tries_used
from submissions.models.user import User, hash_secret

NAME_LENGTH = 80
INVITE_DAYS = 14
INVITES_A_DAY = 30  # e-mails one team may cause


class TeamQuerySet(models.QuerySet):
    def joined(self) -> models.QuerySet[Team]:
        """Teams that take part, with or without an entry: not those that have only baselines of the organizers, or imported entries."""
        entries = Team._meta.get_field("submissions").related_model.objects.filter(team=models.OuterRef("pk"))
        only_baselines = models.Exists(entries.filter(is_baseline=True)) & ~models.Exists(entries.filter(is_baseline=False))
        return self.exclude(only_baselines | models.Exists(entries.exclude(phase__results_source="")))


class Team(models.Model):
    """A team of one challenge; someone alone has a team of one."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=NAME_LENGTH)
    invite_hash = models.CharField(max_length=64, blank=True, help_text="Hash of the link that lets people join.")
    created_at = models.DateTimeField(default=timezone.now)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    # Entries of teams that members have left, which use up tries of this one as they do of those.
    earlier_entries = models.ManyToManyField("submissions.Submission", related_name="counted_for", blank=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("challenge", Lower("name"), name="team_name_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_imported(self) -> bool:
        """Return whether it has the imported entries of its challenge, which are of no team."""
        return self.submissions.exclude(phase__results_source="").exists()

    # --- found and named -------------------------------------------------------------------

    @classmethod
    def of(cls, challenge: Challenge, user: Any) -> Team | None:
        if not user.is_authenticated:
            return None
        membership = Membership.objects.filter(challenge=challenge, user=user).select_related("team").first()
        return membership.team if membership else None

    def namesakes(self) -> models.QuerySet[Team]:
        """The same team in other challenges: one of the same name that shares a member. The name alone proves nothing, as anybody may
        take it; and a shared member alone is told to nobody."""
        mine = Membership.objects.filter(team=self).values("user")
        same = Team.objects.filter(name__iexact=self.name, memberships__user__in=mine).exclude(pk=self.pk)
        return same.order_by("pk").distinct()

    @classmethod
    def create(cls, challenge: Challenge, user: User, name: str = "") -> Team:
        """A new team led by `user`, under `name` or, without one, under their user name.

        A person who is alone in a team without uploads leaves that team for the new one.
        """
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)  # names are compared and taken under it
            _require_participation(challenge, user)
            here = Membership.objects.filter(challenge=challenge, user=user).select_related("team").first()
            earlier = [] if here is None else here.team.tries_of_members()
            if here is not None:
                _require_alone(here)
                if here.team.has_entries:
                    sentence = f"Your team {here.team.name} has entries, which stay with it; give it another name instead."
                    raise Refused(sentence, "has_entries")
                here.delete()
                here.team._drop_if_empty()
            name = cls._free_name(challenge, name) if name else cls._name_after(challenge, user)
            return cls._of_one(challenge, user, name, earlier)

    @classmethod
    def _of_one(cls, challenge: Challenge, user: User, name: str, earlier: Iterable[Any]) -> Team:
        team = cls.objects.create(challenge=challenge, name=name)
        Membership.objects.create(team=team, user=user, challenge=challenge, is_leader=True)
        team.earlier_entries.set(earlier)
        return team

    @classmethod
    def without_members(cls, challenge: Challenge, name: str) -> Team:
        """A team for entries that nobody sent, called `name`, or that with a number where it is taken."""
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
            taken = next(n for n in itertools.count(1) if not cls._taken(challenge, f"{name} {n}" if n > 1 else name))
            return cls.objects.create(challenge=challenge, name=f"{name} {taken}" if taken > 1 else name)

    @classmethod
    def of_baselines(cls, challenge: Challenge) -> Team:
        """The team without members that has the organizers' baselines; a new one before the first."""
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
            known = cls.objects.filter(challenge=challenge, memberships__isnull=True, submissions__is_baseline=True).order_by("pk").first()
            return known or cls.without_members(challenge, "Baselines")

    @classmethod
    def of_one(cls, challenge: Challenge, user: User) -> Team:
        """The team `user` is in; a team of their own where they are in none."""
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
            return cls.of(challenge, user) or cls.create(challenge, user)

    def rename(self, name: str) -> None:
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=self.challenge_id)
            self.name = self._free_name(self.challenge, name, self)
            self.save(update_fields=["name"])
            for phase in self.challenge.phases.filter(submissions__team=self).distinct():
                phase.touch_board()
            worker_notify.after_commit("boards")

    @classmethod
    def _free_name(cls, challenge: Challenge, name: str, but: Team | None = None) -> str:
        name = " ".join(unicodedata.normalize("NFC", name).split())
        if not name or len(name) > NAME_LENGTH or has_invisible(name):
            raise Refused(f"A team's name is 1 to {NAME_LENGTH} visible characters; choose such a name.", "bad_name")
        if cls._taken(challenge, name, but):
            raise Refused(f"There is a team “{name}” in this challenge already; choose another name.", "name_taken")
        if like := look_alike(name, cls._on_boards(challenge, but)):
            raise Refused(f"“{name}” looks like “{like}”, a team of this challenge; choose another name.", "name_taken")
        return name

    @classmethod
    def _taken(cls, challenge: Challenge, name: str, but: Team | None = None) -> bool:
        # Compared here and not by the database: SQLite knows upper and lower case of ASCII only.
        others = cls.objects.filter(challenge=challenge).exclude(pk=but.pk if but else None)
        return folded(name) in {folded(other) for other in others.values_list("name", flat=True)}

    @classmethod
    def _on_boards(cls, challenge: Challenge, but: Team | None = None) -> list[str]:
        """Names of teams that a board shows to everybody who may see the challenge. Only they are looked at for look-alikes: a refusal
        must not tell of a team that nobody can see."""
        entries, shown = Team._meta.get_field("submissions").related_model.objects, models.Q(pk__in=[])
        for phase in challenge.phases.all():
            if phase.has_opened() and phase.board_is_public():
                shown |= models.Q(pk__in=entries.eligible().filter(in_time(phase), phase=phase).values("team"))
        others = cls.objects.filter(shown, challenge=challenge).exclude(pk=but.pk if but else None)
        return list(others.values_list("name", flat=True))

    @classmethod
    def _name_after(cls, challenge: Challenge, user: User) -> str:
        base, seen = user.get_username()[: NAME_LENGTH - 6], cls._on_boards(challenge)
        number, name = 1, base
        while cls._taken(challenge, name) or look_alike(name, seen):
            number += 1
            name = f"{base} {number}"
        return name

    # --- who is in it ----------------------------------------------------------------------

    def is_leader(self, user: Any) -> bool:
        return user.is_authenticated and self.memberships.filter(user=user, is_leader=True).exists()

    @property
    def has_entries(self) -> bool:
        """Return whether anything was ever sent; a reservation that was dropped before its bytes came is not."""
        return self.submissions.exclude(received_at__isnull=True, status="cancelled").exists()

    def tries_of_members(self) -> list[Any]:
        """Entries that count for a leaving member: the team's own, and entries of teams that its members have left."""
        own = self.submissions.sent().exclude(received_at__isnull=True, status="cancelled")  # not reservations that were dropped
        return [*own, *self.earlier_entries.all()]

    def why_not_admit(self, user: User) -> str:
        """Return the sentence that says why `user`, who may be in a team, cannot join; empty where they can, or are a member."""
        here = Membership.objects.filter(challenge_id=self.challenge_id, user=user).select_related("team").first()
        if here is not None and here.team_id == self.pk:
            return ""
        if here is not None and here.team.memberships.count() > 1:
            return f"You are in {here.team.name}, and a person is in one team of a challenge; leave it first."
        if here is not None and here.team.tries_of_members():
            return self.why_not_merge(here.team)
        cap = self.challenge.team_size
        if cap is not None and self.memberships.count() >= cap:
            return f"{self.name} is full: this challenge allows {cap} members a team; one has to leave first."
        return ""

    def admit(self, user: User) -> bool:
        """Make `user` a member, or raise `Refused` with the reason; False where they are one already. A person who was alone
        in a team brings its entries, and the tries that it has used."""
        with transaction.atomic():
            _require_participation(self.challenge, user)
            here = Membership.objects.filter(challenge_id=self.challenge_id, user=user).first()
            if here and here.team_id == self.pk:
                return False
            # Both teams are locked in one order, so that two people who swap places cannot block each other.
            both = [self.pk, here.team_id] if here else [self.pk]
            locked = {team.pk for team in Team.objects.select_for_update().filter(pk__in=both).order_by("pk")}
            if self.pk not in locked:
                raise Refused("This team no longer exists; ask for an invitation to another one.", "gone")
            if here is not None:
                _require_alone(here)
                if here.team.tries_of_members():
                    self.take_in(here.team, user)
                    self.memberships.filter(user=user).update(is_leader=not self.memberships.exclude(user=user).exists())
                    return True
            if why := self.why_not_admit(user):
                raise Refused(why, "team_full")
            if here is not None:
                here.delete()
                here.team._drop_if_empty()
            Membership.objects.create(team=self, user=user, challenge_id=self.challenge_id, is_leader=not self.memberships.exists())
        return True

    def why_not_leave(self, user: User) -> str:
        """Return the sentence that says why a member cannot leave; empty where they can."""
        leads = dict(self.memberships.values_list("user", "is_leader"))
        led, alone = leads.pop(user.pk, False), not leads
        if alone and self.has_entries:
            return f"You are the only member of {self.name}, and a team keeps its entries: ask somebody to join, or another team to merge."
        if alone and self.earlier_entries.exists():
            return f"You are the only member of {self.name}: continue by yourself, or join another team."
        if led and not alone and not any(leads.values()):
            return f"You are the last leader of {self.name}: hand the lead to another member first."
        return ""

    def leave(self, user: User) -> Team | None:
        """Remove `user` from the team; its entries stay. Return the user's new team of one, which counts the tries that this team has
        used, or None if it has used none."""
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=self.challenge_id)
            me = self._locked_member(user)
            if why := self.why_not_leave(user):
                raise Refused(why, "last_leader" if self.memberships.count() > 1 else "has_entries")
            alone = self._part_with(me)
            self._drop_if_empty()
        return alone

    def remove(self, user: User) -> None:
        """A leader removes a member, who keeps the tries that the team has used. The invitation link ends too, so it does not lead back
        in."""
        with transaction.atomic():
            Challenge.objects.select_for_update(no_key=True).get(pk=self.challenge_id)
            them = self._locked_member(user)
            if them.is_leader:
                raise Refused(f"{user} leads {self.name}; only members who do not lead can be removed.", "is_leader")
            self._part_with(them)
            self.end_link()

    def _part_with(self, member: Membership) -> Team | None:
        used = self.tries_of_members()
        member.delete()
        return self._of_one(self.challenge, member.user, self._name_after(self.challenge, member.user), used) if used else None

    # --- two teams become one ----------------------------------------------------------------

    def why_not_merge(self, other: Team, now: datetime | None = None, dated: bool = True) -> str:
        """Return the sentence that says why the two teams cannot become one; empty where they can. After the challenge's date only its
        organizers merge teams: for them it is not `dated`."""
        now, challenge = now or timezone.now(), self.challenge
        if other.pk == self.pk or other.challenge_id != self.challenge_id:
            return "Name another team of this challenge."
        for team in (self, other):
            if not team.memberships.exists():
                return f"{team.name} has no members, so nobody can speak for it."
        if dated and challenge.merge_until is not None and now >= challenge.merge_until:
            return f"Teams could merge until {in_words(challenge.merge_until)}; only the organizers merge teams now."
        cap, members = challenge.team_size, Membership.objects.filter(team__in=[self, other]).count()
        if cap is not None and members > cap:
            return f"Together {self.name} and {other.name} have {members} members, and this challenge allows {cap} a team."
        for phase in challenge.phases.all():
            extra = phase.extra_tries.filter(team__in=[self, other]).aggregate(n=models.Sum("amount"))["n"] or 0
            used, most = tries_used(phase, [self, other], now).values("pk").count(), most_tries(phase, extra, now)
            if most is not None and used > most:
                return (
                    f"Together {self.name} and {other.name} have used {used} tries in {phase.title}, and one team could have used {most} "
                    "by now."
                )
        return ""

    def take_in(self, other: Team, actor: User | None, dated: bool = True) -> None:
        """Make the members and entries of `other` this team's, and end it; `Refused` where they cannot become one, see `why_not_merge`."""
        with transaction.atomic():
            # In one order, so that two teams that take each other in cannot block each other.
            if len(Team.objects.select_for_update().filter(pk__in=[self.pk, other.pk]).order_by("pk")) < 2 and other.pk != self.pk:
                raise Refused("One of the two teams no longer exists; reload the page.", "gone")
            if why := self.why_not_merge(other, dated=dated):
                raise Refused(why, "no_merge")
            phases = list(self.challenge.phases.filter(submissions__team=other).distinct())
            for phase in phases:
                phase.lock()
                if self.submissions.filter(phase=phase, is_chosen=True).exists():  # of two chosen entries this team's counts
                    other.submissions.filter(phase=phase).update(is_chosen=False)
            self.earlier_entries.add(*other.earlier_entries.all())
            other.submissions.update(team=self)
            self.earlier_entries.remove(*self.earlier_entries.filter(team=self))
            other.memberships.update(team=self)
            other.extra_tries.update(team=self)
            other.former.update(team=self)
            FormerTeam.objects.create(number=other.pk, name=other.name, team=self)
            AuditEntry.record(
                self.challenge, actor, "team.merge", self, before={"teams": [self.name, other.name]}, after={"team": self.name}
            )
            other.delete()
            for phase in phases:
                phase.touch_board()
            worker_notify.after_commit("boards")

    def set_leader(self, user: User, leads: bool = True) -> None:
        """Share the lead with a member, or take it back; the last leader stays one."""
        with transaction.atomic():
            them = self._locked_member(user)
            if them.is_leader and not leads and not self.memberships.exclude(pk=them.pk).filter(is_leader=True).exists():
                raise Refused(f"{user} is the last leader of {self.name}; hand the lead to another member first.", "last_leader")
            them.is_leader = leads
            them.save(update_fields=["is_leader"])

    def hand_over(self, leader: User, to: User) -> None:
        """`to` leads from now on, and `leader` no longer does."""
        if leader.pk == to.pk:
            raise Refused(f"{to} leads {self.name} already; choose another member.", "is_leader")
        with transaction.atomic():
            self.set_leader(to, True)
            self.set_leader(leader, False)

    def _locked_member(self, user: User) -> Membership:
        Team.objects.select_for_update().filter(pk=self.pk).first()
        member = self.memberships.filter(user=user).first()
        if member is None:
            raise Refused(f"{user} is not a member of {self.name}; see the team's page.", "not_member")
        return member

    def _drop_if_empty(self) -> None:
        if not self.memberships.exists() and not self.has_entries:
            self.submissions.all().delete()  # reservations whose bytes never came
            self.delete()

    # --- invitations -----------------------------------------------------------------------

    def make_link(self) -> str:
        """A new token for the link that lets people join, shown this once; the one before ends."""
        token = secrets.token_urlsafe(24)
        self.invite_hash = hash_secret(token)
        self.save(update_fields=["invite_hash"])
        return token

    def end_link(self) -> None:
        self.invite_hash = ""
        self.save(update_fields=["invite_hash"])

    def invite(self, email: str, invited_by: User, now: datetime | None = None) -> TeamInvite:
        """Invite one address. The e-mail follows from the row; an earlier open invitation to the
        same address ends."""
        now, email = now or timezone.now(), email.strip().lower()
        try:
            validate_email(email)
        except ValidationError:
            raise Refused(f"“{email[:120]}” is not a valid e-mail address; write one such as name@example.org.", "bad_email") from None
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.pk)
            if self.memberships.filter(user__emailaddress__email__iexact=email, user__emailaddress__verified=True).exists():
                raise Refused(f"{email} belongs to a member of {self.name} already.", "is_member")
            if self.invites.filter(created_at__gt=now - timedelta(days=1)).count() >= INVITES_A_DAY:
                raise Refused(f"{self.name} has sent {INVITES_A_DAY} invitations within a day. Continue tomorrow.", "too_many_invites")
            self.invites.open(now).filter(email=email).update(withdrawn_at=now)
            expires_at = now + timedelta(days=INVITE_DAYS)
            invite = TeamInvite.objects.create(team=self, email=email, invited_by=invited_by, created_at=now, expires_at=expires_at)
            worker_notify.after_commit("mail")
        return invite


class Membership(models.Model):
    """A person in a team. The challenge is repeated here so that the database itself holds
    'at most one team per person and challenge'."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="+")
    is_leader = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["joined_at"]
        constraints = [models.UniqueConstraint(fields=["challenge", "user"], name="one_team_per_person")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class TeamMerge(models.Model):
    """A team asks another to become one with it. Where a leader of that one agrees, it takes the asking team in. The row is there until
    then, or until either side says no."""

    asking = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="merges_asked")
    asked = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="merges_wanted")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)  # when the leaders were written to

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["asking", "asked"], name="merge_asked_once")]

    def __str__(self) -> str:
        return f"{self.asking} asks {self.asked}"

    @classmethod
    def ask(cls, asking: Team, name: str, asked_by: User) -> TeamMerge:
        """Ask the team of that name, in any case; `Refused` if the two cannot become one."""
        wanted = folded(" ".join(name.split()))
        asked = next((team for team in asking.challenge.teams.joined() if folded(team.name) == wanted), None)
        if asked is None:
            raise Refused(f"There is no team “{name[:NAME_LENGTH]}” in this challenge. Write its name as leaderboards show it.", "no_team")
        if why := asked.why_not_merge(asking):
            raise Refused(why, "no_merge")
        if cls.objects.filter(asking=asked, asked=asking).exists():
            raise Refused(f"{asked.name} has asked your team already; agree to that.", "asked_before")
        row = cls.objects.get_or_create(asking=asking, asked=asked, defaults={"asked_by": asked_by})[0]
        worker_notify.after_commit("mail")
        return row

    @property
    def why_not(self) -> str:
        """The sentence that says why the asked team cannot agree now; empty where it can."""
        return self.asked.why_not_merge(self.asking)


class FormerTeam(models.Model):
    """A team that was merged into another: links of older rankings to its page lead to the other's."""

    number = models.PositiveBigIntegerField(unique=True)  # the key of its row
    name = models.CharField(max_length=NAME_LENGTH)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="former")
    merged_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["merged_at"]

    def __str__(self) -> str:
        return f"{self.name}, now {self.team}"


class TeamInviteQuerySet(models.QuerySet):
    def open(self, now: datetime | None = None) -> models.QuerySet:
        """Neither used nor withdrawn nor run out."""
        return self.filter(accepted_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=now or timezone.now())


class TeamInvite(models.Model):
    """An invitation to one e-mail address, good for one person once.

    Its token is signed, not kept: the row and the service's secret key make it, whenever the
    e-mail is written.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invites")
    email = models.EmailField()
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)  # when the e-mail went out
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = TeamInviteQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.email} to {self.team}"

    @property
    def token(self) -> str:
        return _signer().sign(str(self.pk))

    def withdraw(self) -> None:
        moved = TeamInvite.objects.filter(pk=self.pk, accepted_at__isnull=True, withdrawn_at__isnull=True).update(
            withdrawn_at=timezone.now()
        )
        if not moved:
            raise Refused(f"The invitation of {self.email} was used or withdrawn before.", "invite_over")


class Invitation:
    """The invitation that a token opens: a team, and the row if it went to one address."""

    def __init__(self, team: Team, row: TeamInvite | None = None) -> None:
        self.team, self.row = team, row

    @classmethod
    def find(cls, token: str, now: datetime | None = None) -> Invitation | None:
        """The invitation behind a link; None for one that never was or is over."""
        if ":" in token:
            try:
                pk = int(_signer().unsign(token))
            except (BadSignature, ValueError):
                return None
            row = TeamInvite.objects.open(now).filter(pk=pk).select_related("team__challenge").first()
            return cls(row.team, row) if row else None
        team = Team.objects.filter(invite_hash=hash_secret(token)).select_related("challenge").first()
        return cls(team) if team else None

    def accept(self, user: User) -> bool:
        """Make `user` a member, which uses an invitation to one address up. False, and it stays open, where they are one already."""
        with transaction.atomic():
            joined = self.team.admit(user)  # first, because it takes the locks in the order of all other acts
            if self.row is None or not joined:
                return joined
            used = TeamInvite.objects.open().filter(pk=self.row.pk).update(accepted_at=timezone.now())
            if not used:
                raise Refused("This invitation was used or withdrawn; ask the team for a new one.", "invite_over")
        return True


def _signer() -> Signer:
    return Signer(salt="submissions.team_invite")


def _require_participation(challenge: Challenge, user: User) -> Participation:
    """The locked participation of somebody who may be in a team: rules accepted, not declined."""
    it = Participation.objects.select_for_update().filter(challenge=challenge, user=user).first()
    if it is not None:
        it.challenge = challenge
    if it is None or not it.has_accepted:
        raise Refused(f"Accept the rules of {challenge.title} first; then you can be in a team.", "rules")
    if it.admission == Admission.DECLINED:
        raise Refused("The organizers have declined your participation; write to them if you think that is a mistake.", "declined")
    return it


def _require_alone(here: Membership) -> None:
    """Lock the team of somebody who is to leave it for another; `Refused` where others are in it."""
    Team.objects.select_for_update().filter(pk=here.team_id).first()  # nobody joins or uploads meanwhile
    if here.team.memberships.count() > 1:
        raise Refused(f"You are in {here.team.name}, and a person is in one team of a challenge; leave it first.", "in_a_team")
