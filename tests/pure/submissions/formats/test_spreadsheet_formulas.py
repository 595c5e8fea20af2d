"""Cells that a spreadsheet would evaluate."""

from __future__ import annotations

import pytest

from submissions.formats.spreadsheet_formulas import neutral, neutral_row, plain_text, restored

HOSTILE = ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1", "  =1", "＝1+1", "=cmd|'/c calc'!A0", "-1+1", "+1-1", "--1"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_begins_like_a_formula_becomes_plain_and_reads_back(text):
    assert neutral(text) == plain_text(text) == f"'{text}"
    assert restored(neutral(text)) == text


@pytest.mark.parametrize("text", ["-0.5", "+3", "-1e-05", "-inf", "", "garden", "'quoted'", "a=b", "5"])
def test_numbers_and_other_texts_stay_as_they_are(text):
    assert neutral(text) == text and restored(text) == text


def test_a_row_is_made_plain_cell_by_cell():
    assert neutral_row(["=1", "-2.5", "x"]) == ["'=1", "-2.5", "x"]
