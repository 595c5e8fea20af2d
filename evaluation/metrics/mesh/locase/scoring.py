"""Aligned points to encodings and scores, in pieces that bound the memory."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import load

from evaluation.metrics.mesh.locase.alignment import Shape
from evaluation.metrics.mesh.locase.network import EMBEDDING, LoCaSE
from evaluation.metrics.mesh.locase.sampling import Sampling, Surroundings, parts, sampled, turned
from evaluation.networks.inference import beside_card, exact, out_of_memory, with_room

_PIECE = {"cpu": 256, "cuda": 4096}  # vertices at a time: what a cache, or a card, takes well
_MIN_VERTICES = 64  # vertices that must fit


def fits(weights: bytes) -> bool:
    """True if these weights (safetensors) are of this network, by the names and shapes of their tensors."""
    given, wanted = load(weights), LoCaSE().state_dict()
    return {name: value.shape for name, value in given.items()} == {name: value.shape for name, value in wanted.items()}


def ready(weights: bytes) -> LoCaSE:
    """The network with the given weights (safetensors), on a graphics card if one works, else on the processor."""
    model = LoCaSE()
    model.load_state_dict(load(weights))
    model.requires_grad_(False)
    return with_room(model.to)


def encoding(model: LoCaSE, points: Shape, how: Sampling, turn: np.ndarray | None = None) -> np.ndarray:
    """The encoding of the points of a mesh that are looked at; see `encoded`."""
    return encoded(model, sampled(points, how), how, turn)


def encoded(model: LoCaSE, seen: Shape, how: Sampling, turn: np.ndarray | None = None) -> np.ndarray:
    """float32[512]: weighted mean and maximum of the encodings of every point, over all frames.

    All coordinates are turned by `turn` first if it is given.
    """
    around, mean = Surroundings(seen.points), np.zeros(EMBEDDING)
    most = np.full(EMBEDDING, -np.inf, dtype=np.float32)
    frames = how.frames if turn is None else how.frames @ turn
    with exact(next(model.parameters()).device):
        for piece in parts(len(seen.points), _PIECE[next(model.parameters()).device.type]):
            patches = around.patches(piece, how.radius)
            for frame in frames:
                described = _described(model, turned(patches, frame))
                mean += seen.weights[piece] @ described.astype(np.float64)
                most = np.maximum(most, described.max(axis=0))
    return np.concatenate([(mean / len(frames)).astype(np.float32), most])


def compared(model: LoCaSE, damaged: np.ndarray, reference: np.ndarray) -> float:
    """The score of two encodings float32[512]."""
    device = next(model.parameters()).device
    with exact(device):
        pair = (torch.from_numpy(np.array(side)).to(device)[None] for side in (damaged, reference))
        return float(model.head(*pair)[0])


def _described(model: LoCaSE, patches: np.ndarray) -> np.ndarray:
    """float32[N, 256] of patches float32[N, 64, 7]; in halves where they do not fit into the memory that is left.

    Where not even _MIN_VERTICES fit on the card, the model leaves it for the processor. MemoryError where they do not fit there.
    """
    device = next(model.parameters()).device
    try:
        return model.encoder(torch.from_numpy(patches).to(device)).float().cpu().numpy()
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        if len(patches) <= _MIN_VERTICES and device.type == "cpu":
            raise MemoryError(str(error)) from error
    # Outside the handler, which holds on to what did not fit.
    if device.type == "cuda":
        torch.cuda.empty_cache()
    if len(patches) <= _MIN_VERTICES:
        return _described(model.to(beside_card(device)), patches)
    half = len(patches) // 2
    return np.concatenate([_described(model, patches[:half]), _described(model, patches[half:])])
