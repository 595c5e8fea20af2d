from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.wireframe import order
from evaluation.metrics.wireframe.canon import canon, lexicographic
from evaluation.metrics.wireframe.order import canonical_order
from tests.support.evaluation.shapes import SQ, degenerate_wireframe, random_wireframe, shuffled, wireframe
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
    monkeypatch.setattr(order, "WORK", 0)
    assert canonical_order(path.vertices, path.edges).tolist() == list(range(50))
