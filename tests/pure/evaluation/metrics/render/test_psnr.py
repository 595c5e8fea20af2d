import numpy as np
import pytest

from evaluation.metrics.render.psnr import ratio
from evaluation.metrics.result import Status
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import A, B, C, blurred, noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs

psnr = with_defaults("psnr")
psnr_mask = with_defaults("psnr@mask")

PICTURE = blobs(60, 80)


def test_worked_examples():
    zeros = np.zeros((16, 16, 3))
    assert ratio(zeros, zeros + 0.1)[0] == pytest.approx(20.0, abs=1e-9)
    assert ratio(A, B)[0] == pytest.approx(20.3179820, abs=1e-7)
    assert ratio(A, C)[0] == pytest.approx(8.0297483, abs=1e-7)
    assert ratio(A, A) == (100.0, True)


def test_alike_is_capped_and_says_so_and_black_against_white_is_nothing():
    result = psnr(pair(PICTURE, PICTURE))
    assert (result.value, result.flags) == (100.0, ("psnr_capped",))
    assert psnr(pair(np.zeros_like(PICTURE), np.full_like(PICTURE, 255))).value == 0.0


def test_more_than_100_db_is_capped_too():
    assert ratio(A, A + 1e-6) == (100.0, True)
    value, capped = ratio(A, A + 2e-5)
    assert value == pytest.approx(-20 * np.log10(2e-5)) and not capped


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_image(seed):
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image is not installed (tests/requirements-peers.txt)")
    one, other = blobs(50, 64, seed), noisy(blobs(50, 64, seed), 20, seed)
    assert psnr(pair(other, one)).value == pytest.approx(metrics.peak_signal_noise_ratio(one, other, data_range=255), abs=1e-7)


def test_agrees_with_torchmetrics():
    functional = official.with_torchvision("torchmetrics.functional.image")
    import torch

    one, other = PICTURE / 255, noisy(PICTURE, 30) / 255
    theirs = functional.peak_signal_noise_ratio(torch.tensor(other).float(), torch.tensor(one).float(), data_range=1.0)
    assert psnr(pair(noisy(PICTURE, 30), PICTURE)).value == pytest.approx(float(theirs), abs=1e-4)


def test_within_the_mask_only_its_pixels_count():
    mask = np.zeros(PICTURE.shape[:2], bool)
    mask[10:30, 5:50] = True
    spoilt = PICTURE.copy()
    spoilt[~mask] = 0
    assert psnr_mask(pair(spoilt, PICTURE, mask)).value == 100.0
    spoilt[mask] = PICTURE[mask] ^ 1  # off by one everywhere
    assert psnr_mask(pair(spoilt, PICTURE, mask)).value == pytest.approx(20 * np.log10(255))
    everywhere = np.ones(PICTURE.shape[:2], bool)
    assert psnr_mask(pair(spoilt, PICTURE, everywhere)).value == psnr(pair(spoilt, PICTURE)).value


def test_without_a_mask_or_with_an_empty_one_there_is_no_value_whatever_was_sent():
    for pred in (PICTURE, None):
        assert psnr_mask(pair(pred, PICTURE)).status == Status.NOT_APPLICABLE
        result = psnr_mask(pair(pred, PICTURE, np.zeros(PICTURE.shape[:2], bool)))
        assert (result.value, result.status) == (None, Status.EMPTY_MASK)


def test_missing_and_other_sizes_are_told_from_each_other():
    mask = np.ones(PICTURE.shape[:2], bool)
    for metric in (psnr, psnr_mask):
        assert metric(pair(None, PICTURE, mask)).status == Status.MISSING_PRED
        assert metric(pair(PICTURE[:-1], PICTURE, mask)).status == Status.SIZE_MISMATCH


@pytest.mark.parametrize("damage", [blurred, noisy])
def test_more_damage_is_worse_and_both_ways_are_alike(damage):
    amounts = [psnr(pair(damage(PICTURE, amount), PICTURE)).value for amount in (1, 2, 4, 8)]
    assert amounts == sorted(amounts, reverse=True) and len(set(amounts)) == 4
    assert psnr(pair(PICTURE, damage(PICTURE, 4))).value == amounts[2]
