"""What raters were asked and said, in brief: a few bytes a question. Arrays in, arrays out; rows never appear here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats.votes import Floats, Ints
from leaderboard.studies.live.plan import Grid

NOTHING, FIRST, EQUAL, SECOND = range(4)  # what was said of a cell: which entry of its unit is better
POINTS = np.array([0.0, 1.0, 0.5, 0.0])  # of the first entry


@dataclass(frozen=True, eq=False)
class Past:
    """One rater's questions in the order of their numbers.

    `asked` int32[N] is the cell (see `plan`), or -1 - cell where it was asked again; `said` uint8[N] the answer, NOTHING
    where there is none (yet). The bytes of both are little-endian.
    """

    asked: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    said: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))

    @classmethod
    def read(cls, asked: bytes, said: bytes) -> Self:
        return cls(np.frombuffer(asked, dtype="<i4").astype(np.int32), np.frombuffer(said, dtype=np.uint8))

    def written(self) -> tuple[bytes, bytes]:
        return self.asked.astype("<i4").tobytes(), self.said.tobytes()

    def with_asked(self, more: Sequence[int]) -> Past:
        """With more questions at its end, unanswered."""
        asked = np.concatenate([self.asked, np.array(more, dtype=np.int32)])
        return Past(asked, np.concatenate([self.said, np.zeros(len(more), dtype=np.uint8)]))

    def __len__(self) -> int:
        return len(self.asked)

    @property
    def cells(self) -> Ints:
        return np.where(self.asked < 0, -1 - self.asked, self.asked).astype(np.int64)

    @property
    def again(self) -> NDArray[np.bool_]:
        return self.asked < 0


def together(pasts: Sequence[Past]) -> Past:
    """All questions of several raters."""
    if not pasts:
        return Past()
    return Past(np.concatenate([past.asked for past in pasts]), np.concatenate([past.said for past in pasts]))


def times_asked(grid: Grid, past: Past) -> Ints:
    """How often each cell [U, S] was asked, repeats apart."""
    fresh = past.asked[~past.again]
    return np.bincount(fresh, minlength=grid.units * grid.samples).reshape(grid.units, grid.samples)


def wins(grid: Grid, past: Past) -> Floats:
    """How often each entry was preferred to each other one [M, M]; being equal is half a win of both."""
    m, told = grid.entries, past.said != NOTHING
    unit, points = past.cells[told] // grid.samples, POINTS[past.said[told]]
    i, j = grid.first[unit], grid.second[unit]
    found = np.bincount(i * m + j, points, m * m) + np.bincount(j * m + i, 1 - points, m * m)
    return np.asarray(found, dtype=np.float64).reshape(m, m)
