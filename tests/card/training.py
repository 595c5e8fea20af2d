"""Rows of training: one step on the card, equal to the processor's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluation.metrics.mesh.locase import training as locase
from evaluation.networks import weights
from evaluation.networks.inference import exact
from evaluation.training.preference import training as preference
from evaluation.training.preference.material import Seen
from evaluation.training.preference.votes import Decisions
from tests.card.check import Check, Row
from tests.support.evaluation.metrics.mesh.locase.simulated import subjects

SAME_LOSS, SAME_GRADIENT = 1e-4, 1e-3  # of the loss, and of the gradient's length


def rows(check: Check) -> Iterator[Row]:
    base = weights.require("locase", "stage1").read()
    plans = {
        "LoCaSE, stage 1": lambda folder, device: locase.Training(subjects(), locase.Plan(queries=20), folder, device=device),
        "LoCaSE, stage 2": lambda folder, device: locase.Training(subjects(), locase.Plan(queries=20), folder, base, device=device),
        "wf_learned": _preference,
    }
    for name, make in plans.items():
        yield _row(check, f"a step of training {name}", make)


def _preference(folder: Path, device: str) -> preference.Training:
    rng = np.random.default_rng(0)
    sample, winner, loser = (rng.integers(0, 6, 32) for _ in range(3))
    names = tuple(f"{n}" for n in range(6))
    decisions = Decisions(names, names, sample, winner, np.where(loser == winner, (winner + 1) % 6, loser), 3, 32, 0, 0)
    seen = Seen(rng.normal(size=(6, 6, 1536)).astype(np.float32), np.ones((6, 6), dtype=bool))
    plan = preference.Plan("dinov2-vitb14", preference.digest(decisions, seen), folds=2)
    return preference.Training(decisions, seen, plan, folder, device=device)


def _row(check: Check, name: str, make: Callable[[Path, str], Any]) -> Row:
    sides = []
    if check.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    for number, device in enumerate(("cpu", check.device)):
        folder = check.folder / f"{name} {number}"
        folder.mkdir()
        training = make(folder, device)
        for module in training.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0  # each device draws other numbers
        with exact(device, inference=False):
            loss = training.learn(training.phases[0], 0)
        gradient = torch.cat([one.grad.flatten().double().cpu() for one in training.model.parameters() if one.grad is not None])
        sides.append((loss, gradient, {one.device.type for one in training.model.parameters()}))
    (loss, gradient, _), (there, found, devices) = sides
    off = float((gradient - found).norm() / gradient.norm())
    share = max(abs(loss - there) / (SAME_LOSS * abs(loss)), off / SAME_GRADIENT)
    peak = int(torch.cuda.max_memory_allocated()) if check.device == "cuda" else 0
    verdict = "right" if share <= 1 and devices == {check.device} else "WRONG: its step is another than the processor's"
    return Row(name, verdict, "+".join(sorted(devices)), peak, there, off, share, remark="loss; off by: of the gradient's length")
