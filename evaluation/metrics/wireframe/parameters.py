"""Sources, parameters and shapes of specs that several wireframe metrics share."""

from __future__ import annotations

from typing import Any

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.spec import MetricSpec, Param, Source

HOHO = Origin(note="HoHo / S23DR 2025 official scorer, hoho2025 0.2.2")
S23DR_2024 = Origin(note="S23DR 2024 official scorer")
WIREFRAME = Origin((papers.WIREFRAMES,))
BUILDING3D = Origin((papers.BUILDING3D,))
WIRE_PARSING = Origin((papers.LCNN, papers.PC2WF), "defined in images by L-CNN, extended to 3D by PC2WF")


def tau(name: str, doc: str, source: Source, default: float = 0.5) -> Param:
    """A threshold in metres."""
    return Param(name, default, "float", low=0.0, positive=True, unit="m", doc=doc, source=source)


def samples(name: str, default: int, doc: str, most: int = 1_000_000) -> Param:
    """A number of sample points."""
    return Param(name, default, "int", low=1, high=most, doc=doc, source=Source.OURS)


MATCHING = Param(
    "matching",
    "hungarian_raw",
    "choice",
    choices=("hungarian_raw", "hungarian_capped"),
    doc="hungarian_raw minimises the total distance and then cuts at the threshold, as the official scorers do; hungarian_capped maximises "
    "the number of hits first.",
    source=Source.CODE,
)
MERGE = Param(
    "merge_tol",
    None,
    "float",
    low=0.0,
    positive=True,
    unit="m",
    doc="Merge vertices closer than this (single linkage) before anything else; off by default.",
    source=Source.OURS,
)
ISOLATED = Param("drop_isolated", False, "bool", doc="Leave out vertices that no edge uses.", source=Source.OURS)
SEED = Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of random sampling.", source=Source.OURS)


def share(key: str, title: str, **more: Any) -> MetricSpec:
    """A metric from 0, which is the worst and what a missing item gets, to 1."""
    return MetricSpec(
        key=key,
        title=title,
        family="wireframe",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        worst="0",
        **more,
    )


def distance(key: str, title: str, unit: str = "m", **more: Any) -> MetricSpec:
    """A metric from 0, which is the best, without end; `worst` says what a missing item gets."""
    return MetricSpec(
        key=key,
        title=title,
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit=unit,
        **more,
    )
