"""The processes of an installation, as they say themselves that they live: one row each."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from submissions import database_clock
from submissions.choices import TextChoices

REMEMBERED = timedelta(hours=1)  # how long a process that was not heard of since keeps its row
SKEW_SECONDS = 5.0  # that a machine's clock may differ from the database's before operators are told
MAX_ROWS = 500  # of processes that were not heard of: one that ends again and again makes many


class ProcessQuerySet(models.QuerySet):
    def live(self, now: datetime | None = None) -> Self:
        """Processes heard of within the time after which a worker's lease ends."""
        return self.filter(seen_at__gt=(now or database_clock.now()) - timedelta(seconds=settings.LEASE_SECONDS))

    def with_wrong_clock(self, now: datetime | None = None) -> Self:
        """Live processes on machines whose clock differs from the database's, the one furthest ahead first."""
        return self.live(now).exclude(clock_ahead__range=(-SKEW_SECONDS, SKEW_SECONDS)).order_by("-clock_ahead")

    def listeners(self, now: datetime | None = None) -> Counter[str]:
        """Number of live workers that listen to each queue. For the queue of graphics cards, only workers with a usable card count."""
        workers = self.live(now).filter(kind=Process.Kind.WORKER).values_list("queues", "card_trouble")
        return Counter(queue for queues, trouble in workers for queue in queues if not (trouble and queue == "gpu"))

    def card_troubles(self, now: datetime | None = None) -> list[str]:
        """Reasons why live workers of the queue gpu cannot use their graphics card, one a worker."""
        troubled = self.live(now).filter(kind=Process.Kind.WORKER).exclude(card_trouble="")
        return [trouble for queues, trouble in troubled.values_list("queues", "card_trouble") if "gpu" in queues]


class Process(models.Model):
    """One process that runs, or ran a while ago. `name` is its host and number."""

    class Kind(TextChoices):
        WEB = "web", "Web"
        WORKER = "worker", "Worker"
        SWEEPER = "sweeper", "Sweeper"
        SUPERVISOR = "supervisor", "Supervisor"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=120, unique=True)
    queues = models.JSONField(default=list)  # that a worker listens to
    requests = models.JSONField(default=dict)  # that a web process answered: see leaderboard.service.traffic
    sandboxes = models.JSONField(default=dict)  # of a worker: what metric programs that run so (python, ...) lack on its machine, or ""
    card_trouble = models.TextField(blank=True, default="")  # of a worker: why its graphics card cannot be used, in a sentence
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)
    worked_at = models.DateTimeField(null=True)  # when the sweeper last ended a round
    wrote_at = models.DateTimeField(null=True)  # when the sweeper last tried whether database and storage take data
    write_faults = models.JSONField(default=dict)  # what the one of them that took none said then, by its name
    clock_ahead = models.FloatField(default=0.0)  # seconds, at least, of its machine's clock on the database's; negative: it is behind

    objects = ProcessQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "name"]
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @classmethod
    def beat(cls, kind: str, name: str, started_at: datetime, **values: Any) -> None:
        """Note that the process lives, which began at `started_at` by this machine's clock; its row is by the database's. It is made if
        there is none, also if it was removed meanwhile."""
        before, now, after = timezone.now(), database_clock.read(), timezone.now()
        # The database looked at its clock between the two looks at ours, however long it took to answer.
        ahead = max(before - now, timedelta(0)) + min(after - now, timedelta(0))
        values |= {"kind": kind, "started_at": started_at - ahead, "seen_at": now, "clock_ahead": ahead.total_seconds()}
        cls.objects.update_or_create(name=name, defaults=values)

    @classmethod
    def forget(cls, now: datetime | None = None) -> int:
        """Remove the rows of processes that are long gone, except the last one of each kind; returns how many."""
        now = now or database_clock.read()
        newest = cls.objects.values("kind").annotate(at=models.Max("seen_at")).values_list("at", flat=True)
        gone = cls.objects.exclude(pk__in=cls.objects.live(now)).exclude(seen_at__in=list(newest))
        surplus = gone.order_by("-seen_at").values_list("pk", flat=True)[MAX_ROWS:]
        return gone.filter(models.Q(seen_at__lt=now - REMEMBERED) | models.Q(pk__in=list(surplus))).delete()[0]
