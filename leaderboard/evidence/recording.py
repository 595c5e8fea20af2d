"""The record of a set: its figures, and the numbers that its publication prints, computed from what was read. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import PrintedColumns, Reading
from leaderboard.stats.evidence import analysis, reproduction
from leaderboard.stats.evidence.record import EvidenceRecord, Facts
from leaderboard.stats.evidence.reproduction import Reproduction, Statistic


def record_of(manifest: Manifest, found: Reading, made: str = "") -> EvidenceRecord:
    """All that is computed of a set. `made` is the day."""
    return analysis.record_of(found.tables, facts_of(manifest), reproduced(manifest, found.printed), made)


def facts_of(manifest: Manifest) -> Facts:
    """Facts about the publication, for its record."""
    return Facts(**{one.name: getattr(manifest, one.name) for one in fields(Facts)} | {"files": manifest.published_files})


def reproduced(manifest: Manifest, printed: Sequence[PrintedColumns]) -> Reproduction | None:
    """The printed numbers against those that the same data give; None where the set has none. The chief lines are rank correlations over
    all rows, and every number that differs is among the lines."""
    if not printed:
        return None
    higher = {column.column: column.higher_is_better for values in manifest.metrics for column in values.columns}
    lines = [
        reproduction.line(
            Statistic(said.statistic),
            one.x,
            one.y,
            said.value,
            said.digits,
            metric=said.metric,
            against=said.against,
            higher_is_better=higher[said.metric],
            group=one.group,
            procedure=said.procedure,
            where=dict(said.where),
        )
        for one in printed
        for said in (one.printed,)
    ]
    shown = [one for one in lines if (one.statistic == Statistic.SRCC and not one.where) or not one.same]
    return Reproduction(len(lines), sum(one.same for one in lines), tuple(shown))
