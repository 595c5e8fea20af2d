"""Images that mean harm, or are broken as real ones are."""

import functools
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
from PIL import Image

from submissions.manifest import Item, Manifest
from tests.support.submissions.hostile.cases import Cases, Content, zipped

WIDTH, HEIGHT = 40, 28
ANY = (16_384, 16_384)
MANIFEST = Manifest(
    challenge="hostile",
    phase="three",
    family="render",
    items=(
        Item("garden/a", "garden", (80, 56), (WIDTH, HEIGHT)),
        Item("garden/b", "garden", ANY),
        Item("12/0-7", "12", ANY),
    ),
    formats=("png", "jpg", "webp"),
    missing="worst",
    unit="m",
    unit_scale=1.0,
)
CASES = Cases()
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH]
PIXELS = np.stack([X * 6, Y * 9, (X + Y) * 3], axis=-1).astype(np.uint8)


def refused(sentence: str, case: str, **contents: Content) -> None:
    """A case of files garden/a.png and so on; names are given as a_png."""
    together(sentence, case, {f"garden/{name.replace('_', '.')}": data for name, data in contents.items()})


def together(sentence: str, case: str, files: dict[str, Content]) -> None:
    """A case of several files in one zip."""
    CASES[case] = (lambda folder: zipped(folder, files.items(), zipfile.ZIP_STORED), sentence)


def file_of(form: str, pixels: np.ndarray = PIXELS, mode: str = "RGB", **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(buffer, form, **options)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = WIDTH, height: int = HEIGHT, *extra: bytes, depth: int = 8, colour: int = 2, lines: bytes | None = None) -> bytes:
    """A PNG put together by hand; ``extra`` chunks stand before the pixels, ``lines`` is what the pixels unpack to."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    raw = lines if lines is not None else b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(extra) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def patched(data: bytes, change: Callable[[bytearray], None]) -> bytes:
    found = bytearray(data)
    change(found)
    return bytes(found)


def set_size(at: int, form: str) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into(form, data, at, *(0xFFFF,) * (len(form) - 1))


GOOD, JPEG, WEBP = file_of("PNG"), file_of("JPEG"), file_of("WEBP", lossless=True)

# --- not what the name says

refused("is not a PNG image, whatever its name says", "text as png", a_png=b"hello" * 100)
refused("is not a PNG image", "gif as png", a_png=file_of("GIF"))
refused("is not a JPEG image", "tiff as jpg", a_jpg=file_of("TIFF"))
refused("is not a PNG image", "svg as png", a_png=b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>")
refused("is a JPEG image by its content; name it .jpg", "jpeg as png", a_png=JPEG)
refused("is a PNG image by its content; name it .png", "png as webp", a_webp=GOOD)
refused("is not a PNG image", "empty image", a_png=b"")

# --- larger than they look

refused("garden/b.png: is 100000 × 100000 pixels; at most", "png of ten thousand million pixels", b_png=png(100_000, 100_000, lines=b"\0"))
refused("is 16384 × 16384 pixels.*40 million", "png of 268 million pixels", b_png=png(16_384, 16_384, lines=b"\0" * 1000))
refused("pixels; at most 16384 × 16384", "png wider than any", b_png=png(2**31 - 1, 1, lines=b"\0"))
refused(
    "pixels; at most", "jpeg of four thousand million pixels", b_jpg=patched(JPEG, lambda d: set_size(d.index(b"\xff\xc0") + 5, ">HH")(d))
)
refused(
    "is 16384 × 16384 pixels.*40 million",
    "webp whose canvas is larger than its picture",
    b_webp=b"RIFF" + struct.pack("<I", 22 + len(WEBP)) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\x3f\x00" * 2 + WEBP[12:],
)
refused("40 million", "lossless webp of 268 million pixels", b_webp=patched(WEBP, lambda d: struct.pack_into("<I", d, 21, 0x0FFFFFFF)))
refused("is 80 × 56 pixels, this view is 40 × 28; render it in that size", "another size", a_png=png(80, 56))
refused("is 28 × 40 pixels, this view is 40 × 28", "turned on its side", a_png=png(28, 40))
refused("is .* at most .* here", "a file far larger than its pixels", a_png=GOOD + bytes(3_000_000))

# --- bombs within


@functools.cache
def hundred_megabytes() -> bytes:
    """A chunk's text that unpacks to them."""
    return b"x\0\0" + zlib.compress(bytes(10**8))


refused(
    "cannot be decoded",
    "colour profile that unpacks to 100 MB",
    a_png=lambda: png(WIDTH, HEIGHT, chunk(b"iCCP", hundred_megabytes())),
)
refused("cannot be decoded", "comment that unpacks to 100 MB", a_png=lambda: png(WIDTH, HEIGHT, chunk(b"zTXt", hundred_megabytes())))
refused(
    "more than 100 scans",
    "progressive jpeg of a thousand scans",
    a_jpg=JPEG[:-2] + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" * 1000 + b"\xff\xd9",
)

# --- several pictures, other colours

FRAMES = [Image.fromarray(PIXELS), Image.fromarray(PIXELS[::-1].copy())]


def animated(form: str) -> bytes:
    buffer = io.BytesIO()
    FRAMES[0].save(buffer, form, save_all=True, append_images=FRAMES[1:])
    return buffer.getvalue()


refused("holds 2 pictures; send one still image", "animated webp", a_webp=animated("WEBP"))
refused("holds 2 pictures; send one still image", "animated png", a_png=animated("PNG"))
refused("is an image of mode CMYK; convert it to RGB", "jpeg in inks", a_jpg=file_of("JPEG", mode="CMYK"))

# --- cut off or put together wrongly

refused("holds fewer pixels than it says", "png cut off", a_png=GOOD[: len(GOOD) * 2 // 3])
refused("cannot be decoded", "jpeg cut off", a_jpg=JPEG[: len(JPEG) * 2 // 3])
refused("cannot be decoded", "webp cut off", a_webp=WEBP[: len(WEBP) * 2 // 3])
refused("is cut off within its header", "png of twenty bytes", a_png=GOOD[:20])
refused("is cut off within its header|is a broken JPEG", "jpeg of ten bytes", a_jpg=JPEG[:10])
refused("holds fewer pixels than it says", "png of fewer lines than it says", a_png=png(lines=(b"\0" + bytes(3 * WIDTH)) * (HEIGHT // 2)))
refused("holds fewer pixels than it says", "16-bit png of fewer lines than it says", a_png=png(depth=16, lines=bytes((1 + 6 * WIDTH) * 3)))
refused(
    "cannot be decoded \\(its header is damaged\\)",
    "png whose header fails its checksum",
    a_png=patched(GOOD, lambda d: d.__setitem__(29, d[29] ^ 1)),
)
refused(
    "cannot be decoded",
    "png whose pixels are no deflate",
    a_png=png().replace(
        chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(3 * WIDTH) for _ in range(HEIGHT)))), chunk(b"IDAT", b"\xde\xad\xbe\xef" * 9)
    ),
)
refused("cannot be decoded|mode", "png of a colour type that is none", a_png=png(colour=5))
refused("garden/a.png: has no palette", "png of a palette that is not there", a_png=png(colour=3, lines=(b"\0" + bytes(WIDTH)) * HEIGHT))
refused("has no pixels", "png without a width", a_png=png(0, 5))
refused(
    "is a PNG without a header", "png that begins with its pixels", a_png=b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", zlib.compress(bytes(99)))
)
refused("is a JPEG without a frame", "jpeg without a frame", a_jpg=b"\xff\xd8\xff\xd9\x00\x04\x00\x00")

# --- files in the wrong place

refused("garden/a.png: is a second file for garden/a, after garden/a.jpg", "two files for one view", a_jpg=JPEG, a_png=GOOD)
refused("is not a view of this phase; put each file into its scene's folder", "a view nobody asked for", z_png=GOOD)
together("kitchen/a.png: is not a view of this phase", "a view of another scene", {"kitchen/a.png": GOOD, "garden/a.png": GOOD})
together(r"12/0/normal_007.png: holds fewer pixels", "broken normals", {"12/0/rgb_007.png": GOOD, "12/0/normal_007.png": GOOD[:-30]})
together(
    r"garden/a.gif: is not in a format of this phase \(.png, .jpg, .jpeg, .webp\)",
    "a format nobody takes",
    {"garden/a.gif": file_of("GIF"), "garden/b.png": GOOD},
)
together(
    r"entry.zip: no file has a suffix of this phase \(.png, .jpg, .jpeg, .webp\); found 1 .gif file",
    "only a format nobody takes",
    {"garden/a.gif": file_of("GIF")},
)
