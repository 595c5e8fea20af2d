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
    ready = {}
    for item_id, mesh in items.items():
        whole = welded(mesh)
        middle = (whole.vertices.min(axis=0) + whole.vertices.max(axis=0)) / 2 if len(whole.vertices) else np.zeros(3)
        ready[item_id] = Mesh(whole.vertices - middle, whole.faces)
    return ready


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
    # Each step damages the original again with the same random numbers, so that the damage only grows.
    noise = [add_noise(x, sigma, trials.generator(item_id, "mono_noise")) for sigma in GROWING_NOISE]
    holes = [punch_holes(x, share, trials.generator(item_id, "mono_holes")) for share in GROWING_HOLES]
    smoothed = [smooth(x, passes) for passes in GROWING_PASSES]

    noisy = noisy_copy(item_id, x)
    shift = SHIFT * size(x) * trials.directions(trials.generator(item_id, "symmetry_shift"), 1)

    # The least damaged model is the reference of each pair of a triangle.
    other = trials.others(item_id, items, trials.generator(item_id, "triangle_rand_other"))
    rng = trials.generator(item_id, "triangle_add_noise")
    once = Mesh(x.vertices + rng.normal(0.0, NOISE * size(x), x.vertices.shape), x.faces)
    twice = Mesh(once.vertices + rng.normal(0.0, NOISE * size(x), x.vertices.shape), x.faces)
    return [
        trials.sequence("mono_noise", x, noise),
        trials.sequence("mono_holes", x, holes),
        trials.sequence("mono_smoothing", x, smoothed),
        trials.identity(x),
        trials.symmetry("0mean", noisy, x),
        trials.symmetry("shift", Mesh(noisy.vertices + shift, x.faces), x),
        trials.triangle("rand_other", x, *other) if other else trials.skipped(Question.TRIANGLE, "triangle_rand_other"),
        trials.triangle("add_noise", twice, once, x),
    ]
