"""Figures of 8,931 real votes with ties, each as the definitions print it: of people's own order as a metric, and of rows that know
nothing."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats import agreement, another_rater, davidson, meaning, planning, two_way_intervals, votes
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.votes import Floats


@pytest.fixture(scope="module")
def said(data_folder) -> Answers:
    columns = {"choice": "winner", "rater": "worker", "sample": "prompt"}
    return answers(votes.canonical(votes.read(data_folder / "votes" / "llmfao.csv", columns)))


@pytest.fixture(scope="module")
def ability(said) -> Floats:
    """People's own order as a metric that has not seen the answer: on each sample, the abilities that the other samples' answers have."""
    x = np.full((len(said.samples), len(said.entries)), np.nan)
    for sample in range(len(said.samples)):
        model = davidson.models(said.take(said.sample != sample))[0]
        x[sample, model.entries] = model.theta
    return x


def noise(said: Answers, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(len(said.samples), len(said.entries)))


def rounded(*values: float) -> tuple[float, ...]:
    return tuple(round(value, 3) for value in values)


def test_there_are_as_many_as_are_known(said):
    assert (len(said), len(said.decided), said.clusters.n_raters, len(said.samples), len(said.entries)) == (8931, 5460, 124, 13, 59)
    assert round(float((said.verdict == 0).mean()), 3) == 0.389


def test_peoples_order_on_other_samples_agrees_with_them_beyond_chance_and_less_than_fitted_to_the_very_answers(said, ability):
    found = agreement.differences(said, ability)
    figure = agreement.decided(found)
    assert rounded(figure.value, agreement.better_worse(found).value, agreement.three_way(found).value) == (0.650, 0.718, 0.429)
    assert 0.5 < figure.low < figure.value < figure.high and found.coverage == 1
    (model,) = davidson.models(said)
    assert model.entries.tolist() == list(range(59)) and not model.prior
    fitted = agreement.decided(agreement.differences(said, np.tile(model.theta, (len(said.samples), 1))))
    assert rounded(fitted.value) == (0.715,)


def test_two_people_and_the_best_possible(said):
    best = another_rater.ceiling(said, another_rater.another_rater(said))
    assert rounded(best.two_people.value, best.two_people.low, best.two_people.high) == (0.684, 0.612, 0.748)
    assert rounded(best.leave_one_out, best.low, best.likely, best.high) == (0.707, 0.707, 0.765, 0.803)


def test_what_knows_nothing_stands_at_chance(said, ability):
    """A constant exactly, without an interval; coins and noise within theirs."""
    shape = len(said.samples), len(said.entries)
    constant = agreement.decided(agreement.differences(said, agreement.constant(*shape)))
    assert (constant.value, constant.low, constant.high, constant.reason) == (0.5, None, None, Reason(Key.ALIKE))
    for table in (agreement.coin(0, *shape), *(noise(said, seed) for seed in range(4))):
        figure = agreement.decided(agreement.differences(said, table))
        assert figure.low < 0.5 < figure.high


def test_first_place_hangs_on_few_answers(said):
    found = davidson.fragile(davidson.models(said)[0])
    assert found.answers <= 12 and found.raters <= 6 and found.samples <= 3


def test_peoples_order_is_told_from_noise_and_not_from_itself_blurred(said, ability):
    """The draws are ours, so that the digits are not those that were printed (.124 [.058, .189], p .001; .033, p .17)."""
    ours = agreement.differences(said, ability)
    for seed in range(4):
        pair = agreement.compared(ours, agreement.differences(said, noise(said, seed)), ("ability", "noise"))
        assert pair.value == pytest.approx(0.15, abs=0.05) and pair.low > 0 and pair.p < 0.05
        blurred = agreement.differences(said, ability + 0.5 * noise(said, seed))
        assert agreement.compared(ours, blurred, ("ability", "blurred")).p > 0.05


def test_what_a_difference_of_ability_means(said, ability):
    found = meaning.difference(said, np.nanmean(ability, axis=0))
    assert (found.entries, found.raters, found.samples) == (59, 124, 13) and found.tells and found.tau == 0
    small, large = found.at(0.2 * found.unit), found.at(found.largest)
    assert 0.5 < small.mean[0] < large.mean[0] and large.most >= 0.95


def test_more_samples_would_help_most(said, ability):
    found = agreement.differences(said, ability)
    chosen, credits = agreement.credit(found)
    _, u = two_way_intervals.ratio(chosen.weight * credits, chosen.weight)
    variance = chosen.clusters.variance(u)
    assert [f"{float(part):.1e}" for part in (variance.rater, variance.sample, variance.cell)] == ["2.6e-04", "6.6e-04", "1.4e-04"]
    assert planning.forecast("m", variance, len(chosen)).helps == "samples"
