"""Tests on one view of a room with damage of renders, the analogue of the tests on a mesh.

A model is a picture with the inputs that metrics of renders need: a mask, the objects in it, and clean views of its scene. The picture
itself is one of the clean views, so a metric without an aligned reference can find it again. D is the diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.render.pair import RenderPair
from evaluation.properties import trials
from evaluation.properties.trials import Question, Trial
from evaluation.synthetic import objects, pictures, rooms
from submissions.formats.render.views import CleanViews, Render, Roi, SceneImages, View, encoded, render

WIDTH, HEIGHT = 192, 144  # px
MORE_CLEAN = 3  # views of the room beside the model's own
GROWING_NOISE = (2, 4, 8, 16, 32)  # grey levels
GROWING_BLUR = (0.5, 1, 2, 4, 8)  # px
FALLING_QUALITY = (60, 35, 20, 10, 5)  # of JPEG
GROWING_FLOATERS = (1, 2, 4, 8, 16)
GROWING_TINT = (3, 6, 12, 24, 48)  # grey levels
NOISE = 8.0  # grey levels, as the next
SHIFT = 0.1  # of D, to the right and down alike


@dataclass(frozen=True, eq=False)
class Model:
    """`image` uint8[H, W, 3], `more` clean views uint8[N, H, W, 3] of its scene, and `mask` bool[H, W]. `boxes` float64[M, 4] has
    x1, y1, x2, y2 of objects; `classes` int64[M] has their numbers among `objects.KINDS`."""

    image: NDArray[np.uint8]
    more: NDArray[np.uint8]
    mask: NDArray[np.bool_]
    boxes: NDArray[np.float64]
    classes: NDArray[np.int64]

    @cached_property
    def render(self) -> Render:
        return render(self.image)

    @cached_property
    def view(self) -> View:
        height, width = self.image.shape[:2]
        boxes = zip(self.boxes.tolist(), self.classes, strict=True)
        rois = tuple(Roi(x1, y1, x2, y2, objects.KINDS[number]) for (x1, y1, x2, y2), number in boxes)
        images = [self.render, *map(render, self.more)]
        scene = SceneImages(len(images), images.__getitem__)
        mask = encoded(np.where(self.mask, 255, 0).astype(np.uint8))
        return View(self.render, width, height, mask, rois, CleanViews.of(images), scene=scene)

    def with_image(self, image: NDArray[np.uint8]) -> Model:
        return replace(self, image=image)


class Pair:
    """A pair of two models, one of which is the render."""

    @staticmethod
    def of(prediction: Model, reference: Model, unit_scale: float = 1.0, prepared: MutableMapping[str, Any] | None = None) -> RenderPair:
        return RenderPair(prediction.render, reference.view, unit_scale, prepared)


def models(count: int) -> dict[str, Model]:
    """The first views of so many rooms, by id."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    mask = ((x + 0.5) / WIDTH - 0.5) ** 2 + ((y + 0.5) / HEIGHT - 0.5) ** 2 < 0.16
    found = {}
    for n in range(count):
        room = rooms.room(f"properties:{n}")
        first, *more = (rooms.view(room, number, WIDTH, HEIGHT) for number in range(1 + MORE_CLEAN))
        boxes = np.array([[box.x1, box.y1, box.x2, box.y2] for box in first.boxes], dtype=np.float64).reshape(-1, 4)
        classes = np.array([objects.KINDS.index(box.kind) for box in first.boxes], dtype=np.int64)
        found[f"room_{n:03d}"] = Model(first.image, np.stack([view.image for view in more]), mask, boxes, classes)
    return found


def prepared(items: Mapping[str, Model]) -> dict[str, Model]:
    """The models as they are."""
    return dict(items)


def size(model: Model) -> float:
    """1: values of images have no unit, and depend on no scale."""
    return 1.0


def noisy_copy(item_id: str, x: Model) -> Model:
    """A copy with the noise of the symmetry tests: without drift, unequal from pixel to pixel."""
    rng = trials.generator(item_id, "symmetry")
    noise = trials.drift_free_noise(rng, x.image[..., 0].size, 1.0).reshape(x.image.shape)
    return x.with_image(pictures.noisy(x.image, noise, NOISE))


def all_trials(item_id: str, items: Mapping[str, Model]) -> list[Trial]:
    """The trials of one of the `items`."""
    x = items[item_id]
    # Each step damages the original again with the same random numbers, so that the damage only grows.
    noise = trials.generator(item_id, "mono_image_noise").normal(size=x.image.shape)
    damaged = {
        "mono_image_noise": [pictures.noisy(x.image, noise, levels) for levels in GROWING_NOISE],
        "mono_blur": [pictures.blurred(x.image, sigma) for sigma in GROWING_BLUR],
        "mono_compression": [pictures.compressed(x.image, quality) for quality in FALLING_QUALITY],
        "mono_floaters": [pictures.with_floaters(x.image, trials.generator(item_id, "mono_floaters"), count) for count in GROWING_FLOATERS],
        "mono_colour": [pictures.tinted(x.image, levels) for levels in GROWING_TINT],
    }

    noisy = noisy_copy(item_id, x)
    by = round(SHIFT * float(np.hypot(*x.image.shape[:2])) / 2**0.5)

    # The least damaged model is the reference of each pair of a triangle.
    other = trials.others(item_id, items, trials.generator(item_id, "triangle_rand_other"))
    rng = trials.generator(item_id, "triangle_add_noise")
    once = x.with_image(pictures.noisy(x.image, rng.normal(size=x.image.shape), NOISE))
    twice = x.with_image(pictures.noisy(once.image, rng.normal(size=x.image.shape), NOISE))
    return [
        *(trials.sequence(test, x, [x.with_image(image) for image in images]) for test, images in damaged.items()),
        trials.identity(x),
        trials.symmetry("0mean", noisy, x),
        trials.symmetry("shift", x.with_image(pictures.moved(noisy.image, by, by)), x),
        trials.triangle("rand_other", x, *other) if other else trials.skipped(Question.TRIANGLE, "triangle_rand_other"),
        trials.triangle("add_noise", twice, once, x),
    ]
