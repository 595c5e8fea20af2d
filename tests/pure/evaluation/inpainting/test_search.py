"""The search: gains by hand, a defect that is found and replaced, an image that stays, and the narrowing."""

import numpy as np
import pytest

from evaluation.inpainting.diffusion import harmonic
from evaluation.inpainting.search import LARGEST, gain, inpaint

CLEAN = np.fromfunction(lambda y, x, c: 90 + x + y + 10 * c, (48, 64, 3)).astype(np.uint8)
BOX = np.zeros((48, 64), bool)
BOX[14:26, 20:36] = True


def likeness(image):
    """A stand-in for the map: how near each pixel is to the clean image, blurred over 3 × 3, with a slope of its own."""
    distance = np.abs(image.astype(float) - CLEAN).mean(-1) / 255
    padded = np.pad(distance, 1, mode="edge")
    blurred = sum(padded[down : down + 48, across : across + 64] for down in range(3) for across in range(3)) / 9
    return (0.9 - blurred + np.linspace(0, 0.05, 64)[None]).astype(np.float32)


def spoilt():
    found = CLEAN.copy()
    found[BOX] = (255, 0, 0)
    return found


def test_the_gain_by_hand():
    """Sixteen pixels that gain 0.5 each: λ = 16^(1/4) = 2, so 16 · 0.5 / (2 · 16) = 0.25; what is outside does not count."""
    before, after = np.zeros((8, 8)), np.full((8, 8), -1.0)
    mask = np.zeros((8, 8), bool)
    mask[:4, :4], after[:4, :4] = True, 0.5
    assert gain(before, after, mask) == pytest.approx(0.25)


def test_a_painted_defect_is_found_and_replaced():
    found = inpaint(spoilt(), likeness, harmonic)
    assert found.changed and found.gain > 0.02
    assert found.mask[BOX].mean() > 0.95 and found.mask[~BOX].mean() < 0.05
    assert np.abs(found.image.astype(int) - CLEAN).max() < 30 and np.array_equal(found.image[~found.mask], spoilt()[~found.mask])
    assert found.after.mean() > found.before.mean() and (found.before < found.threshold)[found.mask].all()
    best = max(found.chain, key=lambda trial: trial.gain)
    assert best.gain == found.gain and best.pixels == found.mask.sum()


def test_an_image_that_gains_nothing_is_returned_as_it_is():
    def worse(image, mask):
        return np.zeros_like(image)

    found = inpaint(CLEAN, likeness, worse)
    assert not found.changed and found.image is CLEAN and not found.mask.any() and found.threshold is None
    assert found.chain and all(trial.gain <= 0 and trial.round == 1 for trial in found.chain)


def test_a_flat_map_leaves_nothing_to_try():
    found = inpaint(CLEAN, lambda image: np.full((48, 64), 0.7), harmonic)
    assert not found.changed and found.chain == ()


def test_thresholds_stay_in_the_interval_and_masks_within_half_of_the_image():
    found = inpaint(spoilt(), likeness, harmonic, candidates=8)
    before = likeness(spoilt())
    low, high = np.percentile(before, (1, 60))
    first = [trial for trial in found.chain if trial.round == 1]
    assert all(low <= trial.threshold <= high and trial.pixels <= LARGEST * BOX.size for trial in first)
    skipped = [tau for tau in np.linspace(low, high, 8) if not 0 < (before < tau).sum() <= LARGEST * BOX.size]
    assert len(first) == 8 - len(skipped) and skipped


def test_each_round_looks_more_closely_around_the_best():
    found = inpaint(spoilt(), likeness, harmonic, rounds=3)
    spans = []
    for turn in (1, 2):
        best = max((trial for trial in found.chain if trial.round <= turn), key=lambda trial: trial.gain)
        following = [trial.threshold for trial in found.chain if trial.round == turn + 1]
        if following:
            spans.append(max(following) - min(following))
            assert min(following) - 1e-6 <= best.threshold <= max(following) + 1e-6
    assert spans and max(spans) < np.ptp(np.percentile(found.before, (1, 60)))


def test_a_mask_is_tried_once_and_progress_reaches_the_end_of_a_round():
    fills, told = [], []

    def counting(image, mask):
        fills.append(int(mask.sum()))
        return harmonic(image, mask)

    found = inpaint(spoilt(), likeness, counting, candidates=6, rounds=2, progress=lambda done, total: told.append((done, total)))
    assert len(fills) == len(set(fills)) and len(found.chain) > len(fills)
    assert told[0] == (1, 12) and told[-1] in ((6, 12), (12, 12))
