"""Whether a PNG holds all the pixels it claims: the library fills what is missing with black and says nothing."""

import struct
import zlib
from collections.abc import Iterator

_SIGNATURE = 8
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
# Where each pass of an interlaced image begins, and its steps: x, y, dx, dy.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_PIECE = 1 << 20


def is_whole(data: bytes) -> bool:
    """Whether the pixels of the PNG unpack to at least as many bytes as its header asks for. Unpacked piece by piece, and no
    further than that. Raises ``struct.error`` or ``zlib.error`` where it is no PNG at all."""
    width, height, depth, colour, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, _SIGNATURE + 8)
    missing = _size(width, height, depth * _CHANNELS.get(colour, 1), bool(interlaced))
    unpacker = zlib.decompressobj()
    for packed in _pixels(data):
        while packed and missing > 0:
            missing -= len(unpacker.decompress(packed, _PIECE))
            packed = unpacker.unconsumed_tail
        if missing <= 0 or unpacker.eof:
            break
    return missing <= 0


def _size(width: int, height: int, bits: int, interlaced: bool) -> int:
    """Bytes of the unpacked lines, each with its filter's number."""
    if not interlaced:
        return height * (1 + (width * bits + 7) // 8)
    total = 0
    for x, y, dx, dy in _PASSES:
        columns, rows = (max(0, -(-(side - start) // step)) for side, start, step in ((width, x, dx), (height, y, dy)))
        total += rows * (1 + (columns * bits + 7) // 8) if columns else 0
    return total


def _pixels(data: bytes) -> Iterator[bytes]:
    """What the chunks of pixels hold, in order."""
    at = _SIGNATURE
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT":
            yield data[at + 8 : at + 8 + length]
        at += 12 + length
