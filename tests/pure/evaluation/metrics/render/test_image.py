"""Images as numbers; resampling by hand and against OpenCV; how many clean views are looked at, and how large."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.render.image import (
    bicubic,
    bilinear,
    cubic_weights,
    halved,
    mirrored,
    resized,
    subset,
    to_float,
    to_size,
    working_size,
)

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


SHAPES = [(700, 1000), (33, 71), (112, 160), (5, 4), (1, 9), (2, 2)]


@pytest.fixture(scope="module")
def cv2():
    return pytest.importorskip("cv2", reason="opencv-python-headless is not installed (tests/requirements-peers.txt)")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("target", [(64, 48), (640, 448), (7, 90)])
def test_bilinear_is_opencvs_to_a_grey_level(cv2, shape, target):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    expected = cv2.resize(image, target, interpolation=cv2.INTER_LINEAR).astype(int)
    found = bilinear(image, *target).astype(int)
    assert np.abs(found - expected).max() <= 1
    values = image.astype(np.float64)
    np.testing.assert_allclose(bilinear(values, *target), cv2.resize(values, target, interpolation=cv2.INTER_LINEAR), atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_bicubic_and_halving_are_opencvs(cv2, shape):
    values = np.random.default_rng(1).random(shape)
    np.testing.assert_allclose(bicubic(values, 32, 28), cv2.resize(values, (32, 28), interpolation=cv2.INTER_CUBIC), atol=2e-4)
    np.testing.assert_allclose(halved(values), cv2.pyrDown(values), atol=1e-12)


def test_by_hand():
    two = np.array([[[0.0], [8.0]]])
    assert bilinear(two, 4, 1).ravel().tolist() == [0, 2, 6, 8]
    assert bilinear(np.array([[[0], [5]]], dtype=np.uint8), 4, 1).ravel().tolist() == [0, 1, 4, 5]  # 1.25 and 3.75
    # Half way between two samples a = -0.75 gives -0.09375, 0.59375, 0.59375, -0.09375.
    np.testing.assert_allclose(cubic_weights(4, 2)[0], [0.59375 - 0.09375, 0.59375, -0.09375, 0])
    # 16ths of 1 4 6 4 1 about the first of three, mirrored: (6·0 + 8·16 + 2·32) / 16.
    np.testing.assert_allclose(halved(np.array([[0.0, 16.0, 32.0]]))[0], [12.0, 20.0])


def test_mirrored_indices():
    assert mirrored(np.arange(-4, 8), 3).tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
    assert mirrored(np.arange(-2, 3), 1).tolist() == [0, 0, 0, 0, 0]


def test_a_flat_picture_stays_flat():
    flat = np.full((11, 7, 3), 200, dtype=np.uint8)
    assert (bilinear(flat, 31, 5) == 200).all()
    np.testing.assert_allclose(bicubic(np.full((11, 7), 0.3), 31, 5), 0.3)
    np.testing.assert_allclose(halved(np.full((11, 7), 0.3)), np.full((6, 4), 0.3))


def test_a_longer_side_is_brought_to_the_working_size():
    assert working_size(1920, 1080) == (960, 540) and working_size(700, 1000) == (672, 960) and working_size(960, 20) == (960, 20)


def test_a_hundred_views_are_taken_by_a_uniform_stride():
    assert subset(100) == list(range(100)) and subset(200) == list(range(0, 200, 2))
    assert len(set(subset(150))) == 100 and subset(150)[-1] == 148
