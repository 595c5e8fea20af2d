"""Mean average precision: worked by hand, and its properties."""

import numpy as np
import pytest

from evaluation.training.precision import OVERLAPS, Found, average_precision, overlaps, precisions


def found(rows):
    """Rows of (x1, y1, x2, y2, score, class)."""
    table = np.array(rows, dtype=float).reshape(-1, 6)
    return Found(table[:, :4], table[:, 4], table[:, 5].astype(int))


def test_average_precision_by_hand():
    # right, wrong, right of 4 wanted: precision 1 up to recall .25 (26 levels), 2/3 up to .5 (25 levels), nothing beyond
    assert average_precision(np.array([True, False, True]), 4) == pytest.approx((26 + 25 * 2 / 3) / 101)
    assert average_precision(np.array([True, True]), 2) == 1
    assert average_precision(np.array([False, False]), 2) == 0
    assert average_precision(np.array([], dtype=bool), 2) == 0
    assert np.isnan(average_precision(np.array([False]), 0))


def test_overlaps_by_hand():
    a, b = np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 3, 2], [0, 0, 2, 2], [5, 5, 6, 6]])
    assert np.allclose(overlaps(a, b), [[1 / 3, 1, 0]])


def test_an_object_is_found_once_and_the_overlap_must_suffice():
    wanted = [np.array([[0.0, 0, 0, 10, 10], [1, 20, 20, 30, 30]])]
    # the second detection of the same object is wrong; 0.8 of the box suffices up to that overlap (.5 to .8: 7 of 10)
    seen = [found([(0, 0, 10, 8, 0.9, 0), (0, 0, 10, 10, 0.8, 0), (20, 20, 30, 30, 0.7, 1)])]
    table = precisions(seen, wanted, 3)
    assert np.allclose(table[0, :7], 1) and np.allclose(table[0, 7:], 0.5) and (table[1] == 1).all() and np.isnan(table[2]).all()


def test_the_right_place_with_the_wrong_name_is_not_found():
    wanted = [np.array([[0.0, 0, 0, 10, 10]])]
    assert precisions([found([(0, 0, 10, 10, 0.9, 1)])], wanted, 2)[0].max() == 0


def test_scores_order_detections_over_all_images():
    wanted = [np.array([[0.0, 0, 0, 10, 10]]), np.array([[0.0, 0, 0, 10, 10]])]
    wrong, right = (50, 50, 60, 60), (0, 0, 10, 10)
    good = precisions([found([(*right, 0.9, 0), (*wrong, 0.1, 0)]), found([(*right, 0.8, 0)])], wanted, 1)
    bad = precisions([found([(*right, 0.1, 0), (*wrong, 0.9, 0)]), found([(*right, 0.2, 0)])], wanted, 1)
    assert good[0, 0] == 1 and bad[0, 0] == pytest.approx(2 / 3)
    assert len(OVERLAPS) == 10 and OVERLAPS[-1] == pytest.approx(0.95)


def test_views_without_objects_or_detections_are_fine():
    assert np.isnan(precisions([found([])], [np.zeros((0, 5))], 1)).all()
    assert precisions([found([])], [np.array([[0.0, 0, 0, 1, 1]])], 1)[0].max() == 0
