"""Random but fixed weights, written as the publishers write theirs and found where fetched files are found."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.metrics.render.detections import letterboxed
from evaluation.metrics.wireframe.learned import network as learned
from evaluation.networks import weights, yolox
from evaluation.networks.backbones import AlexNet, SqueezeNet, Vgg16
from evaluation.networks.inception import FidInception
from submissions.formats.file_digest import file_digest

CHANNELS = {"alex": (64, 192, 384, 256, 256), "vgg": (64, 128, 256, 512, 512), "squeeze": (64, 128, 256, 384, 384, 512, 512)}
# What the published files hold beside the stacks: name of the layer, outputs, inputs.
CLASSIFIERS = {
    "alexnet": ((1, 4096, 9216), (4, 4096, 4096), (6, 1000, 4096)),
    "vgg16": ((0, 4096, 25088), (3, 4096, 4096), (6, 1000, 4096)),
}


def shelf(monkeypatch, folder: Path) -> Path:
    """An empty cache of weights for this test."""
    monkeypatch.setattr(weights, "_folder", [folder])
    return folder


def put(monkeypatch, name: str, state: dict[str, Tensor]) -> Path:
    """Write the published file of that name into the cache as if it had been fetched; returns where it lies.

    Its publisher's digest cannot be that of random numbers, so it is taken to state none.
    """
    file = dataclasses.replace(weights.published(name), stated="")
    monkeypatch.setattr(weights, "FILES", {**weights.FILES, name: file})
    if file.path.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(state, file.path)
    else:
        torch.save(state, file.path)
    return fetched(name)


def fetched(name: str) -> Path:
    """Take the file of that name, which lies in the cache, for one that has been fetched; returns where it lies."""
    file = weights.published(name)
    record = {"sha256": file_digest(file.path), "bytes": file.path.stat().st_size, "source": "a test", "fetched": "2026-01-01"}
    (file.path.parent / f"{file.filename}.json").write_text(json.dumps(record))
    return file.path


def lively(network: nn.Module, seed: int = 0) -> dict[str, Tensor]:
    """A state in which every layer keeps the size of its signal, so that no difference dies out on the way."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, value in network.state_dict().items():
        if value.ndim > 1:
            state[name] = torch.randn(value.shape, generator=generator) * (2 / value[0].numel()) ** 0.5
        elif name.endswith(("running_var", "bn.weight")):
            state[name] = 0.5 + torch.rand(value.shape, generator=generator)
        elif value.is_floating_point():
            state[name] = torch.randn(value.shape, generator=generator) * 0.1
        else:
            state[name] = value.clone()
    return state


def backbone(name: str, seed: int = 0) -> dict[str, Tensor]:
    """squeezenet1_1, alexnet or vgg16 with its classifier, as torchvision publishes it (the classifier all zeros, which take no room)."""
    if name == "squeezenet1_1":
        return lively(SqueezeNet(), seed)
    state = lively({"alexnet": AlexNet, "vgg16": Vgg16}[name](), seed)
    for layer, outputs, inputs in CLASSIFIERS[name]:
        state[f"classifier.{layer}.weight"] = torch.zeros(1).expand(outputs, inputs)
        state[f"classifier.{layer}.bias"] = torch.zeros(outputs)
    return state


def head(network: str, seed: int = 0) -> dict[str, Tensor]:
    """LPIPS's weights of channels of alex, vgg or squeeze, not negative, as their authors publish them."""
    generator = torch.Generator().manual_seed(seed)
    return {f"lin{n}.model.1.weight": torch.rand(1, count, 1, 1, generator=generator) for n, count in enumerate(CHANNELS[network])}


def inception(seed: int = 0) -> dict[str, Tensor]:
    """Inception-v3 of FID with the classifier that the published file has."""
    return lively(FidInception(), seed) | {"fc.weight": torch.zeros(1008, 2048), "fc.bias": torch.zeros(1008)}


def detector(something: np.ndarray, nothing: np.ndarray) -> dict[str, dict[str, Tensor]]:
    """A yolox-nano that finds an object in the first image uint8[H, W, 3] and none in the second."""
    network = yolox.build("yolox-nano")
    network.load_state_dict(lively(network))
    head = network.head
    for layer in (*head.reg_preds, *head.cls_preds):
        nn.init.zeros_(layer.weight)
        nn.init.constant_(layer.bias, 0.0 if layer in head.reg_preds else 9.0)
    images = [torch.from_numpy(letterboxed(one))[None] for one in (something, nothing)]
    with torch.no_grad():
        seen, blank = ([output[0, 4].max() for output in network.eval()(one)] for one in images)
        for layer, here, there in zip(head.obj_preds, seen, blank, strict=True):
            sharp = 12 / float(here - there) if here > there else 0.0
            layer.weight *= sharp
            layer.bias.copy_((layer.bias - (here + there) / 2) * sharp if sharp else torch.tensor([-20.0]))
        assert max(output[0, 4].max() for output in network(images[0])) > 3 > -3 > max(output[0, 4].max() for output in network(images[1]))
    return {"model": network.state_dict()}


STAND_IN = "squeezenet-imagenet"  # for DINOv2, whose 86 million parameters take seconds a picture


def stand_in(monkeypatch) -> None:
    """Know SqueezeNet as features of `wf_learned`: mean and maximum over the picture of every channel of every feature map."""

    def take(network: SqueezeNet, x: Tensor) -> Tensor:
        return torch.cat([part for maps in network.features(x) for part in (maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3)))], dim=1)

    monkeypatch.setattr(learned, "KNOWN", {**learned.KNOWN, STAND_IN: learned.Features("backbone", STAND_IN, 4480, take)})
    monkeypatch.setattr(weights, "FEATURES", {"wf_learned": ("backbone", STAND_IN)})


def learned_shelf(monkeypatch, folder: Path) -> Path:
    """An empty cache of weights but for the stand-in, on whose features `put_learned` then puts heads."""
    shelf(monkeypatch, folder).mkdir(exist_ok=True)
    stand_in(monkeypatch)
    put(monkeypatch, "squeezenet1_1", backbone("squeezenet1_1"))
    return folder


def put_learned(folder: Path, name: str = "drawn", seed: int = 0, digest: str = "", **more: object) -> str:
    """A head of `wf_learned` with its card, where an operator puts trained ones; its sha256. `digest` is that of other features."""
    from safetensors.torch import save

    of = learned.KNOWN[weights.FEATURES["wf_learned"][1]]
    torch.manual_seed(seed)
    data = save(learned.Head(of.width).state_dict())
    card = {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "statement": "Drawn at random.", **more}
    card["features"] = {"network": of.network, "name": of.name, "sha256": digest or of.sha256}
    place = folder / "wf_learned"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.safetensors").write_bytes(data)
    (place / f"{name}.json").write_text(json.dumps(card))
    return card["sha256"]
