"""Numbers as pictures: differences and maps in colours, contours, two sizes, WebP. Arrays in, bytes out. PURE.

Scales change steadily in brightness, so that they can be read without colour; a contour also marks where a map is lowest. The scales of
values are fixed, so that pictures of two entries can be held side by side.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from evaluation.metrics.render.osim import ALPHA, RED
from evaluation.metrics.render.puzzlesim.metric import picture

LARGE, SMALL = 960, 320  # px of the longer side; nothing is enlarged
QUALITY = {LARGE: 90, SMALL: 80}
# From black over violet and orange to pale yellow, at equal steps.
STOPS = ((0, 0, 4), (51, 10, 92), (120, 28, 109), (186, 54, 85), (237, 105, 37), (251, 180, 26), (252, 255, 164))
DIMMED = 0.35  # brightness that is left outside a mask
LINE = (255, 255, 255)


@dataclass(frozen=True)
class Scale:
    """Range of values of the colour scale: `cold` is painted black, `hot` pale yellow; values beyond take the colour of the nearer end."""

    cold: float
    hot: float

    def places(self, values: np.ndarray) -> np.ndarray:
        """Positions of values (any shape) on the scale, in [0, 1]."""
        return np.clip((values - self.cold) / (self.hot - self.cold), 0.0, 1.0)


SIMILARITY = (0.6, 1.0)  # the ends of a map's scale: what is counted as low, or lower, and what is the same as in a clean view
OPACITY = 0.65  # of a map over its image
ERROR = Scale(0.0, 0.25)  # mean absolute difference of the three channels, each in [0, 1]


def coloured(places: np.ndarray) -> np.ndarray:
    """uint8[..., 3]: the colours of places in [0, 1]."""
    at = np.linspace(0.0, 1.0, len(STOPS))
    channels = [np.interp(places, at, [stop[channel] for stop in STOPS]) for channel in range(3)]
    return np.floor(np.stack(channels, axis=-1) + 0.5).astype(np.uint8)


def difference(prediction: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """uint8[H, W, 3]: the mean absolute difference of two images uint8[H, W, 3], on the scale ERROR."""
    gaps = np.abs(prediction.astype(np.int16) - reference).mean(axis=2) / 255
    return coloured(ERROR.places(gaps))


def similarity(image: np.ndarray, found: np.ndarray, line_below: float | None = None) -> np.ndarray:
    """uint8[H, W, 3]: a map of similarities [H, W] over a grey copy of its image uint8[H, W, 3], with OPACITY. Black in the image
    then does not look like a low value in the map.

    A line surrounds the places where the map is below `line_below`, by default its 5th percentile.
    """
    grey = image.mean(axis=2, keepdims=True)
    colours = picture(found, *SIMILARITY)[..., :3]
    painted = np.floor((1 - OPACITY) * grey + OPACITY * colours + 0.5).astype(np.uint8)
    limit = float(np.percentile(found, 5)) if line_below is None else line_below
    return outlined(painted, found < limit)


def marked(image: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """uint8[H, W, 3]: an image with the places bool[H, W] under red, and a line around them."""
    tinted = np.floor((1 - ALPHA) * image + ALPHA * np.array(RED) + 0.5).astype(np.uint8)
    return outlined(np.where(odd[..., None], tinted, image), odd)


def within(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """uint8[H, W, 3]: an image whose part outside the mask bool[H, W] is grey and dim, with a line between."""
    grey = np.repeat(image.mean(axis=2, keepdims=True) * DIMMED, 3, axis=2)
    return outlined(np.where(mask[..., None], image, np.floor(grey + 0.5).astype(np.uint8)), mask)


def outlined(image: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """A copy of uint8[H, W, 3] with a line around the places bool[H, W], as wide as is seen when the image is shrunk."""
    width = max(1, round(max(inside.shape) / 480))
    grown = inside.copy()
    for _ in range(width):
        padded = np.pad(grown, 1)
        grown = padded[1:-1, 1:-1] | padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]
    found = image.copy()
    found[grown & ~inside] = LINE
    return found


def sized(width: int, height: int, longest: int) -> tuple[int, int]:
    """(width, height) of a picture whose longer side is at most `longest`."""
    scale = min(1.0, longest / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def webp(image: np.ndarray, longest: int) -> bytes:
    """uint8[H, W, 3] as WebP with a longer side of at most `longest` px; the same image gives the same bytes."""
    picture = Image.fromarray(np.ascontiguousarray(image))
    size = sized(picture.width, picture.height, longest)
    if size != picture.size:
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=QUALITY[longest], method=4)
    return buffer.getvalue()
