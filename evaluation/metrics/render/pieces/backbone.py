"""The cells of a picture as features of a fetched backbone, in place of a dictionary's: those that PuzzleSim looks at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.metrics.render.pieces.dictionary import CELL, grid

SETS = {"squeeze": "squeezenet-imagenet"}  # the weights of the network "backbone" by the name of the choice
SMALLEST = 1e-12


def cells_by(features: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function that gives float32[h · w, 1024] of uint8[H, W, 3]: the unit vectors of PuzzleSim's three layers, read bilinearly at the
    cells' centres, made unit vectors again and multiplied by the root of the layer's weight. The squared distance of two
    is 2 (1 − the weighted cosine). WeightsError where the backbone's weights are not here.
    """
    import torch
    from torch.nn import functional

    from evaluation.metrics.render.puzzlesim import similarity
    from evaluation.networks.inference import best_device, exact
    from evaluation.networks.load import load

    device = best_device().type
    network = load("backbone", SETS[features], device)

    def cells(pixels: np.ndarray) -> np.ndarray:
        height, width = pixels.shape[:2]
        places = [
            torch.arange(number, device=device) * (2 * CELL / (side - 1)) + ((CELL - 1) / (side - 1) - 1)  # from -1 to 1, corners aligned
            for number, side in zip(grid(width, height), (height, width), strict=True)
        ]
        down, across = torch.meshgrid(*places, indexing="ij")
        found = []
        with exact():
            where = torch.stack([across, down], dim=-1)[None]
            for tap, weight in zip(similarity.features(network, [pixels], (width, height), device), similarity.WEIGHTS, strict=True):
                read = functional.grid_sample(tap.permute(0, 3, 1, 2), where, mode="bilinear", align_corners=True)[0].flatten(1).T
                found.append(functional.normalize(read, dim=1, eps=SMALLEST) * weight**0.5)
            return torch.cat(found, dim=1).cpu().numpy()

    return cells
