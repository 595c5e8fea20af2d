"""The demo "Rooms": views of procedural rooms, and what simulated teams hand in as renders of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from evaluation.synthetic import pictures
from evaluation.synthetic.rooms import room, walk
from leaderboard.demo.story import PRACTICE, Damage, Demo, Entry, Items, Taste, simulated
from submissions.formats.render.views import CleanViews, Render, Roi, View, render
from submissions.kinds import RENDER

SLUG, PHASE = "rooms", "practice"
NAMES = ("parlour", "study", "attic", "nursery", "library", "workshop", "kitchen", "lounge")
SEEDS = dict(zip(NAMES, ("demo:5", "demo:2", "demo:1", "demo:3", "demo:4", "demo:6", "demo:7", "demo:8"), strict=True))
VIEWS, CLEAN = 3, 8  # of each room: to be rendered, and given to participants
WANTED = (2, 5, 8)  # which of a walk's views are to be rendered: each between two clean ones
SIZE = (320, 240)  # px


@cache
def references() -> dict[str, dict[str, View]]:
    """The views of the one phase."""
    found: dict[str, View] = {}
    for name, seed in SEEDS.items():
        drawn = walk(room(seed), VIEWS + CLEAN, *SIZE)
        clean = CleanViews.of(render(one.image) for n, one in enumerate(drawn) if n not in WANTED)
        for n, at in enumerate(WANTED):
            # Its largest object is marked, as an organizer would mark one.
            largest = max(drawn[at].boxes, key=lambda box: (box.x2 - box.x1) * (box.y2 - box.y1), default=None)
            rois = () if largest is None else (Roi(largest.x1, largest.y1, largest.x2, largest.y2, largest.kind),)
            found[f"{name}/{n:02d}"] = View(render(drawn[at].image), *SIZE, rois=rois, clean=clean)
    return {PHASE: found}


def clean_views(items: Items) -> Iterator[tuple[str, bytes]]:
    """The participants' material: the clean views of each room, by file name."""
    for name in NAMES:
        first = next(item for item_id, item in items.items() if item_id.startswith(f"{name}/"))
        yield from ((f"{name}/clean_{n:02d}.png", image.png) for n, image in enumerate(first.clean.images))


def _damaged(damage: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Callable[[str, View], Render]:
    def damaged(name: str, item: View) -> Render:
        assert item.image is not None
        return render(damage(item.image.pixels(), np.random.default_rng([*name.encode()])))

    return damaged


def _nearest(name: str, item: View) -> Render:
    """The clean view that is most like the view: what copying scores."""
    assert item.image is not None and item.clean is not None
    pixels = item.image.pixels().astype(np.float64)
    return min(item.clean.images, key=lambda image: float(np.mean((image.pixels() - pixels) ** 2)))


def _grain(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return pictures.noisy(pixels, rng.normal(size=pixels.shape), 14.0)


ENTRIES = (
    Entry("olga", "nearest clean view", "Simulated: for each view the clean view that is most like it.", _nearest, baseline=True),
    Entry("ada", "soft-splat", "Simulated: blurred (a Gaussian of 1.6 px).", _damaged(lambda p, _: pictures.blurred(p, 1.6))),
    Entry("ben", "tiny-field", "Simulated: compressed (a JPEG of quality 10).", _damaged(lambda p, _: pictures.compressed(p, 10))),
    Entry("cleo", "loose-splats", "Simulated: four floaters in every view.", _damaged(lambda p, rng: pictures.with_floaters(p, rng, 4))),
    Entry("ben", "warm-light", "Simulated: colours shifted to orange, by 14 grey levels.", _damaged(lambda p, _: pictures.tinted(p, 14))),
    Entry("ada", "grain", "Simulated: noise of 14 grey levels; one view is missing.", _damaged(_grain), (6,)),
)
DAMAGES = {
    "nearest clean view": Damage("other view", 0.7),
    "soft-splat": Damage("blur", 0.4),
    "tiny-field": Damage("compression", 0.5),
    "loose-splats": Damage("floaters", 0.4),
    "warm-light": Damage("tint", 0.3),
    "grain": Damage("noise", 0.5),
}
TASTES = (
    Taste("dislike blur", 5, {"blur": 1.2, "compression": 1.2, "tint": 0.7}),
    Taste("dislike floaters", 5, {"floaters": 1.25, "tint": 1.2, "noise": 0.85}),
)

YAML = f"""\
slug: {SLUG}
title: Rooms
summary: Renders of {len(NAMES)} procedural rooms. Rooms, teams and entries are simulated; the scores are computed here.
{simulated("render", "rooms", f"one image a view, {SIZE[0]} × {SIZE[1]} pixels", "view", "room", "indoor, novel-views")}
description: |
  Render each room from views that were not given, from its {CLEAN} clean views, which lie around them. The {len(NAMES)} rooms were
  made by a seeded procedure. A program made the entries by damaging their references. They were
  uploaded and scored like any other entry, without any downloaded network. The baseline copies clean
  views: PuzzleSim by pieces, which needs no aligned reference, counts such a view as 0, and flags it.
phases:
  - slug: {PHASE}
{PRACTICE}
    metrics:
      - {{key: psnr, primary: true}}
      - {{key: ssim}}
      - {{key: puzzlesim_pieces}}
      - {{key: lite0_distance}}
      - {{key: osim_rois}}
    reference: {{path: {PHASE}}}
    inputs:
      - {{path: {PHASE}-clean-views.zip, title: "Clean views of the {len(NAMES)} rooms (PNG)"}}
"""

DEMO = Demo(
    SLUG,
    PHASE,
    YAML,
    references,
    ("clean-views", clean_views),
    RENDER.files,
    lambda items: ((f"{name}.png", item.png) for name, item in items.items()),
    ENTRIES,
    ("ada", "ben", "cleo", "olga"),
    damages=DAMAGES,
)
