"""Sums, principal axes and angles with the same last bit on every processor.

Products of matrices, LAPACK's routines and the powers, angles and exponentials of numpy and the C library have other kernels, and other
last digits, on another processor or with another number of threads. Of a symmetric mesh those digits would choose axes and points.
Here are only additions, products, quotients and square roots of arrays, which IEEE 754 rounds in one way, and sums that are rounded once.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

Real = TypeVar("Real", float, np.ndarray)

_PLANES = ((0, 1), (0, 2), (1, 2))
_SWEEPS = 12  # the sixth rarely finds anything left
_ROUGH = 6  # decimals of a cosine on which all libraries agree


def total(values: np.ndarray) -> float:
    """The sum of float64[N], rounded once, whatever the order."""
    return math.fsum(values.tolist())


def totals(columns: np.ndarray) -> np.ndarray:
    """float64[K]: the sums of the columns of float64[N, K]."""
    return np.array([total(column) for column in columns.T])


def lengths(points: np.ndarray) -> np.ndarray:
    """float64[N]: the distances of float64[N, 3] from the origin."""
    return np.sqrt(points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1] + points[:, 2] * points[:, 2])


def principal_axes(points: np.ndarray) -> np.ndarray:
    """float64[3, 3]: the eigenvectors of the sum of p pᵀ over points float64[N, 3] as columns, that of the largest eigenvalue first.

    By Jacobi's rotations. Where eigenvalues coincide, the axes are those that the rotations come to, of a cube its own edges.
    """
    left = np.array([[total(points[:, row] * points[:, column]) for column in range(3)] for row in range(3)])
    axes = np.eye(3)
    for _ in range(_SWEEPS):
        for p, q in _PLANES:
            if left[p, q] == 0:
                continue
            slope = (float(left[q, q]) - float(left[p, p])) / (2 * float(left[p, q]))
            tangent = math.copysign(1 / (abs(slope) + math.sqrt(slope * slope + 1)), slope)
            cosine = 1 / math.sqrt(tangent * tangent + 1)
            sine = tangent * cosine
            for side in (left, left.T, axes):
                side[:, p], side[:, q] = cosine * side[:, p] - sine * side[:, q], sine * side[:, p] + cosine * side[:, q]
            left[p, q] = left[q, p] = 0.0
    return axes[:, np.argsort(-left.diagonal(), kind="stable")]


def turned_to(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """float64[N, 3]: what points float64[N, 3] measure along axes, the columns of float64[3, 3]."""
    x, y, z = (points[:, [k]] for k in range(3))
    return x * axes[0] + y * axes[1] + z * axes[2]


def power(x: Real, y: Real, exponent: int) -> tuple[Real, Real]:
    """Real and imaginary part of (x + iy) to a whole exponent of at least 1."""
    real, imaginary = x, y
    for _ in range(exponent - 1):
        real, imaginary = real * x - imaginary * y, real * y + imaginary * x
    return real, imaginary


def direction(x: float, y: float, share: int) -> tuple[float, float]:
    """Cosine and sine of a share (a half, a third, ...) of the angle of (x, y), which lies in (-π, π]; (1, 0) for the origin."""
    size = math.sqrt(x * x + y * y)
    if not size:
        return 1.0, 0.0
    angle = math.atan2(y, x) / share
    cosine, sine = round(math.cos(angle), _ROUGH), round(math.sin(angle), _ROUGH)
    for _ in range(3):  # Newton's steps along the circle, each of which squares the error
        real, imaginary = power(cosine, sine, share)
        missing = (y * real - x * imaginary) / (size * share)
        cosine, sine = cosine - missing * sine, sine + missing * cosine
        length = math.sqrt(cosine * cosine + sine * sine)
        cosine, sine = cosine / length, sine / length
    return cosine, sine
