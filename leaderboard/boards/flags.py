"""Flags of metrics that a reader of a board needs: a value that the entry's files got by other means than by being right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# What is told everybody, by the flag: it says nothing of a reference that is not shown. The first that an item has counts.
WORDS = {"copied_reference": "copies a clean view", "above_clean": "scores above every clean view"}


def of_item(flags: Mapping[str, Sequence[int]], index: int) -> str:
    """The flag of `WORDS` that the item at that place has, of the places of items by flag; empty where it has none."""
    return next((flag for flag in WORDS if index in flags.get(flag, ())), "")


def counts(flags: Mapping[str, Sequence[int]], kept: Sequence[bool] | None = None) -> dict[str, int]:
    """Numbers of items by their flag of `WORDS`, each item once; of the `kept` ones (bool for each item) where these are given."""
    places = {index for flag in WORDS for index in flags.get(flag, ()) if kept is None or kept[index]}
    found: dict[str, int] = {}
    for index in places:
        flag = of_item(flags, index)
        found[flag] = found.get(flag, 0) + 1
    return {flag: found[flag] for flag in WORDS if flag in found}


def words(found: Mapping[str, int], noun: str) -> str:
    """`copies a clean view: 3 views`, one after the other, of the number of items by flag and the challenge's word for an item."""
    return "; ".join(f"{WORDS[flag]}: {n} {noun}{'' if n == 1 else 's'}" for flag, n in found.items())
