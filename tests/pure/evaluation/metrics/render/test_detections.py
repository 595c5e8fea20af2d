"""Placing of a picture in a detector's square.

From a detector's outputs to the objects of a picture, by hand and against a plain search.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.metrics.render import detections
from evaluation.metrics.render.detections import Letterbox, Looking, letterboxed
from evaluation.networks.coco import NAMES
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


LOOKING = Looking("w", conf=0.35, nms=0.65, class_agnostic=False)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    width = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    height = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


@pytest.mark.parametrize("agnostic", [False, True])
def test_suppression_is_a_plain_search(agnostic):
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 60, (300, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 40, (300, 2))], axis=1)
    classes = rng.integers(0, 3, 300)
    left: list[int] = []
    for n in range(300):
        if all(overlap(boxes[n], boxes[kept]) <= 0.5 for kept in left if agnostic or classes[kept] == classes[n]):
            left.append(n)
    assert detections.suppressed(boxes, None if agnostic else classes, 0.5).tolist() == left
    assert 10 < len(left) < 250


def test_outputs_are_chosen_by_score_then_thinned():
    outputs = np.array(
        [
            [20, 20, 20, 20, 0.9, 0.1, 0.8],  # class 1, 0.72
            [21, 20, 20, 20, 1.0, 0.2, 0.9],  # class 1, 0.9: rules out the first
            [20, 20, 20, 20, 0.8, 0.6, 0.1],  # class 0, 0.48: another class
            [80, 20, 10, 10, 0.5, 0.7, 0.0],  # class 0, 0.35: just enough
            [50, 50, 10, 10, 0.5, 0.6, 0.0],  # 0.3: too little
        ]
    )
    boxes, scores, classes = detections.chosen(outputs, LOOKING)
    assert scores == pytest.approx([0.9, 0.48, 0.35]) and classes.tolist() == [1, 0, 0]
    np.testing.assert_allclose(boxes[0], [11, 10, 31, 30])
    assert detections.chosen(outputs, replace(LOOKING, class_agnostic=True))[1] == pytest.approx([0.9, 0.35])
    assert [len(array) for array in detections.chosen(np.empty((0, 7)), LOOKING)] == [0, 0, 0]


def test_a_box_of_exactly_the_threshold_stays():
    boxes = np.array([[0.0, 0, 10, 10], [0.0, 5, 10, 15]])  # intersection over union 1/3
    assert detections.suppressed(boxes, None, 1 / 3).tolist() == [0, 1]
    assert detections.suppressed(boxes, None, 0.33).tolist() == [0]


def test_boxes_are_clipped_to_the_picture_and_dropped_outside_it():
    letterbox = Letterbox.of(1920, 1080)  # 640 × 360
    boxes = np.array([[-5.0, 10, 700, 400], [10, 360, 50, 500], [650, 10, 700, 40], [100, 100, 100, 200]])
    clipped, inside = detections.within(boxes, letterbox)
    assert clipped[0].tolist() == [0, 10, 639, 359] and inside.tolist() == [True, False, False, False]


def test_crops_are_whole_pixels_of_the_image():
    boxes = np.array([[3.2, 4.0, 9.1, 12.9], [95.5, 0.0, 100.0, 10.0]])
    assert detections.whole_pixels(boxes, 100, 12).tolist() == [[3, 4, 10, 12], [95, 0, 100, 10]]


def test_published_detectors_know_cocos_classes():
    assert len(NAMES) == len(set(NAMES)) == 80 and NAMES[0] == "person" and NAMES[56] == "chair" and NAMES[-1] == "toothbrush"
