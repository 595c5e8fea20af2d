"""Pictures made worse in the known ways of `design.PICTURE_DAMAGES`: 8-bit, drawn with a seed of the view's number alone. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from evaluation.metrics import seeds
from evaluation.properties.gate.design import PICTURE_DAMAGES, Damage
from evaluation.synthetic import pictures

Picture = NDArray[np.uint8]
Mask = NDArray[np.bool_]

CAST = 0.125  # of red up and of blue down; doubled by the stronger one
TILE = 64  # px
OPAQUE = 0.85  # of a floater's middle


def damaged(view: Picture, number: int, neighbour: Picture, others: Sequence[Picture]) -> Iterator[tuple[Damage, Picture, Mask | None]]:
    """Each of PICTURE_DAMAGES of uint8[H, W, 3], with where it is, bool[H, W], for those that have a mask.

    `number` is the view's among its scene's and seeds the draws; `neighbour` is another clean view of the scene, `others` two
    views of other scenes; both of any size from 1 px on.
    """
    height, width = view.shape[:2]
    rng = seeds.generator("gate", number)
    grain = rng.standard_normal(view.shape)
    # Smooth random fields whose hills are about an eighth of the picture's shorter side wide.
    hills = max(2.0, min(height, width) / 16)
    names = ("floaters", "holes", "smear", "blobs")
    fields = {name: ndimage.gaussian_filter(rng.standard_normal((height, width)), hills, mode="reflect") for name in names}
    haze, uniform = rng.integers(40, 216, 3), rng.integers(0, 256, view.shape).astype(np.uint8)
    angle = rng.uniform(0, np.pi)
    floating, missing, smeared = (
        {1: blobs(fields[name], one), 2: blobs(fields[name], two)}
        for name, one, two in (("floaters", 0.05, 0.20), ("holes", 0.04, 0.15), ("smear", 0.12, 0.40))
    )
    spots = blobs(fields["blobs"], 0.15)
    grey, mean = np.full(3, 128.0), view.reshape(-1, 3).mean(axis=0)
    half = view.copy()
    half[:, width // 2 :] = 0
    third = view.copy()
    third[:, width - round(0.3 * width) :] = 0
    made: dict[str, tuple[Picture, Mask | None]] = {
        **{f"blur{sigma}": (pictures.blurred(view, sigma), None) for sigma in (1, 2, 4, 16)},
        **{f"jpeg{quality}": (pictures.compressed(view, quality), None) for quality in (30, 10)},
        **{f"noise{levels}": (pictures.noisy(view, grain, levels), None) for levels in (8, 25)},
        **{f"floaters{step}": (_veiled(view, where, haze), where) for step, where in floating.items()},
        **{f"holes{step}": (np.where(where[..., None], 0, view).astype(np.uint8), where) for step, where in missing.items()},
        **{f"smear{step}": (_within(view, _smeared(view, 6.0 * step, angle), where), where) for step, where in smeared.items()},
        **{f"colour{step}": (_cast(view, CAST * step), None) for step in (1, 2)},
        "gamma1": (_gamma(view, 1.35), None),
        "gamma2": (_gamma(view, 2.0), None),
        "gamma_half": (_gamma(view, 0.5), None),
        **{
            f"crop{share}": (
                _fitted(view[: max(1, round(height * share / 100)), : max(1, round(width * share / 100))], height, width),
                None,
            )
            for share in (70, 40)
        },
        "halfblack": (half, None),
        "black30": (third, None),
        "blur_blobs": (_within(view, pictures.blurred(view, 2.5), spots), spots),
        "noise_blobs": (_within(view, pictures.noisy(view, grain, 20), spots), spots),
        "colour_blobs": (_within(view, _cast(view, 1.6 * CAST), spots), spots),
        "grey": (_flat(view, grey), None),
        "meancolour": (_flat(view, mean), None),
        "black": (_flat(view, np.zeros(3)), None),
        "white": (_flat(view, np.full(3, 255.0)), None),
        "uniform": (uniform, None),
        "tile": (_tiled(neighbour, height, width), None),
        **{f"other{place}": (_fitted(others[(place - 1) % len(others)], height, width), None) for place in (1, 2)},
    }
    for damage in PICTURE_DAMAGES:
        yield damage, *made[damage.name]


def blobs(field: NDArray[np.float64], share: float) -> Mask:
    """bool[H, W]: the places of a smooth field[H, W] that are among its highest `share`."""
    return field > np.quantile(field, 1 - share)


def _within(view: Picture, spoilt: Picture, where: Mask) -> Picture:
    return np.where(where[..., None], spoilt, view)


def _veiled(view: Picture, where: Mask, colour: NDArray[np.int64]) -> Picture:
    """A flat colour over the mask, with soft edges."""
    opacity = OPAQUE * ndimage.gaussian_filter(where.astype(np.float64), 2.0)[..., None]
    return _rounded((1 - opacity) * view + opacity * colour)


def _smeared(view: Picture, along: float, angle: float) -> Picture:
    """Blurred along one direction: a Gaussian of `along` px that way and 1.2 px across."""
    from scipy.signal import oaconvolve  # a third of a second, which no page and no other damage needs

    reach = int(np.ceil(3 * along))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    forward, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    kernel = np.exp(-(forward**2 / (2 * along**2) + across**2 / (2 * 1.2**2)))
    kernel /= kernel.sum()
    padded = np.pad(view.astype(np.float64), ((reach, reach), (reach, reach), (0, 0)), mode="symmetric")
    return _rounded(np.stack([oaconvolve(padded[..., channel], kernel, mode="valid") for channel in range(3)], axis=-1))


def _cast(view: Picture, share: float) -> Picture:
    """Red up, blue down by that share, and green towards red by 0.32 of it."""
    red, green, blue = (view[..., channel].astype(np.float64) for channel in range(3))
    return _rounded(np.stack([red * (1 + share), green + 0.32 * share * (red - green), blue * (1 - share)], axis=-1))


def _gamma(view: Picture, exponent: float) -> Picture:
    return _rounded(255 * (view / 255.0) ** exponent)


def _fitted(picture: Picture, height: int, width: int) -> Picture:
    return np.asarray(Image.fromarray(np.ascontiguousarray(picture)).resize((width, height), Image.Resampling.BICUBIC))


def _tiled(neighbour: Picture, height: int, width: int) -> Picture:
    """A piece from the middle of another view, mirrored at its edges and laid out again and again."""
    top, left = (max(0, (size - TILE) // 2) for size in neighbour.shape[:2])
    piece = neighbour[top : top + TILE, left : left + TILE]
    mirrored = np.concatenate([piece, piece[:, ::-1]], axis=1)
    mirrored = np.concatenate([mirrored, mirrored[::-1]])
    rows, columns = -(-height // mirrored.shape[0]), -(-width // mirrored.shape[1])
    return np.tile(mirrored, (rows, columns, 1))[:height, :width]


def _flat(view: Picture, colour: NDArray[np.float64]) -> Picture:
    return np.broadcast_to(_rounded(colour), view.shape).copy()


def _rounded(values: NDArray[np.float64]) -> Picture:
    return np.floor(np.clip(values, 0, 255) + 0.5).astype(np.uint8)
