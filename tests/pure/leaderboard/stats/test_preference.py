"""Worked figures, the published tables, evalica, choix and Adam as peers, and what must hold for any votes."""

import csv
import math

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from leaderboard.stats import preference
from leaderboard.stats.preference import (
    cells,
    fit,
    gradient,
    implied,
    judge_elo,
    placed,
    quality,
    wf_elo,
    win_rate,
    win_rate_with_self,
    wins,
)
from leaderboard.stats.votes import canonical
from tests.support.examples import examples
from tests.support.leaderboard.stats.ballots import from_wins, simulated_votes, vote

THREE = [[0, 4, 5], [2, 0, 3], [1, 2, 0]]
SEEDS = st.integers(0, 1_000_000)


def elo(votes, anchor: str):
    return judge_elo(cells(votes), votes.methods.index(anchor))[0]


def random_wins(seed: int, m: int = 6, n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1, m)
    w = np.zeros((m, m))
    for i, j in rng.integers(0, m, (n, 2)):
        if i != j:
            first = rng.random() < 1 / (1 + np.exp(theta[j] - theta[i]))
            w[(i, j) if first else (j, i)] += 1
    return w


def test_worked_elo_of_three_wins_to_one_and_with_ties():
    assert elo(from_wins([[0, 3], [1, 0]]), "m1") == pytest.approx([1190.8485, 1000], abs=1e-4)
    assert elo(from_wins([[0, 3], [1, 0]], [(0, 1, 4)]), "m1") == pytest.approx([1058.4512, 1000], abs=1e-4)


def test_worked_example_of_three_methods():
    votes = from_wins(THREE)
    assert elo(votes, "m2") == pytest.approx([1243.2674584, 1097.9266455, 1000], abs=1e-6)
    ability = fit(wins(cells(votes))).ability
    assert ability == pytest.approx([0.7456697, -0.0909793, -0.6546904], abs=1e-7)
    assert wf_elo(ability) == pytest.approx([1098.26787, 763.60828, 538.12385], abs=1e-5)
    assert implied(ability) == pytest.approx([0.6666667, 0.4798506, 0.3534827], abs=1e-7)
    assert implied(ability, with_self=False) == pytest.approx([0.75, 0.4697759, 0.2802241], abs=1e-7)


def test_worked_placing_of_a_new_method():
    assert placed([1000, 1200], [3, 1], [1, 3]) == pytest.approx(1100, abs=1e-9)
    assert placed([1000], [3], [1]) == pytest.approx(1190.8485, abs=1e-4)
    assert math.isnan(placed([], [], []))
    assert 1000 < placed([1000], [5], [0]) < 1000 + 400 * math.log10(12)  # 5.5 to 0.5


def test_worked_win_rates():
    votes = canonical([vote("A", "B", "left"), vote("A", "C", "left"), vote("B", "C", "tie"), vote("B", "A", "tie", rater="s")])
    w = wins(cells(votes))
    assert win_rate(w) == pytest.approx([2.5 / 3, 1 / 3, 0.25], abs=1e-9)
    assert win_rate_with_self(w) == pytest.approx([(2.5 + 0.75) / 4.5, (1 + 0.75) / 4.5, (0.5 + 0.5) / 3])


def test_worked_quality_factor():
    found, share = quality(np.array([[0.9, 0.8, 0.85], [0.6, 0.5, 0.55], [0.2, 0.3, 0.25]]))
    assert found == pytest.approx([0.842002, 0.107456, -0.528664], abs=1e-6)
    assert share == pytest.approx(0.996614, abs=1e-6)


def published(data_folder, name: str) -> list[dict[str, str]]:
    with (data_folder.parent / "published" / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_published_methods_are_on_the_scale_that_is_used(data_folder):
    rows = published(data_folder, "wf_table1_methods.csv")
    ability, points, bt, from_elo, factor = (
        np.array([float(row[key]) for row in rows])
        for key in ("bt_ability", "elo_score", "implied_win_rate_bt", "implied_win_rate_elo", "quality_factor")
    )
    apart = wf_elo(ability) - points
    assert math.sqrt((apart**2).mean()) <= 14 and np.abs(apart).max() <= 26
    assert kendalltau(ability, points).statistic >= 0.99
    assert implied(ability) == pytest.approx(bt, abs=0.0051)
    assert implied(points / 400) == pytest.approx(from_elo, abs=0.0051)
    assert np.linalg.norm(factor) == pytest.approx(1, abs=0.01)
    assert kendalltau(factor, ability).statistic == pytest.approx(0.7215, abs=1e-3)
    assert kendalltau(factor, points).statistic == pytest.approx(0.7254, abs=1e-3)


def test_the_published_judges_put_the_same_method_first(data_folder):
    rows = published(data_folder, "gpteval_config_elo.csv")
    for criterion in list(rows[0])[1:6]:
        assert max(rows, key=lambda row: float(row[criterion]))["method"] == "mvdream"
        assert next(float(row[criterion]) for row in rows if row["method"] == "dreamfusion") == 1000


@pytest.mark.parametrize("seed", range(6))
def test_abilities_are_those_of_evalica_and_choix(seed):
    votes = canonical(simulated_votes(seed=seed, noise=1.5))
    names = list(votes.methods)
    ability = fit(wins(cells(votes))).ability
    left, right = [names[i] for i in votes.a], [names[i] for i in votes.b]
    said = [{-1: evalica.Winner.X, 0: evalica.Winner.Draw, 1: evalica.Winner.Y}[v] for v in votes.verdict.tolist()]
    theirs = np.log(evalica.bradley_terry(left, right, said, tolerance=1e-14, limit=20_000).scores[names].to_numpy())
    assert ability == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    w = wins(cells(votes))
    dense = choix.ilsr_pairwise_dense(w, alpha=0.0, max_iter=1000, tol=1e-12)
    assert ability == pytest.approx(dense - dense.mean(), abs=1e-6)


def test_the_optimiser_of_the_paper_ends_where_newton_does():
    w = wins(cells(from_wins(THREE)), tie=1.0)
    score, first, second = np.full(3, 1000.0), np.zeros(3), np.zeros(3)
    for step in range(1, 10_001):  # Adam, 0.1
        slope = gradient(w, score / preference.PER_LOGIT) / preference.PER_LOGIT
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        score = score - 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    assert elo(from_wins(THREE), "m2") == pytest.approx(score - score[2] + 1000, abs=0.01)


@examples(40)
@given(SEEDS)
def test_the_slope_is_nothing_and_turning_the_votes_round_turns_the_scale(seed):
    w = random_wins(seed)
    found = fit(w)
    if not found.regularised.any():
        assert np.abs(gradient(w, found.ability)).max() < 1e-9
    backward = fit(w.T).ability
    assert found.ability == pytest.approx(-backward, abs=1e-8, nan_ok=True)
    order = np.random.default_rng(seed).permutation(len(w))
    assert fit(w[np.ix_(order, order)]).ability == pytest.approx(found.ability[order], abs=1e-8, nan_ok=True)


@examples(30)
@given(SEEDS)
def test_many_fits_at_once_are_the_single_ones(seed):
    many = np.stack([random_wins(seed + k, 5, 6 + 10 * k) for k in range(5)])
    assert preference.fits(many) == pytest.approx(np.stack([fit(w).ability for w in many]), abs=1e-8, nan_ok=True)


def test_a_method_that_never_lost_stays_finite_and_is_marked():
    found = fit(np.array([[0, 5, 0], [0, 0, 3], [0, 2, 0.0]]))
    assert np.isfinite(found.ability).all() and found.ability[0] > found.ability[1]
    assert found.regularised.tolist() == [True, True, False]
    assert fit(np.array([[0, 5.0], [0, 0]])).ability == pytest.approx([math.log(11) / 2, -math.log(11) / 2])  # 5.5 to 0.5


def test_methods_that_no_chain_of_pairs_joins_are_not_compared():
    votes = from_wins([[0, 3, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 2, 0], [0, 0, 2, 0, 0], [0, 0, 0, 0, 0]])
    scores, found = judge_elo(cells(votes), 0)
    assert found.component.tolist() == [0, 0, 1, 1]
    assert np.isnan(scores).tolist() == [False, False, True, True]
    alone = fit(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    assert np.isnan(alone.ability).tolist() == [False, False, True]


def test_intervals_hold_the_value_and_shrink_with_more_votes():
    rows = simulated_votes(noise=1.2)
    widths = []
    for votes in (canonical(rows), canonical(rows + [vote(r.left, r.right, r.choice, r.rater + "'", r.sample) for r in rows])):
        value = fit(wins(cells(votes))).ability
        found = preference.scale(value, preference.fits(wins(preference.resampled(votes, 400))))
        assert ((found.low < value) & (value < found.high)).all()
        widths.append(found.high - found.low)
    assert widths[1].mean() / widths[0].mean() == pytest.approx(math.sqrt(0.5), abs=0.08)


def test_resamples_have_as_many_votes_and_are_fixed_by_the_seed():
    votes = canonical(simulated_votes())
    drawn = preference.resampled(votes, 50, 3)
    assert (drawn[..., 0].sum((1, 2)) + drawn[..., 1].sum((1, 2)) / 2 == len(votes)).all()
    assert np.array_equal(drawn, preference.resampled(votes, 50, 3)) and not np.array_equal(drawn, preference.resampled(votes, 50, 4))


@examples(25)
@given(SEEDS)
def test_quality_has_length_one_and_likes_what_is_chosen(seed):
    votes = canonical(simulated_votes(5, 3, 5, seed=seed))
    found, share = preference.quality_scale(votes, 50)
    assert np.linalg.norm(found.value) == pytest.approx(1) and 0 < share <= 1
    assert found.value[0] > found.value[-1]  # m0 is best for all, m4 worst


def test_judges_count_a_tie_as_a_whole_win_of_both():
    votes = from_wins([[0, 1], [0, 0]], [(0, 1, 2)])
    assert wins(cells(votes)).tolist() == [[0, 2], [1, 0]]
    assert wins(cells(votes), tie=1.0).tolist() == [[0, 3], [2, 0]]


def test_where_nobody_preferred_anything_no_method_has_a_quality():
    found, share = preference.quality_scale(canonical([vote("a", "b", "tie"), vote("a", "c", "tie", rater="q")]), 20)
    assert np.isnan([found.value, found.low, found.high]).all()
    assert np.isnan(share)
