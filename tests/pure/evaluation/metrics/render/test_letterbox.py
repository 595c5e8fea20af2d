"""How a picture lies in a detector's square."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.render.letterbox import Letterbox, letterboxed
from tests.support.evaluation.metrics.render import pictures


@pytest.mark.parametrize(
    ("width", "height", "ratio", "inner"),
    [(1920, 1080, 1 / 3, (640, 360)), (1000, 700, 0.64, (640, 448)), (100, 100, 6.4, (640, 640)), (628, 416, 640 / 628, (640, 423))],
)
def test_sizes(width, height, ratio, inner):
    found = Letterbox.of(width, height)
    assert found.ratio == pytest.approx(ratio) and (found.inner_width, found.inner_height) == inner


def test_slivers_keep_a_pixel():
    assert Letterbox.of(5000, 3).inner_height == 1
    with pytest.raises(ValueError, match="pixels"):
        Letterbox.of(0, 3)


def test_the_picture_is_in_the_upper_left_and_the_rest_grey():
    image = np.zeros((50, 100, 3), dtype=np.uint8)
    image[..., 0] = 200  # red
    found = letterboxed(image, 64)
    assert found.shape == (3, 64, 64) and found.dtype == np.float32
    assert (found[:, :32] == np.array([0, 0, 200], dtype=np.float32)[:, None, None]).all()
    assert (found[:, 32:] == 114).all()


def test_it_is_the_published_preparation_to_a_grey_level():
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed (tests/requirements-peers.txt)")
    image = pictures.blobs(416, 628)
    canvas = np.full((640, 640, 3), 114, dtype=np.uint8)
    ratio = min(640 / 416, 640 / 628)
    scaled = cv2.resize(image[..., ::-1], (int(628 * ratio), int(416 * ratio)), interpolation=cv2.INTER_LINEAR)
    canvas[: int(416 * ratio), : int(628 * ratio)] = scaled
    assert np.abs(letterboxed(image) - canvas.transpose(2, 0, 1)).max() <= 1


def test_boxes_there_and_back():
    letterbox = Letterbox.of(1920, 1080)
    boxes = np.array([[30.0, 60.0, 300.0, 900.0]])
    np.testing.assert_allclose(letterbox.boxes(boxes), boxes / 3)
    np.testing.assert_allclose(letterbox.original(letterbox.boxes(boxes)), boxes)
    np.testing.assert_allclose(letterbox.original([[-1.0, 0.0, 641.0, 361.0]]), [[0, 0, 1920, 1080]])
