"""The similarity map as a picture to lay over the render."""

from __future__ import annotations

import numpy as np

# From dark blue by grey to light yellow, after Cividis (Nuñez, Anderton, Renslow, 2018): people with a deficiency of colour
# vision see much the same, and lightness alone tells the order.
SCALE = np.array(
    [
        (0, 34, 78),
        (11, 51, 112),
        (52, 68, 109),
        (80, 86, 108),
        (103, 103, 112),
        (124, 123, 120),
        (147, 142, 120),
        (171, 162, 115),
        (197, 184, 104),
        (225, 207, 85),
        (254, 232, 56),
    ],
    dtype=np.float64,
)
LOW, HIGH = 0.6, 1.0  # similarities at the ends of the scale; below the lower one the metric counts a pixel as low


def picture(values: np.ndarray, low: float = LOW, high: float = HIGH, opacity: tuple[float, float] = (0.85, 0.25)) -> np.ndarray:
    """uint8[H, W, 4] (RGBA, not premultiplied) from a similarity map float[H, W].

    Dark blue is `low` or less, light yellow `high` or more. What is unlike the scene covers the render more: `opacity` is
    that of `low` and of `high`. ValueError where `low` is not below `high`, or a value is not finite.
    """
    if not low < high:
        raise ValueError(f"the scale must rise, got {low} to {high}")
    if not np.isfinite(values).all():
        raise ValueError("the map has values that are not finite")
    place = np.clip((values.astype(np.float64) - low) / (high - low), 0.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(SCALE))
    colours = [np.interp(place, stops, SCALE[:, channel]) for channel in range(3)]
    alpha = 255 * (opacity[0] + (opacity[1] - opacity[0]) * place)
    return np.rint(np.stack([*colours, alpha], axis=-1)).astype(np.uint8)


def legend(low: float = LOW, high: float = HIGH, steps: int = 7) -> list[tuple[float, str]]:
    """(similarity, "#rrggbb") at even steps of the scale, for a key beside the picture."""
    values = np.linspace(low, high, steps)
    colours = picture(values[None], low, high)[0]
    return [(float(value), "#" + bytes(colour[:3]).hex()) for value, colour in zip(values, colours, strict=True)]
