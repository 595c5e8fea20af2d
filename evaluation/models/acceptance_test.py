"""Acceptance test of a column before it may rank: known damages of the phase's own references, scored in the background."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.models.batch import EvaluationBatch
from evaluation.models.suite_run import SuiteRun
from evaluation.networks import weights
from evaluation.properties.gate import design as gate
from evaluation.properties.gate.design import Outcome, Refusal


@dataclass(frozen=True)
class Standing:
    """The standing of a column of a batch: may it rank, and if not, why.

    `scenes` are those it ranks by, where it does not rank by all. `id` is the key of the row whose page has the evidence, if there is one.
    `percent` is how much of the test is done while it waits.
    """

    state: Outcome
    id: int | None = None
    scenes: tuple[str, ...] | None = None
    percent: int | None = None
    refusal: Refusal | None = None

    @property
    def ranks(self) -> bool:
        return self.state is Outcome.PASSED


def request_missing() -> int:
    """Request an acceptance test for every column of a live batch that needs one; how many runs are new or begin again."""
    live = EvaluationBatch.objects.filter(
        state__in=[EvaluationBatch.State.CURRENT, EvaluationBatch.State.BUILDING], reference__isnull=False
    )
    wanted = []
    for batch in live.select_related("reference__phase__challenge"):
        for column in batch.columns:
            if not (needs_acceptance_test(column) and not column.is_retired and _may_rank(column) and column.is_current):
                continue
            spec, params = column.spec, column.params
            of_one = gate.MAX_VIEWS * gate.scores_per_subject(spec, params)
            wanted.append(
                SuiteRun(
                    reference=batch.reference,
                    unit_scale=batch.unit_scale,
                    fingerprint=column.fingerprint,
                    key=column.key,
                    params=params,
                    version=gate.ACCEPTANCE.version,
                    total=len(gate.scenes_of(spec, params, batch.item_ids)) * of_one,
                )
            )
    return SuiteRun.objects.acceptance_tests().request(wanted)


def standings(batch: EvaluationBatch) -> dict[str, Standing]:
    """The standings, by slug, of the columns that rank only after an acceptance test."""
    gated = [column for column in batch.columns if needs_acceptance_test(column)]
    if not gated or batch.reference_id is None:
        return {}
    rows = SuiteRun.objects.filter(
        reference=batch.reference_id, unit_scale=batch.unit_scale, fingerprint__in=[column.fingerprint for column in gated]
    ).defer("rows", "pictures")
    found = {row.fingerprint: row for row in rows}
    return {column.slug: standing(column, found.get(column.fingerprint)) for column in gated}


def needs_acceptance_test(column: Column) -> bool:
    """Return whether a column of a batch ranks only after an acceptance test. Imported figures are other people's, and need none."""
    spec = registry.find(column.key) if column.key else None
    return spec is not None and (bool(gate.kind_of(spec, column.params)) or column.is_retired)


def standing(column: Column, row: SuiteRun | None) -> Standing:
    """Return whether a column may rank, by its acceptance test."""
    if column.is_retired:
        return Standing(Outcome.RETIRED)
    if not _may_rank(column):
        return Standing(Outcome.WEIGHTS)
    if row is None:
        return Standing(Outcome.WAITING, percent=0) if column.is_current else Standing(Outcome.OUTDATED)
    if row.judged_at:
        # Its scenes are all judged: it ranks by those that passed, if they are at least half.
        verdicts = row.verdicts
        passed = tuple(one.scene for one in verdicts if one.passed)
        if not passed or 2 * len(passed) < len(verdicts):
            return Standing(Outcome.REFUSED, row.pk, refusal=Refusal.of_verdicts(gate.kind_of(row.spec, row.params), verdicts))
        return Standing(Outcome.PASSED, row.pk, passed if len(passed) < len(verdicts) else None)
    if row.state == SuiteRun.State.WAITING:
        return Standing(Outcome.WAITING, row.pk, percent=round(row.percent))
    return Standing(Outcome.FAILED, row.pk)


def _may_rank(column: Column) -> bool:
    return weights.may_rank(column.spec, column.params)
