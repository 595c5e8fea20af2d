"""`python -m evaluation locase`: no object in both parts of a fold, means by hand, and runs that go on where they stopped."""

from __future__ import annotations

import json
from functools import partial

import pytest

from evaluation.__main__ import main
from evaluation.metrics.mesh.locase import acceptance, procedural, tables_command, training
from evaluation.metrics.mesh.locase.acceptance import Case
from evaluation.metrics.mesh.locase.tables_command import OBJECTS, leave_one_out_report
from evaluation.metrics.mesh.locase.training import Plan, phases
from evaluation.synthetic.meshes import KINDS
from evaluation.synthetic.surfaces import box
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.mesh.locase.simulated import noisy, shelf, subjects, untrained


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bricks instead of the procedural objects."""
    monkeypatch.setattr(procedural, "simulated", lambda number, seed, kinds: subjects()[number])
    coarse = Mesh(*box((0, 0, 0), (1.9, 1, 0.6), 0.5))
    case = Case("brick", coarse, tuple(noisy(coarse, n) for n in (1, 2, 3)), (4.0, 3.0, 2.0))
    monkeypatch.setattr(acceptance, "procedural_cases", lambda seed: [case])


def test_there_is_one_object_of_each_of_the_papers_sixteen():
    assert len(KINDS) == OBJECTS == 16, "so that leaving out an object leaves out its kind"


def test_no_object_is_in_both_parts_of_a_fold_and_nothing_is_trained_on_all():
    made = phases(subjects(), Plan(epochs=0, folds=4))
    assert [[one.name for one in phase.unseen] for phase in made] == [[f"brick {n}"] for n in range(4)]
    for phase in made:
        assert len(phase.seen) == 3 and not {one.name for one in phase.seen} & {one.name for one in phase.unseen}


def test_the_mean_over_objects_by_hand():
    """Worked by hand: 0.2, 0.4, 0.6, 0.8 have the mean 0.5 and the deviation 0.2582: 0.5 ± 3.1824 · 0.2582 / 2."""
    folds = {f"fold {n}": {"left_out": [f"brick {n}"], "plcc": 0.2 + 0.2 * n, "srocc": 0.9, "krocc": 0.7} for n in range(4)}
    text = "\n".join(leave_one_out_report(subjects(), 3, folds))
    assert "| brick 3 | 3 | 0.800 | 0.900 | 0.700 |" in text and "| 12 | 0.500 [0.089, 0.911] | 0.900 [0.900, 0.900] |" in text
    assert "| 175 | 0.728 | 0.757 | 0.614 |" in text


def test_a_quick_run_leaves_each_object_out_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    run = partial(main, ["locase", "leave-one-out", "--quick", "--out", str(tmp_path)])
    whole = training.Training.run
    monkeypatch.setattr(training.Training, "run", lambda self, advance: whole(self, advance, stop_after=3))
    monkeypatch.setattr(tables_command, "leave_one_out_report", lambda *_: [])
    assert run() == 0
    monkeypatch.undo()
    monkeypatch.setattr(procedural, "simulated", lambda number, seed, kinds: subjects()[number])
    steps = []
    monkeypatch.setattr(training.Training, "learn", lambda self, *at, learn=training.Training.learn: steps.append(at) or learn(self, *at))
    assert run() == 0 and len(steps) == 3, "three of six steps were done before"
    stored = json.loads((tmp_path / "leave_one_out.json").read_text())
    assert stored["simulated"] and stored["quick"]
    assert [one["left_out"] for one in stored["values"].values()] == [[f"brick {n}"] for n in range(3)]
    assert (tmp_path / "leave_one_out.md").exists() and "95 %" in capsys.readouterr().out


def test_robustness_measures_what_is_left_and_refuses_other_weights(tmp_path, capsys, monkeypatch):
    shelf(tmp_path, monkeypatch, stage1=untrained(), other=untrained(1))
    run = partial(main, ["locase", "robustness", "--quick", "--out", str(tmp_path / "out")])
    measured, whole = [], acceptance.Row.measured
    monkeypatch.setattr(acceptance.Row, "measured", lambda self, bench: measured.append(self.name) or whole(self, bench))
    assert run() == 0 and measured == [row.name for row in acceptance.ROWS]
    text = (tmp_path / "out" / "robustness.md").read_text()
    figures = {one["name"]: one["value"] for one in json.loads((tmp_path / "out" / "robustness.json").read_text())["values"]["figures"]}
    undamaged, turned, noisy, spread = (
        "mean score of the undamaged mesh",
        "mean score change, 10° rotation before the alignment",
        "mean score change, vertex noise of 1 %",
        "standard deviation of the score over rotations before the alignment",
    )
    assert figures[undamaged] == 5 and figures[turned] < 1e-5 < figures[noisy] and figures[spread] < 1e-4
    (soup,) = [line for line in text.splitlines() if "triangle soup" in line and "PLCC" in line]
    value, deviation, *rest = (cell.strip() for cell in soup.split("|")[2:-1])
    assert (value, rest) == ("0.00 %", ["1", "0.10 %", "yes", "9", "-0.03 %"]) and "%" not in deviation, "one object has none"
    file = tmp_path / "out" / "robustness.figures.json"
    kept = json.loads(file.read_text())
    del kept["figures"][acceptance.ROWS[0].name], measured[:]
    file.write_text(json.dumps(kept))
    assert run() == 0 and measured == [acceptance.ROWS[0].name] and (tmp_path / "out" / "robustness.md").read_text() == text
    assert main(["locase", "robustness", "--quick", "--out", str(tmp_path / "out"), "--weights", "other"]) == 2
    assert "other weights" in capsys.readouterr().err


@pytest.mark.parametrize("options", ["leave-one-out --epochs 0", "robustness --threads 0", "robustness --weights none"])
def test_what_cannot_be_done_is_one_sentence(tmp_path, capsys, options):
    assert main(["locase", *options.split(), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "out").exists()
