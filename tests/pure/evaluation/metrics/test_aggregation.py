import math

import numpy as np
import pytest

from evaluation.metrics.aggregation import Summary, bootstrap_indices, bootstrap_interval, group_means, micro_figure, summarise
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


def test_items_are_resampled_where_all_share_one_group():
    found = summary([0.1, 0.2, 0.6], ["a"] * 3)
    assert (found.n, found.resampled, found.value) == (3, "item", pytest.approx(0.3))
    assert found.ci_low < 0.3 < found.ci_high


def test_one_single_value_has_an_interval_of_no_width_and_no_spread():
    found = summary([0.25])
    assert (found.value, found.ci_low, found.ci_high, found.n, found.sd) == (0.25, 0.25, 0.25, 1, None)


def test_nulls_are_counted_and_left_out():
    found = summary([0.5, None, 1.0])
    assert (found.value, found.n, found.n_null, found.n_ok) == (0.75, 2, 1, 2)


def test_all_null_gives_null():
    found = summary([None, None])
    assert (found.value, found.ci_low, found.ci_high, found.median, found.n, found.n_null) == (None, None, None, None, 0, 2)


def test_statuses_are_counted():
    found = summary([1.0, 0.0, 0.0, 0.0], statuses=["ok", "empty_pred", "missing_pred", "invalid_pred"])
    assert (found.n_ok, found.n_missing, found.n_invalid, found.n_null) == (2, 1, 1, 0)


def test_the_interval_is_the_percentile_bootstrap_of_a_thousand_resamples_with_seed_0():
    values = np.random.default_rng(1).random(30)
    rows = np.random.Generator(np.random.PCG64(0)).integers(0, 30, size=(1000, 30))
    means = [float(np.mean(values[row])) for row in rows]
    expected = tuple(np.percentile(means, [2.5, 97.5]))
    assert bootstrap_interval(values) == pytest.approx(expected, abs=1e-12)
    found = summary(list(values))
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, abs=1e-12)


def test_bootstrap_rows_are_the_same_every_time_and_differ_by_seed():
    assert np.array_equal(bootstrap_indices(7, 20, 3), bootstrap_indices(7, 20, 3))
    assert not np.array_equal(bootstrap_indices(7, 20, 3), bootstrap_indices(7, 20, 4))
    assert bootstrap_indices(7, 20, 3).shape == (20, 7) and bootstrap_indices(7).max() == 6
    with pytest.raises(ValueError, match="at least 1"):
        bootstrap_indices(0)


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
