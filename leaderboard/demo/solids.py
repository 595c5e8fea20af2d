"""The demo "Solids": procedural objects as triangle meshes, and what simulated teams hand in for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.metrics.mesh.sampling import samples
from evaluation.metrics.mesh.surface import surface
from evaluation.synthetic.distortions import distort
from evaluation.synthetic.meshes import mesh
from evaluation.synthetic.simplified import convex_hull_mesh
from leaderboard.demo.story import PRACTICE, Damage, Demo, Entry, Taste, each, points_of, simulated
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import write_ply

SLUG, PHASE = "solids", "practice"
KINDS = ("chair", "gear", "knot", "mug", "plane", "rock", "vase", "wheel")
SEED = 2026
POINTS, POINT_NOISE = 4000, 0.004  # points an object, shares of its longest side


def references() -> dict[str, dict[str, Mesh]]:
    """The objects of the one phase."""
    return {PHASE: {kind: mesh(kind, SEED + number) for number, kind in enumerate(KINDS)}}


def points(item: Mesh, position: int) -> np.ndarray:
    """float64[N, 3]: points on an object, with noise."""
    drawn, _ = samples(surface(item.vertices, item.faces, 0.0), POINTS, seed0=position)
    return drawn + np.random.Generator(np.random.PCG64(position)).normal(scale=POINT_NOISE, size=drawn.shape)


def _distorted(kind: str, level: int) -> Callable[[str, Mesh], Mesh]:
    return lambda name, source: distort(source, kind, level, seed=sum(name.encode()))


ENTRIES = (
    Entry("olga", "convex hull", "Simulated: the convex hull of each object's vertices.", lambda _, s: convex_hull_mesh(s), baseline=True),
    Entry("ben", "scan-fuse", "Simulated: noise on every vertex (noise, level 3).", _distorted("noise", 3)),
    Entry("ada", "few-faces", "Simulated: a tenth of the vertices (decimation, level 4).", _distorted("decimation", 4)),
    Entry("cleo", "occlusion-net", "Simulated: an eighth of each surface cut away; one object is missing.", _distorted("holes", 3), (5,)),
    Entry("ben", "scan-fuse, denoised", "Simulated: smoothed five times (smoothing, level 3).", _distorted("smoothing", 3)),
    Entry("ada", "more-faces", "Simulated: half of the vertices (decimation, level 2).", _distorted("decimation", 2)),
)
DAMAGES = {
    "convex hull": Damage("hull", 0.7),
    "scan-fuse": Damage("noise", 0.5),
    "few-faces": Damage("coarse", 0.6),
    "occlusion-net": Damage("holes", 0.5),
    "scan-fuse, denoised": Damage("smooth", 0.4),
    "more-faces": Damage("coarse", 0.2),
}
TASTES = {
    "overall": (Taste("makers", 4, {"holes": 1.2, "noise": 0.75}), Taste("viewers", 4, {"holes": 0.85, "noise": 1.2, "coarse": 1.1})),
    "plausibility_3d": (Taste("makers", 4, {"holes": 1.35, "hull": 1.1}), Taste("viewers", 4, {"holes": 1.1, "noise": 1.1})),
    "geometry_details": (
        Taste("makers", 4, {"smooth": 1.2, "holes": 0.9}),
        Taste("viewers", 4, {"smooth": 1.25, "coarse": 1.2, "holes": 0.7}),
    ),
}

YAML = f"""\
slug: {SLUG}
title: Solids
summary: Meshes of {len(KINDS)} procedural objects. Objects, teams and entries are simulated; the scores are computed here.
{simulated("mesh", "objects", "one triangle mesh an object", "object", tags="objects")}
description: |
  Reconstruct the surface of each object from its points, as a triangle mesh. The {len(KINDS)} objects
  were made by a seeded procedure; the longest side of each is 1. A program made the entries
  by damaging or simplifying their references. They were uploaded and scored like any other entry.
phases:
  - slug: {PHASE}
{PRACTICE}
    unit: unitless
    metrics:
      - {{key: chamfer_l1, params: {{n: 20000}}, primary: true}}
      - {{key: mesh_fscore, params: {{n: 20000, threshold: 0.01}}}}
      - {{key: normal_difference, params: {{n: 20000}}}}
      - {{key: volume_iou, params: {{resolution: 64}}}}
      - {{key: p2s, params: {{n: 20000}}, in_ranking: false}}
      - {{key: uhd, params: {{n: 20000}}, in_ranking: false}}
      - {{key: locase}}
    reference: {{path: {PHASE}}}
    inputs:
      - {{path: {PHASE}-points.zip, title: "Points of the {len(KINDS)} objects (NPZ)"}}
"""

DEMO = Demo(
    SLUG,
    PHASE,
    YAML,
    references,
    points_of(points),
    each("ply", write_ply),
    each("ply", write_ply),
    ENTRIES,
    ("ada", "ben", "cleo", "olga"),
    damages=DAMAGES,
)
