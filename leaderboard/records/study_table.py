"""Entries, metrics and contradictions of a study as its page lists them. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from leaderboard.records.agreement import Line
from leaderboard.records.study import Summary
from leaderboard.stats.records import Contradiction, Entry, Metric
from leaderboard.stats.states import Reason
from leaderboard.stats.two_way_intervals import Ends, Figure


class Apart(StrEnum):
    """Reasons why entries are listed apart from those before them."""

    UNMET = "unmet"  # they met none of these
    FEW = "few"  # too few raters compared them, or on too few items


@dataclass(frozen=True)
class EntryPage:
    """The page of a study's entry: its id and whose it is."""

    id: int
    team: str


@dataclass(frozen=True)
class EntryRow:
    """An entry as people like it: its `place` among the others, its page, and whether its figure may be shown. `on_board` is its rank
    there, `against` has (metric, entry) where a metric that ranks puts it before an entry that people prefer. `opens` says of the first of
    those that are listed apart why they are."""

    line: Entry
    place: int | None
    page: EntryPage | None
    known: bool
    bar: Mapping[str, float] | None
    on_board: int | None
    against: tuple[tuple[str, str], ...]
    opens: Apart | None

    @property
    def value(self) -> Ends:
        return self.line.value


@dataclass(frozen=True)
class MetricRow:
    """Agreement of a metric with people, in words (`line`), in figures, and with each group of people."""

    line: Line
    metric: Metric
    by_group: list[Line]
    printed: float | None = None  # the paper's own figure, of published means

    @property
    def correlations(self) -> list[Figure]:
        return [self.metric.rho, self.metric.tau, self.metric.r]

    @property
    def shares(self) -> list[Figure]:
        return [self.metric.auc_better_worse, self.metric.auc_different_similar, self.metric.acc_eq]


@dataclass(frozen=True)
class TurnedRow:
    """A verdict of people that a metric reverses, and the ids of the two entries, where both have a page."""

    one: Contradiction
    metric: str
    pages: tuple[int, int] | None


@dataclass(frozen=True)
class StudyTable:
    """The tables of a study's page: of the entries that count, people's first first, of the metrics, and of the surest contradictions
    first."""

    summary: Summary
    entries: list[EntryRow]
    metrics: list[MetricRow]
    turned: list[TurnedRow]

    @property
    def any_known(self) -> bool:
        return any(row.known for row in self.entries)

    @property
    def has_ends(self) -> bool:
        """True if any figure has an interval."""
        return any(row.value[1] is not None for row in self.entries)

    @property
    def has_board(self) -> bool:
        return any(row.on_board is not None for row in self.entries)

    @property
    def any_against(self) -> bool:
        return any(row.against for row in self.entries)

    @property
    def any_shown(self) -> bool:
        """True if the figure of any metric may be shown."""
        return any(row.line.shown for row in self.metrics if not row.line.reference_point)

    @property
    def answers(self) -> tuple[int, int]:
        """Least and greatest number of answers on an entry."""
        answers = [row.line.answers for row in self.entries]
        return min(answers, default=0), max(answers, default=0)

    @property
    def reason(self) -> Reason | None:
        """Reason why no entry has an interval, where all have the same."""
        reasons = {row.line.reason if row.value[1] is None else None for row in self.entries}
        return next(iter(reasons)) if self.any_known and len(reasons) == 1 else None

    @property
    def missing(self) -> list[Figure]:
        """Correlations without a value or an interval, one for each reason."""
        rhos = (row.metric.rho for row in self.metrics if row.metric.rho.reason is not None and not row.line.reference_point)
        return list({rho.reason: rho for rho in rhos}.values())

    @property
    def others(self) -> list[Entry]:
        """Entries that do not count, by name."""
        aside = {*self.summary.damaged, *self.summary.left_out}
        return sorted((line for line in self.summary.scales if line.method in aside), key=lambda line: line.method)
