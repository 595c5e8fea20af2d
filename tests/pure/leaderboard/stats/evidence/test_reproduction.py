"""Printed numbers computed again: signs, digits, procedures; published tables are computed again in `evidence/test_published_sets.py`."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.evidence.reproduction import PrintedLine, Statistic, line, logistic_of_other_groups

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
