"""Whitened features to the score: where a cell is found again, whether that is as near as in clean views, and how often the same piece is
used. Own definition.

With d(p) the distance of cell p to its match r(p) in the clean views, δ(r) the distance of a clean cell to the nearest cell of
other clean views, and c = ¼ · median δ,

    ρ(p) = d(p) / (δ(r(p)) + c),   s(p) = share of the clean views' own ρ above ρ(p),   u(p) = s(p) / n(p),

with n(p) the number of the picture's cells with the same match. The score is the mean of u. If features are `rooted`, it is the square
of the mean of √u, in which weak damage everywhere counts less against strong damage at some places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

RARE = 0.05  # the quantile of u over clean views below which a place is marked
TOLERATED = 0.25  # of the median δ, that is added to each
BLOCK = 32 << 20  # bytes of products that are held at a time


def overall(u: np.ndarray, rooted: bool) -> float:
    """The score of cells' u float64[n], in [0, 1]: their mean, or `rooted` (mean √u)²."""
    return float(np.sqrt(u).mean() ** 2) if rooted else float(u.mean())


@dataclass(frozen=True, eq=False)
class Plausible:
    """Plausibility of the cells of one picture, each array float64[h · w] in the order of rows: ρ, s, u; and r int64, the clean cell that
    each matched."""

    ratio: np.ndarray
    share: np.ndarray
    u: np.ndarray
    match: np.ndarray

    def score(self, rooted: bool = False) -> float:
        """The score of the whole picture, in [0, 1]."""
        return overall(self.u, rooted)

    @property
    def pieces(self) -> float:
        """The effective share of pieces in (0, 1]: exp of the entropy of how often each is used, over the number of cells."""
        counts = np.bincount(self.match)
        used = counts[counts > 0] / len(self.match)
        return float(np.exp(-(used * np.log(used)).sum()) / len(self.match))


@dataclass(frozen=True, eq=False)
class Clean:
    """The cells of clean views: `places` [N, h · w, D]. Each has a nearest cell in each of two other views: `far`
    float64[N, h · w, 2] are the distances, and `match` int32[N, h · w, 2] the cells, numbered through all views.

    Two are enough to leave any one view out. Where N is 2 the second does not exist: inf, and 0.
    """

    places: np.ndarray
    far: np.ndarray
    match: np.ndarray

    @classmethod
    def of(cls, places: np.ndarray) -> Clean:
        """The clean views with these cells [N, h · w, D], N at least 2."""
        views, size = places.shape[:2]
        if views < 2:
            raise ValueError("a clean view is compared with others, and there is none")
        far, match = np.full((views, size, 2), np.inf), np.zeros((views, size, 2), dtype=np.int32)
        finder = Finder(places)
        for view in range(views):
            distance, cell = finder.nearest(places[view])
            distance[:, view] = np.inf
            best = np.argsort(distance, axis=1, kind="stable")[:, :2]
            far[view] = np.take_along_axis(distance, best, axis=1)
            match[view] = np.take_along_axis(cell, best, axis=1)
        return cls(places, far, match)

    @cached_property
    def finder(self) -> Finder:
        """The finder of the cells nearest to others."""
        return Finder(self.places)

    def known(self, without: int | None = None) -> Known:
        """The knowledge that these views have of each other, all of them or all but one."""
        views, size = self.far.shape[:2]
        second = (self.match[..., 0] // size == without).astype(np.int64)[..., None] if without is not None else np.zeros((1, 1, 1), int)
        second = np.broadcast_to(second, (views, size, 1))
        far = np.take_along_axis(self.far, second, axis=2)[..., 0]
        match = np.take_along_axis(self.match, second, axis=2)[..., 0]
        kept = [view for view in range(views) if view != without]
        tolerance = TOLERATED * float(np.median(far[kept]))
        ratios = _over(far[kept], far.reshape(-1)[match[kept]] + tolerance)
        return Known(far.reshape(-1), tolerance, np.sort(ratios, axis=None), ratios, match[kept])

    def plausible(self, cells: np.ndarray, known: Known, without: int | None = None) -> Plausible:
        """Plausibility of a picture's cells [h · w, D], compared with all views or all but one; `known` is of the same views."""
        distance, cell = self.finder.nearest(cells)
        if without is not None:
            distance[:, without] = np.inf
        best = distance.argmin(axis=1)[:, None]
        match = np.take_along_axis(cell, best, axis=1)[:, 0]
        return known.judged(_over(np.take_along_axis(distance, best, axis=1)[:, 0], known.far[match] + known.tolerance), match)


@dataclass(frozen=True, eq=False)
class Known:
    """Clean views' knowledge of each other: `far` float64[N · h · w] is δ of every cell, and `tolerance` is c. `ordered` float64
    has the clean ratios, ascending; `ratios` float64[M, h · w] has them in place, with their matches `match` int32[M, h · w]."""

    far: np.ndarray
    tolerance: float
    ordered: np.ndarray
    ratios: np.ndarray
    match: np.ndarray

    def judged(self, ratio: np.ndarray, match: np.ndarray) -> Plausible:
        """Steps 5 and 6 for one picture's ratios float64[h · w] and matches."""
        share = 1.0 - np.searchsorted(self.ordered, ratio, side="right") / len(self.ordered)
        _, piece, used = np.unique(match, return_inverse=True, return_counts=True)
        return Plausible(ratio, share, share / used[piece], match)

    @cached_property
    def each(self) -> list[Plausible]:
        """Each clean view against the others."""
        return [self.judged(ratio, match) for ratio, match in zip(self.ratios, self.match, strict=True)]

    def band(self, rooted: bool = False) -> tuple[float, float, float]:
        """Mean, least and greatest score of the clean views, each against the others."""
        scores = [one.score(rooted) for one in self.each]
        return float(np.mean(scores)), min(scores), max(scores)

    @cached_property
    def rare(self) -> float:
        """u₅: a place with a lower u is rarer than 95 % of clean views' places."""
        return float(np.quantile(np.concatenate([one.u for one in self.each]), RARE))


class Finder:
    """Finds the nearest cell of each view among cells [N, h · w, D]."""

    def __init__(self, places: np.ndarray) -> None:
        self.views, self.size, channels = places.shape
        self.flat = places.reshape(-1, channels)
        lengths = np.einsum("kc,kc->k", self.flat, self.flat)
        self.operand = np.concatenate([self.flat, lengths[:, None]], axis=1)

    def nearest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(distance float64[P, N], cell int64[P, N]) of the cell of each view that is nearest to points [P, D]; cells are
        numbered through all views, and of cells equally near the first counts.

        One product of matrices says which is nearest; how far that is, the difference itself says, so equal cells are at 0.
        """
        cell = np.empty((len(points), self.views), dtype=np.int64)
        wanted = np.concatenate([-2 * points, np.ones((len(points), 1), dtype=points.dtype)], axis=1)
        rows = max(1, BLOCK // (self.flat.itemsize * len(self.flat)))
        for start in range(0, len(points), rows):
            product = wanted[start : start + rows] @ self.operand.T
            cell[start : start + rows] = product.reshape(-1, self.views, self.size).argmin(axis=2)
        cell += np.arange(self.views) * self.size
        distance = np.empty(cell.shape)
        for start in range(0, len(points), rows):
            some = slice(start, start + rows)
            gaps = (points[some, None] - self.flat[cell[some]]).astype(np.float64)
            distance[some] = np.sqrt(np.einsum("pnc,pnc->pn", gaps, gaps))
        return distance, cell


def _over(distance: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """`distance` / `usual`; where both are 0, 0."""
    return np.divide(distance, usual, out=np.where(distance > 0, np.inf, 0.0), where=usual > 0)
