"""Studies of simulated people, one cell each of those that AGREEMENT's figures marked [D] are of: how often intervals hold the truth, how
often a state is wrong, and how often what is said of new pairs and of more raters comes true."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import scipy

from leaderboard.stats import agreement, another_rater, davidson, meaning
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.answers import Answers, weighted
from leaderboard.stats.plans import PLANS, Projection

NU = 0.8  # Davidson's ties
Z = 2.6  # standard errors of a share over the draws, beyond which a figure is another: one test in a hundred


@dataclass(frozen=True, eq=False)
class People:
    """Simulated people: `worth` [M] of the entries, and what a rater and a sample adds to each entry."""

    worth: np.ndarray
    of_rater: np.ndarray
    of_sample: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator, worth: np.ndarray, raters: int, samples: int, spread: float) -> People:
        """Effects whose differences have a standard deviation of `spread` each."""
        size = spread / math.sqrt(2)
        return cls(worth, rng.normal(0, size, (raters, len(worth))), rng.normal(0, size, (samples, len(worth))))

    def answers(self, rng: np.random.Generator, each: int) -> Answers:
        """So many questions of each rater, none twice."""
        (raters, m), samples = self.of_rater.shape, len(self.of_sample)
        first, second = np.triu_indices(m, 1)
        asked = np.concatenate([rng.permutation(samples * len(first))[:each] for _ in range(raters)])
        rater, (sample, pair) = np.repeat(np.arange(raters), each), np.divmod(asked, len(first))
        a, b = first[pair], second[pair]
        total = self.worth + self.of_rater[rater] + self.of_sample[sample]
        gap = total[np.arange(len(a)), a] - total[np.arange(len(a)), b]
        shares = np.stack([np.exp(gap / 2), np.full(len(gap), NU), np.exp(-gap / 2)])
        verdict = (rng.random(len(gap)) > (shares / shares.sum(axis=0)).cumsum(axis=0)[:2]).sum(axis=0) - 1
        names = ([f"{kind}{n:03}" for n in range(count)] for kind, count in (("r", raters), ("s", samples), ("e", m)))
        none, ones = np.zeros(len(a), dtype=np.int64), np.ones(len(a))
        return weighted(Answers(*map(tuple, names), rater, sample, a, b, verdict, none, ones))


def share_error(share: float, n: int) -> float:
    return Z * math.sqrt(max(share * (1 - share), 0.01) / n)


# --- D: a metric beside another rater

ENTRIES, RATERS, SAMPLES, EFFECT = 8, 12, 24, 0.5
WORTH = np.linspace(-0.75, 0.75, ENTRIES)
STUDIES = 600


def seen(rng: np.random.Generator, noise: float, raters: int = RATERS, samples: int = SAMPLES) -> agreement.Differences:
    """Three answers a question on average, and a metric that sees half of what a sample adds, and noise."""
    people = People.drawn(rng, WORTH, raters, samples, EFFECT)
    found = people.answers(rng, 3 * samples * math.comb(ENTRIES, 2) // raters)
    x = WORTH + people.of_sample / 2 + noise * rng.normal(size=people.of_sample.shape)
    return agreement.differences(found, x)


def truth(noise: float) -> tuple[float, float, float]:
    """D, T_1 and T_1/2 of such a metric: of studies too large for chance, and the same studies whatever the noise."""
    found = []
    for seed in range(4):
        differences = seen(np.random.default_rng(10_000 + seed), noise, 200, 400)
        dyads, person = another_rater.beside(differences)
        found.append((dyads.another_rater().value, person.apart[0], person.half[0]))
    return tuple(np.mean(found, axis=0).tolist())


def noise_of(part: int) -> float:
    """The noise at which the true T_1 (1) or T_1/2 (2) is 0."""
    return float(scipy.optimize.brentq(lambda noise: truth(noise)[part], 0.05, 30, xtol=0.01))


def states(noise: float, seed: int) -> tuple[dict[Standing, float], float, float]:
    """The share of studies in each state, and in which the intervals of D and of T_1 hold the truth."""
    d, apart, _ = truth(noise)
    found, holds = [], []
    for n in range(STUDIES):
        differences = seen(np.random.default_rng([seed, n]), noise)
        dyads, person = another_rater.beside(differences)
        two = dyads.another_rater()
        holds.append((two.low <= d <= two.high, person.apart[1] <= apart <= person.apart[2]))
        found.append(another_rater.standing(agreement.decided(differences), person))
    of_d, of_apart = np.mean(holds, axis=0).tolist()
    return {state: found.count(state) / STUDIES for state in Standing}, of_d, of_apart


@pytest.mark.parametrize("part", [1, 2])
def test_intervals_beside_another_rater_hold_the_truth_and_states_are_rarely_wrong(part):
    found, of_d, of_apart = states(noise_of(part), part)
    print(f"D {of_d:.3f}, T_1 {of_apart:.3f}", {state.value: share for state, share in found.items() if share})
    assert 0.95 - share_error(0.95, STUDIES) <= of_d <= 0.98 + share_error(0.98, STUDIES)
    assert 0.97 - share_error(0.97, STUDIES) <= of_apart <= 0.98 + share_error(0.98, STUDIES)
    if part == 1:  # as good as a rater
        assert found[Standing.BELOW_HUMAN_LEVEL] <= 0.01 + share_error(0.01, STUDIES)
    else:  # half way from chance to a rater
        human = found[Standing.HUMAN_LEVEL] + found[Standing.ABOVE_HUMAN_LEVEL]
        assert human <= 0.04 + share_error(0.04, STUDIES)


# --- I: what a difference means for new pairs

SAID, TRUE = (0.60, 0.78, 0.90, 0.98), (0.60, 0.80, 0.91, 0.98)


def preferred(gap: np.ndarray, spread: float) -> np.ndarray:
    """Share of all people, on all samples, who prefer the first of two entries this far apart, ties half."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    eta = gap[:, None] + spread * nodes
    first, tie = np.exp(eta / 2), NU
    return ((first + tie / 2) / (first + tie + np.exp(-eta / 2))) @ (weights / weights.sum())


def test_what_a_difference_says_of_a_new_pair_comes_true_as_often_as_it_says():
    studies, entries, own, rows, holds = 200, 16, 0.5, [], []
    for n in range(studies):
        rng = np.random.default_rng([3, n])
        x = rng.normal(0, 1, entries)
        people = People.drawn(rng, x + rng.normal(0, own, entries), 20, 24, EFFECT)
        found = meaning.difference(people.answers(rng, 60), x)
        assert not found.why
        # Pairs of entries that were in no study.
        new = rng.normal(0, 1, (60, 2))
        worth = new + rng.normal(0, own, new.shape)
        d, gap = new[:, 0] - new[:, 1], worth[:, 0] - worth[:, 1]
        p = preferred(np.where(d > 0, gap, -gap), EFFECT * math.sqrt(2))
        inside = np.abs(d) <= found.largest
        at = [found.at(one) for one in d[inside]]
        holds.append(np.mean([one.one[0] <= share <= one.one[1] for one, share in zip(at, p[inside], strict=True)]))
        rows += [(n, one.most, share > 0.5) for one, share in zip(at, p[inside], strict=True)]
    covered, error = float(np.mean(holds)), Z * float(np.std(holds)) / math.sqrt(studies)
    print(f"one pair: {covered:.3f} ± {error:.3f}")
    assert 0.91 - error <= covered <= 0.99 + error
    study, said, true = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    for low, high in ((0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        of = (said >= low) & (said < high)
        by_study = np.array([(true[of & (study == n)] - np.interp(said[of & (study == n)], SAID, TRUE)).sum() for n in range(studies)])
        gap, error = by_study.sum() / of.sum(), Z * math.sqrt((by_study**2).sum()) / of.sum()
        print(f"said {said[of].mean():.2f}, true {true[of].mean():.2f}: {gap:+.3f} ± {error:.3f}")
        assert abs(gap) <= error, (low, high)


# --- K: more raters

KINDS = (  # of studies: entries that differ at random, evenly spaced ones, two that are equal and first, and one ahead of equals
    lambda rng: rng.normal(0, 0.6, 6),
    lambda _: np.linspace(0.75, -0.75, 6),
    lambda _: np.repeat([0.6, -0.3], [2, 4]),
    lambda _: np.repeat([0.6, 0.0], [1, 5]),
)
CHANCE_SAID, CAME_TRUE = (0.0, 0.10, 0.21, 0.39, 0.59, 0.75), (0.0, 0.10, 0.20, 0.34, 0.49, 0.62)


def test_what_is_said_of_more_raters_comes_true_over_kinds_of_studies_as_often_as_is_known():
    raters, factor, rows = 10, 3, []
    for n in range(600):
        rng = np.random.default_rng([5, n])
        people = People.drawn(rng, KINDS[n % len(KINDS)](rng), factor * raters, 20, EFFECT)
        later = people.answers(rng, 40)
        model = davidson.models(later.take(later.rater < raters))[0]
        places, first = model.places(), int(np.argmax(model.theta))
        if places.high[first] == 1:
            continue
        said = Projection.of(model, float(places.critical[first]), places.df).chance(PLANS["people"](factor))
        model = davidson.models(later)[0]  # those raters, and twice as many more
        rows.append((said, model.places().high[int(np.argmax(model.theta))] == 1))
    said, true = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    for low, high in ((0, 0.15), (0.15, 0.3), (0.3, 0.5), (0.5, 1)):
        of = (said >= low) & (said < high)
        expected, share, n = float(np.interp(said[of], CHANCE_SAID, CAME_TRUE).mean()), float(true[of].mean()), int(of.sum())
        print(f"said {said[of].mean():.2f}, true {share:.2f}, known {expected:.2f}, of {n}")
        assert abs(share - expected) <= share_error(expected, n)
