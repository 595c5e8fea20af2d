"""Choosing metrics: how a leaderboard's metrics agree on its entries, and how other choices would change the order."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from leaderboard.boards import ranking_variants
from leaderboard.boards.ranking_variants import Agreement
from leaderboard.charts import ranking_variants as variant_charts
from leaderboard.lookup import audience_of, not_shown_yet
from leaderboard.models import Snapshot
from leaderboard.records.board import BoardEntry, MetricColumn
from leaderboard.records.chart import Chart
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.minimums import ENTRIES_FOR_LIKENESS
from leaderboard.stats.ranking_variants import TOGETHER, RankingVariant, centre
from leaderboard.studies.paper_figures import studied
from leaderboard.wording.board import entry_name
from leaderboard.wording.board import rule as rule_words
from submissions.lookup import PhasePlace, phase_place

MAX_ROWS = 50  # entries in the table, the first of the board
TITLES = {"without": "without {}", "metric": "{} alone"}  # of kinds of ways to rank; other ways have their own title
COEFFICIENTS = {"tau": "Kendall's τ-b", "rho": "Spearman's ρ"}


@dataclass(frozen=True)
class Place:
    """An entry's rank under one way; `change` is how many ranks better (above 0) or worse than on the leaderboard."""

    rank: int | None
    change: int

    @property
    def mark(self) -> str:
        return f"▲{self.change}" if self.change > 0 else f"▼{-self.change}" if self.change else ""

    @property
    def words(self) -> str:
        ranks = f"{abs(self.change)} rank{'' if abs(self.change) == 1 else 's'}"
        return f"{ranks} {'better' if self.change > 0 else 'worse'} than on the leaderboard" if self.change else ""


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that agree, with their letter, the one that represents them best, and their mean tau."""

    letter: str
    titles: list[str]
    centre: str
    mean: float | None


@dataclass(frozen=True)
class MatrixCell:
    """The agreement of two metrics: of one with itself (`own`), `within` a group, or where another group `starts`."""

    coefficient: float
    own: bool
    within: bool
    starts: bool

    @property
    def value(self) -> float | None:
        return None if math.isnan(self.coefficient) else self.coefficient

    @property
    def strength(self) -> int:
        return round(abs(self.value or 0.0) * 100)

    @property
    def negative(self) -> bool:
        return self.coefficient < 0


@dataclass(frozen=True)
class MatrixRow:
    metric: MetricColumn
    group: str
    starts: bool
    cells: list[MatrixCell]


@dataclass(frozen=True)
class VariantRow:
    """Another way to rank with what it changes: who comes `first`, and whether the board says the same."""

    variant: RankingVariant
    title: str
    every_first: list[str]
    same_first: bool

    @property
    def is_board(self) -> bool:
        return self.variant.kind == "board"

    @property
    def first(self) -> list[str]:
        return self.every_first[:3]

    @property
    def more(self) -> int:
        return max(0, len(self.every_first) - 3)

    @property
    def tau(self) -> float | None:
        return None if math.isnan(self.variant.tau) else self.variant.tau


@dataclass(frozen=True)
class RanksRow:
    """An entry's rank on the board, its lowest and highest under all variants, and its place under each of the others."""

    entry: BoardEntry
    rank: int
    low: int
    high: int
    places: list[Place]


@dataclass(frozen=True)
class FirstPlaces:
    """Number of times an entry comes first."""

    entry: BoardEntry
    count: int


@dataclass(frozen=True)
class FlipRow:
    """Two entries, as the board puts them, and the variants that turn them round."""

    above: BoardEntry
    below: BoardEntry
    variants: list[str]

    @property
    def count(self) -> int:
        return len(self.variants)


def choosing(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The page; `?by=rho` shows the other coefficient."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "board")
    audience = Snapshot.Audience.PUBLIC if request.GET.get("view") == "public" else audience_of(place.viewer)
    snapshot = Snapshot.current(place.phase, audience)
    advised = [paper for paper in studied().values() if paper.advice and place.challenge.family in paper.families]
    context = place.context("board") | {"snapshot": snapshot, "advised": advised}
    if snapshot is not None:
        agreement = ranking_variants.of_snapshot(snapshot)
        by, view = request.GET.get("by", "tau"), "public" if request.GET.get("view") == "public" else ""
        by = by if by in COEFFICIENTS else "tau"
        key = ("choosing", place.challenge.slug, place.phase.slug, snapshot.seen, by, view)
        part, has_figure = PARTS.of(key, lambda: _part(place, snapshot, agreement, by, view)) if agreement.n else ("", False)
        context |= {"found": agreement, "part": part, "has_figure": has_figure}
    return render(request, "leaderboard/agreement.html", context)


def _part(place: PhasePlace, snapshot: Snapshot, agreement: Agreement, by: str, view: str) -> tuple[str, bool]:
    """All that follows from the ranking, as HTML, and whether there is a chart in it."""
    context: dict[str, Any] = {"challenge": place.challenge, "phase": place.phase, "snapshot": snapshot, "found": agreement, "view": view}
    context |= {"coefficients": COEFFICIENTS, "by": by, "coefficient": COEFFICIENTS[by], "rule": rule_words(snapshot.board.rule)}
    context |= {"few": agreement.n < ENTRIES_FOR_LIKENESS, "together": TOGETHER, "max_rows": MAX_ROWS}
    orders = Orders(agreement) if agreement.variants and agreement.n > 1 else None
    if agreement.n > 1:
        context |= {"groups": groups(agreement), "rows": matrix(agreement, by), "orders": orders}
    return render_to_string("leaderboard/parts/choosing.html", context), orders is not None and bool(orders.chart.marks)


def groups(agreement: Agreement) -> list[MetricGroup]:
    """The groups of metrics that agree."""
    tau, found = agreement.matrix.tau, []
    for number, members in enumerate(agreement.matrix.groups):
        means = [tau[a, b] for a in members for b in members if a < b]
        titles, middle = [agreement.metrics[index].title for index in members], agreement.metrics[centre(tau, members)].title
        found.append(MetricGroup(letter(number), titles, middle, sum(means) / len(means) if means else None))
    return found


def matrix(agreement: Agreement, by: str) -> list[MatrixRow]:
    """The agreement of each two metrics by one of `COEFFICIENTS`, in the order of the groups."""
    values = agreement.matrix.tau if by == "tau" else agreement.matrix.rho
    order = [(number, index) for number, members in enumerate(agreement.matrix.groups) for index in members]
    begins = [place > 0 and order[place - 1][0] != number for place, (number, _) in enumerate(order)]
    rows = []
    for (number, index), starts in zip(order, begins, strict=True):
        cells = [
            MatrixCell(float(values[index, column]), index == column, other == number, begin)
            for (other, column), begin in zip(order, begins, strict=True)
        ]
        rows.append(MatrixRow(agreement.metrics[index], letter(number), starts, cells))
    return rows


@dataclass(frozen=True)
class Orders:
    """The compared entries under every way to rank, the leaderboard's own first."""

    agreement: Agreement

    @cached_property
    def _titles(self) -> list[str]:
        return [TITLES.get(variant.kind, "{}").format(variant.title) for variant in self.agreement.variants]

    @cached_property
    def _names(self) -> dict[int, str]:
        """The entries' names, with the team where two have the same one."""
        compared = {index: self.agreement.entries[index] for index in self.agreement.order}
        counts = Counter(entry.name for entry in compared.values())
        return {index: entry.name if counts[entry.name] == 1 else entry_name(entry.name, entry.team) for index, entry in compared.items()}

    def _firsts(self, variant: RankingVariant) -> list[int]:
        return [index for index in self.agreement.order if variant.ranks[index] == 1]

    @cached_property
    def variants(self) -> list[VariantRow]:
        variants = self.agreement.variants
        firsts = [self._firsts(variant) for variant in variants]
        return [
            VariantRow(variant, title, [self._names[index] for index in first], variant.kind == "board" or first == firsts[0])
            for variant, title, first in zip(variants, self._titles, firsts, strict=True)
        ]

    @property
    def table(self) -> list[RanksRow]:
        rows = []
        for index in self.agreement.order[:MAX_ROWS]:
            ranks = [variant.ranks[index] for variant in self.agreement.variants]
            known, own = [rank for rank in ranks if rank is not None], ranks[0] or 0
            places = [Place(rank, 0 if rank is None else own - rank) for rank in ranks[1:]]
            rows.append(RanksRow(self.agreement.entries[index], own, min(known), max(known), places))
        return rows

    @cached_property
    def flips(self) -> list[FlipRow]:
        entries, titles = self.agreement.entries, self._titles
        return [FlipRow(entries[flip.above], entries[flip.below], [titles[n] for n in flip.variants]) for flip in self.agreement.flips]

    @property
    def first(self) -> list[FirstPlaces]:
        """The entries that come first most often."""
        wins = Counter(index for variant in self.agreement.variants for index in self._firsts(variant))
        often = sorted(wins, key=lambda index: (-wins[index], self.agreement.order.index(index)))
        return [FirstPlaces(self.agreement.entries[index], wins[index]) for index in often[:5]]

    @cached_property
    def chart(self) -> Chart:
        drawn = self.agreement.order[: variant_charts.MAX_LINES]
        lines = [[variant.ranks[index] for variant in self.agreement.variants] for index in drawn]
        return variant_charts.bumps(self._titles, [self._names[index] for index in drawn], lines, self.agreement.n)


def letter(number: int) -> str:
    """A, B, ..., Z, AA, ... for groups of metrics."""
    return ("" if number < 26 else letter(number // 26 - 1)) + chr(65 + number % 26)
