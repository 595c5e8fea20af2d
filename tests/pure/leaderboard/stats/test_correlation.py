import csv
import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.correlation import (
    Order,
    averaged,
    by_scene,
    correlation,
    correlations,
    mean_opinion,
    screened,
)
from leaderboard.stats.states import Key, State
from tests.support.examples import examples
from tests.support.leaderboard.reasons import few_entries

X, Y = (1, 2, 3, 4, 5), (2, 1, 4, 3, 3)


def test_worked_mean_opinion_score():
    found = mean_opinion([5, 4, 4, 3, 5, 4])
    assert (found.mean, found.sd) == pytest.approx((4.1666667, 0.7527727), abs=1e-7)
    assert (found.low, found.high) == pytest.approx((3.3766802, 4.9566531), abs=1e-7)
    one = mean_opinion([3])
    assert (one.mean, one.sd, one.low, one.n) == (3.0, None, None, 1)


def test_no_rating_has_no_mean():
    with pytest.raises(ValueError, match="no opinion score"):
        mean_opinion([])


def test_worked_correlations():
    found = correlation(X, Y)
    assert (found.plcc, found.srocc, found.krocc) == pytest.approx((0.5547002, 0.5642881, 0.3162278), abs=1e-7)


@examples(40)
@given(st.integers(0, 10_000))
def test_correlations_are_scipys_and_turn_with_the_direction(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 12).astype(float), rng.normal(size=12)
    found = correlation(x, y)
    expected = [stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0], stats.kendalltau(x, y)[0]]
    assert [found.plcc, found.srocc, found.krocc] == pytest.approx(expected, abs=1e-12)
    turned = correlation(x, y, higher_is_better=False)
    assert [turned.plcc, turned.srocc, turned.krocc] == pytest.approx([-value for value in expected], abs=1e-12)


def test_what_does_not_vary_has_no_correlation_and_gaps_are_left_out():
    assert correlation([1, 1, 1], [1, 2, 3]).plcc is None and correlation([1], [2]).srocc is None
    assert correlation([1, 2, np.nan, 4], [2, 4, 5, 8]).n == 3 and correlation([1, 2, np.nan, 4], [2, 4, 5, 8]).plcc == pytest.approx(1)


def test_scenes_are_averaged_and_those_without_a_figure_left_out():
    each, mean = by_scene({"a": (X, Y), "b": (X, X), "c": ([1, 1], [1, 2])})
    assert each["c"].plcc is None and mean.n == 2
    assert mean.srocc == pytest.approx((0.5642881 + 1) / 2, abs=1e-7)


def test_a_rater_who_says_the_opposite_is_screened():
    ratings = np.array([[1, 2, 3, 4, 5], [1, 2, 3, 5, 5], [2, 2, 3, 4, 4], [5, 4, 3, 2, 1]], dtype=float)
    assert screened(ratings) == [3]


def test_published_metrics_correlate_with_opinions_as_published(data_folder):
    with (data_folder.parent / "published" / "osim_table4_reevaluation.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["method"] != "COLMAP"]
    mos = [float(row["mos"]) for row in rows]
    expected = {
        "psnr": (0.6575, True),
        "osim": (0.797, True),
        "ssim": (0.497, True),
        "lpips_alex": (0.662, False),
        "clip_sim": (0.739, True),
    }
    for key, (rho, higher) in expected.items():
        assert correlation([float(row[key]) for row in rows], mos, higher).srocc == pytest.approx(rho, abs=1e-3), key


def test_published_means_over_data_sets_are_the_means_of_the_published_correlations(data_folder):
    """Table 4 of the paper on PuzzleSim from its table 3, to the rounding of both."""
    folder = data_folder.parent / "published"
    with (folder / "puzzlesim_table3_per_dataset.csv").open(newline="") as stream:
        rows = {(row.pop("correlation"), row.pop("metric")): [float(value) for value in row.values()] for row in csv.DictReader(stream)}
    compared = 0
    with (folder / "puzzlesim_table4_aggregate.csv").open(newline="") as stream:
        for printed in csv.DictReader(stream):
            pearson, spearman = rows.get(("pearson", printed["metric"])), rows.get(("spearman", printed["metric"]))
            if pearson is None or spearman is None:
                continue
            found = averaged(Order(rho, 0.0, r, 10) for r, rho in zip(pearson, spearman, strict=True))
            assert found.plcc == pytest.approx(float(printed["pearson_mean"]), abs=0.0015), printed["metric"]
            assert found.srocc == pytest.approx(float(printed["spearman_mean"]), abs=0.0015), printed["metric"]
            compared += 1
    assert compared >= 8


def test_correlations_have_intervals_that_speak_of_other_entries():
    found = correlations(np.arange(1.0, 9), np.array([2, 1, 4, 3, 6, 5, 8, 7.0]))
    expected = {"rho": (0.9047619, 0.4278916, 0.9875982), "tau": (0.7142857, 0.2430877, 0.9127411), "r": (0.9047619, 0.5520628, 0.9828242)}
    for name, values in expected.items():
        assert (found[name].value, found[name].low, found[name].high) == pytest.approx(values, abs=1e-6)
    seven = correlations(np.arange(7.0), np.array([1, 0, 2, 3, 4, 6, 5.0]))["rho"]
    assert seven.low is None and (seven.state, seven.reason) == (State.NO_INTERVAL, few_entries(7))
    assert correlations(np.ones(9), np.arange(9.0))["tau"].value is None


@pytest.mark.parametrize("seed", range(6))
def test_values_that_differ_by_rounding_are_level(seed):
    rng = np.random.default_rng(seed)
    x, y = np.array([1.0, 1, 2, 2, 3, 4, 4, 4, 5]) / 7, np.array([2.0, 1, 1, 3, 3, 3, 5, 4, 6]) / 7
    found = correlations(x + rng.uniform(-2e-16, 2e-16, 9), y + rng.uniform(-2e-11, 2e-11, 9))
    assert found["rho"].value == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-9)
    assert found["tau"].value == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-9)
    assert found["r"].value == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
    same = np.array([rng.permutation([0.1, 0.2, 0.3, 0.7, 1.1]).mean() for _ in range(9)])  # one mean, summed in other orders
    assert {one.value for one in correlations(same, y).values()} == {None}


def test_two_entries_are_always_in_one_line_and_have_no_correlation():
    two, three = (correlations(np.arange(n, dtype=float), np.arange(n, dtype=float) ** 2) for n in (2, 3))
    assert {name: (one.value, one.n) for name, one in two.items()} == {"rho": (None, 2), "tau": (None, 2), "r": (None, 2)}
    assert two["rho"].reason.key is Key.FEW_FOR_CORRELATION
    assert three["rho"].value == pytest.approx(1.0) and three["rho"].reason == few_entries(3)


def test_intervals_do_not_hang_on_the_order_of_entries_or_of_scenes():
    rng = np.random.default_rng(2)
    x, y, places = rng.normal(size=9), rng.integers(0, 4, 9).astype(float), rng.permutation(9)
    first, again = correlation(x, y, resamples=200), correlation(x[places], y[places], resamples=200)
    assert dataclasses.astuple(first)[4:] == dataclasses.astuple(again)[4:]
    assert first.krocc == pytest.approx(again.krocc, abs=1e-12)
    scenes = {str(n): (rng.normal(size=6), rng.normal(size=6)) for n in range(7)}
    turned = dict(reversed(scenes.items()))
    assert by_scene(scenes, resamples=200)[1].srocc_ci == by_scene(turned, resamples=200)[1].srocc_ci


def test_the_linear_correlation_is_of_the_values_themselves_however_small_their_differences():
    x, y = 1e-3 + np.array([0, 0.9e-12, 5e-12, 3e-12, 9e-12]), np.array([0.1, 0.3, 0.2, 0.4, 0.5])
    assert correlations(x, y)["r"].value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert correlations(x, y)["tau"].value == pytest.approx(stats.kendalltau([0, 0, 2, 1, 3], y).statistic)
