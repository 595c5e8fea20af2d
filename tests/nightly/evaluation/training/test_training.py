"""Training the small networks lowers their loss, and goes on where it was killed."""

import copy
from dataclasses import replace

import pytest
import torch

from evaluation.training.resumable_run import Course, exported
from tests.pure.evaluation.training.test_training import SMALL, drawn, lesson

__all__ = ["drawn"]  # the fixture


@pytest.mark.parametrize("network", SMALL)
def test_a_few_steps_lower_the_loss(network, drawn, tmp_path):
    course = Course(lesson(SMALL[network], drawn), SMALL[network], tmp_path)

    def on_the_first_batch() -> float:
        with torch.no_grad():
            return float(course.lesson.loss(copy.deepcopy(course.live), 0))

    before = on_the_first_batch()
    assert course.run() and len(course.losses) == SMALL[network].steps
    assert on_the_first_batch() < 0.9 * before


@pytest.mark.parametrize("network", SMALL)
def test_an_interrupted_run_ends_like_an_uninterrupted_one(network, drawn, tmp_path):
    plan = replace(SMALL[network], steps=4)
    whole = Course(lesson(plan, drawn), plan, tmp_path / "whole")
    assert whole.run()
    assert not Course(lesson(plan, drawn), plan, tmp_path / "parts").run(stop_after=2)

    def killed(loss: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # after a step that is not on disk
        Course(lesson(plan, drawn), plan, tmp_path / "parts").run(killed)
    parts = Course(lesson(plan, drawn), plan, tmp_path / "parts")
    assert parts.done == 2 and parts.run() and parts.losses == whole.losses
    assert exported(parts.average.state_dict()) == exported(whole.average.state_dict())
