from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import wireframe as wireframes
from evaluation.metrics.wireframe.canon import bbox_diagonal, canon, canonical_order, diameter, lexicographic, segments
from tests.support.evaluation.shapes import EMPTY, SQ, degenerate_wireframe, random_wireframe, shuffled, wireframe
from tests.support.examples import examples


def settled(frame):
    """Vertices and canonical edges in canonical order, as lists."""
    vertices, edges, _ = lexicographic(frame.vertices, frame.edges)
    return vertices.tolist(), canon(vertices, edges)[1].tolist()


def test_without_double_vertices_the_order_is_lexicographic():
    frame = random_wireframe(3)
    assert canonical_order(frame.vertices, frame.edges).tolist() == np.lexsort(frame.vertices.T[::-1]).tolist()
    assert canonical_order(np.empty((0, 3)), np.empty((0, 2), dtype=np.int64)).tolist() == []


def test_doubles_go_by_their_neighbours():
    frame = wireframe([(0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 4), (1, 3), (1, 4)])
    assert canonical_order(frame.vertices, frame.edges).tolist() == [2, 1, 0, 3, 4]


def test_doubles_that_are_alike_in_pairs_stay_with_their_partners():
    """Two stacked copies of the square: whichever way they are mixed, each keeps its own edges."""
    both = wireframe([*SQ.vertices, *SQ.vertices], [*SQ.edges, *(SQ.edges + 4)])
    twisted = wireframe(both.vertices, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0)])
    known = settled(both)
    assert known != settled(twisted)
    for seed in range(20):
        assert settled(shuffled(both, seed)) == known
        assert settled(shuffled(twisted, seed)) == settled(twisted)


@examples(300)
@given(st.integers(0, 1_000_000))
def test_the_order_of_the_file_leaves_no_trace(seed):
    frame = degenerate_wireframe(seed)
    assert settled(shuffled(frame, seed)) == settled(frame)


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 1), (2, 3)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]])
def test_all_orders_of_four_vertices_at_one_place_come_out_the_same(edges):
    seen = set()
    for names in permutations(range(4)):
        renamed = [(names[a], names[b]) for a, b in edges]
        seen.add(str(settled(wireframe(np.zeros((4, 3)), renamed))))
    assert len(seen) == 1


def test_the_work_is_bounded_and_the_rest_keeps_the_order_of_the_file(monkeypatch):
    path = wireframe(np.zeros((50, 3)), [(k, k + 1) for k in range(49)])
    known = canonical_order(path.vertices, path.edges)
    assert sorted(known.tolist()) == list(range(50))
    monkeypatch.setattr(wireframes.canon, "WORK", 0)
    assert canonical_order(path.vertices, path.edges).tolist() == list(range(50))


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
