"""Standings of metrics: figures and tiers as the study's own, guards after them, halves that share no sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats import agreement, metric_board
from leaderboard.stats.answers import Answers
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.states import State


def people(n_raters=12, n_samples=24, seed=0) -> tuple[Answers, np.ndarray]:
    """Answers on four entries by raters who see their quality with some noise, and that quality [samples, entries]."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(n_samples, 4)) + np.arange(4)
    rows = [
        (r, s, a, b) for r in range(n_raters) for s in range(n_samples) for a in range(4) for b in range(a + 1, 4) if rng.random() < 0.4
    ]
    rater, sample, a, b = (np.array(column) for column in zip(*rows, strict=True))
    verdict = np.sign(quality[sample, b] - quality[sample, a] + rng.normal(scale=0.7, size=len(rows))).astype(int)
    names = tuple(f"s{n:02d}" for n in range(n_samples))
    raters = tuple(f"r{n}" for n in range(n_raters))
    ones = np.ones(len(rows))
    return Answers(raters, names, tuple("abcd"), rater, sample, a, b, verdict, np.zeros(len(rows), dtype=int), ones, True), quality


def test_a_metric_that_knows_opens_the_first_tier_and_noise_another():
    answers, quality = people()
    noise = np.random.default_rng(5).normal(size=quality.shape)
    found = metric_board.ranked(answers, {"noise": noise, "knows": quality, "nearly": quality + 0.05 * noise})
    assert [(row.key, row.tier, row.guard) for row in found] == [
        ("knows", 1, False),
        ("nearly", 1, False),
        ("noise", 2, False),
        ("coin", None, True),
        ("constant", None, True),
    ] or [row.key for row in found][:2] == ["nearly", "knows"]
    first = agreement.differences(answers, {"knows": quality, "nearly": quality + 0.05 * noise}[found[0].key])
    assert found[0].decided == replace(agreement.decided(first), coverage=1.0)
    assert found[0].above is True
    assert found[2].above is False
    assert found[4].decided.value == 0.5


def test_whether_a_metric_is_better_than_chance_is_told_by_its_own_interval_and_not_by_one_draw_of_a_coin():
    answers, quality = people(n_samples=8, seed=1)
    rng = np.random.default_rng(0)
    metrics = {f"m{n}": n / 4 * quality + rng.normal(scale=3.0, size=quality.shape) for n in range(8)}
    for seed in range(30):
        rows = [row for row in metric_board.ranked(answers, metrics, seed) if not row.guard]
        assert [row.above for row in rows] == [row.decided.low > 0.5 for row in rows], seed


def test_size_is_a_guard_and_what_is_not_shown_to_beat_it_is_told():
    answers, quality = people()
    noise = np.random.default_rng(5).normal(size=quality.shape)
    rows = metric_board.ranked(answers, {"knows": quality, "noise": noise}, size=noise + 0.1)
    assert [(row.key, row.tier, row.above_size) for row in rows[:3]] == [("knows", 1, True), ("noise", 2, False), ("size", None, None)]
    assert rows[2].guard and rows[2].decided.value == rows[1].decided.value
    assert {row.above_size for row in metric_board.ranked(answers, {"knows": quality})} == {None}


def test_a_figure_says_of_how_many_duels_it_is():
    answers, quality = people()
    silent = np.where(np.arange(len(quality))[:, None] < 12, quality, np.nan)
    found = {row.key: row.decided.coverage for row in metric_board.ranked(answers, {"silent": silent})}
    assert found == {"silent": pytest.approx(np.mean(answers.sample < 12)), "coin": 1.0, "constant": 1.0}


def test_with_few_raters_there_is_no_tier_and_no_interval():
    answers, quality = people(n_raters=4)
    (row, *_) = metric_board.ranked(answers, {"knows": quality})
    assert (row.tier, row.above, row.decided.low) == (None, None, None)
    assert row.decided.state is State.TOO_FEW and row.decided.reason.need == RATERS_FOR_FIGURE


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_halves_share_nothing_and_leave_nothing_out(n):
    samples = tuple(f"s{k}" for k in range(n))
    public, final = metric_board.halves(samples, 3)
    assert not public & final
    assert public | final == set(samples)
    assert len(final) - len(public) in (0, 1)
    assert metric_board.halves(samples, 3) == (public, final)
    assert n < 7 or metric_board.halves(samples, 4) != (public, final)


def test_a_metric_without_an_interval_because_all_its_answers_are_alike_stands_in_a_tier():
    answers, quality = people()
    metrics = {"flat": np.zeros_like(quality), "knows": quality}
    rows = metric_board.ranked(answers, metrics)
    assert [(row.key, row.tier) for row in rows[:2]] == [("knows", 1), ("flat", 2)]
    assert (rows[1].decided.value, rows[1].decided.low, rows[1].above) == (0.5, None, None)


def test_a_sample_stays_in_its_half_when_others_come_or_go():
    samples = [f"s{k:02d}" for k in range(14)]
    for seed in range(20):
        public, final = metric_board.halves(samples[:10], seed)
        more = metric_board.halves(samples, seed, (public, final))
        assert public < more[0] and final < more[1] and len(more[0]) == len(more[1]) == 7
        assert metric_board.halves(samples[3:10], seed, (public, final)) == (public, final)


def test_each_pair_weighs_the_same_in_a_half_however_often_it_was_asked_about_in_the_other():
    """On x one answer about a and b, right, and two about a and c, wrong: one half of two pairs; on y nine more about a and b."""
    a_b = [(r, 0, 0, 1, -1) for r in range(1)] + [(r, 1, 0, 1, -1) for r in range(9)]
    rater, sample, a, b, verdict = (np.array(column) for column in zip(*a_b, (0, 0, 0, 2, 1), (1, 0, 0, 2, 1), strict=True))
    weight = np.where(b == 1, 1 / 10, 1 / 2)
    counted = Answers(tuple("012345678"), ("x", "y"), tuple("abc"), rater, sample, a, b, verdict, np.zeros(12, dtype=int), weight, True)
    x = np.array([[2.0, 1.0, 0.0]] * 2)
    found = agreement.decided(agreement.differences(metric_board.part(counted, {"x"}), x))
    assert (found.value, found.n) == (pytest.approx(1 / 2), 3)
    assert found.n_eff == pytest.approx(2**2 / (1 + 1 / 4 + 1 / 4))


def test_tiers_run_on_while_the_next_is_not_worse_than_the_first():
    p = {frozenset(pair): 0.01 if pair in ("ac", "ad", "bd") else 0.5 for pair in ("ab", "ac", "ad", "bc", "bd", "cd")}
    assert metric_board.tiers({"a": 0.8, "b": 0.7, "c": 0.6, "d": 0.5}, p) == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert metric_board.tiers({"b": 0.5, "a": 0.5}, {}) == {"a": 1, "b": 1}
    rounded = {"b": 0.1 + 0.2, "a": 0.3, "c": 0.2}
    assert list(metric_board.tiers(rounded, {frozenset("ac"): 0.01, frozenset("bc"): 0.2})) == ["a", "b", "c"]  # as equal ones, by key
    assert metric_board.tiers(rounded, {frozenset("ac"): 0.01, frozenset("bc"): 0.2})["c"] == 2
