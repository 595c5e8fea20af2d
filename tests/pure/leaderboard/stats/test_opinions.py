"""Opinion scores: the worked example, the reference implementation of the standard, and screening."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.stats import opinions
from leaderboard.stats.minimums import RATERS_FOR_LIKELIHOOD, SCORES_FOR_LIKELIHOOD
from leaderboard.stats.mos_table import Rating, Ratings, canonical
from leaderboard.stats.states import Counted, Key, Reason

TABLE = np.array([[5, 4, 4, 3, 5], [4, 4, 3, 3, 4], [5, 5, 4, 4, 5], [3, 4, 3, 2, 4], [4, 5, 4, 3, 4], [4, 4, 5, 3, 5]], dtype=float)
FEW = Reason(Key.FEW_FOR_LIKELIHOOD, Counted.RATERS, RATERS_FOR_LIKELIHOOD, value=float(SCORES_FOR_LIKELIHOOD))


def scores(table: np.ndarray, entries: int = 1) -> Ratings:
    """Raters × stimuli; a stimulus is an entry on a sample."""
    cells = [(r, j, float(v)) for r, row in enumerate(table) for j, v in enumerate(row)]
    return canonical([Rating(f"r{r:02}", f"e{j % entries}", v, f"s{j // entries:02}") for r, j, v in cells])


def test_the_worked_example():
    found = opinions.mean_opinion(scores(TABLE), 0)
    assert (found.value, found.low, found.high) == pytest.approx((3.9666667, 3.1983916, 4.7349417), abs=1e-6)
    assert sorted(opinions.likelihood(scores(TABLE)).inconsistency)[:2] == pytest.approx([1e-8, 1e-8])
    assert opinions.unshown(scores(TABLE), opinions.likelihood(scores(TABLE))) == FEW


def test_scores_that_are_all_alike_have_no_interval_of_width_zero():
    found = opinions.mean_opinion(scores(np.full((6, 6), 4.0)), 0)
    assert (found.value, found.low, found.reason) == (4.0, None, Reason(Key.SAME_SCORES, have=36, value=4.0))


def by_sureal(model: str, table: np.ndarray) -> dict:
    """Answer of a model of the reference implementation to the scores. It loads matplotlib and pandas, which takes a second."""
    from sureal import dataset_reader, subjective_model

    stimuli = [{"content_id": 0, "asset_id": j, "os": column.tolist(), "path": f"p{j}"} for j, column in enumerate(table.T)]
    references = [{"content_id": 0, "content_name": "c", "path": "p"}]
    dataset = SimpleNamespace(dataset_name="made up", ref_videos=references, dis_videos=stimuli)
    return getattr(subjective_model, model)(dataset_reader.RawDatasetReader(dataset)).run_modeling()


def test_the_likelihood_is_that_of_the_reference_implementation(capsys):
    rng = np.random.default_rng(1)
    psi, bias, spread = rng.uniform(2, 4, 24), rng.normal(0, 0.3, 14), rng.uniform(0.3, 0.9, 14)
    table = np.clip(np.round(psi[None] + bias[:, None] + spread[:, None] * rng.standard_normal((14, 24))), 1, 5)
    theirs = by_sureal("SubjectMLEModelProjectionSolver2", table)
    ours = opinions.likelihood(scores(table, entries=4))
    # It stops at a step of 1e-8, where each step is 0.7 of the one before.
    assert ours.psi == pytest.approx(np.array(theirs["quality_scores"]), abs=2e-7)
    assert ours.bias == pytest.approx(np.array(theirs["observer_bias"]), abs=2e-7)
    assert ours.inconsistency == pytest.approx(np.array(theirs["observer_inconsistency"]), abs=2e-7)


def test_the_likelihood_is_shown_where_twelve_raters_gave_twenty_four_scores_each():
    rng = np.random.default_rng(3)
    table = np.clip(np.round(rng.uniform(2, 4, 26)[None] + rng.normal(0, 0.7, (13, 26))), 1, 5)
    twelve, one_more = scores(table[:12], entries=2), scores(table, entries=2)
    one_more = one_more.take((one_more.rater < 12) | (one_more.sample < 5))  # the thirteenth gave ten scores
    for found in (twelve, one_more):
        assert opinions.unshown(found, opinions.likelihood(found)) is None
    eleven = one_more.take(one_more.rater > 0)
    assert opinions.unshown(eleven, opinions.likelihood(eleven)) == FEW


def test_a_rater_who_answers_at_random_is_screened_by_each_rule():
    rng = np.random.default_rng(0)
    truth = rng.uniform(1.5, 4.5, 40)
    table = np.clip(np.round(truth[None] + rng.normal(0, 0.3, (12, 40))), 1, 5)
    table[5] = rng.integers(0, 2, 40) * 4 + 1
    found = scores(table, entries=4)
    assert opinions.screened_by_spread(found.by_rater()) == [5]
    assert opinions.screened_by_inconsistency(opinions.likelihood(found)) == [5]
    assert opinions.screened_by_spread(np.delete(table, 5, axis=0)) == []
    theirs = by_sureal("SubjrejMosModel", table)["quality_scores"]
    assert np.delete(table, 5, axis=0).mean(axis=0) == pytest.approx(np.array(theirs))


@pytest.mark.parametrize("raters", [5, 21])
@pytest.mark.parametrize("others", [1.0, 2.0, 3.0, 4.0, 4.4])
@pytest.mark.parametrize("who", range(5))
def test_a_score_at_the_bound_itself_is_beyond_it_whatever_rounding_makes_of_it(raters, others, who):
    """One of n scores that differs by d lies d (n - 1) / n off the mean and the sd is d sqrt(n - 1) / n: that is sqrt(n - 1) sd, with a
    kurtosis of ((n - 1)^3 + 1) / n / (n - 1). Of five it is 2 sd with 3.25, which is bell-shaped; of 21 root 20 sd with 19.05, which is
    not."""
    table = np.full((raters, 4), others)
    table[who] += [0.6, -0.6, 0.3, -0.3]
    assert opinions.screened_by_spread(table) == [who]


def test_biases_are_found_and_sum_to_nothing():
    rng = np.random.default_rng(3)
    bias = np.linspace(-0.5, 0.5, 14)
    table = rng.uniform(2, 4, 30)[None] + bias[:, None] + rng.normal(0, 0.2, (14, 30))
    found = opinions.likelihood(scores(np.clip(table, 1, 5), entries=5))
    assert found.bias == pytest.approx(bias, abs=0.15) and found.bias.sum() == pytest.approx(0, abs=1e-9)
    figure = opinions.likelihood_of(scores(np.clip(table, 1, 5), entries=5), found, 0)
    assert figure.low < figure.value < figure.high


def test_a_metric_that_bends_is_fitted_by_a_logistic_and_a_flat_one_is_not():
    x = np.linspace(0, 1, 40)
    y = 1 + 4 / (1 + np.exp(-12 * (x - 0.5)))
    found = opinions.fitted(x, y)
    assert found.r == pytest.approx(1, abs=1e-6) and found.rmse < 1e-3 and found.raw < 0.99
    assert opinions.fitted(np.ones(40), y) is None and opinions.fitted(x[:20], y[:20]) is None
    places = np.random.default_rng(0).permutation(40)
    assert opinions.fitted(x[places], y[places]) == found
    turned = opinions.fitted(-x, y)
    assert turned.raw < -0.9, "a metric that is turned round has its raw correlation beside the fitted one"


def test_the_fit_does_not_depend_on_units_and_origins():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    y = np.clip(3 + 0.4 * x + rng.normal(0, 0.9, 60), 1, 5)
    found = opinions.fitted(x, y)
    for scale, shift in ((1, 50), (1e-3, 5), (1e4, -7), (1, -1e3)):
        moved = opinions.fitted(x * scale + shift, y)
        assert (moved.r, moved.rmse) == pytest.approx((found.r, found.rmse), abs=1e-5)  # the best curve may lie at infinity
    stretched = opinions.fitted(x, 10 * y - 3)
    assert (stretched.r, stretched.rmse) == pytest.approx((found.r, 10 * found.rmse), abs=1e-4)
