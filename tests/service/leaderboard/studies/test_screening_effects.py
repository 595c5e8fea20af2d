"""Figures with screening and without, side by side: what only everybody's answers are enough for is told of everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leaderboard.records.study import Summary
from leaderboard.stats import mos_table as rating
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.studies.screening_effects import effects
from tests.pure.leaderboard.stats.test_people import read


def screened(out: int, raters: int = 8) -> Summary:
    """Scores of a good and a bad entry, and of a damaged one, of which a rule leaves the last `out` raters out."""
    rows = [
        Rating(f"r{k}", name, base + (k + n + m) % 2, f"s{n}")
        for k in range(raters)
        for n in range(6)
        for m, (name, base) in enumerate((("good", 4.0), ("bad", 3.0), ("ruined", 1.0)))
    ]
    ratings = rating.canonical(rows)
    metric = MetricScores("m", np.array([[1.0, 2.0, 0.0] if n else [2.0, 1.0, 0.0] for n in range(6)]))
    left = {f"r{k}": ["fast"] for k in range(raters - out, raters)}
    return replace(read(analyse(ratings, [metric], damaged={"ruined"}, screening=True, screened=left)), damaged=["ruined"])


def test_both_columns_have_figures_where_enough_people_are_left():
    found = effects(screened(2))
    assert (found.raters, found.everybody, found.out) == (6, 8, 2)
    assert [line.name for line in found.entries] == ["good", "bad"] and [line.name for line in found.metrics] == ["m"]
    assert [line for line in (*found.entries, *found.metrics) if not ("[" in line.screened and "[" in line.everybody)] == []
    assert effects(screened(0)) is None


def test_where_a_rule_leaves_too_few_the_figures_of_everybody_stand_beside_a_dash():
    for out in (4, 8):
        found = effects(screened(out))
        assert {(line.name, line.screened) for line in found.entries} == {("good", "–"), ("bad", "–")}
        assert [line for line in found.entries if "[" not in line.everybody] == []
        assert [(line.name, line.screened) for line in found.metrics] == [("m", "–")] and "[" in found.metrics[0].everybody


def test_no_figure_stands_where_there_are_too_few_with_screening_as_without():
    found = effects(screened(1, raters=4))
    assert (found.raters, found.everybody, found.entries, found.metrics) == (3, 4, (), ())
