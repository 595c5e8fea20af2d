"""Work that several metrics need on one item, done once; and its reference's side, which may be kept between entries."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import Any, TypeVar

import numpy as np

from evaluation.networks import precision

T = TypeVar("T")
P = TypeVar("P", bound="SharedWork")

Arrays = tuple[np.ndarray, ...]

TOGETHER = "+"  # between the slugs of columns that share a cost
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
    """Store for each pair what its `once` will return for `key`; `compute` gets the pairs that do not have it yet, all together."""
    wanted = [pair for pair in pairs if not pair.has(key)]
    for pair, found in zip(wanted, compute(wanted) if wanted else (), strict=True):
        pair.keep(key, found)


class Ledger:
    """Seconds of the work on one item by the columns that need it, whichever asked first. If one piece of work needs another, all users of
    the first are users of the second too."""

    def __init__(self) -> None:
        self.column = ""  # that is being computed
        self._spent: dict[Hashable, float] = {}  # by piece of work, without the pieces within it
        self._first: dict[Hashable, str] = {}  # the column that was computed meanwhile
        self._needed_by: defaultdict[Hashable, set[str]] = defaultdict(set)
        self._within: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        self._open: list[list[Any]] = []  # piece, and the seconds of pieces within it

    def ask(self, key: Hashable) -> None:
        """Note that the column needs a piece of work, or the piece that is being done does."""
        if self._open:
            self._within[key].add(self._open[-1][0])
        else:
            self._needed_by[key].add(self.column)

    def do(self, key: Hashable, compute: Callable[[], T]) -> T:
        """`compute()`, timed."""
        start = time.perf_counter()
        self._open.append([key, 0.0])
        try:
            return compute()
        finally:
            took, (_, inner) = time.perf_counter() - start, self._open.pop()
            self._spent[key], self._first[key] = took - inner, self.column
            if self._open:
                self._open[-1][1] += took

    def shared(self) -> tuple[dict[tuple[str, ...], float], dict[str, float]]:
        """(seconds by the columns that needed the same work, at least two in the order of their names; the part of them that each column
        spent, because it asked first)."""
        needed: dict[Hashable, frozenset[str]] = {}

        def columns(key: Hashable) -> frozenset[str]:
            if key not in needed:
                needed[key] = frozenset(self._needed_by[key]).union(*map(columns, self._within[key]))
            return needed[key]

        groups: dict[tuple[str, ...], float] = defaultdict(float)
        first: dict[str, float] = defaultdict(float)
        for key, seconds in self._spent.items():
            if len(columns(key)) > 1:
                groups[tuple(sorted(columns(key)))] += seconds
                first[self._first[key]] += seconds
        return groups, first


class Preparing(dict[str, Arrays]):
    """A store that is being filled, with the reference set against itself: nobody will look at the values that come out."""


class SharedWork:
    """The work that a prediction and its reference share while metrics look at them.

    `prepared` holds arrays that depend on the reference and its unit alone, by key. The caller may fill the mapping from a store before and
    store additions after; without one it lives as long as the pair. A caller that compares many near copies of one model may set `repeats`
    to a mapping: values by their inputs.
    """

    def __init__(self, prepared: MutableMapping[str, Arrays] | None = None) -> None:
        self.prepared: MutableMapping[str, Arrays] = {} if prepared is None else prepared
        self.ledger: Ledger | None = None  # a caller that measures each column's cost may set it
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
        if self.ledger is not None:
            self.ledger.ask(entry)
        if entry not in self._done:
            self._done[entry] = compute() if self.ledger is None else self.ledger.do(entry, compute)
        return self._done[entry]

    def keep(self, key: Hashable, found: Any) -> None:
        """Set the value that `once` gives for `key`, in the present precision: it was computed together with other pairs' values."""
        self._done[key, precision.current()] = found

    def has(self, key: Hashable) -> bool:
        """True if `once` need not compute the value of `key`."""
        return (key, precision.current()) in self._done

    def repeated(self, key: Hashable, arrays: Arrays, compute: Callable[[], T]) -> T:
        """`compute()`, which may depend on `arrays` and on the contents of `key` only.

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

        `compute` may depend on the reference, the unit and the contents of `key`, and not on the prediction. The arrays that are read back
        must be the same bit for bit. Arrays of other precisions than float32 are kept beside them.
        """
        if precision.current() != precision.FLOAT32:
            key = f"{key} in {precision.current()}"
        if self.ledger is not None:
            self.ledger.ask(("reference", key))
        if key not in self.prepared:
            arrays = compute() if self.ledger is None else self.ledger.do(("reference", key), compute)
            for array in arrays:
                array.flags.writeable = False
            self.prepared[key] = arrays
        return self.prepared[key]
