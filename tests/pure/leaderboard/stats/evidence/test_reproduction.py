"""Printed numbers computed again: signs, digits, procedures, and the published tables where they are."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from leaderboard.stats.evidence.reproduction import PrintedLine, Statistic, line, logistic_of_other_groups
from tests.support.leaderboard.stats.published_sets import NERF_LOWER, NERF_PRINTED, nerf_values

X, Y = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5])


def printed(value: float, digits: int = 4, x: np.ndarray = X, **more: object) -> PrintedLine:
    return line(Statistic.SRCC, x, Y, value, digits, metric="m", against="mos", **more)


def test_a_number_is_the_same_where_it_rounds_to_what_is_printed():
    assert printed(0.8).same and printed(0.8).here == pytest.approx(0.8)
    assert not printed(0.8001).same and printed(0.8004, 3).same, "printed with more digits: one unit of the third"
    assert not printed(0.9, 1).same and printed(0.8, 1).same


def test_a_metric_of_which_lower_is_better_is_compared_in_the_sign_that_is_printed():
    assert printed(0.8, x=-X, higher_is_better=False).same and printed(-0.8, x=-X, higher_is_better=False).same
    assert not printed(0.8, x=-X).same, "of the other metrics a wrong sign is a difference"


def test_all_three_statistics_leave_out_what_is_missing():
    x = np.append(X, np.nan)
    y = np.append(Y, 1.0)
    found = {one: line(one, x, y, 0.0, 4, metric="m", against="mos").here for one in Statistic}
    assert found[Statistic.SRCC] == pytest.approx(0.8) and found[Statistic.KRCC] == pytest.approx(0.6)
    assert found[Statistic.PLCC] == pytest.approx(np.corrcoef(X, Y)[0, 1])
    assert line(Statistic.SRCC, np.ones(5), Y, 0.5, 2, metric="m", against="mos").here is None


def test_predictions_come_from_the_other_groups_alone():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 12)
    x = rng.normal(size=36)
    y = 1 + 4 / (1 + np.exp(-2 * x))
    assert logistic_of_other_groups(x, y, group) == pytest.approx(y, abs=0.3), "what lies on one curve is predicted"
    changed = np.where(group == 1, 9 - y, y)
    first, second = logistic_of_other_groups(x, y, group), logistic_of_other_groups(x, changed, group)
    assert second[group == 1] == pytest.approx(first[group == 1]), "a group's own means are not looked at"
    assert not np.allclose(second[group == 0], first[group == 0])


# --- published tables


@pytest.fixture(scope="module")
def folder(data_folder):
    found = data_folder / "evidence"
    if not found.is_dir():
        pytest.skip("the folder of test data holds no published sets")
    return found


def all_the_same(lines: list[PrintedLine]) -> bool:
    """True where every printed number comes out; fails with the first that does not."""
    differ = [one for one in lines if not one.same]
    assert not differ, f"{len(differ)} differ; the first: {differ[0]}"
    return True


def test_all_numbers_of_a_published_table_come_out_the_same(folder):
    values = nerf_values(folder)
    synthetic = np.array([any(f"_{scene}_" in name for scene in ("chair", "hotdog", "materials", "mic")) for name in values.index])
    lines = []
    for row in (folder / "nerf-qa-kobejean" / "results_table_test2.tex").read_text().splitlines():
        title, *cells = row.split("&")
        if title not in NERF_PRINTED:
            continue
        numbers = [float(re.match(r"[\d.]+", cell.strip())[0]) for cell in cells]
        column = NERF_PRINTED[title]
        parts = [(one, part) for part in (synthetic, ~synthetic, np.ones(len(values), dtype=bool)) for one in ("plcc", "srcc", "krcc")]
        for number, (one, part) in zip(numbers, parts, strict=True):
            x, y = (values.loc[part, name].to_numpy(dtype=float) for name in (column, "BT-500"))
            higher = column not in NERF_LOWER
            lines.append(line(Statistic(one), x, y, number, 4, metric=column, against="BT-500", higher_is_better=higher))
    assert len(lines) == 144 and all_the_same(lines)
    assert [round(one.here, 4) for one in lines if one.metric == "DISTS" and one.statistic == "srcc"] == [0.8658, 0.8548, 0.8615]


def test_curves_fitted_to_other_contents_give_what_is_printed(folder):
    table = pd.read_csv(folder / "icip2020-quach" / "icip2020_degraded_pcs_features.csv")
    group = table.pc_name.astype("category").cat.codes.to_numpy(dtype=np.int64)
    lines = [
        line(
            Statistic.SRCC,
            table[row.column].to_numpy(dtype=float),
            table.mos.to_numpy(dtype=float),
            row.printed,
            3,
            metric=row.metric,
            against="mos",
            group=group,
            procedure="logistic-of-other-groups",
        )
        for row in pd.read_csv(folder / "icip2020-quach" / "printed.csv").itertuples()
    ]
    assert len(lines) == 12 and all_the_same(lines)


def test_correlations_with_undamaged_references_are_those_of_the_source(folder):
    table = pd.read_csv(folder / "geo-metric" / "JODPerMesh.csv")
    lines = []
    for row in pd.read_csv(folder / "geo-metric" / "correlation_coefficients.csv").itertuples():
        rows = pd.Series(True, table.index) if row.Condition == "allSettings" else table.setting == row.Condition
        if row.Dst_type == "noSimp":
            rows &= table.dst_type != "Simp"
        elif row.Dst_type != "allTypes":
            rows &= table.dst_type == row.Dst_type
        x, y = (table.loc[rows, name].to_numpy(dtype=float) for name in (row.Metric, "JOD"))
        for one, number in (("plcc", row.Pearson), ("srcc", row.Spearman), ("krcc", row.Kendall)):
            if not np.isnan(number):
                lines.append(line(Statistic(one), x, y, number, 4, metric=row.Metric, against="JOD", higher_is_better=False))
    assert len(lines) == 660 and all_the_same(lines)
