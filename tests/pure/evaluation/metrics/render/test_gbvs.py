"""Saliency against figures on record, against a plain second writing of it, and on pictures with nothing to see."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.render import gbvs
from tests.support.evaluation.metrics.render import pictures, plain_gbvs


@pytest.mark.parametrize(
    ("grey", "compat", "inside", "overall"),
    [(False, False, 0.86547, 0.27098), (False, True, 0.89301, 0.29407), (True, False, 0.76953, 0.26222)],
)
def test_the_figures_on_record(grey, compat, inside, overall):
    found = gbvs.saliency(pictures.checked(grey), compat)
    assert found.shape == (96, 128) and found.min() >= 0 and found.max() <= 1
    assert found[30:60, 70:110].mean() == pytest.approx(inside, abs=5e-6)
    assert found.mean() == pytest.approx(overall, abs=5e-6)


@pytest.mark.parametrize("colour", [(0, 0, 0), (9, 9, 9), (255, 255, 255), (200, 10, 60)])
def test_where_nothing_stands_out_everything_counts_alike(colour):
    assert (gbvs.saliency(np.full((50, 70, 3), colour, dtype=np.uint8)) == 1).all()


def compare_with_plain(image: np.ndarray, compat: bool) -> None:
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed (tests/requirements-peers.txt)")
    expected = plain_gbvs.saliency(cv2, np.ascontiguousarray(image[..., ::-1]), compat)
    # OpenCV keeps the weights of its cubic kernel in single precision, which the walks carry on.
    np.testing.assert_allclose(gbvs.saliency(image, compat), expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize(("height", "width", "compat"), [(97, 61, False), (60, 80, True)])  # larger ones: tests/nightly
def test_it_is_what_a_plain_implementation_says(height, width, compat):
    compare_with_plain(pictures.blobs(height, width, 2), compat)


def test_the_walks_are_those_of_whole_matrices():
    rng = np.random.default_rng(4)
    values = rng.random((gbvs.ROWS, gbvs.COLUMNS))
    found = gbvs._sharpened(gbvs._activation(values)[None])[0]
    np.testing.assert_allclose(found, plain_gbvs.conducted(values), rtol=1e-9)


def test_the_filters_have_no_mean_and_norm_one():
    for angle in gbvs.ANGLES:
        for phase in (0, 90):
            found = gbvs.gabor(angle, phase)
            assert abs(found.mean()) < 1e-12 and np.linalg.norm(found) == pytest.approx(1)
            np.testing.assert_allclose(found, plain_gbvs.kernel(angle, phase, False), atol=1e-12)
    assert not np.allclose(gbvs.gabor(45, 0), gbvs.gabor(45, 0, compat=True))
    np.testing.assert_allclose(gbvs.gabor(90, 90), gbvs.gabor(90, 90, compat=True), atol=1e-12)


def test_a_bright_spot_is_where_one_looks():
    image = np.full((90, 120, 3), 40, dtype=np.uint8)
    image[20:32, 70:84] = (250, 240, 30)
    row, column = np.unravel_index(gbvs.saliency(image).argmax(), (90, 120))
    assert abs(row - 26) < 8 and abs(column - 77) < 8


@pytest.mark.parametrize("shape", [(1, 1), (1, 640), (3, 5), (640, 2)])
def test_slivers_have_a_saliency_too(shape):
    found = gbvs.saliency(np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8))
    assert found.shape == shape and np.isfinite(found).all()
