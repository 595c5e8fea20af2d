"""Name of a set of weights to the network, ready for use; files are read without running anything in them. PURE.

The published names of parameters are kept by the networks here, so a published file is read as it is. A network is made
without memory for its parameters and filled from the file, so none can be left at a random value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from evaluation.networks import weights as stored
from evaluation.networks import yolox
from evaluation.networks.backbones import AlexNet, SqueezeNet, Vgg16
from evaluation.networks.clip import ClipImageTower, ClipTextTower
from evaluation.networks.clip_tokens import Tokenizer
from evaluation.networks.dinov2 import Dinov2
from evaluation.networks.inception import FidInception
from evaluation.networks.lite0 import Lite0
from evaluation.networks.weights import Weights, WeightsError

NESTED = ("model", "state_dict", "model_state_dict")  # where checkpoints keep the parameters, beside other things
COUNTERS = "num_batches_tracked"  # of batch norms, which matter only while training; old files lack them


def read_state(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors file or of one written by torch.save (.pth, .pt, .bin), by name, on the CPU.

    A pickle is read as data: a file that asks for anything but tensors and plain values is refused. WeightsError, in a
    sentence, where the file is neither of the two.
    """
    try:
        if path.suffix == ".safetensors":
            found: Any = load_file(path)
        else:
            # Checkpoints of training code keep NumPy numbers beside the tensors; these names make a number and nothing else.
            numbers: list[type] = [np.dtype, *{type(np.dtype(kind)) for kind in ("float64", "float32", "int64", "int32")}]
            scalars = [(np._core.multiarray.scalar, name) for name in ("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar")]
            with torch.serialization.safe_globals([*numbers, *scalars]):
                found = torch.load(path, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, SafetensorError) as error:
        raise WeightsError(f"The file {path.name} holds no weights that can be read safely; take it as it was published.") from error
    for name in NESTED:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    if not isinstance(found, Mapping):
        raise WeightsError(f"The file {path.name} holds no weights by name; take it as it was published.")
    return {str(name): value for name, value in found.items() if isinstance(value, Tensor)}


def fill(network: nn.Module, state: Mapping[str, Tensor], what: str, prefix: str = "", ignored: tuple[str, ...] = ()) -> nn.Module:
    """`network` (made on the meta device) with every parameter taken from `state`, in float32 and for inference only.

    The names in `state` begin with `prefix`, which is taken off; those that do not, and those that then begin with one
    of `ignored`, are left out. WeightsError where a parameter is absent, left over, of another shape or not finite:
    nothing is ever computed with a parameter that did not come out of the file.
    """
    kept = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    kept = {name: value for name, value in kept.items() if not name.startswith(ignored) and not name.endswith(COUNTERS)}
    wanted = {name: value for name, value in network.state_dict().items() if not name.endswith(COUNTERS)}
    odd = sorted(set(kept) ^ set(wanted))
    if odd:
        raise WeightsError(f"The file of {what} does not fit its network: {odd[0]!r} is {'too much' if odd[0] in kept else 'absent'}.")
    for name, value in kept.items():
        if value.shape != wanted[name].shape:
            raise WeightsError(f"The file of {what} does not fit its network: {name!r} has the shape {tuple(value.shape)}.")
        if not torch.isfinite(value).all():
            raise WeightsError(f"The file of {what} has numbers in {name!r} that are not finite.")
    counters = {name: torch.zeros((), dtype=torch.long) for name in network.state_dict() if name.endswith(COUNTERS)}
    network.load_state_dict({name: value.float() for name, value in kept.items()} | counters, assign=True)
    return network.eval().requires_grad_(False)


_ready: dict[tuple[str, str, str, str], nn.Module] = {}  # by network, set, digest and device


def load(network: str, name: str, device: torch.device | str = "cpu") -> nn.Module:
    """The network with the set of weights of that name (see evaluation/networks/weights.py), for inference; read once per process.

    "backbone" gives a module with `features`, which takes images as `normalise.imagenet` leaves them; the set's name says which.
    "lpips_*" gives its backbone and, as `heads`, the list of the weights float32[C] of the channels at each tap. "clip_text" has, as
    `tokenizer`, what makes numbers of a text.
    "inception", "lite0", "clip", "dinov2" and "yolox" are modules of this package.
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


def _stack(architecture: str, path: Path) -> nn.Module:
    state = read_state(path)
    if architecture == "squeezenet":
        return fill(_meta(SqueezeNet), state, path.name)
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


def _clip_text(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    tower: Any = fill(_meta(ClipTextTower), read_state(paths[0]), paths[0].name, ignored=("visual.", "logit_scale"))
    tower.tokenizer = Tokenizer.read(paths[1])
    return tower


def _yolox(found: Weights, paths: tuple[Path, ...]) -> nn.Module:
    network = _meta(lambda: yolox.build(found.name))
    # The CPU takes its small convolutions faster with the channels of a pixel side by side.
    filled: Any = fill(network, read_state(paths[0]), paths[0].name)  # of the keywords of `to` torch's stubs do not know this one
    return filled.to(memory_format=torch.channels_last)


def _meta(make: Callable[[], nn.Module]) -> nn.Module:
    """The network without memory for its parameters."""
    with torch.device("meta"):
        return make()


def _of_file(make: Callable[[], nn.Module], **names: Any) -> Callable[[Weights, tuple[Path, ...]], nn.Module]:
    """The builder of a network that its one file fills, with the `names` of `fill`."""
    return lambda _, paths: fill(_meta(make), read_state(paths[0]), paths[0].name, **names)


BUILDERS: dict[str, Callable[[Weights, tuple[Path, ...]], nn.Module]] = {
    "backbone": lambda found, paths: _stack(found.name.partition("-")[0], paths[0]),
    "lpips_alex": _lpips,
    "lpips_vgg": _lpips,
    "lpips_squeeze": _lpips,
    "inception": _of_file(FidInception, ignored=("fc.",)),
    "lite0": _of_file(Lite0),
    "clip": _of_file(ClipImageTower, prefix="visual."),
    "clip_text": _clip_text,
    "dinov2": _of_file(Dinov2, ignored=("mask_token",)),
    "yolox": _yolox,
}
