"""The damage that trials do, on all twelve houses of the trial run."""

import pytest

from evaluation.properties.corruptions import KINDS
from tests.pure.evaluation.properties.test_corruptions import HOUSES, compare_with_trial


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_score_falls_with_the_level_and_is_near_the_trial_run(kind):
    compare_with_trial(kind, HOUSES)
