"""Procedural objects as triangle meshes: simulated references for the demo, for tests and for training.

Closed surfaces of 1,000 to 2,000 vertices, z up, centred at the origin, the longest side of the bounding box 1.
Every object follows from its kind and seed alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evaluation.synthetic.distortions import generator
from evaluation.synthetic.surfaces import Surface, box, circle, joined, lathe, level_set, prism, sweep, tube
from submissions.formats.arrays import Mesh

Box = tuple[tuple[float, float, float], tuple[float, float, float]]  # two opposite corners

MIN_VERTICES, MAX_VERTICES = 1_000, 2_000  # vertices
_AIM = 1_450


def mesh(kind: str, seed: int) -> Mesh:
    """One object of a kind in KINDS."""
    if kind not in _MAKERS:
        raise ValueError(f"there is no mesh of kind {kind!r}; kinds are {', '.join(KINDS)}")
    vertices, faces = _MAKERS[kind](generator(f"mesh:{kind}:{seed}"))
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return Mesh((vertices - (low + high) / 2) / (high - low).max(), np.ascontiguousarray(faces, dtype=np.int64))


def meshes(n: int, seed: int = 0) -> dict[str, Mesh]:
    """`n` objects of all kinds in turn, by ids mesh_01, mesh_02, ..."""
    width = max(2, len(str(n)))
    return {f"mesh_{number:0{width}}": mesh(KINDS[(number - 1) % len(KINDS)], seed * 1_000_003 + number) for number in range(1, n + 1)}


def _superquadric(rng: np.random.Generator) -> Surface:
    flat, round_ = rng.uniform(0.25, 1.6, 2)
    size = np.array([1.0, *rng.uniform(0.45, 1.0, 2)])
    around, up = 48, 30
    lat = np.linspace(-math.pi / 2, math.pi / 2, up + 2)[1:-1, None]
    lon = np.linspace(0, 2 * math.pi, around, endpoint=False)[None]

    def power(value: np.ndarray, exponent: float) -> np.ndarray:
        return np.sign(value) * np.abs(value) ** exponent

    wide = power(np.cos(lat), flat)
    points = [wide * power(np.cos(lon), round_), wide * power(np.sin(lon), round_), np.broadcast_to(power(np.sin(lat), flat), (up, around))]
    return tube(np.stack(points, -1) * size)


def _pipe(rng: np.random.Generator) -> Surface:
    """A bent tube, thicker at one end."""
    bend, lift, wave = rng.uniform(0.8, 3.6), rng.uniform(0.2, 1.4), rng.uniform(0.0, 0.35)
    t = np.linspace(0, 1, 70)
    path = np.stack([np.cos(bend * t), np.sin(bend * t), lift * t + wave * np.sin(2 * math.pi * t)], -1)
    thick = rng.uniform(0.1, 0.22)
    return sweep(path, circle(20), thick * (1 + rng.uniform(-0.5, 0.5) * t))


def _gear(rng: np.random.Generator) -> Surface:
    teeth, depth = int(rng.integers(7, 15)), rng.uniform(0.12, 0.3)
    per = max(8, round(144 / teeth))
    angle = np.linspace(0, 2 * math.pi, teeth * per, endpoint=False)
    radius = 1 - depth * (0.5 - 0.5 * np.tanh(rng.uniform(2, 6) * np.cos(teeth * angle)))
    outline = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    return prism(outline, rng.uniform(0.2, 0.6), 4, 4)


def _vase(rng: np.random.Generator) -> Surface:
    """A lathe with an inside and an outside."""
    height = rng.uniform(1.2, 2.4)
    t = np.linspace(0, 1, 22)
    swell, phase, pull = rng.uniform(0.15, 0.4), rng.uniform(0.5, 5.0), rng.uniform(3.0, 6.5)
    outer = 0.55 + swell * np.sin(pull * t + phase)
    inner = np.maximum(outer - rng.uniform(0.06, 0.12), 0.04)
    bottom = np.array([[0.33, 0.0], [0.66, 0.0]]) * outer[0]
    inside = np.stack([inner, t * height], -1)[:1:-1]
    floor = np.array([[0.6, inside[-1, 1] / inner[2]], [0.25, inside[-1, 1] / inner[2]]]) * inner[2]
    return lathe(np.concatenate([bottom, np.stack([outer, t * height], -1), inside, floor]), 30)


def _twisted_box(rng: np.random.Generator) -> Surface:
    side = np.linspace(-1, 1, 12)[:-1]
    one = np.full_like(side, 1.0)
    outline = np.concatenate([np.stack(p, -1) for p in ((side, -one), (one, side), (-side, one), (-one, -side))])
    outline = outline * [rng.uniform(0.5, 1.0), rng.uniform(0.3, 0.6)]
    return prism(outline, rng.uniform(1.5, 3.0), 24, 5, rng.uniform(-2.6, 2.6), rng.uniform(0.4, 1.1))


def _blob(rng: np.random.Generator) -> Surface:
    """Metaballs that touch one another."""
    centres, radii = [np.zeros(3)], [rng.uniform(0.45, 0.6)]
    for _ in range(int(rng.integers(3, 7))):
        step = rng.normal(size=3)
        centres.append(centres[int(rng.integers(len(centres)))] + 0.62 * step / np.linalg.norm(step))
        radii.append(rng.uniform(0.28, 0.5))

    def field(points: np.ndarray) -> np.ndarray:
        inside = [np.exp(2 * (1 - ((points - c) ** 2).sum(-1) / r**2)) for c, r in zip(centres, radii, strict=True)]
        return 1 - np.sum(inside, axis=0)

    return _net(field, float(np.abs(centres).max()) + 1.0)


def _chair(rng: np.random.Generator) -> Surface:
    wide, deep, seat, back = rng.uniform(0.8, 1.2), rng.uniform(0.8, 1.1), rng.uniform(0.7, 1.1), rng.uniform(0.7, 1.3)
    leg, board = rng.uniform(0.08, 0.16), rng.uniform(0.08, 0.16)
    boxes: list[Box] = [((x, y, 0), (x + leg, y + leg, seat)) for x in (0, wide - leg) for y in (0, deep - leg)]
    boxes.append(((0, 0, seat), (wide, deep, seat + board)))
    if rng.random() < 0.5:
        boxes.append(((0, deep - board, seat + board), (wide, deep, seat + back)))
    else:
        bars = int(rng.integers(2, 5))
        gap = (wide - leg) / bars
        boxes += [((n * gap, deep - leg, seat + board), (n * gap + leg, deep, seat + back)) for n in range(bars + 1)]
        boxes.append(((0, deep - leg, seat + back), (wide, deep, seat + back + leg)))
    return _boxes(boxes)


def _table(rng: np.random.Generator) -> Surface:
    wide, deep, tall = rng.uniform(1.2, 2.2), rng.uniform(0.8, 1.2), rng.uniform(0.6, 1.0)
    leg, board, inset = rng.uniform(0.08, 0.2), rng.uniform(0.06, 0.14), rng.uniform(0.0, 0.15)
    ends = [(x, y) for x in (inset, wide - inset - leg) for y in (inset, deep - inset - leg)]
    boxes: list[Box] = [((0, 0, tall), (wide, deep, tall + board)), *(((x, y, 0), (x + leg, y + leg, tall)) for x, y in ends)]
    if rng.random() < 0.5:
        low = rng.uniform(0.15, 0.4) * tall
        boxes.append(((inset + leg, inset + leg, low), (wide - inset - leg, deep - inset - leg, low + board)))
    return _boxes(boxes)


def _tower(rng: np.random.Generator) -> Surface:
    """Storeys that step back, with a mast."""
    boxes: list[Box] = []
    base, half = 0.0, 1.0
    for _ in range(int(rng.integers(3, 6))):
        tall = rng.uniform(0.5, 1.3)
        boxes.append(((-half, -half * 0.8, base), (half, half * 0.8, base + tall)))
        base, half = base + tall, half * rng.uniform(0.6, 0.88)
    boxes.append(((-0.1, -0.1, base), (0.1, 0.1, base + rng.uniform(0.5, 1.2))))
    return _boxes(boxes)


def _wheel(rng: np.random.Generator) -> Surface:
    """A rim, a hub and spokes."""
    spokes, thick, flat = int(rng.integers(3, 9)), rng.uniform(0.08, 0.18), rng.uniform(0.6, 1.4)
    ring = np.concatenate([circle(48), np.zeros((48, 1))], axis=1)
    parts = [sweep(ring, circle(12, thick) * [1, flat], closed=True), prism(circle(24, 0.25), 0.3, 3, 3)]
    parts[1][0][:, 2] -= 0.15
    per = min(14, 560 // (8 * spokes))
    for x, y in circle(spokes):
        path = np.linspace(0.2, 1.0, per)[:, None] * np.array([x, y, 0.0])
        parts.append(sweep(path, circle(8, thick * 0.5)))
    return joined(parts)


def _knot(rng: np.random.Generator) -> Surface:
    p, q = [(2, 3), (3, 2), (2, 5), (3, 4), (1, 4)][int(rng.integers(5))]
    t = np.linspace(0, 2 * math.pi, 120, endpoint=False)
    reach = 1 + rng.uniform(0.3, 0.5) * np.cos(q * t)
    path = np.stack([reach * np.cos(p * t), reach * np.sin(p * t), rng.uniform(0.3, 0.6) * np.sin(q * t)], -1)
    return sweep(path, circle(12, rng.uniform(0.09, 0.17)), closed=True)


def _rock(rng: np.random.Generator) -> Surface:
    """A ball with many soft dents in random directions."""
    directions = rng.normal(size=(24, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    strength, narrow = rng.uniform(-0.28, 0.2, 24), rng.uniform(3, 14, 24)
    size = np.array([1.0, *rng.uniform(0.6, 1.0, 2)])

    def field(points: np.ndarray) -> np.ndarray:
        points = points / size
        radius = np.linalg.norm(points, axis=1) + 1e-12
        bumps = np.exp(narrow * (points @ directions.T / radius[:, None] - 1)) @ strength
        return radius - 1 - bumps

    return _net(field, 1.8)


def _spring(rng: np.random.Generator) -> Surface:
    turns, rise = rng.uniform(2.0, 4.5), rng.uniform(0.35, 0.6)
    t = np.linspace(0, 2 * math.pi * turns, 140)
    path = np.stack([np.cos(t), np.sin(t), rise * t / math.pi], -1)
    return sweep(path, circle(10, rng.uniform(0.12, 0.2)))


def _star(rng: np.random.Generator) -> Surface:
    points = int(rng.integers(4, 9))
    angle = np.linspace(0, 2 * math.pi, points * 2 * max(1, 80 // (2 * points)), endpoint=False)
    radius = 1 - rng.uniform(0.35, 0.6) * np.abs((angle * points / math.pi) % 2 - 1)
    outline = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    return prism(outline, rng.uniform(0.3, 1.2), 6, 6, rng.uniform(-0.5, 0.5), rng.uniform(0.5, 1.0))


def _mug(rng: np.random.Generator) -> Surface:
    """A cup with a handle."""
    tall, wide, wall = rng.uniform(0.9, 1.5), rng.uniform(0.5, 0.68), rng.uniform(0.06, 0.12)
    flare = rng.uniform(-0.08, 0.15) * np.linspace(0, 1, 14)
    outside = np.stack([wide + flare, np.linspace(0, tall, 14)], -1)
    inside = np.stack([wide - wall + flare, np.linspace(wall, tall, 14)], -1)[::-1]
    bottom, floor = np.array([[0.4, 0.0], [0.75, 0.0]]) * wide, np.array([[0.75, 0.0], [0.4, 0.0]]) * (wide - wall) + [0, wall]
    cup = lathe(np.concatenate([bottom, outside, inside, floor]), 36)
    bend = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 22)
    reach, lift = rng.uniform(0.3, 0.45), rng.uniform(0.26, 0.38) * tall
    path = np.stack([wide - wall / 2 + flare[7] + reach * np.cos(bend), 0 * bend, tall / 2 + lift * np.sin(bend)], -1)
    return joined([cup, sweep(path, circle(12, rng.uniform(0.06, 0.1)))])


def _plane(rng: np.random.Generator) -> Surface:
    """An aeroplane: a body, wings and a tail, softly joined."""
    span, chord, sweep_back, tail = rng.uniform(0.7, 1.05), rng.uniform(0.18, 0.32), rng.uniform(0.0, 0.4), rng.uniform(0.25, 0.4)

    def egg(points: np.ndarray, centre: tuple[float, float, float], size: tuple[float, float, float]) -> np.ndarray:
        radius = np.linalg.norm((points - centre) / size, axis=1)
        return (radius - 1) * min(size)

    def field(points: np.ndarray) -> np.ndarray:
        back = points + np.stack([sweep_back * np.abs(points[:, 1]), 0 * points[:, 0], 0 * points[:, 0]], -1)
        parts = [
            egg(points, (0, 0, 0), (1.0, 0.17, 0.17)),
            egg(back, (0.1, 0, 0), (chord, span, 0.075)),
            egg(back, (-0.8, 0, 0.05), (0.16, tail, 0.07)),
            egg(points, (-0.82, 0, 0.2), (0.16, 0.07, 0.25)),
        ]
        return -np.log(np.sum(np.exp(-30 * np.array(parts)), axis=0)) / 30

    return _net(field, 1.25)


def _boxes(boxes: list[Box]) -> Surface:
    """Boxes side by side, cut so finely that about as many vertices result as are aimed at."""
    spacing = 0.3
    for _ in range(20):
        surface = joined([box(low, high, spacing) for low, high in boxes])
        if abs(len(surface[0]) - _AIM) < 0.1 * _AIM:
            break
        spacing *= math.sqrt(len(surface[0]) / _AIM)
    return surface


def _net(field: Callable[[np.ndarray], np.ndarray], reach: float) -> Surface:
    """The level set, on a grid of which about as many vertices result as are aimed at."""
    cells = 24
    for _ in range(4):
        surface = level_set(field, -reach, reach, cells)
        if abs(len(surface[0]) - _AIM) < 0.15 * _AIM:
            break
        cells = max(8, round(cells * math.sqrt(_AIM / len(surface[0]))))
    return surface


_MAKERS: dict[str, Callable[[np.random.Generator], Surface]] = {
    "superquadric": _superquadric,
    "pipe": _pipe,
    "gear": _gear,
    "vase": _vase,
    "twisted_box": _twisted_box,
    "blob": _blob,
    "chair": _chair,
    "table": _table,
    "tower": _tower,
    "wheel": _wheel,
    "knot": _knot,
    "rock": _rock,
    "spring": _spring,
    "star": _star,
    "mug": _mug,
    "plane": _plane,
}
KINDS = tuple(_MAKERS)
