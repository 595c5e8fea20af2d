import numpy as np
import pytest

from evaluation.metrics import array_checks


def test_lists_become_arrays_and_nothing_becomes_empty_ones():
    points, faces = array_checks.indexed([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], 3, "reference", "face")
    assert (points.dtype, faces.dtype, faces.tolist()) == (np.float64, np.int64, [[0, 1, 2]])
    points, edges = array_checks.indexed((), (), 2, "prediction", "edge")
    assert (points.shape, edges.shape, edges.dtype) == ((0, 3), (0, 2), np.int64)


@pytest.mark.parametrize(
    ("vertices", "elements", "corners", "element", "words"),
    [
        ([(0, 0)], [], 2, "edge", r"the prediction's vertices must have the shape \[V, 3\], got \(1, 2\)"),
        ([(0, 0, 0)], [(0, 0, 0)], 2, "edge", r"the prediction's edges must be whole numbers of the shape \[E, 2\]"),
        ([(0, 0, 0)], [(0, 0)], 3, "face", r"the prediction's faces must be whole numbers of the shape \[F, 3\]"),
        ([(0, 0, 0)], [(0.0, 0.0, 0.0)], 3, "face", "whole numbers"),
        ([(0, np.inf, 0)], [], 3, "face", "the prediction has a coordinate that is not finite"),
        ([(0, 0, 0)], [(0, 1)], 2, "edge", "the prediction has an edge that names a vertex it does not have"),
        ([(0, 0, 0)], [(0, -1, 0)], 3, "face", "the prediction has a face that names a vertex it does not have"),
    ],
)
def test_what_is_no_shape_is_an_error(vertices, elements, corners, element, words):
    with pytest.raises(ValueError, match=words):
        array_checks.indexed(vertices, elements, corners, "prediction", element)


def test_a_unit_is_a_positive_number():
    assert array_checks.unit(2) == 2.0 and isinstance(array_checks.unit(2), float)
    for wrong in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="unit_scale must be a positive number"):
            array_checks.unit(wrong)
