"""Resampling by hand and against OpenCV."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.render import resample

SHAPES = [(700, 1000), (33, 71), (112, 160), (5, 4), (1, 9), (2, 2)]


@pytest.fixture(scope="module")
def cv2():
    return pytest.importorskip("cv2", reason="opencv-python-headless is not installed (tests/requirements-peers.txt)")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("target", [(64, 48), (640, 448), (7, 90)])
def test_bilinear_is_opencvs_to_a_grey_level(cv2, shape, target):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    expected = cv2.resize(image, target, interpolation=cv2.INTER_LINEAR).astype(int)
    found = resample.bilinear(image, *target).astype(int)
    assert np.abs(found - expected).max() <= 1
    values = image.astype(np.float64)
    np.testing.assert_allclose(resample.bilinear(values, *target), cv2.resize(values, target, interpolation=cv2.INTER_LINEAR), atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_bicubic_and_halving_are_opencvs(cv2, shape):
    values = np.random.default_rng(1).random(shape)
    np.testing.assert_allclose(resample.bicubic(values, 32, 28), cv2.resize(values, (32, 28), interpolation=cv2.INTER_CUBIC), atol=2e-4)
    np.testing.assert_allclose(resample.halved(values), cv2.pyrDown(values), atol=1e-12)


def test_by_hand():
    two = np.array([[[0.0], [8.0]]])
    assert resample.bilinear(two, 4, 1).ravel().tolist() == [0, 2, 6, 8]
    assert resample.bilinear(np.array([[[0], [5]]], dtype=np.uint8), 4, 1).ravel().tolist() == [0, 1, 4, 5]  # 1.25 and 3.75
    # Half way between two samples a = -0.75 gives -0.09375, 0.59375, 0.59375, -0.09375.
    np.testing.assert_allclose(resample.cubic_weights(4, 2)[0], [0.59375 - 0.09375, 0.59375, -0.09375, 0])
    # 16ths of 1 4 6 4 1 about the first of three, mirrored: (6·0 + 8·16 + 2·32) / 16.
    np.testing.assert_allclose(resample.halved(np.array([[0.0, 16.0, 32.0]]))[0], [12.0, 20.0])


def test_mirrored_indices():
    assert resample.mirrored(np.arange(-4, 8), 3).tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
    assert resample.mirrored(np.arange(-2, 3), 1).tolist() == [0, 0, 0, 0, 0]


def test_a_flat_picture_stays_flat():
    flat = np.full((11, 7, 3), 200, dtype=np.uint8)
    assert (resample.bilinear(flat, 31, 5) == 200).all()
    np.testing.assert_allclose(resample.bicubic(np.full((11, 7), 0.3), 31, 5), 0.3)
    np.testing.assert_allclose(resample.halved(np.full((11, 7), 0.3)), np.full((6, 4), 0.3))
