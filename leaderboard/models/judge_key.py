"""Keys of organizers for the endpoint of judge models: put in once, kept sealed, shown to nobody again."""

from __future__ import annotations

from typing import Self

import structlog
from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from leaderboard.models.judge_budget import owned
from leaderboard.service import sealing
from submissions.models import AuditEntry, Challenge, User

LABEL = "judge key"
log = structlog.get_logger(__name__)


class JudgeKey(models.Model):
    """The key of a challenge or an account, and the address that it may be sent to, which is one of the settings'.

    Nothing of the key is readable in the database but its last four characters.
    """

    challenge = models.OneToOneField(Challenge, on_delete=models.CASCADE, null=True, related_name="judge_key")
    account = models.OneToOneField(User, on_delete=models.CASCADE, null=True, related_name="judge_key")
    url = models.CharField(max_length=300)
    sealed = models.TextField()
    last_four = models.CharField(max_length=4)
    put_in_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    put_in_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(challenge__isnull=False, account__isnull=True) | Q(challenge__isnull=True, account__isnull=False),
                name="judge_key_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"key of {self.challenge or self.account} that ends in {self.last_four}"

    @classmethod
    def of(cls, owner: Challenge | User) -> Self | None:
        return cls.objects.select_related("put_in_by", "challenge", "account").filter(**owned(owner)).first()

    @classmethod
    @sensitive_variables("secret")
    def put_in(cls, owner: Challenge | User, url: str, secret: str, actor: User) -> Self:
        """Keep a key in place of the one before. Runs that this one paid go on with the new one."""
        values = {"url": url, "sealed": sealing.seal(secret, LABEL), "last_four": secret[-4:]}
        with transaction.atomic():
            row, _ = cls.objects.update_or_create(**owned(owner), defaults=values | {"put_in_by": actor, "put_in_at": timezone.now()})
            if isinstance(owner, Challenge):
                AuditEntry.record(owner, actor, "judge.key", owner, note=f"It ends in {row.last_four} and goes to {url}.")
        log.info("judge key put in", owner=str(owner), by=str(actor), url=url)
        return row

    def remove(self, actor: User) -> int:
        """Forget the key; how many runs it paid are stopped by that."""
        with transaction.atomic():
            stopped = self.runs.stop_unpaid(f"The key that paid for this run was removed by {actor}; add one and continue.")
            if self.challenge is not None:
                AuditEntry.record(self.challenge, actor, "judge.key_removed", self.challenge, note=f"It ended in {self.last_four}.")
            owner = str(self.challenge or self.account)
            self.delete()
        log.info("judge key removed", owner=owner, by=str(actor), runs_stopped=stopped)
        return stopped

    @property
    def may_be_sent(self) -> bool:
        """True if its address is still one that the operator allows."""
        return self.url in settings.JUDGE_KEY_URLS or self.url == settings.JUDGE_URL

    @sensitive_variables()
    def unsealed(self) -> str:
        """The key itself. ValueError, in a sentence, where the service cannot read it any more."""
        try:
            return sealing.unseal(self.sealed, LABEL)
        except sealing.Unsealable:
            raise ValueError(
                "The key that pays for this run cannot be read any more, because the service's secret key was changed; put it in again."
            ) from None

    @classmethod
    def reseal(cls) -> tuple[int, int]:
        """Seal every key with the present secret key, so that the earlier ones may be dropped: (sealed again, not readable)."""
        done = lost = 0
        for pk in list(cls.objects.values_list("pk", flat=True)):
            with transaction.atomic():
                row = cls.objects.select_for_update().filter(pk=pk).first()
                if row is None:
                    continue
                try:
                    row.sealed = sealing.seal(row.unsealed(), LABEL)
                except ValueError:
                    lost += 1
                else:
                    row.save(update_fields=["sealed"])
                    done += 1
        return done, lost
