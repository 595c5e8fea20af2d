"""Campaigns of human judgement: who compared which entries on which samples, and what follows from it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from django.db import IntegrityError, models, transaction
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from evaluation.models import EvaluationBatch, Reference, acceptance_test
from leaderboard.models.entry import StudyEntry
from leaderboard.models.question import Opinion, StudyVote
from leaderboard.models.rater import Rater
from leaderboard.records.unit import Unit
from leaderboard.stats.labels import DAMAGED, LabelsError
from leaderboard.stats.mos_table import HIGHEST, LOWEST, USUAL, Rating, Scale
from leaderboard.stats.screening import DEFAULTS
from leaderboard.stats.votes import VERSION, Vote, moment, number_cell, order_number, stamp
from leaderboard.studies.judge.instructions import KEYS
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.errors import Refused
from submissions.format_time import in_words
from submissions.formats.errors import headings_text
from submissions.models import AuditEntry, Phase, Submission, User
from submissions.models.user import hash_secret

MAX_VOTES = 500_000
BUNDLE = 1000


class StudyQuerySet(models.QuerySet):
    def begun(self) -> Self:
        """Studies in which somebody may judge, or might have."""
        return self.exclude(state=Study.State.DRAFT)

    def shown(self) -> Self:
        """Studies that all may see who may see the board: one that has not begun is its organizers' alone."""
        return self.begun().filter(is_public=True)

    def asking_everybody(self, now: datetime | None = None) -> list[Study]:
        """Studies in which everybody who comes by this site may judge at `now`, newest first."""
        rows = self.filter(access=Study.Access.OPEN, state=Study.State.OPEN, key__isnull=False).order_by("-created_at", "-pk")
        return [study for study in rows if study.asks_everybody(now)]

    def shown_to(self, organizes: bool) -> Self:
        """Studies that somebody who may see the board may know of."""
        return self if organizes else self.shown()


class Study(models.Model):
    """A campaign on the entries of a phase: pairs to choose from, or single entries to score.

    Votes are stored as they were shown. `revision` counts what changed in them; an analysis says
    which revision it is of. `simulated` labels everything that is shown of it. A study whose answers
    were brought from elsewhere is closed from the start and has no `key`, the opaque address of its rating pages.
    `criteria` are asked in their order: {"key", "title", "text"} each.
    """

    class Kind(TextChoices):
        PAIRS = "pairs", "Pairs: which of two entries is better"
        OPINIONS = "opinions", "Opinion scores: one entry at a time"

    class State(TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Plan(TextChoices):
        EXHAUSTIVE = "exhaustive", "Everything, in random order"
        BALANCED = "balanced", "Balanced: every entry and pair equally often"
        INFORMATIVE = "informative", "Informative: pairs whose outcome is least certain"
        FIRST = "first", "First place: the first against all that are not yet told from it"

    class Access(TextChoices):
        LISTED = "listed", "Accounts on the list"
        INVITED = "invited", "Whoever has an invitation link"
        OPEN = "open", "Everybody"

    class RaterSkill(TextChoices):  # the names of `leaderboard.stats.judge_substitution.TOLERATED`
        CROWD = "crowd", "A crowd"
        SKILLED = "skilled", "Skilled people"
        EXPERT = "expert", "Experts"

    class Covariate(TextChoices):  # at most three in one study
        SIZE = "size", "Size"
        TEXTURE = "texture", "Texture"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="studies")
    slug = models.SlugField(max_length=63)
    title = models.CharField(max_length=120)
    question = models.CharField(max_length=400, help_text="What raters were asked, in a sentence.")
    source = models.CharField(max_length=400, blank=True, help_text="Who collected the answers, where they came from elsewhere.")
    simulated = models.BooleanField(default=False)
    is_public = models.BooleanField(default=False, help_text="Shown to all who may see the board.")
    runs_other_programs = models.BooleanField(default=False, help_text="Other challenges' metric programs may read its hidden reference.")
    revision = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    kind = models.CharField(max_length=8, choices=Kind, default=Kind.PAIRS)
    # The ends of the scale of opinion scores; another one than 1 to 5 where they were brought from elsewhere.
    lowest_score = models.FloatField(default=LOWEST)
    highest_score = models.FloatField(default=HIGHEST)
    state = models.CharField(max_length=6, choices=State, default=State.CLOSED)
    key = models.CharField(max_length=40, unique=True, null=True, blank=True, editable=False)
    criteria = models.JSONField(default=list, blank=True)
    plan = models.CharField(max_length=12, choices=Plan, default=Plan.EXHAUSTIVE)
    questions_per_rater = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: all of them.")
    repeat_share = models.FloatField(default=0.05, help_text="Questions asked again, half of them with their sides turned.")
    gold_share = models.FloatField(default=0.0, help_text="At least this share of the questions is on pairs of known order.")
    common_share = models.FloatField(default=0.1, help_text="This share of a rater's questions is the same for all of them.")
    answers_per_question = models.PositiveSmallIntegerField(
        default=2, help_text="A question that fewer raters were asked comes before one that nobody was."
    )
    break_every = models.PositiveSmallIntegerField(default=350, help_text="A break is suggested after so many answers.")
    rater_skill = models.CharField(
        max_length=8,
        choices=RaterSkill,
        default=RaterSkill.CROWD,
        help_text="How much worse than such a rater a judge model may be: .1, .15 or .2. Fixed once the study has opened.",
    )
    covariates = models.JSONField(default=list, blank=True)  # of `Covariate`; fixed once the study has opened
    # When it ends by itself: at so many looks at first place, the last of them once so many answers count. Fixed before it opens.
    planned_looks = models.PositiveSmallIntegerField(default=0)
    planned_answers = models.PositiveIntegerField(null=True, blank=True)
    # Asked before the questions that count, and fixed once the study has opened; see `leaderboard.studies.live.practice`.
    practice_questions = models.PositiveSmallIntegerField(default=0)
    shuffles_criteria = models.BooleanField(default=False, help_text="Each rater is asked the criteria in an order of their own.")
    seed = models.PositiveIntegerField(default=0)
    access = models.CharField(max_length=8, choices=Access, default=Access.INVITED)
    most_raters = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    groups = models.JSONField(default=list, blank=True)  # names that raters choose from where nobody chose for them
    group_quotas = models.JSONField(default=dict, blank=True)  # the most raters of a group, by its name; no limit of one that is not here
    refuses_raters_of = models.JSONField(default=list, blank=True)  # other studies of the challenge, as PHASE/STUDY
    setup_questions = models.JSONField(default=list, blank=True)  # keys of `leaderboard.studies.live.rater_setup.QUESTIONS`, asked once
    min_width = models.PositiveIntegerField(null=True, blank=True)  # of a rater's window, in pixels of CSS
    consent = models.TextField(blank=True, help_text="Markdown. What raters agree to before they begin.")
    # Names of parameters of the address that raters of a panel come by; the first says who somebody is, and lets them in once.
    panel_parameters = models.JSONField(default=list, blank=True)
    completion = models.CharField(
        max_length=300, blank=True, help_text="An address that begins with https:// or a code, for raters who have answered everything."
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    # Its design when it opened first, see `leaderboard.studies.live.design`, the SHA-256 of that text, and when that was.
    design_text = models.TextField(blank=True, editable=False)
    design_hash = models.CharField(max_length=64, blank=True, editable=False)
    registered_at = models.DateTimeField(null=True, editable=False)
    reference = models.ForeignKey(Reference, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")  # what raters see
    from_results = models.BooleanField(default=False, editable=False)  # its means come with the phase's imported figures
    # Rules that leave raters out, see `leaderboard.stats.screening`; of a study that people rate here fixed once it has opened.
    screening = models.JSONField(default=dict, blank=True)
    counted = models.CharField(max_length=60, blank=True, editable=False)  # the votes that `revision` is of
    counted_at = models.DateTimeField(null=True, editable=False)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["phase", "slug"], name="study_slug_once")]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return f"{self.phase} {self.slug}"

    @classmethod
    def import_votes(
        cls, phase: Phase, actor: User | None, votes: Sequence[Vote], labels: Mapping[str, str] | None = None, **values: Any
    ) -> Self:
        """A study of answers that were collected elsewhere, in one transaction.

        A method that is called as exactly one of the phase's scored entries stands for that entry; others are names only.
        `labels` says which methods are no entries of teams or baselines, see `leaderboard.stats.labels`. Raises ValueError, in
        a sentence, for a slug that is taken or too many votes, and `LabelsError` for labels of none of the methods.
        """
        with transaction.atomic():
            study = cls.bring(phase, actor, "votes", len(votes), **values)
            entries = study.store_entries({vote.left for vote in votes} | {vote.right for vote in votes}, labels or {})
            raters = study._store_raters(votes)
            StudyVote.objects.bulk_create(
                (
                    StudyVote(
                        study=study,
                        rater=raters[vote.rater],
                        left=entries[vote.left],
                        right=entries[vote.right],
                        choice=vote.choice,
                        swapped=vote.swapped,
                        repeat_of=vote.repeat_of,
                        is_gold=vote.is_gold,
                        **_given(vote),
                    )
                    for vote in votes
                ),
                batch_size=BUNDLE,
            )
        return study

    @classmethod
    def import_ratings(
        cls,
        phase: Phase,
        actor: User | None,
        ratings: Sequence[Rating],
        labels: Mapping[str, str] | None = None,
        scale: Scale = USUAL,
        **values: Any,
    ) -> Self:
        """As `import_votes`, of opinion scores on that scale; from 1 to 5 they are whole numbers."""
        if scale == USUAL and any(not rating.score.is_integer() for rating in ratings):
            raise ValueError("A score is not a whole number; each is what one rater gave, from 1 to 5.")
        values |= {"kind": cls.Kind.OPINIONS, "lowest_score": scale[0], "highest_score": scale[1]}
        with transaction.atomic():
            study = cls.bring(phase, actor, "scores", len(ratings), **values)
            entries = study.store_entries({rating.entry for rating in ratings}, labels or {})
            raters = study._store_raters(ratings)
            Opinion.objects.bulk_create(
                (
                    Opinion(study=study, rater=raters[one.rater], entry=entries[one.entry], score=one.score, **_given(one))
                    for one in ratings
                ),
                batch_size=BUNDLE,
            )
        return study

    @classmethod
    def bring(cls, phase: Phase, actor: User | None, what: str, n: int, **values: Any) -> Self:
        """The study itself, before its `n` answers; ValueError as above. Call it in the transaction that stores them."""
        if n > MAX_VOTES:
            raise ValueError(f"The file holds {n:,} {what}; a study takes at most {MAX_VOTES:,}: split it.")
        try:
            with transaction.atomic():
                study = cls.objects.create(phase=phase, revision=1, **values)
        except IntegrityError:  # also where another one comes at this very moment
            raise ValueError(f"There is a study {values['slug']!r} in this phase already; choose another address.") from None
        settings = {"public": study.is_public, "other_programs": study.runs_other_programs}
        AuditEntry.record(phase.challenge, actor, "study.import", study, phase=phase.slug, **settings, **{what: n})
        worker_notify.after_commit("studies")
        return study

    @staticmethod
    def free_slug(phase: Phase, wanted: str) -> str:
        """A slug that no study of the phase has: the one that is `wanted`, with a number if it is taken."""
        taken = set(phase.studies.values_list("slug", flat=True))
        return next(name for name in (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)

    def store_entries(self, methods: Collection[str], labels: Mapping[str, str]) -> dict[str, StudyEntry]:
        if labels and not set(methods) & set(labels):
            raise LabelsError(
                f"The labels name none of the methods; these are {headings_text(sorted(methods))}: write them as they are there."
            )
        by_name: dict[str, list[Submission]] = {}
        for submission in Submission.objects.filter(phase=self.phase).ranked().only("pk", "method_name"):
            by_name.setdefault(unicodedata.normalize("NFC", submission.method_name), []).append(submission)
        known = {name: found[0] for name, found in by_name.items() if len(found) == 1}  # a name that two have is nobody's
        damage = {method: label for method, label in labels.items() if label in DAMAGED}
        rows = [StudyEntry(study=self, label=name, submission=known.get(name), artifact=damage.get(name, "")) for name in sorted(methods)]
        return {row.label: row for row in StudyEntry.objects.bulk_create(rows)}

    def _store_raters(self, answers: Sequence[Vote | Rating]) -> dict[str, Rater]:
        """Rows of the raters of these answers, by the names in the file, which are not kept: raters are numbered as they first appear, so
        that their names sort in this order. Group and link of each are from their first answer. Links are numbered too, since a link
        may be called by the person whom it was for."""
        first: dict[str, Vote | Rating] = {}
        for one in answers:
            first.setdefault(one.rater, one)
        digits = len(str(len(first)))
        links = {name: f"link {n}" for n, name in enumerate(dict.fromkeys(one.invitation for one in first.values() if one.invitation), 1)}
        rows = (
            Rater(study=self, name=f"rater {n:0{digits}}", group=one.group, came_by=links.get(one.invitation, ""))
            for n, one in enumerate(first.values(), start=1)
        )
        return dict(zip(first, Rater.objects.bulk_create(rows), strict=True))

    def votes(self, criterion: str | None = None, counted: bool = False) -> Iterator[Vote]:
        """The votes as they were given, in their order; if `counted`, only votes of raters who count."""
        columns = ("rater__name", "left__label", "right__label", "choice", "sample", "rater__group", "criterion")
        more = ("swapped", "seconds", "repeat_of", "is_gold", *CONDITIONS)
        rows = _chosen(self.study_votes, criterion, counted)
        for rater, left, right, choice, sample, group, about, *rest in rows.values_list(*columns, *more).iterator():
            swapped, seconds, repeat, gold, *given = rest
            known = "1" if gold else ""
            yield Vote(rater, left, right, choice, sample, group, about, self.slug, swapped, seconds, repeat, known, **conditions(*given))

    def ratings(self, criterion: str | None = None, counted: bool = False) -> Iterator[Rating]:
        """The opinion scores as they were given, in their order; `counted` as for votes."""
        columns = ("rater__name", "entry__label", "score", "sample", "rater__group", "criterion", "seconds", *CONDITIONS)
        rows = _chosen(self.opinions, criterion, counted)
        for rater, entry, score, sample, group, about, seconds, *given in rows.values_list(*columns).iterator():
            yield Rating(rater, entry, score, sample, group, about, self.slug, seconds, **conditions(*given))

    @property
    def damaged(self) -> frozenset[str]:
        """Labels of corruptions, the empty entry and the reference: figures stand first for the others."""
        return frozenset(entry.label for entry in self.entries.all() if entry.damage)

    def labels(self) -> dict[str, str]:
        """Label of each entry of the study, as in `leaderboard.stats.labels`; an entry without a label counts as a team's."""
        rows = self.entries.order_by("label").select_related("submission")
        return {row.label: row.damage or ("baseline" if row.submission and row.submission.is_baseline else "team") for row in rows}

    @property
    def answers(self) -> Any:
        """Manager of its answers: opinion scores, or votes."""
        return self.opinions if self.kind == self.Kind.OPINIONS else self.study_votes

    def judged_criteria(self) -> set[str]:
        """The criteria that there is anything to analyse on."""
        if self.from_results:
            return {one["key"] for one in self.criteria}
        return set(self.answers.order_by().values_list("criterion", flat=True).distinct())

    def publish(self, actor: User, is_public: bool) -> None:
        """Show the study, or stop showing it. `Refused` while a challenge of metrics is decided by what it hides."""
        if is_public and self.metric_challenges.filter(closes_at__gt=timezone.now()).exists():
            raise Refused("A challenge of metrics runs on this study; its figures stay hidden until that has ended.", "decides_a_challenge")
        with transaction.atomic():
            before, self.is_public = self.is_public, is_public
            self.save(update_fields=["is_public"])
            AuditEntry.record(self.phase.challenge, actor, "study.publish", self, before={"public": before}, after={"public": is_public})
            self.phase.touch_board()
            worker_notify.after_commit("boards")

    def admit_programs(self, actor: User, admits: bool) -> None:
        """Let metric programs of other challenges run on the study's hidden reference, or no longer: then their values are removed."""
        with transaction.atomic():
            before = self.locked().runs_other_programs
            self.runs_other_programs = admits
            if before == admits:
                return
            self.save(update_fields=["runs_other_programs"])
            removed, _ = self.program_values.forbidden().delete()
            AuditEntry.record(
                self.phase.challenge, actor, "study.programs", self, before={"others": before}, after={"others": admits}, removed=removed
            )
            worker_notify.after_commit("studies")

    @property
    def chooses_pairs(self) -> bool:
        """True if its pairs were chosen by earlier answers: bare counts of wins then say more of the choice than of people."""
        return self.key is not None and self.kind == self.Kind.PAIRS and self.plan in (self.Plan.INFORMATIVE, self.Plan.FIRST)

    @property
    def can_screen(self) -> bool:
        """True if its raters can be compared with each other: there are single opinion scores."""
        return self.kind == self.Kind.OPINIONS and not self.from_results

    def screen(self, actor: User | None, screens: bool) -> None:
        """Leave out raters whose scores hardly agree with the others', or count all raters; the study is computed again.

        For a study whose scores were brought from elsewhere. The rules of one that people rate here are registered with its design:
        `Refused`, as for votes on pairs."""
        if not self.can_screen:
            raise Refused("Only raters of opinion scores can be screened. You can leave out raters of pairs one by one.", "not_screened")
        if self.key is not None:
            raise Refused(
                "The rules of screening are fixed when a study opens. You can still leave out single raters, which the study lists. For a "
                "draft, set the rules under Settings.",
                "opened",
            )
        with transaction.atomic():
            before, after = self.locked().screening, {"others": dict(DEFAULTS["others"])} if screens else {}
            if before == after:
                return
            self.screening = after
            self.save(update_fields=["screening"])
            AuditEntry.record(self.phase.challenge, actor, "study.screen", self, before={"screens": before}, after={"screens": after})
            worker_notify.after_commit("studies")

    def remove(self, actor: User) -> None:
        """Delete it with all its answers; the audit log keeps how many there were."""
        with transaction.atomic():
            judged = {"votes": self.study_votes.count(), "scores": self.opinions.count()}
            AuditEntry.record(self.phase.challenge, actor, "study.remove", self, title=self.title, **judged)
            self.delete()
            self.phase.touch_board()
            worker_notify.after_commit("boards")

    def closed_sentence(self, now: datetime | None = None) -> str:
        """Reason why no answer is taken at `now`; empty where answers are."""
        now = now or timezone.now()
        if self.state == self.State.DRAFT or (self.opens_at is not None and now < self.opens_at):
            when = f"on {in_words(self.opens_at, self.phase.time_zone)}" if self.opens_at else "later"
            return f"This study has not begun yet; come back {when}."
        if self.state == self.State.CLOSED or (self.closes_at is not None and now >= self.closes_at):
            return "This study is closed; what you answered is kept. Thank you."
        return ""

    def asks_everybody(self, now: datetime | None = None) -> bool:
        """True if every visitor of this site may rate at `now`. If the study has a panel, only people sent by it may."""
        is_open = self.access == self.Access.OPEN and self.state == self.State.OPEN and self.key is not None
        return is_open and not self.panel_parameters and not self.closed_sentence(now)

    @property
    def scale(self) -> Scale:
        """The two ends of the scale of its opinion scores."""
        return self.lowest_score, self.highest_score

    @property
    def main_criterion(self) -> str:
        """The criterion that leads: the one called overall, else the first that is asked."""
        keys = [criterion["key"] for criterion in self.criteria]
        return "overall" if "overall" in keys or not keys else keys[0]

    def locked(self) -> Self:
        """The row as it is now, locked until the transaction ends. Lock or change a rater only after it: in two orders they would wait for
        each other. Answers, which refer to the study, come meanwhile."""
        rows = Study.objects.select_for_update(of=("self",), no_key=True)
        return rows.select_related("phase__challenge").get(pk=self.pk)

    def touch_votes(self) -> None:
        """Note that the counting votes have changed; everything that depends on them is computed again."""
        Study.objects.filter(pk=self.pk).update(revision=F("revision") + 1)
        worker_notify.after_commit("studies")

    def withdrawn(self, since: datetime | None = None) -> int:
        """The number of answers that raters took along when they left: all, or those since a moment."""
        left = self.raters.filter(left_at__gt=since) if since else self.raters.all()
        return left.aggregate(n=Sum("withdrawn"))["n"] or 0

    @property
    def batch(self) -> EvaluationBatch | None:
        """The batch whose values answer the study's questions: the current one, unless an earlier one has scores of more of the study's
        entries. Entries that are not stored any more cannot be scored again, so a study keeps their values."""
        current = EvaluationBatch.current(self.phase)
        if current is None or not self.phase.is_measured_here:
            return current
        batches = self.phase.batches.filter(state__in=[EvaluationBatch.State.CURRENT, EvaluationBatch.State.RETIRED], results=None)
        entries = self.entries.filter(submission__isnull=False).values("submission")
        n_scored = Count("evaluations", filter=Q(evaluations__state="done", evaluations__submission__in=entries))
        counted = dict(batches.annotate(n=n_scored).order_by("-n", "-switched_at", "-pk").values_list("pk", "n"))
        if not counted or counted.get(current.pk) == max(counted.values()):
            return current
        return batches.select_related("reference").get(pk=next(iter(counted)))

    @cached_property
    def noun(self) -> str:
        """Its challenge's noun for what people are asked about and intervals are over: an item, or a group of items."""
        challenge, batch = self.phase.challenge, self.batch
        return Unit.of(batch.groups, challenge).noun if batch else challenge.item_noun

    @property
    def stamp(self) -> str:
        """Answers, values and rules that a figure of the study as it is now is of, as a text; judges aside."""
        return f"{self.revision}/{self.scored_under}/{VERSION}{'s' if self.screening else ''}"

    @property
    def scored_under(self) -> str:
        """The scores that answer the study's questions: their batch, and how many of the study's entries have them; empty where
        no entry of the phase takes part."""
        entries = self.entries.filter(submission__isnull=False).values("submission")
        batch = self.batch if entries.exists() else None
        if batch is None:
            return ""
        scored = f"{batch.pk}x{batch.evaluations.filter(state='done', submission__in=entries).count()}"
        # Columns that are ranked by some scenes only are compared with people there.
        some = {slug: one.scenes for slug, one in sorted(acceptance_test.standings(batch).items()) if one.scenes is not None}
        return f"{scored}t{hash_secret(json.dumps(some))[:12]}" if some else scored

    def in_order(self, criteria: Iterable[str]) -> list[str]:
        """Keys of criteria as everything lists them: those that the study asks in its order, then those that judge models are asked in
        theirs, then others by name. Objects of JSON come from the database in no order that means anything."""
        asked = [one["key"] for one in self.criteria]
        known = {name: n for n, name in enumerate(dict.fromkeys([*asked, *KEYS]))}
        return sorted(criteria, key=lambda name: (known.get(name, len(known)), name))

    def leading(self, criteria: Iterable[str]) -> str:
        """The leading one of some criteria, at least one: that called overall, else the first that is asked."""
        names = self.in_order(criteria)
        return "overall" if "overall" in names else names[0]

    def hidden_labels(self, hidden_ids: Collection[int]) -> set[str]:
        """Labels of these entries in the study."""
        return {entry.label for entry in self.entries.all() if entry.submission_id in hidden_ids} if hidden_ids else set()


# Columns of an answer that say under which conditions it was given, as `conditions` takes them.
CONDITIONS = ("order", "given_at", "step", "viewport_width", "viewport_height", "device", "rater__came_by")


def conditions(
    order: int | None, at: datetime | None, step: int | None, width: int | None, height: int | None, device: str, came_by: str
) -> dict[str, str]:
    """These columns as cells of a vote or a score; empty where nothing is known."""
    return {
        "order": number_cell(order),
        "at": stamp(at),
        "step": number_cell(step),
        "viewport_width": number_cell(width),
        "viewport_height": number_cell(height),
        "device": device,
        "invitation": came_by,
    }


def _given(answer: Vote | Rating) -> dict[str, Any]:
    """Columns that votes and opinion scores have in common, of an answer in a file; its rater has a row of its own."""
    return {
        "sample": answer.sample,
        "criterion": answer.criterion,
        "seconds": answer.seconds,
        "order": order_number(answer.order),
        "given_at": moment(answer.at),
        "step": order_number(answer.step),
        "viewport_width": order_number(answer.viewport_width),
        "viewport_height": order_number(answer.viewport_height),
        "device": answer.device,
    }


def _chosen(answers: models.Manager, criterion: str | None, counted: bool) -> models.QuerySet:
    """Answers on a criterion, or on all of them; if `counted`, only answers of raters who count."""
    rows = answers.order_by("id")
    if counted:
        rows = rows.filter(rater__is_counted=True)
    return rows if criterion is None else rows.filter(criterion=criterion)
