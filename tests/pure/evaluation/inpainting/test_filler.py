"""Fillers by name: our own, programs and functions; what is wrong with them in a sentence."""

import sys

import numpy as np
import pytest

from evaluation.inpainting import diffusion
from evaluation.inpainting.filler import FillerError, apply, filler

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
    assert filler("harmonic") is diffusion.harmonic and filler("biharmonic") is diffusion.biharmonic


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
        ("numpy.pi", "is no function"),
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
