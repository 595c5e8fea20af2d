"""The checkpoint of a training, which can be interrupted anywhere: weights, optimiser and where it was. PURE."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.training.errors import TrainingError

if TYPE_CHECKING:
    import torch


def keep(file: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer, where: Mapping[str, Any]) -> None:
    """Write a model, its optimiser and `where` (JSON values, with the plan under "plan") to a safetensors file."""
    from safetensors.torch import save

    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{name}": tensor for name, tensor in state.items() if tensor is not None}
    write(file, save({name: tensor.contiguous() for name, tensor in tensors.items()}, {"state": json.dumps(where)}))


def resume(file: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Load what `keep` wrote and return its `where`; TrainingError if that run had another plan."""
    from safetensors import safe_open

    with safe_open(file, "pt") as kept:
        where = json.loads(kept.metadata()["state"])
        tensors = {name: kept.get_tensor(name) for name in kept.keys()}  # noqa: SIM118 (no mapping)
    if where["plan"] != plan:
        raise TrainingError(f"{file.parent} holds a run with another plan; give the same options or another folder.")
    model.load_state_dict({name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    return where


def schedule(step: int, total: int, warm_up: int) -> float:
    """The share of the learning rate at a step: a linear start, then a cosine to zero."""
    return min(1.0, (step + 1) / (warm_up + 1)) * 0.5 * (1 + math.cos(math.pi * step / total))


def write(file: Path, data: bytes) -> None:
    """Whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".part")
    unfinished.write_bytes(data)
    os.replace(unfinished, file)


def exported(state: Mapping[str, torch.Tensor]) -> bytes:
    """Tensors as safetensors, float32 and without counters of batch norms: the same bytes for the same weights."""
    from safetensors.torch import save

    return save({name: tensor.detach().float().contiguous() for name, tensor in sorted(state.items()) if tensor.is_floating_point()})
