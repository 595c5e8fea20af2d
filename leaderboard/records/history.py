"""Changes of a board from one ranking to the next. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar


class Change:
    """A change of one kind; `is_small` of one that a board's own page does not tell."""

    is_small: ClassVar[bool] = False


@dataclass(frozen=True)
class Opened(Change):
    """The oldest ranking that is kept, of `n` entries."""

    n: int


@dataclass(frozen=True)
class Again(Change):
    """An earlier ranking is shown again: the one that was first made at `made`."""

    made: datetime


@dataclass(frozen=True)
class Scored(Change):
    """All entries were scored again: for another reference, or metrics that were added, removed, or defined otherwise, by their titles."""

    reference: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    redefined: tuple[str, ...]


@dataclass(frozen=True)
class NewEntry:
    name: str
    team: str
    rank: int | None


@dataclass(frozen=True)
class Entered(Change):
    entries: tuple[NewEntry, ...]


class Leaving(StrEnum):
    """The reasons why an entry left, where no other entry of its team counts instead."""

    WITHDRAWN = "withdrawn"  # by its team
    KEPT_OFF = "kept_off"  # its team has withdrawn a later entry


@dataclass(frozen=True)
class Gone:
    """An entry that left: the `reason`, where that may be said, or the entry that counts for its team `instead`."""

    name: str
    reason: Leaving | None = None
    instead: str = ""


@dataclass(frozen=True)
class Left(Change):
    """Entries that left, and the number of those that are hidden; `counts` says which entry of a team counts."""

    entries: tuple[Gone, ...]
    hidden: int
    counts: str


@dataclass(frozen=True)
class Move:
    name: str
    was: int
    now: int


@dataclass(frozen=True)
class Moved(Change):
    """Changes of ranks, the largest first."""

    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Ranked(Change):
    """Entries, by name, that had no rank and have one now; `lost`: the reverse."""

    names: tuple[str, ...]
    lost: bool = False


@dataclass(frozen=True)
class PeopleChanged(Change):
    """The number of people's answers before and now; `other` says that these are of another kind, so of another study."""

    was: int
    now: int
    opinions: bool
    other: bool


@dataclass(frozen=True)
class Baselines(Change):
    """Entries, by name, that were `made` baselines, which have no rank, or are none any more."""

    names: tuple[str, ...]
    made: bool = True


@dataclass(frozen=True)
class Texts(Change):
    """Entries whose descriptions changed, by name."""

    is_small: ClassVar[bool] = True
    names: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A ranking and how it differs from the one before; `leaders` share first place. `same` are the digests of the rankings that followed
    without a visible change, the newest last. `at` is when it became the current one, or with `is_after` a time before that."""

    digest: str
    at: datetime
    leaders: tuple[str, ...]
    n_entries: int
    changes: tuple[Change, ...]
    same: tuple[str, ...] = ()
    is_after: bool = False
