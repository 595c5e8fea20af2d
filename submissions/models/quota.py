"""Uploads that a team has left in a phase: limits a day, in total and at once, and tries that an organizer grants in addition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from submissions.errors import Refused
from submissions.format_time import day_in_words, in_words
from submissions.models.audit import AuditEntry
from submissions.models.phase import Phase
from submissions.models.status import Status
from submissions.models.user import User


@dataclass(frozen=True)
class Quota:
    """The uploads that a team has left. `None` means no limit. `next_at` is set when nothing is left
    and waiting helps; `reason` is then the sentence to show."""

    left_today: int | None
    left_total: int | None
    left_at_once: int | None
    next_at: datetime | None = None
    reason: str = ""
    code: str = ""

    @property
    def allowed(self) -> bool:
        return not self.reason


def tries_used(phase: Phase, teams: Collection[Any], now: datetime) -> QuerySet:
    """Entries of a phase that use up tries of these teams, each once: their own, and entries of teams that their members have left."""
    return phase.submissions.counted(now).filter(Q(team__in=teams) | Q(counted_for__in=teams)).order_by().distinct()


def most_tries(phase: Phase, extra: int, now: datetime) -> int | None:
    """Tries that one team could have used in a phase by `now`, with so many `extra` ones; None without a limit."""
    limits = [] if phase.limit_total is None else [phase.limit_total]
    if phase.limit_per_day is not None:
        first, last = (at.astimezone(phase.zone).date() for at in (phase.opens_at, min(now, phase.closes_at or now)))
        limits.append(phase.limit_per_day * max(0, (last - first).days + 1))
    return min(limits) + extra if limits else None


def quota_of(phase: Phase, team: Any, now: datetime | None = None, day: datetime | None = None) -> Quota:
    """Uploads that `team`, or the team of that key, has left in a phase at `now`, of the day of `day` where that is another one.
    Rejected, failed and cancelled entries and reservations that ran out do not count; entries of teams that members have left do."""
    now = now or timezone.now()
    rows = tries_used(phase, [team], now).values_list("pk", "created_at", "status", "team_id")
    own = getattr(team, "pk", team)
    counted = [(created_at, status if team_id == own else "") for _, created_at, status, team_id in rows]
    extra = phase.extra_tries.filter(team=team).aggregate(n=Sum("amount"))["n"] or 0
    busy = sum(status in Status.in_progress() for _, status in counted)
    left = Quota(
        left_today=_left_of_day(phase, [moment for moment, _ in counted], extra, day or now),
        left_total=None if phase.limit_total is None else max(0, phase.limit_total + extra - len(counted)),
        left_at_once=None if phase.limit_at_once is None else max(0, phase.limit_at_once - busy),
    )
    if left.left_total == 0:
        reason = f"Your team has used all {phase.limit_total + extra} uploads of this phase; ask the organizers for more."
        return replace(left, reason=reason, code="limit_total")
    if left.left_today == 0:
        reason, next_at = _day_is_used(phase, now, day)
        return replace(left, reason=reason, next_at=next_at, code="limit_per_day")
    if left.left_at_once == 0:
        reason = f"Your team has {busy} entries in progress, as many as may be at once; wait until one is done."
        if open_uploads := sum(status == Status.UPLOADING for _, status in counted):
            minutes = f"{settings.UPLOAD_IDLE_MINUTES:g} minute{'' if settings.UPLOAD_IDLE_MINUTES == 1 else 's'}"
            reason += f" Unfinished uploads among them: {open_uploads}. Finish or cancel them; a silent upload gives up its place "
            reason += f"after {minutes}."
        return replace(left, reason=reason, code="limit_at_once")
    return left


def _left_of_day(phase: Phase, counted: Collection[datetime], extra: int, day: datetime) -> int | None:
    """Uploads left of the day of `day` if these are counted; None without a daily limit. Entries of earlier days beyond the daily limit
    used extra tries, so each is used once, on whichever day."""
    if phase.limit_per_day is None:
        return None
    used = Counter(moment.astimezone(phase.zone).date() for moment in counted)
    date = day.astimezone(phase.zone).date()
    spent = sum(max(0, n - phase.limit_per_day) for other, n in used.items() if other != date)
    return max(0, phase.limit_per_day + max(0, extra - spent) - used[date])


def _day_is_used(phase: Phase, now: datetime, day: datetime | None) -> tuple[str, datetime | None]:
    """Sentence on a day of which no upload is left, and the moment from which there is another."""
    if day is not None and day != now:
        date_in_words = day_in_words(day, phase.time_zone)
        return f"Your team has used its uploads of {date_in_words} ({phase.limit_per_day} a day); ask the organizers.", None
    if phase.limit_per_day == 0:
        return "This phase takes no upload without an extra try, and your team has none left; ask the organizers for one.", None
    _, end = phase.day(now)
    used = f"Your team has used its uploads of today ({phase.limit_per_day} a day)"
    if not phase.is_open(end):
        return f"{used}, and the phase closes before the next day begins; ask the organizers for an extra try.", None
    return f"{used}; the next is possible on {in_words(end, phase.time_zone)}.", end


class ExtraTries(models.Model):
    """Uploads an organizer granted a team beyond the limits per day and in total."""

    phase = models.ForeignKey("submissions.Phase", on_delete=models.CASCADE, related_name="extra_tries")
    team = models.ForeignKey("submissions.Team", on_delete=models.CASCADE, related_name="extra_tries")
    amount = models.PositiveSmallIntegerField()
    reason = models.CharField(max_length=240)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    granted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "extra tries"

    def __str__(self) -> str:
        return f"{self.amount} more for {self.team}"

    @classmethod
    def grant(cls, phase: Phase, team: Any, amount: int, reason: str, actor: User | None) -> ExtraTries:
        """Give `team` that many uploads more; the reason is kept for other organizers."""
        if not reason.strip():
            raise Refused("Say why the team gets more uploads; other organizers read it in the audit log.", "no_reason")
        if not 1 <= amount <= 1000:
            raise Refused("Grant between 1 and 1000 uploads.", "bad_amount")
        with transaction.atomic():
            before = phase.extra_tries.filter(team=team).aggregate(n=Sum("amount"))["n"] or 0
            tries = cls.objects.create(phase=phase, team=team, amount=amount, reason=reason.strip()[:240], granted_by=actor)
            AuditEntry.record(
                phase.challenge,
                actor,
                "team.grant",
                f"{team} · {phase.title}",
                reason=tries.reason,
                before={"extra_tries": before},
                after={"extra_tries": before + amount},
            )
        return tries
