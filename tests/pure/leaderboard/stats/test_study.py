"""The analysis as a whole, and the command that makes it."""

import csv
import json
import math
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

from leaderboard.stats import __main__ as command
from leaderboard.stats.records import plain
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import canonical, write
from leaderboard.wording.reasons import sentence
from leaderboard.wording.worded import told
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.stats.ballots import simulated_votes, vote


@pytest.fixture(scope="module")
def votes():
    return canonical([*simulated_votes(6, 3, 5), vote("m1", "m0", "right", "r0", "s0", repeat_of="1", group="a")])


def test_everything_is_there_and_is_written_in_the_types_of_json(votes):
    better = np.tile(np.arange(5)[::-1], (3, 1)).astype(float)
    found = analyse(votes, [MetricScores("good", better), MetricScores("bad", better, higher_is_better=False)], {("m0", "m4")}, "m4")
    assert json.loads(json.dumps(plain(found), allow_nan=False)) == plain(found)
    assert found.scales[0].method == "m0" and found.scales[-1].method == "m4"
    assert found.scales[-1].judge_elo[0] == 1000 and found.anchor == "m4"
    assert found.counted == 6 * 3 * 10 and found.repeats == 1 and found.questions == 30
    assert found.agreement.kinds == ["person"] * 6 + ["metric"] * 2
    assert len(set(found.agreement.cluster)) == 2
    good, bad = found.metric("good"), found.metric("bad")
    assert good.pairs.value == pytest.approx(1 - bad.pairs.value) and good.pairs.value > 0.7
    assert good.groups["a"].value > good.groups["b"].value  # raters of group a like the methods in this very order
    assert good.order.srocc == pytest.approx(-bad.order.srocc)
    assert found.reliability.gold.value == 1.0 and found.reliability.panel_error == 0.0
    assert {curve.resource for curve in found.adequacy} == {"raters", "comparisons", "samples"}


def test_the_same_votes_in_another_order_give_the_same_analysis():
    rows = simulated_votes(4, 2, 4)
    assert analyse(canonical(rows)) == analyse(canonical(rows[::-1]))


def test_an_anchor_that_nobody_judged_is_refused(votes):
    with pytest.raises(ValueError, match="There is no method 'none' in the votes to anchor at; there are: m0, m1"):
        analyse(votes, anchor="none")


def test_a_metric_without_values_has_no_figures(votes):
    found = analyse(votes, [MetricScores("absent", np.full((3, 5), math.nan))]).metric("absent")
    assert found.pairs.value is None and found.order.srocc is None


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(write(simulated_votes(4, 2, 4)))
    return path


def test_the_command_prints_json_and_never_loads_django(file):
    code = (
        "import sys; from leaderboard.stats.__main__ import main; code = main(sys.argv[1:]); "
        "assert 'django' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file), "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["criteria"][""]
    assert found == json.loads(json.dumps(told(analyse(canonical(simulated_votes(4, 2, 4))))))
    assert [row["key"] for row in found["metrics"]] == ["constant", "coin"] and found["metrics"][0]["decided"]["value"] == 0.5
    assert found["reason"] == asdict(few_raters(4)) and found["why"] == sentence(few_raters(4))


def test_the_command_reads_scores_with_their_direction(file, tmp_path, capsys):
    scores = tmp_path / "scores.csv"
    lines = [f"s{h},m{m},{m},{-m}" for h in range(2) for m in range(4)]
    scores.write_text("\n".join(["sample,method,error:lower,fit:higher", *lines, "elsewhere,m0,1,1", ""]))
    assert command.main([str(file), "--scores", str(scores), "--tie", "error=0.5"]) == 0
    printed = capsys.readouterr().out
    assert sentence(few_raters(4)) in printed and "raters: " in printed
    assert command.main([str(file), "--scores", str(scores), "--json"]) == 0
    error, fit = json.loads(capsys.readouterr().out)["criteria"][""]["metrics"][:2]
    assert error["decided"] == fit["decided"] and error["decided"]["value"] > 0.5


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        (["--criterion", "beauty"], 1, "holds no votes on 'beauty'"),
        (["--anchor", "nobody"], 2, "There is no method 'nobody'"),
        (["--column", "choice=winner"], 1, "has no column winner"),
    ],
)
def test_what_the_command_cannot_do_it_says(file, capsys, more, code, sentence):
    assert command.main([str(file), *more]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sample,method,psnr\ns0,m0,1\n", "must have the columns sample, method and KEY:higher or KEY:lower"),
        ("sample,method,psnr:higher\ns0,m0,good\n", "scores.csv: line 2: psnr:higher is 'good'; it must be a number, or empty."),
    ],
)
def test_scores_that_cannot_be_read_are_named(file, tmp_path, capsys, text, sentence):
    (tmp_path / "scores.csv").write_text(text)
    assert command.main([str(file), "--scores", str(tmp_path / "scores.csv")]) == 1
    assert sentence in capsys.readouterr().err
