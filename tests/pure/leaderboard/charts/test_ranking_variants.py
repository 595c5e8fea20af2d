"""Places of entries from one way to rank to the next."""

from __future__ import annotations

import re

from leaderboard.charts.ranking_variants import MAX_LINES, bumps


def test_a_line_for_each_entry_and_the_accent_where_it_is_first_anywhere():
    chart = bumps(["The board", "Borda count"], ["a", "b", "c", "unranked"], [[1, 2], [2, 1], [2, None], [None, 3]], 3)
    assert [[dot.y for dot in mark.dots] for mark in chart.marks] == [[1, 2], [2, 1], [2, None]]
    assert [mark.tone for mark in chart.marks] == ["accent", "accent", "soft"] and len({mark.symbol for mark in chart.marks}) == 3
    assert chart.x.ticks == ((0, "The board"), (1, "Borda count"))
    assert chart.y.ticks == ((1, "a"), (2, "b = c")) and chart.y.ends == (2.6, 0.4), "the best at the top"
    assert re.findall(r"\d+", chart.summary) == ["3", "2", "2"]  # entries, ways, and how many are first in one
    assert chart.rows == (("a", "1", "2"), ("b", "2", "1"), ("c", "2", "–"))
    assert chart.marks[0].dots[1].said == "a\nBorda count: rank 2"


def test_entries_whose_long_names_differ_in_brackets_have_labels_that_differ():
    names = ["one method with a long name (first)", "one method with a long name (second)", "b (Team)", "an entry of a long name"]
    chart = bumps([f"Chamfer distance of all points ({n})" for n in "ab"], names, [[1, 1], [2, 2], [3, 3], [3, 3]], 4)
    assert [label for _, label in chart.y.ticks] == ["one method with…(first)", "one method with…(second)", "b (Team) = an e…ong name"]
    assert len({label for _, label in chart.x.ticks}) == 2


def test_the_first_twelve_are_drawn_and_two_orders_are_needed():
    ranks = [[n, n] for n in range(1, 31)]
    chart = bumps(["The board", "Borda count"], [f"e{n}" for n in range(30)], ranks, 30)
    assert len(chart.marks) == MAX_LINES and re.findall(r"\d+", chart.summary)[:2] == ["12", "30"]
    assert bumps(["The board"], ["a", "b"], [[1], [2]], 2).marks == ()
