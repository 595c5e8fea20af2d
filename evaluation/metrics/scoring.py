"""Predictions, references and metric requests in; values out. No database, no queue.

A worker scores slices of the items with `score_items` and the closing step joins them with
`finish`; one pass over all items gives bit for bit the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.metrics.aggregation import Summary, summarise
from evaluation.metrics.registry import MetricSpec
from evaluation.metrics.result import ItemPartial, MetricResult, SampleScores, Status
from evaluation.metrics.shared import TOGETHER, Ledger
from evaluation.networks import device_use, graphics_card
from evaluation.networks.device_use import CardTrouble
from submissions.kinds import FAMILIES

if TYPE_CHECKING:
    from evaluation.metrics.shared import Arrays

Progress = Callable[[int, int], None]
AHEAD = 8  # items that networks look at together on a graphics card; fewer where its memory does not hold them

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MetricRequest:
    """One column to compute: a metric under a slug of its own, with the parameters given; without a `version` as it is now."""

    slug: str
    key: str
    params: Mapping[str, Any]
    version: int | None = None

    @property
    def spec(self) -> MetricSpec:
        """The metric in that version; ValueError where its code is gone."""
        found = registry.get(self.key).at(self.version)
        if found is None:
            raise ValueError(f"version {self.version} of {self.key} is not computed any more")
        return found


@dataclass(frozen=True)
class _Column:
    """A request made ready: its spec and its full parameters."""

    slug: str
    spec: MetricSpec
    params: dict[str, Any]


def score_items(
    predictions: Mapping[str, Any],
    references: Mapping[str, Any],
    requests: Sequence[MetricRequest],
    unit_scale: float = 1.0,
    item_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
    clock: dict[str, float] | None = None,
    prepared: Mapping[str, MutableMapping[str, Arrays]] | None = None,
    groups: Mapping[str, str] | None = None,
    devices: dict[str, set[str]] | None = None,
) -> dict[str, SampleScores]:
    """Score `item_ids` (default: all references, in order) and return the scores by slug.

    A prediction that is absent or None is a missing item. `unit_scale` is in metres per unit of
    the files; lengths come out in metres. `progress` is called with (done, total) after each item.

    `clock` gains the seconds that each slug took by itself. Seconds of work that several share (matchings, samples, solids) are under their
    slugs with a + between them, whichever asked first. `devices` gains the types of devices (cpu, cuda) on which networks, and other work
    that a graphics card may do, were computed for each slug. `prepared` gives what is known of a reference item already, and gains what is
    not; see `evaluation.metrics.prepared`. `groups` names the group of each item, for programs that see a whole group; without it each is
    in the group of its name.
    """
    timed, progress = _Clock({} if clock is None else clock, {} if devices is None else devices), progress or _quiet
    columns = [_Column(one.slug, one.spec, registry.resolve_params(one.key, one.params)) for one in requests]
    if len({column.slug for column in columns}) != len(columns):
        raise ValueError("two requests share a slug; every column needs its own")
    ids = tuple(references) if item_ids is None else tuple(item_ids)
    programs = [column for column in columns if column.spec.is_program]
    ours = [column for column in columns if not column.spec.is_program]
    rows = _own_results(ours, predictions, references, unit_scale, ids, prepared or {}, timed, _quiet if programs else progress)
    for column in programs:
        mark = time.perf_counter()
        report = progress if column is programs[-1] else _quiet
        rows[column.slug] = _program_results(column, predictions, references, unit_scale, ids, groups or {}, report)
        timed.seconds[column.slug] = time.perf_counter() - mark
    return {column.slug: _scores(column.slug, ids, rows[column.slug]) for column in columns}


def finish(
    requests: Sequence[MetricRequest],
    slices: Sequence[Mapping[str, SampleScores]],
    item_ids: Sequence[str],
    groups: Sequence[str],
) -> dict[str, tuple[SampleScores, Summary]]:
    """Join slices in any order into the order of `item_ids`, finish values of groups or of the set, and summarise.

    `groups` has one entry per item id. Every item of a group gets its group's value, and every item the set's, so that
    the mean over groups is the score. ValueError if an item is absent, doubled or unknown.
    """
    finished = {}
    order = sorted(range(len(item_ids)), key=lambda place: (groups[place], item_ids[place]))  # sums depend on it in their last digit
    for request in requests:
        rows = _joined(request.slug, slices)
        if set(rows) != set(item_ids):
            odd = min(set(rows) ^ set(item_ids))
            raise ValueError(f"the slices of {request.slug!r} do not cover the items exactly: see {odd!r}")
        values, statuses, parts, flags, partials = zip(*(rows[item_id] for item_id in item_ids), strict=True)
        kept = partials if any(partial is not None for partial in partials) else ()
        scores = SampleScores(request.slug, tuple(item_ids), values, statuses, parts, flags, kept)
        spec = request.spec
        if spec.level != "item":
            scores = _finished(spec, registry.resolve_params(request.key, request.params), scores, groups)
        summary = summarise(
            spec,
            [scores.values[place] for place in order],
            [scores.statuses[place] for place in order],
            [scores.parts[place] for place in order],
            [groups[place] for place in order],
        )
        finished[request.slug] = (scores, summary)
    return finished


def _joined(slug: str, slices: Sequence[Mapping[str, SampleScores]]) -> dict[str, tuple[Any, ...]]:
    """Value, status, parts, flags and partial of each item of slices, which hold it once."""
    rows: dict[str, tuple[Any, ...]] = {}
    for part in (part[slug] for part in slices if slug in part):
        columns = (part.values, part.statuses, part.parts, part.flags, part.partials or (None,) * len(part.item_ids))
        for item_id, *row in zip(part.item_ids, *columns, strict=True):
            if item_id in rows:
                raise ValueError(f"item {item_id!r} of {slug!r} is in two slices")
            rows[item_id] = tuple(row)
    return rows


def themselves(references: Mapping[str, Any], requests: Sequence[MetricRequest]) -> dict[str, Any]:
    """The best entry there can be for metrics of one family: each reference item as the prediction of itself."""
    pair_type = KINDS[registry.get(requests[0].key).family].pair_type
    return {name: pair_type.itself(item) for name, item in references.items()}


def _pairs(
    columns: Sequence[_Column], prediction: Any, reference: Any, unit_scale: float, known: MutableMapping[str, Arrays] | None
) -> dict[str, Any]:
    """The pair of an item for each family of the columns; no file is decoded yet."""
    families = dict.fromkeys(column.spec.family for column in columns)
    return {family: KINDS[family].pair_type.of(prediction, reference, unit_scale, prepared=known) for family in families}


def _quiet(done: int, total: int) -> None:
    pass


@dataclass
class _Clock:
    """Seconds by slug, and by the slugs that share work; and the devices that each column was computed on."""

    seconds: dict[str, float]
    devices: dict[str, set[str]]
    mark: float = 0.0

    def lap(self, slug: str) -> float:
        """Seconds since the mark, after a column's work, and a new mark; the devices that it was done on are noted."""
        before, self.mark = self.mark, time.perf_counter()
        self.devices.setdefault(slug, set()).update(device_use.taken())
        return self.mark - before

    def charge(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def _look_ahead(columns: Sequence[_Column], window: Sequence[Mapping[str, Any]], timed: _Clock) -> None:
    """Let metrics compute several items together if their networks are faster that way. A failure here is left to each item: it fails again
    there, with the one item that causes it."""
    for column in columns if len(window) > 1 else ():
        timed.mark = time.perf_counter()
        try:
            column.spec.look_ahead([pairs[column.spec.family] for pairs in window], column.params)
        except CardTrouble:
            raise
        except Exception as error:
            log.info("%s looks at each item by itself: %s", column.spec.key, error)
        timed.charge(column.slug, timed.lap(column.slug))


def _of_item(columns: Sequence[_Column], pairs: Mapping[str, Any], missing: bool, timed: _Clock) -> dict[str, MetricResult]:
    """The results of one item by slug. What columns share is charged to all of them together."""
    ledger, took, results = Ledger(), {}, {}
    for pair in pairs.values():
        pair.ledger = ledger
    timed.mark = time.perf_counter()
    for column in columns:
        ledger.column = column.slug
        results[column.slug] = _score(column, pairs[column.spec.family], missing)
        took[column.slug] = timed.lap(column.slug)
    shared, first = ledger.shared()
    for slug, seconds in took.items():
        timed.charge(slug, seconds - first.get(slug, 0.0))
    for slugs, seconds in shared.items():
        timed.charge(TOGETHER.join(slugs), seconds)
    return results


def _own_results(
    columns: Sequence[_Column],
    predictions: Mapping[str, Any],
    references: Mapping[str, Any],
    unit_scale: float,
    ids: Sequence[str],
    prepared: Mapping[str, MutableMapping[str, Arrays]],
    timed: _Clock,
    progress: Progress,
) -> dict[str, list[MetricResult]]:
    """Results of the service's own metrics by slug, a window of items at a time."""
    rows: dict[str, list[MetricResult]] = {column.slug: [] for column in columns}
    device_use.taken()  # computation before this is charged to no column
    together = AHEAD if any(column.spec.ahead for column in columns) and graphics_card.card() else 1
    for start in range(0, len(ids), together):
        names = ids[start : start + together]
        window = [_pairs(columns, predictions.get(name), references[name], unit_scale, prepared.get(name)) for name in names]
        _look_ahead(columns, window, timed)
        for done, (name, pairs) in enumerate(zip(names, window, strict=True), start + 1):
            for slug, result in _of_item(columns, pairs, predictions.get(name) is None, timed).items():
                rows[slug].append(result)
            pairs.clear()  # what a view was decoded to is not needed any more
            progress(done, len(ids))
    return rows


def _program_results(
    column: _Column,
    predictions: Mapping[str, Any],
    references: Mapping[str, Any],
    unit_scale: float,
    ids: Sequence[str],
    groups: Mapping[str, str],
    progress: Progress,
) -> list[MetricResult]:
    """Results of an organizer's program for each item, with the rules for missing items and for ranking. An item on which the program
    failed gets the worst value, like a missing item, so no entry gains by breaking the program."""
    from evaluation.programs.program import Sample  # loads yaml, which scoring without programs need not

    spec, family = column.spec, FAMILIES[column.spec.family]
    samples = [Sample(name, groups.get(name) or family.group_of(name), predictions.get(name), references[name], unit_scale) for name in ids]
    assert spec.program is not None  # the caller has brought its files
    found = spec.program.score_all(samples, column.params, lambda done: progress(done, len(ids)))
    progress(len(ids), len(ids))
    worst = None if spec.worst == "null" else float(spec.worst)
    results = []
    for sample, result in zip(samples, found, strict=True):
        missing = sample.prediction is None
        if result.status == Status.FAILED:
            result = replace(result, value=worst)
        if spec.level != "item":
            partial = {"value": result.value, "status": str(result.status), "flags": list(result.flags), "parts": dict(result.parts)}
            status = Status.MISSING_PRED if missing else result.status
            results.append(MetricResult(None, status, result.flags, partial=partial))
        elif missing:
            results.append(MetricResult(worst, Status.MISSING_PRED))
        else:
            results.append(_capped(spec, result, worst))
    return results


def _score(column: _Column, pair: Any, missing: bool) -> MetricResult:
    """One metric on one item, with the rules for missing items and for ranking applied."""
    result = column.spec.compute(pair, column.params)
    if noted := getattr(pair, "flags", ()):
        result = replace(result, flags=(*result.flags, *noted))
    if column.spec.level != "item":
        return replace(result, status=Status.MISSING_PRED) if missing else result
    if result.value is None:
        return result
    worst = _worst(column, pair)
    if missing or result.status == Status.SIZE_MISMATCH:
        status = Status.MISSING_PRED if missing else result.status
        return MetricResult(worst, status, parts=result.parts)
    return _capped(column.spec, result, worst)


def _capped(spec: MetricSpec, result: MetricResult, worst: float | None) -> MetricResult:
    """The result, its value no worse than `worst`; None caps nothing."""
    if result.value is None or worst is None:
        return result
    capped = max(result.value, worst) if spec.higher_is_better else min(result.value, worst)
    if capped == result.value:
        return result
    return replace(result, value=capped, flags=(*result.flags, "capped"), parts={**result.parts, "uncapped": result.value})


def _worst(column: _Column, pair: Any) -> float | None:
    """The value of a missing item: the spec's worst, for this item's reference."""
    rule = column.spec.worst
    if rule == "null":
        return None
    if rule == "tau":
        return float(column.params["tau"])
    if rule in ("gt_diagonal", "gt_diagonal_squared"):
        normalize = column.params.get("normalize")
        diagonal = float(pair.reference_diagonal if normalize is None else pair.diagonal(normalize))
        return diagonal if rule == "gt_diagonal" else diagonal**2
    if rule == "empty_prediction":
        value: float | None = column.spec.compute(pair.without_prediction(), column.params).value
        return value
    return float(rule)


def _scores(slug: str, ids: tuple[str, ...], results: Sequence[MetricResult]) -> SampleScores:
    partials = tuple(result.partial for result in results)
    return SampleScores(
        slug=slug,
        item_ids=ids,
        values=tuple(result.value for result in results),
        statuses=tuple(str(result.status) for result in results),
        parts=tuple(dict(result.parts) for result in results),
        flags=tuple(result.flags for result in results),
        partials=partials if any(partial is not None for partial in partials) else (),
    )


def _finished(spec: MetricSpec, params: Mapping[str, Any], scores: SampleScores, groups: Sequence[str]) -> SampleScores:
    """The scores of a group or set metric: each item with the value of its group, or of all, and nothing partial left."""
    columns = zip(scores.values, scores.statuses, scores.flags, scores.parts, scores.partials or [None] * len(groups), strict=True)
    items = [
        ItemPartial(item_id, group, MetricResult(value, Status(status), flags, parts, partial))
        for item_id, group, (value, status, flags, parts, partial) in zip(scores.item_ids, groups, columns, strict=True)
    ]
    together: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        together.setdefault(item.group if spec.level == "group" else "", []).append(place)
    done: dict[int, MetricResult] = {}
    assert spec.finish is not None  # of every level but "item"
    for places in together.values():
        results = spec.finish([items[place] for place in places], params)
        if len(results) != len(places) or len({result.value for result in results}) > 1:
            raise ValueError(f"{spec.key} must be finished with one and the same value for each item of a group")
        for place, result in zip(places, results, strict=True):
            # An item that was missing still is.
            before = items[place].result.status
            status = before if before in (Status.MISSING_PRED, Status.SIZE_MISMATCH) else result.status
            capped = _capped(spec, result, None if spec.worst == "null" else float(spec.worst))
            done[place] = replace(capped, status=status, partial=None)
    return _scores(scores.slug, scores.item_ids, [done[place] for place in range(len(items))])
