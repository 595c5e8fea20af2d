"""From aligned points to encodings and scores, in pieces that bound the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from safetensors.torch import load

from evaluation.metrics.mesh.locase.alignment import Shape
from evaluation.metrics.mesh.locase.network import EMBEDDING, LoCaSE
from evaluation.metrics.mesh.locase.patches import Surroundings, parts

_PIECE = {"cpu": 256, "cuda": 4096}  # vertices at a time: what a cache, or a card, takes well


def ready(weights: bytes) -> LoCaSE:
    """The network with the given weights (safetensors), on a graphics card if one works, else on the processor."""
    model = LoCaSE()
    model.load_state_dict(load(weights))
    model.requires_grad_(False)
    if torch.cuda.is_available():
        try:  # under an address space limit CUDA is there but does not start
            return model.cuda()
        except RuntimeError:
            return model.cpu()
    return model


def encoding(model: LoCaSE, points: Shape, radius: float, turn: np.ndarray | None = None) -> np.ndarray:
    """float32[512]: weighted mean and maximum of what the encoder says of every vertex; all coordinates turned by `turn` if given."""
    device = next(model.parameters()).device
    around, mean = Surroundings(points.points), np.zeros(EMBEDDING)
    most = np.full(EMBEDDING, -np.inf, dtype=np.float32)
    with _exact():
        for piece in parts(len(points.points), _PIECE[device.type]):
            patches = around.patches(piece, radius)
            if turn is not None:
                matrix = turn.astype(np.float32).T
                patches[..., :3], patches[..., 4:] = patches[..., :3] @ matrix, patches[..., 4:] @ matrix
            described = model.encoder(torch.from_numpy(patches).to(device)).cpu().numpy()
            mean += points.weights[piece] @ described.astype(np.float64)
            most = np.maximum(most, described.max(axis=0))
    return np.concatenate([mean.astype(np.float32), most])


def compared(model: LoCaSE, damaged: np.ndarray, reference: np.ndarray) -> float:
    """The score of two encodings float32[512]."""
    device = next(model.parameters()).device
    with _exact():
        pair = (torch.from_numpy(np.array(side)).to(device)[None] for side in (damaged, reference))
        return float(model.head(*pair)[0])


@contextmanager
def _exact() -> Iterator[None]:
    """No gradients, no shortened floats, and the same numbers every time."""
    before = torch.are_deterministic_algorithms_enabled(), torch.backends.cuda.matmul.allow_tf32
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        with torch.no_grad():
            yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        torch.backends.cuda.matmul.allow_tf32 = before[1]
