"""Textured procedural objects of twelve classes, as a room may hold them. PURE; each follows from its class and seed.

Lengths in metres; the bottom of an object is at z = 0, its middle above the origin and its front towards −y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaluation.rendering.triangles import Triangles
from evaluation.synthetic import textures
from evaluation.synthetic.distortions import generator
from evaluation.synthetic.shapes import Builder


@dataclass(frozen=True, eq=False)
class Item:
    """One object: its class, its triangles (item 0, materials from 0) and its textures (linear)."""

    kind: str
    triangles: Triangles
    textures: list[np.ndarray]

    @property
    def size(self) -> np.ndarray:
        """float64[3], metres."""
        corners = self.triangles.corners
        return corners.max(axis=(0, 1)) - corners.min(axis=(0, 1))


def item(kind: str, seed: int | str) -> Item:
    """The object of a kind in KINDS."""
    if kind not in _MAKERS:
        raise ValueError(f"there is no object of class {kind!r}; there are {', '.join(KINDS)}")
    builder = Builder()
    _MAKERS[kind](builder, generator(f"object:{kind}:{seed}"))
    return Item(kind, *builder.built())


def _surface(b: Builder, rng: np.random.Generator) -> int:
    return b.material(textures.any_of(rng, textures.SURFACES), rng.uniform(0.25, 0.7))


def _timber(b: Builder, rng: np.random.Generator) -> int:
    """Mostly wood, at times painted."""
    return b.material(textures.wood(rng) if rng.uniform() < 0.65 else textures.plain(rng), rng.uniform(0.4, 0.9))


def _cloth(b: Builder, rng: np.random.Generator) -> int:
    kinds = (textures.fabric, textures.fabric, textures.plain, textures.stripes, textures.checks, textures.dots)
    return b.material(textures.any_of(rng, kinds), rng.uniform(0.3, 0.8))


def _legs(b: Builder, rng: np.random.Generator, wide: float, deep: float, high: float, material: int, inset: float = 0.03) -> None:
    """Four legs under a plate of that size: square, round or splayed."""
    thick, style = rng.uniform(0.018, 0.035), rng.integers(3)
    for x in (-1, 1):
        for y in (-1, 1):
            cx, cy = x * (wide / 2 - inset - thick), y * (deep / 2 - inset - thick)
            if style == 0:
                b.box((cx - thick, cy - thick, 0), (cx + thick, cy + thick, high), material)
            else:
                splay = 1.0 if style == 1 else rng.uniform(1.05, 1.2)
                b.rod((cx * splay, cy * splay, 0), (cx, cy, high), thick, material)


def _chair(b: Builder, rng: np.random.Generator) -> None:
    wide, deep, high = rng.uniform(0.4, 0.55), rng.uniform(0.4, 0.55), rng.uniform(0.42, 0.5)
    frame, seat = _timber(b, rng), _cloth(b, rng) if rng.uniform() < 0.6 else _timber(b, rng)
    back, thick = rng.uniform(0.38, 0.6), rng.uniform(0.03, 0.08)
    _legs(b, rng, wide, deep, high, frame, inset=0.01)
    b.box((-wide / 2, -deep / 2, high), (wide / 2, deep / 2, high + thick), seat)
    top = high + thick + back
    style = rng.integers(3)
    if style == 0:
        b.box((-wide / 2, deep / 2 - 0.05, high + thick), (wide / 2, deep / 2, top), seat)
        return
    for x in (-1, 1):
        b.rod((x * (wide / 2 - 0.025), deep / 2 - 0.025, high), (x * (wide / 2 - 0.025), deep / 2 + 0.03, top), 0.022, frame)
    if style == 1:
        for level in np.linspace(high + thick + 0.12, top - 0.04, int(rng.integers(2, 5))):
            b.box((-wide / 2, deep / 2 - 0.03, level - 0.035), (wide / 2, deep / 2 + 0.01, level + 0.035), frame)
    else:
        for x in np.linspace(-wide / 2 + 0.06, wide / 2 - 0.06, int(rng.integers(3, 7))):
            b.rod((x, deep / 2 - 0.02, high), (x, deep / 2 + 0.02, top - 0.02), 0.011, frame, sides=6)
        b.box((-wide / 2, deep / 2 - 0.02, top - 0.08), (wide / 2, deep / 2 + 0.04, top), frame)


def _table(b: Builder, rng: np.random.Generator) -> None:
    wide, deep, high = rng.uniform(0.8, 1.6), rng.uniform(0.6, 0.9), rng.uniform(0.45, 0.78)
    top, frame = _timber(b, rng), _timber(b, rng)
    thick = rng.uniform(0.025, 0.06)
    if rng.uniform() < 0.35:  # round, on one foot
        r = deep * rng.uniform(0.55, 0.7)
        b.lathe([(0, high - thick), (r, high - thick), (r, high), (0, high)], top, around=24)
        b.lathe([(0, 0), (r * 0.55, 0), (r * 0.5, 0.04), (0.05, 0.1), (0.045, high - thick)], frame, around=16)
        return
    b.box((-wide / 2, -deep / 2, high - thick), (wide / 2, deep / 2, high), top)
    _legs(b, rng, wide, deep, high - thick, frame)
    if rng.uniform() < 0.5:
        b.box((-wide / 2 + 0.05, -deep / 2 + 0.05, high - thick - 0.09), (wide / 2 - 0.05, deep / 2 - 0.05, high - thick), frame)


def _lamp(b: Builder, rng: np.random.Generator) -> None:
    high = rng.uniform(1.3, 1.75) if rng.uniform() < 0.5 else rng.uniform(0.4, 0.65)
    foot, shade = _surface(b, rng), b.material(np.clip(1.6 * textures.fabric(rng, textures.colour(rng, 0.75, 1.0, 0.6)), 0, 1), 0.3)
    tall = high > 1
    r, cover = (0.16 if tall else 0.1) * rng.uniform(0.8, 1.2), rng.uniform(0.2, 0.32) * (1.0 if tall else 0.75)
    b.lathe([(0, 0), (r, 0), (r, 0.02), (0.02, 0.04)], foot)
    if not tall and rng.uniform() < 0.6:
        b.ball(r * 0.8, foot, (0, 0, 0.03 + r * 0.8 * 1.2), squash=1.2)
    b.rod((0, 0, 0.02), (0, 0, high - cover * 0.3), 0.014, foot, sides=6)
    wide = cover * rng.uniform(0.55, 0.8)
    narrow = wide * rng.uniform(0.4, 0.95)
    b.lathe([(0, high - cover), (wide, high - cover), (narrow, high), (0, high)], shade)


def _sofa(b: Builder, rng: np.random.Generator) -> None:
    wide, deep, seat = rng.uniform(1.3, 2.1), rng.uniform(0.75, 0.95), rng.uniform(0.36, 0.45)
    arm, back, thick = rng.uniform(0.12, 0.22), rng.uniform(0.3, 0.5), rng.uniform(0.16, 0.24)
    body = _cloth(b, rng)
    cushion = _cloth(b, rng) if rng.uniform() < 0.4 else body
    b.box((-wide / 2, -deep / 2, 0.06), (wide / 2, deep / 2, seat - 0.12), body)
    for end in (-1, 1):
        inner, outer = sorted((end * (wide / 2 - arm), end * wide / 2))
        b.box((inner, -deep / 2, 0.06), (outer, deep / 2, seat + rng.uniform(0.15, 0.22)), body)
    b.box((-wide / 2, deep / 2 - thick, 0.06), (wide / 2, deep / 2, seat + back), body)
    n = int(rng.integers(2, 4))
    places = np.linspace(-wide / 2 + arm, wide / 2 - arm, n + 1)
    for left, right in pairwise(places):
        b.box((left + 0.01, -deep / 2 - 0.02, seat - 0.12), (right - 0.01, deep / 2 - thick, seat), cushion)
        b.box((left + 0.02, deep / 2 - thick - 0.1, seat), (right - 0.02, deep / 2 - thick, seat + back * 0.95), cushion)
    if rng.uniform() < 0.6:
        pillow, x = _cloth(b, rng), rng.uniform(-1, 1) * (wide / 2 - arm - 0.2)
        b.box((x - 0.18, -0.05, seat), (x + 0.18, 0.09, seat + 0.34), pillow, about_z=rng.uniform(-0.5, 0.5))


def _vase(b: Builder, rng: np.random.Generator) -> None:
    high, wide = rng.uniform(0.25, 0.6), rng.uniform(0.07, 0.14)
    t = np.linspace(0, 1, 12)
    waves = 1 + rng.uniform(0.2, 0.5) * np.sin(2 * np.pi * (rng.uniform(0.6, 1.3) * t + rng.uniform(0, 0.25)))
    neck = 1 - rng.uniform(0.2, 0.55) * np.clip((t - 0.55) / 0.45, 0, 1)
    radius = wide * waves * neck
    profile = [(0, 0), *zip(radius, t * high, strict=True), (radius[-1] * 0.85, high), (radius[-1] * 0.8, high * 0.6), (0, high * 0.55)]
    b.lathe(profile, b.material(textures.any_of(rng, textures.SURFACES), rng.uniform(0.15, 0.5)), around=20)


def _bookshelf(b: Builder, rng: np.random.Generator) -> None:
    wide, deep, high = rng.uniform(0.7, 1.2), rng.uniform(0.26, 0.36), rng.uniform(1.2, 2.0)
    frame, levels, t = _timber(b, rng), int(rng.integers(3, 6)), 0.03
    for x in (-wide / 2, wide / 2 - t):
        b.box((x, -deep / 2, 0), (x + t, deep / 2, high), frame)
    b.box((-wide / 2, deep / 2 - 0.015, 0), (wide / 2, deep / 2, high), frame)
    heights = np.linspace(0.04, high - t, levels + 1)
    for level in heights:
        b.box((-wide / 2, -deep / 2, level), (wide / 2, deep / 2 - 0.01, level + t), frame)
    for below, above in pairwise(heights):
        if rng.uniform() < 0.15:
            continue
        spines, left = b.material(textures.spines(rng), 1.0), -wide / 2 + t
        right = left + (wide - 2 * t) * rng.uniform(0.6, 1.0)
        top = below + t + (above - below - t) * rng.uniform(0.7, 0.95)
        b.box((left, -deep / 2 + 0.05, below + t), (right, deep / 2 - 0.02, top), frame, picture=spines)


def _bed(b: Builder, rng: np.random.Generator) -> None:
    wide, long, high = rng.uniform(0.9, 1.7), rng.uniform(1.9, 2.1), rng.uniform(0.22, 0.4)
    frame, sheet = _timber(b, rng), b.material(textures.fabric(rng, textures.colour(rng, 0.75, 1.0, 0.3)), 0.5)
    cover, head = _cloth(b, rng), rng.uniform(0.75, 1.15)
    b.box((-wide / 2, -long / 2, 0.08), (wide / 2, long / 2, high), frame)
    b.box((-wide / 2 + 0.02, -long / 2 + 0.02, high), (wide / 2 - 0.02, long / 2 - 0.02, high + 0.2), sheet)
    b.box((-wide / 2 - 0.02, -long / 2, high - 0.05), (wide / 2 + 0.02, long * rng.uniform(0.05, 0.25), high + 0.24), cover)
    b.box((-wide / 2 - 0.03, long / 2, 0), (wide / 2 + 0.03, long / 2 + 0.06, head), frame)
    n = 1 if wide < 1.2 else 2
    pillow = _cloth(b, rng) if rng.uniform() < 0.4 else sheet
    for k in range(n):
        x = (k - (n - 1) / 2) * wide / 2
        b.box((x - 0.3, long / 2 - 0.5, high + 0.2), (x + 0.3, long / 2 - 0.1, high + 0.32), pillow, about_z=rng.uniform(-0.1, 0.1))


def _plant(b: Builder, rng: np.random.Generator) -> None:
    pot, high, r = _surface(b, rng), rng.uniform(0.15, 0.4), rng.uniform(0.1, 0.2)
    soil, leaf = b.material(textures.plain(rng, np.array([0.03, 0.02, 0.012]), 0.3)), b.material(textures.leaves(rng), 1.0)
    b.lathe([(0, 0), (r * rng.uniform(0.6, 0.95), 0), (r, high), (r * 0.9, high), (r * 0.88, high * 0.9)], pot)
    b.lathe([(r * 0.9, high * 0.93), (0, high * 0.93)], soil)
    reach, broad, t = rng.uniform(0.35, 0.9), rng.uniform(0.05, 0.16), np.linspace(0, 1, 6)
    droop, trunk = rng.uniform(0.2, 0.9), rng.uniform(0, 0.4) if rng.uniform() < 0.5 else 0.0
    if trunk:
        b.rod((0, 0, high * 0.9), (0, 0, high + trunk), 0.02, b.material(textures.wood(rng), 0.3))
    for angle in rng.uniform(0, 2 * np.pi, int(rng.integers(12, 26))):
        out, length = np.array([np.cos(angle), np.sin(angle), 0.0]), reach * rng.uniform(0.5, 1.0)
        lean = rng.uniform(0.15, 0.8)
        path = np.outer(lean * length * t, out)
        path[:, 2] = high * 0.9 + trunk + length * (t - droop * lean * t**2)
        widths = broad * np.sin(np.pi * np.clip(t * 0.95 + 0.05, 0, 1)) + 0.004
        b.blade(path, widths, np.array([-out[1], out[0], 0.0]), leaf)


def _crate(b: Builder, rng: np.random.Generator) -> None:
    wide, deep, high = rng.uniform(0.3, 0.65, 3)
    board, edge, t = b.material(textures.planks(rng), rng.uniform(0.3, 0.6)), _timber(b, rng), rng.uniform(0.02, 0.04)
    b.box((-wide / 2, -deep / 2, 0), (wide / 2, deep / 2, high), board)
    for x in (-wide / 2, wide / 2):
        for y in (-deep / 2, deep / 2):
            b.box((x - t, y - t, -0.005), (x + t, y + t, high + 0.005), edge)
    for z in (t, high - t):
        for y in (-deep / 2, deep / 2):
            b.box((-wide / 2, y - t * 0.8, z - t), (wide / 2, y + t * 0.8, z + t), edge)
        for x in (-wide / 2, wide / 2):
            b.box((x - t * 0.8, -deep / 2, z - t), (x + t * 0.8, deep / 2, z + t), edge)


def _ball(b: Builder, rng: np.random.Generator) -> None:
    kinds = (textures.plain, textures.stripes, textures.checks, textures.dots, textures.stripes)
    r = rng.uniform(0.1, 0.28)
    b.ball(r, b.material(textures.any_of(rng, kinds), r * np.pi), (0, 0, r), around=24)


def _screen(b: Builder, rng: np.random.Generator) -> None:
    wide = rng.uniform(0.5, 1.2)
    high, t = wide * rng.uniform(0.52, 0.68), rng.uniform(0.03, 0.07)
    dark = b.material(textures.plain(rng, np.full(3, rng.uniform(0.01, 0.06))), 0.5)
    shown = b.material(textures.painting(rng) if rng.uniform() < 0.75 else textures.plain(rng, np.full(3, 0.015)), 1.0)
    lift = rng.uniform(0.06, 0.16)
    b.box((-wide * 0.22, -0.1, 0), (wide * 0.22, 0.1, 0.02), dark)
    b.box((-0.04, -0.01, 0.01), (0.04, 0.04, lift + 0.08), dark)
    b.box((-wide / 2, -t / 2, lift), (wide / 2, t / 2, lift + high), dark)
    e = 0.018
    b.box((-wide / 2 + e, -t / 2 - 0.002, lift + e), (wide / 2 - e, -t / 2 + 0.01, lift + high - e), dark, picture=shown)


def _bottle(b: Builder, rng: np.random.Generator) -> None:
    high, r = rng.uniform(0.24, 0.36), rng.uniform(0.035, 0.05)
    glass = b.material(textures.plain(rng, textures.colour(rng, 0.15, 0.6)), 0.3)
    label = b.material(textures.painting(rng), np.pi * r)
    shoulder, neck = high * rng.uniform(0.55, 0.68), r * rng.uniform(0.28, 0.42)
    b.lathe([(0, 0), (r, 0), (r, shoulder), (r * 0.8, shoulder + 0.03), (neck, shoulder + 0.06), (neck, high)], glass)
    b.lathe([(r * 1.02, high * 0.14), (r * 1.02, shoulder * 0.85)], label)
    b.lathe([(neck * 1.15, high - 0.02), (neck * 1.15, high + 0.005), (0, high + 0.005)], b.material(textures.plain(rng), 0.2))


_MAKERS: dict[str, Callable[[Builder, np.random.Generator], None]] = {
    "chair": _chair,
    "table": _table,
    "lamp": _lamp,
    "sofa": _sofa,
    "vase": _vase,
    "bookshelf": _bookshelf,
    "bed": _bed,
    "plant": _plant,
    "crate": _crate,
    "ball": _ball,
    "screen": _screen,
    "bottle": _bottle,
}
KINDS = tuple(_MAKERS)
