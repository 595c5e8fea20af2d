"""The YOLOX network against an independent implementation with the same, random parameters; and loading its files."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from evaluation.networks import load, yolox
from tests.evaluation import official
from tests.evaluation.networks import random_weights

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


def scramble(network: nn.Module, seed: int = 0) -> None:
    """Random parameters and statistics under which signals neither die nor explode on the way."""
    torch.manual_seed(seed)
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.0)
            nn.init.normal_(module.bias, std=0.1)
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.8, 1.5)
    with torch.no_grad():
        next(conv for conv in network.modules() if isinstance(conv, nn.Conv2d)).weight /= 128  # the input goes to 255
        for conv in network.head.reg_preds:
            conv.weight *= 0.05  # boxes are exponentials of this


@pytest.mark.parametrize("name", yolox.SIZES)
def test_the_sizes_have_the_published_number_of_parameters(name):
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in yolox.build(name).parameters())
    assert count / 1e6 == pytest.approx(PUBLISHED[name], rel=0.005)


@pytest.mark.parametrize("name", yolox.SIZES)
def test_features_and_boxes_are_those_of_an_independent_implementation(name, tmp_path, monkeypatch):
    theirs = official_network(name)
    scramble(theirs)
    random_weights.shelf(monkeypatch, tmp_path)
    path = random_weights.put(monkeypatch, name, {"start_epoch": 300, "best_ap": np.float64(0.4), "model": theirs.state_dict()})
    ours = load.load("yolox", name)
    load.forget()
    path.unlink()  # hundreds of megabytes
    assert set(ours.state_dict()) == set(theirs.state_dict())
    images = torch.rand(2, 3, 96, 64, generator=torch.Generator().manual_seed(1)) * 255
    with torch.no_grad():
        dark = theirs.backbone.backbone(images)
        pyramid = theirs.backbone(images)
        boxes = theirs.head(pyramid)
        for level, expected in zip(yolox.LEVELS, (*dark.values(), *pyramid), strict=True):
            found, none = ours.looked_at(images, level)
            assert none is None
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(yolox.decoded(ours(images)), boxes, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(ours.looked_at(images, "dark5", detect=True)[1], boxes, rtol=1e-4, atol=1e-4)
    assert boxes.std() > 1 and all(level.std() > 1e-2 for level in pyramid), "the comparison must be of something"


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
