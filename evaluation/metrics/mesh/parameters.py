"""Sources, parameters and shapes of specs that several mesh metrics share."""

from __future__ import annotations

from typing import Any

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.spec import MetricSpec, Param, Source

OSIM = Origin((papers.OSIM,), "with the usual conventions for surfaces")
LOCASE = Origin((papers.LOCASE,), "with the usual conventions for surfaces")

NORMALIZE = Param(
    "normalize",
    "gt_unit",
    "choice",
    choices=("gt_unit", "none"),
    doc="gt_unit: the longest side of the reference's bounding box is 1, and the prediction is scaled with it; none: metres.",
    source=Source.OURS,
)
ALIGN = Param(
    "align",
    "none",
    "choice",
    choices=("none", "similarity_icp"),
    doc="similarity_icp first aligns the prediction with the reference by a rotation, a scale and a translation, which are reported as "
    "parts.",
    source=Source.OURS,
)
SEED = Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the surface samples; the same for both sides.", source=Source.OURS)
SAMPLES = Param("n", 100_000, "int", low=1, high=1_000_000, doc="Sample points on each surface, uniform over its area.", source=Source.OURS)
SURFACE = (SAMPLES, NORMALIZE, ALIGN, SEED)


def length(key: str, title: str, doc: str, worst: str = "gt_diagonal", **more: Any) -> MetricSpec:
    """A length in the reference's frame, found on samples of both surfaces; 0 is best."""
    return MetricSpec(
        key=key,
        title=title,
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="",
        params=SURFACE,
        worst=worst,
        doc=f"{doc} Lengths are fractions of the longest side of the reference's bounding box; with normalize=none they are metres.",
        **more,
    )
