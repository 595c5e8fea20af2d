"""Acts of organizers on a live study. Each is one transaction and leaves a line in the audit log."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Avg
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.models import Rater, Study, StudyEntry, StudyInvitation, StudySample
from leaderboard.models.interim_analysis import InterimAnalysis
from leaderboard.models.question import new_token
from leaderboard.stats.minimums import ITEMS_FOR_LOOK
from leaderboard.studies.live import artifacts, design, study_forecast
from leaderboard.studies.live.access import free_name
from leaderboard.studies.live.artifacts import Artifact
from leaderboard.studies.live.question_choice import Overlap
from leaderboard.studies.live.study_forecast import SECONDS, Habits, Sheet
from leaderboard.wording.nouns import plural
from submissions import worker_notify
from submissions.errors import Refused
from submissions.format_time import day_in_words
from submissions.models import AuditEntry, Phase, Status, Submission, User
from submissions.models.user import hash_secret

MAX_ENTRIES, MAX_SAMPLES = 200, 5000
MAX_QUESTIONS = 2_000_000  # different ones: each time that some are planned, all of them are looked at
KNOWN = "known"  # the gold kind of a pair whose order an organizer knows


@dataclass(frozen=True)
class Design:
    """The design of a study. `values` are columns of `Study`; gold (better, worse) are two of the entries."""

    values: Mapping[str, Any]
    entries: Sequence[Submission]
    artifacts: Sequence[Artifact] = ()
    samples: Sequence[str] = ()  # none: all groups of the reference
    gold: tuple[Submission, Submission] | None = None
    discloses: bool = field(default=False)  # somebody said that raters may see the items

    def require_possible(self, phase: Phase, samples: Sequence[str], there: Sequence[str]) -> None:
        """Raise `Refused`, in a sentence, unless a study of the phase can show these samples, of those that are `there`."""
        unknown = sorted(set(samples) - set(there))
        if unknown:
            raise Refused(f"The reference has no sample “{unknown[0]}”; it has {', '.join(there[:5])} and so on.", "unknown_sample")
        if len(samples) != len(set(samples)) or len(samples) > MAX_SAMPLES:
            raise Refused(f"Name each sample once, and at most {MAX_SAMPLES:,}.", "bad_samples")
        n, least = len(self.entries) + len(self.artifacts), 2 if self.values["kind"] == Study.Kind.PAIRS else 1
        if not least <= n <= MAX_ENTRIES:
            raise Refused(f"Choose {least} to {MAX_ENTRIES} entries; these are {n}.", "bad_entries")
        questions = (n * (n - 1) // 2 if least == 2 else n) * len(samples)
        if questions > MAX_QUESTIONS:
            raise Refused(
                f"{n} entries on {len(samples):,} samples make {questions:,} questions, and a study has at most {MAX_QUESTIONS:,}; choose "
                "fewer entries or samples.",
                "too_many_questions",
            )
        if any(entry.phase_id != phase.pk for entry in self.entries):
            raise Refused("An entry is of another phase; choose from this one.", "bad_entries")
        if not self.values.get("criteria"):
            raise Refused("Choose at least one criterion.", "no_criterion")


def groups_of(phase: Phase) -> list[str]:
    """The groups of the reference on the board, which are the samples that raters can be shown; Refused without one."""
    batch = EvaluationBatch.current(phase)
    if batch is None or batch.reference is None:
        raise Refused("This phase has no valid reference, so there is nothing to show raters. Upload one first.", "no_reference")
    return list(dict.fromkeys(batch.reference.groups))


def habits(study: Study) -> Habits:
    """Habits of people in the newest other study of pairs of this challenge, of the same phase if there is one; usual habits if no study
    has them."""
    others = Study.objects.filter(phase__challenge=study.phase.challenge_id, kind=Study.Kind.PAIRS).exclude(pk=study.pk)
    for other in sorted(others.order_by("-created_at"), key=lambda one: one.phase_id != study.phase_id):
        analyses = sorted(other.analyses.filter(content__isnull=False), key=lambda one: one.criterion != other.main_criterion)
        summary = analyses[0].summary if analyses else None
        if summary is None or summary.ties is None:
            continue
        seconds = other.study_votes.filter(rater__kind=Rater.Kind.PERSON).aggregate(mean=Avg("seconds"))["mean"]
        theta = [line.theta[0] for line in summary.ranked if line.in_main_part and line.theta[0] is not None]
        gaps = study_forecast.preferences(theta, summary.model.nu) if summary.model else ()
        simulated = ", simulated" if other.simulated else ""
        return Habits(summary.ties, float(seconds or SECONDS), f"“{other.title}”{simulated}", gaps)
    return Habits()


def sheet(study: Study, pairs: int) -> Sheet:
    """The plan of a study of so many pairs, as far as what it can say hangs on it."""
    return Sheet(
        pairs,
        study.samples.count(),
        study.questions_per_rater,
        Overlap(study.common_share, study.answers_per_question),
        study.gold_share,
        study.repeat_share,
        fixed=not study.chooses_pairs,
    )


def hides_reference(phase: Phase) -> bool:
    """True if a study shows its raters what not everybody may see."""
    return phase.reference_access != Phase.ReferenceAccess.PUBLIC


def make(phase: Phase, actor: User, design: Design) -> Study:
    """A draft; raters see nothing of it before it is opened. Raises `Refused`, in a sentence."""
    there = groups_of(phase)
    if hides_reference(phase) and not design.discloses:
        running = " while the phase takes entries" if phase.takes_uploads() else ""
        raise Refused(
            f"Raters see the reference of their items, which is not public{running}; say that this is meant.",
            "not_disclosed",
        )
    samples = list(design.samples) or there
    design.require_possible(phase, samples, there)

    with transaction.atomic():
        phase.lock()
        if phase.studies.filter(slug=design.values["slug"]).exists():
            raise Refused(f"There is a study {design.values['slug']!r} in this phase already; choose another address.", "slug_taken")
        batch = EvaluationBatch.current(phase)
        assert batch is not None  # or nothing could be chosen from
        study = Study.objects.create(
            phase=phase,
            reference=batch.reference,
            state=Study.State.DRAFT,
            key=new_token(),
            seed=secrets.randbelow(1 << 31),
            **design.values,
        )
        StudySample.objects.bulk_create(StudySample(study=study, name=name, order=n) for n, name in enumerate(samples))
        rows, taken = [], {artifact.label for artifact in design.artifacts}
        order = {pair.pk: n for n, pair in enumerate(design.gold or ())}
        for entry in design.entries:
            label = entry.method_name
            while label in taken:  # also where another method is called like this one with its number
                label = f"{label} #{entry.number}"
            taken.add(label)
            gold = {"gold_kind": KNOWN, "gold_order": order[entry.pk]} if entry.pk in order else {}
            rows.append(StudyEntry(study=study, label=label, submission=entry, **gold))
        for one in design.artifacts:
            rows.append(StudyEntry(study=study, label=one.label, artifact=one.name, gold_kind=one.gold_kind, gold_order=one.gold_order))
        StudyEntry.objects.bulk_create(rows)
        AuditEntry.record(
            phase.challenge,
            actor,
            "study.make",
            study,
            title=study.title,
            samples=len(samples),
            entries=len(design.entries),
            made=[artifact.name for artifact in design.artifacts],
            discloses=hides_reference(phase),
            rater_skill=study.rater_skill,
            covariates=study.covariates,
        )
        worker_notify.after_commit("studies")
    return study


def edit(study: Study, actor: User, values: Mapping[str, Any]) -> None:
    """Change what may be changed of a study at any time, or before it opens. Raises `Refused` where it is too late."""
    with transaction.atomic():
        now = study.locked()
        before = {name: getattr(now, name) for name in values}
        after = {name: value for name, value in values.items() if value != before[name]}
        if not after:
            return
        if now.state != Study.State.DRAFT and not after.keys().isdisjoint(design.FIXED):
            raise Refused("This study has opened, so its plan and its rules can no longer change.", "opened")
        Study.objects.filter(pk=study.pk).update(**after)
        if "title" in after:  # boards name their study
            now.phase.touch_board()
            worker_notify.after_commit("boards")
        AuditEntry.record(now.phase.challenge, actor, "study.edit", now, before={name: before[name] for name in after}, after=after)


def open_study(study: Study, actor: User) -> None:
    """Let raters in, for the first time or again."""
    with transaction.atomic():
        study = study.locked()
        if study.key is None:
            raise Refused("The answers of this study were imported, so it cannot be opened.", "imported")
        if study.state == Study.State.OPEN:
            return
        unfinished = study.entries.exclude(artifact="").exclude(submission__status__in=[Status.SCORED, Status.FAILED])
        if n := unfinished.count():
            raise Refused(
                f"{n} of the entries made for this study are still being made and scored; open it when they are done.", "unfinished"
            )
        if study.closes_at is not None and study.closes_at <= timezone.now():
            raise Refused("The time at which this study closes has passed; set a later one under Settings, or none, then open it.", "over")
        if study.entries.live().count() < (2 if study.kind == Study.Kind.PAIRS else 1):
            raise Refused(
                "Too few of the study's entries can be shown: they were withdrawn, hidden or failed. Make a new study.", "no_entries"
            )
        if study.planned_looks and (n := study.samples.count()) < ITEMS_FOR_LOOK:
            raise Refused(
                f"Planned looks need {ITEMS_FOR_LOOK} {plural(study.noun)}, and this study shows {n}, so it would never end as planned. "
                f"Remove the looks under Settings, or make a study that shows more {plural(study.noun)}.",
                "few_samples",
            )
        if look := InterimAnalysis.that_ended(study):
            raise Refused(
                f"This study ended as it was planned, at look {look.number} of {study.planned_looks}; make a new study to ask more.",
                "ended",
            )
        before, now = study.state, timezone.now()
        if study.design_hash and (differs := design.changes(study)):
            day = day_in_words(study.registered_at, study.phase.time_zone)
            raise Refused(
                f"The design is not the one that was registered on {day}: {', '.join(differs)} changed; make a new study for another one.",
                "another_design",
            )
        if study.reference is None:
            # It was deleted: one of the same bytes takes its place. Without it nothing could be shown.
            wanted = json.loads(study.design_text)["reference"] if study.design_text else None
            same = study.phase.references.filter(sha256=wanted).order_by("-version").first() if wanted else None
            if same is None:
                digest = f" (SHA-256 {wanted})" if wanted else ""
                raise Refused(
                    f"The reference that this study shows was deleted; give the phase the same file again{digest}, then open the study.",
                    "no_reference",
                )
            Study.objects.filter(pk=study.pk).update(reference=same)
        if not study.design_hash and before == Study.State.DRAFT:
            text = design.text_of(study)
            Study.objects.filter(pk=study.pk).update(design_text=text, design_hash=design.hash_of(text), registered_at=now)
        Study.objects.filter(pk=study.pk).update(state=Study.State.OPEN, closed_at=None)
        AuditEntry.record(study.phase.challenge, actor, "study.open", study, before={"state": before}, after={"state": "open"})


def close(study: Study, actor: User | None) -> None:
    """Take no more answers. One that is being stored at this very moment still counts."""
    with transaction.atomic():
        study = study.locked()
        if study.state != Study.State.OPEN:
            raise Refused("This study is not open.", "not_open")
        Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED, closed_at=timezone.now())
        AuditEntry.record(study.phase.challenge, actor, "study.close", study, before={"state": "open"}, after={"state": "closed"})
        study.touch_votes()


def leave_out(entry: StudyEntry, actor: User, out: bool) -> None:
    """Ask nothing more about an entry, or ask again. Earlier answers about it still count."""
    with transaction.atomic():
        StudyEntry.objects.filter(pk=entry.pk).update(left_out_at=timezone.now() if out else None)
        action = "study.leave_out" if out else "study.take_in"
        AuditEntry.record(entry.study.phase.challenge, actor, action, entry.study, entry=entry.label)


def remove_rater(rater: Rater, actor: User, reason: str) -> None:
    """End a rater's part at once. Their votes go on counting; see `count_rater`."""
    with transaction.atomic():
        locked = Rater.objects.select_for_update().get(pk=rater.pk)
        if locked.removed_at is not None:
            return
        Rater.objects.filter(pk=rater.pk).update(removed_at=timezone.now())
        _record_rater(rater, actor, "study.remove_rater", reason=reason)


def readmit_rater(rater: Rater, actor: User) -> None:
    """Let a removed rater continue where they stopped."""
    with transaction.atomic():
        _require_here(Rater.objects.select_for_update().get(pk=rater.pk))
        Rater.objects.filter(pk=rater.pk).update(removed_at=None)
        _record_rater(rater, actor, "study.readmit_rater")


def renew_link(rater: Rater, actor: User) -> str:
    """A new key for a rater without an account who has lost theirs. Their answers stay, and the old key opens nothing. Raises
    `Refused` for one who logs in, or has left."""
    if rater.user_id is not None:
        raise Refused(f"{rater.name} has an account and can log in and open the study to continue.", "has_account")
    key = secrets.token_urlsafe(24)
    with transaction.atomic():
        _require_here(Rater.objects.select_for_update().get(pk=rater.pk))
        Rater.objects.filter(pk=rater.pk).update(key_hash=hash_secret(key))
        _record_rater(rater, actor, "study.renew_link")
    return key


def count_rater(rater: Rater, actor: User, counts: bool) -> None:
    """True if a rater's votes take part in what is computed. They are kept, and exported, either way."""
    with transaction.atomic():
        rater.study.locked()
        _require_here(Rater.objects.select_for_update().get(pk=rater.pk))
        Rater.objects.filter(pk=rater.pk).update(is_counted=counts)
        _record_rater(rater, actor, "study.count_rater", after={"counts": counts}, before={"counts": rater.is_counted})
        rater.study.touch_votes()


def invite(
    study: Study, actor: User, note: str = "", group: str = "", most_uses: int | None = None, expires_at: Any = None
) -> tuple[StudyInvitation, str]:
    """A new invitation and, this once, the token of its link."""
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        row = StudyInvitation.objects.create(
            study=study, token_hash=hash_secret(token), note=note, group=group, most_uses=most_uses, expires_at=expires_at, made_by=actor
        )
        AuditEntry.record(study.phase.challenge, actor, "study.invite", study, note=note, group=group, most_uses=most_uses)
    return row, token


def end_invitation(invitation: StudyInvitation, actor: User) -> None:
    """Nobody joins by it any more; who has joined stays."""
    with transaction.atomic():
        StudyInvitation.objects.filter(pk=invitation.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
        AuditEntry.record(invitation.study.phase.challenge, actor, "study.end_invitation", invitation.study, note=invitation.note)


def list_account(study: Study, actor: User, user: User, group: str = "") -> Rater:
    """Put an account on the list of those who may rate; they join when they open the study's page."""
    with transaction.atomic():
        study = study.locked()
        if study.raters.filter(user=user).exists():
            raise Refused(f"{user} is on the list already.", "listed")
        rater = Rater.objects.create(study=study, name=free_name(study, user.get_username()[:100]), user=user, group=group)
        _record_rater(rater, actor, "study.list_account", group=group)
    return rater


def _require_here(rater: Rater) -> None:
    if rater.left_at is not None:
        raise Refused(f"{rater.name} has left the study, and we deleted their answers. You cannot undo this.", "left")


def _record_rater(rater: Rater, actor: User, action: str, **detail: Any) -> None:
    AuditEntry.record(rater.study.phase.challenge, actor, action, rater.study, rater=rater.name, **detail)


def waits_for(study: Study) -> int:
    """The number of its entries that are still being made."""
    return artifacts.waiting().filter(study=study).count()
