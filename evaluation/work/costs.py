"""Costs of scoring: seconds of cores and of graphics cards by metric, entry and team, and an estimate of a re-evaluation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Aggregate, Count, QuerySet, Sum

from evaluation.metrics.shared import TOGETHER
from evaluation.models import ComputeBudget, EvaluationBatch, PartRecord, PhaseMetric, Score, part_plan
from evaluation.models.remote_worker import spent_by
from submissions.models import Challenge, Phase, Status, Submission

MAX_ROWS = 50  # rows of a table
NEWEST = 200  # parts that say how much of a core scoring takes while the clock runs


@dataclass(frozen=True)
class Cost:
    """Cost of one metric, entry or team: seconds of cores, of cards, and on the worker's clock, in so many parts."""

    name: str
    core_seconds: float
    gpu_seconds: float
    parts: int
    submission: int | None = None


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of scoring all entries of a phase again: of its `columns` metrics `timed` are estimated from the newest scores, the
    others from what they declare. `over`: more than the budget has left."""

    core_seconds: float
    gpu_seconds: float
    entries: int
    timed: int
    columns: int
    over: bool


def by_entry(challenge: Challenge) -> list[Cost]:
    """The entries that took most, first."""
    rows = _of(challenge).values_list("submission", "submission__method_name", "submission__number")
    found = rows.annotate(**_sums()).order_by("-core", "-gpu", "submission")[:MAX_ROWS]
    return [Cost(f"#{number} {name}", core, gpu, parts, pk) for pk, name, number, core, gpu, parts in found]


def by_team(challenge: Challenge) -> list[Cost]:
    """The teams that took most, first."""
    found = _of(challenge).values_list("submission__team__name").annotate(**_sums()).order_by("-core", "-gpu", "submission__team__name")
    return [Cost(name, core, gpu, parts) for name, core, gpu, parts in found[:MAX_ROWS]]


def by_metric(challenge: Challenge) -> list[Cost]:
    """Cost of each metric, and of each group of metrics for what they share, under their keys with a + between them; highest first. A
    part's seconds of cores are divided as its metrics took the clock. The rest (reading, starting) is in no row."""
    keys: dict[int, dict[str, tuple[str, bool]]] = {}
    core: dict[str, float] = defaultdict(float)
    card: dict[str, float] = defaultdict(float)
    parts: dict[str, int] = defaultdict(int)
    for batch in EvaluationBatch.objects.filter(phase__challenge=challenge):
        keys[batch.pk] = {column.slug: (column.key, bool(column.weights_sha256)) for column in batch.columns}
    rows = _of(challenge).values_list("batch", "seconds", "core_seconds", "gpu_seconds")
    for batch_id, seconds, core_seconds, gpu_seconds in rows.iterator(chunk_size=2000):
        total = sum(seconds.values())
        known = {name: [keys[batch_id].get(slug, (slug, False)) for slug in name.split(TOGETHER)] for name in seconds}
        on_card = sum(spent for name, spent in seconds.items() if any(has_network for _, has_network in known[name]))
        for name, spent in seconds.items():
            has_network = any(has for _, has in known[name])
            key = TOGETHER.join(dict.fromkeys(key for key, _ in known[name]))
            core[key] += min(core_seconds, total) * spent / total if total else 0.0
            card[key] += gpu_seconds * spent / on_card if has_network and on_card else 0.0
            parts[key] += 1
    return sorted((Cost(key, core[key], card[key], parts[key]) for key in core), key=lambda it: (-it.core_seconds, it.name))


def total(challenge: Challenge) -> dict[str, float]:
    """All of it: core_seconds and gpu_seconds."""
    return spent_by(challenge.pk)


def estimate(phase: Phase) -> Estimate | None:
    """Estimated cost of a re-evaluation of the phase; None where there is nothing to score, or nothing to score it against."""
    current = EvaluationBatch.latest(phase)
    columns = [metric.column() for metric in PhaseMetric.objects.filter(phase=phase) if not metric.is_retired]
    entries = Submission.objects.filter(phase=phase, status__in=[Status.SCORED, Status.SCORING]).exclude(artifact_key="").count()
    if current is None or current.reference is None or not columns or not entries:
        return None
    planned = EvaluationBatch(
        phase=phase, reference=current.reference, metrics=[column.to_dict() for column in columns], unit_scale=phase.unit_scale
    )
    pieces = part_plan.priced(planned)
    core = entries * sum(piece.cost for piece in pieces) * _core_share(phase)
    card = entries * sum(piece.cost for piece in pieces if piece.device == "gpu")
    known = Score.newest_costs(phase.pk, [column.fingerprint for column in columns])
    budget, spent = ComputeBudget.objects.filter(challenge=phase.challenge_id).first(), spent_by(phase.challenge_id)
    limits: Sequence[tuple[float | None, float]] = ()
    if budget is not None:
        limits = ((budget.core_hours, spent["core_seconds"] + core), (budget.gpu_hours, spent["gpu_seconds"] + card))
    over = any(hours is not None and seconds > 3600 * hours for hours, seconds in limits)
    timed = sum(column.fingerprint in known for column in columns)
    return Estimate(core, card, entries, timed, len(columns), over)


def _core_share(phase: Phase) -> float:
    """Seconds of cores for each second on the clock, of the phase's newest parts: little where scoring waits for others' work on the same
    machine. 1 where no part has told."""
    rows = PartRecord.objects.filter(batch__phase=phase, core_seconds__gt=0).order_by("-id").values_list("seconds", "core_seconds")
    told = [(sum(seconds.values()) + part_plan.PART_OVERHEAD, core) for seconds, core in rows[:NEWEST]]
    return sum(core for _, core in told) / sum(clock for clock, _ in told) if told else 1.0


def _sums() -> dict[str, Aggregate]:
    return {"core": Sum("core_seconds"), "gpu": Sum("gpu_seconds"), "parts": Count("pk")}


def _of(challenge: Challenge) -> QuerySet:
    return PartRecord.objects.filter(batch__phase__challenge=challenge).order_by()
