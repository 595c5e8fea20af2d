"""Filling by diffusion: what is known by hand, against plain relaxation, and properties."""

import sys

import numpy as np
import pytest

from evaluation.images import inpainting
from evaluation.images.inpainting import LARGEST, FillerError, apply, biharmonic, filler, gain, harmonic, inpaint

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
        around, count = inpainting._sum_of_neighbours(plain)
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
    monkeypatch.setattr(inpainting, "MAX_PIXELS", 400)
    halves = fill(image, mask)
    assert np.abs(halves.astype(int) - whole).mean() < 6 and np.array_equal(halves[~mask], image[~mask])


def test_what_cannot_be_filled_is_refused():
    with pytest.raises(ValueError, match="nothing to fill it from"):
        harmonic(ramp(), np.ones((20, 30), bool))
    with pytest.raises(ValueError, match="the mask is"):
        harmonic(ramp(), np.ones((20, 31), bool))


# Fillers by name: our own, programs and functions; what is wrong with them in a sentence.


IMAGE = np.random.default_rng(0).integers(0, 255, (12, 16, 3), dtype=np.uint8)
MASK = np.zeros((12, 16), bool)
MASK[3:7, 4:9] = True
PAINT = """
import sys, numpy
from PIL import Image
image, mask = (numpy.asarray(Image.open(path)).copy() for path in sys.argv[1:3])
image[mask > 127] = (1, 2, 3)
image[mask < 128] = 9
Image.fromarray(image).save(sys.argv[3])
"""


def blue(image, mask):
    """A filler for the tests, found by its dotted name."""
    return np.full_like(image, (0, 0, 255))


def command(tmp_path, text):
    script = tmp_path / "a program.py"
    script.write_text(text)
    return f"{sys.executable} '{script}' {{image}} {{mask}} {{out}}"


def test_our_own_by_name():
    assert filler("harmonic") is inpainting.harmonic and filler("biharmonic") is inpainting.biharmonic


@pytest.mark.parametrize("name", [f"{__name__}.blue", f"{__name__}:blue"])
def test_a_function_by_its_dotted_name(name):
    found = apply(filler(name), IMAGE, MASK)
    assert (found[MASK] == (0, 0, 255)).all() and np.array_equal(found[~MASK], IMAGE[~MASK])


def test_a_program_gets_files_and_only_the_masked_pixels_are_taken(tmp_path):
    found = apply(filler(command(tmp_path, PAINT)), IMAGE, MASK)
    assert (found[MASK] == (1, 2, 3)).all() and np.array_equal(found[~MASK], IMAGE[~MASK])


@pytest.mark.parametrize(
    ("text", "seconds", "said"),
    [
        ("import sys; sys.exit('out of paint')", 600, "ended with 1: out of paint"),
        ("pass", 600, "left no image"),
        ("import time; time.sleep(600)", 0.1, "timed out"),
    ],
)
def test_a_program_that_fails_is_named(tmp_path, text, seconds, said):
    with pytest.raises(FillerError, match=said):
        apply(filler(command(tmp_path, text), seconds=seconds), IMAGE, MASK)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nosuch", "There is no filler 'nosuch'"),
        ("no.such.function", "There is no filler"),
        ("numpy.pi", "is not a function"),
        ("fill {image} {out}", "says nowhere where {mask} goes"),
    ],
)
def test_what_is_no_filler_is_refused(name, said):
    with pytest.raises(FillerError, match=said):
        filler(name)


@pytest.mark.parametrize("wrong", [lambda image, mask: image[:-1], lambda image, mask: image / 255])
def test_what_a_filler_gives_must_be_the_image(wrong):
    with pytest.raises(FillerError, match="must give uint8"):
        apply(wrong, IMAGE, MASK)


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(FillerError, match="nosuchprogram did not do its work"):
        apply(filler("nosuchprogram {image} {mask} {out}"), IMAGE, MASK)


# The search: gains by hand, a defect that is found and replaced, an image that stays, and the narrowing.


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
    assert found.chain and [trial for trial in found.chain if not (trial.gain <= 0 and trial.round == 1)] == []


def test_a_flat_map_leaves_nothing_to_try():
    found = inpaint(CLEAN, lambda image: np.full((48, 64), 0.7), harmonic)
    assert not found.changed and found.chain == ()


def test_thresholds_stay_in_the_interval_and_masks_within_half_of_the_image():
    found = inpaint(spoilt(), likeness, harmonic, candidates=8)
    before = likeness(spoilt())
    low, high = np.percentile(before, (1, 60))
    first = [trial for trial in found.chain if trial.round == 1]
    assert [trial for trial in first if not (low <= trial.threshold <= high and trial.pixels <= LARGEST * BOX.size)] == []
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
