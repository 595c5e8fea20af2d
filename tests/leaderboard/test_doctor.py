"""What `manage.py doctor` says of the weights that phases need."""

import pytest

from evaluation import weights
from evaluation.models import PhaseMetric
from leaderboard.management.commands.doctor import Command
from tests.evaluation.networks import random_weights


def test_weights_that_phases_need_are_looked_for_and_checked(phase, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    assert Command()._weights().startswith("0 files")
    PhaseMetric.objects.create(phase=phase, slug="lpips", key="lpips_squeeze", params={})
    with pytest.raises(weights.WeightsError, match=r"get them with: python manage\.py fetch_weights squeezenet1_1 lpips-squeeze"):
        Command()._weights()
    path = random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "lpips-squeeze", random_weights.head("squeeze"))
    assert Command()._weights() == "2 files of weights that phases need are here and unchanged"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(weights.WeightsError, match="has changed since it was fetched"):
        Command()._weights()
