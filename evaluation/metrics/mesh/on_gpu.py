"""Sampling and the search for nearest points as a graphics card does them best, in torch. PURE.

All is float64, in the order of operations of the code for the processor. No step depends on the order in which the
card finishes. So both give the same points and the same neighbours. `device` may be "cpu" too, which tests use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from evaluation.networks import device_use
from evaluation.networks.inference import beside_card, out_of_memory

T = TypeVar("T")

BLOCK = 64  # neighbours in an array that are looked at together
CELLS = {"cpu": 1 << 20, "cuda": 1 << 25}  # numbers formed at a time; a few such arrays are in memory together
NOBODY = torch.iinfo(torch.int64).max
ROUNDING = 1e-12  # relative: blocks are left out generously


@dataclass(frozen=True, eq=False)
class Blocks:
    """Points in blocks of BLOCK that follow each other: place [3, B, BLOCK], low and high [3, B] of their boxes.

    The last block is filled up with its last point.
    """

    place: Tensor
    low: Tensor
    high: Tensor

    @classmethod
    def of(cls, points: np.ndarray, device: str) -> Blocks:
        """`points` float64[N, 3], N at least 1."""
        there = torch.from_numpy(np.array(points, dtype=np.float64)).to(device)
        there = torch.cat([there, there[-1:].expand(-len(there) % BLOCK, 3)]).T.reshape(3, -1, BLOCK)
        return cls(there, there.amin(2), there.amax(2))

    def __len__(self) -> int:
        return self.place.shape[1]


def if_it_fits(compute: Callable[[], T]) -> T | None:
    """`compute()`, which is for a card; None where that has no room: the processor then finds the same. CardTrouble where others fill the
    card and this process must compute on one."""
    try:
        found = compute()
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
    else:
        device_use.note("cuda")
        return found
    beside_card(torch.device("cuda"))
    return None


def nearest_rows(points: np.ndarray, others: np.ndarray, device: str) -> np.ndarray:
    """int64[N]: the row of the nearest of others[M, 3] to each of points[N, 3], the first of equally near ones.

    Right for any points; quick for points along a curve that fills space, as samples of surfaces come.
    Memory: a few times CELLS numbers and the points themselves.
    """
    queries, targets = Blocks.of(points, device), Blocks.of(others, device)
    best = torch.full((len(queries), BLOCK), torch.inf, dtype=torch.float64, device=device)
    rows = torch.zeros((len(queries), BLOCK), dtype=torch.int64, device=device)
    everyone = torch.arange(len(queries), device=device)
    _measure(queries, targets, everyone, _closest_centre(queries, targets), best, rows)
    for some in _parts(len(queries), len(targets), device):
        limit = best[some].amax(1) * (1 + ROUNDING)
        query, target = torch.nonzero(_gap(queries, targets, some) <= limit[:, None], as_tuple=True)
        _measure(queries, targets, query + some.start, target, best, rows)
    return rows.ravel()[: len(points)].clamp(max=len(others) - 1).cpu().numpy()


def placed(
    vertices: np.ndarray,
    faces: np.ndarray,
    reached: np.ndarray,
    position: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    cells: int,
    device: str,
) -> tuple[np.ndarray, np.ndarray]:
    """The result of `sampling.placed`; `cells` along a side of the grid of the Morton order, a power of 2."""
    corners, triples, summed = (torch.from_numpy(np.array(each)).to(device) for each in (vertices, faces, reached))
    along, over, across = (torch.from_numpy(each).to(device) for each in (position, first, second))
    along = along.sort().values
    face = torch.searchsorted(summed, along * summed[-1], right=True).clamp(max=len(summed) - 1)
    a, b, c = (corners[triples[face, corner]] for corner in range(3))
    points = a + (over * (1 - across))[:, None] * (b - a) + (over * across)[:, None] * (c - a)
    order = _morton_order(points, cells)
    return points[order].cpu().numpy(), face[order].to(torch.int32).cpu().numpy()


def _measure(queries: Blocks, targets: Blocks, query: Tensor, target: Tensor, best: Tensor, rows: Tensor) -> None:
    """Lower `best` (squared distances) and the rows of who has them over pairs of blocks."""
    for some in _parts(len(query), BLOCK * BLOCK, best.device.type):
        one, other = query[some], target[some]
        squared = torch.zeros((), dtype=torch.float64, device=best.device)
        for axis in range(3):
            step = queries.place[axis, one][:, :, None] - targets.place[axis, other][:, None, :]
            squared = squared + step * step
        least, place = squared.min(2)
        # Which of equal ones `min` names is not certain everywhere; the first is.
        place = torch.where(squared == least[..., None], torch.arange(BLOCK, device=best.device), BLOCK).amin(2)
        found = other[:, None] * BLOCK + place
        at = one[:, None].expand(-1, BLOCK)
        lowered = best.scatter_reduce(0, at, least, "amin")
        rows.masked_fill_(lowered < best, NOBODY)
        best.copy_(lowered)
        rows.scatter_reduce_(0, at, torch.where(least == best[one], found, NOBODY), "amin")


def _closest_centre(queries: Blocks, targets: Blocks) -> Tensor:
    """int64[B]: for each block of queries the block whose middle is nearest, which gives the first bound."""
    here, there = ((blocks.low + blocks.high) / 2 for blocks in (queries, targets))
    return torch.cat([_squares(here[:, part], there).argmin(1) for part in _parts(len(queries), len(targets), here.device.type)])


def _squares(here: Tensor, there: Tensor) -> Tensor:
    x, y, z = (here[axis][:, None] - there[axis][None, :] for axis in range(3))
    return x * x + y * y + z * z


def _gap(queries: Blocks, targets: Blocks, some: slice) -> Tensor:
    """float64[some, B]: the squared distance between the boxes of blocks, 0 where they meet."""
    total = torch.zeros((), dtype=torch.float64, device=targets.low.device)
    for axis in range(3):
        below = targets.low[axis][None, :] - queries.high[axis, some][:, None]
        above = queries.low[axis, some][:, None] - targets.high[axis][None, :]
        apart = torch.maximum(below, above).clamp_(min=0)
        total = total + apart * apart
    return total


def _parts(count: int, width: int, device: str) -> Iterator[slice]:
    """Slices of `count` rows of `width` numbers, as many at a time as CELLS allows."""
    rows = max(1, CELLS[device] // width)
    return (slice(start, min(start + rows, count)) for start in range(0, count, rows))


def _morton_order(points: Tensor, cells: int) -> Tensor:
    low = points.amin(0)
    side = (points.amax(0) - low).amax().clamp(min=float(np.finfo(float).tiny))
    along = ((points - low) / side * cells).clamp(max=cells - 1).long()
    x, y, z = (_spread(along[:, axis]) for axis in range(3))
    return torch.sort(x << 2 | y << 1 | z, stable=True).indices


def _spread(cells: Tensor) -> Tensor:
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        cells = (cells | cells << shift) & mask
    return cells
