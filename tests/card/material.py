"""Material that is computed on: pictures, meshes and wireframes made from seeds, and weights in the published layout."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from torch import nn

from evaluation.networks import weights
from evaluation.networks.clip import ClipImageTower
from evaluation.networks.dinov2 import Dinov2
from evaluation.networks.yolox import build
from evaluation.synthetic import distortions, houses, meshes
from submissions.formats.render.views import CleanViews, Render, Roi, View, render
from tests.support.evaluation.networks import random_weights

SCENE = "garden"
DETECTOR = "yolox-s"
OF_THIS_PROCESS = SimpleNamespace(setattr=setattr)  # what pytest's monkeypatch is elsewhere


def picture(seed: int, width: int, height: int) -> np.ndarray:
    """uint8[H, W, 3]: waves and boxes, the same kinds of them in every picture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    found = np.stack([128 + 60 * np.sin(x / (7 + n) + rng.uniform(0, 6)) * np.cos(y / (5 + n) + rng.uniform(0, 6)) for n in range(3)], -1)
    for _ in range(12):
        top, left = rng.integers(0, height - 8), rng.integers(0, width - 8)
        found[top : top + height // 6, left : left + width // 6] = rng.integers(0, 255, 3)
    return np.clip(found + rng.normal(scale=4, size=found.shape), 0, 255).astype(np.uint8)


def views(count: int, clean: int, size: tuple[int, int]) -> tuple[dict[str, Render], dict[str, View]]:
    """(renders, references) of `count` views of one scene, each with a marked region, and so many clean views."""
    width, height = size
    others = CleanViews.of(render(picture(1000 + n, *size)) for n in range(clean)) if clean else None
    regions = (Roi(0.1 * width, 0.2 * height, 0.6 * width, 0.9 * height, "box"), Roi(0.5 * width, 0.0, width, 0.5 * height, "wave"))
    references = {f"{SCENE}/{n}": View(render(picture(n, *size)), width, height, rois=regions, clean=others) for n in range(count)}
    rng = np.random.default_rng(7)
    renders = {}
    for name, view in references.items():
        noise = rng.normal(scale=10, size=(height, width, 3))
        renders[name] = render(np.clip(view.image.pixels() + noise, 0, 255).astype(np.uint8))
    return renders, references


def shapes(count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(damaged meshes, references)."""
    references = {f"shape_{n}": meshes.mesh("star", n) for n in range(count)}
    return {name: distortions.add_noise(mesh, 0.01, distortions.generator(f"card {name}")) for name, mesh in references.items()}, references


def frames(count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(other wireframes, references)."""
    references, others = houses.houses(count), houses.houses(count, seed=1)
    return dict(zip(references, others.values(), strict=True)), references


def accept_random_weights() -> None:
    """Let published files have any digest in this process."""
    weights.FILES = {name: dataclasses.replace(file, stated="") for name, file in weights.FILES.items()}


class Shelf:
    """A folder of weights: those that are in the server's own folder, and where one is absent random ones of a seed, in the published
    layout. A file is made when the first row asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.drawn = folder, set[str]()
        self._published = weights.cache_folder()
        weights.use_cache(folder)
        accept_random_weights()

    def need(self, *names: str) -> None:
        """Have the published files of these names."""
        for name in names:
            file = weights.published(name)
            if file.there:
                continue
            there = self._published / file.filename
            if there.is_file():
                file.path.symlink_to(there)
                random_weights.fetched(name)
            else:
                random_weights.put(OF_THIS_PROCESS, name, MAKERS[name]())
                self.drawn.add(name)

    def learned(self, quick: bool) -> str:
        """A head of `wf_learned` on features of DINOv2, of a smaller network where `quick`; the name of the set."""
        if quick:
            random_weights.stand_in(OF_THIS_PROCESS)
        random_weights.put_learned(self.folder)
        return "drawn"


def _lively(make: Callable[[], nn.Module], prefix: str = "") -> Callable[[], dict[str, Any]]:
    return lambda: {prefix + name: value for name, value in random_weights.lively(make()).items()}


MAKERS: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: lambda name=name: random_weights.backbone(name) for name in ("squeezenet1_1", "alexnet", "vgg16")},
    **{f"lpips-{name}": lambda name=name: random_weights.head(name) for name in random_weights.CHANNELS},
    **{name: _lively(lambda name=name: build(name)) for name in ("yolox-nano", "yolox-s", "yolox-x")},
    "inception-fid": random_weights.inception,
    "clip-vit-b-32": _lively(ClipImageTower, "visual."),
    "dinov2-vitb14": _lively(Dinov2),
}
