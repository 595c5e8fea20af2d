"""Campaigns of human judgement: who compared which entries on which samples, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.stats import study as analysis
from leaderboard.stats.votes import Vote
from submissions import wake
from submissions.leases import Leased, LeasedQuerySet
from submissions.models import AuditEntry, Phase, Status, Submission, User

MOST_VOTES = 500_000
BUNDLE = 1000


class Study(models.Model):
    """A campaign on the entries of a phase.

    Votes are stored as they were shown. `revision` counts what changed in them; an analysis says
    which revision it is of. `made_up` labels everything that is shown of it.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="studies")
    slug = models.SlugField(max_length=63)
    title = models.CharField(max_length=120)
    question = models.CharField(max_length=400, help_text="What raters were asked, in a sentence.")
    source = models.CharField(max_length=400, blank=True, help_text="Who collected the judgements, where they came from elsewhere.")
    made_up = models.BooleanField(default=False)
    is_public = models.BooleanField(default=False, help_text="Shown to all who may see the board.")
    revision = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["phase", "slug"], name="study_slug_once")]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return f"{self.phase} {self.slug}"

    @classmethod
    def import_votes(cls, phase: Phase, actor: User | None, votes: Sequence[Vote], **values: Any) -> Self:
        """A study of judgements that were collected elsewhere, in one transaction.

        A method that is called as exactly one of the phase's scored entries stands for that entry;
        others are labels only. Raises ValueError, in a sentence, for a slug that is taken or too many votes.
        """
        if len(votes) > MOST_VOTES:
            raise ValueError(f"The file holds {len(votes):,} votes; a study takes at most {MOST_VOTES:,}: split it.")
        with transaction.atomic():
            if cls.objects.filter(phase=phase, slug=values["slug"]).exists():
                raise ValueError(f"There is a study {values['slug']!r} in this phase already; choose another address.")
            study = cls.objects.create(phase=phase, revision=1, **values)
            study._store(votes)
            AuditEntry.record(phase.challenge, actor, "study.import", study, phase=phase.slug, votes=len(votes), public=study.is_public)
            wake.after_commit("studies")
        return study

    def _store(self, votes: Sequence[Vote]) -> None:
        labels = sorted({vote.left for vote in votes} | {vote.right for vote in votes})
        known = _entries_by_name(self.phase)
        rows = [StudyEntry(study=self, label=label, submission=known.get(label)) for label in labels]
        entries = {row.label: row for row in StudyEntry.objects.bulk_create(rows)}
        people = {vote.rater: vote.group for vote in reversed(votes)}
        raters = {row.name: row for row in Rater.objects.bulk_create(Rater(study=self, name=n, group=g) for n, g in sorted(people.items()))}
        StudyVote.objects.bulk_create(
            (
                StudyVote(
                    study=self, rater=raters[vote.rater], sample=vote.sample, left=entries[vote.left], right=entries[vote.right],
                    choice=vote.choice, swapped=vote.swapped, seconds=vote.seconds, repeat_of=vote.repeat_of, criterion=vote.criterion,
                )
                for vote in votes
            ),
            batch_size=BUNDLE,
        )  # fmt: skip

    def votes(self, criterion: str | None = None) -> Iterator[Vote]:
        """The votes as they were given, in their order."""
        rows = self.study_votes.order_by("id")
        if criterion is not None:
            rows = rows.filter(criterion=criterion)
        columns = ("rater__name", "left__label", "right__label", "choice", "sample", "rater__group", "criterion")
        more = ("swapped", "seconds", "repeat_of")
        for rater, left, right, choice, sample, group, about, swapped, seconds, repeat in rows.values_list(*columns, *more).iterator():
            yield Vote(rater, left, right, choice, sample, group, about, self.slug, swapped, seconds, repeat)

    def publish(self, actor: User, is_public: bool) -> None:
        """Show the study, or stop showing it."""
        with transaction.atomic():
            before, self.is_public = self.is_public, is_public
            self.save(update_fields=["is_public"])
            AuditEntry.record(self.phase.challenge, actor, "study.publish", self, before={"public": before}, after={"public": is_public})

    def remove(self, actor: User) -> None:
        """Delete it with all its votes; the audit log keeps how many there were."""
        with transaction.atomic():
            AuditEntry.record(self.phase.challenge, actor, "study.remove", self, votes=self.study_votes.count(), title=self.title)
            self.delete()

    @property
    def scored_under(self) -> int:
        """The batch whose scores answer the study's questions; 0 where no entry of the phase takes part."""
        if not self.entries.filter(submission__isnull=False).exists():
            return 0
        batch = EvaluationBatch.current(self.phase)
        return batch.pk if batch else 0

    @property
    def main_analysis(self) -> StudyAnalysis | None:
        """What boards show of it: the criterion called overall, else the first by name, once it is there."""
        found = {row.criterion: row for row in self.analyses.filter(content__isnull=False)}
        return found.get("overall") or (found[min(found)] if found else None)


class StudyEntry(models.Model):
    """What was compared: a label, and the submission it stands for where it is one of the phase's."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="entries")
    label = models.CharField(max_length=200)
    submission = models.ForeignKey(Submission, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "label"], name="study_entry_once")]

    def __str__(self) -> str:
        return self.label


class Rater(models.Model):
    """Who judged. Names are for organizers; pages show numbers."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="raters")
    name = models.CharField(max_length=120)
    group = models.CharField(max_length=60, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="study_rater_once")]

    def __str__(self) -> str:
        return self.name


class StudyVote(models.Model):
    """One answer, as it was shown: `choice` is left, right or tie of the two entries."""

    class Choice(models.TextChoices):
        LEFT = "left", "Left"
        RIGHT = "right", "Right"
        TIE = "tie", "Equal"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="study_votes")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="votes")
    sample = models.CharField(max_length=240, blank=True)
    left = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    choice = models.CharField(max_length=5, choices=Choice)
    swapped = models.CharField(max_length=8, blank=True)
    seconds = models.FloatField(null=True)
    repeat_of = models.CharField(max_length=40, blank=True)
    criterion = models.CharField(max_length=60, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(left=F("right")), name="study_vote_between_two"),
            models.CheckConstraint(condition=Q(choice__in=["left", "right", "tie"]), name="study_vote_choice"),
        ]
        indexes = [models.Index(fields=["study", "criterion"])]

    def __str__(self) -> str:
        return f"{self.left} {self.choice} {self.right}"


class StudyAnalysisQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        return self.filter(state=StudyAnalysis.State.WAITING).order_by("id")


class StudyAnalysis(Leased):
    """Everything computed of a study's votes on one criterion; the row is the request for it.

    `content` is that of `leaderboard.stats.study.analyse`, of `revision` of the votes and `board` of
    the phase's scores; the old one stays until the new one is there.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Being computed"
        DONE = "done", "Computed"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="analyses")
    criterion = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    wanted = models.CharField(max_length=80)  # what it is to be of: votes, batch of scores, and the code's version
    made_of = models.CharField(max_length=80, blank=True)  # what `content` is of
    content = models.JSONField(null=True)
    failure = models.CharField(max_length=400, blank=True)
    failure_detail = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True)

    objects = StudyAnalysisQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "criterion"], name="study_analysis_once")]
        verbose_name_plural = "study analyses"

    def __str__(self) -> str:
        return f"{self.study} {self.criterion or 'all'} ({self.state})"

    @classmethod
    def request_missing(cls) -> int:
        """Ask for every analysis that is not there, or not of the votes and scores as they are now; how many."""
        asked = 0
        for study in Study.objects.select_related("phase"):
            wanted = f"{study.revision}/{study.scored_under}/{analysis.VERSION}"
            criteria = set(study.study_votes.order_by().values_list("criterion", flat=True).distinct())
            known = {row.criterion: row for row in cls.objects.filter(study=study).defer("content")}
            cls.objects.bulk_create(
                (cls(study=study, criterion=name, wanted=wanted) for name in criteria - set(known)), ignore_conflicts=True
            )
            stale = [row.pk for name, row in known.items() if name in criteria and row.wanted != wanted]
            fresh = {"wanted": wanted, "state": cls.State.WAITING, "attempts": 0, "failure": "", "failure_detail": ""}
            asked += len(criteria - set(known)) + cls.objects.filter(pk__in=stale).unleased().update(
                **fresh, lease_token=None, lease_until=None
            )
            cls.objects.filter(study=study).exclude(criterion__in=criteria).unleased().delete()
        return asked

    def finish(self, content: dict[str, Any]) -> bool:
        """Keep the content, under the current token only; False where that was lost."""
        return bool(
            self.under_lease().filter(state=self.State.WAITING).update(
                state=self.State.DONE, content=content, made_of=self.wanted, failure="", failure_detail="", finished_at=timezone.now(),
                lease_token=None, lease_until=None,
            )
        )  # fmt: skip

    def give_up_or_retry(self, sentence: str, detail: str) -> None:
        """It failed: leave it to the next worker, or fail after the last attempt."""
        values = {"failure": sentence[:400], "failure_detail": detail, "lease_token": None}
        if self.attempts >= settings.MAX_ATTEMPTS:
            self.under_lease().update(state=self.State.FAILED, lease_until=None, finished_at=timezone.now(), **values)
        else:
            self.under_lease().update(lease_until=timezone.now() + timedelta(seconds=self.attempts), **values)


def _entries_by_name(phase: Phase) -> dict[str, Submission]:
    """The phase's scored entries whose name no other one has."""
    found: dict[str, list[Submission]] = {}
    rows: Iterable[Submission] = Submission.objects.filter(phase=phase, status=Status.SCORED, withdrawn_at__isnull=True).only(
        "pk", "method_name"
    )
    for row in rows:
        found.setdefault(row.method_name, []).append(row)
    return {name: rows[0] for name, rows in found.items() if len(rows) == 1}
