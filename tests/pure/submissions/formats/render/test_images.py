import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from submissions.formats.errors import FormatError
from submissions.formats.render.images import is_whole, parse_colour, read_image, read_mask
from tests.support.submissions.hostile.renders import chunk, file_of, png

Y, X = np.mgrid[0:28, 0:40]
PIXELS = np.stack([X * 6, Y * 9, (X + Y) * 3], axis=-1).astype(np.uint8)
RNG = np.random.default_rng(0)
BLACK = (0, 0, 0)


def deep(values: np.ndarray, colour: int) -> bytes:
    """A 16-bit PNG of uint16 [H, W, C] by hand; every other line is filtered by its left neighbour."""
    height, width, channels = values.shape
    lines = b""
    for number, row in enumerate(values.astype(">u2")):
        raw = np.frombuffer(row.tobytes(), np.uint8)
        if number % 2:
            left = np.concatenate([np.zeros(2 * channels, np.uint8), raw[: -2 * channels]])
            lines += b"\1" + (raw - left).tobytes()
        else:
            lines += b"\0" + raw.tobytes()
    return png(width, height, depth=16, colour=colour, lines=lines)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_a_plain_image_keeps_every_pixel(form) -> None:
    options = {"lossless": True} if form == "WEBP" else {}
    assert np.array_equal(read_image(file_of(form, PIXELS, **options), f"a.{form.lower()}"), PIXELS)


def test_a_jpeg_is_read_as_pillow_reads_it() -> None:
    data = file_of("JPEG", PIXELS, quality=60)
    assert np.array_equal(read_image(data, "a.jpg"), np.asarray(Image.open(io.BytesIO(data))))
    assert np.array_equal(read_image(data, "a.JPEG"), read_image(data, "a.jpg"))


def test_grey_palette_and_one_bit_become_three_equal_channels() -> None:
    grey = PIXELS[..., 0]
    assert np.array_equal(read_image(file_of("PNG", grey, "L"), "a.png"), np.repeat(grey[..., None], 3, axis=2))
    palette = Image.fromarray(PIXELS).quantize(16)
    buffer = io.BytesIO()
    palette.save(buffer, "PNG")
    assert np.array_equal(read_image(buffer.getvalue(), "a.png"), np.asarray(palette.convert("RGB")))
    lines = np.array([[0, 255] * 4, [255, 0] * 4], np.uint8)
    assert np.array_equal(read_image(file_of("PNG", lines, "1"), "a.png")[..., 2], lines)


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_sixteen_bits_are_divided_by_65535_and_rounded(colour, channels) -> None:
    values = RNG.integers(0, 65536, (6, 7, channels)).astype(np.uint16)
    values[0, 0] = 0x80FF  # 128.5 of 255: its upper byte alone would be 128
    if channels in (2, 4):
        values[..., -1] = 65535
    found = read_image(deep(values, colour), "a.png")
    wanted = np.floor(values[..., : 1 if channels < 3 else 3] / 65535 * 255 + 0.5)
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape)) and found.dtype == np.uint8


def test_alpha_is_laid_on_the_background_also_of_sixteen_bits() -> None:
    alpha = np.where(X < 20, 255, 51).astype(np.uint8)
    data = file_of("PNG", np.dstack([PIXELS, alpha]), "RGBA")
    share = alpha[..., None] / 255
    assert np.array_equal(read_image(data, "a.png"), np.floor(PIXELS * share + 255 * (1 - share) + 0.5))
    on_blue = read_image(data, "a.png", (0, 0, 200))
    assert np.abs(on_blue - (PIXELS * share + np.array([0, 0, 200]) * (1 - share))).max() <= 0.5 + 1e-4
    whole = deep(np.array([[[65535, 0, 0, 32768], [0, 0, 0, 0]]], np.uint16), 6)
    assert read_image(whole, "a.png", BLACK).tolist() == [[[128, 0, 0], [0, 0, 0]]]
    assert read_image(whole, "a.png").tolist() == [[[255, 127, 127], [255, 255, 255]]]


def test_a_transparent_colour_or_palette_entry_is_transparency_too() -> None:
    three = np.array([[[10, 20, 30], [40, 50, 60]]], np.uint8)
    keyed = file_of("PNG", three, "RGB", transparency=(10, 20, 30))
    assert read_image(keyed, "a.png", (1, 2, 3)).tolist() == [[[1, 2, 3], [40, 50, 60]]]
    palette = Image.fromarray(three).quantize(2)
    buffer = io.BytesIO()
    place = palette.getpixel((0, 0))
    palette.save(buffer, "PNG", transparency=place)
    assert read_image(buffer.getvalue(), "a.png", BLACK)[0, 0].tolist() == [0, 0, 0]


def profile(kind: str) -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile(kind)).tobytes()


def test_a_profile_of_srgb_changes_nothing() -> None:
    assert np.array_equal(read_image(file_of("PNG", PIXELS, icc_profile=profile("sRGB")), "a.png"), PIXELS)


def gamma_profile(gamma: float) -> bytes:
    """A display profile with sRGB's primaries and a pure power as its tone curve, put together by hand."""

    def fixed(value: float) -> bytes:
        return struct.pack(">i", round(value * 65536))

    def xyz(x: float, y: float, z: float) -> bytes:
        return b"XYZ " + bytes(4) + fixed(x) + fixed(y) + fixed(z)

    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256)) + bytes(2)
    text = b"desc" + bytes(4) + struct.pack(">I", 6) + b"power\0" + bytes(78)
    tags = {
        b"desc": text,
        b"wtpt": xyz(0.9642, 1, 0.8249),
        b"rXYZ": xyz(0.4360, 0.2225, 0.0139),
        b"gXYZ": xyz(0.3851, 0.7169, 0.0971),
        b"bXYZ": xyz(0.1431, 0.0606, 0.7141),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, body, at = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    head = struct.pack(">I4sI4s4s4s", at + len(body), b"lcms", 0x02400000, b"mntr", b"RGB ", b"XYZ ") + bytes(12) + b"acsp" + bytes(28)
    head += fixed(0.9642) + fixed(1) + fixed(0.8249)
    return head + bytes(128 - len(head)) + table + body


def test_another_profile_is_converted_to_srgb() -> None:
    """Light that is the square root... of a value v of a display with gamma 1 is v itself, which sRGB writes by its own curve."""
    flat = np.full((4, 4, 3), 128, np.uint8)
    linear = 128 / 255
    srgb = 255 * (1.055 * linear ** (1 / 2.4) - 0.055)
    found = read_image(file_of("PNG", flat, icc_profile=gamma_profile(1.0)), "a.png")
    assert np.abs(found - srgb).max() <= 1.5
    alpha = np.dstack([flat, np.full((4, 4), 51, np.uint8)])
    half = read_image(file_of("PNG", alpha, "RGBA", icc_profile=gamma_profile(1.0)), "a.png", BLACK)
    assert np.abs(half - srgb * 0.2).max() <= 1, "converted first, then laid on the background"


def test_gamma_chunks_change_nothing() -> None:
    plain = png(40, 28, chunk(b"gAMA", struct.pack(">I", 100_000)), lines=b"".join(b"\0" + row.tobytes() for row in PIXELS))
    assert np.array_equal(read_image(plain, "a.png"), PIXELS)


@pytest.mark.parametrize(
    ("orientation", "turned"), [(1, PIXELS), (3, PIXELS[::-1, ::-1]), (6, np.rot90(PIXELS, -1)), (8, np.rot90(PIXELS))]
)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_an_image_is_turned_upright(orientation, turned, form) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = file_of(form, PIXELS, exif=exif, **({"lossless": True} if form == "WEBP" else {"quality": 95}))
    size = (turned.shape[1], turned.shape[0])
    found = read_image(data, f"a.{'jpg' if form == 'JPEG' else form.lower()}", wanted=size)
    assert found.shape == turned.shape and np.abs(found.astype(int) - turned).mean() < 4
    with pytest.raises(FormatError, match=r"40 × 41|this view is 40 × 41"):
        read_image(data, f"a.{'jpg' if form == 'JPEG' else form.lower()}", wanted=(40, 41))


def test_nonsense_where_the_orientation_stands_turns_nothing() -> None:
    data = file_of("JPEG", PIXELS, quality=95, exif=b"Exif\0\0" + b"MM\0\x2a\xff\xff\xff\xff")
    assert read_image(data, "a.jpg").shape == PIXELS.shape


def test_the_size_asked_for_is_named_before_anything_is_decoded() -> None:
    broken = png(80, 56, lines=b"")
    with pytest.raises(FormatError, match="is 80 × 56 pixels, this view is 40 × 28"):
        read_image(broken, "a.png", wanted=(40, 28))


def test_a_mask_is_its_grey_values_in_the_size_of_its_view() -> None:
    inside = np.where(X < 9, 255, 0).astype(np.uint8)
    for data in (file_of("PNG", inside, "L"), file_of("PNG", inside, "1"), file_of("PNG", np.repeat(inside[..., None], 3, 2), "RGB")):
        assert np.array_equal(read_mask(data, "m.png", (40, 28)), inside)
    assert read_mask(deep(np.full((28, 40, 1), 0x8001, np.uint16), 0), "m.png", (40, 28)).max() == 128
    with pytest.raises(FormatError, match="40 × 28 pixels, its view is 40 × 29"):
        read_mask(file_of("PNG", inside, "L"), "m.png", (40, 29))


def test_a_colour_is_six_hexadecimal_digits() -> None:
    assert parse_colour("#0a10fF") == (10, 16, 255)
    for text in ("white", "#fff", "0a10ff", "#0a10f", "#0a10fg"):
        with pytest.raises(ValueError, match="#rrggbb"):
            parse_colour(text)


@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (2, 3), (4, 0), (8, 2), (16, 6)])
def test_a_whole_png_is_told_from_one_that_lacks_a_line(depth, colour) -> None:
    bits = depth * {0: 1, 2: 3, 3: 1, 6: 4}[colour]
    line = bytes(1 + (13 * bits + 7) // 8)
    assert is_whole(png(13, 5, depth=depth, colour=colour, lines=line * 5))
    assert not is_whole(png(13, 5, depth=depth, colour=colour, lines=(line * 5)[:-1]))


def test_an_interlaced_png_is_whole_with_all_its_passes() -> None:
    """5 × 3 pixels of one byte: passes of 1 × 1, 1 × 1, 2 × 0, 1 × 1, 3 × 1, 2 × 2 and 5 × 1, each line with its filter."""
    lines = [1, 1, 1, 3, 2, 2, 5]
    raw = b"".join(b"\0" + bytes(n) for n in lines)
    data = bytearray(png(5, 3, colour=0, lines=raw))
    data[28] = 1
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    cut = bytes(data).replace(chunk(b"IDAT", zlib.compress(raw)), chunk(b"IDAT", zlib.compress(raw[:-1])))
    with Image.open(io.BytesIO(bytes(data))) as image:
        assert image.info.get("interlace") == 1 and np.asarray(image).shape == (3, 5)
    assert is_whole(bytes(data)) and not is_whole(cut)
