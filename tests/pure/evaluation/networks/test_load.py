"""Published formats through the real loading code, here and in the packages that people use."""

import json

import pytest
import torch
from torch.nn import functional as F

from evaluation.networks import load, weights
from evaluation.networks.backbones import imagenet
from evaluation.networks.clip import ClipImageTower
from evaluation.networks.inception import resize
from submissions.formats.file_digest import file_digest
from tests.support.evaluation import official
from tests.support.evaluation.networks import random_weights


@pytest.fixture(autouse=True)
def _shelf(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    load.forget()
    yield
    load.forget()


BACKBONES = [("squeezenet1_1", "squeezenet-imagenet"), ("alexnet", "alexnet-imagenet"), ("vgg16", "vgg16-imagenet")]


@pytest.mark.parametrize(("file", "name"), BACKBONES)
def test_stacks_agree_with_torchvision_tap_by_tap(monkeypatch, file, name):
    path = random_weights.put(monkeypatch, file, random_weights.backbone(file))
    theirs = getattr(official.torchvision().models, file)(weights=None)
    theirs.load_state_dict(torch.load(path, weights_only=True))
    mine, x = load.load("backbone", name), torch.rand(2, 3, 70, 96)
    with torch.inference_mode():
        y = x
        for n, layer in enumerate(theirs.features[: mine.features.taps[-1]], start=1):
            y = layer(y)
            if n in mine.features.taps:
                taken = mine.features(x, last=mine.features.taps.index(n))[-1]
                assert torch.allclose(taken, y, atol=1e-5), n


def test_inception_agrees_with_torch_fidelity_in_all_features(monkeypatch):
    official.torchvision()
    module = pytest.importorskip("torch_fidelity.feature_extractor_inceptionv3", reason="torch-fidelity is not installed")
    path = random_weights.put(monkeypatch, "inception-fid", random_weights.inception())
    theirs = module.FeatureExtractorInceptionV3("inception-v3-compat", ["2048"], feature_extractor_weights_path=str(path))
    x = torch.randint(0, 256, (2, 3, 200, 333), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        mine, expected = load.load("inception", "fid-2015-12-05")(x.float()), theirs(x)[0]
    assert mine.shape == (2, 2048) and (mine[0] - mine[1]).abs().max() > 1e-3
    assert torch.allclose(mine, expected, rtol=1e-4, atol=1e-5)


def test_clip_agrees_with_open_clip(monkeypatch):
    transformer = official.with_torchvision("open_clip.transformer")
    model = pytest.importorskip("open_clip.model")
    torch.manual_seed(0)
    theirs = transformer.VisionTransformer(
        image_size=224, patch_size=32, width=768, layers=12, heads=12, mlp_ratio=4, output_dim=512, act_layer=model.QuickGELU
    ).eval()
    with torch.no_grad():
        for value in theirs.parameters():
            value.mul_(1.5) if value.ndim > 1 else value.add_(0.05 * torch.randn(value.shape))
    state = {f"visual.{name}": value.contiguous() for name, value in theirs.state_dict().items()} | {"logit_scale": torch.ones(())}
    random_weights.put(monkeypatch, "clip-vit-b-32", state)
    x = torch.randn(3, 3, 224, 224)
    with torch.inference_mode():
        mine, expected = load.load("clip", "openai-vit-b-32")(x), theirs(x)
    assert mine.shape == (3, 512) and F.cosine_similarity(mine[0], mine[1], dim=0) < 0.999
    assert torch.allclose(mine, expected, rtol=1e-4, atol=1e-4)


def test_resizing_as_tensorflow_did_by_hand():
    x = torch.arange(4.0).view(1, 1, 1, 4)
    assert resize(x, 1, 2).flatten().tolist() == [0.0, 2.0]
    assert torch.allclose(resize(x, 1, 6).flatten(), torch.tensor([0, 2 / 3, 4 / 3, 2, 8 / 3, 3]), atol=1e-6)
    assert resize(x, 2, 4)[0, 0].tolist() == [[0, 1, 2, 3], [0, 1, 2, 3]]


def test_imagenet_colours():
    x = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    assert torch.allclose(imagenet(x), torch.zeros(1, 3, 1, 1), atol=1e-6)
    assert torch.allclose(
        imagenet(torch.ones(1, 3, 1, 1)).flatten(), torch.tensor([0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225]), atol=1e-5
    )


def test_the_heads_that_lpips_publishes_load_and_are_not_negative(monkeypatch):
    """The real ones, from torchmetrics' wheel: their digests are the ones that are pinned."""
    from importlib.util import find_spec
    from pathlib import Path

    found = find_spec("torchmetrics")
    if found is None:
        pytest.skip("torchmetrics is not installed (tests/requirements-peers.txt)")
    random_weights.put(monkeypatch, "alexnet", random_weights.backbone("alexnet"))
    real = Path(found.origin).parent / "functional" / "image" / "lpips_models" / "alex.pth"
    file = weights.published("lpips-alex")
    file.path.write_bytes(real.read_bytes())
    assert file_digest(real) == file.stated
    (file.path.parent / f"{file.filename}.json").write_text(json.dumps({"sha256": file.stated}))
    heads = load.load("lpips_alex", "v0.1").heads
    assert [len(head) for head in heads] == [64, 192, 384, 256, 256] and [head for head in heads if not (head >= 0).all()] == []


def test_a_network_is_read_once_and_never_without_its_file(monkeypatch):
    with pytest.raises(weights.WeightsError, match=r"not on this server; get them with: python manage.py fetch_weights squeezenet1_1$"):
        load.load("backbone", "squeezenet-imagenet")
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    one = load.load("backbone", "squeezenet-imagenet")
    assert load.load("backbone", "squeezenet-imagenet") is one and not one.training
    assert [value for value in one.parameters() if value.requires_grad or value.is_meta] == []
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1", seed=1))
    assert load.load("backbone", "squeezenet-imagenet") is not one


def test_a_file_that_was_exchanged_after_it_was_fetched_is_not_used(monkeypatch):
    path = random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    torch.save(random_weights.backbone("squeezenet1_1", seed=5), path)
    with pytest.raises(weights.WeightsError, match=r"squeezenet1_1-b8a52dc0\.pth has changed since it was fetched"):
        load.load("backbone", "squeezenet-imagenet")


def _spoilt(kind):
    state = random_weights.backbone("squeezenet1_1")
    if kind == "absent":
        del state["features.3.squeeze.bias"]
    elif kind == "too much":
        state["features.13.weight"] = torch.zeros(2)
    elif kind == "shape":
        state["features.0.weight"] = torch.zeros(64, 3, 5, 5)
    else:
        state["features.0.bias"] = torch.full((64,), float("nan"))
    return state


@pytest.mark.parametrize("kind", ["absent", "too much", "shape", "not finite"])
def test_a_file_that_does_not_fit_is_refused_in_a_sentence(monkeypatch, kind):
    random_weights.put(monkeypatch, "squeezenet1_1", _spoilt(kind))
    with pytest.raises(weights.WeightsError, match=rf"squeezenet1_1-b8a52dc0\.pth.*{kind}"):
        load.load("backbone", "squeezenet-imagenet")


def test_heads_of_another_network_are_refused(monkeypatch):
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "lpips-squeeze", random_weights.head("vgg"))
    with pytest.raises(weights.WeightsError, match="does not hold LPIPS weights for 7 taps"):
        load.load("lpips_squeeze", "v0.1")


class Evil:
    def __reduce__(self):
        return print, ("this must never run",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path, capsys):
    torch.save({"features.0.weight": torch.zeros(1), "and": Evil()}, tmp_path / "evil.pth")
    with pytest.raises(weights.WeightsError, match=r"evil\.pth holds no weights that can be read safely"):
        load.read_state(tmp_path / "evil.pth")
    assert "never" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["some.pth", "some.safetensors"])
@pytest.mark.parametrize("content", [b"", b"nothing of the kind", b"PK\x03\x04" + bytes(40)])
def test_a_file_of_another_kind_is_one_sentence(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(weights.WeightsError, match=name):
        load.read_state(tmp_path / name)


def test_checkpoints_and_old_files_are_read(tmp_path):
    import numpy as np

    state = {"a": torch.arange(3.0)}
    torch.save(state, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    torch.save({"model": state, "best": np.float64(0.5), "epoch": 3}, tmp_path / "checkpoint.pth")
    for name in ("old.pth", "checkpoint.pth"):
        assert torch.equal(load.read_state(tmp_path / name)["a"], state["a"])


def test_the_meta_network_of_clip_has_the_places_that_files_fill():
    assert sum(value.numel() for value in ClipImageTower().state_dict().values()) == 87_849_216
