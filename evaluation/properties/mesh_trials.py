"""The trials of one mesh: the analogue of a wireframe's, for what meshes can suffer.

Each mesh is welded and moved to the middle of its bounding box first. D is the diagonal of that box.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.properties import trials
from evaluation.properties.trials import Question, Trial
from evaluation.synthetic.distortions import add_noise, diagonal, punch_holes, smooth, welded
from submissions.formats.arrays import Mesh

GROWING_NOISE = (0.001, 0.002, 0.004, 0.008, 0.016)  # of D
GROWING_HOLES = (0.01, 0.03, 0.06, 0.12, 0.24)  # of the area
GROWING_PASSES = (1, 3, 8, 20, 50)
NOISE = 0.005  # of D, as the next
SHIFT = 0.1


def prepared(items: Mapping[str, Mesh]) -> dict[str, Mesh]:
    """Welded copies of all meshes, each in the middle of its own coordinates."""
    return {item_id: _centred(mesh) for item_id, mesh in items.items()}


def size(mesh: Mesh) -> float:
    """D, in the mesh's unit."""
    return diagonal(mesh)


def noisy_copy(item_id: str, x: Mesh) -> Mesh:
    """A copy with the noise of the symmetry tests."""
    rng = trials.generator(item_id, "symmetry")
    return Mesh(x.vertices + trials.drift_free_noise(rng, len(x.vertices), NOISE * size(x)), x.faces)


def all_trials(item_id: str, items: Mapping[str, Mesh]) -> list[Trial]:
    """The trials of one of the prepared `items`."""
    x = items[item_id]
    return [*_monotone(item_id, x), trials.identity(x), *_symmetry(item_id, x), *_triangles(item_id, x, items)]


def _monotone(item_id: str, x: Mesh) -> list[Trial]:
    """Each step damages the original anew with the same random numbers, so that the damage itself only grows."""
    noise = [add_noise(x, sigma, trials.generator(item_id, "mono_noise")) for sigma in GROWING_NOISE]
    holes = [punch_holes(x, share, trials.generator(item_id, "mono_holes")) for share in GROWING_HOLES]
    smoothed = [smooth(x, passes) for passes in GROWING_PASSES]
    return [
        trials.sequence("mono_noise", x, noise),
        trials.sequence("mono_holes", x, holes),
        trials.sequence("mono_smoothing", x, smoothed),
    ]


def _symmetry(item_id: str, x: Mesh) -> list[Trial]:
    noisy = noisy_copy(item_id, x)
    shift = SHIFT * size(x) * trials.directions(trials.generator(item_id, "symmetry_shift"), 1)
    return [trials.symmetry("0mean", noisy, x), trials.symmetry("shift", Mesh(noisy.vertices + shift, x.faces), x)]


def _triangles(item_id: str, x: Mesh, items: Mapping[str, Mesh]) -> list[Trial]:
    """The least damaged model is the reference of each pair."""
    other = trials.others(item_id, items, trials.generator(item_id, "triangle_rand_other"))
    rng = trials.generator(item_id, "triangle_add_noise")
    once = Mesh(x.vertices + rng.normal(0.0, NOISE * size(x), x.vertices.shape), x.faces)
    twice = Mesh(once.vertices + rng.normal(0.0, NOISE * size(x), x.vertices.shape), x.faces)
    return [
        trials.triangle("rand_other", x, *other) if other else trials.skipped(Question.TRIANGLE, "triangle_rand_other"),
        trials.triangle("add_noise", twice, once, x),
    ]


def _centred(mesh: Mesh) -> Mesh:
    mesh = welded(mesh)
    middle = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2 if len(mesh.vertices) else np.zeros(3)
    return Mesh(mesh.vertices - middle, mesh.faces)
