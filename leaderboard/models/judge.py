"""Questions to a judge model about a study's entries, and its answers: a run of planned questions, each asked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import Any, Self, TypedDict

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.models.entry import StudyEntry
from leaderboard.models.judge_budget import UNPRICED, JudgeBudget, Reservation, Unpaid, money, month_of
from leaderboard.models.judge_key import JudgeKey
from leaderboard.models.money import MoneyField
from leaderboard.models.rater import Rater
from leaderboard.models.study import Study
from leaderboard.studies.judge import instructions
from leaderboard.studies.judge.instructions import Row
from leaderboard.studies.judge.schedule import Schedule
from submissions import database_clock, worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Reason, Why
from submissions.leases import Leased, LeasedQuerySet
from submissions.models import AuditEntry, User

MAX_ROUNDS = 10  # of a question whose every text is worth nothing
MAX_FAULTS = 10  # of a question that the endpoint fails at while it answers others
ENOUGH_UNREAD = 10  # requests after which a run stops of which hardly an answer could be read; fewer where its budget is below twice that
LEAST_READ = 0.1  # share of the questions asked of which an answer could be read, below which it stops
MAX_FRUITLESS = 6  # turns without any answer before the run says that it failed
FIRST_PAUSE = 10.0  # seconds, of a run at which a turn failed
BUNDLE = 1000
MAX_NAME = 80  # characters of a model in its judge's name
PACE_OF = 50  # last questions that the time left is estimated by, and the fewest of them
MIN_PACE_OF = 5


class JudgeRunQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        return self.filter(state=JudgeRun.State.ASKING).order_by("id")

    def unscored(self) -> list[JudgeRun]:
        """Stopped runs whose scores are not of all their answers."""
        open_ = [JudgeRun.State.PLANNED, JudgeRun.State.ASKING]
        rows = self.unleased().filter(n_answered__gt=0).exclude(state__in=open_).order_by("id")
        stale = [pk for pk, n, scored in rows.values_list("pk", "n_answered", "result__answered") if n != scored]
        return list(self.filter(pk__in=stale))

    def stop_unpaid(self, sentence: str) -> int:
        """End the runs that ask, because nothing pays for them any more, as the `sentence` says. Answers on their way are still kept."""
        asking = self.filter(state=JudgeRun.State.ASKING)
        asking.filter(lease_token__isnull=True).update(lease_until=None)  # so that a worker need not wait to work out the scores
        why = JudgeRun.failed_by(JudgeRun.stopped_by(sentence))
        stopped = asking.update(state=JudgeRun.State.FAILED, finished_at=timezone.now(), **why)
        worker_notify.after_commit("judges")
        return stopped


class JudgeRun(Leased):
    """A plan of questions for one judge, and how far it is. The row is the request; a worker takes it turn by turn.

    The judge is a rater of the study with the kind `judge`, of this run alone: another run of the same model is another judge. `rows` are
    the plan's kinds of question as they are asked, so that a later change of the plans changes nothing here. With a `newcomer` only
    questions on that entry are asked, and it is placed among the scores of `base`, which stay. `result` is made by
    `leaderboard.stats.judges`.

    `budget` limits requests and `most_cost` money. Before a request is sent, it is counted at its maximum cost (`sent`, `reserved`).
    Once its answer is kept, `cost` has the endpoint's figure instead. A request whose answer never came stays counted.
    """

    class State(TextChoices):
        PLANNED = "planned", "Planned"
        ASKING = "asking", "Asking"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        SPENT = "spent", "Budget used up"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    class Form(TextChoices):
        OBJECTS = "objects", "Objects side by side"
        WIREFRAMES = "wireframes", "Wireframes over their reference"

    class Payer(TextChoices):
        SERVICE = "service", "The service's key"
        CHALLENGE = "challenge", "The challenge's own key"
        ACCOUNT = "account", "The own key of who starts the run"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="judge_runs")
    rater = models.OneToOneField(Rater, on_delete=models.CASCADE, related_name="judge_run")
    model = models.CharField(max_length=120)
    endpoint = models.CharField(max_length=300, blank=True)  # its address, without anything secret
    form = models.CharField(max_length=10, choices=Form)
    plan = models.CharField(max_length=40)
    rows = models.JSONField()
    seed = models.PositiveIntegerField(default=0)
    choices = models.PositiveSmallIntegerField(default=3)  # texts wanted of each request
    budget = models.PositiveIntegerField()
    most_cost = MoneyField(null=True, blank=True)
    pays = models.CharField(max_length=9, choices=Payer, default=Payer.SERVICE)
    key = models.ForeignKey(JudgeKey, on_delete=models.SET_NULL, null=True, related_name="runs")  # the organizer's that pays, once started
    version = models.PositiveSmallIntegerField()  # of the instructions and images
    newcomer = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    base = models.ForeignKey("self", on_delete=models.RESTRICT, null=True, blank=True, related_name="newcomers")
    anchor = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=9, choices=State, default=State.PLANNED, db_index=True)
    n_planned = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)  # for want of a sample that both entries have
    n_answered = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    n_unparsed = models.PositiveIntegerField(default=0)  # texts
    sent = models.PositiveIntegerField(default=0)  # requests, with those on their way and those whose answer never came
    requests = models.PositiveIntegerField(default=0)  # that were answered
    n_refused = models.PositiveIntegerField(default=0)  # requests in whose answer the model declined
    n_unread = models.PositiveIntegerField(default=0)  # requests in whose answer no text could be read, and none declined
    n_errors = models.PositiveIntegerField(default=0)  # requests that failed and were, or are to be, made again
    n_lost = models.PositiveIntegerField(default=0)  # of these, those whose answer may have been made and never came
    last_error = models.CharField(max_length=400, blank=True)
    last_error_at = models.DateTimeField(null=True)
    images = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost = MoneyField(default=Decimal(0))  # of answers, by what the endpoint said of them
    reserved = MoneyField(default=Decimal(0))  # the most that requests without a known cost can have cost
    n_uncosted = models.PositiveIntegerField(default=0)  # answered requests of which no cost is known
    result = models.JSONField(null=True)
    fruitless = models.PositiveSmallIntegerField(default=0)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")  # the last time
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    asking_since = models.DateTimeField(null=True)  # the last start
    finished_at = models.DateTimeField(null=True)

    doing = "asking this judge"
    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.rater} on {self.study} ({self.state})"

    @classmethod
    def make(
        cls, study: Study, actor: User | None, *, model: str, plan: str, rows: Sequence[Row], schedule: Schedule, form: str, **values: Any
    ) -> Self:
        """A planned run with all its questions, in one transaction; nothing is asked until it is started.

        ValueError, in a sentence, where there is nothing to ask.
        """
        if not schedule.comparisons:
            raise ValueError("No two entries of the study have a sample in common that can be shown, so there is nothing to ask.")
        entries = {entry.label: entry for entry in study.entries.all()}
        with transaction.atomic():
            # A name that no rater of the study has: the model, the plan, the day (UTC), the version of the prompts, and a number where that
            # is not enough. The study is locked meanwhile.
            newcomer = values.get("newcomer")
            what = f" · places {newcomer.label[:20]}" if newcomer else ""
            base = f"{model[:MAX_NAME]} · {plan[:40]}{what} · {timezone.now():%Y-%m-%d} · prompts v{instructions.VERSION}"[:110]
            taken = set(study.locked().raters.filter(name__startswith=base).values_list("name", flat=True))
            name = next(one for n in range(1, len(taken) + 2) if (one := base if n == 1 else f"{base} · no. {n}") not in taken)
            rater = Rater.objects.create(study=study, name=name, kind=Rater.Kind.JUDGE)
            run = cls.objects.create(
                study=study,
                rater=rater,
                model=model,
                plan=plan,
                rows=[asdict(row) for row in rows],
                form=form,
                made_by=actor,
                n_planned=len(schedule.comparisons),
                n_skipped=schedule.skipped,
                version=instructions.VERSION,
                **values,
            )
            JudgeAnswer.objects.bulk_create(
                (
                    JudgeAnswer(
                        run=run,
                        number=number,
                        row=one.row,
                        sample=one.sample,
                        left=entries[one.left],
                        right=entries[one.right],
                        repeats=one.repeats,
                    )
                    for number, one in enumerate(schedule.comparisons, 1)
                ),
                batch_size=BUNDLE,
            )
            AuditEntry.record(study.phase.challenge, actor, "judge.plan", run, study=study.slug, questions=run.n_planned, budget=run.budget)
        return run

    @classmethod
    def ended(cls, study: Study) -> JudgeRunQuerySet:
        """Runs that are finished, or stopped with some answers, the oldest first."""
        open_ = [cls.State.PLANNED, cls.State.ASKING]
        return cls.objects.filter(study=study, n_answered__gt=0).exclude(state__in=open_).order_by("id")

    @classmethod
    def stamp(cls, study: Study) -> str:
        """Says which answers of judges an analysis has seen; empty without any."""
        counts = list(cls.ended(study).values_list("n_answered", flat=True))
        return f"/r{len(counts)}.{sum(counts)}" if counts else ""

    # --- what an organizer does

    def start(self, actor: User | None, budget: int | None = None) -> None:
        """Begin, or go on where it stopped; the present key pays. ValueError, in a sentence, where it cannot."""
        if self.state in (self.State.DONE, self.State.CANCELLED):
            raise ValueError(f"This run is {self.get_state_display().lower()}; plan a new one.")
        budget = self.budget if budget is None else budget
        if budget <= self.sent:
            raise ValueError(f"{self.sent:,} requests were made already; give a budget above that.")
        if self.most_cost is not None and self.counted >= self.most_cost:
            raise ValueError(f"{money(self.counted)} is counted, and this run may cost {money(self.most_cost)} at most; plan a new one.")
        values = {"state": self.State.ASKING, "budget": budget, "fruitless": 0, "finished_at": None}
        values |= {"reason": "", "numbers": {}, "failure": "", "failure_detail": ""}
        now = timezone.now()
        with transaction.atomic():
            values |= {"key": self.paying_key(actor), "started_by": actor, "started_at": self.started_at or now, "asking_since": now}
            rows = type(self).objects.filter(pk=self.pk).exclude(state__in=[self.State.DONE, self.State.CANCELLED])
            if not rows.update(**values):
                raise ValueError("This run has ended a moment ago; look at its page again.")
            # A run that waits for its endpoint need not wait any longer; one that is worked on keeps its worker.
            type(self).objects.filter(pk=self.pk, lease_token__isnull=True).update(lease_until=None)
            AuditEntry.record(self.study.phase.challenge, actor, "judge.start", self, study=self.study.slug, budget=budget, pays=self.pays)
            worker_notify.after_commit("judges")
        self.refresh_from_db()

    def paying_key(self, actor: User | None) -> JudgeKey | None:
        """The organizer's key that pays if `actor` starts the run; None where the service's own does. ValueError where there is none."""
        if self.pays == self.Payer.SERVICE:
            return None
        of_challenge = self.pays == self.Payer.CHALLENGE
        owner = self.study.phase.challenge if of_challenge else actor
        key = JudgeKey.of(owner) if owner is not None else None
        if key is None:
            whose = "The challenge's own key" if of_challenge else "Your own key"
            raise ValueError(f"{whose} is to pay for this run, and none is put in; put one in, or plan a run that the service's key pays.")
        return key

    def pause(self, actor: User | None) -> None:
        """Ask nothing more for now; what is on its way is still kept."""
        self._stop(actor, self.State.PAUSED, "judge.pause")

    def cancel(self, actor: User | None) -> None:
        """Ask nothing more, ever; the answers stay."""
        self._stop(actor, self.State.CANCELLED, "judge.cancel")

    def _stop(self, actor: User | None, state: str, act: str) -> None:
        stoppable = [self.State.ASKING, self.State.PAUSED, self.State.SPENT, self.State.FAILED, self.State.PLANNED]
        with transaction.atomic():
            rows = type(self).objects.filter(pk=self.pk, state__in=stoppable)
            if rows.update(state=state, finished_at=timezone.now()):
                # Nobody has it, or whoever has it gives it back with its scores; else a worker is to work them out.
                type(self).objects.filter(pk=self.pk, lease_token__isnull=True).update(lease_until=None)
                worker_notify.after_commit("judges")
                AuditEntry.record(self.study.phase.challenge, actor, act, self, study=self.study.slug)
        self.refresh_from_db()

    def remove(self, actor: User | None) -> None:
        """Delete the run with its answers and its rater; what it cost stays counted in budgets. ValueError where another is placed by
        it."""
        if self.newcomers.exists():
            raise ValueError("Other runs are placed among this one's scores; remove those first.")
        with transaction.atomic():
            AuditEntry.record(self.study.phase.challenge, actor, "judge.remove", self, study=self.study.slug, answers=self.n_answered)
            self.rater.delete()

    # --- what a worker does, under the lease

    def reserve(self, amount: Decimal | None) -> Reservation | None:
        """Count a request at the most that it can cost, before it is sent; `amount` is None where prices are not known.

        Call it before sending anything. None: the lease was lost, or the run was stopped, and nothing may be sent. Unpaid, in a sentence,
        where the request does not fit into the run's own limits or into a budget of the month.
        """
        month = month_of(timezone.now())
        with transaction.atomic():
            run = self.under_lease().select_for_update().filter(state=self.State.ASKING).first()
            if run is None or (run.pays != self.Payer.SERVICE and run.key_id is None):
                return None
            if run.sent >= run.budget:
                raise Unpaid(f"The {run.budget:,} requests of this run are used. Give it a larger budget to continue.")
            budgets: list[JudgeBudget] = []
            if run.pays == self.Payer.SERVICE:
                owners = [self.study.phase.challenge, *([run.started_by] if run.started_by is not None else [])]
                budgets = JudgeBudget.locked(owners, month)
            if amount is None and (run.most_cost is not None or any(one.cap is not None for one in budgets)):
                raise Unpaid(UNPRICED)
            least = amount or Decimal(0)
            if run.most_cost is not None and run.counted + least > run.most_cost:
                raise Unpaid(
                    f"The next request may cost up to {money(least)}, and {money(run.most_cost - run.counted)} is left of the "
                    f"{money(run.most_cost)} that this run may cost; plan a new one."
                )
            for one in budgets:
                one.reserve(least)
            self.under_lease().update(sent=run.sent + 1, reserved=run.reserved + least)
        self.sent, self.reserved, self.cost = run.sent + 1, run.reserved + least, run.cost
        return Reservation(least, month, tuple(one.pk for one in budgets))

    def give_back(self, reservation: Reservation) -> None:
        """Count a request no longer: the endpoint did not take it, so it has cost nothing."""
        with transaction.atomic():
            run = self.under_lease().select_for_update().first()
            if run is None:
                return
            JudgeBudget.settle(reservation, Decimal(0))
            self.under_lease().update(sent=run.sent - 1, reserved=run.reserved - reservation.amount)
        self.sent, self.reserved = run.sent - 1, run.reserved - reservation.amount

    def keep(
        self,
        answer: JudgeAnswer,
        values: dict[str, Any],
        counts: dict[str, int],
        paid: Reservation | None = None,
        cost: Decimal | None = None,
    ) -> bool:
        """Write what came of a question together with the run's counts; False where the lease was lost, and then nothing is written.

        `cost` takes the place of what was `paid` beforehand; where it is None, nobody knows it, and the reserve stays counted. A run that
        was paused meanwhile keeps the answer all the same: it has been paid for.
        """
        with transaction.atomic():
            run = self.under_lease().select_for_update().first()
            if run is None:
                return False
            settled: dict[str, Any] = {}
            if paid is not None and cost is not None:
                settled = {"cost": run.cost + cost, "reserved": run.reserved - paid.amount}
                JudgeBudget.settle(paid, cost)
            JudgeAnswer.objects.filter(pk=answer.pk).update(**values)
            self.under_lease().update(**{name: F(name) + n for name, n in counts.items()}, **settled, fruitless=0)
        for name, value in values.items():
            setattr(answer, name, value)
        for name, n in counts.items():
            setattr(self, name, getattr(self, name) + n)
        for name, value in settled.items():
            setattr(self, name, value)
        return True

    def note_errors(self, errors: int, lost: int, sentence: str) -> None:
        """Count requests that failed, and show why the last one did."""
        values = {"last_error": sentence[:400], "last_error_at": timezone.now()} if sentence else {}
        self.under_lease().update(n_errors=F("n_errors") + errors, n_lost=F("n_lost") + lost, **values)

    def is_wanted(self) -> bool:
        """Renew the lease; True if asking goes on: nobody has stopped the run."""
        return self.heartbeat() and self.under_lease().filter(state=self.State.ASKING).exists()

    def release_lease(self, state: str | None = None, why: Why | None = None, detail: str = "", **values: Any) -> bool:
        """Give the run back, and say `why` if something failed; with a state, it ends there unless somebody has stopped it otherwise."""
        free: dict[str, Any] = {**self.UNHELD, "attempts": 0, "losses": 0, "lost": []} | values
        free |= self.failed_by(why, detail) if why is not None else {}
        if state is None:
            return bool(self.under_lease().update(**free))
        ended = self.under_lease().filter(state=self.State.ASKING).update(state=state, finished_at=timezone.now(), **free)
        return bool(ended or self.under_lease().update(**free))

    def give_up(self, why: Why, detail: str) -> None:
        self.release_lease(self.State.FAILED, why, detail, losses=F("losses"), lost=F("lost"))

    def give_up_or_retry(self, why: Why, detail: str, final: bool = False) -> None:
        """A turn that broke down is one in which nothing was answered."""
        self.put_back(why, FIRST_PAUSE, detail)

    @staticmethod
    def stopped_by(said: object) -> Why:
        """Reason why a run stopped, in the words of its endpoint or its budget."""
        return Why(Reason.OTHER, note=str(said))

    def put_back(self, why: Why, seconds: float, detail: str = "") -> None:
        """Nothing was answered this time: try again later, or fail after several such turns."""
        fruitless, again_at = self.fruitless + 1, database_clock.now() + timedelta(seconds=seconds)
        if fruitless >= MAX_FRUITLESS:
            self.release_lease(self.State.FAILED, why, detail, fruitless=fruitless)
        else:
            self.release_lease(None, why, detail, fruitless=fruitless, lease_until=again_at)

    @property
    def questions(self) -> list[Row]:
        """The plan's kinds of question."""
        return [Row(**row | {"criteria": tuple(row["criteria"])}) for row in self.rows]

    @property
    def left(self) -> int:
        return self.n_planned - self.n_answered - self.n_failed

    @property
    def counted(self) -> Decimal:
        """Amount that counts against limits: known costs, and requests of which none is known at the most that they can have cost."""
        return self.cost + self.reserved

    @property
    def n_read(self) -> int:
        """Answered requests with a text that could be read."""
        return self.requests - self.n_refused - self.n_unread

    def seconds_left(self) -> float | None:
        """Seconds that the rest will take, by the last questions answered since the run was started last; None before a few were."""
        if self.state != self.State.ASKING or self.asking_since is None:
            return None
        answered = self.answers.filter(answered_at__gte=self.asking_since).exclude(state=JudgeAnswer.State.WAITING)
        times = list(answered.order_by("-answered_at").values_list("answered_at", flat=True)[: PACE_OF + 1])
        if len(times) <= MIN_PACE_OF:
            return None
        # From the first of them to now, so that the estimate grows while nothing comes.
        return self.left * (timezone.now() - times[-1]).total_seconds() / (len(times) - 1)

    @property
    def is_for_display_only(self) -> bool:
        """A wireframe judge was found hardly better than chance: it is shown beside people and ranks nothing."""
        return self.form == self.Form.WIREFRAMES


class Said(TypedDict):
    """A text of a judge as it came, and its verdicts in the order of the row's criteria; None where they could not be read."""

    text: str
    verdicts: Sequence[int] | None
    refused: bool
    cut: bool


class JudgeAnswer(models.Model):
    """One planned question, and what came of it: `said` holds every text, a `Said`. The judge is never told which method is which."""

    class State(TextChoices):
        WAITING = "waiting", "To be asked"
        ANSWERED = "answered", "Answered"
        FAILED = "failed", "No answer"

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="answers")
    number = models.PositiveIntegerField()
    row = models.PositiveSmallIntegerField()
    sample = models.CharField(max_length=240)
    left = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    repeats = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    said = models.JSONField(default=list)
    in_round = models.PositiveSmallIntegerField(default=0)  # texts of the round that is under way
    rounds = models.PositiveSmallIntegerField(default=0)  # that ended without a text that could be read
    faults = models.PositiveSmallIntegerField(default=0)  # times that the endpoint failed at it
    n_unparsed = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    images = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = MoneyField(null=True)
    seconds = models.FloatField(default=0.0)
    failure = models.CharField(max_length=400, blank=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="judge_answer_once"),
            models.CheckConstraint(condition=~Q(left=F("right")), name="judge_answer_between_two"),
        ]
        indexes = [models.Index(fields=["run", "state", "faults", "number"])]

    def __str__(self) -> str:
        return f"{self.number} of {self.run_id} ({self.state})"

    @property
    def verdicts(self) -> list[list[int]]:
        """Verdicts of every text that could be read."""
        return [one["verdicts"] for one in self.said if one["verdicts"] is not None]
