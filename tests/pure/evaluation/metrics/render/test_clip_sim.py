import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.metrics.render import clip_sim as module
from evaluation.metrics.render.clip_sim import cosine, embedding, prepared_for_clip
from evaluation.metrics.result import Status
from evaluation.networks import clip, load
from evaluation.networks.clip import ClipImageTower
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import blurred, noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

clip_sim = with_defaults("clip_sim")

WEIGHTS, LAYERS = "openai-vit-b-32", 2  # test_load.py has all twelve
PICTURE = blobs(120, 160)


@pytest.fixture(scope="module")
def tower(tmp_path_factory):
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(clip, "LAYERS", LAYERS)
    random_weights.shelf(monkeypatch, tmp_path_factory.mktemp("clip"))
    load.forget()
    with torch.device("meta"):
        network = ClipImageTower()
    generator = torch.Generator().manual_seed(0)
    state = {}
    for name, value in network.state_dict().items():
        scale = value.shape[-1] ** -0.5 if value.ndim > 1 else 0.1
        state[f"visual.{name}"] = torch.randn(value.shape, generator=generator) * scale + (
            1.0 if "ln_" in name and "weight" in name else 0.0
        )
    yield random_weights.put(monkeypatch, "clip-vit-b-32", state)
    load.forget()
    monkeypatch.undo()


@pytest.mark.parametrize("shape", [(300, 401), (401, 300), (224, 224), (90, 120), (225, 231)])
def test_images_are_prepared_as_open_clip_does(shape):
    transform = official.with_torchvision("open_clip.transform")
    theirs = transform.image_transform(224, is_train=False, interpolation="bicubic", mean=(0, 0, 0), std=(1, 1, 1))
    picture = blobs(*shape)
    expected = (theirs(Image.fromarray(picture)) * 255).round().to(torch.uint8).numpy().transpose(1, 2, 0)
    assert np.array_equal(prepared_for_clip(picture), expected)


def test_agrees_with_open_clip_from_file_to_cosine(tower):
    transformer, transform = (official.with_torchvision(f"open_clip.{name}") for name in ("transformer", "transform"))
    from open_clip.model import QuickGELU
    from safetensors.torch import load_file

    theirs = transformer.VisionTransformer(
        image_size=224, patch_size=32, width=768, layers=LAYERS, heads=12, mlp_ratio=4, output_dim=512, act_layer=QuickGELU
    ).eval()
    theirs.load_state_dict({name.removeprefix("visual."): value for name, value in load_file(tower).items()})
    prepare = transform.image_transform(224, is_train=False)
    spoilt = noisy(blurred(PICTURE, 3), 25)
    with torch.inference_mode():
        one, other = theirs(torch.stack([prepare(Image.fromarray(image)) for image in (spoilt, PICTURE)]))
    expected = float(torch.nn.functional.cosine_similarity(one, other, dim=0))
    found = clip_sim(pair(spoilt, PICTURE), WEIGHTS).value
    assert expected < 0.9999 and found == pytest.approx(expected, abs=1e-5)
    assert np.allclose(embedding(spoilt, WEIGHTS), one.numpy(), rtol=1e-3, atol=1e-3)


def test_identity_symmetry_and_order(tower):
    assert clip_sim(pair(PICTURE, PICTURE), WEIGHTS).value == 1.0
    spoilt = noisy(PICTURE, 40)
    assert clip_sim(pair(spoilt, PICTURE), WEIGHTS).value == pytest.approx(clip_sim(pair(PICTURE, spoilt), WEIGHTS).value, abs=1e-9)
    amounts = [clip_sim(pair(noisy(PICTURE, amount), PICTURE), WEIGHTS).value for amount in (4, 20, 100)]
    assert amounts == sorted(amounts, reverse=True)


def test_the_references_embedding_is_found_once(tower, monkeypatch):
    calls, kept = [], {}
    plain = module.embedding
    monkeypatch.setattr(module, "embedding", lambda pixels, weights: calls.append(1) or plain(pixels, weights))
    first = clip_sim(pair(noisy(PICTURE, 5), PICTURE, prepared=kept), WEIGHTS)
    assert clip_sim(pair(noisy(PICTURE, 5), PICTURE, prepared=kept), WEIGHTS) == first and len(calls) == 3


def test_missing_and_other_sizes_need_no_network():
    assert clip_sim(pair(None, PICTURE), WEIGHTS).status == Status.MISSING_PRED
    assert clip_sim(pair(PICTURE[:50], PICTURE), WEIGHTS).status == Status.SIZE_MISMATCH


def test_cosine():
    assert cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0])) == pytest.approx(0.96)
    assert cosine(np.zeros(2), np.ones(2)) == 0.0 and cosine(np.ones(3), -np.ones(3)) == -1.0


def test_an_image_for_which_a_card_has_no_room_is_embedded_without_it(tower, monkeypatch):
    plain = embedding(PICTURE, WEIGHTS)
    with full_card(monkeypatch) as refused:
        assert np.array_equal(embedding(PICTURE, WEIGHTS), plain)
    assert refused == [1]
