"""Reasons of figures, as tests expect and give them."""

from __future__ import annotations

from leaderboard.stats.minimums import ENTRIES_FOR_CORRELATION_INTERVAL, ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.states import Counted, Key, Reason


def few_raters(have: int) -> Reason:
    return Reason(Key.FEW, Counted.RATERS, RATERS_FOR_FIGURE, have)


def few_items(have: int) -> Reason:
    return Reason(Key.FEW, Counted.ITEMS, ITEMS_FOR_FIGURE, have)


def few_entries(have: int) -> Reason:
    return Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, ENTRIES_FOR_CORRELATION_INTERVAL, have)
