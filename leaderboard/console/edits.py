"""Small edits of a definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from leaderboard.bundle.definition import ChallengeDef, MetricDef, PhaseDef

Thing = TypeVar("Thing", MetricDef, PhaseDef)


def with_phase(definition: ChallengeDef, slug: str, **values: Any) -> ChallengeDef:
    """`definition` with other values in one of its phases."""
    return replace(definition, phases=tuple(replace(it, **values) if it.slug == slug else it for it in definition.phases))


def moved(things: tuple[Thing, ...], slug: str, to: str) -> tuple[Thing, ...]:
    """`things` with the one called `slug` a place earlier (`up`) or later; nothing moves off the end."""
    order = list(things)
    place = next((n for n, thing in enumerate(order) if thing.slug == slug), None)
    if place is not None:
        thing = order.pop(place)
        order.insert(max(0, place + (-1 if to == "up" else 1)), thing)
    return tuple(order)
