import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from submissions.formats.errors import FormatError, Remarks
from submissions.formats.render.images import (
    ALPHA,
    CONVERTED,
    DAMAGED,
    DEEP,
    GAMMA,
    MAX_PROFILE_BYTES,
    TURNED,
    is_whole,
    read_image,
    read_mask,
)
from tests.support.submissions.hostile.renders import chunk, file_of, png
from tests.support.submissions.profiles import D50_OF_P3, SRGB_CURVE, gamma_profile

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


def read(data: bytes, name: str = "a.png", **options) -> tuple[np.ndarray, list[str]]:
    remarks = Remarks()
    return read_image(data, name, remarks=remarks, **options), remarks.sentences()


@pytest.mark.parametrize(
    "icc",
    [
        profile("sRGB"),
        gamma_profile(SRGB_CURVE, b"sRGB IEC61966-2.1"),
        gamma_profile(SRGB_CURVE, b"anything at all"),
    ],
)
@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_a_profile_whose_curves_and_primaries_are_srgbs_leaves_every_byte_whatever_its_name(icc, form) -> None:
    data = file_of(form, PIXELS, icc_profile=icc, **({"lossless": True} if form == "WEBP" else {}))
    found, notes = read(data, f"a.{form.lower()}")
    assert np.array_equal(found, PIXELS) and notes == []


def test_a_profile_that_is_called_srgb_and_is_not_is_converted() -> None:
    """An image in linear light, with a name that says sRGB, comes back as its own original in sRGB."""
    bright = np.clip(PIXELS, 60, 255).astype(np.uint8)  # where 8 bits of linear light are as fine as sRGB's
    light = bright / 255
    linear = np.rint(255 * np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)).astype(np.uint8)
    found, notes = read(file_of("PNG", linear, icc_profile=gamma_profile(1.0, b"sRGB linear")))
    assert np.abs(found.astype(int) - bright).max() <= 5 and notes == [f"{CONVERTED} (a.png)."]
    assert np.abs(linear.astype(int) - bright).max() > 40
    gamut, notes = read(file_of("PNG", PIXELS, icc_profile=gamma_profile(SRGB_CURVE, b"sRGB", D50_OF_P3)))
    assert np.abs(gamut.astype(int) - PIXELS).max() > 5 and notes == [f"{CONVERTED} (a.png)."], "its primaries are P3's"


def test_a_profile_of_grey_is_compared_too() -> None:
    grey = PIXELS[..., 0]
    same, notes = read(file_of("PNG", grey, "L", icc_profile=gamma_profile(SRGB_CURVE, space=b"GRAY")))
    assert np.array_equal(same, np.repeat(grey[..., None], 3, axis=2)) and notes == []
    other, notes = read(file_of("PNG", np.full((4, 4), 128, np.uint8), "L", icc_profile=gamma_profile(1.0, b"sRGB", space=b"GRAY")))
    assert np.abs(other - 188.0).max() <= 1 and notes == [f"{CONVERTED} (a.png)."]


@pytest.mark.parametrize(
    "icc",
    [
        b"nonsense" * 30,
        b"x",
        gamma_profile(1.0)[:200],
        gamma_profile(1.0)[:128] + b"\xff" * 300,
        struct.pack(">I", 132) + bytes(12) + b"CMYK" + bytes(112),
        gamma_profile(1.0, space=b"GRAY"),  # of another kind of colours than the image's
    ],
    ids=range(6),
)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_profile_is_a_note_and_its_colours_are_taken_as_srgb(icc, form) -> None:
    name = f"a.{'jpg' if form == 'JPEG' else form.lower()}"
    plain = read(file_of(form, PIXELS, **({"lossless": True} if form == "WEBP" else {})), name)[0]
    found, notes = read(file_of(form, PIXELS, icc_profile=icc, **({"lossless": True} if form == "WEBP" else {})), name)
    assert np.array_equal(found, plain) and notes == [f"{DAMAGED} ({name})."]


def test_a_profile_of_an_absurd_size_is_a_note_too() -> None:
    assert read(file_of("WEBP", PIXELS, lossless=True, icc_profile=bytes(MAX_PROFILE_BYTES + 1)), "a.webp")[1] == [f"{DAMAGED} (a.webp)."]


def test_a_profile_that_cannot_be_unpacked_is_a_note_too() -> None:
    rows = b"".join(b"\0" + row.tobytes() for row in PIXELS)
    found, notes = read(png(40, 28, chunk(b"iCCP", b"x\0\0" + b"not zlib"), lines=rows))
    assert np.array_equal(found, PIXELS) and notes == [f"{DAMAGED} (a.png)."]


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
    found, notes = read(plain)
    assert np.array_equal(found, PIXELS) and notes == [f"{GAMMA} (a.png)."]
    usual = plain.replace(chunk(b"gAMA", struct.pack(">I", 100_000)), chunk(b"gAMA", struct.pack(">I", 45_455)))
    assert read(usual)[1] == []


def test_sixteen_bits_have_a_transparent_colour_of_sixteen_bits() -> None:
    """Its upper bytes alone are those of the second pixel too."""
    colours = np.array([[[0x1234, 0x5678, 0x9ABC], [0x1235, 0x5678, 0x9ABC], [65535, 0, 0]]], np.uint16)
    keyed = with_chunk(deep(colours, 2), chunk(b"tRNS", struct.pack(">3H", *colours[0, 0])))
    found, notes = read(keyed, background=(1, 2, 3))
    assert found.tolist() == [[[1, 2, 3], [18, 86, 154], [255, 0, 0]]]
    assert notes == [f"{DEEP} (a.png).", f"{ALPHA.format('#010203')} (a.png)."]
    grey = np.array([[[0x1234], [0x1235], [65535]]], np.uint16)
    found, notes = read(with_chunk(deep(grey, 0), chunk(b"tRNS", struct.pack(">H", 0x1234))))
    assert found[..., 0].tolist() == [[255, 18, 255]] and len(notes) == 2
    profiled = with_chunk(keyed, chunk(b"iCCP", b"x\0\0" + zlib.compress(gamma_profile(1.0))))
    assert read(profiled, background=(1, 2, 3))[0][0, 0].tolist() == [1, 2, 3], "with a profile that is converted too"


def test_what_reading_changes_is_said_and_nothing_else() -> None:
    assert read(file_of("PNG", PIXELS))[1] == []
    assert read(file_of("PNG", np.dstack([PIXELS, np.full((28, 40), 255, np.uint8)]), "RGBA"))[1] == [], "alpha that hides nothing"
    assert read(deep(np.full((2, 2, 3), 257 * 9, np.uint16), 2))[1] == [], "16 bits that are 8 bits written twice"
    assert read(deep(np.full((2, 2, 3), 257 * 9 + 1, np.uint16), 2))[1] == [f"{DEEP} (a.png)."]
    see_through = file_of("PNG", np.dstack([PIXELS, np.full((28, 40), 254, np.uint8)]), "RGBA")
    assert read(see_through)[1] == [f"{ALPHA.format('#ffffff')} (a.png)."]


def with_chunk(data: bytes, *chunks: bytes) -> bytes:
    """A PNG with chunks behind its header."""
    return data[:33] + b"".join(chunks) + data[33:]


def exif_of(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif.tobytes()


def magick(orientation: int, key: bytes, kind: bytes = b"zTXt") -> bytes:
    """EXIF as ImageMagick writes it into a PNG's texts."""
    data = exif_of(orientation)
    text = b"\nexif\n%8d\n" % len(data) + b"\n".join(data.hex().encode()[n : n + 72] for n in range(0, 2 * len(data), 72)) + b"\n"
    return chunk(kind, key + b"\0" + (b"\0" + zlib.compress(text) if kind == b"zTXt" else text))


def xmp(orientation: int, as_element: bool = False) -> bytes:
    said = f' tiff:Orientation="{orientation}"/>'
    if as_element:
        said = f"><tiff:Orientation>{orientation}</tiff:Orientation></rdf:Description>"
    return f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description{said}</rdf:RDF></x:xmpmeta>'.encode()


XMP_CHUNK = b"XML:com.adobe.xmp\0\0\0\0\0"
PLAIN_PNG = file_of("PNG", PIXELS)
STATED = {
    "eXIf before the pixels": lambda n: with_chunk(PLAIN_PNG, chunk(b"eXIf", exif_of(n)[6:])),
    "eXIf behind the pixels": lambda n: PLAIN_PNG[:-12] + chunk(b"eXIf", exif_of(n)[6:]) + PLAIN_PNG[-12:],
    "ImageMagick's packed text": lambda n: with_chunk(PLAIN_PNG, magick(n, b"Raw profile type exif")),
    "ImageMagick's plain text": lambda n: with_chunk(PLAIN_PNG, magick(n, b"Raw profile type exif", b"tEXt")),
    "ImageMagick's older text": lambda n: with_chunk(PLAIN_PNG, magick(n, b"Raw profile type APP1")),
    "its text behind the pixels": lambda n: PLAIN_PNG[:-12] + magick(n, b"Raw profile type exif") + PLAIN_PNG[-12:],
    "an attribute of XMP": lambda n: with_chunk(PLAIN_PNG, chunk(b"iTXt", XMP_CHUNK + xmp(n))),
    "an element of XMP": lambda n: with_chunk(PLAIN_PNG, chunk(b"iTXt", XMP_CHUNK + xmp(n, as_element=True))),
    "XMP behind the pixels": lambda n: PLAIN_PNG[:-12] + chunk(b"iTXt", XMP_CHUNK + xmp(n)) + PLAIN_PNG[-12:],
    "XMP of a JPEG": lambda n: file_of("JPEG", PIXELS, quality=95, xmp=xmp(n)),
    "XMP of a WebP": lambda n: file_of("WEBP", PIXELS, lossless=True, xmp=xmp(n)),
    "EXIF before XMP": lambda n: with_chunk(PLAIN_PNG, chunk(b"eXIf", exif_of(n)[6:]), chunk(b"iTXt", XMP_CHUNK + xmp(2))),
}


@pytest.mark.parametrize("place", STATED)
@pytest.mark.parametrize(("orientation", "turned"), [(3, PIXELS[::-1, ::-1]), (6, np.rot90(PIXELS, -1)), (8, np.rot90(PIXELS))])
def test_the_orientation_is_found_wherever_programs_state_it(place, orientation, turned) -> None:
    name = {"J": "a.jpg", "W": "a.webp"}.get(place.removeprefix("XMP of a ")[:1], "a.png")
    found, notes = read(STATED[place](orientation), name, wanted=(turned.shape[1], turned.shape[0]))
    assert found.shape == turned.shape and np.abs(found.astype(int) - turned).mean() < 4 and notes == [f"{TURNED} ({name})."]
    assert read(STATED[place](1) if "before XMP" not in place else PLAIN_PNG, name)[1] == []


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


def test_a_mask_is_turned_upright_as_its_view_is() -> None:
    inside = np.where(X < 9, 255, 0).astype(np.uint8)
    data = file_of("PNG", inside, "L", exif=exif_of(6))
    assert np.array_equal(read_mask(data, "m.png", (28, 40)), np.rot90(inside, -1))
    with pytest.raises(FormatError, match="28 × 40 pixels, its view is 40 × 28"):
        read_mask(data, "m.png", (40, 28))


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
