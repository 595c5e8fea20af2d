from __future__ import annotations

import numpy as np
import pytest
import trimesh

from evaluation.synthetic.houses import houses
from evaluation.synthetic.meshes import mesh
from evaluation.synthetic.simplified import bounding_box, convex_hull, convex_hull_mesh, jittered, merged, sampled_points, shortest_dropped
from submissions.formats.arrays import Mesh, Wireframe
from tests.support.factories import gable

CUBE = Wireframe(
    vertices=np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]),
    edges=np.array([(0, 1), (0, 2), (0, 4), (7, 6), (7, 5), (7, 3)]),
    edge_score=None,
)


def test_a_box_has_eight_corners_and_twelve_edges_along_the_axes():
    box = bounding_box(CUBE)
    ends = box.vertices[box.edges]
    assert len(box.vertices) == 8 and len(box.edges) == 12
    assert (np.count_nonzero(ends[:, 0] != ends[:, 1], axis=1) == 1).all()


def test_the_hull_of_a_cube_is_the_cube_without_face_diagonals():
    hull = convex_hull(CUBE)
    assert len(hull.vertices) == 8 and len(hull.edges) == 12


def test_the_hull_of_a_gable_house_is_the_house_but_for_the_edges_inside_its_planes():
    hull = convex_hull(gable())
    assert len(hull.vertices) == 10
    assert len(hull.edges) == 15, "the two eaves edges of the gable walls lie inside a plane"


def test_flat_vertices_have_a_box_instead_of_a_hull():
    flat = Wireframe(vertices=np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]), edges=np.array([(0, 1)]), edge_score=None)
    assert len(convex_hull(flat).vertices) == 8


def test_merging_joins_near_vertices_at_their_mean_and_drops_what_collapsed():
    source = Wireframe(vertices=np.array([(0.0, 0, 0), (0.2, 0, 0), (5, 0, 0)]), edges=np.array([(0, 1), (1, 2), (0, 2)]), edge_score=None)
    result = merged(source, 0.5)
    assert sorted(result.vertices[:, 0]) == [0.1, 5.0]
    assert result.edges.tolist() == [[0, 1]] or result.edges.tolist() == [[1, 0]]


def test_the_shortest_edges_go_first_and_lonely_vertices_with_them():
    source = Wireframe(vertices=np.array([(0.0, 0, 0), (1, 0, 0), (9, 0, 0)]), edges=np.array([(0, 1), (1, 2)]), edge_score=None)
    kept = shortest_dropped(source, 0.5)
    assert kept.vertices[:, 0].tolist() == [1, 9] and kept.edges.tolist() == [[0, 1]]


def test_all_of_them_are_deterministic_and_leave_their_source_alone():
    for source in houses(8, seed=3).values():
        before = source.vertices.copy()
        for make in (
            convex_hull,
            bounding_box,
            lambda s: merged(s, 1.0),
            lambda s: jittered(s, 0.1, 5),
            lambda s: shortest_dropped(s, 0.2),
        ):
            first, second = make(source), make(source)
            assert np.array_equal(first.vertices, second.vertices) and np.array_equal(first.edges, second.edges)
            assert len(first.edges) and first.edges.max() < len(first.vertices)
        assert np.array_equal(source.vertices, before)


def test_sampled_points_lie_near_the_edges():
    points = sampled_points(CUBE, 200, sigma=0.0, seed=1)
    assert points.shape == (200, 3)
    assert np.isin(np.sort(points, axis=1)[:, [0, 2]], (0.0, 1.0)).any(axis=1).all()


def test_the_hull_of_a_mesh_is_closed_turned_outwards_and_holds_every_vertex():
    for kind in ("mug", "chair"):
        source = mesh(kind, 1)
        hull = convex_hull_mesh(source)
        solid = trimesh.Trimesh(hull.vertices, hull.faces, process=False)
        assert solid.is_watertight and solid.is_convex
        assert solid.volume == pytest.approx(trimesh.Trimesh(source.vertices, source.faces).convex_hull.volume, rel=1e-9)
        assert {tuple(place) for place in hull.vertices} <= {tuple(place) for place in source.vertices}


def test_a_flat_mesh_has_no_hull():
    with pytest.raises(ValueError, match="one plane"):
        convex_hull_mesh(Mesh(np.array([[0, 0, 5], [1, 0, 5], [0, 1, 5], [1, 1, 5]], float), np.array([[0, 1, 2], [1, 3, 2]])))
