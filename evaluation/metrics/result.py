"""The result of one metric on one item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# All flags that the service's own metrics give, and `scoring`. What programs say of an item begins with a word and ": ", see
# `evaluation.programs.results`.
FLAGS = frozenset(
    {
        "above_clean",
        "both_empty",
        "capped",
        "clean_views_alike",
        "copied_reference",
        "decimated",
        "degenerate",
        "degenerate_gt",
        "degenerate_reference",
        "few_references",
        "flat_references",
        "flat_spectrum",
        "gt_decimated",
        "gt_encloses_nothing",
        "gt_flat_spectrum",
        "gt_not_watertight",
        "no_clean_views",
        "no_edge_score",
        "no_mask",
        "no_prompt",
        "objects_cut",
        "pairwise_intersection",
        "points_only",
        "pred_not_watertight",
        "prompt_cut",
        "psnr_capped",
        "rank_deficient",
        "reference_subset",
        "resized",
        "single_reference",
        "small_regions",
        "thin",
        "too_small",
    }
)


class Status(StrEnum):
    """Reason for a value being what it is."""

    OK = "ok"
    EMPTY_PRED = "empty_pred"  # valid, but nothing in it that the metric looks at
    MISSING_PRED = "missing_pred"
    INVALID_PRED = "invalid_pred"
    NO_OBJECT = "no_object"
    EMPTY_MASK = "empty_mask"
    SIZE_MISMATCH = "size_mismatch"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"  # a program that an organizer brought gave no value, or none that can be taken


@dataclass(frozen=True)
class MetricResult:
    """One value with its status, flags and named parts.

    `value` is a finite float, or None where the reference or the configuration leaves nothing
    to measure. Every part is a finite float, and every flag one of FLAGS or what a program says. Anything else is a programming error
    (ValueError).
    `partial` is what a metric of level "group" or "set" needs of the item when its group, or all
    items, are there: plain JSON values, kept until then and no longer.
    """

    value: float | None
    status: Status = Status.OK
    flags: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    partial: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        named = {"value": self.value} if self.value is not None else {}
        for name, number in (named | dict(self.parts)).items():
            if not math.isfinite(number):
                raise ValueError(f"a metric's {name} must be finite, got {number}")
        for flag in self.flags:
            if flag not in FLAGS and ": " not in flag:
                raise ValueError(f"{flag!r} is not among the flags that metrics give; add it to FLAGS")


@dataclass(frozen=True)
class ItemPartial:
    """One item as the `finish` of a group or set metric sees it: its id, its group, and what was found on it."""

    item_id: str
    group: str
    result: MetricResult


@dataclass(frozen=True)
class SampleScores:
    """One metric's values over some items, in their order.

    `values` are for ranking: never worse than what a missing item gets. Where that changed a
    value, the item's flags say "capped" and its parts hold the metric's own value as "uncapped".
    `partials` are what a metric of groups or of the set needs to be finished; nothing else has any,
    and once it is finished they are gone.
    """

    slug: str
    item_ids: tuple[str, ...]
    values: tuple[float | None, ...]
    statuses: tuple[str, ...]
    parts: tuple[Mapping[str, float], ...]
    flags: tuple[tuple[str, ...], ...]
    partials: tuple[Mapping[str, Any] | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; floats survive exactly."""
        partials = {"partials": [None if partial is None else dict(partial) for partial in self.partials]} if self.partials else {}
        return {
            "slug": self.slug,
            "item_ids": list(self.item_ids),
            "values": list(self.values),
            "statuses": list(self.statuses),
            "parts": [dict(parts) for parts in self.parts],
            "flags": [list(flags) for flags in self.flags],
            **partials,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SampleScores:
        """The inverse of to_dict."""
        return cls(
            slug=data["slug"],
            item_ids=tuple(data["item_ids"]),
            values=tuple(data["values"]),
            statuses=tuple(data["statuses"]),
            parts=tuple(dict(parts) for parts in data["parts"]),
            flags=tuple(tuple(flags) for flags in data["flags"]),
            partials=tuple(data.get("partials", ())),
        )
