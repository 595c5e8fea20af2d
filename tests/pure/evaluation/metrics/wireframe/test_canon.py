import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.wireframe.canon import bbox_diagonal, canon, diameter, lexicographic, segments
from tests.support.evaluation.shapes import EMPTY, SQ, random_wireframe, shuffled, wireframe
from tests.support.examples import examples


def test_self_loops_and_repeats_go_and_pairs_are_sorted():
    frame = wireframe([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(2, 1), (1, 1), (1, 2), (1, 0)])
    vertices, edges = canon(frame.vertices, frame.edges)
    assert edges.tolist() == [[0, 1], [1, 2]]
    assert np.array_equal(vertices, frame.vertices)


def test_double_and_isolated_vertices_stay():
    frame = wireframe([(0, 0, 0), (0, 0, 0), (1, 0, 0), (5, 5, 5)], [(0, 2)])
    assert len(canon(frame.vertices, frame.edges)[0]) == 4


def test_isolated_vertices_go_on_request_and_so_does_one_left_by_a_self_loop():
    frame = wireframe([(9, 9, 9), (0, 0, 0), (1, 0, 0), (5, 5, 5)], [(2, 1), (3, 3)])
    vertices, edges = canon(frame.vertices, frame.edges, drop_isolated=True)
    assert vertices.tolist() == [[0, 0, 0], [1, 0, 0]] and edges.tolist() == [[0, 1]]


def test_merging_is_single_linkage_and_the_lowest_index_represents():
    chain = [(0.0, 0, 0), (5, 0, 0), (0.09, 0, 0), (0.18, 0, 0), (0.4, 0, 0)]
    frame = wireframe(chain, [(0, 1), (3, 1), (2, 0), (4, 3)])
    vertices, edges = canon(frame.vertices, frame.edges, merge_tol=0.1)
    assert vertices.tolist() == [[0, 0, 0], [5, 0, 0], [0.4, 0, 0]]
    assert edges.tolist() == [[0, 1], [0, 2]]


def test_vertices_exactly_the_tolerance_apart_are_not_merged():
    frame = wireframe([(0, 0, 0), (0.5, 0, 0)])
    assert len(canon(frame.vertices, frame.edges, merge_tol=0.5)[0]) == 2
    assert len(canon(frame.vertices, frame.edges, merge_tol=0.5000001)[0]) == 1


def test_an_empty_wireframe_stays_empty():
    for options in ({}, {"merge_tol": 1.0}, {"drop_isolated": True}):
        vertices, edges = canon(EMPTY.vertices, EMPTY.edges, **options)
        assert vertices.shape == (0, 3) and edges.shape == (0, 2)
    assert len(segments(EMPTY.vertices, EMPTY.edges)) == 0


def test_lexicographic_order_is_by_x_then_y_then_z_and_edges_follow():
    frame = wireframe([(1, 0, 0), (0, 1, 0), (0, 0, 5), (0, 0, 2)], [(0, 2), (1, 3)])
    vertices, edges, order = lexicographic(frame.vertices, frame.edges)
    assert vertices.tolist() == [[0, 0, 2], [0, 0, 5], [0, 1, 0], [1, 0, 0]]
    assert edges.tolist() == [[3, 1], [2, 0]] and order.tolist() == [3, 2, 1, 0]


def test_degenerate_edges_are_no_segments_but_edges_a_little_longer_are():
    frame = wireframe([(0, 0, 0), (0, 0, 1e-9), (0, 0, 2e-9), (1, 0, 0)], [(0, 1), (0, 2), (0, 3)])
    found = segments(frame.vertices, frame.edges)
    assert found.source.tolist() == [1, 2]
    assert len(canon(frame.vertices, frame.edges)[1]) == 3


def test_segments_say_which_given_edge_they_are():
    frame = wireframe([(5, 0, 0), (0, 0, 0), (1, 0, 0)], [(0, 2), (2, 1), (1, 2)])
    found = segments(frame.vertices, frame.edges)
    assert found.ends.tolist() == [[[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [5, 0, 0]]]
    assert found.source.tolist() == [1, 0]
    assert found.lengths.tolist() == [1.0, 4.0]


@examples(30)
@given(st.integers(0, 10_000))
def test_equal_geometry_gives_equal_segments_whatever_the_order_of_the_file(seed):
    frame = random_wireframe(seed)
    other = shuffled(frame, seed + 1)
    assert np.array_equal(segments(frame.vertices, frame.edges).ends, segments(other.vertices, other.edges).ends)


def test_segments_of_doubled_vertices_do_not_depend_on_order_either():
    frame = wireframe([(0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 2), (1, 3)])
    swapped = wireframe([(0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0)], [(1, 2), (0, 3)])
    assert np.array_equal(segments(frame.vertices, frame.edges).ends, segments(swapped.vertices, swapped.edges).ends)


def test_diameter_and_diagonal_of_the_square():
    assert diameter(SQ.vertices) == 5.0 and bbox_diagonal(SQ.vertices) == 5.0
    assert diameter(EMPTY.vertices) == 0.0 and bbox_diagonal(EMPTY.vertices) == 0.0
    assert diameter(SQ.vertices[:1]) == 0.0


def test_the_diameter_of_many_vertices_is_that_of_all_pairs():
    points = np.random.default_rng(0).normal(size=(700, 3))
    gaps = points[:, None] - points
    assert diameter(points) == pytest.approx(np.sqrt((gaps**2).sum(-1)).max(), abs=1e-12)
