"""Pictures of organizers for pages: decoded, made small and written again, so that only the pixels of the file are kept. PURE."""

from __future__ import annotations

import io

from PIL import Image

from submissions.formats.errors import FormatError
from submissions.formats.render.images import read_image
from submissions.kinds import RENDER

MAX_FILE_BYTES = 10_000_000  # of the file as it is sent
MAX_SIDE = 1_200  # pixels of a picture in a page; a larger one is made smaller
MAX_BYTES = 300_000  # of a picture in a page
_QUALITY = 85


def rewritten(data: bytes, name: str) -> bytes:
    """A PNG, JPEG or WebP in the same format, as its suffix in `name` says: 8-bit sRGB on white, upright, at most `MAX_SIDE` pixels a side.

    Metadata and whatever else the file holds are left out. The same bytes give the same bytes. Raises `FormatError`.
    """
    image = Image.fromarray(read_image(data, name))
    image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    written = io.BytesIO()
    kind = RENDER.suffixes[f".{name.rpartition('.')[2].lower()}"]
    if kind == "png":
        image.save(written, "PNG", optimize=True)
    else:
        image.save(written, {"jpg": "JPEG", "webp": "WEBP"}[kind], quality=_QUALITY)
    found = written.getvalue()
    if len(found) > MAX_BYTES:
        advice = "make it smaller, or save it as JPEG" if kind == "png" else "make it smaller"
        raise FormatError(
            name, "", f"has {len(found):,} bytes at {image.width} × {image.height} pixels and at most {MAX_BYTES:,} are shown; {advice}"
        )
    return found
