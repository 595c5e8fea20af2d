"""Judges beside people, planning, several studies: the worked examples and what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from leaderboard.stats import davidson, judge_substitution, planning, pooled
from leaderboard.stats.answers import answers
from leaderboard.stats.minimums import QUESTIONS_FOR_GATE, RATERS_FOR_FIGURE, RATERS_FOR_GATE, STUDIES_FOR_MEAN
from leaderboard.stats.people import People
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Estimate, Variance
from leaderboard.stats.votes import canonical
from tests.support.leaderboard.stats.ballots import simulated_votes

# --- judges


def test_people_and_a_judge_together():
    y, f = np.array([1, 0, 1, 1, 0, 1.0]), np.array([1, 0, 0, 1, 0, 1.0])
    more = np.array([1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0.0])
    found = judge_substitution.together(
        judge_substitution.Asked(y, np.arange(6), np.arange(6)), f, judge_substitution.Asked(more, np.arange(12), np.arange(12) % 6)
    )
    assert (found.trust, found.value) == pytest.approx((0.5298701, 0.7549784), abs=1e-6) and found.worth > 6
    # Each of the 18 answers is a rater and a cell of its own; six raters are people, so V_R is 6 / 5 of the squares, V_C 18 / 17.
    rest = y - found.trust * f
    u = np.concatenate([(rest - rest.mean()) / 6, found.trust * (more - more.mean()) / 12])
    by_sample = np.bincount(np.concatenate([np.arange(6), np.arange(12) % 6]), u)
    v_r, v_s, v_c = 6 / 5 * (u**2).sum(), 6 / 5 * (by_sample**2).sum(), 18 / 17 * (u**2).sum()
    v = v_r + max(0, v_s - v_c)
    df = v**2 / (v_r**2 / 5 + (v_s > v_c) * v_s**2 / 5 + v_c**2 / 5)
    half = scipy.stats.t.ppf(0.975, df) * np.sqrt(v) / (found.value * (1 - found.value))
    logit = np.log(found.value / (1 - found.value))
    assert (found.low, found.high) == pytest.approx([1 / (1 + np.exp(-end)) for end in (logit - half, logit + half)])


def test_a_judge_that_is_no_help_leaves_peoples_own_figure():
    rng = np.random.default_rng(0)
    y, f = rng.integers(0, 2, 400).astype(float), rng.integers(0, 2, 400).astype(float)
    people = judge_substitution.Asked(y, np.arange(400) % 20, np.arange(400) // 20)
    more = judge_substitution.Asked(rng.integers(0, 2, 2000).astype(float), np.arange(2000), np.arange(2000) % 20)
    found = judge_substitution.together(people, f, more)
    assert found.trust < 0.1 and found.value == pytest.approx(y.mean(), abs=0.02) and found.worth == pytest.approx(400, rel=0.1)
    alike = judge_substitution.together(people, y, more)
    assert alike.trust == pytest.approx(1 / (1 + 400 / 2000), abs=0.05) and alike.worth > 800


@pytest.mark.parametrize("raters", [RATERS_FOR_FIGURE, 8])
def test_a_judge_that_hardly_counts_is_worth_nothing_more_though_its_answers_are_many(raters):
    rng, n, many = np.random.default_rng(11), 60, 3000
    rater, sample = np.arange(n) % raters, (np.arange(n) // raters) % 12
    for _ in range(300):
        y = (rng.random(n) < np.linspace(0.2, 0.8, raters)[rater]).astype(float)
        same, other = (rng.random(size).round() for size in (n, many))
        more = judge_substitution.Asked(other, np.arange(many), rng.integers(0, 12, many))
        found = judge_substitution.together(judge_substitution.Asked(y, rater, sample), same, more)
        if 0 < found.trust < 0.01:
            break
    assert found.worth == pytest.approx(n, rel=0.02)
    few = judge_substitution.together(judge_substitution.Asked(y, np.arange(n) % 3, sample), same, more)
    assert few.worth is None and few.low is None and few.reason.key is Key.FEW and few.reason.counted is Counted.RATERS


def test_people_with_a_judge_who_all_say_the_same_have_the_interval_of_a_share_at_its_end():
    n = 60
    people = judge_substitution.Asked(np.ones(n), np.arange(n) % 6, np.arange(n) // 6)
    found = judge_substitution.together(people, np.ones(n), judge_substitution.Asked(np.ones(200), np.arange(200), np.arange(200) % 10))
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 0.025 ** (1 / 6), 1.0)) and (found.worth, found.reason) == (n, None)


def test_a_judge_may_carry_the_estimate_beyond_the_range_of_a_share_and_that_is_said():
    """People say yes but to 2 of 60; the judge said no to these and to 18 more, and yes to all that nobody else was asked."""
    n = 60
    y, same = np.ones(n), np.ones(n)
    y[:2] = same[:20] = 0
    people = judge_substitution.Asked(y, np.arange(n) % 6, np.arange(n) // 6)
    found = judge_substitution.together(people, same, judge_substitution.Asked(np.ones(600), np.arange(600), np.arange(600) % 10))
    assert found.trust > 0.5 and found.value > 1 and (found.low, found.high, found.reason) == (None, None, Reason(Key.OUT_OF_RANGE))


def panel(agree: float, seed: int = 0) -> np.ndarray:
    """Five raters on 200 questions who say what is true in such a share of cases."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1.0, 1.0], 200)
    return np.where(rng.random((5, 200)) < agree, truth, -truth)


def test_a_judge_as_good_as_people_passes_and_a_coin_does_not():
    people = panel(0.8)
    assert judge_substitution.gate(people, panel(0.8, seed=0)[0], 0.15).passed
    coin = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], 200)
    found = judge_substitution.gate(people, coin, 0.15)
    assert not found.passed and found.winning == 0.0 and found.chance < 0.6 and found.reason == Reason(Key.GATE_NOT_PASSED)


def test_a_judge_that_fails_on_few_questions_is_not_called_worse_than_people():
    """Each of six who are right in the same share of cases, as if it were the judge: 40 questions do not show that it is as good."""
    rng = np.random.default_rng(1)
    six = np.where(rng.random((6, 40)) < 0.8, 1.0, -1.0)
    found = [judge_substitution.gate(np.delete(six, k, axis=0), six[k], 0.1) for k in range(6)]
    failed = [one for one in found if not one.passed]
    assert len(failed) >= 3 and max(one.chance for one in failed) > 0.75
    assert {one.reason for one in failed} == {Reason(Key.GATE_NOT_PASSED)}


def test_a_judge_is_not_let_in_on_too_few_raters():
    people = panel(0.8)
    people[:, 20:] = np.nan
    found = judge_substitution.gate(people, np.ones(200), 0.15)
    assert not found.passed and found.winning is None
    assert found.reason == Reason(Key.FEW_FOR_GATE, Counted.RATERS, RATERS_FOR_GATE, 0, float(QUESTIONS_FOR_GATE))


def test_rejections_hold_whatever_the_dependence():
    assert judge_substitution.benjamini_yekutieli(np.array([0.001, 0.5, 0.002])).tolist() == [True, False, True]
    assert judge_substitution.benjamini_yekutieli(np.array([0.03, 0.04, 0.05])).tolist() == [False, False, False]


# --- planning


def test_how_many_answers_show_a_preference():
    assert planning.answers_needed(0.6, 0.3, design=1) == 138 and planning.answers_needed(0.6, 0.3) == 275
    with pytest.raises(ValueError, match="one half"):
        planning.answers_needed(0.5, 0.0)


def test_the_forecast_names_what_helps_most():
    variance = Variance(np.array(2.6e-4), np.array(6.6e-4), np.array(1.4e-4), (124, 13, 1612))
    found = planning.forecast("m", variance, 8931)
    assert found.now == pytest.approx(2 * math.sqrt(1.2e-4 + 5.2e-4 + 1.4e-4)) and found.helps == "samples"
    assert found.samples[1] < found.raters[1] and found.answers[1] <= found.now
    few = Variance(variance.rater, variance.sample, variance.cell, (124, 8, 900))
    assert planning.forecast("m", few, 8931).now == pytest.approx(1.1 * found.now)


def test_first_place_is_settled_at_a_planned_look():
    others = {"b": 0.02, "c": 0.02}
    assert planning.look(others, 2, 6, 6).settled and not planning.look(others, 5, 6, 6).settled
    assert planning.look(others, 5, 6, 6).open == ("b", "c")
    assert planning.look({"b": 0.01, "c": None}, 5, 6, 6).open == ("c",)  # of whom nothing is known
    early = planning.look(others, 1, 4, 9)
    assert early.reason.key is Key.FEW_FOR_LOOK and not early.settled
    with pytest.raises(ValueError, match="planned looks"):
        planning.look(others, 11, 6, 6)


def test_the_first_is_told_from_each_other_by_the_test_of_their_difference():
    counted = answers(canonical(simulated_votes(8, 6, 4, noise=0.8)))
    found, model = People(counted, fragility=False).entries.first_place, davidson.models(counted)[0]
    first = int(np.argmax(model.theta))
    assert found.entry == counted.entries[int(model.entries[first])] and len(found.others) == 3
    for rival in found.others:
        n = [counted.entries[int(one)] for one in model.entries].index(rival.entry)
        gap, part = model.theta[first] - model.theta[n], model.between
        expected = 2 * scipy.stats.t.sf(gap / math.sqrt(part.total[first, n]), part.df[first, n])
        assert rival.p == pytest.approx(expected, rel=1e-9)
    assert People(answers(canonical(simulated_votes(4, 6, 4))), fragility=False).entries.first_place is None  # four people say nothing


def test_places_are_settled_where_no_interval_below_overlaps():
    assert planning.settled_places(np.array([1, 2, 2, 4]), np.array([1, 3, 3, 4])) == 1
    # Who is first of two is open, however far both are from the rest: no place is settled.
    assert planning.settled_places(np.array([1, 1, 3, 3]), np.array([2, 2, 4, 4])) == 0
    assert planning.settled_places(np.array([1, 2, 3]), np.array([1, 2, 3])) == 3
    assert planning.settled_places(np.array([1, 1, 1]), np.array([3, 3, 3])) == 0
    # First place is settled by the first's own interval: that of a rival has a bar of its own, and may begin at 1 all the same.
    assert planning.settled_places(np.array([1, 1, 3]), np.array([1, 3, 3])) == 1
    assert planning.settled_places(np.array([1, 2, 3]), np.array([2, 2, 3])) == 0


# --- several studies


def test_the_mean_over_studies():
    found = pooled.pool([(0.9, 0.2), (0.5, 0.15), (1.2, 0.3)])
    assert (found.value, found.low, found.high) == pytest.approx((0.8080626, -0.0472002, 1.6633255), abs=1e-6)
    assert (found.tau2, found.i2) == pytest.approx((0.0736547, 0.6377516), abs=1e-6) and found.prediction is None
    share = found.as_share()
    assert (round(share.value, 3), round(share.low, 3), round(share.high, 3)) == (0.692, 0.488, 0.841)


def test_differences_of_metrics_over_studies_are_tested_with_holms_correction():
    # Mean .1, no spread beyond chance: se = .02 / sqrt(3); of Student's t with 2 degrees of freedom p = 1 - t / sqrt(t^2 + 2).
    apart, level = [(0.1, 0.02), (0.12, 0.02), (0.08, 0.02)], [(0.01, 0.02), (-0.01, 0.02), (0.0, 0.02)]
    found = pooled.pairs({("a", "b"): apart, ("a", "c"): level, ("b", "c"): apart[:2]})
    t = 0.1 / (0.02 / math.sqrt(3))
    assert found[0].value == pytest.approx(0.1) and found[0].p == pytest.approx(1 - t / math.sqrt(t * t + 2))
    assert found[0].p_holm == pytest.approx(2 * found[0].p) and found[1].p == found[1].p_holm == pytest.approx(1.0)
    assert (
        found[2].p is None
        and found[2].p_holm is None
        and found[2].reason.key is Key.FEW_STUDIES
        and found[2].reason.need == STUDIES_FOR_MEAN
    )


def test_studies_that_say_the_same_differ_by_nothing_and_two_are_not_pooled():
    found = pooled.pool([(0.5, 0.2), (0.5, 0.1), (0.5, 0.3), (0.5, 0.2)])
    assert (found.value, found.tau2, found.i2) == pytest.approx((0.5, 0.0, 0.0)) and found.prediction[0] < found.low
    assert pooled.pool([(0.5, 0.1), (0.7, 0.1)]) is None
    assert pooled.on_logit(Estimate(0.5, 0.4, 0.6, se=0.05)) == pytest.approx((0.0, 0.2))
    assert pooled.on_logit(Estimate(1.0, 0.7, 1.0, se=0.0)) is None
