"""The procedures on small wireframes: what each step changes, and by how much."""

from itertools import pairwise

import numpy as np
import pytest

from evaluation.metrics.wireframe.canon import canon, diameter
from evaluation.properties import wireframe_trials
from evaluation.properties.trials import Question, generator
from evaluation.properties.wireframe_trials import MONOTONE, all_trials, prepared, size
from evaluation.synthetic.houses import houses
from tests.support.evaluation.shapes import SQ, moved, segment, shuffled, wireframe

HOUSES = prepared(houses(4, seed=3))
X = HOUSES["house_02"]
D = size(X)


def steps(name, frame=X, seed="a"):
    """The original and the ten copies of one monotone procedure."""
    return [frame, *MONOTONE[name](frame, size(frame), generator(seed, name))]


def pairs_of(frame):
    return {tuple(sorted(edge)) for edge in frame.edges.tolist()}


def found(trials, test):
    (trial,) = [trial for trial in trials if test in trial.tests]
    return trial


def test_wireframes_are_made_canonical_and_put_in_the_middle():
    frame = wireframe([(540_001, 1, 2), (540_003, 1, 4), (540_001, 5, 2)], [(1, 0), (0, 1), (2, 2), (1, 2)])
    ready = prepared({"a": frame})["a"]
    assert ready.vertices.tolist() == [[-1, -2, -1], [1, -2, 1], [-1, 2, -1]]
    assert ready.edges.tolist() == [[0, 1], [1, 2]]
    assert ready.edge_score == pytest.approx([8**0.5, 24**0.5])


@pytest.mark.parametrize("name", MONOTONE)
def test_every_procedure_has_ten_steps_and_the_same_for_the_same_item(name):
    copies, again, other = steps(name), steps(name), steps(name, seed="b")
    assert len(copies) == 11
    for a, b in zip(copies, again, strict=True):
        assert np.array_equal(a.vertices, b.vertices) and np.array_equal(a.edges, b.edges)
        assert np.array_equal(a.edge_score, np.linalg.norm(a.vertices[a.edges[:, 0]] - a.vertices[a.edges[:, 1]], axis=1))
    assert any(
        a.vertices.shape != b.vertices.shape or not np.array_equal(a.vertices, b.vertices) or not np.array_equal(a.edges, b.edges)
        for a, b in zip(copies[1:], other[1:], strict=True)
    )


def test_wrong_edges_adds_one_new_pair_at_a_time():
    for before, after in pairwise(steps("mono_wrong_edges")):
        assert np.array_equal(after.vertices, X.vertices)
        assert len(pairs_of(after) - pairs_of(before)) == 1 and pairs_of(before) < pairs_of(after)


def test_deform_split_cuts_one_edge_between_three_and_seven_tenths_and_moves_three_vertices():
    offsets = []
    for before, after in pairwise(steps("mono_deform_split")):
        new = len(before.vertices)
        assert len(after.vertices) == new + 1 and len(after.edges) == len(before.edges) + 1
        (cut,) = pairs_of(before) - pairs_of(after)
        assert pairs_of(after) - pairs_of(before) == {(cut[0], new), (cut[1], new)}
        changed = np.flatnonzero((after.vertices[:new] != before.vertices).any(axis=1))
        assert changed.tolist() == sorted(cut)
        offsets += list((after.vertices[changed] - before.vertices[changed]).ravel())
    assert np.std(offsets) == pytest.approx(0.05 * D, rel=0.3)


def test_a_split_lies_on_the_edge_where_nothing_is_moved(monkeypatch):
    monkeypatch.setattr(wireframe_trials, "SPLIT_NOISE", 0.0)
    frame = segment((0, 0, 0), (10, 0, 0))
    places = [wireframe_trials.deform_split(frame, 10.0, generator(str(n), "t"))[0].vertices[2] for n in range(60)]
    along = np.array(places)[:, 0]
    assert (np.array(places)[:, 1:] == 0).all() and along.min() >= 3 and along.max() <= 7 and np.ptp(along) > 3.2


def test_moving_vertex_moves_ten_different_vertices_by_half_the_diameter():
    copies = steps("mono_moving_vertex")
    for k, copy in enumerate(copies):
        gaps = np.linalg.norm(copy.vertices - X.vertices, axis=1)
        assert (gaps > 0).sum() == k and gaps[gaps > 0] == pytest.approx(D / 2)
        assert np.array_equal(copy.edges, X.edges)


def test_disconnect_edges_gives_one_edge_a_corner_of_its_own_and_moves_nothing():
    copies = steps("mono_disconnect_edges")
    for before, after in pairwise(copies):
        assert len(after.vertices) == len(before.vertices) + 1
        assert np.array_equal(after.vertices[after.edges], X.vertices[X.edges])
        rows, ends = np.nonzero(after.edges != before.edges)
        assert len(rows) == 1 and after.edges[rows[0], ends[0]] == len(before.vertices)
        left = before.edges[rows[0], ends[0]]
        assert (after.edges == left).sum() == (before.edges == left).sum() - 1 >= 1


def test_disconnect_edges_stops_where_no_corner_is_shared():
    assert steps("mono_disconnect_edges", SQ) == [SQ]  # four corners can be parted, not ten


def test_delete_vertices_takes_their_edges_along():
    copies = steps("mono_delete_vertices")
    for before, after in pairwise(copies):
        assert len(after.vertices) == len(before.vertices) - 1
        kept = {tuple(point) for point in after.vertices}
        lines = {tuple(map(tuple, line)) for line in before.vertices[before.edges]}
        assert {tuple(map(tuple, line)) for line in after.vertices[after.edges]} == {line for line in lines if set(line) <= kept}


def test_delete_edges_keeps_all_vertices():
    copies = steps("mono_delete_edges")
    for before, after in pairwise(copies):
        assert np.array_equal(after.vertices, X.vertices)
        assert pairs_of(after) < pairs_of(before) and len(after.edges) == len(before.edges) - 1


def test_small_wireframes_are_skipped_in_the_monotone_tests_alone():
    frames = prepared({"a": SQ, "b": moved(SQ, (1, 0, 0)), "c": segment((0, 0, 0), (1, 0, 0))})
    skipped = [test for trial in all_trials("a", frames) if not trial.pairs for test in trial.tests]
    assert skipped == list(MONOTONE)
    assert [test for t in all_trials("c", frames) if not t.pairs for test in t.tests] == [*MONOTONE, "triangle_del1_del2"]


@pytest.mark.parametrize(
    ("n", "edges", "large"),
    [
        (12, [(k, (k + 1) % 12) for k in range(12)], True),
        (11, [(k, (k + 1) % 11) for k in range(11)] + [(0, 5)], False),  # eleven vertices
        (13, [(k, k + 1) for k in range(11)], False),  # eleven edges
        (12, [(a, b) for a in range(12) for b in range(a + 1, 12)][:-9], False),  # nine pairs left
        (12, [(a, b) for a in range(12) for b in range(a + 1, 12)][:-10], True),
    ],
)
def test_the_limits_of_what_is_too_small(n, edges, large):
    frame = wireframe([(k, k * k, k**3 % 7) for k in range(n)], edges)
    trials = all_trials("a", prepared({"a": frame}))
    assert bool(found(trials, "mono_delete_vertices").pairs) is large


def test_identity_sets_the_wireframe_against_itself():
    trial = found(all_trials("house_02", HOUSES), "identity")
    assert trial.pairs == ((X, X),) and trial.tests == ("identity", "near_identity") and trial.question is Question.IDENTITY


def test_the_noise_of_the_symmetry_tests_does_not_drift_and_the_shift_is_a_tenth_of_the_diameter():
    trials = all_trials("house_02", HOUSES)
    (noisy, x), (x_again, noisy_again) = found(trials, "symmetry_0mean").pairs
    assert x is x_again is X and noisy is noisy_again
    offset = noisy.vertices - X.vertices
    assert offset.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert 0.3 * 0.02 * D < offset.std() < 0.9 * 0.02 * D  # normal times uniform: 0.58 of sigma
    shifted = found(trials, "near_symmetry_shift").pairs[0][0]
    shift = shifted.vertices - noisy.vertices
    assert np.ptp(shift, axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert np.linalg.norm(shift[0]) == pytest.approx(0.1 * D)


def test_quasi_moves_one_vertex_along_one_line_in_equal_steps():
    trials = all_trials("house_02", HOUSES)
    far, close = (found(trials, test).pairs for test in ("quasi_far", "quasi_close"))
    assert len(far) == len(close) == 11 and close[0][0] is X

    def offset(frame):
        return (frame.vertices - X.vertices)[chosen]

    (chosen,) = np.flatnonzero((far[0][0].vertices != X.vertices).any(axis=1))
    way = offset(far[0][0]) / (0.5 * D)
    for k in range(11):
        assert offset(far[k][0]) == pytest.approx((0.5 + 0.01 * k) * D * way)
        assert offset(close[k][0]) == pytest.approx(0.01 * k * D * way, abs=1e-12)
        assert ((close[k][0].vertices != X.vertices).any(axis=1)).sum() <= 1


def test_triangles_go_from_the_most_damaged_over_the_less_to_the_original():
    trials = all_trials("house_02", HOUSES)
    for test in ("triangle_rand_other", "triangle_add_noise", "triangle_del1_del2"):
        (a, c), (a_again, b), (b_again, c_again) = found(trials, test).pairs
        assert a is a_again and b is b_again and c is c_again
    start, over, end = _corners(trials)
    assert start is X and {id(over), id(end)} <= {id(frame) for frame in HOUSES.values()} - {id(X)} and over is not end


def _corners(trials):
    (start, end), (_, over), _ = found(trials, "triangle_rand_other").pairs
    return start, over, end


def test_noise_is_added_twice_and_edges_are_taken_one_by_one():
    trials = all_trials("house_02", HOUSES)
    (twice, x), (_, once), _ = found(trials, "triangle_add_noise").pairs
    assert x is X
    for more, less in ((once, x), (twice, once)):
        assert (more.vertices - less.vertices).std() == pytest.approx(0.02 * D, rel=0.35)
    (two_less, x), (_, one_less), _ = found(trials, "triangle_del1_del2").pairs
    assert x is X and len(pairs_of(x) - pairs_of(one_less)) == len(pairs_of(one_less) - pairs_of(two_less)) == 1
    assert pairs_of(two_less) < pairs_of(one_less) < pairs_of(x)


def test_the_order_of_a_dataset_does_not_matter_to_the_choice_of_others():
    backwards = dict(reversed(HOUSES.items()))
    assert _corners(all_trials("house_02", HOUSES))[1:] == _corners(all_trials("house_02", backwards))[1:]
    assert found(all_trials("house_02", dict(list(HOUSES.items())[:2])), "triangle_rand_other").pairs == ()


def test_the_size_is_the_largest_distance_between_two_vertices():
    assert size(SQ) == 5.0 == diameter(canon(*(shuffled(SQ, 1).vertices, shuffled(SQ, 1).edges))[0])
