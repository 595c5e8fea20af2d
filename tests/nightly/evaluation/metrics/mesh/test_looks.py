"""`mesh_looks` on five meshes that others made: the figures that the guide to rankings states."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import trimesh

from evaluation.metrics.mesh.pair import MeshPair
from evaluation.synthetic.distortions import KINDS, LEVELS, distort, welded
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.defaults import with_defaults

NAMES = ("Duck.glb", "bunny.ply", "fandisk.obj", "suzanne.ply", "teapot.stl")


def test_stronger_damage_is_further_from_the_mesh_and_weak_damage_mostly_nearer_than_strong_of_any(data_folder):
    mesh_looks, steps, across = with_defaults("mesh_looks"), [], []
    for name in NAMES:
        read = trimesh.load(data_folder / "meshes" / name, force="mesh", process=False)
        mesh, prepared = welded(Mesh(np.asarray(read.vertices), np.asarray(read.faces))), {}
        found = {
            (kind, level): mesh_looks(MeshPair.of(distort(mesh, kind, level), mesh, prepared=prepared)).value
            for kind, level in product(KINDS, LEVELS)
        }
        steps += [found[kind, weaker] < found[kind, stronger] for kind in KINDS for weaker, stronger in pairwise(LEVELS)]
        across += [
            found[one, weak] < found[other, strong] for one, other in product(KINDS, KINDS) for weak, strong in product((1, 2), (3, 4))
        ]
    assert (sum(steps), len(steps)) == (90, 90)
    assert len(across) == 720 and sum(across) == pytest.approx(657, abs=3)  # a processor may round a pair to the other side
