"""Phases one after another: a toy whose figures are known, stopped at every step."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch

from evaluation.training.errors import TrainingError
from evaluation.training.run_sequence import Phased


@dataclass(frozen=True)
class Plan:
    rate: float = 0.5


@dataclass(frozen=True)
class Pull:
    """Pulls a number, which starts at 0, to `goal` in `n` steps."""

    name: str
    goal: float
    n: int

    def steps(self, plan: Plan) -> int:
        return self.n


PHASES = (Pull("first", 1.0, 3), Pull("second", -2.0, 4))


class Toy(Phased[Pull]):
    """Steps of gradient descent on (x - goal)² / 2: each leaves the share 1 - rate of what is missing."""

    def start(self) -> None:
        self.model = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(self.model.weight)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=self.plan.rate)

    def learn(self, phase: Pull, step: int) -> float:
        loss = ((self.model.weight - phase.goal) ** 2 / 2).sum()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.note(phase, step // 2, loss.item())
        return loss.item()

    def close(self, phase: Pull) -> dict[str, Any]:
        return {"at": self.model.weight.item()}


def test_each_phase_starts_anew_and_keeps_its_figures(tmp_path):
    toy, told = Toy(PHASES, Plan(), tmp_path, every=2), []
    assert (toy.total, toy.done) == (7, 0)
    assert toy.run(lambda name, loss: told.append((name, loss)))
    assert toy.results["first"] == {"losses": [0.5 + 0.125, 0.03125], "at": 0.875}
    assert toy.results["second"] == {"losses": [2 + 0.5, 0.125 + 0.03125], "at": -1.875}
    assert told[3] == ("second", 2.0) and toy.done == 7


@pytest.mark.parametrize("stop", range(7))
def test_a_run_that_stopped_goes_on_to_the_same(tmp_path, stop):
    whole = Toy(PHASES, Plan(), tmp_path / "whole", every=2)
    whole.run()
    stopped = Toy(PHASES, Plan(), tmp_path / "parts", every=2)
    assert not stopped.run(stop_after=stop) and stopped.done == stop
    again = Toy(PHASES, Plan(), tmp_path / "parts", every=2)
    assert again.done == stop and again.run() and again.results == whole.results


def test_another_plan_does_not_go_on_with_it(tmp_path):
    Toy(PHASES, Plan(), tmp_path, every=2).run(stop_after=1)
    with pytest.raises(TrainingError, match="holds a run with another plan"):
        Toy(PHASES, Plan(rate=0.25), tmp_path, every=2)
