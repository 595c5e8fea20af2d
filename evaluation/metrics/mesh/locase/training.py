"""Training LoCaSE, on all objects and once per fold: by the error, 1 − Pearson's correlation, and 1 − Spearman's with soft ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr
from torch import Tensor, nn
from torch.nn import functional

from evaluation.metrics.mesh.locase.dataset import Subject, batch
from evaluation.metrics.mesh.locase.network import LoCaSE, pooled
from evaluation.metrics.mesh.locase.scoring import compared, encoded
from evaluation.synthetic.distortions import generator
from evaluation.training.checkpoint import schedule, write
from evaluation.training.run_sequence import Phased

STRENGTH = 0.1  # of the regularisation of soft ranks, on z-scored predictions
_FLAT = 1e-8


class _SoftRank(torch.autograd.Function):
    """Ranks 1 to n (the largest value has rank n) as the projection of x / strength onto the permutahedron.

    L2-regularised (Blondel et al., 2020). Sorted, the projection is s minus the isotonic fit to s - (n, ..., 1); the
    fit averages over blocks, and so does its derivative.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, strength: float) -> Tensor:
        scaled = values.detach().double() / strength
        order = torch.argsort(scaled, descending=True, stable=True)
        descending = scaled[order]
        steps = torch.arange(len(values), 0, -1, dtype=torch.float64, device=values.device)
        blocks = _isotonic_blocks((descending - steps).tolist())
        sizes = torch.tensor([size for _, size in blocks], device=values.device)
        fit = torch.tensor([mean for mean, _ in blocks], dtype=torch.float64, device=values.device).repeat_interleave(sizes)
        ranks = torch.empty_like(scaled)
        ranks[order] = descending - fit
        ctx.order, ctx.sizes, ctx.strength = order, sizes, strength
        return ranks.to(values.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        sorted_ = gradient.double()[ctx.order]
        block = torch.arange(len(ctx.sizes), device=gradient.device).repeat_interleave(ctx.sizes)
        mean = torch.zeros(len(ctx.sizes), dtype=torch.float64, device=gradient.device).index_add_(0, block, sorted_) / ctx.sizes
        back = torch.empty_like(sorted_)
        back[ctx.order] = (sorted_ - mean[block]) / ctx.strength
        return back.to(gradient.dtype), None


def soft_rank(values: Tensor, strength: float = STRENGTH) -> Tensor:
    """Differentiable ranks [n] of values [n]; hard ranks as the strength goes to 0."""
    return _SoftRank.apply(values, strength)


def plcc(a: Tensor, b: Tensor) -> Tensor | None:
    """Pearson's correlation of [n] and [n]; None where one of them hardly varies."""
    if len(a) < 2 or a.detach().std() < _FLAT or b.detach().std() < _FLAT:
        return None
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / (a.norm() * b.norm())


def rank_correlation(predicted: Tensor, target: Tensor, strength: float = STRENGTH) -> Tensor | None:
    """Spearman's correlation of soft ranks of the z-scored predictions and mid-ranks of the targets, or None as in `plcc`."""
    if len(predicted) < 2 or predicted.detach().std() < _FLAT or target.std() < _FLAT:
        return None
    scored = (predicted - predicted.mean()) / predicted.std()
    ranks = torch.as_tensor(rankdata(target.cpu().numpy()), dtype=predicted.dtype, device=predicted.device)
    return plcc(soft_rank(scored, strength), ranks)


def loss(predicted: Tensor, target: Tensor, shares: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Tensor:
    """Weighted sum of the three terms; a correlation that does not exist counts nothing."""
    total = shares[0] * functional.smooth_l1_loss(predicted, target, beta=1.0)
    for share, correlation in zip(shares[1:], (plcc(predicted, target), rank_correlation(predicted, target)), strict=True):
        if correlation is not None:
            total = total + share * (1 - correlation)
    return total


def _isotonic_blocks(values: list[float]) -> list[tuple[float, int]]:
    """The non-increasing fit of least squares as (mean, size) of its blocks, by pooling adjacent violators."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, size = value, 1
        while blocks and blocks[-1][0] < mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    return blocks


Judging = Callable[[str, int], Callable[[], None]]  # of a phase's name and how many meshes it judges: what to call after each


@dataclass(frozen=True)
class Plan:
    """The settings of a training. Everything that changes the result is in here."""

    stage: int = 1
    seed: int = 0
    epochs: int = 4  # in each, every subject is seen once; 0: folds alone
    fold_epochs: int = 1
    folds: int = 0
    queries: int = 40  # points of every mesh looked at in one step: half, all or one and a half times as many
    last_queries: int = 80  # in the last fifth of the steps, where the network gets used to whole meshes
    rate: float = 1e-3
    weight_decay: float = 1e-2
    warm_up: int = 50  # steps
    per_batch: int = 1  # subjects whose meshes are one batch
    meshes: int | None = 16  # of each subject in one step, drawn at random; None: all
    largest_gradient: float = 5.0
    average: float = 0.99  # of the weights of each step, the share of what went before


@dataclass(frozen=True)
class Phase:
    """One training from the start: on `seen`, and judged on `unseen`."""

    name: str
    seen: Sequence[Subject]
    unseen: Sequence[Subject]
    epochs: int

    def steps(self, plan: Plan) -> int:
        return self.epochs * math.ceil(len(self.seen) / plan.per_batch)


def phases(subjects: Sequence[Subject], plan: Plan) -> list[Phase]:
    """The final training on everything, unless it has no epochs; then one per fold, which leaves some groups of subjects out."""
    made = [Phase("final", subjects, (), plan.epochs)] if plan.epochs else []
    if not plan.folds:
        return made
    groups = list(dict.fromkeys(subject.group for subject in subjects))
    folds = min(plan.folds, len(groups)) if len(groups) > 1 else 0
    for fold in range(folds):
        out = set(groups[fold::folds])
        seen = tuple(subject for subject in subjects if subject.group not in out)
        unseen = tuple(subject for subject in subjects if subject.group in out)
        made.append(Phase(f"fold {fold + 1}", seen, unseen, plan.fold_epochs))
    return made


class Training(Phased[Phase]):
    """Training of the whole network, or of its adapters where there are weights to start from, on a `device` of torch.

    The running mean of the weights is judged and exported, so that a run may be stopped anywhere.
    """

    model: LoCaSE

    def __init__(
        self,
        subjects: Sequence[Subject],
        plan: Plan,
        folder: Path,
        base: bytes | None = None,
        every: int = 50,
        judging: Judging = lambda name, total: _nothing,
        device: str = "cpu",
    ) -> None:
        self._base, self._judging, self._device = base, judging, device
        super().__init__(phases(subjects, plan), plan, folder, every)

    def start(self) -> None:
        """See `Phased`."""
        torch.manual_seed(self.plan.seed)
        self.model = LoCaSE()
        if self._base is not None:
            self.model.load_state_dict(load(self._base))
            self.model.adapt(self.plan.seed)
        self.model.to(self._device)
        self.average = deepcopy(self.model).requires_grad_(False)
        self.optimiser = torch.optim.AdamW(self._free(), lr=self.plan.rate, weight_decay=self.plan.weight_decay)

    @property
    def kept(self) -> nn.Module:
        """See `Phased`."""
        return nn.ModuleDict({"live": self.model, "average": self.average})

    def learn(self, phase: Phase, step: int) -> float:
        """Draw, compare, learn."""
        plan, per_epoch = self.plan, math.ceil(len(phase.seen) / self.plan.per_batch)
        epoch, place = divmod(step, per_epoch)
        order = generator(f"locase:{plan.seed}:{phase.name}:epoch {epoch}").permutation(len(phase.seen))
        if epoch == 0:
            order = np.arange(len(phase.seen))  # in which they are made
        rng = generator(f"locase:{plan.seed}:{phase.name}:step {step}")
        queries = plan.last_queries if step >= 0.8 * phase.steps(plan) else int(plan.queries * rng.choice([0.5, 1.0, 1.5]))
        losses = []
        for number in order[place * plan.per_batch : (place + 1) * plan.per_batch]:
            drawn = batch(phase.seen[number], queries, rng, plan.meshes)
            patches, scores = (torch.from_numpy(each).to(self._device) for each in (drawn.patches, drawn.scores))
            losses.append(loss(predict(self.model, patches), scores))
        for group in self.optimiser.param_groups:
            group["lr"] = plan.rate * schedule(step, phase.steps(plan), plan.warm_up)
        value = torch.stack(losses).mean()
        self.optimiser.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(self._free(), plan.largest_gradient)
        self.optimiser.step()
        # Take the mean along; early on it forgets faster, so that it does not keep the untrained network.
        share = min(plan.average, (1 + step) / (10 + step))
        with torch.no_grad():
            for mean, now in zip(self.average.parameters(), self.model.parameters(), strict=True):
                mean.lerp_(now, 1 - share)
        self.note(phase, epoch, float(value.detach()) / per_epoch)
        return float(value.detach())

    def stop(self) -> None:
        """See `Phased`; the mean loss of an interrupted epoch is over its steps."""
        super().stop()
        phase = self.phases[self._phase]
        per_epoch = math.ceil(len(phase.seen) / self.plan.per_batch)
        if taken := self._step % per_epoch:
            self.results[phase.name]["losses"][-1] *= per_epoch / taken

    def close(self, phase: Phase) -> dict[str, Any]:
        """Evaluation of a fold on the objects it has not seen; the final weights are exported."""
        self.model.load_state_dict(self.average.state_dict())
        self.model.merge()
        if not phase.unseen:
            write(self.folder / "weights.safetensors", exported(self.model))
            return {}
        advance = self._judging(phase.name, sum(len(subject.samples) for subject in phase.unseen))
        return {"left_out": sorted({subject.group for subject in phase.unseen}), **correlations(self.model, phase.unseen, advance)}

    def _free(self) -> list[torch.nn.Parameter]:
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]


def predict(model: LoCaSE, patches: torch.Tensor) -> torch.Tensor:
    """Scores [M - 1] of the samples of one subject, whose patches [M, Q, 64, 7] start with the reference's."""
    even = torch.full(patches.shape[1:2], 1 / patches.shape[1], device=patches.device)
    described = torch.stack([pooled(model.encoder(one), even) for one in patches])
    return model.head(described[1:], described[:1].expand(len(described) - 1, -1))


def _nothing() -> None:
    """Nobody watches."""


def scored(model: LoCaSE, subject: Subject, advance: Callable[[], None] = _nothing) -> np.ndarray:
    """The scores of all samples of a subject, from all their vertices; `advance` is called after each."""
    reference, scores = encoded(model, subject.reference, subject.how), []
    for sample in subject.samples:
        scores.append(compared(model, encoded(model, sample.points, subject.how), reference))
        advance()
    return np.array(scores)


def correlations(model: LoCaSE, subjects: Sequence[Subject], advance: Callable[[], None] = _nothing) -> dict[str, float]:
    """PLCC, SROCC and KROCC per subject over its damaged meshes, averaged over subjects, and the mean absolute error."""
    rows, errors = [], []
    for subject in subjects:
        damaged = [number for number, sample in enumerate(subject.samples) if sample.name != "undamaged"]
        own, wanted = scored(model, subject, advance)[damaged], np.array([subject.samples[number].score for number in damaged])
        rows.append(agreement(own, wanted))
        errors.append(np.abs(own - wanted).mean())
    means = np.mean([row for row in rows if row is not None] or [(0.0, 0.0, 0.0)], axis=0)
    return {"n": len(subjects), "plcc": means[0], "srocc": means[1], "krocc": means[2], "mae": float(np.mean(errors))}


def agreement(own: np.ndarray, wanted: np.ndarray) -> tuple[float, float, float] | None:
    """Pearson's, Spearman's and Kendall's correlation; None where one side does not vary."""
    if len(own) < 3 or np.ptp(own) == 0 or np.ptp(wanted) == 0:
        return None
    plcc, srocc, krocc = (float(measure(own, wanted).statistic) for measure in (pearsonr, spearmanr, kendalltau))
    return plcc, srocc, krocc


def exported(model: LoCaSE) -> bytes:
    """The weights as safetensors, the same bytes for the same weights."""
    return save({name: tensor.contiguous() for name, tensor in sorted(model.state_dict().items())})
