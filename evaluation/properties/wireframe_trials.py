"""The trials of one wireframe: sixteen procedures whose distances answer the seventeen tests.

Each wireframe is made canonical and moved to the middle of its bounding box first, so that two
wireframes of a dataset lie over each other and coordinates keep their digits. Lengths follow D,
the wireframe's diameter. For metrics that ask for confidences every edge's is its length, so that
long edges come first in every damaged copy and none depends on the order of edges.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.metrics.wireframe.canon import canon, diameter
from evaluation.properties import trials
from evaluation.properties.corruptions import non_edges
from evaluation.properties.trials import Question, Trial
from submissions.formats.arrays import Wireframe

STEPS = 10
MIN_VERTICES, MIN_EDGES, MIN_NON_EDGES = 12, 12, 10  # smaller wireframes are skipped in the monotone tests
SPLIT_AT = (0.3, 0.7)
SPLIT_NOISE = 0.05  # of D, as all lengths below
JUMP = 0.5
NOISE = 0.02
SHIFT = 0.1
STRIDE = 0.01
FAR = 0.5


def prepared(items: Mapping[str, Wireframe]) -> dict[str, Wireframe]:
    """Canonical copies of all wireframes, each in the middle of its own coordinates."""
    ready = {}
    for item_id, frame in items.items():
        vertices, edges = canon(frame.vertices, frame.edges)
        middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2 if len(vertices) else np.zeros(3)
        ready[item_id] = _wireframe(vertices - middle, edges)
    return ready


def size(frame: Wireframe) -> float:
    """D, in the wireframe's unit."""
    return diameter(frame.vertices)


def all_trials(item_id: str, items: Mapping[str, Wireframe]) -> list[Trial]:
    """The trials of one of the prepared `items`."""
    x, d = items[item_id], size(items[item_id])
    n = len(x.vertices)
    large = n >= MIN_VERTICES and len(x.edges) >= MIN_EDGES and n * (n - 1) // 2 - len(x.edges) >= MIN_NON_EDGES
    steps = {test: damage(x, d, trials.generator(item_id, test)) if large else [] for test, damage in MONOTONE.items()}
    noisy, shifted = _noisy_copies(item_id, x, d)
    return [
        *(trials.sequence(test, x, copies) for test, copies in steps.items()),
        trials.identity(x),
        trials.symmetry("0mean", noisy, x),
        trials.symmetry("shift", shifted, x),
        *_proportional(item_id, x, d),
        *_triangles(item_id, x, d, items),
    ]


def noisy_copy(item_id: str, x: Wireframe) -> Wireframe:
    """A copy with the noise of the symmetry tests."""
    return _noisy_copies(item_id, x, size(x))[0]


def wrong_edges(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step adds one pair of vertices that is not yet an edge."""
    added = non_edges(len(x.vertices), x.edges, STEPS, rng)
    return [_wireframe(x.vertices, np.concatenate([x.edges, added[:k]])) for k in range(1, STEPS + 1)]


def deform_split(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step cuts one edge of the last copy in two and moves the three vertices at its halves' ends."""
    vertices, edges, steps = x.vertices.copy(), x.edges.copy(), []
    for _ in range(STEPS):
        row = rng.integers(len(edges))
        (start, end), new = edges[row], len(vertices)
        place = vertices[start] + rng.uniform(*SPLIT_AT) * (vertices[end] - vertices[start])
        vertices = np.concatenate([vertices, place[None]])
        vertices[[start, end, new]] += rng.normal(0.0, SPLIT_NOISE * d, (3, 3))
        edges = np.concatenate([np.delete(edges, row, axis=0), [[start, new], [new, end]]])
        steps.append(_wireframe(vertices.copy(), edges))
    return steps


def moving_vertex(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step moves a vertex that has not moved yet by half the diameter."""
    chosen = rng.choice(len(x.vertices), STEPS, replace=False)
    jumps = JUMP * d * trials.directions(rng, STEPS)
    steps = []
    for k in range(1, STEPS + 1):
        vertices = x.vertices.copy()
        vertices[chosen[:k]] += jumps[:k]
        steps.append(_wireframe(vertices, x.edges))
    return steps


def disconnect_edges(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step gives one edge a vertex of its own in place of one it shared; none where nothing is left to part."""
    vertices, edges, steps = x.vertices, x.edges.copy(), []
    for _ in range(STEPS):
        shared = np.argwhere(np.bincount(edges.ravel(), minlength=len(vertices))[edges] >= 2)
        if not len(shared):
            return []
        row, end = shared[rng.integers(len(shared))]
        vertices = np.concatenate([vertices, vertices[edges[row, end]][None]])
        edges = edges.copy()
        edges[row, end] = len(vertices) - 1
        steps.append(_wireframe(vertices, edges))
    return steps


def delete_vertices(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step deletes one vertex and its edges."""
    gone = rng.choice(len(x.vertices), STEPS, replace=False)
    steps = []
    for k in range(1, STEPS + 1):
        kept = np.ones(len(x.vertices), dtype=bool)
        kept[gone[:k]] = False
        surviving = x.edges[kept[x.edges].all(axis=1)]
        steps.append(_wireframe(x.vertices[kept], (np.cumsum(kept) - 1)[surviving]))
    return steps


def delete_edges(x: Wireframe, d: float, rng: np.random.Generator) -> list[Wireframe]:
    """Each step deletes one edge and keeps all vertices."""
    gone = rng.choice(len(x.edges), STEPS, replace=False)
    return [_wireframe(x.vertices, np.delete(x.edges, gone[:k], axis=0)) for k in range(1, STEPS + 1)]


MONOTONE = {
    "mono_wrong_edges": wrong_edges,
    "mono_deform_split": deform_split,
    "mono_moving_vertex": moving_vertex,
    "mono_disconnect_edges": disconnect_edges,
    "mono_delete_vertices": delete_vertices,
    "mono_delete_edges": delete_edges,
}


def _noisy_copies(item_id: str, x: Wireframe, d: float) -> tuple[Wireframe, Wireframe]:
    """Copies with noise that does not drift, the second also shifted as a whole."""
    rng = trials.generator(item_id, "symmetry")
    vertices = x.vertices + trials.drift_free_noise(rng, len(x.vertices), NOISE * d)
    shift = SHIFT * d * trials.directions(rng, 1)
    return _wireframe(vertices, x.edges), _wireframe(vertices + shift, x.edges)


def _proportional(item_id: str, x: Wireframe, d: float) -> list[Trial]:
    """One vertex moves along one line, near its place and far from it."""
    rng = trials.generator(item_id, "quasi")
    chosen, way = rng.integers(len(x.vertices)), trials.directions(rng, 1)[0]

    def moved(offset: float) -> Wireframe:
        vertices = x.vertices.copy()
        vertices[chosen] += offset * d * way
        return _wireframe(vertices, x.edges)

    far = [(moved(FAR + STRIDE * k), x) for k in range(STEPS + 1)]
    close = [(moved(STRIDE * k) if k else x, x) for k in range(STEPS + 1)]
    return [Trial(Question.PROPORTIONAL, ("quasi_far",), tuple(far)), Trial(Question.PROPORTIONAL, ("quasi_close",), tuple(close))]


def _triangles(item_id: str, x: Wireframe, d: float, items: Mapping[str, Wireframe]) -> list[Trial]:
    """The least damaged model is the reference of each pair."""
    other = trials.others(item_id, items, trials.generator(item_id, "triangle_rand_other"))
    rand_other = trials.triangle("rand_other", x, *other) if other else trials.skipped(Question.TRIANGLE, "triangle_rand_other")
    rng = trials.generator(item_id, "triangle_add_noise")
    once = _wireframe(x.vertices + rng.normal(0.0, NOISE * d, x.vertices.shape), x.edges)
    twice = _wireframe(once.vertices + rng.normal(0.0, NOISE * d, x.vertices.shape), x.edges)
    if len(x.edges) < 2:
        return [rand_other, trials.triangle("add_noise", twice, once, x), trials.skipped(Question.TRIANGLE, "triangle_del1_del2")]
    gone = trials.generator(item_id, "triangle_del1_del2").choice(len(x.edges), 2, replace=False)
    without_one = _wireframe(x.vertices, np.delete(x.edges, gone[:1], axis=0))
    without_two = _wireframe(x.vertices, np.delete(x.edges, gone, axis=0))
    return [
        rand_other,
        trials.triangle("add_noise", twice, once, x),
        trials.triangle("del1_del2", without_two, without_one, x),
    ]


def _wireframe(vertices: np.ndarray, edges: np.ndarray) -> Wireframe:
    lengths = np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1)
    return Wireframe(vertices, edges, lengths)
