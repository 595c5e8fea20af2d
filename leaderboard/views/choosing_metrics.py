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
from leaderboard.boards.rows import rule_words
from leaderboard.charts import ranking_variants as variant_charts
from leaderboard.lookup import audience_of, not_shown_yet
from leaderboard.models import Snapshot
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.ranking_variants import FEW, TOGETHER, Way, centre
from submissions.lookup import PhasePlace, phase_place

MOST_ROWS = 50  # entries in the table, the first of the board
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


def choosing(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The page; `?by=rho` shows the other coefficient."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "board")
    audience = Snapshot.Audience.PUBLIC if request.GET.get("view") == "public" else audience_of(place.viewer)
    snapshot = Snapshot.current(place.phase, audience)
    context = place.context("board") | {"snapshot": snapshot}
    if snapshot is not None:
        found = ranking_variants.of_snapshot(snapshot)
        by, view = request.GET.get("by", "tau"), "public" if request.GET.get("view") == "public" else ""
        by = by if by in COEFFICIENTS else "tau"
        key = ("choosing", place.challenge.slug, place.phase.slug, snapshot.pk, snapshot.digest, snapshot.withheld, by, view)
        part, has_figure = PARTS.of(key, lambda: _part(place, snapshot, found, by, view)) if found.n else ("", False)
        context |= {"found": found, "part": part, "has_figure": has_figure}
    return render(request, "leaderboard/agreement.html", context)


def _part(place: PhasePlace, snapshot: Snapshot, found: Agreement, by: str, view: str) -> tuple[str, bool]:
    """All that follows from the ranking, as HTML, and whether there is a chart in it."""
    context = {"challenge": place.challenge, "phase": place.phase, "snapshot": snapshot, "found": found, "view": view}
    context |= {"coefficients": COEFFICIENTS, "by": by, "coefficient": COEFFICIENTS[by], "rule": rule_words(snapshot.content)}
    context |= {"few": found.n < FEW, "together": TOGETHER}
    if found.n > 1:
        context |= {"groups": _groups(found), "rows": _matrix_rows(found, by)}
    if found.ways and found.n > 1:
        context |= {"ways": _ways(found), "table": _table(found), "flips": _flips(found), "figure": _figure(found)}
        context |= {"first": _first_places(found), "most_rows": MOST_ROWS}
    return render_to_string("leaderboard/parts/choosing.html", context), bool(context.get("figure", {}).get("data"))


def letter(number: int) -> str:
    """A, B, ..., Z, AA, ... for groups of metrics."""
    return ("" if number < 26 else letter(number // 26 - 1)) + chr(65 + number % 26)


def _labels(found: Agreement) -> dict[int, str]:
    """The compared entries' names, with the team where two have the same one."""
    names = Counter(found.entries[index]["name"] for index in found.order)
    entries = {index: found.entries[index] for index in found.order}
    return {index: entry["name"] if names[entry["name"]] == 1 else f"{entry['name']} ({entry['team']})" for index, entry in entries.items()}


def _groups(found: Agreement) -> list[dict[str, Any]]:
    """Each group of metrics with its letter, and the metric that stands for it best."""
    groups = []
    for number, members in enumerate(found.matrix.groups):
        titles = [found.metrics[index]["title"] for index in members]
        means = [found.matrix.tau[a, b] for a in members for b in members if a < b]
        groups.append({
            "letter": letter(number), "titles": titles, "centre": found.metrics[centre(found.matrix.tau, members)]["title"],
            "mean": sum(means) / len(means) if means else None,
        })  # fmt: skip
    return groups


def _matrix_rows(found: Agreement, by: str) -> list[dict[str, Any]]:
    """The matrix in the order of the groups: for each metric its cells, and where a group begins."""
    values = found.matrix.tau if by == "tau" else found.matrix.rho
    order = [(number, index) for number, members in enumerate(found.matrix.groups) for index in members]
    rows = []
    for place, (number, index) in enumerate(order):
        starts = place > 0 and order[place - 1][0] != number
        cells = []
        for across, (other, column) in enumerate(order):
            value = float(values[index, column])
            cells.append({
                "value": None if math.isnan(value) else value, "strength": 0 if math.isnan(value) else round(abs(value) * 100),
                "negative": value < 0, "own": index == column, "within": other == number,
                "starts": across > 0 and order[across - 1][0] != other,
            })  # fmt: skip
        rows.append({"metric": found.metrics[index], "group": letter(number), "starts": starts, "cells": cells})
    return rows


def _ways(found: Agreement) -> list[dict[str, Any]]:
    """Every other way with what it changes."""
    rows, names = [], _labels(found)
    for way in found.ways:
        first = [names[index] for index in found.order if way.ranks[index] == 1]
        same = way.kind == "board" or all((way.ranks[i] == 1) == (found.ways[0].ranks[i] == 1) for i in found.order)
        rows.append({
            "title": _title(way), "is_board": way.kind == "board", "first": first[:3],
            "more": max(0, len(first) - 3), "same_first": same, "moved": way.moved, "flipped": way.flipped,
            "tau": None if math.isnan(way.tau) else way.tau,
        })  # fmt: skip
    return rows


def _title(way: Way) -> str:
    return f"without {way.title}" if way.kind == "without" else f"{way.title} alone" if way.kind == "metric" else way.title


def _table(found: Agreement) -> list[dict[str, Any]]:
    """The first entries of the board with their ranks under every way."""
    rows = []
    for index in found.order[:MOST_ROWS]:
        ranks = [way.ranks[index] for way in found.ways]
        known = [rank for rank in ranks if rank is not None]
        board = ranks[0] or 0
        places = [Place(rank, 0 if rank is None else board - rank) for rank in ranks[1:]]
        rows.append({"entry": found.entries[index], "rank": board, "low": min(known), "high": max(known), "places": places})
    return rows


def _first_places(found: Agreement) -> list[dict[str, Any]]:
    """Who comes first under how many ways, most often first."""
    counts = [(sum(way.ranks[index] == 1 for way in found.ways), index) for index in found.order]
    often = sorted(((count, index) for count, index in counts if count), key=lambda pair: -pair[0])
    return [{"entry": found.entries[index], "count": count} for count, index in often[:5]]


def _flips(found: Agreement) -> list[dict[str, Any]]:
    return [
        {
            "above": found.entries[flip.above],
            "below": found.entries[flip.below],
            "ways": [_title(found.ways[n]) for n in flip.ways],
            "count": len(flip.ways),
        }
        for flip in found.flips
    ]


def _figure(found: Agreement) -> dict[str, Any]:
    drawn = found.order[: variant_charts.MOST_LINES]
    ranks = [[way.ranks[index] for way in found.ways] for index in drawn]
    names = _labels(found)
    return variant_charts.bumps([_title(way) for way in found.ways], [names[index] for index in drawn], ranks, found.n).to_dict()
