"""The plan of the parts that an entry's scoring is cut into: for which device, which metrics of which items, and how long each may take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings

from evaluation.metrics.column import Column
from evaluation.models.score import Score

SLOWER = 5  # how much longer than declared a part may take: of slower machines, or because others use this one
LEAST_RUNS = 4  # of an entry's items, so that progress moves and several workers can share one entry
PART_OVERHEAD = 0.5  # seconds that a part takes beside its metrics
PLAIN_SECONDS, NETWORK_SECONDS = 0.02, 0.5  # of a metric of which nothing is known yet, an item
BEGIN_SECONDS = 600.0  # in which a remote worker must have fetched what a part needs, and prepared the reference
LONGEST = 12  # times CHILD_SECONDS: no part may take longer, whatever its metrics declare


class Batch(Protocol):
    """A batch, as far as its parts go; see `evaluation.models.batch.EvaluationBatch`."""

    phase: Any
    phase_id: Any

    @property
    def columns(self) -> list[Column]: ...
    @property
    def reference(self) -> Any: ...


def plan_parts(batch: Batch) -> Iterator[tuple[str, list[str], int, int]]:
    """(device, slugs, start, stop) of every part of an entry: the metrics of a device over the items [start, stop)."""
    for device, together in by_device(batch.columns).items():
        # A program of the whole set sees all items together.
        specs = {column.slug: column.spec for column in batch.columns if column.slug in together}
        whole = [slug for slug, spec in specs.items() if spec.is_program and spec.level == "set"]
        yield from ((device, [slug], 0, len(batch.reference.groups)) for slug in whole)
        slugs = [slug for slug in together if slug not in whole]
        if not slugs:
            continue
        declared = efforts(batch.columns, slugs, batch.reference.bounds)
        for start, stop in slices(batch.reference.groups, settings.PART_SAMPLES, declared, settings.PART_SECONDS):
            yield device, slugs, start, stop


def by_device(columns: Sequence[Column]) -> dict[str, list[str]]:
    """Slugs of a batch's metrics by the device they run on: networks on a graphics card, where the service has workers with one.

    Otherwise a network uses the card of the machine that its part is given to, or the processor.
    """
    found: dict[str, list[str]] = {}
    for column in columns:
        on_card = settings.GPU_WORKERS and column.spec.runs_networks(column.params)
        found.setdefault("gpu" if on_card else column.spec.device, []).append(column.slug)
    return found


def efforts(columns: Sequence[Column], slugs: Sequence[str], sizes: Sequence[tuple[int, int]]) -> list[float]:
    """Seconds that models of each of the `sizes` take the metrics that declare their effort; the others count nothing."""
    slow = [(effort, column.params) for column in columns if column.slug in slugs and (effort := column.spec.effort)]
    return [sum(effort.of((first, second), params) for effort, params in slow) for first, second in sizes]


def slices(groups: Sequence[str], most: int, efforts: Sequence[float] = (), max_effort: float = math.inf) -> list[tuple[int, int]]:
    """Cut n items into runs [start, stop) that never split a group.

    There are at least LEAST_RUNS if there are enough items. A run has at most about `most` items. A second group joins a run only if the
    run's efforts stay within `max_effort`.
    """
    n = len(groups)
    size = max(1, min(most, math.ceil(n / LEAST_RUNS)))
    ends = [stop for stop in range(1, n + 1) if stop == n or groups[stop] != groups[stop - 1]]
    cuts: list[tuple[int, int]] = []
    start = stop = 0
    for end in ends:
        if stop > start and (stop - start >= size or sum(efforts[start:end]) > max_effort):
            cuts.append((start, stop))
            start = stop
        stop = end
    return [*cuts, (start, stop)] if n else []


@dataclass(frozen=True)
class Piece:
    """A part to be made, and the seconds that it will take, as far as is known."""

    device: str
    slugs: list[str]
    start: int
    stop: int
    cost: float


def priced(batch: Batch) -> list[Piece]:
    """The `pieces` of an entry with the expected time of each: from the phase's newest scores, else from its metrics' declared effort, else
    a guess."""
    slugs = {column.fingerprint: column.slug for column in batch.columns}
    measured = {slugs[fingerprint]: cost / 1000 for fingerprint, cost in Score.newest_costs(batch.phase_id, slugs).items()}
    unknown = [column for column in batch.columns if column.slug not in measured]
    specs = {column.slug: column.spec for column in unknown}
    guesses = {slug: NETWORK_SECONDS if spec.networks else PLAIN_SECONDS for slug, spec in specs.items() if spec.effort is None}
    found = []
    for device, wanted, start, stop in plan_parts(batch):
        per_item = sum(measured.get(slug, 0.0) + guesses.get(slug, 0.0) for slug in wanted)
        declared = sum(efforts(unknown, wanted, batch.reference.bounds[start:stop]))
        found.append(Piece(device, wanted, start, stop, PART_OVERHEAD + per_item * (stop - start) + declared))
    return found


def seconds_allowed(batch: Batch, slugs: Sequence[str], start: int, stop: int) -> int:
    """Processor time that a part may take: CHILD_SECONDS for each PART_SAMPLES items, because a group is never split, however
    large; or more where its metrics declare that they need it.

    Their declared effort is for the largest entry that the phase takes, beside its reference. A stopped part would be stopped again, and no
    entry may fail because a machine is slow.
    """
    usual = settings.CHILD_SECONDS * math.ceil((stop - start) / settings.PART_SAMPLES)
    return round(max(usual, min(SLOWER * sum(_declared(batch, slugs, start, stop)), LONGEST * settings.CHILD_SECONDS)))


def item_seconds_allowed(batch: Batch, slugs: Sequence[str], start: int, stop: int) -> float:
    """Processor time that any one item of a part may take: its share of the part's, or more where the metrics declare more for it. All of
    the part's where a metric program is among the metrics, which may say nothing before it is done with all items."""
    whole = seconds_allowed(batch, slugs, start, stop)
    if any(column.is_program for column in batch.columns if column.slug in slugs):
        return float(whole)
    return min(whole, max(whole / (stop - start), SLOWER * max(_declared(batch, slugs, start, stop))))


def _declared(batch: Batch, slugs: Sequence[str], start: int, stop: int) -> list[float]:
    """Seconds that metrics declare for each item of a part, the entry's as large as the phase takes."""
    reference = batch.reference
    sizes = reference.bounds[start:stop]
    largest = [reference.family.bounds(tuple(size), batch.phase.size_factor) for size in sizes]
    pairs = zip(efforts(batch.columns, slugs, sizes), efforts(batch.columns, slugs, largest), strict=True)
    return [own + entry for own, entry in pairs]
