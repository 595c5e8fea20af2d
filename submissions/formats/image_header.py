"""How large an image says it is, read from its first bytes before any library decodes it."""

import struct
from dataclasses import dataclass

from submissions.formats.errors import FormatError

MAX_SCANS = 100  # of a progressive JPEG; programs write about ten, and each costs a pass over the whole image
_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))  # JPEG's SOF markers
_KINDS = {"png": "PNG", "jpg": "JPEG", "webp": "WebP"}


@dataclass(frozen=True)
class Header:
    """What a file claims: its format (png, jpg or webp), and width and height in pixels before any rotation."""

    kind: str
    width: int
    height: int


def read_header(data: bytes, name: str, kind: str) -> Header:
    """The header of an image whose name says it is a ``kind``. Raises ``FormatError`` where it is not, or is none."""
    found = _kind(data)
    if found != kind:
        if found is None:
            raise FormatError(name, "", f"is no {_KINDS[kind]} image, whatever its name says; write it again")
        raise FormatError(name, "", f"is a {_KINDS[found]} image by its content; name it .{found}")
    try:
        width, height = {"png": _png, "jpg": _jpeg, "webp": _webp}[kind](data, name)
    except (struct.error, IndexError):
        raise FormatError(name, "", f"is cut off within its header; write the {_KINDS[kind]} again") from None
    if not (width and height):
        raise FormatError(name, "", "has no pixels; write the image again")
    return Header(kind, width, height)


def _kind(data: bytes) -> str | None:
    if data.startswith(_PNG):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return None


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
