"""Meshes as they are drawn: splitting changes no shape, simplifying keeps it within a cell, and both keep their bounds."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from leaderboard.viewer.mesh_lod import SPLIT_FACES, SPLIT_STEPS, reduced, simplify, split
from tests.support.factories import boxes

TRIANGLE = np.array([(0, 0, 0), (4, 0, 0), (0, 3, 0)], float)
ONE = np.array([(0, 1, 2)])


def solid(vertices, faces) -> trimesh.Trimesh:
    return trimesh.Trimesh(vertices, faces, process=True)


def test_one_split_halves_the_longest_side_and_knows_the_sides_of_the_mesh() -> None:
    vertices, faces, sides, source = split(TRIANGLE, ONE.copy(), most=2)
    assert vertices[3].tolist() == [2, 1.5, 0] and source.tolist() == [0, 0]
    # The new side runs from the corner (0, 0, 0) to the middle of the longest, (4, 0, 0) to (0, 3, 0).
    for face, bits in zip(faces.tolist(), sides.tolist(), strict=True):
        for k in range(3):
            ends = {face[k], face[(k + 1) % 3]}
            assert bool(bits >> k & 1) == (ends != {0, 3})


def test_a_split_box_is_the_same_closed_box_with_small_faces() -> None:
    box = boxes()["box_1"]
    drawn = reduced(box.vertices, box.faces)
    shape = solid(drawn.vertices, drawn.faces)
    assert shape.is_watertight and shape.volume == pytest.approx(8) and shape.area == pytest.approx(2 * (8 + 4 + 2))
    sides = drawn.vertices[drawn.faces] - drawn.vertices[np.roll(drawn.faces, 1, axis=1)]
    assert np.linalg.norm(sides, axis=2).max() <= 4 / SPLIT_STEPS
    assert not drawn.simplified and set(drawn.source.tolist()) == set(range(12))
    # Every part lies in the plane of the face it is a part of.
    ends = box.vertices[box.faces[drawn.source]]
    normal = np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0])
    assert np.abs(np.einsum("ij,ij->i", drawn.vertices[drawn.faces[:, 0]] - ends[:, 0], normal)).max() < 1e-9


def test_splitting_stops_at_its_bound() -> None:
    rng = np.random.default_rng(0)
    needles = rng.normal(size=(SPLIT_FACES // 4, 3, 3))
    drawn = reduced(needles.reshape(-1, 3), np.arange(3 * len(needles)).reshape(-1, 3))
    assert len(drawn.faces) == SPLIT_FACES


def test_a_mesh_of_many_faces_keeps_its_shape_and_vertices_of_its_own() -> None:
    ball = trimesh.creation.icosphere(subdivisions=5)  # 20,480 faces
    vertices = np.asarray(ball.vertices, float)
    drawn = reduced(vertices, np.asarray(ball.faces, np.int64), most=5000)
    assert drawn.simplified and 1500 < np.bincount(drawn.source).clip(max=1).sum() <= 5000
    mine = {row.tobytes() for row in vertices}
    kept, faces, source = simplify(vertices, np.asarray(ball.faces, np.int64), 5000)
    assert [row for row in kept if row.tobytes() not in mine] == []
    assert solid(kept, faces).volume == pytest.approx(ball.volume, rel=0.02)
    # A face of the picture stands where the face it was stood.
    was = vertices[ball.faces[source]].mean(axis=1)
    assert np.linalg.norm(kept[faces].mean(axis=1) - was, axis=1).max() < 0.2


@pytest.mark.parametrize("kind", ["soup", "one point", "line"])
def test_meshes_that_are_no_surface_are_simplified_too(kind) -> None:
    rng = np.random.default_rng(1)
    vertices = {"soup": rng.normal(size=(9000, 3)), "one point": np.zeros((9000, 3)), "line": rng.normal(size=(9000, 1)) * [[1.0, 0, 0]]}[
        kind
    ]
    faces = rng.integers(0, 9000, (6000, 3))
    drawn = reduced(vertices, faces, most=500)
    assert drawn.simplified and len(np.unique(drawn.source)) <= 500 and len(drawn.sides) == len(drawn.faces) <= SPLIT_FACES


def test_vertices_without_a_face_are_not_drawn_and_no_face_is_no_picture() -> None:
    drawn = reduced(np.vstack([[(9, 9, 9)], TRIANGLE]), ONE + 1)
    assert drawn.vertices.max() == 4
    nothing = reduced(TRIANGLE, np.empty((0, 3), np.int64))
    assert len(nothing.vertices) == len(nothing.faces) == 0
