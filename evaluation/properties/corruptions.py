"""Damaged copies of a wireframe: four kinds of damage at three levels, for demo entries and property tests.

Lengths follow D, the largest distance between two vertices. The output is canonical and in the
unit of the input; the input is never changed.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.wireframe.canon import canon, diameter
from submissions.formats.wireframe.wireframe_files import Wireframe

KINDS = ("deform", "perturb", "add", "remove")
LEVELS = ("low", "med", "high")
REDRAWS = 20


@dataclass(frozen=True)
class _Amount:
    """The amount of damage: pieces per edge or copies per vertex, share of the elements, noise in units of D."""

    count: int = 0
    share: float = 0.0
    sigma: float = 0.0


AMOUNTS = {
    "deform": {"low": _Amount(2, sigma=0.005), "med": _Amount(3, sigma=0.01), "high": _Amount(4, sigma=0.03)},
    "perturb": {
        "low": _Amount(2, share=0.25, sigma=0.01),
        "med": _Amount(2, share=0.5, sigma=0.02),
        "high": _Amount(3, share=1.0, sigma=0.04),
    },
    "add": {"low": _Amount(share=0.1), "med": _Amount(share=0.3), "high": _Amount(share=0.6)},
    "remove": {"low": _Amount(share=0.1), "med": _Amount(share=0.25), "high": _Amount(share=0.5)},
}


def corrupt(wireframe: Wireframe, kind: str, level: str, seed: int = 0, sample_id: str = "") -> Wireframe:
    """A copy of `wireframe` (at least one edge) with one of KINDS done to it at one of LEVELS.

    The same wireframe, kind, level, seed and sample id give the same copy. Different ids damage
    equal wireframes differently.
    """
    if kind not in KINDS or level not in LEVELS:
        raise ValueError(f"there is no corruption {kind!r} at level {level!r}; kinds are {', '.join(KINDS)}, levels {', '.join(LEVELS)}")
    vertices, edges = canon(wireframe.vertices, wireframe.edges)
    if not len(edges):
        raise ValueError("a wireframe without edges cannot be corrupted")
    digest = hashlib.sha256(f"{sample_id}:{kind}:{level}:{seed}".encode()).digest()
    rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    change = {"deform": _deform, "perturb": _perturb, "add": _add, "remove": _remove}[kind]
    vertices, edges = canon(*change(vertices, edges, AMOUNTS[kind][level], rng))
    return Wireframe(vertices.copy(), edges)


def non_edges(n: int, edges: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """int64[K, 2]: `count` different pairs of `n` vertices that canonical `edges` does not hold, or all there are."""
    row = np.arange(n)
    row_start = row * (2 * n - row - 1) // 2  # pairs (i, j), i < j, counted row by row
    taken = np.sort(row_start[edges[:, 0]] + edges[:, 1] - edges[:, 0] - 1)
    free = n * (n - 1) // 2 - len(taken)
    rank = rng.choice(free, min(free, count), replace=False)
    pair = rank + np.searchsorted(taken - np.arange(len(taken)), rank, side="right")
    first = np.searchsorted(row_start, pair, side="right") - 1
    first = np.minimum(first, n - 2)  # the last row is empty and starts where the one before ends
    second = pair - row_start[first] + first + 1
    return np.stack([first, second], axis=1)


def _deform(vertices: np.ndarray, edges: np.ndarray, amount: _Amount, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut every edge into equal pieces, then move every vertex."""
    pieces = amount.count
    share = np.arange(1, pieces)[:, None] / pieces
    start, end = vertices[edges[:, 0]], vertices[edges[:, 1]]
    added = start[:, None] + share * (end - start)[:, None]
    numbers = len(vertices) + np.arange(added.shape[0] * added.shape[1]).reshape(added.shape[:2])
    chains = np.concatenate([edges[:, :1], numbers, edges[:, 1:]], axis=1)
    everything = np.concatenate([vertices, added.reshape(-1, 3)])
    noise = rng.normal(0.0, amount.sigma * diameter(vertices), everything.shape)
    return everything + noise, np.stack([chains[:, :-1], chains[:, 1:]], axis=-1).reshape(-1, 2)


def _perturb(vertices: np.ndarray, edges: np.ndarray, amount: _Amount, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Replace some vertices by displaced copies that share out their edges."""
    chosen = rng.choice(len(vertices), math.ceil(amount.share * len(vertices)), replace=False)
    copies = amount.count
    direction = rng.normal(size=(len(chosen), copies, 3))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    distance = rng.normal(0.0, amount.sigma * diameter(vertices), (len(chosen), copies, 1))
    places = vertices[chosen, None] + direction * distance
    first_copy = np.full(len(vertices), -1)
    first_copy[chosen] = len(vertices) + copies * np.arange(len(chosen))
    copy = first_copy[edges]
    edges = np.where(copy >= 0, copy + rng.integers(0, copies, edges.shape), edges)
    everything = np.concatenate([vertices, places.reshape(-1, 3)])
    used = np.zeros(len(everything), dtype=bool)
    used[: len(vertices)] = first_copy < 0
    used[edges] = True
    lost = [first for first in first_copy[chosen] if not used[first : first + copies].any()]
    used[lost] = True
    return everything[used], (np.cumsum(used) - 1)[edges]


def _add(vertices: np.ndarray, edges: np.ndarray, amount: _Amount, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Add wrong edges between vertices that have none between them."""
    wrong = non_edges(len(vertices), edges, math.ceil(amount.share * len(edges)), rng)
    return vertices, np.concatenate([edges, wrong])


def _remove(vertices: np.ndarray, edges: np.ndarray, amount: _Amount, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Delete vertices with their edges; at least one edge survives."""
    for _ in range(REDRAWS):
        kept = np.ones(len(vertices), dtype=bool)
        kept[rng.choice(len(vertices), math.ceil(amount.share * len(vertices)), replace=False)] = False
        surviving = edges[kept[edges].all(axis=1)]
        if len(surviving):
            return canon(vertices, surviving, drop_isolated=True)
    lengths = np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1)
    return canon(vertices, edges[[lengths.argmax()]], drop_isolated=True)
