import numpy as np
import pytest
from manifold3d import Manifold

from evaluation.metrics.wireframe import tubes
from evaluation.metrics.wireframe.tubes import Overlap, distinct, orthonormal, overlap, prisms, same, solids, with_itself


def boxes(*origins):
    return [Manifold.cube((2.0, 1.0, 1.0)).translate(tuple(float(c) for c in origin)) for origin in origins]


def test_prisms_have_the_volume_of_their_polygon_times_their_length():
    ends = np.array([[[0, 0, 0], [0, 0, 3]], [[1, 1, 1], [4, 5, 1]]], dtype=float)
    directions = np.array([[0, 0, 1], [0.6, 0.8, 0]])
    for sections in (3, 6, 64):
        area = sections / 2 * np.sin(2 * np.pi / sections) * 0.25
        volumes = [solid.volume() for solid in solids(prisms(ends, orthonormal(directions), 0.5, sections))]
        assert volumes == pytest.approx([3 * area, 5 * area], rel=1e-12)


def test_axes_across_are_right_handed_and_of_length_one():
    directions = np.random.default_rng(0).normal(size=(50, 3))
    directions = np.concatenate([directions / np.linalg.norm(directions, axis=1, keepdims=True), np.eye(3), -np.eye(3)])
    across = orthonormal(directions)
    frames = np.concatenate([across, directions[:, None]], axis=1)
    assert frames @ frames.transpose(0, 2, 1) == pytest.approx(np.tile(np.eye(3), (len(frames), 1, 1)), abs=1e-12)
    assert np.linalg.det(frames) == pytest.approx(1.0)


def test_overlap_of_boxes_is_worked_by_hand():
    found = overlap(boxes((0, 0, 0), (1, 0, 0)), boxes((2, 0, 0)))
    assert (found.first, found.second, found.shared, found.pairwise) == (3.0, 2.0, 1.0, False)
    assert found.iou == 0.25


def test_apart_is_zero_and_nothing_is_zero():
    assert overlap(boxes((0, 0, 0)), boxes((9, 0, 0))).iou == 0.0
    assert Overlap(0.0, 0.0, 0.0).iou == 0.0


def test_where_a_union_is_no_solid_the_pieces_are_intersected_pairwise():
    nothing = Manifold()
    found = overlap([nothing], boxes((0, 0, 0)))
    assert (found.pairwise, found.shared) == (True, 0.0)


def test_pairwise_pieces_give_the_same_shared_volume(monkeypatch):
    first, second = boxes((0, 0, 0), (1, 0, 0)), boxes((2, 0, 0), (1.5, 0.5, 0), (9, 9, 9))
    known = overlap(first, second)
    monkeypatch.setattr(tubes, "min", lambda volumes: 0.0, raising=False)
    found = overlap(first, second)
    assert found.pairwise and found.shared == pytest.approx(known.shared)


def test_a_segment_repeated_either_way_round_is_kept_once_where_it_first_stood():
    a, b, c = np.array([[0, 0, 0], [1, 0, 0]]), np.array([[2, 5, 0], [2, -3, 1]]), np.array([[0, 0, 0], [1, 0, 1]])
    found = distinct(np.stack([b, a, a[::-1], c, b[::-1], a]).astype(float))
    assert found.tolist() == np.stack([b, a, c]).tolist()
    assert len(distinct(np.empty((0, 2, 3)))) == 0


def test_the_same_segments_are_the_same_in_any_order_and_direction():
    ends = np.random.default_rng(3).normal(size=(9, 2, 3))
    mixed = np.concatenate([ends[::-1], ends[2:4]])
    mixed[::2] = mixed[::2, ::-1]
    assert same(ends, mixed) and same(mixed, ends)
    assert not same(ends, ends[1:]) and not same(ends, np.nextafter(ends, np.inf))
    assert same(np.zeros((1, 2, 3)), -np.zeros((1, 2, 3)))


def test_what_a_solid_shares_with_itself_is_everything_even_where_the_engine_makes_nothing_of_it():
    found = with_itself(boxes((0, 0, 0))[0])
    assert (found.first, found.second, found.shared, found.iou) == (2.0, 2.0, 2.0, 1.0)
    assert with_itself(Manifold()).iou == 1.0
