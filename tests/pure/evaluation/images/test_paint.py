"""Numbers as pictures: the scale, its ends, contours, sizes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from evaluation.images import paint

GREY = np.full((20, 30, 3), 100, np.uint8)


def test_the_scale_grows_in_brightness_all_the_way():
    colours = paint.coloured(np.linspace(0, 1, 101)).astype(float)
    brightness = colours @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(brightness) > 0).all() and tuple(colours[0]) == paint.STOPS[0] and tuple(colours[-1]) == paint.STOPS[-1]


def test_a_difference_of_half_the_scale_is_its_middle_and_none_is_black():
    other = GREY.copy()
    other[5, 7] = np.array([100 + 3 * 31.875, 100, 100])  # the mean over the channels is 0.125 of 255
    found = paint.difference(other, GREY)
    assert tuple(found[0, 0]) == paint.STOPS[0]
    assert np.abs(found[5, 7].astype(int) - paint.STOPS[3]).max() <= 2


def test_a_map_is_lined_where_it_is_lowest_and_nowhere_else():
    found = np.ones((20, 30))
    found[4:8, 10:14] = 0.5
    painted = paint.similarity(GREY, found, line_below=0.6)
    line = (painted == 255).all(axis=2)
    assert line[3, 10:14].all() and line[8, 10:14].all() and line[4:8, 9].all() and line[4:8, 14].all() and line.sum() == 16
    assert paint.similarity(GREY, found).tolist() == painted.tolist()  # the lowest 5 % are below 1


def test_what_is_black_and_alike_is_not_taken_for_what_is_unlike():
    found = np.array([[1.0, 0.6], [1.0, 0.6]])
    image = np.array([[[0, 0, 0], [0, 0, 0]], [[255, 255, 255], [255, 255, 255]]], np.uint8)
    painted = paint.similarity(image, found, line_below=0.0).astype(int)
    blue = painted[..., 2] - painted[..., 0]
    assert (blue[:, 0] < -50).all() and (blue[:, 1] > 40).all()


def test_outside_a_mask_it_is_grey_and_dim_and_inside_as_it_was():
    mask = np.zeros((20, 30), bool)
    mask[:, :15] = True
    image = GREY.copy()
    image[..., 0] = 200
    found = paint.within(image, mask)
    assert (found[:, :15] == image[:, :15]).all() and (found[:, 15] == 255).all() and (found[:, 16:] == 47).all()  # 400/3 × 0.35


@pytest.mark.parametrize(
    ("size", "longest", "there"), [((1920, 1080), 960, (960, 540)), ((600, 2400), 320, (80, 320)), ((96, 64), 320, (96, 64))]
)
def test_pictures_are_made_smaller_never_larger(size, longest, there):
    assert paint.sized(*size, longest) == there
    image = np.zeros((size[1], size[0], 3), np.uint8)
    with Image.open(io.BytesIO(paint.webp(image, longest))) as opened:
        assert (opened.format, opened.size) == ("WEBP", there)
    assert paint.webp(image, longest) == paint.webp(image, longest)
