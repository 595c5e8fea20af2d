"""The YOLOX network against an independent implementation with the same, random parameters; and loading its files.

The in-house detector: its levels, its size, and that it can be trained.

The detector's loss against an independent implementation, and the assignment by hand.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from evaluation.networks import load, yolox
from tests.support.evaluation import official
from tests.support.evaluation.networks import random_weights

# Millions of parameters, as published beside the models.
PUBLISHED = {"yolox-nano": 0.91, "yolox-tiny": 5.06, "yolox-s": 9.0, "yolox-m": 25.3, "yolox-l": 54.2, "yolox-x": 99.1}


def official_network(name: str) -> nn.Module:
    """The peer's detector of that size, made the way its own configuration makes it."""
    modules, size = official.yolox(), yolox.SIZES[name]
    network = nn.Module()
    network.backbone = modules.Pafpn(size.depth, size.width, depthwise=size.depthwise)
    network.head = modules.Head(80, size.width, depthwise=size.depthwise)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps, module.momentum = 1e-3, 0.03
    return network.eval()


def noise(count: int, height: int, width: int, seed: int = 1) -> Tensor:
    """Pictures float32[count, 3, height, width] of pixels from 0 to 255."""
    return torch.rand(count, 3, height, width, generator=torch.Generator().manual_seed(seed)) * 255


def scramble(network: nn.Module, pictures: Tensor | None = None, seed: int = 0) -> None:
    """Random parameters, with the statistics of `pictures` (or noise) under them, so that what is seen reaches the end."""
    torch.manual_seed(seed)
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.8, 1.5)
        nn.init.normal_(norm.bias, std=0.3)
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        for conv in network.head.reg_preds:
            conv.weight *= 0.2  # boxes are exponentials of this
        network.head(network.backbone(noise(4, 96, 64) if pictures is None else pictures))
    for norm in norms:
        norm.momentum = 0.03
        norm.eval()


@pytest.mark.parametrize("name", yolox.SIZES)
def test_the_sizes_have_the_published_number_of_parameters(name):
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in yolox.build(name).parameters())
    assert count / 1e6 == pytest.approx(PUBLISHED[name], rel=0.005)


def compare_with_peer(name: str, tmp_path, monkeypatch) -> None:
    """Features and boxes of one size are those of the peer with the same parameters."""
    theirs = official_network(name)
    images = noise(4, 96, 64)
    scramble(theirs, images)
    random_weights.shelf(monkeypatch, tmp_path)
    path = random_weights.put(monkeypatch, name, {"start_epoch": 300, "best_ap": np.float64(0.4), "model": theirs.state_dict()})
    ours = load.load("yolox", name)
    load.forget()
    path.unlink()  # hundreds of megabytes
    assert set(ours.state_dict()) == set(theirs.state_dict())
    images = images[:2]  # of those the statistics are of: others would be amplified without end
    with torch.no_grad():
        single = ours.features(images, "dark5")
        # Untrained layers amplify rounding from one to the next; in double precision what is left is the architecture.
        images, ours, theirs = images.double(), ours.double(), theirs.double()
        expected = (*theirs.backbone.backbone(images).values(), *theirs.backbone(images))
        boxes = theirs.head(expected[3:])
        for level, wanted in zip(yolox.LEVELS, expected, strict=True):
            found, none = ours.looked_at(images, level)
            assert none is None
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
            assert (wanted[0] - wanted[1]).std() > 0.1, "the pictures must make a difference"
        torch.testing.assert_close(yolox.decoded(ours(images)), boxes, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(ours.looked_at(images, "dark5", detect=True)[1], boxes, rtol=1e-6, atol=1e-6)
    assert (boxes[0] - boxes[1]).std() > 0.1
    assert (single - expected[2]).norm() < 1e-4 * expected[2].norm()


@pytest.mark.parametrize("name", ["yolox-nano", "yolox-s"])  # the larger ones: tests/nightly
def test_features_and_boxes_are_those_of_an_independent_implementation(name, tmp_path, monkeypatch):
    compare_with_peer(name, tmp_path, monkeypatch)


def test_an_untrained_head_finds_nothing_probable():
    network = yolox.build("yolox-nano").eval()
    with torch.no_grad():
        scores = yolox.decoded(network(torch.full((1, 3, 64, 64), 114.0)))[..., 4:]
    assert torch.allclose(scores, torch.tensor(0.01), atol=0.01)


def test_boxes_are_decoded_by_hand():
    outputs = [torch.zeros(1, 6, 64 // stride, 96 // stride) for stride in yolox.STRIDES]
    outputs[1][0, :, 1, 2] = torch.tensor([0.5, -0.25, np.log(2), np.log(3), 0.0, np.log(3)])
    boxes = yolox.decoded(outputs)[0]
    assert boxes.shape == (8 * 12 + 4 * 6 + 2 * 3, 6)
    # Cell (1, 2) of stride 16: the centre is at ((2 + 0.5) 16, (1 - 0.25) 16), the size (2, 3) 16.
    torch.testing.assert_close(boxes[96 + 1 * 6 + 2], torch.tensor([40.0, 12.0, 32.0, 48.0, 0.5, 0.75]))
    torch.testing.assert_close(boxes[0], torch.tensor([0.0, 0.0, 8.0, 8.0, 0.5, 0.5]))


def test_another_backbone_can_stand_in():
    class Small(nn.Module):
        channels = (8, 12, 20)

        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList([nn.Conv2d(3, 8, 8, 8), nn.Conv2d(8, 12, 2, 2), nn.Conv2d(12, 20, 2, 2)])

        def forward(self, x):
            levels = []
            for conv in self.convs:
                levels.append(x := conv(x))
            return tuple(levels)

    network = yolox.Yolox(Small(), classes=7, channels=(16, 24, 32), hidden=16, blocks=1).eval()
    features, boxes = network.looked_at(torch.rand(1, 3, 64, 64), "dark5", detect=True)
    assert features.shape == (1, 20, 2, 2) and boxes.shape == (1, 84, 12)
    assert network.features(torch.rand(1, 3, 64, 64), "p4").shape == (1, 24, 4, 4)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="yolox-nano"):
        yolox.build("yolox-xxl")
    with pytest.raises(ValueError, match="dark3"):
        yolox.build("yolox-nano").features(torch.zeros(1, 3, 64, 64), "dark1")
