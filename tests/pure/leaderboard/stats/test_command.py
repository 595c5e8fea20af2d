"""The names in the command's JSON, which pages, exports and the API share."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.stats import mos_table, votes
from leaderboard.stats.__main__ import main
from leaderboard.stats.mos_table import Rating
from tests.pure.leaderboard.stats.test_invariance import ENTRIES, RATERS, SAMPLES, study, values

ENDS = {"value", "low", "high"}


def written(folder: Path, name: str, rows: Any) -> Path:
    with (folder / name).open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return folder / name


@pytest.fixture
def scores(tmp_path) -> Path:
    tables = values()
    rows = [["sample", "method", *(f"{key}:higher" for key in tables)]]
    for h, sample in enumerate(SAMPLES):
        rows += [[sample, entry, *(repr(float(x[h, n])) for x in tables.values())] for n, entry in enumerate(ENTRIES)]
    return written(tmp_path, "scores.csv", rows)


@pytest.fixture
def found(capsys):
    """What the command prints of a file, on its only criterion."""

    def of(*given: Any) -> dict[str, Any]:
        assert main([*map(str, given), "--json"]) == 0
        (only,) = json.loads(capsys.readouterr().out)["criteria"].values()
        return only

    return of


def has(record: dict[str, Any], names: set[str]) -> None:
    assert names <= record.keys(), names - record.keys()


def check_metrics(rows: list[dict[str, Any]]) -> None:
    assert [row["key"] for row in rows][-2:] == ["constant", "coin"] and [row["guard"] for row in rows] == [False] * 3 + [True] * 2
    for row in rows:
        has(row, {"key", "of_ceiling", "tier", "guard", "seen"})
        has(row["decided"], ENDS | {"n", "n_eff", "raters", "samples", "coverage", "se", "df"})
        for name in ("auc_better_worse", "auc_different_similar", "acc_eq"):
            has(row[name], ENDS)
        assert "tolerance" in row["acc_eq"] and "value" in row["spa"]
    seen = {row["key"]: row["seen"] for row in rows}
    assert seen["constant"] is None
    assert seen["good"].keys() == {"gamma", "unit", "slope", "low", "high", "delta75", "largest"}
    assert seen["good"]["low"] < seen["good"]["slope"] < seen["good"]["high"]


def test_names_of_a_study_of_pairs(tmp_path, scores, found):
    file = written(tmp_path, "votes.csv", votes.write(study()))
    only = found(file, "--scores", scores)
    check_metrics(only["metrics"])
    for row in only["scales"]:
        has(row, {"method", "implied", "theta", "rank", "p_best"})
        assert len(row["implied"]) == len(row["theta"]) == 3 and len(row["rank"]) == 2
    has(only["ceiling"], {"two_people", "leave_one_out", "low", "likely", "high", "n"})
    has(only["ceiling"]["two_people"], ENDS)
    has(only["model"], {"nu", "side", "covariates", "prior"})
    assert len(only["model"]["side"]) == 3 and only["model"]["covariates"] == []
    assert only["fragile"].keys() == {"answers", "raters", "samples"} and len(only["metric_pairs"]) == 3
    for pair in only["metric_pairs"]:
        has(pair, ENDS | {"first", "second", "p", "p_holm"})
    assert "all" not in only  # nobody says which methods are damaged
    named = written(tmp_path, "labels.csv", [["method", "label"], ["ash", "corruption"]])
    both = found(file, "--scores", scores, "--labels", named)
    check_metrics(both["all"]["metrics"])
    assert both["all"]["metrics"][0]["decided"] == only["metrics"][0]["decided"] != both["metrics"][0]["decided"]
    has(both["all"], {"metrics", "scales", "ceiling", "model", "fragile", "metric_pairs"})


def test_names_of_a_study_of_opinion_scores(tmp_path, scores, found):
    rows = [
        Rating(rater, entry, float(min(5, 1 + n + (k * k + h + n) % 3)), sample)
        for k, rater in enumerate(RATERS) for h, sample in enumerate(SAMPLES) for n, entry in enumerate(ENTRIES)
    ]  # fmt: skip
    only = found(written(tmp_path, "opinions.csv", mos_table.write(rows)), "--scores", scores)
    check_metrics(only["metrics"])
    for row in only["scales"]:
        has(row, {"method", "mos", "mos_mle", "why"})
        assert len(row["mos"]) == 3 and row["mos_mle"] is None and row["mos_mle_why"]
    assert [row["rater"] for row in only["raters"]] == list(RATERS)
    assert all(row.keys() == {"rater", "bias", "inconsistency"} for row in only["raters"])
    assert sum(row["bias"] for row in only["raters"]) == pytest.approx(0, abs=1e-9)
    assert only["ceiling"].keys() >= {"two_people", "low", "likely", "high"}


def test_too_few_raters_have_values_and_a_sentence(tmp_path, scores, found):
    few = [row for row in study() if row.rater in RATERS[:3]]
    only = found(written(tmp_path, "votes.csv", votes.write(few)), "--scores", scores)
    sentence = "Too few raters: 5 are needed, there are 3."
    for row in only["metrics"]:
        assert row["decided"]["value"] is not None and row["decided"]["n"] > 0
        assert (row["decided"]["low"], row["decided"]["high"], row["decided"]["why"]) == (None, None, sentence)
        assert (row["tier"], row["spa"]["value"], row["seen"], row["of_ceiling"]) == (None, None, None, None)
    assert all(row["rank"] is None and row["p_best"] is None and row["why"] == sentence for row in only["scales"])
    assert only["fragile"] is None and all(pair["p"] is None and pair["p_holm"] is None for pair in only["metric_pairs"])
