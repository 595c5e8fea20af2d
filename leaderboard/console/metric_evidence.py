"""A metric before it becomes a column, for organizers: properties, weaknesses, cost, and what speaks against it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings

from evaluation.metrics import registry
from evaluation.metrics.registry import MetricSpec
from evaluation.models import EvaluationBatch, MetricProgram
from evaluation.networks import weights
from evaluation.reference_warnings import REGIONS
from leaderboard.boards import metric_evidence
from leaderboard.boards.metric_evidence import Evidence
from leaderboard.bundle.state import reference_in_force
from leaderboard.models import ProgramValues, Study
from submissions.models import Phase

MAX_NAMED = 8  # scenes in a sentence
SLOW_ENTRY = 120.0  # seconds that one metric may take of an entry before it is worth a word
# Metrics that see one kind of mistake only, and those that see the other.
OTHER_HALF = {
    "corner_precision": ("Leaving corners out", ("corner_recall", "corner_f1")),
    "corner_recall": ("Adding wrong corners", ("corner_precision", "corner_f1")),
    "corner_offset": ("Leaving corners out", ("corner_recall", "corner_f1")),
    "edge_precision": ("Leaving edges out", ("edge_recall", "edge_f1")),
    "edge_recall": ("Adding wrong edges", ("edge_precision", "edge_f1")),
    "uhd": ("Adding surface far from the reference", ("chamfer_l1", "mesh_fscore")),
    "p2s": ("Leaving parts of the surface out", ("chamfer_l1", "mesh_fscore")),
}
OF_THE_METRIC = {
    "hss": "HSS changes when a reference and its entry are turned together: ask teams to keep the reference's axes.",
    "hss_exact": "This metric computes exact solids, which takes seconds. HSS takes milliseconds, and its values hardly differ.",
    "sap3d": "This metric ranks edges by their confidence. An entry without confidences gets 0: ask teams for files with confidences.",
    "volume_iou": "This metric needs closed surfaces. The value of an open mesh depends on how its holes are closed. A reference "
    "that encloses nothing gives no value.",
}


@dataclass(frozen=True)
class MetricEvidence:
    """A metric with the parameters entered so far, for `phase`; `slug` is the column that is being edited."""

    spec: MetricSpec
    params: Mapping[str, Any]
    phase: Phase
    slug: str = ""

    @cached_property
    def own(self) -> Evidence:
        """Evidence with exactly these parameters."""
        return Evidence(self.spec, self.params)

    @cached_property
    def shown(self) -> Evidence:
        """Evidence on the panel: of these parameters, else of the defaults."""
        return self.own if self.own.tables else metric_evidence.of_default(self.spec)

    @cached_property
    def n_items(self) -> int:
        """Items that an entry of the phase has; 0 without a reference."""
        reference = reference_in_force(self.phase)
        return len(reference.item_ids) if reference else 0

    @property
    def cost(self) -> metric_evidence.Cost | None:
        """The higher of two costs: beside other metrics here, and on its own. Work that it shares here may not be shared in this phase."""
        costs = [cost for cost in (self.own.cost, self.shown.cost_alone) if cost is not None]
        return max(costs, key=lambda cost: cost.ms, default=None)

    @property
    def seconds_per_entry(self) -> float | None:
        """Seconds an entry will take, for this metric alone: as measured, or more where it declares more for models of such sizes."""
        return max(filter(None, (self._measured, self._declared)), default=None)

    @property
    def is_larger_here(self) -> bool:
        """True if the phase's models are so large that what the metric costs on others says nothing."""
        return self._declared > (self._measured or 0.0)

    @property
    def _measured(self) -> float | None:
        return self.cost.of(self.n_items) if self.cost and self.n_items else None

    @cached_property
    def _declared(self) -> float:
        """Seconds of an entry that the metric declares. Beside a measurement only models count for which it declares more than for smaller
        ones: an upper limit for a model of any size says less than what was measured."""
        batch, effort = EvaluationBatch.latest(self.phase), self.spec.effort
        if batch is None or effort is None:
            return 0.0
        sizes = [tuple(size) for size in batch.reference.bounds]
        return sum(effort.of(size, self.params) for size in sizes if self._measured is None or effort.grows(size))

    @cached_property
    def on_studies(self) -> list[tuple[ProgramValues, dict]]:
        """An organizer's own metric's agreement with people in the phase's studies, before there is a column; empty for another metric."""
        if not self.spec.is_program:
            return []
        scope, _, key = self.spec.key.partition("/")
        newest = MetricProgram.objects.newest().filter(scope=scope, key=key)
        rows = ProgramValues.objects.filter(program__in=newest, study__phase=self.phase, decided__isnull=False)
        return [(row, row.figure) for row in rows.select_related("study").order_by("study__title")]

    @cached_property
    def has_study(self) -> bool:
        """True if a study of the phase asks, or asked, about its entries: every column is compared with its findings."""
        return self.phase.studies.exclude(state=Study.State.DRAFT).filter(entries__submission__isnull=False).exists()

    @cached_property
    def missing(self) -> str:
        """Sentence on what the phase's reference lacks for a value; empty where nothing is known to be missing."""
        reference = reference_in_force(self.phase) if self.spec.wants_prompts else None
        return self.spec.missing_prompts(reference.has_prompts) if reference is not None else ""

    @property
    def takes_regions(self) -> bool:
        """True if it looks at nothing but marked regions, and there is a reference to mark them on."""
        return self.spec.key == REGIONS and self.phase.references.exists()

    @property
    def refusal(self) -> str:
        return weights.refusal(self.spec, self.params) or self.missing

    @cached_property
    def warnings(self) -> dict[str, str]:
        """Warnings about this metric in this phase: the sentence of each by what it is about."""
        found = {"metric": self.spec.warning, "weights": weights.statement(self.spec, self.params)}
        found |= {"same_definition": "", "other_half": "", "weakness": OF_THE_METRIC.get(self.spec.key, "")}
        others = [metric for metric in self.phase.metrics.all() if metric.slug != self.slug]
        same = next((metric for metric in others if metric.key == self.spec.key and metric.resolved == self.params), None)
        if same is not None:
            sentence = f"The column {same.label} already has the same metric and parameters, so a second column would have the same values."
            found["same_definition"] = sentence
        cheap, cured_by = OTHER_HALF.get(self.spec.key, ("", ()))
        if cured_by and not any(metric.key in cured_by for metric in others):
            titles = " or ".join(registry.get(key).title for key in cured_by if key in registry.REGISTRY)
            found["other_half"] = f"{cheap} does not worsen this metric, and no other column of the phase notices it: add {titles} as well."
        found |= {"lengths": self._lengths, "unmarked": self._unmarked, **self._slowness}
        return {about: sentence for about, sentence in found.items() if sentence}

    @property
    def _lengths(self) -> str:
        """Warning about its lengths in the phase's unit."""
        names = " and ".join(param.name for param in self.spec.params if param.unit == "m" and self.params.get(param.name) is not None)
        scale, unit = self.phase.unit_scale, self.phase.unit
        if not names or (unit != "unitless" and scale == 1):
            return ""
        words = f"whatever the files hold; here one unit of the files is {scale:g} m, so 0.5 m is {0.5 / scale:g} {unit}."
        if unit == "unitless":
            words = "but the coordinates of this phase have no unit; set the phase's unit, or choose the numbers to fit."
        return f"{names}: in metres, {words}"

    @property
    def _unmarked(self) -> str:
        """Warning about scenes of the reference without the regions that it looks at."""
        reference = reference_in_force(self.phase) if self.takes_regions else None
        bare = reference.scenes_without_regions() if reference is not None else []
        if reference is None or not bare:
            return ""
        scenes = ", ".join(bare[:MAX_NAMED]) + (f" and {len(bare) - MAX_NAMED} more" if len(bare) > MAX_NAMED else "")
        return f"Version {reference.version} of the reference, which is valid, marks no region in {scenes}, so it has no value there."

    @property
    def _slowness(self) -> dict[str, str]:
        """Warning about the time that it takes: one that its parts may be stopped, or that it is slow."""
        part = self.cost.of(min(settings.PART_SAMPLES, self.n_items or settings.PART_SAMPLES)) if self.cost else 0.0
        if self.spec.effort is None and part > settings.CHILD_SECONDS / 2:
            return {
                "stopped": f"A part of {settings.PART_SAMPLES} items takes about {part:.0f} s, and the service stops a part after "
                f"{settings.CHILD_SECONDS} s: entries may fail. Choose cheaper parameters, or ask the operator for smaller parts."
            }
        if self.seconds_per_entry is not None and self.seconds_per_entry > SLOW_ENTRY:
            return {"slow": f"It is slow: about {self.seconds_per_entry / 60:.0f} min an entry, while other entries wait."}
        return {}
