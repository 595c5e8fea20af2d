"""Units that intervals and tests are over. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

NOUN = "item"  # of what is scored on its own, where a challenge names none


class Nouns(Protocol):
    """A challenge, as far as its words go."""

    item_noun: str
    unit_noun: str


@dataclass(frozen=True)
class Unit:
    """Units of intervals and tests: `n` units, which `noun` names. If these are groups, `inner` is the noun of their items."""

    n: int
    noun: str
    inner: str = ""

    @classmethod
    def of(cls, groups: Sequence[str], nouns: Nouns) -> Self:
        """Groups, or items where each is a group or all share one."""
        n = len(set(groups))
        return cls(len(groups), nouns.item_noun) if n in (1, len(groups)) else cls(n, nouns.unit_noun, nouns.item_noun)
