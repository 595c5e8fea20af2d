"""Statements on entries beside each other, from `leaderboard.records.comparison`. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.comparison import Compared
from leaderboard.wording import certainty
from leaderboard.wording.nouns import listed
from leaderboard.wording.statement import Statement, name


def untested(it: Compared) -> str:
    """Reason why no pair is tested; empty where pairs are."""
    if it.lacking is None:
        return ""
    return certainty.few(it.lacking, it.unit) if it.lacking else f"{it.title} has no values per {it.unit.noun} here, so no pair is tested."


def statement(it: Compared, names: Sequence[str]) -> Statement:
    """The first of the entries by a metric, and those that it is tied with."""
    if not it.firsts:
        return Statement.of(name(f"{it.title} has no values to put them in order."))
    if len(it.firsts) > 1:
        return Statement.of(name(f"{len(it.firsts)} of these entries share first place by {it.title}.")) + untested(it)
    best = f"By {it.title} {names[it.firsts[0]]}"
    if it.lacking is not None:
        return Statement.of(name(f"{best} has the best value.")) + untested(it)
    corrected = ", corrected for all pairs" if it.n > 2 else ""
    rest = f" Not tested: {', '.join(names[at] for at in it.untested)}." if it.untested else ""
    if not it.tied:
        who = names[it.apart[0]] if it.n == 2 else "every other" if not it.untested else "the others that are tested"
        head = name(f"{best} is {'better' if it.n == 2 else 'the best of these entries'},")
        return Statement.of(head) + f"significantly different from {who}{corrected}.{rest}"
    who = "all others" if not it.apart and len(it.tied) > 1 else listed(names[at] for at in it.tied)
    return Statement.of(name(f"{best} has the best value,")) + f"but is tied with {who}{corrected}.{rest}"
