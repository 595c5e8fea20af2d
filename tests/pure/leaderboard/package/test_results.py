"""Folders scored, saved and compared; tables and charts of them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leaderboard.package as plumbline
from evaluation import local
from evaluation.metrics import registry
from evaluation.synthetic.houses import houses
from evaluation.synthetic.simplified import jittered
from leaderboard.package.comparison import Comparison
from leaderboard.package.plots import described
from leaderboard.stats.uncertainty import paired
from submissions.formats.wireframe.wireframe_files import write_json

METRICS = ["edge_f1", {"corner_f1": {"tau": 0.25}}, "corner_offset"]
N = 8


def written(folder: Path, amount: float, seed: int, name: str = "{}", n: int = N) -> Path:
    """Houses with their corners moved, under that name."""
    folder.mkdir(exist_ok=True)
    for number, (house, frame) in enumerate(houses(n).items()):
        (folder / f"{name.format(house)}.json").write_bytes(write_json(jittered(frame, amount, seed + number) if amount else frame))
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    written(folder / "ref", 0.0, 0)
    written(folder / "good", 0.1, 0, "pred_{}")
    written(folder / "bad", 0.4, 100, "pred_{}")
    return folder


@pytest.fixture(scope="module")
def good(folders) -> plumbline.Result:
    return plumbline.evaluate(folders / "good", folders / "ref", METRICS, match="pred_{id}")


@pytest.fixture(scope="module")
def bad(folders) -> plumbline.Result:
    return plumbline.evaluate(folders / "bad", folders / "ref", METRICS, match="pred_{id}")


def test_texts_of_a_table_are_no_formulas(good):
    items = ("=1+1", "-4.5", *good.items[2:])
    rows = list(csv.reader(io.StringIO(replace(good, items=items).to_csv())))
    assert rows[0][:2] == ["item", "group"] and [row[0] for row in rows[1:3]] == ["'=1+1", "-4.5"]
    assert float(rows[1][2]) == good.rows()[0]["edge_f1"]


def test_the_values_are_those_of_the_command(folders, good, tmp_path):
    plain = written(tmp_path / "plain", 0.1, 0)
    outcome = local.score(plain, folders / "ref", ["edge_f1", "corner_f1", "corner_offset"], ["corner_f1.tau=0.25"])
    assert {slug: scores.values for slug, (scores, _) in outcome.scores.items()} == {slug: one.values for slug, one in good.scores.items()}
    assert good.columns[1].parameters["tau"] == 0.25 and good.columns[1].fingerprint == registry.fingerprint("corner_f1", {"tau": 0.25})
    table = good.summary().set_index("metric")
    row = table.loc["corner_offset"]
    assert row["low"] < row["value"] < row["high"] and row["n"] == N
    frame = good.to_frame()
    assert list(frame["item"]) == list(good.items) and frame["edge_f1"].mean() == pytest.approx(table.loc["edge_f1", "value"])


def test_jobs_change_no_value(folders, good):
    shared = plumbline.evaluate(folders / "good", folders / "ref", METRICS, match="pred_{id}", jobs=3, progress=True)
    assert shared.to_dict() == good.to_dict()


def test_one_name_is_one_metric_and_parameters_are_a_mapping(folders):
    result = plumbline.evaluate(folders / "ref", folders / "ref", "edge_f1")
    assert [column.slug for column in result.columns] == ["edge_f1"] and set(result.scores["edge_f1"].values) == {1.0}
    twice = plumbline.evaluate(
        folders / "ref", folders / "ref", [{"edge_f1:near": {"tau_edge": 0.1}}, {"edge_f1:far": {"matching": "hungarian_capped"}}]
    )
    assert [column.slug for column in twice.columns] == ["near", "far"] and twice.columns[1].parameters["matching"] == "hungarian_capped"
    with pytest.raises(plumbline.CannotEvaluate, match="needs its parameters as a mapping"):
        plumbline.evaluate(folders / "ref", folders / "ref", {"edge_f1": 0.25})


def test_groups_are_what_intervals_are_over(folders, good, tmp_path):
    scenes = {item: f"scene{n // 2}" for n, item in enumerate(good.items)}
    (tmp_path / "groups.csv").write_text("item,group\n" + "".join(f"{item},{group}\n" for item, group in scenes.items()))
    for groups in (scenes, tmp_path / "groups.csv"):
        grouped = plumbline.evaluate(folders / "good", folders / "ref", "edge_f1", match="pred_{id}", groups=groups)
        assert grouped.summaries["edge_f1"].n == N // 2 and grouped.summaries["edge_f1"].ci_low is None
    with pytest.raises(plumbline.CannotEvaluate, match=f"no group of .*; {N - 1} of {N} items have none"):
        plumbline.evaluate(folders / "good", folders / "ref", "edge_f1", match="pred_{id}", groups={good.items[0]: "a"})


def test_a_unit_scales_lengths(folders):
    metres, centimetres = (plumbline.evaluate(folders / "ref", folders / "ref", "hss", unit=unit) for unit in ("m", "cm"))
    assert (metres.unit_scale, centimetres.unit_scale) == (1.0, 0.01)


def test_a_saved_result_says_everything_and_is_read_back(folders, good, tmp_path):
    good.save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert plumbline.read(tmp_path / "r.json").to_dict() == good.to_dict() == content
    assert len(content["files"]["reference"]) == N and content["versions"]["numpy"] and content["exact_versions"]["numpy"]
    assert content["missing"] == [] and content["columns"][1]["parameters"]["tau"] == 0.25
    assert plumbline.read(tmp_path / "r.json").check()
    for text in ("[]", "{}", "no JSON"):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(plumbline.CannotEvaluate):
            plumbline.read(tmp_path / "other.json")


def test_a_check_says_what_differs(folders, good, tmp_path):
    other = written(tmp_path / "other", 0.2, 0, "pred_{}")
    found = good.check(other)
    assert not found and found.differences[0].startswith(f"{N} files")
    data = json.loads(json.dumps(good.to_dict()))
    data["columns"][0]["fingerprint"] = "0" * 64
    data["versions"]["numpy"] = "1.0"
    found = plumbline.Result.from_dict(data).check()
    assert not found and found.differences[0].startswith("edge_f1: ")
    assert found.differences[-1].startswith("numpy ") and "1.0" in found.differences[-1]
    data = json.loads(json.dumps(good.to_dict()))
    data["scores"]["edge_f1"]["values"][0] += 0.5
    (difference,) = plumbline.Result.from_dict(data).check().differences
    assert re.findall(r"[\w.]+", difference)[:4] == ["edge_f1", "1", "of", str(N)] and difference.endswith(" 0.5")
    gone = plumbline.Result.from_dict(good.to_dict() | {"paths": {"prediction": "/nowhere", "reference": "/nowhere"}}).check()
    assert not gone and "not computed again" in gone.differences[0]


def test_a_missing_item_is_named(folders, tmp_path, good):
    part = written(tmp_path / "part", 0.1, 0, n=N - 1)
    result = plumbline.evaluate(part, folders / "ref", "edge_f1")
    assert result.missing == (good.items[-1],) and result.summary()["missing"][0] == 1 and "1 missing" in repr(result)


def test_two_results_are_compared_by_the_paired_test(good, bad):
    compared = plumbline.compare(bad, good)
    table = compared.to_frame().set_index("metric")
    for slug in ("edge_f1", "corner_f1", "corner_offset"):
        a, b = (np.array(one.scores[slug].values) for one in (bad, good))
        found = paired(a, b, slug != "corner_offset")
        assert table.loc[slug, "difference"] == found.mean_difference and table.loc[slug, "p"] == found.p_value
        assert table.loc[slug, "low"] == found.ci_low and table.loc[slug, "p_corrected"] >= found.p_value
    assert set(table["verdict"]) == {"worse"} and compared.exit_status == 1
    assert {line.verdict for line in plumbline.compare(good, bad).lines} == {"better"} and plumbline.compare(good, bad).exit_status == 0
    assert {line.verdict for line in plumbline.compare(good, good).lines} == {"tied"}


def test_a_comparison_of_one_metric_has_the_p_of_the_pair(folders, good, bad):
    one, other = (plumbline.evaluate(folders / name, folders / "ref", "edge_f1", match="pred_{id}") for name in ("good", "bad"))
    (line,) = plumbline.compare(one, other).lines
    assert line.p_corrected == pytest.approx(line.found.p_value)


def test_what_cannot_be_told_is_said(folders, good, tmp_path):
    few = {item: f"scene{n % 5}" for n, item in enumerate(good.items)}
    grouped = plumbline.evaluate(folders / "good", folders / "ref", "edge_f1", match="pred_{id}", groups=few)
    compared = plumbline.compare(grouped, grouped)
    assert compared.exit_status == 2 and re.findall(r"edge_f1|\b\d\b", compared.unclear) == ["edge_f1", "5", "6"]
    part = plumbline.evaluate(written(tmp_path / "part", 0.1, 0, n=N - 1), folders / "ref", "edge_f1")
    whole = plumbline.evaluate(folders / "ref", folders / "ref", "edge_f1")
    compared = plumbline.compare(part, whole)
    assert (compared.exit_status, compared.missing) == (2, (good.items[-1],)) and good.items[-1] in compared.unclear


def test_what_is_not_comparable_is_refused_by_name(folders, good, tmp_path):
    moved = written(tmp_path / "moved", 0.01, 3)
    with pytest.raises(plumbline.NotComparable, match=f"references differ in {N} files, such as "):
        plumbline.compare(good, plumbline.evaluate(folders / "good", moved, METRICS, match="pred_{id}"))
    others = plumbline.evaluate(folders / "good", folders / "ref", [{"edge_f1": {"tau_edge": 0.1}}, "hss"], match="pred_{id}")
    with pytest.raises(plumbline.NotComparable) as raised:
        plumbline.compare(good, others)
    said = str(raised.value).splitlines()
    assert [slug in line for slug, line in zip(("edge_f1", "corner_f1"), said, strict=False)] == [True, True] and "hss" in said[-1]


def test_a_latex_table_has_intervals_and_the_best_in_bold(good, bad):
    text = good.to_latex(name="Ours", beside={"Theirs_2": bad})
    ours, theirs = (line for line in text.splitlines() if line.startswith(("Ours", "Theirs")))
    assert ours.count(r"\mathbf{") == 3 and theirs.count(r"\mathbf{") == 0 and theirs.startswith(r"Theirs\_2 & $")
    assert r"\pm" in ours and r"Corner offset $\downarrow$" in text and text.count(r"\\") == 3
    same = good.to_latex(name="Ours", beside={"Again": good})
    assert same.count(r"\mathbf{") == 6


@pytest.mark.parametrize(("suffix", "begins"), [(".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_a_chart_is_a_file_of_its_suffix(good, bad, tmp_path, suffix, begins):
    good.plot(tmp_path / f"chart{suffix}", beside={"Theirs": bad})
    assert (tmp_path / f"chart{suffix}").read_bytes().startswith(begins)


def test_a_chart_has_the_best_in_the_accent_and_says_the_same_in_words(good, bad, tmp_path):
    column, ours = good.columns[2], good.summaries["corner_offset"]
    chart = described({"Ours": good, "Theirs": bad}, column)
    dark, grey = chart.marks
    assert [(dot.x, dot.y, dot.low, dot.high) for dot in dark.dots] == [(ours.value, 0, ours.ci_low, ours.ci_high)]
    assert (dark.tone, grey.tone, grey.dots[0].y) == ("accent", "soft", 1) and chart.y.ticks == ((0, "Ours"), (1, "Theirs"))
    assert chart.summary.startswith("Corner offset") and chart.rows[0][0] == "Ours" and f"Ours {chart.rows[0][1]} (" in chart.summary
    good.plot(tmp_path / "chart.svg", beside={"Theirs": bad})
    assert chart.summary in (tmp_path / "chart.svg").read_text(encoding="utf-8")


def test_a_chart_of_another_form_is_refused(good, tmp_path):
    with pytest.raises(plumbline.CannotEvaluate, match=r"written as \.pdf, \.svg, \.png"):
        good.plot(tmp_path / "chart.gif")


def test_sentences_name_what_to_do_and_no_phase(folders):
    for call, said in (
        (lambda: plumbline.evaluate(folders / "good", folders / "ref", "edge_f1"), "is not an item of the reference"),
        (lambda: plumbline.evaluate(folders / "good", folders / "ref", "edge_f1", match="pred"), "match must hold {id} once"),
        (lambda: plumbline.evaluate(folders / "good", folders / "ref", "edge_f1", match="x_{id}"), "No file in .* is called x_{id}"),
        (lambda: plumbline.evaluate(folders / "good", folders / "none", "edge_f1"), "There is no reference at"),
        (lambda: plumbline.evaluate(folders / "good", folders / "ref", "edge_f2"), "There is no metric 'edge_f2'; did you mean"),
    ):
        with pytest.raises(plumbline.CannotEvaluate, match=said) as raised:
            call()
        assert "phase" not in str(raised.value)


def test_a_comparison_without_lines_is_nothing_worse():
    assert Comparison((), ()).exit_status == 0
