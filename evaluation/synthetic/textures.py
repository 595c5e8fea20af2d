"""Procedural textures: float64[SIZE, SIZE, 3] in linear light, which repeat without a seam. PURE; each follows from its generator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.rendering.pictures import linear

SIZE = 128
Texture = np.ndarray


def colour(rng: np.random.Generator, low: float = 0.15, high: float = 0.95, strength: float = 1.0) -> np.ndarray:
    """A colour (linear): any hue, `strength` of the way from its grey, values between `low` and `high` in sRGB."""
    hue, value = rng.uniform(0, 1), rng.uniform(low, high)
    saturation = strength * rng.beta(2, 2)
    wheel = np.abs((hue * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1
    return linear(value * (1 - saturation * (1 - np.clip(wheel, 0, 1))))


def plain(rng: np.random.Generator, base: np.ndarray | None = None, spots: float = 0.08) -> Texture:
    """One colour with faint clouds."""
    return _shaded(colour(rng) if base is None else base, 1 + spots * _clouds(rng, rng.uniform(1.0, 2.0)))


def wood(rng: np.random.Generator, base: np.ndarray | None = None) -> Texture:
    """Grain along u."""
    base = linear(np.array([0.62, 0.42, 0.25]) * rng.uniform(0.5, 1.35) + rng.uniform(-0.05, 0.05, 3)) if base is None else base
    _, v = _places()
    bend = _clouds(rng, 2.2, stretch=6.0)
    rings = np.sin(2 * np.pi * (rng.integers(4, 14) * v + 0.35 * bend))
    return _shaded(base, 1 + rng.uniform(0.1, 0.3) * rings + 0.08 * _clouds(rng, 0.7, stretch=10.0))


def fabric(rng: np.random.Generator, base: np.ndarray | None = None) -> Texture:
    """A weave."""
    u, v = _places()
    threads = rng.choice([16, 32])
    weave = np.sin(2 * np.pi * threads * u) * np.sin(2 * np.pi * threads * v)
    return _shaded(colour(rng) if base is None else base, 1 + 0.18 * weave + 0.1 * _clouds(rng, 1.2))


def stripes(rng: np.random.Generator) -> Texture:
    """Bands of two or three colours, along u or v or aslant."""
    u, v = _places()
    across = (rng.integers(-3, 4) * u + rng.integers(2, 7) * v) if rng.uniform() < 0.7 else rng.integers(2, 8) * u
    colours = [colour(rng) for _ in range(rng.integers(2, 4))]
    shares = np.cumsum(rng.uniform(0.3, 1, len(colours)))
    which = np.searchsorted(shares / shares[-1], across % 1.0, side="right").clip(0, len(colours) - 1)
    return np.array(colours)[which]


def checks(rng: np.random.Generator) -> Texture:
    """A chessboard, or tartan where its colours multiply."""
    u, v = _places()
    n = int(rng.integers(2, 6))
    a, b = (2 * n * u).astype(int) % 2, (2 * n * v).astype(int) % 2
    where = (a ^ b) if rng.uniform() < 0.5 else (a + b) / 2
    first, second = colour(rng), colour(rng)
    return first + (second - first) * where[..., None] * (1 + 0.0 * u[..., None])


def dots(rng: np.random.Generator) -> Texture:
    """Round spots in a grid, every other row shifted."""
    u, v = _places()
    n = int(rng.integers(2, 6)) * 2
    row = np.floor(v * n)
    inside = ((u * n + 0.5 * (row % 2)) % 1 - 0.5) ** 2 + (v * n % 1 - 0.5) ** 2 < rng.uniform(0.03, 0.16)
    return np.where(inside[..., None], colour(rng), colour(rng))


def bricks(rng: np.random.Generator) -> Texture:
    """Bricks or tiles with joints, each of its own shade."""
    u, v = _places()
    rows, columns = int(rng.integers(2, 7)) * 2, int(rng.integers(2, 6))
    row = np.floor(v * rows).astype(int)
    along = (u * columns + (0.5 * (row % 2) if rng.uniform() < 0.7 else 0)) % columns
    shade = rng.uniform(0.75, 1.15, (rows, columns))[row, along.astype(int)]
    joint = (along % 1 < 0.05) | (v * rows % 1 < 0.05 * rows / columns / 1.5)
    base = colour(rng, strength=0.8)
    return np.where(joint[..., None], np.full(3, rng.uniform(0.2, 0.7)), _shaded(base, shade * (1 + 0.1 * _clouds(rng, 0.8))))


def marble(rng: np.random.Generator, base: np.ndarray | None = None) -> Texture:
    """Veins."""
    base = colour(rng, 0.5, strength=0.5) if base is None else base
    u, v = _places()
    veins = np.abs(np.sin(2 * np.pi * (rng.integers(1, 3) * u + rng.integers(1, 3) * v + 0.5 * _clouds(rng, 1.8))))
    return _shaded(base, 0.6 + 0.45 * np.minimum(veins * 2.5, 1))


def leaves(rng: np.random.Generator) -> Texture:
    """Mottled green with a lighter middle line along u."""
    base = linear(np.array([rng.uniform(0.1, 0.45), rng.uniform(0.4, 0.75), rng.uniform(0.08, 0.3)]))
    _, v = _places()
    return _shaded(base, 1 + 0.2 * _clouds(rng, 1.3) + 0.35 * np.exp(-(((v - 0.5) / 0.05) ** 2)))


def spines(rng: np.random.Generator) -> Texture:
    """The backs of a row of books, upright, one after the other along u."""
    edges = np.sort(rng.choice(np.arange(4, SIZE - 3), int(rng.integers(9, 17)), replace=False))
    book = np.searchsorted(edges, np.arange(SIZE), side="right")
    colours = np.array([colour(rng) for _ in range(len(edges) + 1)])
    out = np.repeat(colours[book][None], SIZE, axis=0)
    top = rng.integers(0, SIZE // 5, len(edges) + 1)[book]
    out = np.where(np.arange(SIZE)[:, None, None] < top[None, :, None], 0.02, out)
    title = (np.abs(np.arange(SIZE) - rng.integers(40, 90)) < 6)[:, None, None]
    out = np.where(title, 0.5 * out + 0.5 * np.roll(colours, 1, axis=0)[book][None], out)
    out[:, edges - 1] *= 0.25
    return out


def painting(rng: np.random.Generator) -> Texture:
    """A picture to hang up or to show on a screen: a gradient with a few discs and bars."""
    u, v = _places()
    out = colour(rng) + (colour(rng) - colour(rng)) * v[..., None]
    for _ in range(rng.integers(2, 7)):
        x, y, wide, high = *rng.uniform(0, 1, 2), *rng.uniform(0.05, 0.35, 2)
        disc = ((u - x) / wide) ** 2 + ((v - y) / high) ** 2 < 1
        bar = (np.abs(u - x) < wide) & (np.abs(v - y) < high)
        out = np.where((disc if rng.uniform() < 0.6 else bar)[..., None], colour(rng), out)
    return np.clip(out, 0, 1)


def planks(rng: np.random.Generator) -> Texture:
    """Boards side by side along u, each with its own shade of one wood."""
    n = int(rng.integers(3, 8))
    board = (np.arange(SIZE) * n // SIZE)[:, None, None]
    out = wood(rng) * rng.uniform(0.75, 1.2, n)[board]
    gap = (np.arange(SIZE) * n % SIZE < n)[:, None, None]
    return np.where(gap, out * 0.2, out)


SURFACES: tuple[Callable[[np.random.Generator], Texture], ...] = (plain, wood, fabric, stripes, checks, dots, marble)
WALLS: tuple[Callable[[np.random.Generator], Texture], ...] = (plain, plain, bricks, stripes, fabric)
FLOORS: tuple[Callable[[np.random.Generator], Texture], ...] = (planks, planks, bricks, checks, fabric, marble)


def any_of(rng: np.random.Generator, kinds: tuple[Callable[[np.random.Generator], Texture], ...]) -> Texture:
    """One of the kinds, clipped to what light can be."""
    return kinds[int(rng.integers(len(kinds)))](rng)


def _places() -> tuple[np.ndarray, np.ndarray]:
    v, u = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    return u, v


def _shaded(base: np.ndarray, factor: np.ndarray) -> Texture:
    return np.clip(base * np.maximum(factor, 0.05)[..., None], 0, 1)


def _clouds(rng: np.random.Generator, power: float, stretch: float = 1.0) -> np.ndarray:
    """Noise of mean 0 and spread 1 whose spectrum falls with that power of the frequency; longer along u where stretched."""
    frequency = np.hypot(np.fft.fftfreq(SIZE)[:, None] * SIZE, np.fft.rfftfreq(SIZE)[None] * SIZE * stretch)
    frequency[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(SIZE, SIZE))) / frequency**power, s=(SIZE, SIZE))
    return field / field.std()
