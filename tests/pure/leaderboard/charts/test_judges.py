"""The radar of a judge's scores."""

from __future__ import annotations

import json

from leaderboard.charts.judges import MAX_LINES, radar

CRITERIA = ["Text and object", "Plausibility", "Overall"]


def test_every_entry_is_a_closed_line_over_all_criteria():
    figure = radar(CRITERIA, {"one": [1100.4, 1000, 1050], "two": [900, None, 950]})
    first, second = figure.data
    assert (
        first["r"] == [1100.4, 1000, 1050, 1100.4]
        and first["theta"][0] == first["theta"][3] == "Text<br>and object"
        and second["r"][1] is None
    )
    low, high = figure.layout["polar"]["radialaxis"]["range"]
    assert low < 900 < 1100.4 < high
    assert figure.rows == (("one", "1100", "1000", "1050"), ("two", "900", "–", "950"))
    assert figure.summary == "Elo of 2 entries on 3 criteria, further out is better."
    assert first["line"]["dash"] != second["line"]["dash"] and first["marker"]["symbol"] != second["marker"]["symbol"]
    json.dumps(figure.to_dict(), allow_nan=False)


def test_two_criteria_are_parallel_axes_and_many_entries_are_cut():
    figure = radar(CRITERIA[:2], {f"m{n}": [1000 + n, 1000 - n] for n in range(12)})
    assert {line["type"] for line in figure.data} == {"scatter"} and len(figure.data) == MAX_LINES and len(figure.rows) == 12
    assert "the first 8 of 12 entries" in figure.summary


def test_nothing_to_compare_says_so():
    assert radar(CRITERIA, {"one": [1, 2, 3]}).data == () and radar([], {}).data == ()
    same = radar(CRITERIA, {"one": [1000, 1000, 1000], "two": [1000, 1000, 1000]})
    assert same.layout["polar"]["radialaxis"]["range"] == [992, 1008]


def test_markup_in_names_is_text():
    figure = radar(CRITERIA, {"<b>x</b>": [1, 2, 3], "y": [2, 3, 4]})
    assert "<b>" not in json.dumps(figure.to_dict()["data"])
