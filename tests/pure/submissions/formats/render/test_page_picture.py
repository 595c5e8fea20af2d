"""Pictures of organizers: what a page shows of them is pixels alone, and few."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import ExifTags, Image, PngImagePlugin

from submissions.formats.errors import FormatError
from submissions.formats.render import page_picture
from submissions.formats.render.page_picture import rewritten

SECRET = b"50.0755 N, 14.4378 E"


def encoded(pixels: np.ndarray, kind: str, **options: object) -> bytes:
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, kind, **options)
    return written.getvalue()


def noise(height: int, width: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, channels), np.uint8)


@pytest.mark.parametrize(("name", "kind"), [("roof.png", "PNG"), ("roof.JPG", "JPEG"), ("roof.webp", "WEBP")])
def test_pixels_stay_and_all_else_goes(name, kind):
    flat = np.full((30, 40, 3), (200, 40, 90), np.uint8)
    text, exif = PngImagePlugin.PngInfo(), Image.Exif()
    text.add_text("place", SECRET.decode())
    exif[ExifTags.Base.ImageDescription] = SECRET.decode()
    given = encoded(flat, kind, **({"pnginfo": text} if kind == "PNG" else {"exif": exif})) + b"<script>" + SECRET
    found = rewritten(given, name)
    assert SECRET in given and SECRET not in found and b"<script>" not in found
    image = Image.open(io.BytesIO(found))
    assert (image.format, image.size, image.mode) == (kind, (40, 30), "RGB") and not image.getexif()
    assert np.abs(np.asarray(image).astype(int) - flat).max() <= 3
    assert found == rewritten(given, name)


def test_large_pictures_are_made_small_and_transparent_ones_are_on_white():
    found = Image.open(io.BytesIO(rewritten(encoded(np.zeros((1500, 3000, 4), np.uint8), "PNG"), "a.png")))
    assert found.size == (1200, 600) and np.asarray(found).min() == 255


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "logo.svg", "is not an image format"),
        (b"<script>alert(1)</script>", "logo.png", "is not a PNG image"),
        (encoded(noise(4, 4), "GIF"), "logo.png", "is not a PNG image"),
        (encoded(noise(40, 40), "PNG")[:900], "logo.png", "cut off"),
        (encoded(noise(40, 40), "JPEG"), "logo.png", "is a JPEG image by its content"),
        (encoded(np.zeros((17_000, 1), np.uint8), "PNG"), "logo.png", "at most"),
        (encoded(noise(600, 600), "PNG"), "noise.png", "make it smaller, or save it as JPEG"),
    ],
)
def test_what_is_no_picture_or_too_large_is_refused_with_the_reason(data, name, why):
    with pytest.raises(FormatError, match=why):
        rewritten(data, name)
    assert page_picture.MAX_BYTES == 300_000, "a page with one picture stays light"
