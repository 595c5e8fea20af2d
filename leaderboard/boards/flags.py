"""Flags of metrics that a reader of a board needs: a value that the entry's files got by other means than by being right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FLAGS = ("copied_reference", "above_clean")  # the first that an item has counts


def of_item(flags: Mapping[str, Sequence[int]], index: int) -> str:
    """The flag of `FLAGS` that the item at that place has, of the places of items by flag; empty where it has none."""
    return next((flag for flag in FLAGS if index in flags.get(flag, ())), "")


def counts(flags: Mapping[str, Sequence[int]], kept: Sequence[bool] | None = None) -> dict[str, int]:
    """Numbers of items by their flag of `FLAGS`, each item once; of the `kept` ones (bool for each item) where these are given."""
    places = {index for flag in FLAGS for index in flags.get(flag, ()) if kept is None or kept[index]}
    found: dict[str, int] = {}
    for index in places:
        flag = of_item(flags, index)
        found[flag] = found.get(flag, 0) + 1
    return {flag: found[flag] for flag in FLAGS if flag in found}
