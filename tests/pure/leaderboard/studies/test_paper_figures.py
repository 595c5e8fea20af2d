"""The figures of papers as they stand in the package: as printed, with what they are over, and of metrics that there are."""

from __future__ import annotations

import math
import statistics

import pytest

from evaluation.metrics import registry
from leaderboard.studies.paper_figures import UNSTATED, mentions, studied
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.reasons import few_entries


def table(paper: str, name: str):
    return next(one for one in studied()[paper].tables if one.name == name)


def test_every_table_says_what_it_is_over_and_every_key_is_one_of_ours():
    sizes = {paper.slug: [(len(one.rows), len(one.columns)) for one in paper.tables] for paper in studied().values()}
    assert sizes == {
        "osim": [(9, 1), (6, 1), (3, 1)],
        "puzzlesim": [(9, 12), (9, 12), (14, 4)],
        "locase": [(3, 3), (3, 3), (2, 3)],
        "gpteval3d": [(6, 6), (4, 6)],
        "wireframes": [(1, 1), (3, 1), (2, 1)],
    }
    for paper in studied().values():
        assert paper.source.title and paper.source.place and paper.source.link.startswith("https://")
        assert paper.says and paper.mapping and paper.in_a_line
        for one in paper.tables:
            assert one.statistic and one.over and (one.n or UNSTATED in one.basis) and one.kind in ("", "rho", "tau", "r")
            assert (one.why == "") == any(ends for _, cells in one.lines for _, ends in cells)
            for row in one.rows:
                assert len(row.values) == len(one.columns) and (not row.key or registry.get(row.key).family == one.family)


def test_a_correlation_of_eight_things_or_more_has_an_interval_and_no_other_figure():
    # z = atanh(.820) = 1.1568, sqrt((1 + .6724 / 2) / 8) = .4087, times 1.96: .8010
    osim = next(cells for row, cells in table("osim", "Table 2").lines if row.key == "osim")
    assert osim == [(0.82, pytest.approx((math.tanh(1.156817 - 0.801031), math.tanh(1.156817 + 0.801031)), abs=1e-4))]
    assert table("osim", "Table 3, metrics of pictures").why == sentence(few_entries(7)) and "not stated" in table("locase", "Table 8").why
    tau = table("gpteval3d", "Table 1").lines[-1][1]
    # z = 1.1597, sqrt(.437 / 9) = .22035, times 1.96: .4319
    assert tau[0][1] == pytest.approx((math.tanh(1.1597 - 0.4319), math.tanh(1.1597 + 0.4319)), abs=5e-4)
    assert tau[-1] == (0.71, None)  # the paper's mean of five criteria


def test_the_figures_are_those_that_the_papers_print():
    """Figures that a paper prints twice, or as sums, agree."""
    assert [row.values[0] for row in table("osim", "Table 2").rows] == [0.658, 0.483, 0.647, 0.774, 0.579, 0.551, 0.702, 0.756, 0.82]
    assert table("locase", "Table 7").rows[1].values == table("locase", "Table 8").rows[2].values == (0.728, 0.757, 0.614)
    for row in table("gpteval3d", "Table 2").rows:
        assert row.values[-1] == pytest.approx(statistics.mean(row.values[:5]), abs=6e-4)
    mean = {row.name: row.values for row in table("puzzlesim", "Table 4").rows}
    for part, place in (("Pearson", 0), ("Spearman", 2)):
        for row in table("puzzlesim", f"Table 3, {part}").rows:
            assert mean[row.name][place] == pytest.approx(statistics.mean(row.values), abs=1.1e-3)


def test_what_papers_say_of_one_metric_is_found_by_its_key():
    assert [(one.paper.slug, one.table.name) for one in mentions("psnr")] == [("osim", "Table 2"), ("osim", "Table 3, metrics of pictures")]
    assert next(iter(mentions("psnr"))).in_a_line == "ρ 0.658 [0.02, 0.91]"
    assert next(one.in_a_line for one in mentions("puzzlesim")) == "0.461 to 0.768 in 12 columns"
    assert not list(mentions("edge_f1"))
    assert studied()["osim"].reported("psnr").startswith("0.658 [0.02, 0.91]: ")
    assert studied()["locase"].reported("locase").startswith("0.757: ") and "[" not in studied()["locase"].reported("locase")
    assert studied()["locase"].reported("psnr") == ""


def test_other_tables_are_whole_and_hold_what_the_papers_print():
    for paper in studied().values():
        for one in paper.others:
            assert one.about and [row for row in one.rows if len(row) != len(one.columns)] == [], (paper.slug, one.name)
    assert [(one.name, len(one.rows)) for paper in studied().values() for one in paper.others] == [
        ("Table 5", 2),
        ("Table 1", 16),
        ("Table 2", 4),
        ("Table 5", 6),
        ("Table 9", 5),
        ("Table 10", 4),
        ("Table 11", 16),
        ("Table 13", 8),
        ("Table R1", 12),
        ("Table R2", 4),
    ]
    osim = next(one for one in studied()["osim"].others if one.name == "Table 5")
    assert osim.rows[0][osim.columns.index("dark5")] == f"{table('osim', 'Table 2').rows[-1].values[0]:.3f}", "the paper's own choice"
