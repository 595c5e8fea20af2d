import numpy as np
import pytest

from leaderboard.stats.mos_table import Rating, canonical, parse, read, write
from leaderboard.stats.votes import VotesError

ROWS = [
    Rating("ann", "a", 5.0, "house", "experts", "overall", "", 3.5),
    Rating("ann", "b", 2.0, "house", "experts", "overall"),
    Rating("bob", "a", 4.0, "barn", "", "overall", "", 1_234_567.0),  # who left the page open for two weeks
    Rating("bob", "a", 1.0, "barn", "", "overall", order="4", at="2026-11-22T14:05:09+00:00"),
]


def test_the_first_score_of_a_rater_for_an_entry_of_a_sample_counts():
    found = canonical(ROWS)
    assert (found.raters, found.samples, found.methods, found.groups) == (("ann", "bob"), ("barn", "house"), ("a", "b"), ("experts", ""))
    assert found.score.tolist() == [5, 2, 4] and found.rater.tolist() == [0, 0, 1] and found.sample.tolist() == [1, 1, 0]
    assert found.seconds[0] == 3.5 and np.isnan(found.seconds[1]) and found.seconds[2] == 1_234_567
    table = found.by_rater()
    assert table.shape == (2, 4) and table[0, 2] == 5 and table[0, 3] == 2 and table[1, 0] == 4 and np.isnan(table).sum() == 5


def test_what_is_written_reads_back():
    lines = [",".join(row) for row in write(ROWS)]
    head = "study,rater,group,sample,entry,criterion,score,seconds,order,at"
    assert lines[0] == f"{head},step,viewport_width,viewport_height,device,invitation"
    assert lines[2] == ",ann,experts,house,b,overall,2,,,,,,,,"
    assert lines[4] == ",bob,,barn,a,overall,1,,4,2026-11-22T14:05:09+00:00,,,,,"
    assert parse(lines, "s.csv") == ROWS == parse([head, *(line.rsplit(",", 5)[0] for line in lines[1:])], "old.csv")


def test_columns_of_other_names_are_mapped(tmp_path):
    file = tmp_path / "theirs.csv"
    file.write_text("who,scene,method,mos\nann,house,a,4.5\n")
    found = read(file, {"rater": "who", "sample": "scene", "entry": "method", "score": "mos"})
    assert found == [Rating("ann", "a", 4.5, "house")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rater,entry,score\nann,a,6\n", "s.csv: line 2: score is '6'; it must be a number from 1 to 5. Is the scale another one?"),
        ("rater,entry,score\nann,a,good\n", "s.csv: line 2: score is 'good'; it must be a number from 1 to 5. Is the scale another one?"),
        ("rater,entry,score\nann,,4\n", "s.csv: line 2: entry is empty; no score can do without."),
        ("rater,entry,score,seconds\nann,a,4,-1\n", "s.csv: line 2: seconds is '-1'; it must be a number that is not negative, or empty."),
        ("rater,entry,score,order\nann,a,4,x\n", "s.csv: line 2: order is 'x'; it must be a whole number that is not negative, or empty."),
        ("rater,entry\nann,a\n", "s.csv has no column score; its columns are rater, entry: name those to take."),
        ("rater,entry,score\n", "s.csv holds no scores; it needs a line for each under its head."),
    ],
)
def test_what_cannot_be_read_is_said_by_line(text, sentence):
    with pytest.raises(VotesError) as caught:
        parse(text.splitlines(), "s.csv")
    assert caught.value.problems == (sentence,)


def test_scores_outside_the_scale_are_refused():
    with pytest.raises(ValueError, match="from 1 to 5"):
        canonical([Rating("ann", "a", 0.0)])
