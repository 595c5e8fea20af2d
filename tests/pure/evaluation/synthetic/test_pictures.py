"""Damage to pictures: what it does by hand-worked numbers, and that more of it is more."""

import numpy as np
import pytest

from evaluation.synthetic import pictures

GREY = np.full((12, 16, 3), 100, np.uint8)
EDGE = np.where(np.arange(16) < 8, 0, 255).astype(np.uint8)[None, :, None].repeat(12, axis=0).repeat(3, axis=2)


def test_noise_is_scaled_and_stays_among_the_grey_levels():
    noise = np.ones(GREY.shape)
    assert (pictures.noisy(GREY, noise, 7) == 107).all() and (pictures.noisy(GREY, -noise, 300) == 0).all()


def test_a_blurred_edge_keeps_its_middle_and_nothing_is_lost_at_the_border():
    found = pictures.blurred(EDGE, 1.0)[0, :, 0].astype(int)
    assert found[0] == 0 and found[15] == 255 and found[7] + found[8] == 255
    # With weights exp(-n^2/2) / 2.50663 the last dark pixel sees 0.24197 + 0.05399 + 0.00443 + 0.00013 of the light.
    assert found[7] == round(255 * 0.30053)
    assert (pictures.blurred(GREY, 3.0) == GREY).all()


def test_a_worse_jpeg_is_further_off():
    rng = np.random.default_rng(0)
    image = pictures.blurred(rng.integers(0, 255, (48, 64, 3)).astype(np.uint8), 1.5)
    off = [np.abs(pictures.compressed(image, quality).astype(int) - image).mean() for quality in (90, 50, 10)]
    assert off == sorted(off) and off[0] < off[2] / 2 and (pictures.compressed(GREY, 50) == GREY).all()


def test_more_floaters_begin_with_the_same_ones():
    one, two = (pictures.with_floaters(GREY, np.random.default_rng(3), count) for count in (1, 2))
    assert (one != GREY).any() and (pictures.with_floaters(GREY, np.random.default_rng(3), 0) == GREY).all()
    assert (one == pictures.with_floaters(GREY, np.random.default_rng(3), 1)).all() and (one != two).any()


def test_a_tint_is_towards_orange():
    assert (pictures.tinted(GREY, 10) == [110, 102, 92]).all()


@pytest.mark.parametrize(("right", "down"), [(3, 0), (0, 2), (-4, -1)])
def test_what_is_moved_is_elsewhere_and_edges_go_on(right, down):
    image = np.arange(12 * 16 * 3, dtype=np.uint16).reshape(12, 16, 3).astype(np.uint8)
    found = pictures.moved(image, right, down)
    assert found.shape == image.shape and (found[6, 8] == image[6 - down, 8 - right]).all()
    corner = (0 if down > 0 else 11, 0 if right > 0 else 15)
    assert (found[corner] == image[corner]).all()
