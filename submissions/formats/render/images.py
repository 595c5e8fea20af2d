"""Size that an image states, read from its first bytes before any library decodes it."""

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageCms, ImageFile

from submissions.formats.errors import FormatError, excerpt
from submissions.kinds import RENDER

MAX_SCANS = 100  # of a progressive JPEG; programs write about ten, and each costs a pass over the whole image
_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))  # JPEG's SOF markers
_KINDS = {"png": "PNG", "jpg": "JPEG", "webp": "WebP"}


@dataclass(frozen=True)
class Header:
    """The claims of a file: its format (png, jpg or webp), and width and height in pixels before any rotation."""

    kind: str
    width: int
    height: int


def read_header(data: bytes, name: str, kind: str) -> Header:
    """The header of an image whose name says it is a ``kind``. Raises ``FormatError`` where it is not, or is none."""
    found = None
    if data.startswith(_PNG):
        found = "png"
    elif data.startswith(b"\xff\xd8\xff"):
        found = "jpg"
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = "webp"
    if found != kind:
        if found is None:
            raise FormatError(name, "", f"is not a {_KINDS[kind]} image, whatever its name says; write it again")
        raise FormatError(name, "", f"is a {_KINDS[found]} image by its content; name it .{found}")
    try:
        width, height = {"png": _png, "jpg": _jpeg, "webp": _webp}[kind](data, name)
    except (struct.error, IndexError):
        raise FormatError(name, "", f"is cut off within its header; write the {_KINDS[kind]} again") from None
    if not (width and height):
        raise FormatError(name, "", "has no pixels; write the image again")
    return Header(kind, width, height)


def _png(data: bytes, name: str) -> tuple[int, int]:
    length, kind, width, height = struct.unpack_from(">I4sII", data, len(_PNG))
    if length != 13 or kind != b"IHDR":
        raise FormatError(name, "", "is a PNG without a header; write it again")
    return width, height


def _jpeg(data: bytes, name: str) -> tuple[int, int]:
    """The size in the first frame header; markers before it are stepped over."""
    if data.count(b"\xff\xda") > MAX_SCANS:
        raise FormatError(name, "", f"is a JPEG of more than {MAX_SCANS} scans; save it as a plain one")
    at = 2
    while True:
        if data[at] != 0xFF:
            raise FormatError(name, "", "is a broken JPEG; write it again")
        while data[at] == 0xFF:  # markers may be preceded by fill bytes
            at += 1
        marker = data[at]
        (length,) = struct.unpack_from(">H", data, at + 1)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 4)
            return width, height
        if marker in (0xD9, 0xDA) or length < 2:
            raise FormatError(name, "", "is a JPEG without a frame; write it again")
        at += 1 + length


def _webp(data: bytes, name: str) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise FormatError(name, "", "is a WebP of an unknown kind; write it again")


# Whether a PNG holds all the pixels it claims: the library fills what is missing with black and says nothing.


_SIGNATURE = 8
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
# Where each pass of an interlaced image begins, and its steps: x, y, dx, dy.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_PIECE = 1 << 20


def is_whole(data: bytes) -> bool:
    """Return whether the pixels of the PNG unpack to at least as many bytes as its header asks for. Unpacked piece by piece, and no
    further than that. Raises ``struct.error`` or ``zlib.error`` where it is no PNG at all."""
    width, height, depth, colour, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, _SIGNATURE + 8)
    bits = depth * _CHANNELS.get(colour, 1)
    missing = 0
    for x, y, dx, dy in _PASSES if interlaced else ((0, 0, 1, 1),):
        columns, rows = (max(0, -(-(side - start) // step)) for side, start, step in ((width, x, dx), (height, y, dy)))
        # Each line begins with its filter's number.
        missing += rows * (1 + (columns * bits + 7) // 8) if columns or not interlaced else 0
    unpacker = zlib.decompressobj()
    for packed in _pixels(data):
        while packed and missing > 0:
            missing -= len(unpacker.decompress(packed, _PIECE))
            packed = unpacker.unconsumed_tail
        if missing <= 0 or unpacker.eof:
            break
    return missing <= 0


def _pixels(data: bytes) -> Iterator[bytes]:
    """Return what the chunks of pixels hold, in order."""
    at = _SIGNATURE
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT":
            yield data[at + 8 : at + 8 + length]
        at += 12 + length


# From the bytes of an image file to 8-bit sRGB pixels. Hostile until decoded: sizes are held against the bounds first.
#
# What is done, in this order: 16-bit values are kept as they are until the end (v / 65535); an embedded colour profile is
# converted to sRGB (by relative colorimetric intent, 8 bits a channel); grey becomes three equal channels; alpha is
# composited on the background; the EXIF orientation is applied; and the result is rounded to 8 bits. Nothing else changes
# the values: gamma and chromaticity chunks of PNG without a profile are passed over.


MAX_PIXELS = 40_000_000
MAX_PROFILE_BYTES = 4_000_000
WHITE = (255, 255, 255)
_PILLOW = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}
_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16")
_ROWS = 256  # composited at once
_BROKEN = (
    AssertionError,  # which the library makes about files too
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    EOFError,
    LookupError,
    ArithmeticError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)

Size = tuple[int, int]
Colour = tuple[int, int, int]


def parse_colour(text: str) -> Colour:
    """``#rrggbb`` as three numbers from 0 to 255; ValueError for anything else."""
    if len(text) != 7 or text[0] != "#" or not all(c in "0123456789abcdefABCDEF" for c in text[1:]):
        raise ValueError(f"a colour must be written as #rrggbb, got {text[:20]!r}")
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def read_image(data: bytes, name: str, background: Colour = WHITE, most: Size = RENDER.most, wanted: Size = (0, 0)) -> NDArray[np.uint8]:
    """uint8 [H, W, 3], 8-bit sRGB, of a PNG, JPEG or WebP as the suffix of ``name`` says.

    ``most`` bounds width and height, ``wanted`` asks for exactly that size (0, 0: any). Raises ``FormatError``: not the
    format, larger than allowed, several frames, CMYK, an unreadable profile, cut off.
    """
    with _opened(data, name, most) as image:
        try:
            swaps = (Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_270, Image.Transpose.TRANSVERSE, Image.Transpose.ROTATE_90)
            size = (image.height, image.width) if _orientation(image) in swaps else (image.width, image.height)
            if all(wanted) and size != wanted:
                given, asked = (f"{width} × {height}" for width, height in (size, wanted))
                raise FormatError(name, "", f"is {given} pixels, this view is {asked}; render it in that size")
            turn = _orientation(image)
            _require_whole(image, name, data)
            channels, alpha = _channels(image, name, data)
        except FormatError:
            raise
        except _BROKEN as error:
            raise _broken(name, error) from None
    pixels = _composited(channels, alpha, background)
    return pixels if turn is None else np.asarray(Image.fromarray(pixels).transpose(turn))


def read_mask(data: bytes, name: str, size: Size) -> NDArray[np.uint8]:
    """uint8 [H, W] of a mask of exactly ``size``: its grey values, or those of its first channel. Raises ``FormatError``."""
    with _opened(data, name, size) as image:
        if image.size != size:
            raise FormatError(name, "", f"is {image.width} × {image.height} pixels, its view is {size[0]} × {size[1]}")
        try:
            _require_whole(image, name, data)
            if image.mode == "I;16":
                return (np.asarray(image) >> 8).astype(np.uint8)
            return np.asarray(image.convert("RGB").getchannel(0)) if image.mode not in ("1", "L") else np.asarray(image.convert("L"))
        except FormatError:
            raise
        except _BROKEN as error:
            raise _broken(name, error) from None


def _opened(data: bytes, name: str, most: Size) -> ImageFile.ImageFile:
    """The image, its header read and held against the bounds, its pixels not yet decoded."""
    kind = RENDER.suffixes.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise FormatError(name, "", f"is not an image format ({', '.join(RENDER.suffixes)})")
    header = read_header(data, name, kind)
    # An image may be turned by its orientation, so the longer side is held against the longer bound.
    if (
        header.width * header.height > MAX_PIXELS
        or max(header.width, header.height) > max(most)
        or min(header.width, header.height) > min(most)
    ):
        given, bound = f"{header.width} × {header.height}", f"{most[0]} × {most[1]}"
        raise FormatError(name, "", f"is {given} pixels; at most {bound}, and {MAX_PIXELS // 10**6} million in all, are taken here")
    try:
        image = Image.open(io.BytesIO(data), formats=(_PILLOW[kind],))
        frames = getattr(image, "n_frames", 1)
    except _BROKEN as error:
        raise _broken(name, error) from None
    if frames != 1:
        raise FormatError(name, "", f"holds {frames} pictures; send one still image")
    if (image.width, image.height) != (header.width, header.height):
        raise FormatError(name, "", "has two different sizes in it; write it again")
    if image.mode not in _MODES:
        advice = "convert it to RGB" if image.mode == "CMYK" else "save it as 8-bit RGB"
        raise FormatError(name, "", f"is an image of mode {excerpt(image.mode)}; {advice}")
    if image.mode in ("P", "PA") and image.palette is None:
        raise FormatError(name, "", "has no palette, which its colours are numbers of; write the image again")
    return image


def _require_whole(image: Image.Image, name: str, data: bytes) -> None:
    if image.format == "PNG" and not is_whole(data):
        raise FormatError(name, "", "holds fewer pixels than it says; it was cut off, write the image again")


def _orientation(image: Image.Image) -> Image.Transpose | None:
    """Return what turns the stored pixels upright, by the EXIF orientation; None where nothing does, or the tag is broken."""
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    try:
        # Not getexif(), which decodes a PNG to look behind its pixels too.
        found = Image.Exif()
        found.load(image.info.get("exif") or b"")
        return turns.get(found.get(ExifTags.Base.Orientation) or 0)
    except _BROKEN:
        return None


def _channels(given: ImageFile.ImageFile, name: str, data: bytes) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Colours [H, W, 3] and alpha [H, W] or None, each uint8 or uint16; stored orientation."""
    deep = _sixteen_bits(given, data)
    image: Image.Image = given
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    profile = image.info.get("icc_profile")
    if deep is not None and not profile:
        return deep
    if image.mode == "I;16":
        grey = np.asarray(image)
        image = Image.fromarray(((grey.astype(np.uint32) + 128) // 257).astype(np.uint8))
        has_alpha = False
    alpha = None
    if has_alpha:
        whole = image.convert("RGBA")
        alpha = np.asarray(whole.getchannel("A"))
        image = whole.convert("RGB") if image.mode in ("P", "PA") else image
    return np.asarray(_as_srgb(image, profile, name)), alpha


def _sixteen_bits(image: ImageFile.ImageFile, data: bytes) -> tuple[NDArray[np.uint16], NDArray[np.uint16] | None] | None:
    """All 16 bits of a 16-bit PNG, of which the library gives the upper eight only; None for other images."""
    mode = str(image.tile[0].args) if image.format == "PNG" and image.tile else ""
    if image.mode == "I;16":
        grey = np.asarray(image)
        return np.repeat(grey[..., None], 3, axis=2), None
    if mode not in ("RGB;16B", "RGBA;16B", "LA;16B"):
        return None
    if mode == "LA;16B":  # four bytes a pixel, filtered like those of RGBA
        found = _decoded_as(data, "RGBA").astype(np.uint16)
        values = found[..., 0::2] * 256 + found[..., 1::2]
        return np.repeat(values[..., :1], 3, axis=2), values[..., 1]
    upper, lower = _decoded_as(data, mode).astype(np.uint16), _decoded_as(data, mode[:-1] + "L")
    values = upper * 256 + lower
    return values[..., :3], values[..., 3] if mode.startswith("RGBA") else None


def _decoded_as(data: bytes, raw: str) -> NDArray[np.uint8]:
    """A PNG's bytes unpacked in another way than its header asks for: 16L takes each value's second byte."""
    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        image.tile = [tile._replace(args=raw) for tile in image.tile]
        return np.asarray(image)


def _as_srgb(image: Image.Image, profile: Any, name: str) -> Image.Image:
    """The image in mode RGB, its embedded profile converted to sRGB unless it says that it is sRGB already."""
    if not profile:
        return image.convert("RGB")
    if len(profile) > MAX_PROFILE_BYTES:
        raise FormatError(name, "", "has a colour profile of an absurd size; save it as sRGB")
    grey = image.mode in ("1", "L", "LA")
    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        space = given.profile.xcolor_space.strip()
        if space == ("GRAY" if grey else "RGB") and "srgb" in (given.profile.profile_description or "").lower():
            return image.convert("RGB")
        source = image.convert("L" if space == "GRAY" else "RGB")
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        done = ImageCms.profileToProfile(source, given, ImageCms.createProfile("sRGB"), renderingIntent=intent, outputMode="RGB")
    except (ImageCms.PyCMSError, *_BROKEN):
        raise FormatError(name, "", "has a colour profile that cannot be used; save it as sRGB") from None
    assert done is not None  # it is only where the conversion is asked for in place
    return done


def _composited(channels: NDArray[Any], alpha: NDArray[Any] | None, background: Colour) -> NDArray[np.uint8]:
    """uint8 [H, W, 3]: the colours on the background, halves rounded up; a few rows at a time."""
    if channels.dtype == np.uint8 and alpha is None:
        return channels
    most = np.float32(np.iinfo(channels.dtype).max)
    found = np.empty(channels.shape, np.uint8)
    for start in range(0, len(channels), _ROWS):
        rows = slice(start, start + _ROWS)
        values: NDArray[np.floating] = channels[rows] * (np.float32(255) / most)
        if alpha is not None:
            share = alpha[rows, :, None] / np.float32(np.iinfo(alpha.dtype).max)
            values = values * share + np.asarray(background, np.float32) * (1 - share)
        found[rows] = np.floor(values + np.float32(0.5))
    return found


def _broken(name: str, error: BaseException) -> FormatError:
    """Pillow's words for what is broken are short; its longer ones are of use to its makers only."""
    words = str(error).splitlines()[0] if str(error) else type(error).__name__
    return FormatError(name, "", f"cannot be decoded ({excerpt(words)}); write the image again")
