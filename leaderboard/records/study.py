"""Summary of a study's answers on one criterion, as it is stored, read, and shown to somebody.

Its records are from `leaderboard.stats.records`, where it is computed. An analysis of an older version is not read: it is being
made again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from pydantic import TypeAdapter

from leaderboard.records.people import Basis
from leaderboard.records.record import Record
from leaderboard.stats.records import Entry, Metric, StudySummary
from leaderboard.stats.states import too_few
from leaderboard.stats.two_way_intervals import Estimate
from leaderboard.stats.votes import VERSION

HIDDEN_NAME = "withheld by the organizers"  # in the place of a name


class PlannedLook(Record):
    """Result of a planned look at first place; settled where every other entry was told from the first, which is empty where nobody had
    preferred any."""

    number: int
    at: datetime
    answers: int
    raters: int
    samples: int
    settled: bool
    first: str
    not_told_from_first: list[str]


@dataclass(frozen=True, kw_only=True)
class Summary(StudySummary):
    """A stored summary, with what pages make of it."""

    @staticmethod
    def read(content: Mapping[str, Any] | None) -> Summary | None:
        """Summary of an analysis; None for none, and for one of an older version."""
        return READER.validate_python(content) if content and content.get("version") == VERSION else None

    @property
    def n_people(self) -> int | None:
        """The number of people whose answers count; None where that is not known."""
        return None if self.n_raters is None else self.n_raters - len(self.screened)

    @property
    def basis(self) -> Basis:
        """Answers that its figures are of."""
        return Basis(of=self.of, n=self.counted, raters=self.n_people, scale=self.scale)

    @property
    def unsampled(self) -> bool:
        """True if its answers name no sample: each pair counts as one of its own, and intervals speak of other people alone."""
        return not any(self.samples)

    def shows(self, line: Entry) -> bool:
        """True if the people's column of an entry may be shown: not below the smallest numbers of people and items."""
        value, low, _ = line.value
        return value is not None and (low is not None or self.of == "means" or not too_few(line.reason))

    @property
    def another(self) -> Estimate | None:
        """Another rater as pages show one: how often two say the same, where that has an interval."""
        return None if self.another_rater is None or self.another_rater.low is None else self.another_rater

    @property
    def ordered(self) -> bool:
        """True if people put the entries in an order: there are enough people and items, and somebody preferred some entry; one entry
        alone, of which others are withheld, has no place."""
        if self.of == "means":
            return True
        return self.reason is None and len(self.ranked) > 1 and all(self.shows(line) for line in self.ranked)

    def without(self, labels: Collection[str]) -> Self:
        if not labels:
            return self
        hidden = {n for n, name in enumerate(self.methods) if name in labels}

        def kept(names: Iterable[str]) -> list[str]:
            return [name for name in names if name not in labels]

        summary, unscreened = super().without(labels), self.unscreened
        metrics = [
            replace(line, values=[None if n in hidden else value for n, value in enumerate(line.values)])
            if line.values is not None
            else line
            for line in summary.metrics
        ]
        if unscreened is not None:
            unscreened = replace(unscreened, scales=[line for line in unscreened.scales if line.method not in labels])
        return replace(
            summary,
            metrics=metrics,
            methods=[HIDDEN_NAME if n in hidden else name for n, name in enumerate(self.methods)],
            entries={name: pk for name, pk in self.entries.items() if name not in labels},
            damaged=kept(self.damaged),
            left_out=kept(self.left_out),
            unscreened=unscreened,
            anchor=HIDDEN_NAME if self.anchor in labels else self.anchor,
            all=None if self.all is None else self.all.without(labels),
            judges=[judge.without(labels) for judge in self.judges],
        )

    def numbered(self, organizes: bool) -> Self:
        """With numbers in the place of raters' names; how consistent and how strict each of them is, for organizers alone."""
        number = {name: f"rater {n}" for n, name in enumerate(self.raters, 1)}
        rows = [replace(line, rater=number[line.rater]) for line in self.reliability.raters]
        if not organizes:
            rows = [replace(line, consistency=None, consistency_answers=0, bias=None, inconsistency=None) for line in rows]
        matrix = self.agreement
        if matrix is not None:
            named = zip(matrix.names, matrix.kinds, strict=True)
            matrix = replace(matrix, names=[number[name] if kind == "person" else name for name, kind in named])
        return replace(
            self,
            raters=list(number.values()),
            screened=[number[name] for name in self.screened],
            screened_by={number[name]: rules for name, rules in self.screened_by.items()},
            reliability=replace(self.reliability, raters=rows),
            agreement=matrix,
        )


READER: TypeAdapter[Summary] = TypeAdapter(Summary)  # made once, because that takes 17 ms


def precedence(
    metrics: Iterable[Metric], simulated: bool, people: int | None, study: int, only_means: bool = False
) -> tuple[bool, bool, float, int, int]:
    """Key of a study among several that could stand for all of them, largest first: on a phase's board, and over the studies of a family.

    The order is: an interval for any metric before too early, people before simulated raters, the larger effective number of answers (the
    largest of its metrics), more people, the older study. Published means alone do not count as too early.
    """
    known = [metric for metric in metrics if not metric.reference_point]
    sure = only_means or any(metric.decided.low is not None and not metric.trained for metric in known)
    effective = max((metric.decided.n_eff for metric in known), default=0.0)
    return sure, not simulated, effective, people or 0, -study
