"""DINOv2's architecture against timm's, with random weights under the publisher's names."""

import pytest
import torch

from evaluation.networks import load, weights
from evaluation.networks.dinov2 import BASE, Dinov2, Size
from tests.support.evaluation import official
from tests.support.evaluation.networks import random_weights

TINY = Size(width=48, layers=3, heads=4, patch=14, side=70)


def transformer():
    return official.with_torchvision("timm.models.vision_transformer")


def test_all_tokens_agree_with_timm():
    torch.manual_seed(0)
    size = {"img_size": TINY.side, "patch_size": TINY.patch, "embed_dim": TINY.width, "depth": TINY.layers, "num_heads": TINY.heads}
    theirs = transformer().VisionTransformer(**size, init_values=1.0, num_classes=0).eval()
    state = random_weights.lively(theirs)
    theirs.load_state_dict(state)
    mine = Dinov2(TINY).eval()
    mine.load_state_dict(state)
    x = torch.randn(2, 3, TINY.side, TINY.side)
    with torch.inference_mode():
        found, expected = mine(x), theirs.forward_features(x)
    assert found.shape == (2, 1 + 25, 48) and (found[0] - found[1]).abs().max() > 0.1
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_names_and_shapes_are_those_of_vit_b_14():
    with torch.device("meta"):
        theirs = transformer().VisionTransformer(img_size=518, patch_size=14, init_values=1e-5, num_classes=0).state_dict()
        mine = Dinov2().state_dict()
    assert {name: value.shape for name, value in mine.items()} == {name: value.shape for name, value in theirs.items()}
    assert sum(value.numel() for value in mine.values()) == 86_579_712 and BASE.patches == 37**2


def test_the_published_file_is_read_as_it_is(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    load.forget()
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in Dinov2().state_dict().items()}
    state = {name: torch.full((1,), 0.5).expand(shape) for name, shape in shapes.items()}  # which takes no room
    random_weights.put(monkeypatch, "dinov2-vitb14", state | {"mask_token": torch.zeros(1, 768)})
    network = load.load("dinov2", "dinov2-vitb14")
    assert float(network.blocks[11].ls2.gamma[767]) == 0.5 and not network.training
    random_weights.put(monkeypatch, "dinov2-vitb14", {name: value for name, value in state.items() if name != "norm.bias"})
    with pytest.raises(weights.WeightsError, match=r"'norm\.bias' is absent"):
        load.load("dinov2", "dinov2-vitb14")
    load.forget()


def test_images_of_another_size_are_refused():
    with pytest.raises(ValueError, match="70 by 70 pixels"):
        Dinov2(TINY)(torch.zeros(1, 3, 56, 56))
