import csv
import io
import json

import pytest

from leaderboard.stats.__main__ import main
from leaderboard.stats.labels import LABELS, parse, read, write
from leaderboard.stats.votes import VotesError
from leaderboard.stats.votes import write as write_votes
from tests.support.leaderboard.stats.ballots import simulated_votes


def test_what_is_written_reads_back(tmp_path):
    given = {f"net, {label}": label for label in LABELS}
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(write(given))
    assert path.read_text().startswith("method,label\n") and read(path) == given


NAMES = ("a", "b", "blank")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("name,label\nx,team\n", ["labels.csv must have the columns method and label."]),
        (
            "method,label\nx,ruin\ny,team,more\n",
            [
                "labels.csv: line 2: label is 'ruin'; it must be one of team, baseline, corruption, empty, reference.",
                "labels.csv: line 3: there is a cell 'more' beyond the head's last",
            ],
        ),
        (
            "method,label\nx,team\nx,team\nx,empty\n",
            ["labels.csv: line 4: 'x' was labelled team above; give each method one label."],
        ),
        ("method,label\nx\n", ["labels.csv: line 2: label is ''; it must be one of team"]),
    ],
)
def test_what_cannot_be_read_is_said_by_line(text, problems):
    with pytest.raises(VotesError) as caught:
        parse(io.StringIO(text), "labels.csv")
    assert len(caught.value.problems) == len(problems)
    assert [
        (found, sentence) for found, sentence in zip(caught.value.problems, problems, strict=True) if not found.startswith(sentence)
    ] == []


def test_with_labels_the_command_leaves_damaged_methods_to_the_figures_of_all(tmp_path, capsys):
    with (tmp_path / "votes.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(write_votes(simulated_votes(5, 5, 4)))
    (tmp_path / "labels.csv").write_text("method,label\nm0,team\nm3,corruption\nelsewhere,empty\n")
    assert main([str(tmp_path / "votes.csv"), "--labels", str(tmp_path / "labels.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"][""]
    assert {row["method"] for row in found["all"]["scales"]} == {"m0", "m1", "m2", "m3"}
    assert {row["method"] for row in found["scales"] if row["implied"][0] is not None} == {"m0", "m1", "m2"}


def test_a_damaged_method_that_people_score_highest_heads_no_table_of_opinion_scores(tmp_path, capsys):
    rows = [
        (f"r{k}", f"s{h}", name, 1 + (k + h + n) % 3 + (name == "blank"))
        for k in range(6)
        for h in range(6)
        for n, name in enumerate(NAMES)
    ]
    with (tmp_path / "scores.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("rater", "sample", "entry", "score"), *rows])
    (tmp_path / "labels.csv").write_text("method,label\na,team\nb,baseline\nblank,empty\n")
    command = [str(tmp_path / "scores.csv"), "--labels", str(tmp_path / "labels.csv")]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"][""]
    assert {row["method"] for row in found["scales"]} == {"a", "b"}
    assert found["all"]["scales"][0]["method"] == "blank" and len(found["all"]["scales"]) == 3
    mean = {row["method"]: row["mos"][0] for row in found["all"]["scales"]}
    assert mean["blank"] == pytest.approx(sum(row[3] for row in rows if row[2] == "blank") / 36)
    assert main(command) == 0
    assert "blank" not in capsys.readouterr().out
