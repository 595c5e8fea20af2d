"""A score: one metric's value for one evaluation, with the whole per-sample vector."""

from __future__ import annotations

import io
import itertools
import math
import statistics
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from django.db import models

from evaluation.metrics import registry
from evaluation.metrics.aggregation import ALIKE, Summary, mean_interval, unit_matrix
from evaluation.metrics.column import Column
from evaluation.metrics.result import FLAGS, SampleScores
from evaluation.metrics.result import Status as SampleStatus
from evaluation.metrics.spec import MetricSpec
from evaluation.programs import results

FROM_REFERENCE = ("gt_diagonal", "gt_diagonal_squared", "empty_prediction")  # worst values that are measured on the reference alone
RECENT = 200  # scores that say what a metric costs
MAX_FAILURES = 100
FAILED_UNSAID = "The program ended in an error, or gave no valid value. Its own message is shown to people who may see the reference."
NEWEST = 20  # and what it costs in a phase now
STATUSES = tuple(SampleStatus)  # a status vector holds indices into this
CLEAN_BAND = ("clean_mean", "clean_least", "clean_greatest")  # parts of what judges by clean views: what these score themselves


class Score(models.Model):
    """Summary columns, one float64 vector over the reference's ordered items (NaN where the value
    is null), one status vector, and named part vectors."""

    evaluation = models.ForeignKey("evaluation.Evaluation", on_delete=models.CASCADE, related_name="scores")
    slug = models.CharField(max_length=63)
    key = models.CharField(max_length=105, blank=True)  # empty of an imported figure
    fingerprint = models.CharField(max_length=64, db_index=True)
    value = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    n = models.PositiveIntegerField(default=0)
    median = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    sd = models.FloatField(null=True)
    n_ok = models.PositiveIntegerField(default=0)
    n_missing = models.PositiveIntegerField(default=0)
    n_invalid = models.PositiveIntegerField(default=0)
    n_null = models.PositiveIntegerField(default=0)
    extra = models.JSONField(default=dict, blank=True)  # micro-averages and the like
    flags = models.JSONField(default=dict, blank=True)  # of the service's own metrics: the places of items by flag
    failures = models.JSONField(default=list, blank=True)  # of a program: [item, why it failed there, whether all may read that]
    cost_ms = models.FloatField(null=True)  # milliseconds an item took here; no part of the value
    vector = models.BinaryField(null=True)
    status_vector = models.BinaryField(null=True)
    part_vectors = models.BinaryField(null=True)

    class Meta:
        ordering = ["evaluation_id", "id"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "slug"], name="one_score_per_metric")]

    def __str__(self) -> str:
        return f"{self.slug} of {self.evaluation_id}: {self.value}"

    @classmethod
    def write(
        cls,
        evaluation: int,
        columns: Sequence[Column],
        finished: Mapping[str, tuple[SampleScores, Summary]],
        cost_ms: Mapping[str, float] | None = None,
    ) -> None:
        """Write one row for each finished one of a batch's `columns`, of the evaluation of that key; call it in the closing transaction."""
        rows = []
        for column in columns:
            if column.slug not in finished:
                continue
            samples, summary = finished[column.slug]
            names = sorted({name for sample in samples.parts for name in sample})
            packed = io.BytesIO()
            # As numpy.savez_compressed writes it, which has names of its own that no part could have: file, allow_pickle.
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in names:
                    with archive.open(f"{name}.npy", "w") as member:
                        np.lib.format.write_array(member, _floats([sample.get(name) for sample in samples.parts]), allow_pickle=False)
            rows.append(
                cls(
                    evaluation_id=evaluation,
                    slug=column.slug,
                    key=column.key,
                    fingerprint=column.fingerprint,
                    value=summary.value,
                    ci_low=summary.ci_low,
                    ci_high=summary.ci_high,
                    n=summary.n,
                    median=summary.median,
                    minimum=summary.minimum,
                    maximum=summary.maximum,
                    sd=summary.sd,
                    n_ok=summary.n_ok,
                    n_missing=summary.n_missing,
                    n_invalid=summary.n_invalid,
                    n_null=summary.n_null,
                    extra=summary.extra,
                    flags={
                        flag: [place for place, of_item in enumerate(samples.flags) if flag in of_item]
                        for flag in sorted(FLAGS.intersection(*[itertools.chain.from_iterable(samples.flags)]))
                    },
                    failures=[[*failure] for failure in itertools.islice(results.failures(samples), MAX_FAILURES)],
                    cost_ms=(cost_ms or {}).get(column.slug),
                    vector=_floats(samples.values).tobytes(),
                    status_vector=bytes(STATUSES.index(SampleStatus(s)) for s in samples.statuses),
                    part_vectors=packed.getvalue(),
                )
            )
        cls.objects.bulk_create(rows)

    @classmethod
    def typical_cost(cls, **values: str) -> float | None:
        """Milliseconds per item, the median over the newest scores with these `values` (a key, or a
        fingerprint); None where none was timed."""
        recent = cls.objects.filter(cost_ms__isnull=False, **values).order_by("-id").values_list("cost_ms", flat=True)[:RECENT]
        return statistics.median(recent) if recent else None

    @classmethod
    def newest_costs(cls, phase_id: int, fingerprints: Iterable[str]) -> dict[str, float]:
        """Milliseconds per item in a phase, the median over the newest scores of each fingerprint; those not timed are left out."""
        wanted = list(fingerprints)
        timed = cls.objects.filter(evaluation__batch__phase=phase_id, fingerprint__in=wanted, cost_ms__isnull=False).order_by("-id")
        found: dict[str, list[float]] = {}
        for fingerprint, cost in timed.values_list("fingerprint", "cost_ms")[: NEWEST * len(wanted)]:
            found.setdefault(fingerprint, []).append(cost)
        return {fingerprint: statistics.median(costs) for fingerprint, costs in found.items()}

    @classmethod
    def typical_costs(cls, fingerprints: Iterable[str]) -> dict[str, float]:
        """`typical_cost` of several fingerprints in one query; those that were not timed are left out."""
        timed = cls.objects.filter(fingerprint__in=list(fingerprints), cost_ms__isnull=False).order_by("-id")
        found: dict[str, list[float]] = {}
        for fingerprint, cost in timed.values_list("fingerprint", "cost_ms")[: 50 * RECENT]:
            found.setdefault(fingerprint, []).append(cost)
        return {fingerprint: statistics.median(costs[:RECENT]) for fingerprint, costs in found.items()}

    @cached_property
    def spec(self) -> MetricSpec:
        """The metric as it is now; of an imported figure what its column declares. Raises `registry.UnknownMetric`."""
        if self.key:
            return registry.get(self.key)
        return next(column.spec for column in self.evaluation.batch.columns if column.slug == self.slug)

    @property
    def values(self) -> np.ndarray:
        """float64[items] in the reference's order; NaN is null."""
        return np.frombuffer(bytes(self.vector or b""), dtype=np.float64)

    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the value, made of the vector: `ci_low` and `ci_high` are as they were scored, which may have been under
        an older rule. None for a figure that was imported without values of items, and wherever `mean_interval` gives none."""
        values, groups = self.values, self.evaluation.batch.groups
        if not len(values) or len(values) != len(groups):
            return None
        names = self.evaluation.batch.item_ids
        found = mean_interval(unit_matrix(values[None], groups, self.spec.level, names), self.spec.bounds)
        return None if math.isnan(found.low[0]) else (float(found.low[0]), float(found.high[0]))

    @property
    def is_alike(self) -> bool:
        """True if all items with a value have the same value, so that no interval can be computed."""
        known = self.values[np.isfinite(self.values)]
        return len(known) > 0 and bool(np.ptp(known) <= ALIKE * max(1.0, abs(float(known[0]))))

    def values_shown(self, sees_reference: bool) -> np.ndarray:
        """`values` for somebody who may or may not see the reference. The worst value of some metrics is a
        length of the reference itself, such as its diagonal. Missing items get it, and far-off ones are
        capped at it; such values are NaN if the reference is hidden. The mean over items holds them all the same: whoever knows the other
        values can compute them, as the organizers' guide says."""
        values = self.values
        if sees_reference or not len(values) or self.spec.worst not in FROM_REFERENCE:
            return values
        answered = np.array([status == SampleStatus.OK for status in self.statuses], dtype=bool)
        uncapped = self.parts.get("uncapped")  # there is one where the value was capped
        if uncapped is not None:
            answered &= np.isnan(uncapped)
        return np.where(answered, values, np.nan)

    @property
    def holds_lengths(self) -> bool:
        """True if some value is a length of the reference itself, see `values_shown`."""
        return not np.array_equal(np.isnan(self.values_shown(False)), np.isnan(self.values))

    def failures_shown(self, sees_reference: bool) -> dict[str, str]:
        """Reasons why an organizer's program failed, for the first items on which it failed. A program's message may quote the reference,
        so users who may not see the reference get only the service's own sentences."""
        return {row[0]: row[1] if sees_reference or row[2:] == [True] else FAILED_UNSAID for row in self.failures}

    @property
    def n_failed(self) -> int:
        """Number of items on which an organizer's program failed."""
        return bytes(self.status_vector or b"").count(STATUSES.index(SampleStatus.FAILED))

    @property
    def statuses(self) -> list[SampleStatus]:
        return [STATUSES[code] for code in bytes(self.status_vector or b"")]

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """Named float64[items] vectors; NaN where a sample has no such part."""
        if not self.part_vectors:
            return {}
        with np.load(io.BytesIO(bytes(self.part_vectors)), allow_pickle=False) as data:
            return {name: data[name] for name in data.files}

    def clean_bands(self, groups: Sequence[str]) -> dict[str, tuple[float, float, float]]:
        """Mean, least and greatest score of the clean views of each scene, of a metric that judges by these; `groups` has one scene
        per item. A scene none of whose items was scored has none."""
        parts = self.parts
        found: dict[str, tuple[float, float, float]] = {}
        if parts.keys() >= set(CLEAN_BAND):
            for scene, mean, least, greatest in zip(groups, *(parts[name].tolist() for name in CLEAN_BAND), strict=True):
                if not math.isnan(mean):
                    found.setdefault(scene, (mean, least, greatest))
        return found


def _floats(values: Iterable[float | None]) -> np.ndarray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
