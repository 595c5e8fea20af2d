"""`python -m evaluation train locase`: what it refuses, and its plan. At night it trains (tests/nightly)."""

import pytest

from evaluation.__main__ import main
from evaluation.metrics.mesh.locase import command
from evaluation.metrics.registry import REGISTRY, fingerprint
from tests.support.evaluation.metrics.mesh.locase.made_up import shelf, untrained


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
