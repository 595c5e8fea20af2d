"""Measurements that workers make in the background, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics import registry
from evaluation.models import SuiteRun


@dataclass(frozen=True)
class Measured:
    """One metric that is measured: by which tests, the number of their row, and the seconds of work that are left, None before the first
    slice."""

    tests: str
    row: int
    title: str
    seconds_left: float | None


@dataclass(frozen=True)
class Background:
    """All that is being measured. `seconds_left` counts what was not begun as long as the mean of what was; None where nothing was."""

    measured: tuple[Measured, ...]

    @classmethod
    def now(cls) -> Background:
        runs = SuiteRun.objects.waiting().filter(judged_at=None).without_results()
        titles = {it.key: spec.title for it in runs if (spec := registry.find(it.key))}
        return cls(tuple(Measured(it.suite.title, it.pk, titles.get(it.key, it.key), it.seconds_left) for it in runs))

    @property
    def rows(self) -> frozenset[tuple[str, int]]:
        return frozenset((one.tests, one.row) for one in self.measured)

    @property
    def seconds_left(self) -> float | None:
        known = [one.seconds_left for one in self.measured if one.seconds_left is not None]
        return sum(known) * len(self.measured) / len(known) if known else None

    def sentence(self, workers: int) -> str:
        """Sentence on what is measured, and how long so many workers take if nothing else is to be done."""
        kinds: dict[str, list[str]] = {}
        for one in self.measured:
            kinds.setdefault(one.tests, []).append(one.title)
        what = " and ".join(f"{tests} of {', '.join(dict.fromkeys(titles))}" for tests, titles in kinds.items())
        left, at_once = self.seconds_left, max(1, min(workers, len(self.measured)))
        minutes = None if left is None else max(1, round(left / at_once / 60))
        takes = "the time left is not known yet" if minutes is None else f"that takes about {minutes} min"
        return f"In the background workers do {what}; {takes}. This work has low priority, and pauses while any other work waits."
