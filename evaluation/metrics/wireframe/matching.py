"""One-to-one matching of predicted and reference elements under a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.metrics.result import MetricResult, Status

SECOND = 1e-6  # far above what rounding does to projected coordinates, far below what anybody measures


@dataclass(frozen=True, eq=False)
class Matching:
    """The hits: `pred` and `ref` int64[T] are indices of matched elements, `distance` float64[T]."""

    n_pred: int
    n_ref: int
    pred: np.ndarray
    ref: np.ndarray
    distance: np.ndarray

    @property
    def parts(self) -> dict[str, float]:
        """The counts, which add up over items."""
        return {"tp": float(len(self.pred)), "n_pred": float(self.n_pred), "n_gt": float(self.n_ref)}

    def precision(self) -> MetricResult:
        """Hits over predicted elements."""
        return self._result(self.n_pred, 1)

    def recall(self) -> MetricResult:
        """Hits over reference elements."""
        return self._result(self.n_ref, 1)

    def f1(self) -> MetricResult:
        """Twice the hits over all elements, which is the harmonic mean of the two."""
        return self._result(self.n_pred + self.n_ref, 2)

    @property
    def status(self) -> Status:
        """ok, or empty_pred where nothing was predicted."""
        return Status.OK if self.n_pred else Status.EMPTY_PRED

    def _result(self, of: int, factor: int) -> MetricResult:
        without_any = 1.0 if self.n_pred == self.n_ref == 0 else 0.0
        value = factor * len(self.pred) / of if of else without_any
        return MetricResult(value, self.status, parts=self.parts)


def assign(cost: np.ndarray, swap: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the one-to-one assignment of least total cost, float64[P, G], by Hungarian.

    `swap` solves the transposed problem: a caller who sets it by the geometry alone gets the same
    assignment whichever side is called the prediction, ties included.
    """
    if swap:
        columns, rows = scipy.optimize.linear_sum_assignment(cost.T)
        return rows, columns
    return scipy.optimize.linear_sum_assignment(cost)


def match(distance: np.ndarray, limit: float, rule: str, swap: bool = False, second: np.ndarray | None = None) -> Matching:
    """Match rows (predicted) to columns (reference) of `distance`, float64[P, G], by Hungarian.

    `hungarian_raw` minimises the total distance and keeps the pairs within `limit` (inclusive);
    `hungarian_capped` maximises the number of pairs within it first, total distance second.
    Between assignments that these leave equal, the one with the least total of `second`, another
    distance of that shape, is taken. `swap` as for `assign`.
    """
    n_pred, n_ref = distance.shape
    cost = distance
    if rule == "hungarian_capped":
        cost = np.where(distance <= limit, distance, limit * (min(n_pred, n_ref) + 1) + 1)
    if second is not None:
        cost = cost + SECOND * second
    pred, ref = assign(cost, swap)
    found = distance[pred, ref]
    kept = found <= limit
    return Matching(n_pred, n_ref, pred[kept], ref[kept], found[kept])


def comes_first(a: np.ndarray, b: np.ndarray) -> bool:
    """True if geometry `a` is put before `b`: fewer elements first, then by coordinates."""
    if len(a) != len(b):
        return len(a) < len(b)
    different = np.flatnonzero(a.ravel() != b.ravel())
    return not len(different) or bool(a.ravel()[different[0]] < b.ravel()[different[0]])
