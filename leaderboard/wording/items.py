"""Words on single items of an entry: why a value is what it is. PURE."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.metrics.result import Status
from leaderboard.wording.nouns import counted

STATUSES = {
    Status.MISSING_PRED: "missing",
    Status.INVALID_PRED: "unreadable",
    Status.EMPTY_PRED: "empty",
    Status.NO_OBJECT: "nothing in the reference",
    Status.EMPTY_MASK: "empty mask",
    Status.SIZE_MISMATCH: "wrong size",
    Status.NOT_APPLICABLE: "does not apply",
    Status.FAILED: "the metric's program failed",
}
# What is told everybody, by the flag: it says nothing of a reference that is not shown.
FLAGS = {"copied_reference": "copies a clean view", "above_clean": "scores above every clean view"}


def note(status: Status, flag: str) -> str:
    """Reason why an item's value is what it is; empty where that is plain."""
    return STATUSES.get(status, "") or FLAGS.get(flag, "")


def flags(found: Mapping[str, int], noun: str) -> str:
    """`copies a clean view: 3 views`, one after the other, of the number of items by flag and the challenge's word for an item."""
    return "; ".join(f"{FLAGS[flag]}: {counted(n, noun)}" for flag, n in found.items())
