"""Training the head of `wf_learned`: on all examples, and once per fold. PURE."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.metrics.wireframe.learned.network import Head, accuracy, pair_loss
from evaluation.synthetic.distortions import generator
from evaluation.training.checkpoint import exported, write
from evaluation.training.errors import DataError
from evaluation.training.preference.material import Seen
from evaluation.training.preference.votes import Decisions, Fold, folds, named
from evaluation.training.run_sequence import Phased


@dataclass(frozen=True)
class Plan:
    """Settings of a training run, and its data. Everything that changes the result is in here."""

    features: str
    data: str  # digest of the examples and of the features
    seed: int = 0
    epochs: int = 30
    batch: int = 16
    rate: float = 1e-3
    weight_decay: float = 1e-2
    folds: int = 10


@dataclass(frozen=True, eq=False)
class Phase:
    """One training from the start: on `examples`, and, for a fold, judged on `unseen`."""

    name: str
    examples: Decisions
    fold: Fold | None = None
    unseen: Decisions | None = None

    def steps(self, plan: Plan) -> int:
        return plan.epochs * math.ceil(len(self.examples) / plan.batch)


def digest(decisions: Decisions, seen: Seen) -> str:
    """The digest of all that is trained on."""
    arrays = b"".join(rows.tobytes() for rows in (decisions.sample, decisions.winner, decisions.loser))
    return hashlib.sha256(f"{decisions.samples}{decisions.methods}{seen.digest}".encode() + arrays).hexdigest()


def usable(decisions: Decisions, seen: Seen) -> Decisions:
    """The examples both of whose sides can be looked at. DataError where none are left."""
    kept = seen.known[decisions.sample, decisions.winner] & seen.known[decisions.sample, decisions.loser]
    if not kept.any():
        raise DataError("No decisive vote is about two entries with files; give the folders of the entries that were compared.")
    return decisions.take(kept)


def phases(decisions: Decisions, plan: Plan) -> list[Phase]:
    """The final training on everything, then one per fold; folds go by the samples and methods that are left in the examples."""
    samples, methods = np.unique(decisions.sample), np.unique(np.concatenate([decisions.winner, decisions.loser]))
    made = [Phase("final", decisions)]
    for number, dealt in enumerate(folds(len(samples), len(methods), plan.folds), start=1):
        fold = Fold(tuple(samples[list(dealt.samples)].tolist()), tuple(methods[list(dealt.methods)].tolist()))
        seen, unseen = decisions.take(fold.seen(decisions)), decisions.take(fold.unseen(decisions))
        if len(seen) and len(unseen):
            made.append(Phase(f"fold {number}", seen, fold, unseen))
    return made


class Training(Phased[Phase]):
    """The training of the head, on features of the pictures of both sides, on a `device` of torch."""

    model: Head
    _order: NDArray[np.int64] | None

    def __init__(self, decisions: Decisions, seen: Seen, plan: Plan, folder: Path, every: int = 500, device: str = "cpu") -> None:
        self._features = torch.from_numpy(seen.features).to(device)
        super().__init__(phases(decisions, plan), plan, folder, every)

    def start(self) -> None:
        """See `Phased`."""
        torch.manual_seed(self.plan.seed)
        self.model, self._order = Head(self._features.shape[-1]).to(self._features.device), None
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=self.plan.rate, weight_decay=self.plan.weight_decay, fused=True)

    def learn(self, phase: Phase, step: int) -> float:
        """A batch of pairs, in an order of each epoch's own."""
        plan, examples = self.plan, phase.examples
        epoch, place = divmod(step, math.ceil(len(examples) / plan.batch))
        if place == 0 or self._order is None:
            self._order = generator(f"wireframe-preference:{plan.seed}:{phase.name}:epoch {epoch}").permutation(len(examples))
        rows = self._order[place * plan.batch : (place + 1) * plan.batch]
        torch.manual_seed(plan.seed * 1_000_003 + step)  # dropout
        self.model.train()
        loss = pair_loss(self._likings(examples, examples.winner, rows), self._likings(examples, examples.loser, rows))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        value = float(loss.detach())
        self.note(phase, epoch, value * len(rows) / len(examples))
        return value

    @torch.inference_mode()
    def close(self, phase: Phase) -> dict[str, Any]:
        """Results of a fold on the votes that it has not seen; the final head is exported."""
        self.model.eval()
        if phase.fold is None or phase.unseen is None:
            write(self.folder / "weights.safetensors", exported(self.model.state_dict()))
            return {}
        margins = self._likings(phase.unseen, phase.unseen.winner) - self._likings(phase.unseen, phase.unseen.loser)
        names = phase.examples
        return {
            "samples": named(phase.fold.samples, names.samples),
            "methods": named(phase.fold.methods, names.methods),
            "trained_on": len(phase.examples),
            "pairs": len(phase.unseen),
            "accuracy": accuracy(margins),
        }

    def _likings(self, examples: Decisions, side: np.ndarray, rows: np.ndarray | slice = slice(None)) -> torch.Tensor:
        """g of one side of these examples."""
        return self.model(self._features[examples.sample[rows], side[rows]])


def over_folds(results: dict[str, dict[str, Any]]) -> dict[str, float | int | None]:
    """Mean and standard deviation (ddof 1; None for one) of the accuracy over the folds, and how many there are."""
    found = [one["accuracy"] for one in results.values() if "accuracy" in one]
    if not found:
        return {"folds": 0, "mean": None, "sd": None}
    return {"folds": len(found), "mean": float(np.mean(found)), "sd": float(np.std(found, ddof=1)) if len(found) > 1 else None}
