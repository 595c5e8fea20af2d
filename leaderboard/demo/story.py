"""The parts of a demo: accounts, a simulated challenge, and entries made from its references.

Everything in it is invented and says so; every number on its boards is computed by the service.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

PASSWORD = "rooflines-demo"  # noqa: S105 - everybody may know it: it opens the demo alone

Item = Any  # of the challenge's family: a Wireframe, a Mesh, or the View that a render is of
Items = Mapping[str, Item]
Files = Callable[[Items], Iterator[tuple[str, bytes]]]  # path and content of each file that holds the items


@dataclass(frozen=True)
class Person:
    """A demo account; `team` is empty for organizers and staff."""

    name: str
    team: str
    role: str


PEOPLE = (
    Person("ada", "Ridgeline", "leads team Ridgeline"),
    Person("ben", "TU Hillside", "leads team TU Hillside"),
    Person("cleo", "Eaves Lab", "leads team Eaves Lab"),
    Person("dan", "Lone Gable", "is a team of one"),
    Person("olga", "Organizers' baselines", "organizes all of them"),
    Person("root", "", "is staff: console, admin, tracebacks"),
)


@dataclass(frozen=True)
class Entry:
    """An upload of a demo: who sends it, and how it is made from item `name` of the reference."""

    who: str
    method: str
    description: str
    make: Callable[[str, Item], Item]
    leave_out: tuple[int, ...] = ()  # positions of items that are missing
    baseline: bool = False
    withdraw: bool = False
    card: tuple[str, ...] = ()  # of its method, as options of the client; simulated like all else
    breaks: Callable[[Item], bytes] | None = None  # what the first file holds instead: the upload is rejected

    def items(self, references: Items) -> dict[str, Item]:
        """The entry that is sent, by item."""
        sent = (name for position, name in enumerate(references) if position not in self.leave_out)
        return {name: self.make(name, references[name]) for name in sent}


@dataclass(frozen=True)
class Damage:
    """The kind of damage that an entry has, and how strong it looks: 0 for none, 1 for an item that nobody recognizes."""

    kind: str
    strength: float


@dataclass(frozen=True)
class Taste:
    """A group of raters: how many, and how much they mind each kind of damage; kinds that are not named count 1."""

    group: str
    raters: int
    minds: Mapping[str, float]


@dataclass(frozen=True)
class Demo:
    """One challenge of the demo: its bundle, and the uploads to one of its phases."""

    slug: str
    phase: str
    yaml: str
    references: Callable[[], Mapping[str, Items]]  # by phase
    given: tuple[str, Files]  # what participants get of the items: what it is, and its files
    reference_files: Files
    entry_files: Files
    entries: tuple[Entry, ...]
    people: tuple[str, ...]  # names of those who take part
    damages: Mapping[str, Damage]  # of the entries that simulated raters have compared, by method: they answer by these
    asks: bool = False  # whether whoever looks at it can compare them


# What each demo's bundle says of its practice phase.
PRACTICE = """\
    title: Practice
    description: Open practice with public references.
    opens_at: 2026-01-02T09:00
    closes_at: 2099-12-31T23:59
    time_zone: Europe/Prague
    limit_per_day: 20
    limit_at_once: 4
    board: live
    entries: all
    ranking: mean_rank
    reference_access: public
    missing: worst"""


def simulated(family: str, things: str, hand_in: str, item: str, unit: str = "group", tags: str = "") -> str:
    """Lines of each demo's bundle: what it is and what it calls its items and groups, its rules, and who organizes it."""
    return f"""\
simulated: true
visibility: public
family: {family}
item_noun: {item}
unit_noun: {unit}
tags: [{tags}]
organizers: [olga]
rules_version: "1"
rules: |
  This is a demonstration.

  1. Teams, {things} and entries are **simulated** and say nothing about a real method.
    2. Submit {hand_in}.
  3. Be kind to the queue."""


def each(suffix: str, write: Callable[[Item], bytes]) -> Files:
    """A file for each item, named after it."""
    return lambda items: ((f"{name}.{suffix}", write(item)) for name, item in items.items())


def points_of(points: Callable[[Item, int], np.ndarray]) -> tuple[str, Files]:
    """A file for each item with its points, float64[N, 3] from the item and its position."""

    def files(items: Items) -> Iterator[tuple[str, bytes]]:
        for position, (name, item) in enumerate(items.items()):
            buffer = io.BytesIO()
            np.savez_compressed(buffer, points=points(item, position))
            yield f"{name}.npz", buffer.getvalue()

    return "points", files
