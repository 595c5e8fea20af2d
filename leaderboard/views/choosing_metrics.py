"""Choosing metrics: how those of a board agree on its entries, and what other choices would do to the order."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
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
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.minimums import ENTRIES_FOR_LIKENESS
from leaderboard.stats.ranking_variants import TOGETHER, RankingVariant, centre
from leaderboard.studies.paper_figures import studied
from leaderboard.wording.board import rule as rule_words
from submissions.lookup import PhasePlace, phase_place

MAX_ROWS = 50  # entries in the table, the first of the board
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
    context |= {"few": agreement.n < ENTRIES_FOR_LIKENESS, "together": TOGETHER}
    if agreement.n > 1:
        tau, groups = agreement.matrix.tau, []
        for number, members in enumerate(agreement.matrix.groups):
            means = [tau[a, b] for a in members for b in members if a < b]
            titles, middle = [agreement.metrics[index].title for index in members], agreement.metrics[centre(tau, members)].title
            groups.append(MetricGroup(letter(number), titles, middle, sum(means) / len(means) if means else None))

        # The matrix in the order of the groups.
        values = tau if by == "tau" else agreement.matrix.rho
        order = [(number, index) for number, members in enumerate(agreement.matrix.groups) for index in members]
        begins = [place > 0 and order[place - 1][0] != number for place, (number, _) in enumerate(order)]
        rows = []
        for (number, index), starts in zip(order, begins, strict=True):
            cells = [
                MatrixCell(float(values[index, column]), index == column, other == number, begin)
                for (other, column), begin in zip(order, begins, strict=True)
            ]
            rows.append(MatrixRow(agreement.metrics[index], letter(number), starts, cells))
        context |= {"groups": groups, "rows": rows}

    if agreement.variants and agreement.n > 1:
        board = agreement.variants[0].ranks
        titles = [
            f"without {variant.title}"
            if variant.kind == "without"
            else f"{variant.title} alone"
            if variant.kind == "metric"
            else variant.title
            for variant in agreement.variants
        ]
        # The compared entries' names, with the team where two have the same one.
        compared = {index: agreement.entries[index] for index in agreement.order}
        counts = Counter(entry.name for entry in compared.values())
        names = {index: entry.name if counts[entry.name] == 1 else f"{entry.name} ({entry.team})" for index, entry in compared.items()}

        variants = []
        for variant, title in zip(agreement.variants, titles, strict=True):
            first = [names[index] for index in agreement.order if variant.ranks[index] == 1]
            same = variant.kind == "board" or all((variant.ranks[i] == 1) == (board[i] == 1) for i in agreement.order)
            variants.append(VariantRow(variant, title, first, same))

        table = []
        for index in agreement.order[:MAX_ROWS]:
            ranks = [variant.ranks[index] for variant in agreement.variants]
            known, own = [rank for rank in ranks if rank is not None], ranks[0] or 0
            places = [Place(rank, 0 if rank is None else own - rank) for rank in ranks[1:]]
            table.append(RanksRow(agreement.entries[index], own, min(known), max(known), places))

        flips = [
            FlipRow(agreement.entries[flip.above], agreement.entries[flip.below], [titles[n] for n in flip.variants])
            for flip in agreement.flips
        ]
        wins = [(sum(variant.ranks[index] == 1 for variant in agreement.variants), index) for index in agreement.order]
        often = sorted(((count, index) for count, index in wins if count), key=lambda pair: -pair[0])
        drawn = agreement.order[: variant_charts.MAX_LINES]
        lines = [[variant.ranks[index] for variant in agreement.variants] for index in drawn]
        context |= {
            "variants": variants,
            "table": table,
            "flips": flips,
            "chart": variant_charts.bumps(titles, [names[index] for index in drawn], lines, agreement.n),
            "first": [FirstPlaces(agreement.entries[index], count) for count, index in often[:5]],
            "max_rows": MAX_ROWS,
        }
    return render_to_string("leaderboard/parts/choosing.html", context), "chart" in context and bool(context["chart"].marks)


def letter(number: int) -> str:
    """A, B, ..., Z, AA, ... for groups of metrics."""
    return ("" if number < 26 else letter(number // 26 - 1)) + chr(65 + number % 26)
