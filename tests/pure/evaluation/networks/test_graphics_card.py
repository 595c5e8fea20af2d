"""A machine without a card is known as one without loading torch."""

import subprocess
import sys

import pytest
import torch

from evaluation.networks import graphics_card, inference


@pytest.mark.parametrize("driver", ["nvidia0", "nvidia7", "dxg", "kfd"])
def test_a_driver_says_that_a_card_may_be_there(tmp_path, monkeypatch, driver):
    monkeypatch.setattr(graphics_card, "DEVICES", tmp_path)
    (tmp_path / "nvidiactl").touch()
    assert not graphics_card.may_be_there()
    (tmp_path / driver).touch()
    assert graphics_card.may_be_there()


def test_without_a_driver_nobody_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(graphics_card, "DEVICES", tmp_path)
    monkeypatch.setattr(inference, "best_device", lambda: pytest.fail("torch was asked"))
    assert graphics_card.card() is None


@pytest.mark.parametrize(("best", "expected"), [("cpu", None), ("cuda", "cuda")])
def test_with_a_driver_torch_decides(tmp_path, monkeypatch, best, expected):
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr(graphics_card, "DEVICES", tmp_path)
    monkeypatch.setattr(inference, "best_device", lambda: torch.device(best))
    assert graphics_card.card() == expected


def test_mesh_metrics_do_not_load_torch_where_there_is_no_card(tmp_path):
    code = (
        "import sys; from pathlib import Path; from evaluation.networks import graphics_card; graphics_card.DEVICES = Path(sys.argv[1])\n"
        "from evaluation.metrics.mesh import distances, sampling, volume\n"
        "from evaluation.metrics.mesh.pair import MeshPair; from tests.support.evaluation.solids import box, noisy\n"
        "from tests.support.evaluation.metrics.defaults import with_defaults\n"
        "distances.WORTH_A_CARD = sampling.WORTH_A_CARD = 1\n"
        "print(with_defaults('chamfer_l1')(MeshPair.of(noisy(box(), 0.1, 0), box()), n=500).value > 0, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
