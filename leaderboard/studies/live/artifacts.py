"""Entries that the service makes for raters beside teams' entries: damaged copies of the reference, and the empty entry.

They are submissions like any other, so the same code stores, scores and draws them. They are marked with their kind, are on no leaderboard
and count against no quota. Each is made once per reference, for all studies.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, Reference
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from leaderboard import kinds
from leaderboard.models import Study, StudyEntry
from submissions.models import Phase, Status, Submission, Team
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

EMPTY = "empty"
TEAM = "Made for raters"


@dataclass(frozen=True)
class Artifact:
    """A thing that can be made of a reference: its name, what organizers call it, and its place among damages of known order."""

    name: str
    label: str
    gold_kind: str = ""
    gold_order: int | None = None


CORRUPTIONS = tuple(Artifact(f"{kind}:{level}", f"{kind}_{level}", kind, n) for kind in KINDS for n, level in enumerate(LEVELS))
NOTHING = Artifact(EMPTY, "empty entry")


def available(family: str) -> tuple[Artifact, ...]:
    """The artifacts for entries of a family: the twelve corruptions are of wireframes; an image cannot be empty."""
    kind = kinds.KINDS[family]
    return (*(CORRUPTIONS if kind.corruptions else ()), *((NOTHING,) if kind.empty_entry else ()))


def make_due() -> int:
    """Make the entries that studies wait for; how many were made. Two workers at once do the same work, and one of them keeps it.

    One that cannot be made holds up no other: it is left to the next round, and the log says why.
    """
    made = 0
    failed: set[int] = set()
    while row := waiting().exclude(pk__in=failed).select_related("study__phase__challenge", "study__reference").order_by("id").first():
        try:
            submission = _made(row.study.phase, row.study.reference, row.artifact)
        except Exception:
            log.exception("an entry for raters could not be made", artifact=row.artifact, study=row.study_id)
            failed.add(row.pk)
            continue
        same = StudyEntry.objects.filter(study__reference=row.study.reference, artifact=row.artifact, submission=None)
        same.update(submission=submission)
        made += 1
    return made


def waiting() -> Any:
    """Rows whose entry is still to be made. Damaged entries of published studies cannot be made here."""
    return (
        StudyEntry.objects.filter(submission=None, study__reference__isnull=False, study__key__isnull=False)
        .exclude(artifact="")
        .exclude(study__state=Study.State.CLOSED)
    )


def _made(phase: Phase, reference: Reference, artifact: str) -> Submission:
    made_as = f"{artifact}@{reference.version}"
    found = Submission.objects.filter(phase=phase, made_as=made_as).first()
    if found is not None:
        return found
    family = reference.family
    data = family.pack({name: _damaged(name, item, artifact) for name, item in reference.items().items()})
    digest = hashlib.sha256(data).hexdigest()
    key = f"artifacts/made-{phase.pk}-{reference.version}-{digest[:24]}.{family.stored}"
    stored_files.store().save_bytes(key, data)
    try:
        with transaction.atomic():
            phase.lock()
            # The team without members that such entries of a challenge stand under.
            team = Team.objects.filter(challenge=phase.challenge, submissions__made_as__gt="").first()
            if team is None:
                taken = {name.casefold() for name in Team.objects.filter(challenge=phase.challenge).values_list("name", flat=True)}
                number, name = 1, TEAM
                while name.casefold() in taken:
                    number += 1
                    name = f"{TEAM} {number}"
                team = Team.objects.create(challenge=phase.challenge, name=name)
            now = timezone.now()
            label = next((one.label for one in (*CORRUPTIONS, NOTHING) if one.name == artifact), artifact)
            last = Submission.objects.filter(phase=phase).aggregate(n=Max("number"))["n"] or 0
            submission = Submission.objects.create(
                phase=phase,
                team=team,
                number=last + 1,
                status=Status.SCORING,
                method_name=label,
                made_as=made_as,
                description="Made by the service for raters to judge.",
                created_at=now,
                received_at=now,
                notified_at=now,
                file_name=f"{label}.made",
                artifact_key=key,
                size=len(data),
            )
            for batch in EvaluationBatch.live(phase):
                Evaluation.make(submission, batch)
            return submission
    except IntegrityError:  # somebody else has just made it, of the same bytes
        return Submission.objects.get(phase=phase, made_as=made_as)


def _damaged(name: str, item: Any, artifact: str) -> Any:
    if artifact == EMPTY:
        return type(item)(*(values[:0] for values in (item.vertices, item.edges if hasattr(item, "edges") else item.faces)))
    kind, level = artifact.split(":")
    return corrupt(item, kind, level, sample_id=name)
