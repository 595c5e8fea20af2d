"""Small pictures of one made-up scene, and the peer implementation with weights of our choosing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from submissions.formats.render.views import CleanViews, Render, View, render
from tests.support.evaluation import official
from tests.support.evaluation.networks import random_weights

SETS = {"squeeze": "squeezenet-imagenet", "alex": "alexnet-imagenet", "vgg": "vgg16-imagenet"}
FILES = {"squeeze": "squeezenet1_1", "alex": "alexnet", "vgg": "vgg16"}


def picture(seed: int, width: int = 96, height: int = 72) -> np.ndarray:
    """uint8[H, W, 3]: waves and boxes, the same kinds of them in every picture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    found = np.stack([128 + 60 * np.sin(x / (7 + n) + rng.uniform(0, 6)) * np.cos(y / (5 + n) + rng.uniform(0, 6)) for n in range(3)], -1)
    for _ in range(6):
        top, left = rng.integers(0, height - 8), rng.integers(0, width - 8)
        found[top : top + 12, left : left + 16] = rng.integers(0, 255, 3)
    return np.clip(found, 0, 255).astype(np.uint8)


def clean(seeds, **size) -> CleanViews:
    return CleanViews.of(render(picture(seed, **size)) for seed in seeds)


def view(views: CleanViews | None, width: int = 96, height: int = 72, mask: np.ndarray | None = None) -> View:
    from submissions.formats.render.views import encoded

    return View(None, width, height, None if mask is None else encoded(mask.astype(np.uint8) * 255), clean=views)


def sent(pixels: np.ndarray) -> Render:
    return render(pixels)


def put_weights(monkeypatch, folder: Path, net: str) -> str:
    """Random weights of a backbone in the published format, found as fetched ones are; returns the name of the set."""
    random_weights.shelf(monkeypatch, folder)
    random_weights.put(monkeypatch, FILES[net], random_weights.backbone(FILES[net]))
    return SETS[net]


def peer(monkeypatch, folder: Path):
    """The package puzzle_sim, which reads the same files by torchvision's own way of loading them: from the folder that
    torch keeps downloads in. It also imports transformers, for backbones that are not used here."""
    official.torchvision()
    if "transformers" not in sys.modules:
        stand_in = ModuleType("transformers")
        stand_in.AutoModel = None
        monkeypatch.setitem(sys.modules, "transformers", stand_in)
    import torch

    hub = folder / "hub"
    hub.mkdir(exist_ok=True)
    (hub / "checkpoints").symlink_to(folder)
    monkeypatch.setattr(torch.hub, "_hub_dir", str(hub))
    return official.with_torchvision("puzzle_sim")
