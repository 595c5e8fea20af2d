"""Training the small networks lowers their loss."""

import copy

import pytest
import torch

from evaluation.training.course import Course
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
