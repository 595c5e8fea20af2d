"""On a graphics card: the maps of the processor, and none of the card's memory left behind."""

import numpy as np
import pytest
import torch

from evaluation.metrics.render.puzzlesim.similarity import scene
from evaluation.networks.load import load
from tests.support.evaluation.metrics.render.puzzlesim.scenes import SETS, picture, put_weights

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no graphics card on this machine")


@pytest.mark.parametrize("net", list(SETS))
def test_the_card_gives_the_map_of_the_processor(monkeypatch, tmp_path, net):
    name, images = put_weights(monkeypatch, tmp_path, net), [picture(n, 320, 240) for n in range(5)]
    plain = scene(load("backbone", name), images[:4], (320, 240), screen=False).map(images[4])
    on_card = scene(load("backbone", name, "cuda"), images[:4], (320, 240), "cuda")
    assert on_card.kind is None
    assert np.abs(on_card.map(images[4]) - plain).max() <= 1e-4
