"""Procedural houses as wireframes: simulated references for the demo, for tests and for training.

Metres, z up, ground at z = 0. Every house follows from its kind and seed alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evaluation.synthetic.distortions import generator
from submissions.formats.wireframe.wireframe_files import Wireframe

KINDS = ("gable", "hip", "l_shaped", "dormer")
PROJECTED_ORIGIN = (538_000.0, 6_584_000.0, 40.0)  # what national grids look like

Point = tuple[float, float, float]


def house(kind: str, seed: int, origin: Point = (0.0, 0.0, 0.0)) -> Wireframe:
    """One house of a kind in KINDS, turned by a random angle and placed at `origin`."""
    if kind not in KINDS:
        raise ValueError(f"there is no house of kind {kind!r}; kinds are {', '.join(KINDS)}")
    rng = generator(f"house:{kind}:{seed}")
    frame = _Frame()
    {"gable": _gable, "hip": _hip, "l_shaped": _l_shaped, "dormer": _dormer}[kind](frame, rng)
    return frame.placed(rng.uniform(0, 2 * math.pi), origin)


def houses(n: int, seed: int = 0, origin: Point = (0.0, 0.0, 0.0)) -> dict[str, Wireframe]:
    """`n` houses of all kinds in turn, by ids house_01, house_02, ..."""
    width = max(2, len(str(n)))
    return {
        f"house_{number:0{width}}": house(KINDS[(number - 1) % len(KINDS)], seed * 1_000_003 + number, origin) for number in range(1, n + 1)
    }


class _Frame:
    """A wireframe under construction; points given twice are one vertex."""

    def __init__(self) -> None:
        self.places: dict[Point, int] = {}
        self.edges: dict[tuple[int, int], None] = {}

    def line(self, *points: Point) -> None:
        """Edges along a polyline."""
        numbers = [self._number(point) for point in points]
        for a, b in pairwise(numbers):
            self.edges[min(a, b), max(a, b)] = None

    def ring(self, points: Sequence[Point]) -> None:
        """Edges around a closed polygon."""
        self.line(*points, points[0])

    def walls(self, top: Sequence[Point], foot: Sequence[Point] | None = None) -> None:
        """A ring of eaves, its foot (on the ground unless given), and the edges between them."""
        below = foot or [(x, y, 0.0) for x, y, _ in top]
        self.ring(top)
        self.ring(below)
        for high, low in zip(top, below, strict=True):
            self.line(high, low)

    def placed(self, angle: float, origin: Point) -> Wireframe:
        """The finished wireframe, its footprint's middle at the origin before it is turned and moved."""
        vertices = np.array(list(self.places), dtype=np.float64)
        vertices[:, :2] -= (vertices[:, :2].min(axis=0) + vertices[:, :2].max(axis=0)) / 2
        cos, sin = math.cos(angle), math.sin(angle)
        vertices[:, :2] = vertices[:, :2] @ np.array([[cos, sin], [-sin, cos]])
        return Wireframe(vertices + np.array(origin), np.array(list(self.edges), dtype=np.int64))

    def _number(self, point: Point) -> int:
        x, y, z = (round(float(c), 6) for c in point)
        return self.places.setdefault((x, y, z), len(self.places))


class _Body:
    """The main block: length along x, depth along y, eaves at `eave`, ridge above y = depth / 2."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.length = rng.uniform(9, 16)
        self.depth = rng.uniform(6.5, min(10.0, self.length - 1.5))
        self.eave = rng.uniform(2.6, 3.4) + (2.7 if rng.random() < 0.4 else 0.0)
        self.slope = math.tan(math.radians(rng.uniform(28, 48)))
        self.ridge = self.eave + self.slope * self.depth / 2

    @property
    def eaves(self) -> list[Point]:
        return [
            (0.0, 0.0, self.eave),
            (self.length, 0.0, self.eave),
            (self.length, self.depth, self.eave),
            (0.0, self.depth, self.eave),
        ]

    def roof(self, y: float) -> float:
        """Height of the front or back slope at y."""
        return self.eave + self.slope * min(y, self.depth - y)


def _gable(frame: _Frame, rng: np.random.Generator) -> None:
    body = _Body(rng)
    _saddle(frame, body)
    if rng.random() < 0.5:
        _annex(frame, body, rng)
    else:
        _porch(frame, body, rng)
    if rng.random() < 0.5:
        _chimney(frame, body, rng, 0.2, 0.8)


def _hip(frame: _Frame, rng: np.random.Generator) -> None:
    body = _Body(rng)
    inset = min(body.depth / 2, 0.45 * body.length) * rng.uniform(0.6, 1.0)
    frame.walls(body.eaves)
    left, right = (inset, body.depth / 2, body.ridge), (body.length - inset, body.depth / 2, body.ridge)
    frame.line(left, right)
    a, b, c, d = body.eaves
    frame.line(a, left, d)
    frame.line(b, right, c)
    if rng.random() < 0.5:
        _annex(frame, body, rng)
    else:
        _porch(frame, body, rng)


def _l_shaped(frame: _Frame, rng: np.random.Generator) -> None:
    """A saddle roof and a lower one at right angles to it, which meet in two valleys."""
    body = _Body(rng)
    width = rng.uniform(0.55, 0.95) * body.depth
    reach = rng.uniform(3.0, 6.5)
    at_end = rng.random() < 0.5
    left = body.length - width if at_end else rng.uniform(0.15, 0.85) * (body.length - width)
    right, eave = left + width, body.eave
    outline = [(0.0, 0.0, eave), (left, 0.0, eave), (left, -reach, eave), (right, -reach, eave), (right, 0.0, eave)]
    frame.walls([*outline, *body.eaves[2 if at_end else 1 :]])
    _ridge(frame, body)
    top = eave + body.slope * width / 2
    front, back = (left + width / 2, -reach, top), (left + width / 2, width / 2, top)
    frame.line(front, back)
    frame.line((left, -reach, eave), front, (right, -reach, eave))
    frame.line((left, 0.0, eave), back, (right, 0.0, eave))
    if rng.random() < 0.4:
        _chimney(frame, body, rng, 0.1, 0.3)


def _dormer(frame: _Frame, rng: np.random.Generator) -> None:
    """A saddle roof with one or two gabled dormers on its front slope."""
    body = _Body(rng)
    _saddle(frame, body)
    count = 2 if body.length > 12 and rng.random() < 0.6 else 1
    width = rng.uniform(1.4, 2.2)
    rise = 0.25 * body.slope * body.depth
    for number in range(count):
        middle = body.length * (number + 1) / (count + 1) + rng.uniform(-0.5, 0.5)
        start = rng.uniform(0.08, 0.14) * body.depth
        wall, gable = rise * rng.uniform(0.75, 0.9), rise * rng.uniform(0.3, 0.45)
        left, right, foot = middle - width / 2, middle + width / 2, body.roof(start)
        top, peak = foot + wall, foot + wall + gable
        back, ridge_end = start + wall / body.slope, (middle, start + (wall + gable) / body.slope, peak)
        apex = (middle, start, peak)
        frame.line((left, start, foot), (right, start, foot))
        for x in (left, right):
            frame.line((x, start, foot), (x, start, top), (x, back, top), (x, start, foot))
            frame.line((x, start, top), apex)
            frame.line((x, back, top), ridge_end)
        frame.line(apex, ridge_end)
    if count == 1 and rng.random() < 0.5:
        _annex(frame, body, rng)


def _saddle(frame: _Frame, body: _Body) -> None:
    """Walls and a plain gable roof."""
    frame.walls(body.eaves)
    _ridge(frame, body)


def _ridge(frame: _Frame, body: _Body) -> None:
    """The ridge and the four edges that carry it at its ends."""
    left, right = (0.0, body.depth / 2, body.ridge), (body.length, body.depth / 2, body.ridge)
    frame.line(left, right)
    frame.line(body.eaves[0], left, body.eaves[3])
    frame.line(body.eaves[1], right, body.eaves[2])


def _annex(frame: _Frame, body: _Body, rng: np.random.Generator) -> None:
    """A lean-to against the left wall."""
    reach, margin = rng.uniform(2.0, 4.0), rng.uniform(0.08, 0.25) * body.depth
    high = rng.uniform(0.75, 0.95) * body.eave
    low = high - rng.uniform(0.3, 0.9)
    near, far = margin, body.depth - margin
    frame.walls([(0.0, near, high), (-reach, near, low), (-reach, far, low), (0.0, far, high)])


def _porch(frame: _Frame, body: _Body, rng: np.random.Generator) -> None:
    """A flat-roofed porch before the front wall."""
    width, reach, top = rng.uniform(2.5, 4.5), rng.uniform(1.5, 2.5), rng.uniform(2.2, 2.5)
    left = rng.uniform(0.1, 0.9) * (body.length - width)
    frame.walls([(left, 0.0, top), (left + width, 0.0, top), (left + width, -reach, top), (left, -reach, top)])


def _chimney(frame: _Frame, body: _Body, rng: np.random.Generator, low: float, high: float) -> None:
    """A chimney on the back slope, between two shares of the length."""
    size = rng.uniform(0.7, 1.0)
    x = rng.uniform(low, high) * (body.length - size)
    y = rng.uniform(0.62, 0.72) * body.depth
    square = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    top = body.ridge + rng.uniform(0.4, 0.9)
    frame.walls([(*corner, top) for corner in square], [(*corner, body.roof(corner[1])) for corner in square])
