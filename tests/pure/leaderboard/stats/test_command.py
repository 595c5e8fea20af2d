"""The names in the command's JSON, which pages, exports and the API share."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import scipy

from leaderboard.stats import mos_table, votes
from leaderboard.stats.__main__ import _in_order, main
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.states import Key, Reason, State
from leaderboard.wording.reasons import sentence
from tests import ROOT
from tests.pure.leaderboard.stats.test_invariance import ENTRIES, RATERS, SAMPLES, study, values
from tests.support.leaderboard.reasons import few_raters

NAMES = Path(ROOT, "tests/support/leaderboard/stats/printed_names.json")
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


def opinions() -> list[Rating]:
    return [
        Rating(rater, entry, float(min(5, 1 + n + (k * k + h + n) % 3)), sample)
        for k, rater in enumerate(RATERS)
        for h, sample in enumerate(SAMPLES)
        for n, entry in enumerate(ENTRIES)
    ]


@pytest.fixture
def found(capsys):
    """Output of the command for a file, on its only criterion."""

    def of(*given: Any) -> dict[str, Any]:
        assert main([*map(str, given), "--json"]) == 0
        (only,) = json.loads(capsys.readouterr().out)["criteria"].values()
        return only

    return of


def names(value: Any) -> Any:
    """The names of a printed value, in their order, and of a list those of each kind of row that there is."""
    if isinstance(value, dict):
        return {name: names(each) for name, each in value.items()}
    kinds: list[Any] = []
    for each in value if isinstance(value, list) else ():
        if (kind := names(each)) is not None and kind not in kinds:
            kinds.append(kind)
    return kinds or None


def has(record: dict[str, Any], names: set[str]) -> None:
    assert names <= record.keys(), names - record.keys()


def check_metrics(rows: list[dict[str, Any]]) -> None:
    assert [row["key"] for row in rows][-2:] == ["constant", "coin"] and [row["reference_point"] for row in rows] == [False] * 3 + [
        True
    ] * 2
    for row in rows:
        has(row, {"key", "person", "standing", "places", "may_be_best", "reference_point", "difference"})
        has(row["decided"], ENDS | {"n", "n_eff", "raters", "samples", "coverage", "se", "df"})
        for name in ("auc_better_worse", "auc_different_similar", "acc_eq"):
            has(row[name], ENDS)
        assert "tolerance" in row["acc_eq"] and "value" in row["spa"]
    difference = {row["key"]: row["difference"] for row in rows}
    assert difference["constant"] is None and difference["good"]["reason"]["counted"] == "entries"


def test_names_of_a_study_of_pairs(tmp_path, scores, found):
    file = written(tmp_path, "votes.csv", votes.write(study()))
    only = found(file, "--scores", scores)
    check_metrics(only["metrics"])
    for row in only["scales"]:
        has(row, {"method", "implied", "theta", "rank", "may_be_first"})
        assert len(row["implied"]) == len(row["theta"]) == 3 and len(row["rank"]) == 2
    has(only["ceiling"], {"two_people", "leave_one_out", "low", "likely", "high", "n"})
    has(only["ceiling"]["two_people"], ENDS)
    has(only["model"], {"nu", "side", "covariates", "prior"})
    assert len(only["model"]["side"]) == 3 and only["model"]["covariates"] == []
    assert only["fragile"].keys() == {"answers", "raters", "samples"} and len(only["metric_pairs"]) == 3
    for pair in only["metric_pairs"]:
        has(pair, ENDS | {"first", "second", "p", "p_holm"})
    assert only["all"] is None  # nobody says which methods are damaged
    named = written(tmp_path, "labels.csv", [["method", "label"], ["ash", "corruption"]])
    both = found(file, "--scores", scores, "--labels", named)
    check_metrics(both["all"]["metrics"])
    assert both["all"]["metrics"][0]["decided"] == only["metrics"][0]["decided"] != both["metrics"][0]["decided"]
    has(both["all"], {"metrics", "scales", "ceiling", "model", "fragile", "metric_pairs"})


def test_names_of_a_study_of_opinion_scores(tmp_path, scores, found):
    only = found(written(tmp_path, "opinions.csv", mos_table.write(opinions())), "--scores", scores)
    check_metrics(only["metrics"])
    for row in only["scales"]:
        has(row, {"method", "mos", "mos_mle", "state", "reason", "why"})
        assert len(row["mos"]) == 3 and row["mos_mle"] is None and row["mos_mle_reason"]["key"] == "few_for_likelihood"
    assert [row["rater"] for row in only["raters"]] == list(RATERS)
    assert [row for row in only["raters"] if row.keys() != {"rater", "bias", "inconsistency"}] == []
    assert sum(row["bias"] for row in only["raters"]) == pytest.approx(0, abs=1e-9)
    assert only["ceiling"].keys() >= {"two_people", "low", "likely", "high"}


def test_a_line_without_a_sample_holds_the_values_of_metrics_over_everything(tmp_path, found):
    heads = ["sample", "method", "fid:lower", "m:higher", "none:higher"]
    whole = [["", name, n, 9 - n, ""] for n, name in enumerate(ENTRIES)]
    each = [[sample, name, "", n, ""] for sample in SAMPLES for n, name in enumerate(ENTRIES)]
    file = written(tmp_path, "votes.csv", votes.write(study()))
    rows = {row["key"]: row for row in found(file, "--scores", written(tmp_path, "scores.csv", [heads, *whole, *each]))["metrics"]}
    assert (rows["fid"]["rho"]["n"], rows["fid"]["decided"]["value"], rows["fid"]["spa"]["value"]) == (5, None, None)
    assert rows["fid"]["rho"]["value"] == pytest.approx(-rows["m"]["rho"]["value"])  # m's own samples go before its value over all
    assert rows["none"]["rho"]["value"] is None and rows["none"]["rho"]["n"] == 0


@pytest.mark.parametrize("kind", ["pairs", "opinions"])
def test_no_name_is_lost_added_or_moved(tmp_path, scores, found, kind):
    file = written(tmp_path, "study.csv", votes.write(study()) if kind == "pairs" else mos_table.write(opinions()))
    labelled = written(tmp_path, "labels.csv", [["method", "label"], *([name, "team"] for name in ENTRIES[1:]), [ENTRIES[0], "corruption"]])
    printed = json.dumps(names(found(file, "--scores", scores, "--labels", labelled)))
    assert printed == json.dumps(json.loads(NAMES.read_text())[kind])


def test_too_few_raters_have_values_a_state_and_a_reason(tmp_path, scores, found):
    few = [row for row in study() if row.rater in RATERS[:3]]
    only = found(written(tmp_path, "votes.csv", votes.write(few)), "--scores", scores)
    few = few_raters(3)
    expected = (State.TOO_FEW, asdict(few), sentence(few))
    for row in only["metrics"]:
        assert row["decided"]["value"] is not None and row["decided"]["n"] > 0
        assert (row["decided"]["low"], row["decided"]["high"]) == (None, None)
        assert tuple(row["decided"][name] for name in ("state", "reason", "why")) == expected
        assert (row["places"], row["spa"]["value"], row["difference"], row["person"]) == (None, None, None, None)
    assert [row for row in only["scales"] if not (row["rank"] is None and row["may_be_first"] is None and row["why"] == expected[2])] == []
    assert only["fragile"] is None and [pair for pair in only["metric_pairs"] if not (pair["p"] is None and pair["p_holm"] is None)] == []


SCORES = [["sample", "method", "good:higher"], [SAMPLES[0], ENTRIES[0], "1"]]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([*SCORES, [SAMPLES[0], ENTRIES[1], "inf"]], "line 3: good:higher is 'inf'; it must be a number, or empty."),
        ([*SCORES, [SAMPLES[0], ENTRIES[1], "1_0"]], "line 3: good:higher is '1_0'; it must be a number, or empty."),
        (
            [*SCORES, [SAMPLES[0], ENTRIES[1], "-1e300"]],
            "line 3: good:higher is '-1e300'; it must be a number of at most 1e+100, or empty.",
        ),
        ([*SCORES, SCORES[1]], f"line 3: {ENTRIES[0]} on {SAMPLES[0]} stands in line 2 already; leave one of the two out."),
        ([["sample", "method", "m:higher", "m:lower"]], "has 2 columns of m; give each metric a name of its own."),
        ([["sample", "method", "coin:higher"]], "calls a metric 'coin', as a reference point is called"),
        ([["sample", "method", "m:higher", "m:higher"]], "has the column m:higher twice; leave one of the two out."),
    ],
)
def test_scores_that_could_be_read_in_two_ways_are_refused(tmp_path, capsys, rows, sentence):
    file = written(tmp_path, "votes.csv", votes.write(study()))
    assert main([str(file), "--scores", str(written(tmp_path, "scores.csv", rows)), "--json"]) == 1
    assert sentence in capsys.readouterr().err


def test_options_that_mean_nothing_here_are_refused(tmp_path, scores, capsys):
    file = str(written(tmp_path, "votes.csv", votes.write(study())))

    def refused(*given: str) -> str:
        if given[-1].startswith("-") or given[-1].endswith("=-1"):
            with pytest.raises(SystemExit):
                main([file, *given])
        else:
            assert main([file, *given]) in (1, 2)
        return capsys.readouterr().err

    assert "nowhere.csv" in refused("--scores", "nowhere.csv")
    assert "--gold names 'Q'" in refused("--gold", f"{ENTRIES[0]}:Q")
    assert "without --scores" in refused("--tie", "good=1")
    assert "is not a difference" in refused("--scores", str(scores), "--tie", "good=-1")
    assert "is not a seed" in refused("--seed", "-1")
    labels = written(tmp_path, "labels.csv", [["method", "label"], ["nobody", "team"]])
    assert "labels.csv names none" in refused("--labels", str(labels))
    twice = written(tmp_path, "twice.csv", [["rater", "left", "right", "choice", "rater"], ["r", "a", "b", "left", "s"]])
    assert main([str(twice)]) == 1 and "rater twice" in capsys.readouterr().err


def test_an_entry_that_is_left_out_is_one_of_those_that_were_scored(tmp_path, capsys):
    file = str(written(tmp_path, "opinions.csv", mos_table.write(opinions())))
    assert main([file, "--left-out", ENTRIES[0], "--left-out", "Q"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("--left-out names 'Q'") and said.err.endswith(f": {', '.join(sorted(ENTRIES))}.\n")
    assert main([file, "--left-out", ENTRIES[0]]) == 0
    many = [replace(row, entry=f"{row.entry}{row.sample}") for row in opinions()]
    assert main([str(written(tmp_path, "many.csv", mos_table.write(many))), "--left-out", "Q"]) == 2
    assert capsys.readouterr().err.endswith(" and others.\n")


def test_below_the_minimum_the_report_shows_counts_and_the_sentence_alone(tmp_path, scores, capsys):
    few = [row for row in study() if row.rater in RATERS[:3]]
    assert main([str(written(tmp_path, "votes.csv", votes.write(few))), "--scores", str(scores)]) == 0
    said = capsys.readouterr().out
    assert sentence(few_raters(3)) in said and "Two people" not in said
    assert not re.search(r"\d\.\d{3}", said) and "the order" not in said
    entries = [line.split()[0] for line in said.splitlines() if line.startswith(tuple(ENTRIES))]
    assert entries == sorted(entries), "an order by what people prefer is a figure"


def test_what_it_prints_is_what_a_studys_page_says(tmp_path, scores, capsys):
    """One judgement is no judgements, five people are the fewest of whom parts are taken, and there is no figure without its interval."""
    five = [row for row in study() if row.rater in RATERS[:RATERS_FOR_FIGURE]]
    assert main([str(written(tmp_path, "votes.csv", votes.write(five))), "--scores", str(scores)]) == 0
    said = capsys.readouterr().out
    assert f" of {RATERS_FOR_FIGURE} raters on " in said
    assert re.search(r"Another rater .* [\d.]+ % \[[\d.]+, [\d.]+\], by \d+ answers", said)
    table = said.partition("metric  ")[2].splitlines()
    assert table[0].split()[-1] == "rho" and [row for row in table[2:4] if " – " not in f"{row} "] == [], "of fewer than eight entries"
    one = [votes.Vote("r", "a", "b", "left", "s")]
    assert main([str(written(tmp_path, "one.csv", votes.write(one)))]) == 0
    one_vote = capsys.readouterr().out
    assert [part for part in ("1 vote ", "1 rater ", "1 pair,", "0.0 % ties") if part not in one_vote] == []
    alike = [Rating(f"r{k}", entry, 3.0, f"s{h}") for k in range(RATERS_FOR_FIGURE) for h in range(5) for entry in "ab"]
    assert main([str(written(tmp_path, "alike.csv", mos_table.write(alike)))]) == 0
    n = 5 * RATERS_FOR_FIGURE
    assert re.search(rf"^a +3\.000 +– +0\.000 +{n}  All {n} scores are 3\.$", capsys.readouterr().out, re.MULTILINE)


def test_of_opinion_scores_it_prints_three_correlations_over_all_stimuli(tmp_path, scores, capsys):
    file = written(tmp_path, "mos.csv", mos_table.write(opinions()))
    assert main([str(file), "--scores", str(scores)]) == 0
    head, _, *rows = capsys.readouterr().out.partition("Over all stimuli")[2].splitlines()[:6]
    assert "95 % intervals" in head and rows[0].split() == ["metric", "stimuli", "SRCC", "PLCC", "KRCC"]
    metrics, ratings = values(), mos_table.canonical(opinions())
    mean = ratings.means[:-1].ravel()
    for row in rows[1:]:
        key, n, *cells = re.sub(r"[\[\],]", " ", row).split()
        x = metrics[key].ravel()
        found = [scipy.stats.spearmanr(x, mean), scipy.stats.pearsonr(x, mean), scipy.stats.kendalltau(x, mean)]
        assert int(n) == len(mean) and [float(cell) for cell in cells[::3]] == pytest.approx([one.statistic for one in found], abs=6e-4)


def test_of_a_first_place_that_is_shared_nothing_is_said_to_hang_on_anything(tmp_path, capsys):
    rows = [votes.Vote(f"r{k}", "a", "b", "left" if (k + h) % 2 else "right", f"s{h}") for k in range(6) for h in range(6)]
    assert main([str(written(tmp_path, "votes.csv", votes.write(rows)))]) == 0
    assert "hangs on" not in (said := capsys.readouterr().out) and "0.500" in said


def test_parts_that_never_met_and_damaged_entries_are_told_as_what_they_are(tmp_path, capsys):
    rows = [
        votes.Vote(f"r{k}", *pair, "left" if (k + 2 * h + 3 * n) % 5 else "right", f"s{h}")
        for k in range(6)
        for h in range(6)
        for n, pair in enumerate(("ab", "cd"))
    ]
    assert main([str(written(tmp_path, "votes.csv", votes.write(rows)))]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows_of = [n for n, line in enumerate(lines) if re.match("[a-d] ", line)]
    assert len(rows_of) == 4 and rows_of[2] > rows_of[1] + 1 and lines[rows_of[2]][0] in "cd", "a part has a head of its own"
    # A part of too few people has no figure, though all parts together have enough of them.
    rows = [row for row in rows if row.left == "a" or row.rater in ("r0", "r1", "r2")]
    assert main([str(written(tmp_path, "few.csv", votes.write(rows)))]) == 0
    said = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if re.match("[a-d] ", line)}
    for name in "cd":
        assert said[name].endswith(f" 18        –  {sentence(few_raters(3))}") and not re.search(r"\d\.\d{3}", said[name])
    assert [name for name in "ab" if not re.search(r"0\.\d{3} +\[", said[name])] == []
    labels = written(
        tmp_path, "labels.csv", [["method", "label"], ["a", "reference"], ["b", "empty"], ["c", "corruption"], ["d", "corruption"]]
    )
    assert main([str(tmp_path / "votes.csv"), "--labels", str(labels)]) == 0
    said = capsys.readouterr().out
    assert sentence(Reason(Key.ONLY_DAMAGED)) in said
    assert [line.split()[1:] for line in said.splitlines() if re.match("[a-d] ", line)] == [["–", "–", "–", "–", "36", "–"]] * 4


def test_votes_in_the_words_of_another_service_are_those_of_this_one(tmp_path, found):
    """Semicolons, other heads and other words for a choice: the same figures."""
    rows = list(votes.write(study()))
    head, place = rows[0], rows[0].index("choice")
    words = {"left": "1", "right": "2", "tie": "nobody"}
    other = [[*row[:place], words[row[place]], *row[place + 1 :]] for row in rows[1:]]
    file = tmp_path / "theirs.csv"
    file.write_text(
        "".join(f"{';'.join(row)};;\n" for row in [["winner" if name == "choice" else name for name in head], *other, [""] * 3])
    )
    given = [arg for side, word in words.items() for arg in ("--value", f"{side}={word}")]
    assert found(file, "--column", "choice=winner", *given) == found(written(tmp_path, "votes.csv", rows))


def test_progress_is_shown_on_a_terminal_and_nowhere_else(tmp_path, capsys, monkeypatch):
    rows = [(one.rater, one.entry, one.score, one.sample) for one in opinions()]
    path = written(tmp_path, "scores.csv", [["rater", "entry", "score", "sample"], *rows])
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    for screen, said in ((terminal, True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", screen)
        assert main([str(path)]) == 0
        assert ("Analysing" in screen.getvalue()) is said


def test_means_that_are_not_shown_put_their_rows_in_no_order():
    few = few_raters(1)
    rows = [SimpleNamespace(method=name, reason=few if name in "cab" else None) for name in ("x", "c", "a", "w", "b")]
    summary = SimpleNamespace(reason=None, kind="opinions", scales=rows, unranked=[])
    assert [row.method for row in _in_order(summary)] == ["x", "w", "a", "b", "c"]
    assert _in_order(SimpleNamespace(reason=None, kind="pairs", scales=rows, unranked=[])) == rows
