"""A metric against people's answers: the worked example, peers, and what must hold of every metric and every reference point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from leaderboard.stats import agreement
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.mos_table import canonical as canonical_ratings
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.votes import Vote, canonical
from tests.benchmarks.bench_coverage import cell
from tests.support.examples import examples

SAID = {-1: "left", 0: "tie", 1: "right"}
EXAMPLE = [
    (0, 0, "AB", -1),
    (1, 0, "AB", -1),
    (2, 0, "AB", 0),
    (0, 1, "AB", 1),
    (0, 0, "AC", -1),
    (1, 1, "AC", 1),
    (1, 0, "BC", -1),
    (2, 1, "BC", 0),
]
X = np.array([[3, 2, 2], [1, 2, 0]], dtype=float)


def made(rows, **more) -> Answers:
    return answers(canonical([Vote(f"r{r:03}", pair[0], pair[1], SAID[v], f"s{s:03}", **more) for r, s, pair, v in rows]))


def simulated(
    seed: int, raters: int = 12, samples: int = 12, entries: int = 6, each: int = 40, ties: float = 0.3
) -> tuple[Answers, np.ndarray]:
    """Answers of people with tastes of their own, on samples with their own; and what people in general think of each entry."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-0.75, 0.75, entries)
    tastes, scenes = rng.normal(0, 0.35, (raters, entries)), rng.normal(0, 0.35, (samples, entries))
    rows = []
    for rater in range(raters):
        asked = set()
        while len(asked) < each:
            a, b = sorted(rng.choice(entries, 2, replace=False).tolist())
            asked.add((int(rng.integers(samples)), a, b))
        for sample, a, b in sorted(asked):
            eta = float((worth + tastes[rater] + scenes[sample])[[a, b]] @ [1, -1])
            said = 0 if rng.random() < ties else -1 if rng.random() < 1 / (1 + np.exp(-eta)) else 1
            rows.append((rater, sample, chr(65 + a) + chr(65 + b), said))
    return made(rows), worth


def test_the_worked_example():
    found = agreement.differences(made(EXAMPLE), X)
    assert sorted(found.answers.weight.tolist()) == [0.25] * 4 + [0.5] * 4
    headline = agreement.decided(found)
    assert headline.value == pytest.approx(0.6666667, abs=1e-6) and (headline.n, headline.n_eff) == (6, pytest.approx(5.4))
    assert agreement.better_worse(found).value == pytest.approx(0.7037037, abs=1e-6)
    assert agreement.different_similar(found).value == pytest.approx(0.1296296, abs=1e-6)


@pytest.mark.parametrize("ties", [0.0, 0.3, 0.7])
def test_reference_points_stand_at_chance_whatever_the_share_of_ties(ties):
    said, _ = simulated(5, ties=ties)
    shape = len(said.samples), len(said.entries)
    constant = agreement.decided(agreement.differences(said, agreement.constant(*shape)))
    assert (constant.value, constant.low, constant.reason) == (0.5, None, Reason(Key.ALIKE))
    inside = 0
    for seed in range(20):
        coin = agreement.decided(agreement.differences(said, agreement.coin(seed, *shape)))
        inside += coin.low <= 0.5 <= coin.high
    assert inside >= 17


def test_areas_are_those_of_mann_and_whitney():
    said, worth = simulated(2)
    rng = np.random.default_rng(0)
    x = np.round(worth + rng.normal(0, 0.7, (len(said.samples), len(worth))), 1)
    found = agreement.differences(said, x)
    ones = replace(found, answers=replace(found.answers, weight=np.ones(len(found.answers))))
    split = found.answers.verdict != 0
    d = np.round(np.abs(found.d), 6)
    theirs = mannwhitneyu(d[split], d[~split]).statistic / (split.sum() * (~split).sum())
    assert agreement.different_similar(ones).value == pytest.approx(theirs)
    sided = np.round(found.d[split] * found.answers.verdict[split], 6)
    assert agreement.better_worse(ones).value == pytest.approx(mannwhitneyu(sided, -sided).statistic / len(sided) ** 2)


@given(st.integers(0, 200))
@examples(30)
def test_nothing_changes_with_names_sides_or_a_metric_turned_with_its_direction(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.choice(["AB", "AC", "BC"], 80).tolist()
    rows = list(zip(rng.integers(0, 6, 80).tolist(), rng.integers(0, 7, 80).tolist(), pairs, rng.integers(-1, 2, 80).tolist(), strict=True))
    x = rng.normal(size=(7, 3)).round(1)
    x = x[np.unique([row[1] for row in rows])]

    def figures(rows, x, turn=lambda name: name):
        found = agreement.differences(made([(r, s, turn(pair), v) for r, s, pair, v in rows]), x)
        return [agreement.decided(found), agreement.better_worse(found), agreement.three_way(found)]

    plain = figures(rows, x)
    swapped = figures([(r, s, pair[::-1], -v) for r, s, pair, v in rows], x)
    renamed = figures([(5 - r, s, pair, v) for r, s, pair, v in rows], x)
    names = str.maketrans("ABC", "CBA")
    mirrored = figures([(r, s, pair.translate(names), v) for r, s, pair, v in rows], x[:, ::-1])
    for other in (swapped, renamed, mirrored):
        for ours, theirs in zip(plain, other, strict=True):
            assert (theirs.value, theirs.low, theirs.high) == pytest.approx((ours.value, ours.low, ours.high), abs=1e-9)


def test_repeats_and_gold_questions_count_in_no_figure():
    plain = made(EXAMPLE)
    rows = [Vote(f"r{r:03}", pair[0], pair[1], SAID[v], f"s{s:03}") for r, s, pair, v in EXAMPLE]
    rows += [Vote("r000", "A", "B", "right", "s000", repeat_of="1")] * 5 + [Vote("r009", "A", "C", "right", "s001", gold="1")] * 3
    more = answers(canonical(rows))
    assert len(more) == len(plain) and more.weight.tolist() == plain.weight.tolist()


def test_a_pair_that_is_asked_ten_times_as_often_moves_the_headline_no_further_than_its_interval():
    said, worth = simulated(8)
    x = np.tile(worth, (len(said.samples), 1)) * np.where(np.arange(len(worth)) == 2, -1, 1)
    before = agreement.decided(agreement.differences(said, x))
    often = np.flatnonzero((said.a == 0) & (said.b == 1))
    rows = [
        (int(said.rater[n]), int(said.sample[n]), chr(65 + said.a[n]) + chr(65 + said.b[n]), int(said.verdict[n])) for n in range(len(said))
    ]
    rows += [(100 + k, int(said.sample[n]), "AB", int(said.verdict[n])) for k in range(9) for n in often]
    after = agreement.decided(agreement.differences(made(rows), x))
    assert before.low <= after.value <= before.high


def test_one_metric_against_another():
    said, worth = simulated(4, raters=20, each=60)
    rng = np.random.default_rng(1)
    shape = len(said.samples), len(worth)
    good = np.tile(worth, (shape[0], 1))
    metrics = {"good": good, "noise": rng.normal(size=shape), "bad": -good}
    found = [(key, agreement.differences(said, x)) for key, x in metrics.items()]
    pairs = agreement.pairs(found)
    assert [(pair.first, pair.second) for pair in pairs] == [("good", "noise"), ("good", "bad"), ("noise", "bad")]
    assert pairs[1].p_holm < 0.05 and pairs[1].value == pytest.approx(agreement.decided(found[0][1]).value * 2 - 1)
    same = agreement.compared(found[0][1], found[0][1], ("good", "good"))
    assert (same.value, same.p) == (0.0, 1.0)
    assert agreement.places(["good", "noise", "bad"], pairs) == {"good": (1, 2), "noise": (1, 2), "bad": (3, 3)}
    assert agreement.places(["good"], []) == {}


def test_certainty_by_sign_flips_and_by_t():
    assert agreement.one_sided(np.array([1, 2, -1, 3.0])) == 0.125
    assert agreement.one_sided(np.zeros(4)) == 0.5 and np.isnan(agreement.one_sided(np.zeros(0)))
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 16)
    assert agreement.one_sided(d) == pytest.approx(agreement.one_sided(np.concatenate([d, [d.mean()]])), abs=0.02)
    assert agreement.one_sided(d) + agreement.one_sided(-d) == pytest.approx(1)


def test_areas_do_not_depend_on_the_values_of_entries_that_are_left_out():
    choices = ("left", "right", "tie", "left")
    rows = [Vote(f"r{k}", *pair, choices[(k + n) % 4], f"s{k}") for k in range(6) for n, pair in enumerate(("AB", "AC", "BC", "AD"))]
    said, x = answers(canonical(rows), ["A", "B", "C"]), np.random.default_rng(2).normal(size=(6, 4))
    near, far = (agreement.differences(said, np.column_stack([x[:, :3], damaged * x[:, 3]])) for damaged in (1.0, 1e13))
    for area in (agreement.better_worse, agreement.different_similar):
        assert area(far).value == area(near).value != 0.5


@pytest.mark.parametrize("samples", [6, 20])
def test_certainty_of_values_that_differ_by_rounding_is_even(samples):
    x = np.tile([0.1 + 0.2, 0.3, 0.1], (samples, 1))
    certainty = agreement.certain_by_samples(x)
    assert x[0, 0] > x[0, 1] and certainty[0, 1] == certainty[1, 0] == 0.5
    assert certainty[0, 2] == pytest.approx(2.0 ** -(samples + 1) if samples <= 16 else 0.0)  # half of one in 2^n


def test_opinion_scores_are_answers_on_each_two_entries_of_one_sample():
    rows = [
        Rating("r", "A", 5, "s"),
        Rating("r", "B", 3, "s"),
        Rating("r", "C", 3, "s"),
        Rating("q", "A", 2, "s"),
        Rating("q", "B", 4, "t"),
    ]
    said = answers(canonical_ratings(rows).comparisons())
    found = {(said.entries[a], said.entries[b]): int(v) for a, b, v in zip(said.a, said.b, said.verdict, strict=True)}
    assert found == {("A", "B"): -1, ("A", "C"): -1, ("B", "C"): 0} and said.weight.tolist() == [1.0, 1.0, 1.0]


def test_a_missing_value_is_left_out_and_counted():
    x = X.copy()
    x[1, 2] = np.nan
    found = agreement.differences(made(EXAMPLE), x)
    assert found.coverage == 6 / 8 and agreement.decided(found).n == 5
    nothing = agreement.differences(made(EXAMPLE), np.full((2, 3), np.nan))
    assert agreement.decided(nothing).value is None and agreement.three_way(nothing).value is None


def test_intervals_hold_the_truth_and_equal_metrics_are_seldom_told_apart():
    """Forty studies in a cell; tests/benchmarks/bench_coverage.py has the grid."""
    found = cell(12, 24, 0.5, studies=40)
    assert min(found["decided"], found["implied"], found["coin"]) >= 0.85  # of 95 %, less three simulation errors
    assert found["apart"] <= 0.15
