"""`plumbline score`, `compare` and `plot`: files in, files and exit codes out."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import leaderboard.package as plumbline
from evaluation import local
from leaderboard.package import command
from tests.pure.leaderboard.package.test_results import N, written
from tests.support.evaluation.programs import written as program


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("command")
    written(found / "ref", 0.0, 0)
    written(found / "good", 0.1, 0, "pred_{}")
    written(found / "bad", 0.4, 100)
    return found


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """`run(*words)` -> (exit code, stdout, stderr), in the folder."""
    monkeypatch.chdir(folder)

    def call(*words: str) -> tuple[int, str, str]:
        code = command.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def saved(run) -> None:
    asked = ("--metric", "edge_f1", "--metric", "corner_f1", "--param", "corner_f1.tau=0.25")
    assert run("score", "good", "ref", *asked, "--match", "pred_{id}", "--save", "good.json")[0] == 0
    assert run("score", "bad", "ref", *asked, "--save", "bad.json")[0] == 0


def test_score_prints_a_table_and_writes_what_is_asked_for(run, folder):
    code, out, _ = run("score", "bad", "ref", "--metric", "edge_f1", "--save", "r.json", "--csv", "r.csv", "--latex", "r.tex", "--jobs", 2)
    assert code == 0 and out.splitlines()[0].split() == ["metric", "value", "low", "high", "n", "missing"] and "house_01" in out
    assert (folder / "r.csv").read_text().startswith("item,group,edge_f1\n") and r"\toprule" in (folder / "r.tex").read_text()
    code, out, _ = run("score", "bad", "ref", "--metric", "edge_f1", "--json")
    assert json.loads(out) == json.loads((folder / "r.json").read_text())


def test_score_takes_groups_and_units(run, folder):
    rows = "".join(f"house_{n:02},scene{n % 2}\n" for n in range(1, N + 1))
    (folder / "groups.csv").write_text(f"item,group\n{rows}")
    code, out, _ = run("score", "bad", "ref", "--metric", "edge_f1", "--groups", "groups.csv", "--unit", "cm", "--json")
    found = json.loads(out)
    assert code == 0 and found["unit_scale"] == 0.01 and set(found["groups"]) == {"scene0", "scene1"}


def test_score_tells_a_rejected_prediction_from_a_wrong_command(run):
    code, _, said = run("score", "good", "ref", "--metric", "edge_f1")
    assert code == 1 and "pred_" in said
    for words in (("--metric", "nothing"), ("--metric", "edge_f1", "--unit", "ell"), ("--metric", "edge_f1", "--jobs", 0)):
        assert run("score", "bad", "ref", *words)[0] == 2
    assert run("score", "bad", "nowhere")[0] == 2


def test_a_program_of_ones_own_is_scored_and_saved(run, folder, tmp_path):
    code, out, said = run("score", "bad", "ref", "--metric", program(tmp_path / "lengths"), "--json")
    found = json.loads(out)
    assert code == 0 and "runs without a sandbox" in said
    assert found["columns"][0]["slug"] == "lengths" and len(found["scores"]["lengths"]["values"]) == N
    (folder / "program.json").write_text(out)
    check = plumbline.read(folder / "program.json").check()
    assert not check and "local/lengths" in check.differences[0]


def test_progress_of_a_program_ends_at_the_number_of_items(folder, tmp_path):
    told: list[int] = []
    bar = SimpleNamespace(update=told.append, close=lambda: None)
    local.score(folder / "bad", folder / "ref", [str(program(tmp_path / "lengths"))], progress=lambda label, total: bar)
    assert sum(told) == N and min(told) >= 0


def test_a_nightly_gate_passes_and_fails_and_says_when_it_cannot_tell(run, saved, folder):
    assert run("compare", "good.json", "bad.json", "--fail-if-worse")[0] == 0
    code, out, _ = run("compare", "bad.json", "good.json", "--fail-if-worse")
    assert code == 1 and out.count("worse") == 2
    assert run("compare", "bad.json", "good.json")[0] == 0
    code, out, _ = run("compare", "bad.json", "good.json", "--json")
    assert json.loads(out)["exit_status"] == 1
    few = written(folder / "few", 0.1, 0, n=N - 1)
    assert run("score", few, "ref", "--metric", "edge_f1", "--save", "few.json")[0] == 0
    assert run("score", "bad", "ref", "--metric", "edge_f1", "--save", "whole.json")[0] == 0
    code, _, said = run("compare", "few.json", "whole.json", "--fail-if-worse")
    assert code == 2 and "few.json" in said
    code, _, said = run("compare", "few.json", "bad.json", "--fail-if-worse")
    assert code == 2 and "corner_f1" in said


def test_plot_draws_saved_results(run, saved, folder):
    assert run("plot", "chart.svg", "Ours=good.json", "bad.json")[0] == 0
    text = (folder / "chart.svg").read_text()
    assert "<svg" in text
    assert run("plot", "chart.gif", "good.json")[0] == 2 and run("plot", "chart.pdf", "nowhere.json")[0] == 2


def test_info_names_the_version(run):
    code, out, _ = run("info")
    assert code == 0 and out.startswith("plumbline ")
