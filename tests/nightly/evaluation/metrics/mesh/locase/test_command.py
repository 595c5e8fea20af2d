"""`python -m evaluation train locase`, small: both stages and the card."""

import hashlib
import json
import re
from contextlib import nullcontext

import pytest

from evaluation.__main__ import main
from evaluation.metrics.mesh.locase import acceptance, acceptance_criteria, command, metric, procedural
from evaluation.metrics.mesh.locase.model_card import NO_HUMAN
from evaluation.metrics.mesh.pair import MeshPair
from tests.pure.evaluation.metrics.mesh.locase.test_dataset import table
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.mesh.locase.simulated import brick, noisy, shelf, subjects, untrained

locase = with_defaults("locase")

ROWS = [f"whole{n}.ply,hurt{n}_{level}.ply,{5 - level}" for n in (1, 2) for level in (1, 2, 3)]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bricks instead of the procedural objects, in training and for the acceptance figures."""
    monkeypatch.setattr(procedural, "Procedural", lambda count, seed, folder, processes: nullcontext(subjects()[:count]))
    monkeypatch.setattr(acceptance_criteria, "references", lambda seed: {"long": brick(1.9), "short": brick(1.3)})
    case = acceptance.Case("brick", brick(1.4), tuple(noisy(brick(1.4), n) for n in (1, 2, 3)), (4.0, 3.0, 2.0))
    monkeypatch.setattr(acceptance, "procedural_cases", lambda seed: [case])
    monkeypatch.setattr(metric, "_loaded", {})


def test_stage_one_writes_weights_that_the_card_describes(tmp_path, capsys, monkeypatch):
    options = ["train", "locase", "--out", str(tmp_path), "--epochs", "1", "--folds", "2", "--objects", "2", "--queries", "8"]
    assert main(options) == 0
    said = capsys.readouterr()
    assert "stage1.safetensors" in said.out
    for fold, subject in enumerate(subjects()[:2], start=1):
        assert re.search(rf"judge fold {fold}: .*0/{len(subject.samples)} ", said.err), "a long judgement is seen to go on"
    card, text = json.loads((tmp_path / "stage1.json").read_text()), (tmp_path / "stage1.md").read_text()
    data = (tmp_path / "stage1.safetensors").read_bytes()
    assert card["sha256"] == hashlib.sha256(data).hexdigest() and card["bytes"] == len(data) < 4_000_000
    assert card["human_scores"] is False and card["statement"] == NO_HUMAN and card["statement"] in text
    assert [fold["left_out"] for fold in card["folds"].values()] == [["brick 0"], ["brick 1"]]
    assert set(card["folds_mean"]) >= {
        "plcc",
        "srocc",
        "krocc",
    }
    figures = {figure["name"]: figure for figure in card["acceptance"]}
    assert len(figures) == acceptance.COUNT and figures["PLCC change, triangle soup"]["value"] == 0
    assert figures["mean score change, 10° rotation before the alignment"]["met"] is True
    (rows,) = card["sentences"].values()
    assert len(rows) == 4 and card["may_rank"] == all(row["met"] for row in rows)
    assert ("Shown, not ranked" in text) != card["may_rank"]
    assert [row for row in rows if not (row["text"] in text and row["figure"] in text)] == []
    assert text.count("\n| mean |") == 1 and "PLCC change, triangle soup | 0.00 % | 0.10 % | yes" in text
    monkeypatch.setattr(command, "_describe", lambda *_: None)  # the figures of the same weights, once more
    assert main(options) == 0 and (tmp_path / "stage1.safetensors").read_bytes() == data  # nothing is left to do


def test_stage_two_makes_weights_of_their_own_fingerprint(tmp_path, monkeypatch):
    shelf(tmp_path, monkeypatch, stage1=untrained())
    out = tmp_path / "out"
    scores = table(tmp_path, *ROWS)
    options = ["--epochs", "2", "--fold-epochs", "1", "--queries", "16", "--name", "panel"]
    assert main(["train", "locase", "--stage", "2", "--scores", str(scores), "--out", str(out), *options]) == 0
    card = json.loads((out / "panel.json").read_text())
    assert card["human_scores"] is True and "human scores" in card["data"]["scores"] and card["plan"]["rate"] == 3e-4
    assert [fold["left_out"] for fold in card["folds"].values()] == [["whole1.ply"], ["whole2.ply"]]
    new = (out / "panel.safetensors").read_bytes()
    assert hashlib.sha256(new).hexdigest() == card["sha256"] and new != untrained()

    shelf(tmp_path, monkeypatch, panel=new)
    pair = MeshPair.of(noisy(brick(1.5), 2), brick(1.5))
    assert locase(pair, weights="panel").value != locase(pair).value
