"""Learning to tell the classes of procedural objects apart: a SqueezeNet 1.1 whose features serve as perceptual ones. PURE.

SqueezeNet has no batch norm and learns badly from nothing without. So every convolution of `features` gets one while it is
trained, and what is exported is the plain network with the norms worked into its convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluation.networks.backbones import SqueezeNet, imagenet
from evaluation.synthetic.objects import KINDS
from evaluation.training.augment import cut, damaged, recoloured
from evaluation.training.resumable_run import Plan, generator
from evaluation.training.scenes import Scene

STORED = 96  # side of a stored crop, in pixels
MARGIN = 1.5  # side of the square that is stored, over the longer side of the box
MIN_SIDE = 18  # of a box, in pixels of the view


@dataclass(frozen=True, eq=False)
class Crops:
    """``images``: uint8[N, 3, STORED, STORED], the object in the middle with its surroundings; ``kinds``: int64[N]; ``sides``:
    float32[N, 2], width and height of the box as shares of the crop's side."""

    images: Tensor
    kinds: np.ndarray
    sides: np.ndarray


def crops(scenes: Sequence[Scene]) -> Crops:
    """All objects of the views whose longer side has at least MIN_SIDE pixels."""
    images, kinds, sides = [], [], []
    for scene in scenes:
        longer = np.maximum(scene.boxes[:, 3] - scene.boxes[:, 1], scene.boxes[:, 4] - scene.boxes[:, 2])
        boxes = scene.boxes[longer >= MIN_SIDE]
        if len(boxes) == 0:
            continue
        middle, half = (boxes[:, 1:3] + boxes[:, 3:5]) / 2, MARGIN / 2 * longer[longer >= MIN_SIDE][:, None]
        image = torch.from_numpy(scene.image).permute(2, 0, 1)[None].float().expand(len(boxes), -1, -1, -1)
        found = cut(image, np.concatenate([middle - half, middle + half], axis=1), STORED, np.zeros(len(boxes), dtype=bool))
        images.append(found.round().to(torch.uint8))
        kinds.append(boxes[:, 0].astype(np.int64))
        sides.append((boxes[:, 3:5] - boxes[:, 1:3]) / (2 * half))
    return Crops(torch.cat(images), np.concatenate(kinds), np.concatenate(sides))


class Normed(nn.Module):
    """A convolution and a batch norm after it, which `folded` makes one convolution."""

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        self.conv, self.norm = conv, nn.BatchNorm2d(conv.out_channels, momentum=0.05)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))

    def folded(self) -> dict[str, Tensor]:
        """weight and bias of the one convolution: γ/√(σ² + ε) · W and γ/√(σ² + ε) · (b − μ) + β."""
        mean, variance, bias = self.norm.running_mean, self.norm.running_var, self.conv.bias
        assert mean is not None and variance is not None and bias is not None
        factor = self.norm.weight / torch.sqrt(variance + self.norm.eps)
        return {
            "weight": self.conv.weight * factor[:, None, None, None],
            "bias": (bias - mean) * factor + self.norm.bias,
        }


def untrained(classes: int = len(KINDS)) -> SqueezeNet:
    """A SqueezeNet with norms, drawn from torch's generator."""
    network = SqueezeNet(classes, dropout=0.2)
    for module in network.features.modules():
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Conv2d) and not isinstance(module, Normed):
                nn.init.kaiming_normal_(child.weight, nonlinearity="relu")
                assert child.bias is not None  # norms come beside it, not in its place
                nn.init.zeros_(child.bias)
                setattr(module, name, Normed(child))
    last: Any = network.classifier[1]
    nn.init.normal_(last.weight, std=0.05)
    nn.init.constant_(last.bias, 0.5)
    return network


def folded(network: SqueezeNet) -> dict[str, Tensor]:
    """The parameters of the plain network that computes the same, by SqueezeNet's names."""
    state = {name: value for name, value in network.state_dict().items() if name.startswith("classifier.")}
    for name, module in network.named_modules():
        if isinstance(module, Normed):
            state |= {f"{name}.{part}": value.detach() for part, value in module.folded().items()}
    return state


class Naming:
    """The lesson: crops, as many of each class, seen large and small, turned, recoloured and damaged."""

    def __init__(self, data: Crops, plan: Plan) -> None:
        self.data, self.plan = data, plan
        self._by_kind = [np.flatnonzero(data.kinds == kind) for kind in range(len(KINDS))]
        self._by_kind = [rows for rows in self._by_kind if len(rows)]

    def network(self) -> SqueezeNet:
        """Untrained."""
        return untrained()

    def loss(self, model: nn.Module, step: int) -> Tensor:
        """Cross entropy with a tenth of the weight on all classes alike."""
        images, kinds = self.drawn(step)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.plan.half):
            said = model(imagenet(images).contiguous(memory_format=torch.channels_last))
        return functional.cross_entropy(said.float(), kinds, label_smoothing=0.1)

    def drawn(self, step: int) -> tuple[Tensor, Tensor]:
        """Images float32[B, 3, size, size] and classes of a step."""
        rng, n = generator(self.plan, f"step {step}"), self.plan.batch
        rows = np.array([rng.choice(self._by_kind[int(rng.integers(len(self._by_kind)))]) for _ in range(n)])
        sides = self.data.sides[rows] * STORED
        # From the object filling the image to all its surroundings, not always whole, not always undistorted.
        square = np.exp(rng.uniform(np.log(0.75), np.log(MARGIN * 0.95), n))[:, None] * sides.max(axis=1, keepdims=True)
        size = np.clip(square * np.exp(rng.normal(0, 0.12, (n, 2))), 24, STORED)
        middle = STORED / 2 + rng.uniform(-0.14, 0.14, (n, 2)) * sides
        boxes = np.concatenate([middle - size / 2, middle + size / 2], axis=1)
        angles = np.where(rng.uniform(size=n) < 0.4, rng.normal(0, 0.15, n), 0.0)
        images = cut(self.data.images[rows].float() / 255, boxes, self.plan.size, rng.uniform(size=n) < 0.5, angles)
        return damaged(recoloured(images, rng), rng), torch.from_numpy(self.data.kinds[rows])


@torch.no_grad()
def accuracy(network: nn.Module, data: Crops, size: int) -> dict[str, object]:
    """The share of crops, as they are, that a network names right: of all and of each class."""
    side = STORED * 1.1 / MARGIN
    inner = np.array([(STORED - side) / 2] * 2 + [(STORED + side) / 2] * 2)
    said = []
    for part in torch.split(torch.arange(len(data.kinds)), 128):
        images = cut(data.images[part].float() / 255, np.tile(inner, (len(part), 1)), size, np.zeros(len(part), dtype=bool))
        said.append(network.eval()(imagenet(images)).argmax(dim=1).numpy())
    right = np.concatenate(said) == data.kinds
    by_kind = {kind: float(right[data.kinds == n].mean()) for n, kind in enumerate(KINDS) if (data.kinds == n).any()}
    return {"crops": len(right), "accuracy": float(right.mean()), "by_class": by_kind}
