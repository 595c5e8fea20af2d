"""`clip_sim`: how alike two images are to CLIP (Radford et al., 2021): the cosine of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import variants
from evaluation.metrics.render.image import resized
from evaluation.metrics.result import MetricResult
from evaluation.metrics.shared import for_all
from evaluation.metrics.spec import PRECISION, MetricSpec, Source, published
from evaluation.metrics.tolerance import OF_NETWORKS
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    from torch import Tensor

    from evaluation.metrics.render.pair import RenderPair

SIDE = 224
NETWORK = "clip"


def prepared_for_clip(pixels: np.ndarray) -> np.ndarray:
    """uint8[224, 224, 3] of an image uint8[H, W, 3]: the shorter side brought to 224 px (bicubic, antialias), then the middle."""
    height, width = pixels.shape[:2]
    short = min(height, width)
    small = resized(pixels, SIDE * width // short, SIDE * height // short, "bicubic")
    top, left = round((small.shape[0] - SIDE) / 2), round((small.shape[1] - SIDE) / 2)
    return small[top : top + SIDE, left : left + SIDE]


def embedding(pixels: np.ndarray, weights: str) -> np.ndarray:
    """float32[512]: what CLIP's image tower makes of an image uint8[H, W, 3]."""
    return embeddings([pixels], weights)[0]


def embeddings(images: Sequence[np.ndarray], weights: str) -> list[np.ndarray]:
    """`embedding` of each of several images, which go through the network together."""
    import torch

    from evaluation.networks.backbones import to_tensor
    from evaluation.networks.clip import MEAN, STD
    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    def compute(device: torch.device, x: Tensor) -> Tensor:
        mean, std = (torch.tensor(values, device=device).view(1, 3, 1, 1) for values in (MEAN, STD))
        return load(NETWORK, weights, device)((x - mean) / std)

    found = in_batches(compute, [to_tensor(prepared_for_clip(pixels)) for pixels in images], batch=len(images))
    return [one.numpy() for one in found]


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine of the angle between two vectors, in float64; 0 where one of them has no length."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    lengths = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / lengths, -1.0, 1.0)) if lengths > 0 else 0.0


def clip_sim(pair: RenderPair, weights: str) -> MetricResult:
    """The cosine for the whole image; the reference's embedding is found once."""
    if pair.not_alike:
        return pair.not_alike
    (reference,) = pair.reference_once(
        f"clip {weights} {stored.digest(NETWORK, weights)}", lambda: (embedding(pair.ref, weights).astype(np.float64),)
    )
    return MetricResult(cosine(of_render(pair, weights), reference))


def of_render(pair: RenderPair, weights: str) -> np.ndarray:
    """float32[512] of the pair's render, found once for all metrics that ask."""
    return pair.once(("clip", weights), lambda: embedding(pair.pred, weights))


def ahead(pairs: Sequence[RenderPair], weights: str) -> None:
    """Embeddings of several pairs' renders together."""
    usable = [pair for pair in pairs if pair.not_alike is None]
    for_all(usable, ("clip", weights), lambda some: embeddings([one.pred for one in some], weights))


def clip_sim_bbox(pair: RenderPair, **params: Any) -> MetricResult:
    """The values in each object's box; `objects.mean_of_crops` makes the scene's value of it."""

    def compare(pred: np.ndarray, ref: np.ndarray) -> float:
        return cosine(embedding(pred, params["weights"]), embedding(ref, params["weights"]))

    return variants.each(pair, params, 0.0, compare)


_CLIP_SIM = MetricSpec(
    key="clip_sim",
    title="CLIP similarity",
    family="render",
    higher_is_better=True,
    bounds=(-1.0, 1.0),
    unit="",
    params=(published(NETWORK, "OpenAI's weights. The OSIM paper compares with the same network.", Source.PAPER), PRECISION),
    worst="0",
    doc="Similarity of the two images: the cosine of their CLIP ViT-B/32 embeddings.",
    origin=Origin((papers.CLIP, papers.OSIM), "image compared with image, as in the OSIM paper"),
    function=clip_sim,
    ahead=ahead,
    weights=NETWORK,
    tolerance=OF_NETWORKS,
    formula="cos(e(x), e(y)), e the embedding of the image's middle square, brought to 224 px",
)

PLACE = 40  # in lists of metrics of its kind
SPECS = (_CLIP_SIM, variants.boxed(_CLIP_SIM, clip_sim_bbox))
