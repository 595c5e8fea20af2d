import csv
import io
import json

import pytest

from leaderboard.stats.__main__ import main
from leaderboard.stats.labels import LABELS, parse, read, write
from leaderboard.stats.votes import VotesError
from leaderboard.stats.votes import write as write_votes
from tests.support.leaderboard.stats.ballots import made_up


def test_what_is_written_reads_back(tmp_path):
    given = {f"net, {label}": label for label in LABELS}
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(write(given))
    assert path.read_text().startswith("method,label\n") and read(path) == given


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
    assert all(found.startswith(sentence) for found, sentence in zip(caught.value.problems, problems, strict=True))


def test_with_labels_the_command_leaves_damaged_methods_to_the_figures_of_all(tmp_path, capsys):
    with (tmp_path / "votes.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(write_votes(made_up(5, 5, 4)))
    (tmp_path / "labels.csv").write_text("method,label\nm0,team\nm3,corruption\nelsewhere,empty\n")
    assert main([str(tmp_path / "votes.csv"), "--labels", str(tmp_path / "labels.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"][""]
    assert {row["method"] for row in found["all"]["scales"]} == {"m0", "m1", "m2", "m3"}
    assert {row["method"] for row in found["scales"] if row.get("implied")} == {"m0", "m1", "m2"}
