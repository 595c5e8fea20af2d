"""Files of weights: the published formats, read without running anything that is in them. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from evaluation.networks.weights import WeightsError

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
