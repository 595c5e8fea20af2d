"""The larger YOLOX networks against an independent implementation with the same, random parameters; and one that learns."""

import pytest
import torch

from evaluation.networks import yolox
from tests.pure.evaluation.networks.test_yolox import compare_with_peer


@pytest.mark.parametrize("name", ["yolox-tiny", "yolox-m", "yolox-l", "yolox-x"])
def test_features_and_boxes_are_those_of_an_independent_implementation(name, tmp_path, monkeypatch):
    compare_with_peer(name, tmp_path, monkeypatch)


def test_a_network_learns_where_a_square_is():
    torch.manual_seed(0)
    network = yolox.build("yolox-nano", classes=1)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    image = torch.full((1, 3, 64, 64), 30.0)
    image[:, :, 16:40, 8:32] = 220.0
    objects = [torch.tensor([[0.0, 20.0, 28.0, 24.0, 24.0]])]
    losses = []
    for _ in range(50):
        found = yolox.loss(network(image), objects)
        optimiser.zero_grad()
        found.total.backward()
        optimiser.step()
        losses.append(float(found.total.detach()))
    assert losses[-1] < losses[0] / 2
