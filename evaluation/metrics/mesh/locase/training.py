"""Training: seeded steps that can be interrupted anywhere and go on from the last checkpoint to the same result.

What a step does follows from the seed, the phase and the step's number alone, so a checkpoint holds the weights, the
optimiser and two numbers, and no state of a random generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load, save
from scipy.stats import kendalltau, pearsonr, spearmanr

from evaluation.metrics.mesh.locase.dataset import Subject, batch
from evaluation.metrics.mesh.locase.losses import loss
from evaluation.metrics.mesh.locase.network import LoCaSE, pooled
from evaluation.metrics.mesh.locase.scoring import compared, encoding
from evaluation.synthetic.distortions import generator
from evaluation.training.checkpoint import keep, resume, schedule, write

Advance = Callable[[str, float], None]  # after a step: what is being done, and the loss


@dataclass(frozen=True)
class Plan:
    """How to train. Everything that changes the result is in here."""

    stage: int = 1
    seed: int = 0
    epochs: int = 80  # in each, every subject is seen once
    fold_epochs: int = 26
    folds: int = 4
    queries: int = 32  # vertices of every mesh looked at in one step: half, all or one and a half times as many
    last_queries: int = 96  # in the last fifth of the steps, where the network gets used to whole meshes
    rate: float = 1e-3
    weight_decay: float = 1e-2
    warm_up: int = 10  # steps
    per_batch: int = 2  # subjects whose meshes are one batch
    meshes: int | None = 12  # of each subject in one step, drawn at random; None: all
    largest_gradient: float = 5.0


@dataclass(frozen=True)
class Phase:
    """One training from the start: on `seen`, and judged on `unseen`."""

    name: str
    seen: tuple[Subject, ...]
    unseen: tuple[Subject, ...]
    epochs: int


def phases(subjects: Sequence[Subject], plan: Plan) -> list[Phase]:
    """The final training on everything, then one per fold, which leaves some groups of subjects out."""
    groups = list(dict.fromkeys(subject.group for subject in subjects))
    made = [Phase("final", tuple(subjects), (), plan.epochs)]
    folds = min(plan.folds, len(groups)) if len(groups) > 1 else 0
    for fold in range(folds):
        out = set(groups[fold::folds])
        seen = tuple(subject for subject in subjects if subject.group not in out)
        unseen = tuple(subject for subject in subjects if subject.group in out)
        made.append(Phase(f"fold {fold + 1}", seen, unseen, plan.fold_epochs))
    return made


def steps(phase: Phase, plan: Plan) -> int:
    """How many steps a phase takes."""
    return phase.epochs * math.ceil(len(phase.seen) / plan.per_batch)


class Training:
    """One run in one folder. `run` does what is left of it."""

    def __init__(self, subjects: Sequence[Subject], plan: Plan, folder: Path, base: bytes | None = None, every: int = 50) -> None:
        self.plan, self.folder, self.every, self._base = plan, folder, every, base
        self.phases = phases(subjects, plan)
        self.total = sum(steps(phase, plan) for phase in self.phases)
        self._state = folder / "checkpoint.safetensors"
        self._phase, self._step, self.results = 0, 0, {}
        self._fresh()
        if self._state.exists():
            self._resume()

    @property
    def done(self) -> int:
        """Steps taken so far, over all phases."""
        return sum(steps(phase, self.plan) for phase in self.phases[: self._phase]) + self._step

    def run(self, advance: Advance | None = None, stop_after: int | None = None) -> bool:
        """Train to the end (True), or stop after so many more steps (False); the state is on disk either way."""
        taken = 0
        while self._phase < len(self.phases):
            phase = self.phases[self._phase]
            while self._step < steps(phase, self.plan):
                if stop_after is not None and taken >= stop_after:
                    self._keep()
                    return False
                value = self._one(phase)
                taken, self._step = taken + 1, self._step + 1
                self._note(phase, value)
                if self._step % self.every == 0:
                    self._keep()
                if advance is not None:
                    advance(phase.name, value)
            self._close(phase)
        return True

    def _one(self, phase: Phase) -> float:
        """One step of a phase: draw, compare, learn. The loss."""
        plan, per_epoch = self.plan, math.ceil(len(phase.seen) / self.plan.per_batch)
        epoch, place = divmod(self._step, per_epoch)
        order = generator(f"locase:{plan.seed}:{phase.name}:epoch {epoch}").permutation(len(phase.seen))
        rng = generator(f"locase:{plan.seed}:{phase.name}:step {self._step}")
        queries = plan.last_queries if self._step >= 0.8 * steps(phase, plan) else int(plan.queries * rng.choice([0.5, 1.0, 1.5]))
        predicted, wanted = [], []
        for number in order[place * plan.per_batch : (place + 1) * plan.per_batch]:
            drawn = batch(phase.seen[number], queries, rng, plan.meshes)
            predicted.append(predict(self.model, torch.from_numpy(drawn.patches)))
            wanted.append(torch.from_numpy(drawn.scores))
        for group in self.optimiser.param_groups:
            group["lr"] = plan.rate * schedule(self._step, steps(phase, plan), plan.warm_up)
        value = loss(torch.cat(predicted), torch.cat(wanted))
        self.optimiser.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(self._free(), plan.largest_gradient)
        self.optimiser.step()
        return float(value.detach())

    def _fresh(self) -> None:
        """The network and the optimiser as every phase starts."""
        torch.manual_seed(self.plan.seed)
        self.model = LoCaSE()
        if self._base is not None:
            self.model.load_state_dict(load(self._base))
            self.model.adapt(self.plan.seed)
        self.optimiser = torch.optim.AdamW(self._free(), lr=self.plan.rate, weight_decay=self.plan.weight_decay)

    def _free(self) -> list[torch.nn.Parameter]:
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def _note(self, phase: Phase, value: float) -> None:
        """Keep the mean loss of every epoch, as far as it has got."""
        per_epoch = math.ceil(len(phase.seen) / self.plan.per_batch)
        losses = self.results.setdefault(phase.name, {"losses": []})["losses"]
        if len(losses) <= (self._step - 1) // per_epoch:
            losses.append(0.0)
        losses[-1] += value / per_epoch

    def _close(self, phase: Phase) -> None:
        """Judge what a phase has learnt, export the final weights, and start the next."""
        self.model.merge()
        if phase.unseen:
            left_out = sorted({subject.group for subject in phase.unseen})
            self.results[phase.name] |= {"left_out": left_out, **correlations(self.model, phase.unseen)}
        else:
            write(self.folder / "weights.safetensors", exported(self.model))
        self._phase, self._step = self._phase + 1, 0
        self._fresh()
        self._keep()

    def _keep(self) -> None:
        where = {"plan": asdict(self.plan), "phase": self._phase, "step": self._step, "results": self.results}
        keep(self._state, self.model, self.optimiser, where)

    def _resume(self) -> None:
        where = resume(self._state, self.model, self.optimiser, asdict(self.plan))
        self._phase, self._step, self.results = where["phase"], where["step"], where["results"]


def predict(model: LoCaSE, patches: torch.Tensor) -> torch.Tensor:
    """Scores [M - 1] of the samples of one subject, whose patches [M, Q, 64, 7] start with the reference's."""
    even = torch.full(patches.shape[1:2], 1 / patches.shape[1])
    described = torch.stack([pooled(model.encoder(one), even) for one in patches])
    return model.head(described[1:], described[:1].expand(len(described) - 1, -1))


def scored(model: LoCaSE, subject: Subject) -> np.ndarray:
    """The scores of all samples of a subject, from all their vertices."""
    reference = encoding(model, subject.reference, subject.radius)
    return np.array([compared(model, encoding(model, sample.points, subject.radius), reference) for sample in subject.samples])


def correlations(model: LoCaSE, subjects: Sequence[Subject]) -> dict[str, float]:
    """PLCC, SROCC and KROCC per subject over its damaged meshes, averaged over subjects, and the mean absolute error."""
    rows, errors = [], []
    for subject in subjects:
        damaged = [number for number, sample in enumerate(subject.samples) if sample.name != "undamaged"]
        own, wanted = scored(model, subject)[damaged], np.array([subject.samples[number].score for number in damaged])
        rows.append(agreement(own, wanted))
        errors.append(np.abs(own - wanted).mean())
    means = np.mean([row for row in rows if row is not None] or [[0.0] * 3], axis=0)
    return {"n": len(subjects), "plcc": means[0], "srocc": means[1], "krocc": means[2], "mae": float(np.mean(errors))}


def agreement(own: np.ndarray, wanted: np.ndarray) -> tuple[float, float, float] | None:
    """Pearson's, Spearman's and Kendall's correlation; None where one side does not vary."""
    if len(own) < 3 or np.ptp(own) == 0 or np.ptp(wanted) == 0:
        return None
    return tuple(float(measure(own, wanted).statistic) for measure in (pearsonr, spearmanr, kendalltau))


def exported(model: LoCaSE) -> bytes:
    """The weights as safetensors, the same bytes for the same weights."""
    return save({name: tensor.contiguous() for name, tensor in sorted(model.state_dict().items())})
