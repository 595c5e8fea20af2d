"""Statements on entries beside each other, from `leaderboard.records.comparison`. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.comparison import Compared
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.wording import certainty
from leaderboard.wording.nouns import listed, plural
from leaderboard.wording.statement import Statement, name


def untested(it: Compared) -> str:
    """Reason why no pair is tested; empty where pairs are."""
    if it.lacking is None:
        return ""
    if it.lacking >= GROUPS_FOR_BOARD_INTERVAL:
        return f"The entries have values on different {plural(it.unit.noun)}, so no pair is tested."
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
    if not it.tied and not it.apart:
        return Statement.of(name(f"{best} has the best value.")) + rest.strip()
    if not it.tied:
        who = names[it.apart[0]] if it.n == 2 else "every other" if not it.untested else listed(names[at] for at in it.apart)
        is_best = "is better" if it.n == 2 else "has the best value" if it.untested else "is the best of these entries"
        return Statement.of(name(f"{best} {is_best},")) + f"significantly different from {who}{corrected}.{rest}"
    every = not it.apart and not it.untested and len(it.tied) > 1
    who = "all others" if every else listed(names[at] for at in it.tied)
    return Statement.of(name(f"{best} has the best value,")) + f"but is tied with {who}{corrected}.{rest}"
