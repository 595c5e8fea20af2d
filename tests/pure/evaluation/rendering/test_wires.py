"""Pictures of lines: by hand, against every sample looked at one by one, and the same whatever the order."""

import numpy as np
import pytest

from evaluation.rendering import wires
from evaluation.rendering.wires import BLACK, BLUE, Lines, Viewpoint, picture

FRONT = Viewpoint((0.0, 0.0, 0.0), 10.0, azimuth=0.0, elevation=0.0)  # 20 px: a pixel is a unit


def line(*points):
    return np.array(points, dtype=np.float64).reshape(-1, 2, 3)


def one_by_one(ends, half, side):
    """The distance of every sample's middle from every line, as the definition says it."""
    found = np.zeros((side, side), dtype=bool)
    row, column = np.mgrid[:side, :side] * wires.GRID + wires.GRID // 2
    for (x0, y0), (x1, y1) in np.rint(wires._clipped(ends, -half - 2, side + half + 2) * wires.GRID).astype(np.int64).tolist():
        dx, dy = x1 - x0, y1 - y0
        t = np.clip(((column - x0) * dx + (row - y0) * dy) / (dx * dx + dy * dy or 1), 0, 1)
        found |= (column - x0 - t * dx) ** 2 + (row - y0 - t * dy) ** 2 <= (half * wires.GRID) ** 2 + 1e-6
    return found


def test_what_is_covered_is_what_lies_near_a_line():
    rng = np.random.default_rng(0)
    for _ in range(200):
        ends = rng.uniform(-20, 84, (5, 2, 2))
        ends = np.rint(ends) if rng.random() < 0.3 else ends
        ends[rng.random(5) < 0.1, 1] = ends[0, 0]
        half = float(rng.choice([1, 2, 3.5]))
        assert np.array_equal(wires._covered(ends, half, 64), one_by_one(ends, half, 64))


def test_a_level_line_by_hand():
    """From the front, y points right and z up: two pixels high around z = 0, its round ends half a pixel further."""
    image = picture([Lines(line((0, -5, 0), (0, 5, 0)), BLACK)], FRONT, 20)
    assert (image[9:11, 5:15] == 0).all(), "the rows above and below the middle"
    assert (image[:8] == 255).all() and (image[12:] == 255).all() and (image[:, :4] == 255).all() and (image[:, 16:] == 255).all()
    corner = image[9, 4, 0]  # of its four samples those within a pixel of the end: all but the farthest
    assert corner == image[10, 15, 0] == (1 * 255 + 2) // 4


def test_later_layers_cover_earlier_ones_and_a_pixel_is_the_mean_of_its_samples():
    both = picture([Lines(line((0, -5, 0), (0, 5, 0)), BLACK), Lines(line((0, 0, -5), (0, 0, 5)), BLUE)], FRONT, 20)
    assert both[9, 9].tolist() == [0, 0, 255] and both[9, 6].tolist() == [0, 0, 0] and both[6, 10].tolist() == [0, 0, 255]
    assert set(np.unique(both).tolist()) <= {0, 64, 128, 191, 255}


def test_the_view_by_hand():
    """Azimuth 45°, elevation 30°: right is (−1, 1, 0)/√2, up is (−1/4·√2, −1/4·√2, √3/2)."""
    viewpoint = Viewpoint((1.0, 2.0, 3.0), 2.0)
    points = np.array([[1, 2, 3], [1, 2, 5], [0, 3, 3], [2, 3, 3]], dtype=float)
    expected = [[50, 50], [50, 50 - 50 * np.sqrt(3) / 2], [50 + 50 / np.sqrt(2), 50], [50, 50 + 25 / np.sqrt(2)]]
    assert np.allclose(viewpoint.projected(points, 100), expected, atol=1e-12)


def test_order_and_direction_of_lines_leave_no_trace_and_far_ends_are_cut_off():
    rng = np.random.default_rng(1)
    ends = rng.normal(0, 8, (40, 2, 3))
    ends[3, 1] = (1e9, -1e12, 1e7)
    first = picture([Lines(ends, BLUE)], FRONT, 64)
    again = picture([Lines(ends[rng.permutation(40)][:, ::-1], BLUE)], FRONT, 64)
    assert np.array_equal(first, again) and (first != 255).any()
    assert (picture([Lines(np.empty((0, 2, 3)), BLUE)], FRONT, 8) == 255).all()


@pytest.mark.parametrize("radius", [0.0, float("inf"), float("nan")])
def test_a_viewpoint_without_size_is_refused(radius):
    with pytest.raises(ValueError, match="cannot draw"):
        picture([], Viewpoint((0, 0, 0), radius), 8)
    with pytest.raises(ValueError, match="cannot draw"):
        picture([], FRONT, wires.MAX_SIDE)
