import numpy as np
import pytest

from evaluation.metrics.wireframe.pair import Pair
from tests.support.evaluation.shapes import EMPTY, SQ, TRI, moved, wireframe


def test_both_sides_are_centred_on_the_middle_of_the_references_bounding_box():
    pair = Pair.of(moved(SQ, (1, 1, 1)), wireframe([(0, 0, 0), (0, 0, 0), (4, 2, 6)]))
    assert pair.centre.tolist() == [2, 1, 3]
    assert pair.ref_vertices.tolist() == [[-2, -1, -3], [-2, -1, -3], [2, 1, 3]]
    assert pair.pred_vertices[0].tolist() == [-1, 0, -2]


def test_the_inputs_are_not_changed():
    before = SQ.vertices.copy()
    Pair.of(SQ, TRI).corners(None, False)
    assert np.array_equal(SQ.vertices, before)


def test_an_absent_prediction_is_the_empty_one():
    pair = Pair.of(None, SQ)
    assert pair.pred_vertices.shape == (0, 3) and pair.pred_edges.shape == (0, 2)
    assert Pair.of(TRI, SQ).without_prediction().reference_diagonal == 5.0


def test_what_an_empty_prediction_gets_does_not_depend_on_who_asks():
    far = Pair.of(moved(TRI, (9e6, 0, 0)), SQ).without_prediction()
    near = Pair.of(None, SQ)
    assert (far.limit(0.5), far.reference_diagonal) == (near.limit(0.5), near.reference_diagonal)
    assert np.array_equal(far.ref_vertices, near.ref_vertices)


def test_graphs_have_their_vertices_in_lexicographic_order_or_as_given():
    frame = wireframe([(2, 0, 0), (0, 0, 0), (1, 0, 0), (5, 5, 5)], [(0, 1), (1, 0), (1, 2), (2, 2)])
    pair = Pair.of(frame, frame)
    pred, ref = pair.graphs()
    assert (pred.vertices + pair.centre)[:, 0].tolist() == [0, 1, 2, 5] and pred.edges.tolist() == [[0, 1], [0, 2]]
    assert ref.lengths().tolist() == [1.0, 2.0] and ref.diameter == pytest.approx(np.sqrt(75))
    assert pair.graphs_as_given()[0].edges.tolist() == [[0, 1], [1, 2]]
    assert len(pair.graphs(None, True)[0].vertices) == 3 and len(pair.graphs(1.5)[0].vertices) == 2
    assert pair.segments(None)[0].corner.tolist() == [[0, 1], [0, 2]]


def test_two_empty_sides_are_a_pair_too():
    pair = Pair.of(EMPTY, EMPTY)
    assert pair.reference_diagonal == 0.0 and pair.limit(0.5) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("vertices", "edges", "sentence"),
    [
        ([(0, 0, np.nan)], [], "coordinate that is not finite"),
        ([(0, 0, np.inf)], [], "coordinate that is not finite"),
        ([(0, 0)], [], "shape"),
        ([(0, 0, 0)], [(0, 1)], "names a vertex it does not have"),
        ([(0, 0, 0)], [(-1, 0)], "names a vertex it does not have"),
        ([(0, 0, 0)], [(0, 0, 0)], "whole numbers"),
        ([(0, 0, 0)], [(0.5, 0.0)], "whole numbers"),
    ],
)
def test_anything_but_a_finite_wireframe_is_a_programming_error(vertices, edges, sentence):
    with pytest.raises(ValueError, match=f"the prediction.*{sentence}"):
        Pair(vertices, edges, SQ.vertices, SQ.edges)
    with pytest.raises(ValueError, match=f"the reference.*{sentence}"):
        Pair(SQ.vertices, SQ.edges, vertices, edges)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_unit_scale_that_is_no_positive_number_is_a_programming_error(scale):
    with pytest.raises(ValueError, match="unit_scale"):
        Pair.of(SQ, SQ, scale)


def test_a_limit_is_the_threshold_with_its_tolerance():
    near = Pair.of(SQ, SQ)
    assert near.limit(0.5) == 0.5 + 1e-9 + 4 * np.spacing(4.0)
    assert near.limit(3.0) == 3.0 + 3e-9 + 4 * np.spacing(4.0)
    far = Pair.of(moved(SQ, (0, 6.5e6, 0)), SQ)
    assert far.limit(0.5) == 0.5 + 1e-9 + 4 * np.spacing(6.5e6 + 3)


def test_lengths_are_converted_to_and_from_the_unit_of_the_files():
    pair = Pair.of(SQ, SQ, 0.01)
    assert (pair.to_file(0.5), pair.to_metres(50.0), pair.reference_diagonal) == (50.0, 0.5, 0.05)


def test_shared_work_is_done_once_for_a_pair_and_again_for_another():
    done = []
    pair, other = Pair.of(SQ, SQ), Pair.of(SQ, SQ)
    for one in (pair, pair, other):
        one.once("work", lambda: done.append(1))
    assert len(done) == 2
