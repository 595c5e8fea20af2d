"""Filling by diffusion: what is known by hand, against plain relaxation, and properties."""

import numpy as np
import pytest

from evaluation.inpainting import diffusion
from evaluation.inpainting.diffusion import biharmonic, harmonic

KINDS = [harmonic, biharmonic]


def ramp(height=20, width=30):
    """uint8[H, W, 3] that rises by 4 a column and by 2 a row: linear, so that its Laplacian is zero everywhere."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([4 * x + 2 * y, 10 + 4 * x, 200 - 4 * x], axis=-1).astype(np.uint8)


def hole(height=20, width=30):
    mask = np.zeros((height, width), bool)
    mask[5:14, 8:21] = True
    return mask


@pytest.mark.parametrize("fill", KINDS)
def test_a_slope_is_filled_as_it_was(fill):
    spoilt = ramp()
    spoilt[hole()] = 255
    assert np.abs(fill(spoilt, hole()).astype(int) - ramp()).max() <= 1


@pytest.mark.parametrize("fill", KINDS)
def test_nothing_else_is_touched_and_what_is_in_the_hole_does_not_count(fill):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
    other = image.copy()
    other[hole()] = rng.integers(0, 255, (hole().sum(), 3))
    one, two = fill(image, hole()), fill(other, hole())
    assert np.array_equal(one, two) and np.array_equal(one[~hole()], image[~hole()])
    assert np.array_equal(fill(image, np.zeros((20, 30), bool)), image)


def test_one_pixel_is_the_mean_of_its_neighbours():
    image = np.zeros((3, 3, 3), np.uint8)
    image[0, 1], image[1, 0], image[1, 2], image[2, 1] = 10, 20, 40, 90
    mask = np.zeros((3, 3), bool)
    mask[1, 1] = True
    assert harmonic(image, mask)[1, 1].tolist() == [40, 40, 40]
    corner = np.zeros((3, 3), bool)
    corner[0, 0] = True
    assert harmonic(image, corner)[0, 0].tolist() == [15, 15, 15]


def test_harmonic_stays_within_what_surrounds_the_hole_and_agrees_with_relaxation():
    image = np.random.default_rng(1).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    found, plain = harmonic(image, hole()), image.astype(float)
    for _ in range(2000):
        around, count = diffusion._sum_of_neighbours(plain)
        plain[hole()] = (around / count[..., None])[hole()]
    assert np.abs(found - plain).max() <= 0.51
    assert image[~hole()].min() <= found[hole()].min() and found[hole()].max() <= image[~hole()].max()


def test_biharmonic_carries_on_a_bend():
    """A parabola across the hole: its slope at the edges tells biharmonic filling how far it goes, harmonic is straight."""
    x = np.arange(41) - 20
    image = np.repeat((40 + x[None, :, None] ** 2 / 4).repeat(15, 0), 3, -1).astype(np.uint8)
    mask = np.zeros(image.shape[:2], bool)
    mask[:, 12:29] = True
    error = {fill: np.abs(fill(image, mask).astype(int) - image)[mask].mean() for fill in KINDS}
    assert error[biharmonic] < 3 < 8 < error[harmonic]


@pytest.mark.parametrize("fill", KINDS)
def test_large_holes_are_solved_in_halves_with_much_the_same_result(fill, monkeypatch):
    y, x = np.mgrid[0:80, 0:101]
    image = np.stack([127 + 100 * np.sin(x / 25 + n) * np.cos(y / 30) for n in range(3)], -1).astype(np.uint8)
    mask = np.zeros((80, 101), bool)
    mask[10:60, 20:81] = True
    whole = fill(image, mask)
    monkeypatch.setattr(diffusion, "MOST", 400)
    halves = fill(image, mask)
    assert np.abs(halves.astype(int) - whole).mean() < 6 and np.array_equal(halves[~mask], image[~mask])


def test_what_cannot_be_filled_is_refused():
    with pytest.raises(ValueError, match="nothing to fill it from"):
        harmonic(ramp(), np.ones((20, 30), bool))
    with pytest.raises(ValueError, match="the mask is"):
        harmonic(ramp(), np.ones((20, 31), bool))
