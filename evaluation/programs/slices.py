"""The calls of a metric program a slice at a time. The results of a slice are kept, and the next one continues from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.metrics.result import MetricResult, Status
from evaluation.programs.program import Program, Sample

Kept = list[dict[str, Any]]  # results of one call, as JSON


class Paused(Exception):
    """The slice is over, and the work is not done."""


class Slice:
    """A slice of work of so many `seconds` of wall time, from its creation. The first call may take as long as the program's declared
    effort allows, so that every slice makes progress. Another call begins only if there is time for one as long as the longest so far. A
    call that takes longer is stopped, and comes first in the next slice.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._end = clock, clock() + seconds
        self.calls = 0  # that were made
        self.last = self.longest = 0.0  # seconds of a call

    @property
    def left(self) -> float:
        """Seconds that are left, negative after the end."""
        return self._end - self._clock()

    def call(self, ask: Callable[[float | None], list[MetricResult]]) -> list[MetricResult]:
        """Return what `ask` finds. It is told how many seconds it has; None for as many as it needs. `Paused` where the time is over."""
        left = self.left
        if self.calls and left <= self.longest:
            raise Paused
        found = ask(left if self.calls else None)
        if self.calls and self.left <= 0:
            raise Paused
        self.calls += 1
        self.last = left - self.left
        self.longest = max(self.longest, self.last)
        return found

    def size_after(self, size: int) -> int:
        """Number of items for the next call of a command, after one of `size`: at most twice as many, and none where time is short."""
        return min(2 * size, int(size * self.left / self.last) if self.last > 0 else 2 * size)


class SlicedProgram:
    """A program that runs within one slice. Calls whose results were `kept` in earlier slices are not repeated, provided that they are
    requested in the same order; new results are added to `kept`."""

    def __init__(self, program: Program, of: Slice, kept: list[Kept] | None = None, place: list[int] | None = None) -> None:
        self.program, self.slice = program, of
        self.kept: list[Kept] = [] if kept is None else kept
        self._place = [0] if place is None else place  # among those that are kept; one for all copies

    def __getattr__(self, name: str) -> Any:
        return getattr(self.program, name)

    def again(self) -> SlicedProgram:
        """A copy of the program, not started, in the same slice."""
        return SlicedProgram(self.program.again(), self.slice, self.kept, self._place)

    def __enter__(self) -> SlicedProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.program.close()

    def score_all(
        self, samples: Sequence[Sample], params: Mapping[str, Any], progress: Callable[[int], None] | None = None
    ) -> list[MetricResult]:
        """Score as `Program.score_all` does. `Paused` where the slice is over before the last call."""
        found: list[MetricResult | None] = [None] * len(samples)
        for places in units(samples, self.program):
            some = [samples[place] for place in places]
            for place, result in zip(places, self._next(some, params), strict=True):
                found[place] = result
            if progress is not None:
                progress(len(samples) - found.count(None))
        return [result for result in found if result is not None]

    def _next(self, samples: Sequence[Sample], params: Mapping[str, Any]) -> list[MetricResult]:
        place = self._place[0]
        if place == len(self.kept):
            self.kept.append([to_json(one) for one in self.slice.call(lambda left: self._asked(samples, params, left))])
        self._place[0] += 1
        return [from_json(one) for one in self.kept[place]]

    def _asked(self, samples: Sequence[Sample], params: Mapping[str, Any], left: float | None) -> list[MetricResult]:
        budget = self.program.budget
        if left is not None:
            self.program.budget = replace(budget, seconds=min(left, budget.seconds))
        try:
            return self.program.score_all(samples, params)
        finally:
            self.program.budget = budget


def units(samples: Sequence[Sample], program: Program) -> list[list[int]]:
    """Places of the samples that the program sees in one call: one sample, a group, or all. A command is run once for all."""
    level, together = program.document.level, dict[Any, list[int]]()
    for place, sample in enumerate(samples):
        key = "" if level == "set" or program.document.run != "python" else sample.group if level == "group" else place
        together.setdefault(key, []).append(place)
    return list(together.values())


def to_json(result: MetricResult) -> dict[str, Any]:
    return {
        "value": result.value,
        "status": str(result.status),
        "flags": list(result.flags),
        "parts": dict(result.parts),
        "partial": result.partial,
    }


def from_json(found: Mapping[str, Any]) -> MetricResult:
    return MetricResult(found["value"], Status(found["status"]), tuple(found["flags"]), found["parts"], found["partial"])
