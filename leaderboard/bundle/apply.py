"""Make the database what a definition says, in one transaction, and keep each change in the audit log."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from evaluation.models import EvaluationBatch, MetricProgram, Reference, ResultTable, WorkerToken
from leaderboard.bundle.definition import (
    CHALLENGE_FIELDS,
    MANIFEST_FIELDS,
    METRIC_FIELDS,
    PHASE_FIELDS,
    ChallengeDef,
    FileDef,
    MetricDef,
    PageDef,
    PhaseDef,
    ResultsDef,
)
from leaderboard.bundle.plan import Facts, PhaseFacts, Plan, make_plan
from leaderboard.bundle.state import read, reference_definition
from leaderboard.studies import answer_sets
from leaderboard.studies.published_evidence import follow
from submissions import worker_notify
from submissions.errors import Refused
from submissions.models import Announcement, AuditEntry, Challenge, ChallengeFile, Phase, Status, Submission, User
from submissions.storage import stored_files
from submissions.visibility import on_board

VERBS = {"create": "add", "change": "edit", "remove": "remove"}


class PlanChanged(Exception):
    """The challenge changed after the plan was shown; `plan` is what would be done now."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("The challenge has changed meanwhile.")
        self.plan = plan


def plan_for(definition: ChallengeDef) -> Plan:
    """The plan from the database as it is now. `definition.organizers` are user names."""
    challenge = Challenge.objects.filter(slug=definition.slug).first()
    if challenge is None:
        return make_plan(None, definition, Facts())
    return make_plan(read(challenge), definition, facts_of(challenge))


def facts_of(challenge: Challenge) -> Facts:
    now = timezone.now()
    phases = {}
    for phase in challenge.phases.all():
        scored = phase.submissions.filter(status__in=[Status.SCORED, Status.SCORING]).exclude(artifact_key="")
        stored = [reference_definition(row) for row in phase.references.order_by("version")]
        phases[phase.slug] = PhaseFacts(
            entries=phase.submissions.count() if phase.has_teams else 0,
            scored=scored.count(),
            is_live=EvaluationBatch.live(phase).exists(),
            closed=phase.closes_at is not None and phase.closes_at <= now,
            received=tuple(Submission.objects.filter(on_board(phase, now), phase=phase).values_list("received_at", flat=True)),
            versions={(reference.sha256, reference.groups): reference.version for reference in stored if reference.version is not None},
        )
    participants = challenge.participations.exclude(rules_accepted_at=None).count()
    programs = MetricProgram.objects.newest().filter(challenge=challenge, scope=challenge.slug)
    ready = frozenset((row.full_key, row.contents) for row in programs)
    tokens: dict[str, list[str]] = {}
    for token in WorkerToken.objects.live(now).filter(challenge=challenge, created_by__isnull=False).select_related("created_by"):
        tokens.setdefault(token.created_by.get_username(), []).append(token.name)
    return Facts(participants=participants, phases=phases, now=now, ready=ready, worker_tokens=tokens)


def apply(definition: ChallengeDef, actor: User | None = None, expected: str | None = None) -> Plan:
    """Do what `plan_for` says, all or nothing, and return that plan; an empty one does nothing.

    Raises `Refused` with every reason, and `PlanChanged` where `expected` is not the plan's digest.
    """
    with transaction.atomic():
        Challenge.objects.select_for_update(no_key=True).filter(slug=definition.slug).first()
        plan = plan_for(definition)
        if plan.refusals:
            raise Refused(" ".join(plan.refusals), "plan_refused")
        if expected is not None and expected != plan.digest:
            raise PlanChanged(plan)
        if not plan.is_empty:
            _Work(plan, actor).do()
    return plan


class _Work:
    """The writing of one plan, from the outside in."""

    def __init__(self, plan: Plan, actor: User | None) -> None:
        self.plan, self.after, self.actor = plan, plan.after, actor
        self.changed = {path: {change.field for change in changes} for path, changes in plan.things().items()}
        self.challenge = Challenge.objects.filter(slug=self.after.slug).first() or Challenge(slug=self.after.slug)

    def do(self) -> None:
        old, after = self.plan.old, self.after
        self._challenge()
        self._log()
        if old.organizers != after.organizers:
            self.challenge.organizers.set(User.objects.filter(username__in=after.organizers))
        self._announcements()
        if old.pages != after.pages:
            self._listed(self.challenge.pages, after.pages, ("title", "body"), challenge=self.challenge)
        self._programs()
        self._files(None, old.files, after.files)
        for change in self.plan.changes:
            if change.kind == "remove" and len(change.path) == 1 and change.path[0].startswith("phase "):
                remove_phase(self.challenge.phases.get(slug=change.path[0].removeprefix("phase ")))
        for position, definition in enumerate(after.phases):
            self._phase(position, definition)
        for definition in after.phases:  # once all are there
            known = old.phase(definition.slug)
            if known is None or known.parent != definition.parent:
                phase = self.challenge.phases.get(slug=definition.slug)
                phase.parent = self.challenge.phases.get(slug=definition.parent) if definition.parent else None
                checked(phase).save(update_fields=["parent"])
        for definition in after.phases:
            self._scoring(definition)
        worker_notify.after_commit("boards")

    def _challenge(self) -> None:
        """The challenge's own fields."""
        challenge, after = self.challenge, self.after
        if challenge.pk and () not in self.changed:
            return
        for name in CHALLENGE_FIELDS:
            setattr(challenge, name, getattr(after, name))
        challenge.admitted_emails, challenge.tags = list(after.admitted_emails), list(after.tags)
        if challenge.visibility == Challenge.Visibility.PRIVATE and not challenge.access_key:
            challenge.access_key = Challenge.new_access_key()
        checked(challenge).save()
        for phase in challenge.phases.all():
            phase.touch_board()  # rankings repeat the challenge's title, and whether it is simulated

    def _log(self) -> None:
        """One entry in the audit log for each thing that changed, with the values before and after."""
        for path, changes in self.plan.things().items():
            if path and path[-1].startswith("program "):
                continue  # its model keeps that
            noun = path[-1].split(" ")[0] if path else "challenge"
            verb = "create" if changes[0].kind == "create" and not path else VERBS[changes[0].kind]
            values = [change for change in changes if change.field]
            AuditEntry.record(
                self.challenge,
                self.actor,
                f"{noun}.{verb}",
                " · ".join(path) or self.after.title,
                before={change.field: change.before for change in values if change.before is not None},
                after={change.field: change.after for change in values if change.after is not None},
            )

    def _announcements(self) -> None:
        challenge = self.challenge
        old = {(news.title, news.published_at): news for news in self.plan.old.announcements}
        for news in self.after.announcements:
            known = old.pop((news.title, news.published_at), None)
            if known is None:
                checked(Announcement(challenge=challenge, title=news.title, body=news.body, published_at=news.published_at)).save()
            elif known != news:
                Announcement.objects.filter(pk=known.pk).update(body=news.body)
        Announcement.objects.filter(pk__in=[news.pk for news in old.values()]).delete()

    @staticmethod
    def _listed(rows: models.Manager, things: Iterable[PageDef | MetricDef], names: Iterable[str], **owner: models.Model) -> None:
        """Rows of an owner as a list has them, by slug and in its order; others go."""
        known, slugs = {row.slug: row for row in rows.all()}, [thing.slug for thing in things]
        rows.exclude(slug__in=slugs).delete()
        for position, thing in enumerate(things):
            row = known.get(thing.slug) or rows.model(slug=thing.slug, **owner)
            row.position = position
            for name in names:
                setattr(row, name, getattr(thing, name))
            checked(row).save()

    def _programs(self) -> None:
        """Metric programs: a new one is stored and checked as if it had been uploaded."""
        challenge = self.challenge
        programs = {program.key: program for program in self.plan.old.programs}
        for program in self.after.programs:
            stored = programs.get(program.key)
            if stored is None or stored.sha256 != program.sha256:
                MetricProgram.take(challenge, program.files(), self.actor, is_public=program.is_public)
            elif stored.is_public != program.is_public:
                row = MetricProgram.objects.get(challenge=challenge, key=program.key, version=program.version, contents=program.sha256)
                row.publish(program.is_public, self.actor)

    def _files(self, phase: Phase | None, before: Iterable[FileDef], after: Iterable[FileDef]) -> None:
        """Stored files keep their bytes; another content is another key."""
        old = {(file.kind, file.name): file for file in before}
        for file in after:
            known = old.pop((file.kind, file.name), None)
            if known == file:
                continue
            row = ChallengeFile.objects.get(pk=known.pk) if known else ChallengeFile(challenge=self.challenge, phase=phase)
            row.kind, row.name, row.title, row.size = file.kind, file.name, file.title, file.size
            if row.sha256 != file.sha256:
                drop_bytes(row.key)
                row.sha256, row.key = file.sha256, f"challenges/{self.challenge.pk}/{secrets.token_hex(16)}"
                content = file.content()
                if isinstance(content, bytes):
                    stored_files.store().save_bytes(row.key, content)
                else:
                    stored_files.store().save_file(row.key, content)
            checked(row).save()
        for row in ChallengeFile.objects.filter(pk__in=[file.pk for file in old.values()]):
            drop_bytes(row.key)
            row.delete()

    def _phase(self, position: int, definition: PhaseDef) -> None:
        before = self.plan.old.phase(definition.slug)
        if before == definition and [one.slug for one in self.plan.old.phases] == [one.slug for one in self.after.phases]:
            return
        phase = self.challenge.phases.filter(slug=definition.slug).first() or Phase(challenge=self.challenge, slug=definition.slug)
        for name in PHASE_FIELDS:
            if name != "parent":
                setattr(phase, name, getattr(definition, name))
        phase.position = position
        phase.results_source = definition.results.source if definition.results else ""
        phase.results_url = definition.results.url if definition.results else ""
        # Of a phase that is there only what was defined is written: a worker may just have written the rest.
        names = (*PHASE_FIELDS, "position", "results_source", "results_url")
        fields = None if phase.pk is None else [name for name in names if name != "parent"]
        checked(phase, exclude={"parent"}).save(update_fields=fields)
        if before is None or before.metrics != definition.metrics:
            phase.metrics.update(is_primary=False)  # at most one at any moment
            self._listed(phase.metrics, definition.metrics, METRIC_FIELDS, phase=phase)
        self._files(phase, before.files if before else (), definition.files)

    def _scoring(self, definition: PhaseDef) -> None:
        """A new batch where a number could change; else what boards and manifests repeat is brought up to date."""
        before = self.plan.old.phase(definition.slug)
        if before == definition and definition.slug not in {other.phase for other in self.plan.rescorings}:
            return
        phase = self.challenge.phases.get(slug=definition.slug)
        if definition.results is not None:
            self._results(phase, before.results if before else None, definition.results)
            return

        # The stored version of the reference that holds what is wanted, or a new one.
        reference, wanted = None, definition.reference
        if wanted is not None and wanted.version is None:
            reference = Reference.add(phase, wanted.load(), groups=dict(wanted.groups), actor=self.actor, note=wanted.note)
        elif wanted is not None:
            reference = phase.references.get(version=wanted.version)
            if reference.note != wanted.note:
                reference.note = wanted.note
                reference.save(update_fields=["note"])
        rescoring = next((other for other in self.plan.rescorings if other.phase == definition.slug), None)
        if rescoring is not None:
            EvaluationBatch.start(phase, reference=reference, reason=rescoring.reason, actor=self.actor)
        elif before and before.metrics != definition.metrics:
            EvaluationBatch.relabel(phase)
        if MANIFEST_FIELDS & self.changed.get((f"phase {definition.slug}",), set()):
            EvaluationBatch.publish_manifest(phase)
        phase.touch_board()

    def _results(self, phase: Phase, before: ResultsDef | None, results: ResultsDef) -> None:
        """Store a new version of the table if it, or how it is read, has changed; else only its source."""
        tables = [(it.sha256, it.file_name, it.layout, it.opinions) for it in (before, results) if it]
        if before is None or tables[0] != tables[1]:
            opinions = results.opinions.to_dict() if results.opinions else None
            ResultTable.put(phase, results.text, results.layout, results.file_name, opinions, self.actor)
        follow(phase, self.actor)
        answer_sets.follow(phase, self.actor, results.answers)
        phase.touch_board()


def remove_phase(phase: Phase) -> None:
    """Delete a phase without entries, with what was made for it."""
    for key in [*phase.references.values_list("key", flat=True), *phase.files.values_list("key", flat=True)]:
        drop_bytes(key)
    EvaluationBatch.forget_caches(phase.batches.select_related("reference__phase__challenge"))
    phase.snapshots.all().delete()
    if not phase.has_teams:
        phase.submissions.all().delete()
    phase.batches.all().delete()  # they hold on to their references and tables
    phase.delete()


def drop_bytes(key: str) -> None:
    """Delete the bytes of `key` once the rows that named it are deleted for certain."""
    if key:
        transaction.on_commit(lambda: stored_files.store().delete(key))


def checked(row: models.Model, exclude: set[str] | None = None) -> models.Model:
    """The row itself, if its model has nothing against it; else `Refused` in the model's words."""
    try:
        row.full_clean(exclude=exclude)
    except ValidationError as error:
        faults = [f"{name}: {' '.join(texts)}" if name != "__all__" else " ".join(texts) for name, texts in error.message_dict.items()]
        raise Refused(" ".join(faults), "invalid") from None
    return row
