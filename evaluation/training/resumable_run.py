"""One training, in one folder: seeded steps that can be interrupted anywhere and go on to the same result. PURE.

What a step does follows from the seed and the step's number alone, so that a checkpoint need hold no random generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.training.checkpoint import keep, resume, schedule

Advance = Callable[[float], object]  # after a step: its loss
FIGURES = 40  # mean losses kept over a whole training


@dataclass(frozen=True)
class Plan:
    """Settings of a training run. Everything that changes the result is in here."""

    network: str
    seed: int = 0
    steps: int = 3000
    batch: int = 32
    size: int = 64  # side of what the network sees, in pixels
    rate: float = 2e-3
    weight_decay: float = 5e-4
    warm_up: int = 100  # steps
    average: float = 0.998  # of the weights of each step, the share of what went before
    half: bool = True  # products in bfloat16, sums in float32
    rooms: int = 400
    views: int = 5
    pixels: int = 320  # side of a view


class Lesson(Protocol):
    """The task of a training: the network as it starts, and the loss of a step."""

    def network(self) -> nn.Module:
        """The untrained network, from torch's seed."""

    def loss(self, model: nn.Module, step: int) -> Tensor:
        """The loss of a step, whose randomness follows from the step's number."""


class Course:
    """A run in one folder. `run` does what is left of it; `average` is the network that is to be used."""

    def __init__(self, lesson: Lesson, plan: Plan, folder: Path, every: int = 100) -> None:
        self.lesson, self.plan, self.every = lesson, plan, every
        self._file = folder / "checkpoint.safetensors"
        torch.manual_seed(plan.seed)
        self._both = nn.ModuleDict({"live": lesson.network(), "average": lesson.network()})
        self._both["average"].load_state_dict(self._both["live"].state_dict())
        self._both["average"].requires_grad_(False).eval()
        both: Any = self._both  # of the keywords of `to` torch's stubs do not know this one
        both.to(memory_format=torch.channels_last)  # half as fast again on a processor
        parameters = list(self.live.parameters())
        groups = [
            {"params": [one for one in parameters if one.ndim > 1], "weight_decay": plan.weight_decay},
            {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},  # biases and norms do not decay
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=plan.rate)
        self.done, self.losses = 0, []
        if self._file.exists():
            where = resume(self._file, self._both, self.optimiser, asdict(plan))
            self.done, self.losses = where["step"], where["losses"]

    @property
    def live(self) -> nn.Module:
        """The network that learns."""
        return self._both["live"]

    @property
    def average(self) -> nn.Module:
        """The running mean of its weights, which is what is exported."""
        return self._both["average"]

    def run(self, advance: Advance | None = None, stop_after: int | None = None) -> bool:
        """Train to the end (True), or stop after so many more steps (False); the state is on disk either way."""
        end = self.plan.steps if stop_after is None else min(self.plan.steps, self.done + stop_after)
        while self.done < end:
            value = self._step()
            # Mean losses are kept over equal parts of the training.
            place, within = divmod(self.done, max(1, -(-self.plan.steps // FIGURES)))
            if place == len(self.losses):
                self.losses.append(0.0)
            self.losses[place] += (value - self.losses[place]) / (within + 1)
            self.done += 1
            if self.done % self.every == 0 or self.done == end:
                keep(self._file, self._both, self.optimiser, {"plan": asdict(self.plan), "step": self.done, "losses": self.losses})
            if advance is not None:
                advance(value)
        return self.done >= self.plan.steps

    def _step(self) -> float:
        plan = self.plan
        torch.manual_seed(plan.seed * 1_000_003 + self.done)  # dropout
        self.live.train()
        for group in self.optimiser.param_groups:
            group["lr"] = plan.rate * schedule(self.done, plan.steps, plan.warm_up)
        loss = self.lesson.loss(self.live, self.done)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.live.parameters(), 10.0)
        self.optimiser.step()
        # Take the average along; early on it forgets faster, so that it does not keep the untrained network.
        share = min(plan.average, (1 + self.done) / (10 + self.done))
        with torch.no_grad():
            for mean, now in zip(self.average.state_dict().values(), self.live.state_dict().values(), strict=True):
                if mean.is_floating_point():
                    mean.lerp_(now, 1 - share)
                else:
                    mean.copy_(now)
        return float(loss.detach())


def generator(plan: Plan, what: str) -> np.random.Generator:
    """Fixed by the plan's seed and a text."""
    from evaluation.synthetic.distortions import generator as fixed

    return fixed(f"{plan.network}:{plan.seed}:{what}")


def exported(state: dict[str, Any]) -> bytes:
    """Tensors as safetensors, float32 and without counters of batch norms: the same bytes for the same weights."""
    from safetensors.torch import save

    kept = {name: tensor.detach().float().contiguous() for name, tensor in sorted(state.items()) if tensor.is_floating_point()}
    return save(kept)
