import math

import numpy as np
import pytest

from evaluation.metrics.aggregation import Summary, group_means, mean_interval, micro_figure, summarise, unit_matrix
from evaluation.metrics.registry import get


def summary(values, groups=None, key="corner_f1", statuses=None, parts=None) -> Summary:
    n = len(values)
    statuses = statuses or ["ok" if value is not None else "no_object" for value in values]
    return summarise(get(key), values, statuses, parts or [{}] * n, groups or [str(k) for k in range(n)])


def test_group_means_leave_out_nulls_and_keep_the_order_of_first_appearance():
    means = group_means([1.0, None, 3.0, None], ["b", "a", "b", "c"])
    assert list(means.items()) == [("b", 2.0), ("a", None), ("c", None)]


def test_the_value_is_the_unweighted_mean_over_groups():
    found = summary([0.0, 1.0, 1.0, 1.0], ["a", "b", "b", "b"])
    assert (found.value, found.n, found.resampled) == (0.5, 2, "group")


def test_the_figures_beside_the_value_are_worked_by_hand():
    found = summary([0.1, 0.2, 0.6])
    assert (found.value, found.median, found.minimum, found.maximum) == pytest.approx((0.3, 0.2, 0.1, 0.6))
    assert found.sd == pytest.approx(math.sqrt((0.04 + 0.01 + 0.09) / 2))


def test_items_are_the_units_where_all_share_one_group():
    found = summary([0.1, 0.2, 0.6], ["a"] * 3)
    assert (found.n, found.resampled, found.value) == (3, "item", pytest.approx(0.3))


def test_below_six_units_and_where_all_are_equal_there_is_no_interval():
    for values in ([0.25], [0.1, 0.2, 0.6, 0.4, 0.3], [0.5] * 20, [1.0] * 20):
        assert (summary(values).ci_low, summary(values).ci_high) == (None, None)
    assert summary([0.25]).sd is None


def test_nulls_are_counted_and_left_out():
    found = summary([0.5, None, 1.0])
    assert (found.value, found.n, found.n_null, found.n_ok) == (0.75, 2, 1, 2)


def test_all_null_gives_null():
    found = summary([None, None])
    assert (found.value, found.ci_low, found.ci_high, found.median, found.n, found.n_null) == (None, None, None, None, 0, 2)


def test_statuses_are_counted():
    found = summary([1.0, 0.0, 0.0, 0.0], statuses=["ok", "empty_pred", "missing_pred", "invalid_pred"])
    assert (found.n_ok, found.n_missing, found.n_invalid, found.n_null) == (2, 1, 1, 0)


def test_the_interval_is_that_of_the_mean_over_groups_within_the_metrics_bounds():
    found = summary([0.92, 0.88, 0.95, 0.40, 0.90, 0.93, 0.85, 0.91])
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((0.8425, 0.539186, 0.942007), abs=1e-6)
    values, groups = np.random.default_rng(1).random(30), [str(k // 3) for k in range(30)]
    expected = mean_interval(values.reshape(10, 3).mean(axis=1)[None])
    found = summary(list(values), groups)
    assert (found.ci_low, found.ci_high, found.n) == pytest.approx((expected.low[0], expected.high[0], 10))
    assert summary([1.0] * 8 + [0.2]).ci_high <= 1.0


def test_micro_figures_are_ratios_of_sums():
    parts = [{"tp": 1.0, "n_pred": 2.0, "n_gt": 4.0, "distance_sum": 0.3}, {"tp": 3.0, "n_pred": 3.0, "n_gt": 3.0, "distance_sum": 0.5}]
    assert micro_figure(get("corner_precision"), parts) == {"corner_precision_micro": 4 / 5}
    assert micro_figure(get("corner_recall"), parts) == {"corner_recall_micro": 4 / 7}
    assert micro_figure(get("corner_f1"), parts) == {"corner_f1_micro": 8 / 12}
    assert micro_figure(get("corner_offset"), parts) == {"corner_offset_micro": pytest.approx(0.2)}
    assert micro_figure(get("hss"), parts) == {}


def test_a_micro_figure_without_any_hit_is_null():
    assert micro_figure(get("corner_offset"), [{"tp": 0.0, "distance_sum": 0.0}]) == {"corner_offset_micro": None}


def test_a_summary_survives_plain_json():
    import json

    found = summary([0.1, 1 / 3], parts=[{"tp": 1.0, "n_pred": 3.0, "n_gt": 3.0}] * 2)
    assert Summary.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one entry per item"):
        summarise(get("hss"), [1.0], ["ok"], [{}], ["a", "b"])


class TestUnits:
    def test_units_are_group_means_as_a_submission_has_them(self):
        groups, nan = ["a", "b", "a", "c", "c", "b"], math.nan
        items = [[1.0, 2.0, 4.0, nan, 3.0, 8.0], [0.5, nan, nan, nan, nan, nan]]
        means = [group_means([None if math.isnan(v) else v for v in row], groups).values() for row in items]
        np.testing.assert_array_equal(unit_matrix(items, groups), [[nan if m is None else m for m in row] for row in means])

    def test_items_are_the_units_where_all_share_one_group_or_each_is_its_own(self):
        items = np.array([[1.0, 2.0, 3.0]])
        np.testing.assert_array_equal(unit_matrix(items, ["a", "a", "a"]), items)
        np.testing.assert_array_equal(unit_matrix(items, ["a", "b", "c"]), items)

    @pytest.mark.parametrize("groups", [["b", "a", "b", "c", "c", "a"], ["b", "a", "e", "c", "d", "f"], ["a"] * 6])
    def test_nothing_depends_on_the_order_in_which_items_are_listed(self, groups):
        values, names = np.random.default_rng(0).random((3, 6)), ["n", "m", "k", "l", "o", "p"]
        expected = unit_matrix(values, groups, names=names)
        for seed in range(5):
            turn = np.random.default_rng(seed).permutation(6)
            found = unit_matrix(values[:, turn], [groups[n] for n in turn], names=[names[n] for n in turn])
            np.testing.assert_array_equal(found, expected)

    def test_a_group_is_needed_for_every_item(self):
        with pytest.raises(ValueError, match="every item needs a group"):
            unit_matrix([[1.0, 2.0, 3.0]], ["a", "b"])
