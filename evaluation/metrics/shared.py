"""Work that several metrics need on one item, done once; and its reference's side, which may be kept between entries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import Any, TypeVar

import numpy as np

from evaluation.networks import precision

T = TypeVar("T")
P = TypeVar("P", bound="SharedWork")

Arrays = tuple[np.ndarray, ...]

_KEPT = 2  # of what belongs to a scene, in one process: the items of a scene follow one another


def remember(kept: MutableMapping[Any, T], key: Hashable, compute: Callable[[], T]) -> T:
    """`compute()`, or what it gave before for that key in the same precision; `kept` holds the last two."""
    entry = (key, precision.current())
    if entry not in kept:
        found = compute()
        while len(kept) >= _KEPT:
            del kept[next(iter(kept))]
        kept[entry] = found
    return kept[entry]


def for_all(pairs: Sequence[P], key: Hashable, compute: Callable[[list[P]], Sequence[Any]]) -> None:
    """Leave with each of the pairs what its `once` is to give for `key`; `compute` gets those that have it not yet, all at once."""
    wanted = [pair for pair in pairs if not pair.has(key)]
    for pair, found in zip(wanted, compute(wanted) if wanted else (), strict=True):
        pair.keep(key, found)


class Preparing(dict[str, Arrays]):
    """A store that is being filled, with the reference set against itself: nobody will look at the values that come out."""


class SharedWork:
    """The work that a prediction and its reference share while metrics look at them.

    `prepared` holds arrays that depend on the reference and its unit alone, by key. Whoever gives
    the mapping may fill it from a store before and store what was added after; without one it
    lives as long as the pair. `repeats` may be set to a mapping by who compares many near copies
    of one model: values by what they were computed from.
    """

    def __init__(self, prepared: MutableMapping[str, Arrays] | None = None) -> None:
        self.prepared: MutableMapping[str, Arrays] = {} if prepared is None else prepared
        self.repeats: MutableMapping[Hashable, Any] | None = None
        self.given: tuple[Any, Any] = (None, None)  # prediction and reference as they were read, where the pair was made of such
        self._done: dict[Hashable, Any] = {}

    @property
    def preparing(self) -> bool:
        """True if only the reference's side is wanted, so that a metric need not go on when it has that."""
        return isinstance(self.prepared, Preparing)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """`compute()`, done once for this pair however many metrics ask for `key` in the same precision."""
        entry = (key, precision.current())
        if entry not in self._done:
            self._done[entry] = compute()
        return self._done[entry]

    def keep(self, key: Hashable, found: Any) -> None:
        """Have what `once` gives for `key`, in the precision that is computed in now: it was found together with that of other pairs."""
        self._done[key, precision.current()] = found

    def has(self, key: Hashable) -> bool:
        """True if `once` need not compute what stands under `key`."""
        return (key, precision.current()) in self._done

    def repeated(self, key: Hashable, arrays: Arrays, compute: Callable[[], T]) -> T:
        """`compute()`, which may look at `arrays` and at what stands in `key`, and at nothing else.

        Where `repeats` is given, it is done once for equal arrays by all pairs that share it.
        """
        if self.repeats is None:
            return compute()
        content = (key, precision.current(), *((array.dtype.str, array.shape, array.tobytes()) for array in arrays))
        if content not in self.repeats:
            self.repeats[content] = compute()
        return self.repeats[content]

    def reference_once(self, key: str, compute: Callable[[], Arrays]) -> Arrays:
        """`compute()`, unless `prepared` has it already: a tuple of arrays, which nobody may change.

        `compute` may look at the reference, the unit and what stands in `key`, and at nothing of
        the prediction. What is read back must be the arrays bit for bit. Arrays of other precisions than float32 are kept beside them.
        """
        if precision.current() != precision.FLOAT32:
            key = f"{key} in {precision.current()}"
        if key not in self.prepared:
            arrays = compute()
            for array in arrays:
                array.flags.writeable = False
            self.prepared[key] = arrays
        return self.prepared[key]
