"""Comparison of two results by the paired test of leaderboards: random signs of the groups' differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.aggregation import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.package.errors import NotComparable
from leaderboard.package.frames import frame
from leaderboard.package.scored import Scored
from leaderboard.stats.uncertainty import ALPHA, Paired, adjusted, paired

if TYPE_CHECKING:
    from pandas import DataFrame


BETTER, WORSE, TIED, UNKNOWN = "better", "worse", "tied", "cannot be told"
OK, IS_WORSE, CANNOT_TELL = 0, 1, 2


@dataclass(frozen=True)
class Line:
    """One metric: `found` is the paired comparison of the first result with the second, `p_corrected` its p corrected for all metrics, None
    below six groups. `verdict` is of the first: better, worse, tied, or that it cannot be told."""

    metric: str
    first: float | None
    second: float | None
    found: Paired
    p_corrected: float | None
    verdict: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of a first result with a second. `missing` are the items that one of them lacks."""

    lines: tuple[Line, ...]
    missing: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """The rows as a frame."""
        return frame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """One row per metric. Columns: both values, their mean difference over groups with the ends of its 95 % interval, p, p corrected
        for the metrics, and the verdict. The last columns count the groups on which the first is better, worse and equal."""
        rows = []
        for line in self.lines:
            found = line.found
            rows.append(
                {
                    "metric": line.metric,
                    "first": line.first,
                    "second": line.second,
                    "difference": found.mean_difference,
                    "low": found.ci_low,
                    "high": found.ci_high,
                    "p": found.p_value,
                    "p_corrected": line.p_corrected,
                    "verdict": line.verdict,
                    "n": found.n,
                    "better": found.better,
                    "worse": found.worse,
                    "equal": found.equal,
                }
            )
        return rows

    @property
    def unclear(self) -> str:
        """Reason why it cannot be told whether the first is worse; empty where it can."""
        if self.missing:
            return f"{len(self.missing)} items are missing, such as {self.missing[0]}"
        few = [line for line in self.lines if line.p_corrected is None]
        if few:
            n = few[0].found.n
            return f"{few[0].metric} has {n} groups to compare; {GROUPS_FOR_BOARD_INTERVAL} are needed"
        return ""

    @property
    def exit_status(self) -> int:
        """0: no metric of the first is significantly worse; 1: one is; 2: it cannot be told."""
        if self.unclear:
            return CANNOT_TELL
        return IS_WORSE if any(line.verdict == WORSE for line in self.lines) else OK

    def __repr__(self) -> str:
        return f"<{', '.join(f'{line.metric} {line.verdict}' for line in self.lines)}>"


def compare(first: Scored, second: Scored) -> Comparison:
    """Compare two results of the same items, reference and metrics. Raises NotComparable, which names what differs."""
    if differences := _differences(first, second):
        raise NotComparable("\n".join(differences))
    slugs = [column.slug for column in first.columns]
    units = {slug: (first.units(slug)[1], second.units(slug)[1]) for slug in slugs}
    corrected = _corrected(units)
    lines = []
    for column in first.columns:
        found = paired(*units[column.slug], column.higher_is_better)
        p = corrected.get(column.slug)
        verdict = UNKNOWN if p is None else TIED
        if p is not None and p <= ALPHA and found.mean_difference is not None:
            verdict = BETTER if (found.mean_difference > 0) == column.higher_is_better else WORSE
        values = [result.summaries[column.slug].value for result in (first, second)]
        lines.append(Line(column.slug, values[0], values[1], found, p, verdict))
    return Comparison(tuple(lines), tuple(dict.fromkeys((*first.missing, *second.missing))))


def _differences(first: Scored, second: Scored) -> list[str]:
    """Sentences on what keeps two results from being compared."""
    differences = []
    if first.items != second.items:
        others = sorted(set(first.items) ^ set(second.items))
        differences.append(f"They are of other items{f', such as {others[0]}' if others else ''}.")
    elif first.groups != second.groups:
        differences.append("Their items are in other groups.")
    ours, theirs = first.files["reference"], second.files["reference"]
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if changed:
        differences.append(f"Their references differ in {len(changed)} files{f', such as {changed[0]}' if changed[0] else ''}.")
    columns = {column.slug: column for column in second.columns}
    for column in first.columns:
        other = columns.pop(column.slug, None)
        if other is None:
            differences.append(f"Only the first has {column.slug}.")
        elif column.fingerprint != other.fingerprint:
            differences.append(f"{column.slug} is another metric in the second: other parameters, or another version.")
    differences += [f"Only the second has {slug}." for slug in columns]
    if first.unit_scale != second.unit_scale:
        differences.append(f"Their units differ: {first.unit_scale:g} and {second.unit_scale:g} metres.")
    return differences


def _corrected(units: dict[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """p of each metric, all metrics one family: those that have values of the same groups on both sides are tested together."""
    families: dict[bytes, list[str]] = {}
    for slug, (a, b) in units.items():
        known = ~(np.isnan(a) | np.isnan(b))
        if known.sum() >= GROUPS_FOR_BOARD_INTERVAL:
            families.setdefault(known.tobytes(), []).append(slug)
    found: dict[str, float] = {}
    for known_bytes, slugs in families.items():
        known = np.frombuffer(known_bytes, dtype=bool)
        p = adjusted(np.stack([np.stack([units[slug][0][known], units[slug][1][known]]) for slug in slugs]))
        # Families of other groups are corrected for each other by their number (Bonferroni).
        found |= {slug: min(1.0, len(families) * float(p[n, 0, 1])) for n, slug in enumerate(slugs)}
    return found
