"""Money of the service that judge models may cost a challenge, or the runs that somebody starts, in a calendar month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Self

import structlog
from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.money import MoneyField, plain
from submissions.models import AuditEntry, Challenge, User

SMALL = Decimal("0.05")
log = structlog.get_logger(__name__)
UNPRICED = (
    "The cost of judges is limited here, and the prices of this model are not known. An operator must set PLUMBLINE_JUDGE_PRICE_IN and "
    "PLUMBLINE_JUDGE_PRICE_OUT, or PLUMBLINE_JUDGE_PRICES for further models."
)


class Unpaid(ValueError):
    """A request does not fit into what may be spent; the text is a sentence for people."""


@dataclass(frozen=True)
class Reservation:
    """The most that a request can cost, counted before it was sent, and where: in these budgets, of this month."""

    amount: Decimal
    month: str = ""
    budgets: tuple[int, ...] = ()


def money(amount: Decimal) -> str:
    """An amount in words: to the cent, and a small one to a hundredth of that."""
    return f"{amount:,.{2 if not amount or amount >= SMALL else 4}f} {settings.JUDGE_CURRENCY}"


def month_of(moment: datetime) -> str:
    """The calendar month in UTC, such as 2026-11."""
    return f"{moment.astimezone(UTC):%Y-%m}"


class JudgeBudget(models.Model):
    """The budget of one challenge or one account for a calendar month (UTC), and what was spent of it.

    An operator sets `limit`; without one the settings say it. `spent` is the reported cost of requests. `reserved` is the maximum cost of
    requests whose answer is on its way, or never came. Both belong to `month`, and start again at 0 with the first request of the next
    month. Only requests that the service's own key pays are counted.
    """

    challenge = models.OneToOneField(Challenge, on_delete=models.CASCADE, null=True, related_name="judge_budget")
    account = models.OneToOneField(User, on_delete=models.CASCADE, null=True, related_name="judge_budget")
    limit = MoneyField(null=True)
    month = models.CharField(max_length=7, blank=True)
    spent = MoneyField(default=Decimal(0))
    reserved = MoneyField(default=Decimal(0))
    set_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    set_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(challenge__isnull=False, account__isnull=True) | Q(challenge__isnull=True, account__isnull=False),
                name="judge_budget_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"judge budget of {self.challenge or self.account}"

    @classmethod
    def of(cls, owner: Challenge | User, now: datetime | None = None) -> Self:
        """The owner's budget in this month; a row that is not stored where there was nothing to store yet."""
        found = cls.objects.filter(**owned(owner)).select_related("challenge", "account", "set_by").first()
        return (found or cls(**owned(owner))).in_month(month_of(now or timezone.now()))

    @staticmethod
    def belongs_to(account: User) -> bool:
        """True of organizers of any challenge, and of staff: they may have models asked at the service's cost."""
        return account.is_staff or Challenge.objects.filter(organizers=account).exists()

    @classmethod
    def locked(cls, owners: list[Challenge | User], month: str) -> list[Self]:
        """The budgets of these, locked until the transaction ends, always in the same order."""
        rows = [cls.objects.get_or_create(**owned(owner))[0].pk for owner in owners]
        found = cls.objects.select_for_update(of=("self",)).select_related("challenge", "account").filter(pk__in=rows).order_by("pk")
        return [row.in_month(month) for row in found]

    def in_month(self, month: str) -> Self:
        """The row with the sums of that month: 0 if its own are of an earlier month."""
        if self.month < month:
            self.month, self.spent, self.reserved = month, Decimal(0), Decimal(0)
        return self

    @classmethod
    def set_limit(cls, owner: Challenge | User, limit: Decimal | None, actor: User) -> None:
        """Set what may be spent in a month; None: as the settings say."""
        with transaction.atomic():
            row = cls.objects.select_for_update().get(pk=cls.objects.get_or_create(**owned(owner))[0].pk)
            change = {"before": {"limit": _said(row.limit)}, "after": {"limit": _said(limit)}}
            row.limit, row.set_by, row.set_at = limit, actor, timezone.now()
            row.save(update_fields=["limit", "set_by", "set_at"])
            if isinstance(owner, Challenge):
                AuditEntry.record(owner, actor, "judge.budget", owner, **change)
        log.info("judge budget set", owner=str(owner), by=str(actor), limit=_said(limit))

    @property
    def cap(self) -> Decimal | None:
        """Most that may be spent in a month; None: no limit."""
        if self.limit is not None:
            return self.limit
        return settings.JUDGE_CHALLENGE_BUDGET if self.challenge_id else settings.JUDGE_ACCOUNT_BUDGET

    @property
    def counted(self) -> Decimal:
        return self.spent + self.reserved

    @property
    def remaining(self) -> Decimal | None:
        return None if self.cap is None else max(Decimal(0), self.cap - self.counted)

    @property
    def shown_month(self) -> str:
        """Such as November 2026."""
        return f"{datetime.strptime(self.month, '%Y-%m').replace(tzinfo=UTC):%B %Y}"

    @property
    def whose(self) -> str:
        return f"the challenge “{self.challenge.title}”" if self.challenge is not None else f"runs that {self.account} starts"

    @property
    def sentence(self) -> str:
        """Sentence on the state of the budget, with the month and whose it is."""
        held = f", {money(self.reserved)} of it for requests without a known cost" if self.reserved else ""
        counted = f"{money(self.counted)} is counted{held}"
        if self.cap is None or self.remaining is None:
            return f"{counted} in {self.shown_month} (UTC) for {self.whose}; there is no limit."
        return f"{money(self.remaining)} is left of {money(self.cap)} in {self.shown_month} (UTC) for {self.whose}; {counted}."

    def refusal(self, needed: str) -> str:
        """The sentence for something that does not fit, which `needed` names with what it costs."""
        assert self.cap is not None and self.remaining is not None
        held = f", {money(self.reserved)} of it for requests without an answer" if self.reserved else ""
        return (
            f"{needed}. {money(self.remaining)} is left of the {money(self.cap)} that judge models may cost {self.whose} in "
            f"{self.shown_month} ({money(self.counted)} is counted{held}). Ask an operator for more, or wait for the next month."
        )

    def reserve(self, amount: Decimal) -> None:
        """Count a request before it is sent; the row is locked. Unpaid where it does not fit."""
        if self.remaining is not None and amount > self.remaining:
            raise Unpaid(self.refusal(f"The next request may cost up to {money(amount)}"))
        self.reserved += amount
        self.save(update_fields=["month", "spent", "reserved"])

    @classmethod
    def set_aside(cls, owner: Challenge | User, amount: Decimal | None, model: str) -> Reservation:
        """Count a request that is of no run, before it is sent, and note it in a challenge's record; `amount` is None where prices are
        not known. Unpaid, in a sentence, where it does not fit."""
        month = month_of(timezone.now())
        with transaction.atomic():
            budgets = cls.locked([owner], month)
            if amount is None and any(one.cap is not None for one in budgets):
                raise Unpaid(UNPRICED)
            for one in budgets:
                one.reserve(amount or Decimal(0))
            if isinstance(owner, Challenge):
                at_most = "not known" if amount is None else money(amount)
                AuditEntry.record(owner, None, "judge.texts", owner, model=model, at_most=at_most)
        return Reservation(amount or Decimal(0), month, tuple(one.pk for one in budgets))

    @classmethod
    def settle(cls, reservation: Reservation, cost: Decimal) -> None:
        """Count a request's cost in place of its reserve, unless its month is over; in a transaction."""
        rows = cls.objects.select_for_update().filter(pk__in=reservation.budgets, month=reservation.month).order_by("pk")
        for row in rows:
            row.reserved -= reservation.amount
            row.spent += cost
            row.save(update_fields=["spent", "reserved"])


def owned(owner: Challenge | User) -> dict[str, Challenge | User]:
    """The column of a row that is a challenge's or an account's."""
    return {"challenge": owner} if isinstance(owner, Challenge) else {"account": owner}


def _said(limit: Decimal | None) -> str:
    return "as the settings say" if limit is None else f"{plain(limit)} {settings.JUDGE_CURRENCY}"
