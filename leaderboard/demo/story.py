"""What a demo consists of: accounts, a made-up challenge, and entries made from its references.

Everything in it is invented and says so; every number on its boards is computed by the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

PASSWORD = "rooflines-demo"

Item = Any  # of the challenge's family: a Wireframe or a Mesh
Items = Mapping[str, Item]


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
    Person("olga", "Organizers' baselines", "organizes Rooflines and Solids"),
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
    breaks: Callable[[Item], bytes] | None = None  # what the first file holds instead: the upload is rejected

    def items(self, references: Items) -> dict[str, Item]:
        """What is sent, by item."""
        kept = (name for position, name in enumerate(references) if position not in self.leave_out)
        return {name: self.make(name, references[name]) for name in kept}


@dataclass(frozen=True)
class Demo:
    """One challenge of the demo: its bundle, and the uploads to one of its phases."""

    slug: str
    phase: str
    yaml: str
    references: Callable[[], Mapping[str, Items]]  # by phase
    points: Callable[[Item, int], np.ndarray]  # float64[N, 3] from an item and its position: what participants get
    reference_file: tuple[str, Callable[[Item], bytes]]  # suffix and writer
    entry_file: tuple[str, Callable[[Item], bytes]]
    entries: tuple[Entry, ...]
    people: tuple[str, ...]  # names of those who take part
    study: bool = False  # whether made-up raters compare its entries
