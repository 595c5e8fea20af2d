"""PNG, JPEG and WebP files as 8-bit sRGB pixels. Sizes are checked in the file's header, before a library decodes anything."""

import io
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageCms, ImageFile, UnidentifiedImageError

from submissions.formats.errors import FormatError, Remarks, excerpt
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


# --- is a PNG whole? The library fills missing pixels with black and says nothing.

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


# --- pixels
#
# The steps, in this order:
# 1. Colours are converted to sRGB where the image has a colour profile with other curves or primaries (relative colorimetric, 8 bits).
# 2. Grey becomes three equal channels.
# 3. Transparent pixels are composited on the background, and 16-bit values (v / 65535), are rounded to 8 bits.
# 4. The orientation is applied.
# The gamma and chromaticity chunks of a PNG without a profile are ignored. A remark names each step that changed an image.

DEEP = "16-bit values were rounded to 8 bits"
TURNED = "The orientation that the image states was applied"
CONVERTED = "Colours were converted from the image's colour profile to sRGB"
DAMAGED = "The image's colour profile cannot be used, so its colours were taken as sRGB"
GAMMA = "The image's gamma is ignored; its colours were taken as sRGB"
ALPHA = "Transparent pixels were placed on the background, {}"
MAX_PIXELS = 40_000_000
MAX_PROFILE_BYTES = 4_000_000
WHITE = (255, 255, 255)
_SAME = 2  # of 255: profiles of sRGB round its curve and primaries in their own ways
_SRGB_GAMMA = 1 / 2.2  # as PNG files of sRGB state it
_XMP_ORIENTATION = re.compile(rb"""tiff:Orientation\s*(?:=\s*["']|>)\s*([1-8])""")
_PILLOW = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}
_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16")
_ROWS = 256  # composited together
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


def read_image(
    data: bytes,
    name: str,
    background: Colour = WHITE,
    most: Size = RENDER.most,
    wanted: Size = (0, 0),
    remarks: Remarks | None = None,
) -> NDArray[np.uint8]:
    """uint8 [H, W, 3], 8-bit sRGB, of a PNG, JPEG or WebP as the suffix of ``name`` says.

    ``most`` bounds width and height, ``wanted`` asks for exactly that size (0, 0: any). ``remarks`` take what reading changed. Raises
    ``FormatError``: not the format, larger than allowed, several frames, CMYK, cut off.
    """
    remarks = remarks or Remarks()
    with _opened(data, name, most) as image:

        def require(size: Size, how: str = "") -> None:
            if all(wanted) and size != wanted:
                given, asked = (f"{width} × {height}" for width, height in (size, wanted))
                raise FormatError(name, "", f"is {given} pixels{how}, this view is {asked}; render it in that size")

        try:
            if sorted(image.size) != sorted(wanted):  # however it is turned; nothing of it is decoded for that
                require(image.size)
            _require_whole(image, name, data)
            raw = str(image.tile[0].args) if image.format == "PNG" and image.tile else ""  # which decoding forgets
            turn = _orientation(image)
            swaps = (Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_270, Image.Transpose.TRANSVERSE, Image.Transpose.ROTATE_90)
            require(*(((image.height, image.width), " once turned by the orientation that it states") if turn in swaps else (image.size,)))
            channels, alpha = _channels(image, name, data, raw, remarks)
        except FormatError:
            raise
        except _BROKEN as error:
            raise _broken(name, error) from None
    if channels.dtype == np.uint16 and bool((channels % 257).any()):
        remarks.add(DEEP, [name])
    if alpha is not None and bool((alpha < np.iinfo(alpha.dtype).max).any()):
        remarks.add(ALPHA.format("#{:02x}{:02x}{:02x}".format(*background)), [name])
    pixels = _composited(channels, alpha, background)
    if turn is None:
        return pixels
    remarks.add(TURNED, [name])
    return np.asarray(Image.fromarray(pixels).transpose(turn))


def read_mask(data: bytes, name: str, size: Size) -> NDArray[np.uint8]:
    """uint8 [H, W] of a mask of exactly ``size``: its grey values, or the values of its first channel. Raises ``FormatError``."""
    with _opened(data, name, size) as image:
        try:
            _require_whole(image, name, data)
            turn = _orientation(image)
            if image.mode == "I;16":
                grey = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
            else:
                grey = image.convert("L") if image.mode in ("1", "L") else image.convert("RGB").getchannel(0)
            found = grey if turn is None else grey.transpose(turn)
            if found.size != size:
                raise FormatError(name, "", f"is {found.width} × {found.height} pixels, its view is {size[0]} × {size[1]}")
            return np.asarray(found)
        except FormatError:
            raise
        except _BROKEN as error:
            raise _broken(name, error) from None


def _opened(data: bytes, name: str, most: Size) -> ImageFile.ImageFile:
    """The image, its header read and checked against the bounds, its pixels not yet decoded."""
    kind = RENDER.suffixes.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise FormatError(name, "", f"is not an image format ({', '.join(RENDER.suffixes)})")
    header = read_header(data, name, kind)
    # An image may be rotated by its orientation, so the longer side is compared with the longer bound.
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


def _orientation(image: ImageFile.ImageFile) -> Image.Transpose | None:
    """Return what turns the stored pixels of an image, which it decodes, upright; None where nothing does, or what says so is broken. The
    orientation is in EXIF (before or behind the pixels, or in ImageMagick's text), or else in XMP."""
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    image.load()  # a PNG may say it behind its pixels
    try:
        found, info = Image.Exif(), image.info
        written = [info[key] for key in ("Raw profile type exif", "Raw profile type APP1") if isinstance(info.get(key), str)]
        # ImageMagick writes a name, a length and the bytes in hexadecimal, a line each.
        found.load(info.get("exif") or (bytes.fromhex("".join(written[0].split("\n")[3:])) if written else b""))
        orientation = found.get(ExifTags.Base.Orientation)
        if not orientation:
            xmp = info.get("xmp") or info.get("XML:com.adobe.xmp") or b""
            said = _XMP_ORIENTATION.search(xmp.encode() if isinstance(xmp, str) else xmp)
            orientation = int(said[1]) if said else 0
        return turns.get(orientation)
    except _BROKEN:
        return None


def _channels(given: ImageFile.ImageFile, name: str, data: bytes, raw: str, remarks: Remarks) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Colours [H, W, 3] and alpha [H, W] or None, each uint8 or uint16; stored orientation. ``raw`` is the form in which a PNG holds its
    pixels."""
    deep = _sixteen_bits(given, data, raw)
    image: Image.Image = given
    grey = image.mode in ("1", "L", "LA", "I;16")
    transform = _to_srgb(image.info, grey, name, remarks)
    if deep is not None:
        values, alpha = deep
        if transform is None:
            return values, alpha
        eight = ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
        image = Image.fromarray(eight[..., 0] if grey else eight)
    else:
        alpha = None
        if "A" in image.getbands() or "transparency" in image.info:
            whole = image.convert("RGBA")
            alpha = np.asarray(whole.getchannel("A"))
            image = whole.convert("RGB") if image.mode in ("P", "PA") else image
    if transform is None:
        return np.asarray(image.convert("RGB")), alpha
    remarks.add(CONVERTED, [name])
    done = ImageCms.applyTransform(image.convert("L" if grey else "RGB"), transform)
    assert done is not None  # it is only where the conversion is asked for in place
    return np.asarray(done), alpha


def _sixteen_bits(image: ImageFile.ImageFile, data: bytes, mode: str) -> tuple[NDArray[np.uint16], NDArray[np.uint16] | None] | None:
    """All 16 bits of a 16-bit PNG, of which the library gives the upper eight only; None for other images."""
    key = image.info.get("transparency")  # of a PNG without alpha the one colour that is transparent
    if image.mode == "I;16":
        grey = np.asarray(image)
        return np.repeat(grey[..., None], 3, axis=2), None if key is None else _opaque(grey != key)
    if mode not in ("RGB;16B", "RGBA;16B", "LA;16B"):
        return None
    if mode == "LA;16B":  # four bytes a pixel, filtered like those of RGBA
        found = _decoded_as(data, "RGBA").astype(np.uint16)
        values = found[..., 0::2] * 256 + found[..., 1::2]
        return np.repeat(values[..., :1], 3, axis=2), values[..., 1]
    upper, lower = _decoded_as(data, mode).astype(np.uint16), _decoded_as(data, mode[:-1] + "L")
    values = upper * 256 + lower
    if mode.startswith("RGBA"):
        return values[..., :3], values[..., 3]
    return values, None if key is None else _opaque((values != np.array(key)).any(axis=2))


def _opaque(mask: NDArray[np.bool_]) -> NDArray[np.uint16]:
    return np.where(mask, 65535, 0).astype(np.uint16)


def _decoded_as(data: bytes, raw: str) -> NDArray[np.uint8]:
    """A PNG's bytes unpacked in another way than its header asks for: 16L takes each value's second byte."""
    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        image.tile = [tile._replace(args=raw) for tile in image.tile]
        return np.asarray(image)


def _to_srgb(info: Mapping[Any, Any], grey: bool, name: str, remarks: Remarks) -> ImageCms.ImageCmsTransform | None:
    """The conversion to sRGB that an image with this ``info`` needs; None without one. Remarks say what is ignored of it."""
    profile, gamma = info.get("icc_profile"), info.get("gamma")
    known = _from_profile(profile, grey) if profile else None
    if "icc_profile" in info and known is None:
        remarks.add(DAMAGED, [name])
    elif gamma and not profile and info.get("srgb") is None and abs(gamma - _SRGB_GAMMA) > 0.01:
        remarks.add(GAMMA, [name])
    return known.transform if known else None


@dataclass(frozen=True)
class _Profile:
    """A colour profile that can be used: the ``transform`` of its colours to sRGB, None where they are sRGB's."""

    transform: ImageCms.ImageCmsTransform | None


@lru_cache(maxsize=4)
def _from_profile(profile: bytes, grey: bool) -> _Profile | None:
    """Use of a profile for images of grey or of colours; None if it is damaged, absurdly large, or of another kind of colours. Whether it
    is sRGB's is told by what it does to colours, so by its curves and primaries, never by its name."""
    if len(profile) > MAX_PROFILE_BYTES:
        return None
    # Every value of each channel alone and of grey, and a grid of colours.
    ramp, steps = np.arange(256), np.arange(0, 256, 17)
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    colours = np.concatenate([grid, *(ramp[:, None] * np.array(axis) for axis in ((1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)))])
    tried = ramp[None].astype(np.uint8) if grey else colours[None].astype(np.uint8)
    try:
        given, mode = ImageCms.ImageCmsProfile(io.BytesIO(profile)), "L" if grey else "RGB"
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        transform = ImageCms.buildTransform(given, ImageCms.createProfile("sRGB"), mode, "RGB", renderingIntent=intent)
        done = ImageCms.applyTransform(Image.fromarray(tried), transform)
    except (ImageCms.PyCMSError, *_BROKEN):
        return None
    wanted = np.repeat(tried[..., None], 3, axis=2) if grey else tried
    moved = np.abs(np.asarray(done).astype(np.int16) - wanted)
    return _Profile(transform if moved.max() > _SAME else None)


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
    if isinstance(error, UnidentifiedImageError):
        words = "its header is damaged"  # the library names an object of this process
    return FormatError(name, "", f"cannot be decoded ({excerpt(words)}); write the image again")
