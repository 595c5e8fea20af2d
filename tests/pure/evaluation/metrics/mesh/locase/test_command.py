"""`python -m evaluation train locase`: what it refuses, and its plan. At night it trains (tests/nightly)."""

from contextlib import nullcontext

import pytest
import torch

from evaluation.__main__ import main
from evaluation.metrics.mesh.locase import command, training
from evaluation.metrics.registry import REGISTRY, fingerprint
from evaluation.networks import device_use
from evaluation.networks.inference import best_device
from evaluation.training import run_sequence
from evaluation.training.errors import TrainingError
from tests.support.evaluation.metrics.mesh.locase.simulated import shelf, untrained


@pytest.fixture
def without_card(monkeypatch):
    """A machine on which torch finds no card."""

    def init():
        raise RuntimeError("No CUDA GPUs are available")

    monkeypatch.setattr(torch.cuda, "init", init)
    monkeypatch.setattr(device_use, "_card", [False])
    yield
    best_device.cache_clear()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--stage", "2"], "give --stage 2 together with --scores"),
        (["--scores", "x.csv"], "give --stage 2 together with --scores"),
        (["--epochs", "-3"], "must be at least 1"),
        (["--stage", "2", "--scores", "absent.csv"], "absent.csv"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(tmp_path, capsys, monkeypatch, options, sentence):
    shelf(tmp_path, monkeypatch, stage1=untrained())
    assert main(["train", "locase", "--out", str(tmp_path / "out"), *options]) == 2
    assert sentence in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_card_that_is_not_there_is_said_and_never_replaced_by_the_processor(tmp_path, capsys, without_card):
    assert main(["train", "locase", "--out", str(tmp_path / "out"), "--device", "cuda"]) == 2
    assert "No CUDA GPUs" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("options", "device"), [((), "cpu"), (("--device", "cuda"), "cuda")])
def test_it_trains_on_the_device_that_is_asked_for(tmp_path, capsys, monkeypatch, options, device):
    def made(*given, device, **more):
        raise TrainingError(f"on {device}")

    monkeypatch.setattr(run_sequence, "require", lambda name: name)
    monkeypatch.setattr(training, "Training", made)
    monkeypatch.setattr(command, "_subjects", lambda options: nullcontext([]))
    assert main(["train", "locase", "--out", str(tmp_path / "out"), *options]) == 2
    assert capsys.readouterr().err == f"on {device}\n"


def test_the_defaults_are_those_of_the_plan():
    import argparse

    from evaluation.metrics.mesh.locase.training import Plan

    parser = argparse.ArgumentParser()
    command.add_to(parser.add_subparsers())
    assert command._plan(parser.parse_args(["locase", "--out", "x"])) == Plan()


@pytest.mark.skipif("locase" not in REGISTRY, reason="locase is not registered")
def test_weights_are_part_of_the_fingerprint():
    from evaluation.networks import weights

    shipped = weights.get("locase", "stage1")
    assert fingerprint("locase", {}) == fingerprint("locase", {"weights": "stage1"}, shipped.sha256)
    assert fingerprint("locase", {}) != fingerprint("locase", {}, "0" * 64)
