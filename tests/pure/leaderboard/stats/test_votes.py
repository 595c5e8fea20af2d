import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.models import Rater, StudyEntry, StudyVote
from leaderboard.stats.votes import COLUMNS, CONDITIONS, LENGTHS, MORE, VotesError, canonical, moment, parse, read, stamp, write
from tests.support.leaderboard.stats.ballots import simulated_votes, vote

HEAD = ",".join(COLUMNS)


def test_verdicts_do_not_depend_on_the_side_a_method_was_shown_on():
    found = canonical([vote("x", "y", "left"), vote("y", "x", "right"), vote("x", "y", "right"), vote("y", "x", "tie")])
    assert found.methods == ("x", "y")
    assert found.a.tolist() == [0] * 4 and found.b.tolist() == [1] * 4
    assert found.verdict.tolist() == [-1, -1, 1, 0]


def test_only_the_first_answer_of_a_rater_to_a_question_counts_and_no_repeat():
    found = canonical(
        [
            vote("x", "y", "tie", repeat_of="4"),
            vote("x", "y", "left"),
            vote("y", "x", "left"),
            vote("x", "y", "right", rater="other"),
            vote("x", "y", "right", sample="elsewhere"),
        ]
    )
    assert found.first.tolist() == [False, True, False, True, True]
    assert len(found.counted()) == 3


def test_votes_between_a_method_and_itself_are_refused():
    with pytest.raises(ValueError, match="no vote between two methods"):
        canonical([vote("x", "x", "left")])


def test_no_votes_are_an_empty_table():
    found = canonical([])
    assert len(found) == 0 and found.methods == () and found.first.tolist() == []


def test_what_is_written_reads_back():
    known = {"gold": "1", "order": "12", "at": "2026-11-22T14:05:09+00:00", "step": "2", "viewport_width": "1280"}
    known |= {"viewport_height": "800", "device": "touch", "invitation": "link 1: the experts"}
    odd = vote('a "quoted", name', "ß", "tie", seconds=None, criterion="overall", repeat_of="7", swapped="1", **known)
    rows = [*simulated_votes(2, 2, 3), odd]
    stream = io.StringIO()
    csv.writer(stream).writerows(write(rows))
    assert parse(stream.getvalue().splitlines(keepends=True), "votes.csv") == rows
    head = stream.getvalue().splitlines()[0]
    assert head.startswith("study,rater,group,sample,left,right,choice,swapped,seconds,repeat_of,criterion,gold,order,at,")
    assert head.endswith(",step,viewport_width,viewport_height,device,invitation")
    unknown = dict.fromkeys(CONDITIONS, "")
    for head in ((*COLUMNS, *MORE), COLUMNS):  # as files had them before
        stream = io.StringIO()
        csv.writer(stream).writerows(write(rows, head))
        gone = unknown | ({} if len(head) > len(COLUMNS) else dict.fromkeys(MORE, ""))
        assert parse(stream.getvalue().splitlines(keepends=True), "old.csv") == [replace(one, **gone) for one in rows]


def test_an_answer_to_a_gold_question_keeps_no_later_one_from_counting():
    rows = [vote("x", "y", "left", gold="1"), vote("x", "y", "right"), vote("x", "y", "tie"), vote("x", "y", "left", repeat_of="2")]
    votes = canonical(rows)
    assert votes.counted().verdict.tolist() == [1]
    assert votes.first.tolist() == [True, False, False, False]  # as pairs of known order and repeats are read
    assert canonical(rows[:1]).counted().verdict.tolist() == []


def test_answers_to_gold_questions_count_in_nothing():
    rows = [vote("x", "y", "left", sample=str(n), gold=text) for n, text in enumerate(("1", "Yes", "true", "", "0", "no", "False"))]
    assert [row.is_gold for row in rows] == [True, True, True, False, False, False, False]
    assert len(canonical(rows)) == 7 and len(canonical(rows).counted()) == 4


def test_a_time_stamp_is_in_utc_whatever_offset_it_was_written_with():
    wanted = "2026-11-22T14:05:09+00:00"
    for text in (wanted, "2026-11-22T14:05:09Z", "2026-11-22 15:05:09.7+01:00", "2026-11-22T14:05:09"):
        assert stamp(moment(text)) == wanted
    assert moment("") is None and stamp(None) == ""


def test_columns_of_other_names_are_mapped(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("\ufeffworker,left,right,winner\n58,A,B,tie\n58,B,C,left\n")
    rows = read(path, {"rater": "worker", "choice": "winner"})
    assert [(row.rater, row.left, row.right, row.choice, row.sample) for row in rows] == [
        ("58", "A", "B", "tie", ""),
        ("58", "B", "C", "left", ""),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rater,left,right\nr,x,y\n", "votes.csv has no column choice; its columns are rater, left, right"),
        ("", "votes.csv has no column choice, left, rater, right; its columns are none"),
        (f"{HEAD}\n", "votes.csv holds no votes"),
        (f"{HEAD}\n,r,,s,x,x,left,,,,\n", "votes.csv: line 2: 'x' stands on both sides"),
        (f"{HEAD}\n,r,,s,x,y,maybe,,,,\n", "votes.csv: line 2: choice is 'maybe'; it must be left, right or tie, or the name"),
        (f"{HEAD}\n,,,s,x,y,left,,,,\n", "votes.csv: line 2: rater is empty"),
        (f"{HEAD}\n,r,,s,x,y,left,,nan,,\n", "votes.csv: line 2: seconds is 'nan'"),
        (f"{HEAD}\n,r,,s,x,y,left,,-1,,\n", "votes.csv: line 2: seconds is '-1'"),
        ("rater,left,right,choice,device\nr,x,y,left,iPhone\n", "device is 'iPhone'; it must be mouse, touch, keyboard, or empty."),
        ("rater,left,right,choice,step\nr,x,y,left,99999\n", "step is 99999; it is the place of a criterion"),
        ("rater,left,right,choice,viewport_width\nr,x,y,left,wide\n", "viewport_width is 'wide'; it must be a whole number"),
        ("rater,left,right,choice,order\nr,x,y,left,-1\n", "votes.csv: line 2: order is '-1'; it must be a whole number"),
        ("rater,left,right,choice,order\nr,x,y,left,99999999999\n", "votes.csv: line 2: order is '99999999999'; it must be"),
        ("rater,left,right,choice,at\nr,x,y,left,noon\n", "votes.csv: line 2: at is 'noon'; it must be a time in ISO 8601"),
        ("rater,left,right,choice,at\nr,x,y,left,0001-01-01T00:00+14:00\n", "votes.csv: line 2: at is '0001-01-01T00:00"),
        (f"{HEAD}\n,r,,s,x,y,left,,1,5,,more\n", "votes.csv: line 2: there is a cell 'more' beyond the head's last"),
        (f"{HEAD}\n,r,,{'s' * 200_000},x,y,left,,,,\n", "votes.csv is not a CSV file in UTF-8 (field larger than field limit"),
    ],
)
def test_what_cannot_be_read_is_said_by_line(text, sentence):
    with pytest.raises(VotesError, match=re.escape(sentence)):
        parse(text.splitlines(keepends=True), "votes.csv")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("r\0,x,y,left", r"line 2: rater holds the character \\x00, which cannot be read"),
        ("r,x\x1b[31m,y,left", r"line 2: left holds the character \\x1b, which cannot be read"),
        (f"{'r' * 121},x,y,left", "line 2: rater has 121 characters; at most 120 are taken."),
        (f"r,x,{'y' * 201},left", "line 2: right has 201 characters; at most 200 are taken."),
    ],
)
def test_a_text_that_cannot_be_stored_is_refused(row, sentence):
    with pytest.raises(VotesError, match=sentence):
        parse(io.StringIO(f"rater,left,right,choice\n{row}\n"), "votes.csv")


def test_texts_are_as_long_as_studies_store_them():
    stored = {"rater": Rater, "group": Rater, "sample": StudyVote, "criterion": StudyVote, "swapped": StudyVote, "repeat_of": StudyVote}
    fields = {name: model._meta.get_field("name" if name == "rater" else name) for name, model in stored.items()}
    fields |= dict.fromkeys(("left", "right", "entry"), StudyEntry._meta.get_field("label"))
    # Whether a question was gold, its order and when it was answered are no texts in the database.
    assert {name: field.max_length for name, field in fields.items()} == {n: k for n, k in LENGTHS.items() if n in fields}


def test_heads_of_columns_are_said_safely_and_not_all_of_a_thousand():
    with pytest.raises(VotesError) as caught:
        parse(io.StringIO(",".join(["ra\x1bter", *(f"column_{n}" for n in range(1000))]) + "\n"), "votes.csv")
    (sentence,) = caught.value.problems
    assert r" ra\x1bter, column_0, " in sentence and "column_999" not in sentence and len(sentence) < 500


def test_the_first_hundred_problems_are_named_and_no_more():
    with pytest.raises(VotesError) as caught:
        parse([f"{HEAD}\n", *([",r,,s,x,y,?,,,,\n"] * 150)], "votes.csv")
    assert len(caught.value.problems) == 100 and caught.value.problems[99].startswith("votes.csv: line 101:")


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes("rater,left,right,choice\nJürgen,x,y,left\n".encode("utf-16"))
    with pytest.raises(VotesError, match="not a CSV file in UTF-8"):
        read(path)


def test_a_mapping_to_an_unknown_column_is_refused():
    with pytest.raises(VotesError, match="Votes have no column colour"):
        parse(["rater,left,right,choice,c\n", "r,x,y,left,1\n"], "votes.csv", {"colour": "c"})


def test_taking_some_keeps_the_numbering():
    found = canonical(simulated_votes(3, 2, 4))
    some = found.take(found.rater == 1)
    assert some.raters == found.raters and set(some.rater.tolist()) == {1}
    assert len(some) == np.count_nonzero(found.rater == 1)


@pytest.mark.parametrize(
    ("choice", "meant"),
    [
        *[(text, "left") for text in ("left", "LEFT", " Left ", "model_a", "Model A", "a", "alpha")],
        *[(text, "right") for text in ("right", "RIGHT", "model_b", "model-b", "B", "beta")],
        *[(text, "tie") for text in ("tie", "TIE", "tie (bothbad)", "tie_both_bad", "Draw", "equal", "both", "neither")],
    ],
)
def test_sides_and_ties_are_understood_in_the_spellings_of_other_services(choice, meant):
    (found,) = parse(io.StringIO(f"rater,left,right,choice\nr,alpha,beta,{choice}\n"), "votes.csv")
    assert found.choice == meant


def test_the_head_of_a_side_s_column_names_that_side():
    rows = "judge,this,that,winner\nr,alpha,beta,that\n"
    (found,) = parse(io.StringIO(rows), "votes.csv", {"rater": "judge", "left": "this", "right": "that", "choice": "winner"})
    assert found.choice == "right"


def test_texts_of_a_file_are_mapped_to_what_they_mean():
    rows = "rater,left,right,choice\nr,x,y,1\nr,x,y,2\nr,x,y,0\nr,x,y,nobody knows\n"
    values = [("left", "1"), ("right", "2"), ("tie", "0"), ("tie", "nobody knows")]
    assert [vote.choice for vote in parse(io.StringIO(rows), "votes.csv", values=values)] == ["left", "right", "tie", "tie"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([("up", "1")], "A choice means left, right or tie, not up;"),
        ([("left", "1"), ("tie", "1")], "The choice 1 is mapped to left and to tie; leave one of the two out."),
    ],
)
def test_a_mapping_of_choices_that_means_nothing_is_refused(values, sentence):
    with pytest.raises(VotesError, match=sentence):
        parse(io.StringIO("rater,left,right,choice\nr,x,y,1\n"), "votes.csv", values=values)


def test_a_choice_that_could_be_either_side_is_refused_until_the_file_says_which():
    rows = "rater,left,right,choice\nr,B,A,A\n"
    with pytest.raises(VotesError, match="line 2: choice is 'A', which is the name of the method on one side and can mean the other"):
        parse(io.StringIO(rows), "votes.csv")
    assert [vote.choice for vote in parse(io.StringIO(rows), "votes.csv", values=[("left", "A")])] == ["left"]
    (found,) = parse(io.StringIO("rater,left,right,choice\nr,A,B,A\n"), "votes.csv")  # both readings agree
    assert found.choice == "left"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_cells_are_separated_by_semicolons_or_tabs_too(delimiter):
    rows = [["rater", "left", "right", "choice", "seconds", "sample"], ["r", "x, the first", "y", "left", "1,5", "s"]]
    text = "".join(f"{delimiter.join(row)}\n" for row in rows)
    (found,) = parse(io.StringIO(text), "votes.csv")
    assert (found.left, found.choice, found.seconds, found.sample) == ("x, the first", "left", 1.5, "s")


def test_empty_columns_and_rows_at_the_end_are_no_votes():
    rows = "rater , left,right,choice,,\nr,x,y,left,,\n,,,,,\n\nr,x,y,tie,,\n,,,,,\n, ,,\n"
    assert [vote.choice for vote in parse(io.StringIO(rows), "votes.csv")] == ["left", "tie"]
    with pytest.raises(VotesError, match="line 3: there is a cell 'more' beyond the head's last"):
        parse(io.StringIO("rater,left,right,choice,,\nr,x,y,left,,\nr,x,y,left,,more\n"), "votes.csv")
