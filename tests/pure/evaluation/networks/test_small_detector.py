"""The in-house detector: its levels, its size, and that it can be trained."""

from __future__ import annotations

import torch

from evaluation.networks import small_detector, yolox, yolox_loss


def test_its_levels_have_the_strides_of_the_published_ones():
    network = small_detector.build(9).eval()
    with torch.no_grad():
        shapes = [tuple(network.features(torch.zeros(1, 3, 96, 64), level).shape) for level in yolox.LEVELS]
        boxes = yolox.decoded(network(torch.zeros(1, 3, 96, 64)))
    assert shapes == [(1, 256, 12, 8), (1, 512, 6, 4), (1, 512, 3, 2), (1, 48, 12, 8), (1, 96, 6, 4), (1, 128, 3, 2)]
    assert boxes.shape == (1, 96 + 24 + 6, 14)


def test_it_is_of_squeezenets_size():
    state = small_detector.build(9).state_dict()
    assert sum(value.numel() * value.element_size() for value in state.values()) < 6.6e6  # bytes, as shipped


def test_gradients_reach_every_parameter():
    torch.manual_seed(0)
    network = small_detector.build(3)
    images = torch.rand(2, 3, 64, 64) * 255
    yolox_loss.loss(network(images), [torch.tensor([[1.0, 30.0, 30.0, 20.0, 24.0]]), torch.zeros(0, 5)]).total.backward()
    levels = [name for name, parameter in network.named_parameters() if parameter.grad is None]
    assert levels == []
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters())
