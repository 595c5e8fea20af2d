"""The stored form of an entry's wireframes or meshes: one NPZ with the rows of all items in sequence, and the number of rows of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import FormatError
from submissions.formats.npz import Shape, read_members, read_npz

MAX_BYTES = 4_000_000_000  # of one array, unpacked
IDS = "ids"


class Extent(NamedTuple):
    """Size of a stored item: edges, faces or bytes of its image; and whether it has colours, of families whose files may have them."""

    size: int
    coloured: bool | None = None


def id_bytes(ids: Iterable[str]) -> NDArray[np.uint8]:
    """The names of the items as the array ``ids``."""
    return np.frombuffer("\n".join(ids).encode(), np.uint8)


def counts(parts: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Number of rows of each item: int64[items]."""
    return np.array([len(part) for part in parts], np.int64)


def rows(columns: tuple[int, ...], dtype: Any, parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """The rows of all items, one item after the other; ``columns`` is the shape of a row."""
    return np.concatenate([np.zeros((0, *columns), dtype), *(part.astype(dtype, copy=False) for part in parts)])


@dataclass(frozen=True)
class Stored:
    """Items read back: their names in order, and the arrays by name. ``what`` they are, for messages."""

    ids: list[str]
    arrays: Mapping[str, NDArray[Any]]
    what: str

    @classmethod
    def read(cls, data: bytes | BinaryIO, per_item: Sequence[str], per_row: Mapping[str, Shape], what: str) -> "Stored":
        """``data``, or of an open file only what is named: the arrays that hold one value an item and those that hold rows, with their
        rows' shapes. Raises ``FormatError``."""
        rows: dict[str, Shape] = {**dict.fromkeys((IDS, *per_item), ()), **per_row}
        name = "artifact"
        arrays = read_npz(data, name, rows, MAX_BYTES) if isinstance(data, bytes) else read_members(data, name, rows, MAX_BYTES)
        missing = [name for name in rows if name not in arrays]
        if missing:
            raise FormatError("artifact", missing[0], f"is missing; this is not a stored set of {what}")
        text = arrays[IDS].tobytes().decode()
        ids = text.split("\n") if text else []
        if any(arrays[name].shape != (len(ids),) for name in per_item):
            raise FormatError("artifact", "", f"has lists of different lengths; this is not a stored set of {what}")
        return cls(ids, arrays, what)

    def flags(self, name: str) -> NDArray[np.bool_]:
        """An array of one value an item as yes or no."""
        return self.arrays[name].astype(bool)

    def split(self, name: str, lengths: NDArray[Any]) -> list[NDArray[Any]]:
        """An array cut into pieces of the given lengths, each a copy of its own that can be written to."""
        values = self.arrays[name]
        ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        if ends[-1] != len(values) or (lengths < 0).any():
            raise FormatError("artifact", "", f"has counts that do not fit; this is not a stored set of {self.what}")
        return [values[start:end].copy() for start, end in pairwise(ends)]
