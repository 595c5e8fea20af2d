"""From the name of a set of weights to the network, ready to be used. PURE.

The published names of parameters are kept by the networks here, so a published file is read as it is. A network is made
without memory for its parameters and filled from the file, so none can be left at a random value.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from evaluation.networks import small_detector, yolox
from evaluation.networks import weights as stored
from evaluation.networks.alexnet import AlexNet
from evaluation.networks.clip_text import ClipTextTower
from evaluation.networks.clip_tokens import Tokenizer
from evaluation.networks.clip_vit import ClipImageTower
from evaluation.networks.dinov2 import Dinov2
from evaluation.networks.files import fill, read_state
from evaluation.networks.inception import FidInception
from evaluation.networks.squeezenet import SqueezeNet
from evaluation.networks.vgg import Vgg16
from evaluation.networks.weights import Weights, WeightsError

_ready: dict[tuple[str, str, str, str], nn.Module] = {}  # by network, set, digest and device


def load(network: str, name: str, device: torch.device | str = "cpu") -> nn.Module:
    """The network with the set of weights of that name (see evaluation/networks/weights.py), for inference; read once per process.

    "backbone" gives a module with `features`, which takes images as `normalise.imagenet` leaves them; the set's name or,
    for a shipped set, its model card's `architecture` says which. "lpips_*" gives its backbone and, as `heads`, the list
    of the weights float32[C] of the channels at each tap. "clip_text" has, as `tokenizer`, what makes numbers of a text.
    "inception", "clip", "dinov2" and "yolox" are modules of this package.
    WeightsError where a file is absent, changed, or not of this network.
    """
    found = stored.get(network, name)
    key = (network, name, str(found.sha256), str(device))
    if key not in _ready:
        if network not in BUILDERS:
            raise WeightsError(f"There is no network {network!r} to load; there are: {', '.join(BUILDERS)}.")
        _ready[key] = BUILDERS[network](found, found.paths()).to(device)
    return _ready[key]


def forget() -> None:
    """Let go of all networks."""
    _ready.clear()


def _backbone(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    return _stack(found.card.get("architecture") or found.name.partition("-")[0], paths[0])


def _stack(architecture: str, path: Path) -> nn.Module:
    state = read_state(path)
    if architecture == "squeezenet":
        # As many classes as the file's classifier tells apart; 1000 where it has none, which is then found absent.
        last = state.get("classifier.1.weight")
        return fill(_meta(lambda: SqueezeNet(classes=1000 if last is None else len(last))), state, path.name)
    if architecture == "alexnet":
        return fill(_meta(AlexNet), state, path.name, ignored=("classifier.",))
    if architecture == "vgg16":
        return fill(_meta(Vgg16), state, path.name, ignored=("classifier.",))
    raise WeightsError(f"There is no backbone {architecture!r}; there are: squeezenet, alexnet, vgg16.")


def _lpips(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    architecture = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet"}[found.network.removeprefix("lpips_")]
    network: Any = _stack(architecture, paths[0])  # a backbone, whose features are walked tap by tap
    with torch.inference_mode():
        channels = [taken.shape[1] for taken in network.features.walk(torch.zeros(1, 3, 32, 32))]
    state = read_state(paths[1])
    what = paths[1].name
    wanted = {f"lin{n}.model.1.weight": (1, count, 1, 1) for n, count in enumerate(channels)}
    if {name: tuple(value.shape) for name, value in state.items()} != wanted:
        raise WeightsError(f"The file {what} does not hold LPIPS weights for {len(channels)} taps of this network.")
    values = [state[name].float().flatten() for name in wanted]
    if not all(torch.isfinite(value).all() for value in values):
        raise WeightsError(f"The file {what} has numbers that are not finite.")
    network.heads = nn.ParameterList(nn.Parameter(value, requires_grad=False) for value in values)
    return network


def _inception(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    return fill(_meta(FidInception), read_state(paths[0]), paths[0].name, ignored=("fc.",))


def _clip(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    return fill(_meta(ClipImageTower), read_state(paths[0]), paths[0].name, prefix="visual.")


def _clip_text(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    tower: Any = fill(_meta(ClipTextTower), read_state(paths[0]), paths[0].name, ignored=("visual.", "logit_scale"))
    tower.tokenizer = Tokenizer.read(paths[1])
    return tower


def _dinov2(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    return fill(_meta(Dinov2), read_state(paths[0]), paths[0].name, ignored=("mask_token",))


def _yolox(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    if found.name in yolox.SIZES:
        network = _meta(lambda: yolox.build(found.name))
    else:
        network = _meta(lambda: small_detector.build(len(found.card["classes"])))
    # The CPU takes its small convolutions faster with the channels of a pixel side by side: 1.7 times for the in-house one.
    filled: Any = fill(network, read_state(paths[0]), paths[0].name)  # of the keywords of `to` torch's stubs do not know this one
    return filled.to(memory_format=torch.channels_last)


def _meta(make: Callable[[], nn.Module]) -> nn.Module:
    """The network without memory for its parameters."""
    with torch.device("meta"):
        return make()


BUILDERS: dict[str, Callable[[Weights, tuple[Path, ...]], nn.Module]] = {
    "backbone": _backbone,
    "lpips_alex": _lpips,
    "lpips_vgg": _lpips,
    "lpips_squeeze": _lpips,
    "inception": _inception,
    "clip": _clip,
    "clip_text": _clip_text,
    "dinov2": _dinov2,
    "yolox": _yolox,
}
