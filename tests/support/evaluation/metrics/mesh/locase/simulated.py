"""Small subjects and untrained weights, for tests alone."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import torch

from evaluation.metrics.mesh.locase.dataset import Subject, subject
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.training import exported
from evaluation.networks import weights
from evaluation.synthetic.distortions import add_noise, generator
from evaluation.synthetic.surfaces import box
from submissions.formats.arrays import Mesh


def brick(long: float) -> Mesh:
    """A box of some 200 vertices."""
    return Mesh(*box((0, 0, 0), (long, 1, 0.6), 0.2))


def noisy(mesh: Mesh, level: int) -> Mesh:
    return add_noise(mesh, 0.01 * level, generator(f"noisy {level}"))


@lru_cache
def subjects() -> tuple[Subject, ...]:
    """Four bricks, each with three levels of noise that cost a point each."""
    made = []
    for number in range(4):
        whole = brick(1.2 + 0.4 * number)
        made.append(subject(f"brick {number}", f"brick {number}", whole, [(f"noise {n}", noisy(whole, n), 5.0 - n) for n in (1, 2, 3)]))
    return tuple(made)


def untrained(seed: int = 0) -> bytes:
    """Weights of a network that has learnt nothing, whose scores differ all the same."""
    torch.manual_seed(seed)
    return exported(LoCaSE())


def shelf(folder: Path, monkeypatch, **stored: bytes) -> None:
    """Let the weights of `locase` be those given, by name, in a folder."""
    for name, data in stored.items():
        (folder / f"{name}.safetensors").write_bytes(data)
        (folder / f"{name}.json").write_text(json.dumps({"sha256": hashlib.sha256(data).hexdigest()}))
    monkeypatch.setitem(weights._FOLDERS, "locase", folder)
