"""Studies of one's own: from frames, paths and files, on any scale, with the figures of published sets."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas
import pytest
import scipy

import leaderboard.package as plumbline
from leaderboard.package import study_command
from leaderboard.stats.evidence.plain_correlations import kendall, pearson
from leaderboard.stats.votes import VotesError

GROUPS, ENTRIES, RATERS = 8, 5, 12
RNG = np.random.default_rng(4)
QUALITY = RNG.normal(0, 1, (GROUPS, ENTRIES))
NAMES = [(f"scene{g}", f"method{e}") for g in range(GROUPS) for e in range(ENTRIES)]


def scored(low: float, high: float) -> pandas.DataFrame:
    """Scores of every rater for every stimulus, on that scale."""
    found = np.clip(0.5 + 0.2 * QUALITY.ravel() + RNG.normal(0, 0.1, (RATERS, GROUPS * ENTRIES)), 0, 1)
    rows = [
        {"rater": f"r{k}", "sample": sample, "entry": entry, "score": low + (high - low) * found[k, n]}
        for k in range(RATERS)
        for n, (sample, entry) in enumerate(NAMES)
    ]
    return pandas.DataFrame(rows)


SCORES = scored(0, 10)
VALUES = pandas.DataFrame(
    {
        "sample": [sample for sample, _ in NAMES],
        "entry": [entry for _, entry in NAMES],
        "psnr": QUALITY.ravel() + RNG.normal(0, 0.5, GROUPS * ENTRIES),
        "mine:lower": -QUALITY.ravel() + RNG.normal(0, 1, GROUPS * ENTRIES),
    }
)


def test_over_stimuli_the_values_are_scipys_with_intervals_around_them():
    table = plumbline.opinions(SCORES, scale=(0, 10)).agreement(VALUES).set_index("metric")
    mean = SCORES.groupby(["sample", "entry"])["score"].mean().reindex(pandas.MultiIndex.from_tuples(NAMES)).to_numpy()
    for name, sign in (("psnr", 1), ("mine", -1)):
        x, row = sign * VALUES["psnr" if name == "psnr" else "mine:lower"], table.loc[name]
        assert row["srcc"] == pytest.approx(scipy.stats.spearmanr(x, mean).statistic, abs=1e-12)
        assert row["plcc"] == pytest.approx(scipy.stats.pearsonr(x, mean).statistic, abs=1e-12)
        assert row["krcc"] == pytest.approx(scipy.stats.kendalltau(x, mean).statistic, abs=1e-12)
        assert row["plcc_fitted"] >= row["plcc"] - 1e-3 and row["n"] == GROUPS * ENTRIES and row["raters"] == RATERS
        assert row["rmse"] == pytest.approx(mean.std() * math.sqrt(1 - row["plcc_fitted"] ** 2))
        for figure in ("srcc", "plcc", "krcc", "plcc_fitted", "rmse"):
            assert row[f"{figure}_low"] < row[figure] < row[f"{figure}_high"]


@pytest.mark.parametrize("statistic", [(pearson, scipy.stats.pearsonr), (kendall, scipy.stats.kendalltau)])
def test_a_correlation_counts_the_stimuli_that_are_left(statistic):
    ours, theirs = statistic
    x, y = RNG.integers(0, 6, 20).astype(float), RNG.integers(0, 4, (3, 20)).astype(float)
    y[1, :7] = math.nan
    y[2] = 1.0
    found = ours(x, y)
    assert found[0] == pytest.approx(theirs(x, y[0]).statistic, abs=1e-12)
    assert found[1] == pytest.approx(theirs(x[7:], y[1, 7:]).statistic, abs=1e-12) and math.isnan(found[2])


def test_no_figure_over_stimuli_depends_on_the_scale_but_the_error():
    ten = plumbline.opinions(SCORES, scale=(0, 10)).agreement(VALUES)
    hundred = plumbline.opinions(SCORES.assign(score=SCORES["score"] * 10), scale=(0, 100)).agreement(VALUES)
    assert np.allclose(ten[["srcc", "plcc", "krcc", "plcc_fitted"]], hundred[["srcc", "plcc", "krcc", "plcc_fitted"]], atol=1e-6)
    assert np.allclose(10 * ten["rmse"], hundred["rmse"], atol=1e-4)


def test_a_score_outside_the_declared_scale_is_refused_by_line():
    with pytest.raises(VotesError, match=r"the frame of scores: line \d+: score is '[\d.]+'; it must be a number from 1 to 5"):
        plumbline.opinions(SCORES, scale=(1, 5))
    with pytest.raises(ValueError, match="scale must be its lowest and its highest score"):
        plumbline.opinions(SCORES, scale=(5, 1))


def test_frames_paths_and_open_files_are_one(tmp_path):
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    with (tmp_path / "scores.csv").open() as stream:
        tables = [plumbline.opinions(data, (0, 10)).entries() for data in (SCORES, tmp_path / "scores.csv", stream)]
    assert [table for table in tables if not table.equals(tables[0])] == []
    assert tables[0]["mean"].is_monotonic_decreasing and len(tables[0]) == ENTRIES
    of_best = SCORES.groupby("entry")["score"].mean()
    assert tables[0]["entry"][0] == of_best.idxmax() and tables[0]["mean"][0] == pytest.approx(of_best.max())


def test_intervals_take_groups_as_declared():
    groups = {f"scene{g}": f"source{g // 4}" for g in range(GROUPS)}
    study = plumbline.opinions(SCORES, (0, 10), groups=groups)
    table = study.agreement(VALUES)
    assert "in 2 groups" in repr(study) and table["groups"].eq(2).all() and table["why"].str.startswith("Too few groups").all()
    with pytest.raises(ValueError, match="names no group of 'scene1'"):
        plumbline.opinions(SCORES, (0, 10), groups={"scene0": "a"})


def test_a_metric_in_line_with_people_has_its_value_and_says_why_it_has_no_interval():
    mean = SCORES.groupby(["sample", "entry"], as_index=False)["score"].mean().rename(columns={"score": "same:higher"})
    row = plumbline.opinions(SCORES, (0, 10)).agreement(mean).iloc[0]
    assert row["srcc"] == 1.0 and pandas.isna(row["srcc_low"]) and row["why"]


def test_means_alone_give_figures_over_groups():
    mean = SCORES.groupby(["sample", "entry"], as_index=False)["score"].mean().rename(columns={"score": "mean"})
    study = plumbline.means(mean, scale=(0, 10))
    over_stimuli, within = study.agreement(VALUES), study.agreement(VALUES, by="item")
    assert over_stimuli["raters"].isna().all() and over_stimuli["srcc"].between(0.2, 1).all()
    assert "concordance" in within and "decided" not in within and within["concordance"].between(0.5, 1).all()
    with pytest.raises(VotesError, match="two means"):
        plumbline.means(pandas.concat([mean, mean]))
    with pytest.raises(VotesError, match="must be a number from 0 to 1"):
        plumbline.means(mean, scale=(0, 1))


def test_votes_decide_within_items():
    votes = {g: "left" if QUALITY[g, 0] > QUALITY[g, 1] else "right" for g in range(GROUPS)}
    rows = [
        {"rater": f"r{k}", "sample": f"scene{g}", "left": "method0", "right": "method1", "choice": choice}
        for k in range(RATERS)
        for g, choice in votes.items()
    ]
    study = plumbline.votes(pandas.DataFrame(rows))
    exact = pandas.DataFrame(
        {"sample": VALUES["sample"], "entry": VALUES["entry"], "true:higher": QUALITY.ravel(), "false:lower": QUALITY.ravel()}
    )
    table = study.agreement(exact, by="item").set_index("metric")
    assert (
        table.loc["true", "decided"] == 1.0 and table.loc["false", "decided"] == 0.0 and table.loc["true", "decided_n"] == RATERS * GROUPS
    )
    with pytest.raises(ValueError, match="no order of all stimuli"):
        study.agreement(exact)


def test_values_say_their_direction_and_name_stimuli_of_the_study():
    study = plumbline.opinions(SCORES, (0, 10))
    renamed = VALUES.rename(columns={"mine:lower": "mine"})
    with pytest.raises(VotesError, match="Nothing says whether a higher mine is better"):
        study.agreement(renamed)
    assert study.agreement(renamed, higher_is_better={"mine": False}).equals(study.agreement(VALUES))
    with pytest.raises(VotesError, match="no value of a stimulus"):
        study.agreement(VALUES.assign(entry="other"))
    with pytest.raises(VotesError, match="psnr is 'good'"):
        study.agreement(VALUES.assign(psnr="good"))


def test_the_command_takes_a_scale_and_means(tmp_path, capsys):
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    VALUES.to_csv(tmp_path / "values.csv", index=False)
    words = [str(tmp_path / "scores.csv"), "--scale", "0:10", "--scores", str(tmp_path / "values.csv")]
    assert study_command.main(words) == 0
    text = capsys.readouterr().out
    assert "<opinions on 40 stimuli" in text and "agreement by stimulus" in text and "psnr" in text
    assert study_command.main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    srcc = plumbline.opinions(SCORES, (0, 10)).agreement(VALUES)["srcc"][0]
    assert found["agreement by stimulus"][0]["srcc"] == pytest.approx(srcc, abs=1e-12)
    assert study_command.main([words[0], "--scale", "1:5"]) == 1 and "from 1 to 5" in capsys.readouterr().err
    assert study_command.main([str(tmp_path / "none.csv"), "--scale", "1:5"]) == 2


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="a frame, a path or an open file, got int"):
        plumbline.opinions(5, (0, 10))
    assert plumbline.opinions(io.StringIO("rater,entry,score\na,x,3\nb,x,4\na,y,1\n"), (0, 10)).kind == "opinions"
