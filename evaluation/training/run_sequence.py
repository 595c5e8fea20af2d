"""Several trainings in one folder, each from the start: seeded steps that can be interrupted anywhere and go on. PURE.

A step depends only on the seed, the phase and the step's number. So a checkpoint holds the model, the optimiser and two numbers, and no
state of a random generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from torch import nn, optim

from evaluation.networks import device_use
from evaluation.networks.inference import best_device, exact
from evaluation.training.checkpoint import keep, resume

Advance = Callable[[str, float], object]  # after a step: the phase's name, and the loss


def require(device: str) -> str:
    """Return the name of a device of torch, `cpu` or `cuda`, after which this process computes on no other than the graphics card where
    it is `cuda`. CardTrouble where that card cannot be computed on."""
    if device != "cpu":
        device_use.require_card()
        best_device.cache_clear()  # the processor may have been the best while nobody asked for a card
        best_device()
    return device


class OnePhase(Protocol):
    """The facts of a phase: a name of its own among the phases, and how many steps it takes under a plan."""

    @property
    def name(self) -> str: ...

    def steps(self, plan: Any) -> int: ...


Phase = TypeVar("Phase", bound=OnePhase)


class Phased(ABC, Generic[Phase]):
    """One run in one folder. `run` does what is left of it; `results` has the losses and figures of each phase by name.

    `plan` is a dataclass; a run is gone on with only under an equal one (TrainingError otherwise).
    """

    model: nn.Module
    optimiser: optim.Optimizer

    def __init__(self, phases: Sequence[Phase], plan: Any, folder: Path, every: int) -> None:
        self.phases, self.plan, self.folder, self._every = list(phases), plan, folder, every
        self.total = sum(phase.steps(plan) for phase in self.phases)
        self._state = folder / "checkpoint.safetensors"
        self._phase, self._step = 0, 0
        self.results: dict[str, dict[str, Any]] = {}
        self.start()
        if self._state.exists():
            where = resume(self._state, self.kept, self.optimiser, asdict(plan))
            self._phase, self._step, self.results = where["phase"], where["step"], where["results"]

    @abstractmethod
    def start(self) -> None:
        """Set `model` and `optimiser` as every phase starts."""

    @abstractmethod
    def learn(self, phase: Phase, step: int) -> float:
        """One step of a phase, which follows from its number. The loss."""

    @abstractmethod
    def close(self, phase: Phase) -> dict[str, Any]:
        """Figures of a completed phase; its exports are written."""

    @property
    def kept(self) -> nn.Module:
        """All tensors that a checkpoint holds, except the optimiser's."""
        return self.model

    @property
    def done(self) -> int:
        """Steps taken so far, over all phases."""
        return sum(phase.steps(self.plan) for phase in self.phases[: self._phase]) + self._step

    def run(self, advance: Advance | None = None, stop_after: int | None = None) -> bool:
        """Train to the end (True), or stop after so many more steps (False); the state is on disk either way. A graphics card computes in
        float32 without TF32, as it does for metrics."""
        device = next(self.model.parameters()).device
        with nullcontext() if device.type == "cpu" else exact(device, inference=False):
            return self._run(advance, stop_after)

    def _run(self, advance: Advance | None, stop_after: int | None) -> bool:
        taken = 0
        while self._phase < len(self.phases):
            phase = self.phases[self._phase]
            while self._step < phase.steps(self.plan):
                if stop_after is not None and taken >= stop_after:
                    self._keep()
                    return False
                value = self.learn(phase, self._step)
                taken, self._step = taken + 1, self._step + 1
                if self._step % self._every == 0:
                    self._keep()
                if advance is not None:
                    advance(phase.name, value)
            self.results.setdefault(phase.name, {}).update(self.close(phase))
            self._phase, self._step = self._phase + 1, 0
            self.start()
            self._keep()
        return True

    def stop(self) -> None:
        """Close the phase that a run is in as far as it has got, and leave out what would come after it."""
        phase = self.phases[self._phase]
        taken = {"steps": self._step, "of": phase.steps(self.plan)}
        self.results.setdefault(phase.name, {}).update(taken | self.close(phase))

    def note(self, phase: Phase, epoch: int, share: float) -> None:
        """Add a step's share of the mean loss of an epoch, as far as it has got."""
        losses = self.results.setdefault(phase.name, {"losses": []})["losses"]
        if len(losses) <= epoch:
            losses.append(0.0)
        losses[-1] += share

    def _keep(self) -> None:
        where = {"plan": asdict(self.plan), "phase": self._phase, "step": self._step, "results": self.results}
        keep(self._state, self.kept, self.optimiser, where)
