"""Predictions, references and metric requests in; values out. No database, no queue.

A worker scores slices of the items with `score_items` and the closing step joins them with
`finish`; one pass over all items gives bit for bit the same.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.metrics import registry
from evaluation.metrics.aggregation import Summary, summarise
from evaluation.metrics.registry import MetricSpec
from evaluation.metrics.result import MetricResult, Status

if TYPE_CHECKING:
    from evaluation.metrics.shared import Arrays

# What a metric of a family takes: one item's prediction and reference, with their shared work.
PAIRS = {
    "wireframe": "evaluation.metrics.wireframe.pair.Pair",
    "mesh": "evaluation.metrics.mesh.pair.MeshPair",
}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class MetricRequest:
    """One column to compute: a metric under a slug of its own, with the parameters given."""

    slug: str
    key: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class SampleScores:
    """One metric's values over some items, in their order.

    `values` are for ranking: never worse than what a missing item gets. Where that changed a
    value, the item's flags say "capped" and its parts hold the metric's own value as "uncapped".
    """

    slug: str
    item_ids: tuple[str, ...]
    values: tuple[float | None, ...]
    statuses: tuple[str, ...]
    parts: tuple[Mapping[str, float], ...]
    flags: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; floats survive exactly."""
        return {
            "slug": self.slug,
            "item_ids": list(self.item_ids),
            "values": list(self.values),
            "statuses": list(self.statuses),
            "parts": [dict(parts) for parts in self.parts],
            "flags": [list(flags) for flags in self.flags],
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
        )


@dataclass(frozen=True)
class _Column:
    """A request made ready: its spec, its full parameters and its function."""

    slug: str
    spec: MetricSpec
    params: dict[str, Any]
    function: Callable[..., MetricResult]


def score_items(
    predictions: Mapping[str, Any],
    references: Mapping[str, Any],
    requests: Sequence[MetricRequest],
    unit_scale: float = 1.0,
    item_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
    clock: dict[str, float] | None = None,
    prepared: Mapping[str, MutableMapping[str, Arrays]] | None = None,
) -> dict[str, SampleScores]:
    """Score `item_ids` (default: all references, in order) and return the scores by slug.

    A prediction that is absent or None is a missing item. `unit_scale` is in metres per unit of
    the files; lengths come out in metres. `progress` is called with (done, total) after each item.

    `clock` gains the seconds that each slug took. Metrics of an item share work (matchings,
    samples, solids), and the one that asks for a piece of it first is charged for it, so what a
    column costs depends on those before it; the sum does not. `prepared` gives what is known of a
    reference item already, and gains what is not; see `evaluation.prepared`.
    """
    columns = [_column(request) for request in requests]
    if len({column.slug for column in columns}) != len(columns):
        raise ValueError("two requests share a slug; every column needs its own")
    ids = tuple(references) if item_ids is None else tuple(item_ids)
    rows: dict[str, list[MetricResult]] = {column.slug: [] for column in columns}
    for done, item_id in enumerate(ids, start=1):
        known = prepared.get(item_id) if prepared else None
        results = _score_item(predictions.get(item_id), references[item_id], columns, unit_scale, clock, known)
        for column, result in zip(columns, results, strict=True):
            rows[column.slug].append(result)
        if progress is not None:
            progress(done, len(ids))
    return {slug: _scores(slug, ids, results) for slug, results in rows.items()}


def finish(
    requests: Sequence[MetricRequest],
    slices: Sequence[Mapping[str, SampleScores]],
    item_ids: Sequence[str],
    groups: Sequence[str],
) -> dict[str, tuple[SampleScores, Summary]]:
    """Join slices, whatever their order, into the order of `item_ids`, and summarise each column.

    `groups` has one entry per item id. ValueError if an item is absent, doubled or unknown.
    """
    finished = {}
    for request in requests:
        scores = _joined(request.slug, [part[request.slug] for part in slices if request.slug in part], item_ids)
        spec = registry.get(request.key)
        finished[request.slug] = (
            scores,
            summarise(spec, scores.values, scores.statuses, scores.parts, groups),
        )
    return finished


def _column(request: MetricRequest) -> _Column:
    spec = registry.get(request.key)
    params = registry.resolve_params(request.key, request.params)
    return _Column(request.slug, spec, params, spec.load())


def _pair_type(family: str) -> Any:
    module, name = PAIRS[family].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def _score_item(
    prediction: Any,
    reference: Any,
    columns: Sequence[_Column],
    unit_scale: float,
    clock: dict[str, float] | None,
    prepared: MutableMapping[str, Arrays] | None,
) -> list[MetricResult]:
    pairs: dict[str, Any] = {}
    results, mark = [], time.perf_counter()
    for column in columns:
        family = column.spec.family
        if family not in pairs:
            pairs[family] = _pair_type(family).of(prediction, reference, unit_scale, prepared=prepared)
        results.append(_score(column, pairs[family], prediction is None))
        if clock is not None:
            mark, before = time.perf_counter(), mark
            clock[column.slug] = clock.get(column.slug, 0.0) + mark - before
    return results


def _score(column: _Column, pair: Any, missing: bool) -> MetricResult:
    """One metric on one item, with the rules for missing items and for ranking applied."""
    result = column.function(pair, **column.params)
    if result.value is None:
        return result
    worst = _worst(column, pair)
    if missing:
        return MetricResult(worst, Status.MISSING_PRED, parts=result.parts)
    higher = column.spec.higher_is_better
    capped = max(result.value, worst) if higher else min(result.value, worst)
    if capped == result.value:
        return result
    return MetricResult(
        capped,
        result.status,
        (*result.flags, "capped"),
        {**result.parts, "uncapped": result.value},
    )


def _worst(column: _Column, pair: Any) -> float:
    """The value of a missing item: the spec's worst, for this item's reference."""
    rule = column.spec.worst
    if rule == "tau":
        return float(column.params["tau"])
    if rule in ("gt_diagonal", "gt_diagonal_squared"):
        normalize = column.params.get("normalize")
        diagonal = float(pair.reference_diagonal if normalize is None else pair.diagonal(normalize))
        return diagonal if rule == "gt_diagonal" else diagonal**2
    if rule == "empty_prediction":
        return float(column.function(pair.without_prediction(), **column.params).value)
    return float(rule)


def _scores(slug: str, ids: tuple[str, ...], results: Sequence[MetricResult]) -> SampleScores:
    return SampleScores(
        slug=slug,
        item_ids=ids,
        values=tuple(result.value for result in results),
        statuses=tuple(str(result.status) for result in results),
        parts=tuple(dict(result.parts) for result in results),
        flags=tuple(result.flags for result in results),
    )


def _joined(slug: str, slices: Sequence[SampleScores], item_ids: Sequence[str]) -> SampleScores:
    """One SampleScores over `item_ids` from slices that together hold each of them once."""
    rows: dict[str, tuple[Any, ...]] = {}
    for part in slices:
        columns = zip(part.item_ids, part.values, part.statuses, part.parts, part.flags, strict=True)
        for item_id, *row in columns:
            if item_id in rows:
                raise ValueError(f"item {item_id!r} of {slug!r} is in two slices")
            rows[item_id] = tuple(row)
    if set(rows) != set(item_ids):
        odd = min(set(rows) ^ set(item_ids))
        raise ValueError(f"the slices of {slug!r} do not cover the items exactly: see {odd!r}")
    values, statuses, parts, flags = zip(*(rows[item_id] for item_id in item_ids), strict=True)
    return SampleScores(slug, tuple(item_ids), values, statuses, parts, flags)
