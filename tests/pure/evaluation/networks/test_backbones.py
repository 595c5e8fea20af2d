"""The feature stacks: shapes, parameter names, and a layer-by-layer recomputation with plain functions."""

import pytest
import torch
from torch.nn import functional as F

from evaluation.networks.backbones import AlexNet, SqueezeNet, Vgg16

STACKS = [
    (SqueezeNet, (64, 128, 256, 384, 384, 512, 512)),
    (AlexNet, (64, 192, 384, 256, 256)),
    (Vgg16, (64, 128, 256, 512, 512)),
]


@pytest.mark.parametrize(("make", "channels"), STACKS)
def test_there_is_a_map_after_each_tap_with_its_channels(make, channels):
    network = make().eval()
    with torch.inference_mode():
        maps = network.features(torch.rand(2, 3, 64, 80))
        first = network.features(torch.rand(2, 3, 64, 80), last=2)
    assert [found.shape[1] for found in maps] == list(channels) and len(first) == 3
    assert [found for found in maps if not ((found >= 0).all() and len(found) == 2)] == []


@pytest.mark.parametrize("make", [make for make, _ in STACKS])
def test_stopping_early_gives_the_same_maps(make):
    torch.manual_seed(0)
    network, x = make().eval(), torch.rand(1, 3, 40, 48)
    with torch.inference_mode():
        every, some = network.features(x), network.features(x, last=1)
    assert [(one, other) for one, other in zip(every, some, strict=False) if not torch.equal(one, other)] == []


def test_squeezenet_is_what_its_parameters_say_layer_by_layer():
    torch.manual_seed(1)
    network = SqueezeNet(classes=9).eval()
    p, x = network.state_dict(), torch.rand(1, 3, 70, 54)

    def fire(n, x):
        s = F.relu(F.conv2d(x, p[f"features.{n}.squeeze.weight"], p[f"features.{n}.squeeze.bias"]))
        left = F.conv2d(s, p[f"features.{n}.expand1x1.weight"], p[f"features.{n}.expand1x1.bias"])
        right = F.conv2d(s, p[f"features.{n}.expand3x3.weight"], p[f"features.{n}.expand3x3.bias"], padding=1)
        return F.relu(torch.cat([left, right], 1))

    def pool(x):
        return F.max_pool2d(x, 3, 2, ceil_mode=True)

    one = F.relu(F.conv2d(x, p["features.0.weight"], p["features.0.bias"], stride=2))
    two = fire(4, fire(3, pool(one)))
    three = fire(7, fire(6, pool(two)))
    four = fire(9, pool(three))
    five, six, seven = fire(10, four), fire(11, fire(10, four)), fire(12, fire(11, fire(10, four)))
    logits = F.relu(F.conv2d(seven, p["classifier.1.weight"], p["classifier.1.bias"])).mean((2, 3))
    with torch.inference_mode():
        for mine, theirs in zip(network.features(x), (one, two, three, four, five, six, seven), strict=True):
            assert torch.allclose(mine, theirs, atol=1e-6)
        assert torch.allclose(network(x), logits, atol=1e-6) and network(x).shape == (1, 9)


def test_gradients_reach_every_parameter_of_squeezenet():
    network = SqueezeNet(classes=4, dropout=0.0)
    torch.nn.functional.cross_entropy(network(torch.rand(2, 3, 48, 48)), torch.tensor([0, 3])).backward()
    assert [value for value in network.parameters() if not (value.grad is not None and torch.isfinite(value.grad).all())] == []
