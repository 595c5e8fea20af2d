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
from leaderboard.boards.payload import BoardEntry, MetricColumn
from leaderboard.boards.ranking_variants import Agreement
from leaderboard.boards.rows import rule_words
from leaderboard.charts import ranking_variants as variant_charts
from leaderboard.lookup import audience_of, not_shown_yet
from leaderboard.models import Snapshot
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.ranking_variants import FEW, TOGETHER, RankingVariant, centre
from submissions.lookup import PhasePlace, phase_place

MAX_ROWS = 50  # entries in the table, the first of the board
COEFFICIENTS = {"tau": "Kendall's τ-b", "rho": "Spearman's ρ"}


@dataclass(frozen=True)
class Place:
    """An entry's rank under one way; `change` is how many ranks better (above 0) or worse than on the board."""

    rank: int | None
    change: int

    @property
    def mark(self) -> str:
        return f"▲{self.change}" if self.change > 0 else f"▼{-self.change}" if self.change else ""

    @property
    def words(self) -> str:
        ranks = f"{abs(self.change)} rank{'' if abs(self.change) == 1 else 's'}"
        return f"{ranks} {'better' if self.change > 0 else 'worse'} than on the board" if self.change else ""


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that agree, with their letter, the one that stands for them best, and their mean tau."""

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
    context = place.context("board") | {"snapshot": snapshot}
    if snapshot is not None:
        agreement = ranking_variants.of_snapshot(snapshot)
        by, view = request.GET.get("by", "tau"), "public" if request.GET.get("view") == "public" else ""
        by = by if by in COEFFICIENTS else "tau"
        key = ("choosing", place.challenge.slug, place.phase.slug, snapshot.pk, snapshot.digest, snapshot.hidden_ids, by, view)
        part, has_figure = PARTS.of(key, lambda: _part(place, snapshot, agreement, by, view)) if agreement.n else ("", False)
        context |= {"found": agreement, "part": part, "has_figure": has_figure}
    return render(request, "leaderboard/agreement.html", context)


def _part(place: PhasePlace, snapshot: Snapshot, agreement: Agreement, by: str, view: str) -> tuple[str, bool]:
    """All that follows from the ranking, as HTML, and whether there is a chart in it."""
    context: dict[str, Any] = {"challenge": place.challenge, "phase": place.phase, "snapshot": snapshot, "found": agreement, "view": view}
    context |= {"coefficients": COEFFICIENTS, "by": by, "coefficient": COEFFICIENTS[by], "rule": rule_words(snapshot.board)}
    context |= {"few": agreement.n < FEW, "together": TOGETHER}
    if agreement.n > 1:
        context |= {"groups": _groups(agreement), "rows": _matrix_rows(agreement, by)}
    if agreement.variants and agreement.n > 1:
        turned = [([_title(agreement.variants[n]) for n in flip.variants], flip) for flip in agreement.flips]
        flips = [FlipRow(agreement.entries[flip.above], agreement.entries[flip.below], titles) for titles, flip in turned]
        context |= {"variants": _variants(agreement), "table": _table(agreement), "flips": flips, "figure": _figure(agreement)}
        context |= {"first": _first_places(agreement), "most_rows": MAX_ROWS}
    return render_to_string("leaderboard/parts/choosing.html", context), bool(context.get("figure", {}).get("data"))


def letter(number: int) -> str:
    """A, B, ..., Z, AA, ... for groups of metrics."""
    return ("" if number < 26 else letter(number // 26 - 1)) + chr(65 + number % 26)


def _labels(found: Agreement) -> dict[int, str]:
    """The compared entries' names, with the team where two have the same one."""
    names = Counter(found.entries[index].name for index in found.order)
    entries = {index: found.entries[index] for index in found.order}
    return {index: entry.name if names[entry.name] == 1 else f"{entry.name} ({entry.team})" for index, entry in entries.items()}


def _groups(found: Agreement) -> list[MetricGroup]:
    groups = []
    for number, members in enumerate(found.matrix.groups):
        means = [found.matrix.tau[a, b] for a in members for b in members if a < b]
        groups.append(
            MetricGroup(
                letter(number),
                [found.metrics[index].title for index in members],
                found.metrics[centre(found.matrix.tau, members)].title,
                sum(means) / len(means) if means else None,
            )
        )
    return groups


def _matrix_rows(found: Agreement, by: str) -> list[MatrixRow]:
    """The matrix in the order of the groups."""
    values = found.matrix.tau if by == "tau" else found.matrix.rho
    order = [(number, index) for number, members in enumerate(found.matrix.groups) for index in members]
    begins = [place > 0 and order[place - 1][0] != number for place, (number, _) in enumerate(order)]
    rows = []
    for (number, index), starts in zip(order, begins, strict=True):
        cells = [
            MatrixCell(float(values[index, column]), index == column, other == number, begin)
            for (other, column), begin in zip(order, begins, strict=True)
        ]
        rows.append(MatrixRow(found.metrics[index], letter(number), starts, cells))
    return rows


def _variants(agreement: Agreement) -> list[VariantRow]:
    rows, names = [], _labels(agreement)
    for variant in agreement.variants:
        first = [names[index] for index in agreement.order if variant.ranks[index] == 1]
        same = variant.kind == "board" or all((variant.ranks[i] == 1) == (agreement.variants[0].ranks[i] == 1) for i in agreement.order)
        rows.append(VariantRow(variant, _title(variant), first, same))
    return rows


def _title(variant: RankingVariant) -> str:
    return (
        f"without {variant.title}" if variant.kind == "without" else f"{variant.title} alone" if variant.kind == "metric" else variant.title
    )


def _table(found: Agreement) -> list[RanksRow]:
    """The first entries of the board with their ranks under every variant."""
    rows = []
    for index in found.order[:MAX_ROWS]:
        ranks = [variant.ranks[index] for variant in found.variants]
        known = [rank for rank in ranks if rank is not None]
        board = ranks[0] or 0
        places = [Place(rank, 0 if rank is None else board - rank) for rank in ranks[1:]]
        rows.append(RanksRow(found.entries[index], board, min(known), max(known), places))
    return rows


def _first_places(agreement: Agreement) -> list[FirstPlaces]:
    """Who comes first under how many variants, most often first."""
    counts = [(sum(variant.ranks[index] == 1 for variant in agreement.variants), index) for index in agreement.order]
    often = sorted(((count, index) for count, index in counts if count), key=lambda pair: -pair[0])
    return [FirstPlaces(agreement.entries[index], count) for count, index in often[:5]]


def _figure(agreement: Agreement) -> dict[str, Any]:
    drawn = agreement.order[: variant_charts.MAX_LINES]
    ranks = [[variant.ranks[index] for variant in agreement.variants] for index in drawn]
    names = _labels(agreement)
    return variant_charts.bumps(
        [_title(variant) for variant in agreement.variants], [names[index] for index in drawn], ranks, agreement.n
    ).to_dict()
