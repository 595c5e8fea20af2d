import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.exports.tables import csv_file, json_file
from leaderboard.exports.tables.table import Row, Table
from tests.support.examples import examples
from tests.support.leaderboard.export_tables import CAPTION, TABLE, column, one_name, read_csv

quick = examples(50)


def test_every_number_in_full_and_missing_left_empty():
    first, second, baseline, missing = read_csv(csv_file.write(TABLE))
    assert (first["rank"], first["rank_low"], first["rank_high"]) == ("1", "1", "2")
    assert float(first["hss"]) == 0.61234 and (first["hss_rank"], first["hss_n"]) == ("1", "8")
    assert (second["hss_low"], second["flags"]) == ("", "verified")
    assert (baseline["rank"], baseline["hss"], baseline["flags"]) == ("", "0.9", "baseline")
    assert [missing[k] for k in ("rank", "hss", "corner_offset", "corner_offset_rank")] == [""] * 4
    assert first["snapshot"] == CAPTION.address


@quick
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_exactly(value):
    table = Table(CAPTION, (column("hss", (value,)),), (Row(0, 1, "e", "t"),))
    assert float(read_csv(csv_file.write(table))[0]["hss"]) == value
    assert json.loads(json_file.write(table))["rows"][0]["scores"]["hss"]["value"] == value


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "  ="])
def test_a_name_that_could_be_a_formula_is_made_text(start):
    row = read_csv(csv_file.write(one_name(f"{start}cmd|'/c calc'!A0", f"{start}1+1")))[0]
    assert row["entry"].startswith("'") and row["team"].startswith("'")


def test_a_negative_number_stays_a_number():
    row = read_csv(csv_file.write(one_name("plain")))[0]
    assert (row["entry"], row["hss"], row["hss_low"]) == ("plain", "-0.5", "-0.75")


def test_rfc_4180_quotes_and_line_ends():
    text = csv_file.write(one_name('a "b", c\nd'))
    assert '"a ""b"", c\nd"' in text
    assert text.endswith("\r\n") and text.count("\r\n") == 2


@quick
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_comes_back_with_at_most_an_apostrophe_more(name, team):
    row = read_csv(csv_file.write(one_name(name, team)))[0]
    assert row["entry"] in (name, f"'{name}") and row["team"] in (team, f"'{team}")
