"""Metric programs against people: a program's values on what a study is about, and challenges whose entries are metrics."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypedDict

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from pydantic import TypeAdapter

from evaluation.metrics.result import SampleScores
from evaluation.models import MetricProgram
from evaluation.models.runs import Run
from evaluation.programs.results import Cause
from leaderboard.models.study import Study
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.metric_board import Standing
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE
from leaderboard.stats.records import plain
from leaderboard.stats.states import State
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Why
from submissions.errors import Refused
from submissions.leases import LeasedQuerySet
from submissions.models import AuditEntry, User
from submissions.visibility import organized_by

KEPT_FAILURES = 10
READER: TypeAdapter[list[Standing]] = TypeAdapter(list[Standing])
UNCHECKED_PER_DAY = 10  # programs of one entrant that the service fails to check: they use up no upload


class ProgramValuesQuerySet(LeasedQuerySet):
    def waiting(self, device: str | None = None) -> Self:
        """Rows that want another slice, first the one whose last was longest ago; those whose program needs a device alone, where one is
        named."""
        rows = self.filter(state=ProgramValues.State.WAITING).order_by("touched_at", "id")
        if device is None:
            return rows
        on_cards = list(MetricProgram.objects.on_cards().values_list("pk", flat=True))
        return rows.filter(program__in=on_cards) if device == "gpu" else rows.exclude(program__in=on_cards)

    def forbidden(self) -> Self:
        """Values on studies whose hidden reference the program may not read. An entrant's program reads only its contest's reference. An
        organizer's reads the references of its own challenge, and of studies that let other challenges' programs run."""
        entered = Q(program__contest_entry__isnull=False)
        elsewhere = ~Q(study__phase__challenge=F("program__challenge")) & Q(study__runs_other_programs=False)
        return self.filter((entered & ~Q(program__contest_entry__contest__study=F("study"))) | (~entered & elsewhere))


class ProgramValues(Run):
    """The values of a program on the entries and samples of a study, made a slice at a time, and what they say.

    `values` is by the study's label of the entry, then by sample; None where there is none. `under_way` is what was found of the next entry
    by now: what it is `of`, and `scores` of its items (SampleScores as JSON). A worker that dies loses one slice at most. `decided` is the
    figure over all samples, of the answers that `made_of` names (`Study.stamp`); it stays until a newer figure is there.
    """

    class State(TextChoices):
        WAITING = "waiting", "Being computed"
        DONE = "done", "Computed"
        FAILED = "failed", "Failed"

    program = models.ForeignKey(MetricProgram, on_delete=models.CASCADE, related_name="values_on_studies")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="program_values")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    values = models.JSONField(default=dict, blank=True)
    under_way = models.JSONField(default=dict, blank=True)
    touched_at = models.DateTimeField(default=timezone.now)  # when it last had a slice, or was asked for
    total = models.PositiveIntegerField(default=0)
    decided = models.JSONField(null=True)
    figures = models.JSONField(default=dict, blank=True)  # of opinion scores: those of a shipped metric's row too
    failures = models.JSONField(default=list, blank=True)  # of items, with what the program said: for the study's organizers alone
    made_of = models.CharField(max_length=80, blank=True, default="")

    doing = "holding this metric program against people"
    objects = ProgramValuesQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["program", "study"], name="program_on_study_once")]
        verbose_name_plural = "values of programs"

    def __str__(self) -> str:
        return f"{self.program.full_key} on {self.study} ({self.state})"

    @property
    def shown_figures(self) -> dict[str, Any]:
        """The figures of a shipped metric's row as pages show them: none of fewer people or samples than any figure needs."""
        return {} if self.figure.get("state") == State.TOO_FEW else self.figures

    @property
    def figure(self) -> dict[str, Any]:
        """The figure in `decided` as pages show it; empty before there is one."""
        return self.decided or {}

    def keep(self, label: str, found: dict[str, float | None], failures: Iterable[str], total: int) -> bool:
        """The values of one entry are there, and the sentences on items on which it failed: keep them, of the sentences the first few, and
        let go. False: the lease was lost, nothing was written."""
        kept = [*self.failures, *islice(failures, KEPT_FAILURES)][:KEPT_FAILURES]
        return self._kept(values={**self.values, label: found}, failures=kept, under_way={}, total=total)

    def keep_slice(self, of: list[Any], scores: Iterable[SampleScores], total: int) -> bool:
        """Some items of an entry are done: keep them, and let go. False: the lease was lost, nothing was written."""
        return self._kept(under_way={"of": of, "scores": [one.to_dict() for one in scores]}, total=total)

    def _kept(self, **values: Any) -> bool:
        rows = self.under_lease().filter(state=self.State.WAITING)
        return bool(rows.update(touched_at=timezone.now(), **values, **self.ANEW))

    @classmethod
    def request_again(cls) -> int:
        """Ask for the figure of what newer answers, entries or rules than its own say; how many. Values that are there stay."""
        asked = 0
        for study in Study.objects.filter(program_values__state=cls.State.DONE).distinct():
            stale = cls.objects.filter(study=study, state=cls.State.DONE).exclude(made_of=study.stamp).unleased()
            asked += stale.update(state=cls.State.WAITING, **cls.ANEW)
        return asked

    def finish(self, decided: Agreement, figures: dict[str, Any], made_of: str) -> bool:
        """All values are there, and so is what they say of the answers that `made_of` names."""
        done = self.under_lease().filter(state=self.State.WAITING)
        values = {"decided": plain(decided), "figures": figures, "made_of": made_of, "finished_at": timezone.now()}
        kept = done.update(state=self.State.DONE, **values, **self.ANEW)
        if kept:
            self._ask_contests()
        return bool(kept)

    def give_up(self, why: Why, detail: str) -> None:
        """Fail it for good; standings say so too."""
        super().give_up(why, detail)
        self._ask_contests()

    def restart(self) -> bool:
        """Compute it again from the start; False while a worker is at it, or where it did not fail."""
        failed = type(self).objects.filter(pk=self.pk, state=self.State.FAILED).unleased()
        done = bool(failed.update(state=self.State.WAITING, values={}, failures=[], under_way={}, finished_at=None, **self.ANEW))
        if done:
            worker_notify.after_commit("studies")
        return done

    def _ask_contests(self) -> None:
        for contest in MetricChallenge.objects.filter(study=self.study_id, entries__program=self.program_id):
            contest.ask()


class Standings(TypedDict, total=False):
    """Standings as JSON by the half of the samples that they are of, `public` and `final`, each a `Standing`, whose key is the entry's
    number. `halves` are the samples of each, `without` the numbers of entries without a figure, `made` is when that was, and `people` the
    version of the rule for people, from 3 on."""

    public: list[dict[str, object]]
    final: list[dict[str, object]]
    halves: list[list[str]]
    without: list[int]
    people: int
    made: str


class MetricChallenge(models.Model):
    """A challenge whose entries are metric programs, ranked by agreement with a study that nobody sees: on a public half of its samples
    until it ends, then on the other half.

    A program reads hidden items, so all that its entrant can see of how it did there tells something of them. Until the end, that is one
    figure in whole percent with two yes-or-no sentences, or no figure (101 x 4 + 1 cases, 8.7 bits). The midnight (UTC) of its first
    appearance adds log2 of the days until the end (4.9 bits for 30). An upload carries at most the sum, and `limit_total` bounds the number
    of uploads of an account: 20 x 13.6 = 272 bits by default. The final board adds about 60 bits once.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="metric_challenges")
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True, help_text="Plain text.")
    opens_at = models.DateTimeField(default=timezone.now)
    closes_at = models.DateTimeField()
    limit_per_day = models.PositiveSmallIntegerField(default=1)
    limit_total = models.PositiveSmallIntegerField(default=20)
    seed = models.PositiveIntegerField(default=0)  # of the halves; shown to nobody
    standings = models.JSONField(null=True)  # `Standings`
    standings_at = models.DateTimeField(null=True)  # None: they are to be made again
    before_today = models.JSONField(null=True)  # the newest that were made before the day (UTC) on which `standings` were made
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-opens_at", "-id"]

    def __str__(self) -> str:
        return self.title

    @property
    def challenge(self) -> Any:
        """Return whose organizers run it, and who may see it."""
        return self.study.phase.challenge

    def is_open(self, now: datetime | None = None) -> bool:
        return self.opens_at <= (now or timezone.now()) < self.closes_at

    def is_over(self, now: datetime | None = None) -> bool:
        return (now or timezone.now()) >= self.closes_at

    @classmethod
    def open(cls, study: Study, title: str, closes_at: datetime, actor: User | None, **values: Any) -> MetricChallenge:
        """Begin one on a study. `Refused` where the study is public, because what is hidden decides, or has published means alone."""
        if study.from_results:
            raise Refused("A challenge of metrics needs each rater's answers; of this study the means alone were published.", "wrong_study")
        if study.is_public:
            raise Refused("The study's figures are public; hide it first, or metrics could be fitted to it.", "public_study")
        if closes_at <= values.get("opens_at", timezone.now()):
            raise Refused("It must end after it opens; choose a later end.", "wrong_dates")
        samples = study.answers.values("sample").distinct().count()
        if samples < 2 * ITEMS_FOR_FIGURE:
            raise Refused(
                f"The study's votes are on {samples} samples; a half needs {ITEMS_FOR_FIGURE} for any figure, so "
                f"{2 * ITEMS_FOR_FIGURE} are needed.",
                "too_few_samples",
            )
        seed = secrets.randbelow(1 << 31)  # so that nobody can work out which samples decide in the end
        row = cls.objects.create(study=study, title=title, closes_at=closes_at, created_by=actor, **({"seed": seed} | values))
        AuditEntry.record(study.phase.challenge, actor, "metric_challenge.open", row, study=study.slug)
        return row

    def end(self, actor: User) -> None:
        """Take no more programs, and show the final board."""
        with transaction.atomic():
            self.closes_at = timezone.now()
            self.save(update_fields=["closes_at"])
            AuditEntry.record(self.challenge, actor, "metric_challenge.end", self)

    def left(self, user: User, now: datetime | None = None) -> tuple[int, int]:
        """Uploads that somebody has left today (in UTC), and in all. Programs that the service failed to check do not count; programs that
        failed a check do."""
        mine = self.entries.filter(user=user).exclude(program__cause=Cause.SERVICE)
        return (
            max(0, self.limit_per_day - mine.filter(created_at__gte=midnight(now)).count()),
            max(0, self.limit_total - mine.count()),
        )

    def enter(self, user: User, path: Path, name: str) -> MetricEntry:
        """Take a program as an entry. `Refused` outside its time, where no upload is left, or for a program that is none."""
        now = timezone.now()
        if not self.is_open(now):
            word = "has ended" if self.is_over(now) else "has not begun"
            raise Refused(f"This challenge of metrics {word}; no program is taken.", "closed")
        if self.challenge.organizers.filter(pk=user.pk).exists():
            raise Refused("You organize the challenge whose study decides here, so you cannot take part.", "organizer")
        with transaction.atomic():
            type(self).objects.select_for_update().get(pk=self.pk)
            today = midnight(now)
            left_today, left = self.left(user, now)
            if not left:
                raise Refused(f"You have used all {self.limit_total} uploads.", "limit_reached")
            if not left_today:
                raise Refused(
                    f"You have used the {self.limit_per_day} of today; the next is possible from midnight UTC.",
                    "limit_reached",
                    retry_at=today + timedelta(days=1),
                )
            unchecked = self.entries.filter(user=user, created_at__gte=today, program__cause=Cause.SERVICE)
            if unchecked.count() >= UNCHECKED_PER_DAY:
                raise Refused(
                    "The service failed to check ten of your programs today. Continue tomorrow.",
                    "limit_reached",
                    retry_at=today + timedelta(days=1),
                )
            program = MetricProgram.add(self.challenge, path, name, user, scope=f"metrics.{self.pk}.{user.pk}")
            entry, made = MetricEntry.objects.get_or_create(program=program, defaults={"contest": self, "user": user})
            if not made and program.cause != Cause.SERVICE:  # which is checked again
                raise Refused("You have sent these files before; nothing was used up.", "sent_before")
            return entry

    def ask(self) -> None:
        """Have the standings made again."""
        type(self).objects.filter(pk=self.pk).update(standings_at=None)
        worker_notify.after_commit("studies")

    def keep(self, standings: Standings, now: datetime | None = None) -> None:
        """Standings are made. Until midnight, entrants still see the earlier standings."""
        now = now or timezone.now()
        values: dict[str, Any] = {"standings": standings | {"made": now.isoformat()}, "standings_at": now}
        if self.standings is not None and _made(self.standings) < midnight(now):
            values["before_today"] = self.standings
        type(self).objects.filter(pk=self.pk).update(**values)

    def shown_standings(self, now: datetime | None = None) -> Standings | None:
        """The standings that entrants see. After the end they are the newest. Before, they are the newest of the last midnight (UTC), so
        the time at which a program was done tells only its day."""
        if self.standings is None or self.is_over(now) or _made(self.standings) < midnight(now):
            return self.standings
        return self.before_today

    @staticmethod
    def read(standings: Standings | None, half: str) -> list[Standing]:
        """The standings of a half of the samples."""
        return READER.validate_python((standings or {}).get(half, []))


class MetricEntry(models.Model):
    """A program in a challenge of metrics. Each entrant's newest entry with a figure counts."""

    contest = models.ForeignKey(MetricChallenge, on_delete=models.CASCADE, related_name="entries")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="metric_entries")
    program = models.OneToOneField(MetricProgram, on_delete=models.CASCADE, related_name="contest_entry")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "metric entries"

    def __str__(self) -> str:
        return f"{self.program.key} of {self.user}"

    def program_is_shown_to(self, user: Any) -> bool:
        """True if somebody who sees the challenge may see the program's page: its entrant and organizers always, others after the end."""
        if self.contest.is_over() or self.user_id == user.pk:
            return True
        return organized_by(user).filter(pk=self.contest.challenge.pk).exists()

    @classmethod
    def counted(cls, contest: MetricChallenge) -> tuple[list[MetricEntry], list[MetricEntry]]:
        """The entry of each entrant that counts, and all entries that have no figure although all was tried."""
        values = {
            row.program_id: row for row in ProgramValues.objects.filter(study=contest.study_id, program__contest_entry__contest=contest)
        }
        counted: dict[int, MetricEntry] = {}
        without = []
        for entry in cls.objects.filter(contest=contest).select_related("program", "user").order_by(F("created_at").desc(), "-id"):
            found = values.get(entry.program_id)
            if found is not None and found.decided is not None and found.decided["value"] is not None:
                counted.setdefault(entry.user_id, entry)
            elif found is not None and (found.decided is not None or found.state == ProgramValues.State.FAILED):
                without.append(entry)
        return list(counted.values()), without


def midnight(now: datetime | None = None) -> datetime:
    """Beginning of the day in UTC."""
    return (now or timezone.now()).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _made(standings: Standings) -> datetime:
    return datetime.fromisoformat(standings["made"])
