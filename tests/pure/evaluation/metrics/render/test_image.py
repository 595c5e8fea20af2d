import numpy as np
import pytest

from evaluation.metrics.render.image import resized, to_float, to_size

RAMP = np.tile(np.arange(8, dtype=np.uint8)[None, :, None] * 20, (4, 1, 3))


def test_floats_are_clipped_and_bytes_divided_by_255():
    assert to_float(np.array([[0, 51, 255]], np.uint8)).tolist() == [[0.0, 0.2, 1.0]]
    assert to_float(np.array([-1.0, 0.5, 2.0], np.float32)).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="finite"):
        to_float(np.array([np.nan]))
    with pytest.raises(ValueError, match="uint8"):
        to_float(np.array([3]))


def test_shrinking_by_area_averages_the_pixels_a_new_one_covers():
    assert resized(RAMP, 4, 2, "area")[0, :, 0].tolist() == [10, 50, 90, 130]
    # 8 columns into 3: the first covers two whole columns and two thirds of the third.
    assert resized(RAMP / 20.0, 3, 4, "area")[0, 0, 0] == pytest.approx((0 + 1 + 2 * 2 / 3) / (8 / 3), abs=1e-6)


def test_the_phases_rule_shrinks_by_area_and_grows_by_bicubic():
    assert np.array_equal(to_size(RAMP, 4, 2), resized(RAMP, 4, 2, "area"))
    assert np.array_equal(to_size(RAMP, 16, 8), resized(RAMP, 16, 8, "bicubic"))
    assert np.array_equal(to_size(RAMP, 16, 2), resized(resized(RAMP, 8, 2, "area"), 16, 2, "bicubic"))
    assert to_size(RAMP, 8, 4) is RAMP


@pytest.mark.parametrize("kind", ["area", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 9), (16, 2), (8, 4)])
def test_a_plain_image_stays_plain_in_any_size_and_type(kind, size):
    for value in (np.uint8(77), np.float64(0.25)):
        found = resized(np.full((4, 8, 3), value), *size, kind)
        assert found.shape == (size[1], size[0], 3) and found.dtype == value.dtype
        assert np.allclose(found, value)
    assert resized(np.full((4, 8), 0.5), *size, kind).shape == (size[1], size[0])
