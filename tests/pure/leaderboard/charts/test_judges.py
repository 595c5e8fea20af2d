"""The radar of a judge's scores."""

from __future__ import annotations

import re

from leaderboard.charts.judges import MAX_LINES, radar

CRITERIA = ["Text and object", "Plausibility", "Overall"]


def test_every_entry_is_a_line_over_all_criteria():
    chart = radar(CRITERIA, {"one": [1100.4, 1000, 1050], "two": [900, None, 950]})
    first, second = chart.marks
    assert [(dot.x, dot.y) for dot in first.dots] == [(0, 1100.4), (1, 1000), (2, 1050)] and second.dots[1].y is None
    assert first.dots[0].said == "one\nText and object: 1100" and chart.is_round and chart.x.names == tuple(CRITERIA)
    low, high = chart.y.ends
    assert low < 900 < 1100.4 < high
    assert chart.rows == (("one", "1100", "1000", "1050"), ("two", "900", "–", "950"))
    assert re.findall(r"\d+", chart.summary) == ["2", "3"]
    assert first.line.dash != second.line.dash and first.symbol != second.symbol


def test_two_criteria_are_parallel_axes_and_many_entries_are_cut():
    chart = radar(CRITERIA[:2], {f"m{n}": [1000 + n, 1000 - n] for n in range(12)})
    assert not chart.is_round and len(chart.marks) == MAX_LINES and len(chart.rows) == 12
    assert re.findall(r"\d+", chart.summary) == ["8", "12", "2"]


def test_methods_whose_long_names_differ_in_brackets_have_labels_that_differ():
    names = ("one method with a long name (first)", "one method with a long name (second)")
    assert len({line.name for line in radar(CRITERIA, {name: [1, 2, 3] for name in names}).marks}) == 2


def test_nothing_to_compare_says_so():
    assert radar(CRITERIA, {"one": [1, 2, 3]}).marks == () and radar([], {}).marks == ()
    same = radar(CRITERIA, {"one": [1000, 1000, 1000], "two": [1000, 1000, 1000]})
    assert same.y.ends == (992, 1008)
