"""Standings of metrics: figures and places as the study's own, reference points after them, halves that share no sample."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from leaderboard.stats import agreement, metric_board
from leaderboard.stats.another_rater import Standing as State
from leaderboard.stats.answers import Answers
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.people import People


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


def standings(answers: Answers, metrics: dict[str, np.ndarray], seed=0, size=None) -> list[metric_board.Standing]:
    """Standings of metrics and reference points; one whose key says so was trained on the answers."""
    scored = [Scored(key, x, trained="these" if key.startswith("trained") else "") for key, x in metrics.items()]
    return metric_board.ranked(answers, [*scored, *metric_board.reference_points(answers, seed, size)]).standings


def test_a_metric_that_knows_may_be_the_best_and_noise_may_not():
    answers, quality = people()
    noise = np.random.default_rng(5).normal(size=quality.shape)
    metrics = {"noise": noise, "knows": quality, "nearly": quality + 0.05 * noise}
    found = standings(answers, metrics)
    assert {row.key for row in found[:2]} == {"knows", "nearly"}
    assert [row.key for row in found[2:]] == ["noise", "constant", "coin"]
    assert [(row.places, row.may_be_best, row.reference_point) for row in found] == [
        ((1, 2), True, False),
        ((1, 2), True, False),
        ((3, 3), False, False),
        (None, None, True),
        (None, None, True),
    ]
    first = agreement.differences(answers, metrics[found[0].key])
    assert found[0].decided == replace(agreement.decided(first), coverage=1.0)
    assert found[0].standing in (State.HUMAN_LEVEL, State.ABOVE_HUMAN_LEVEL) and found[0].person.apart[0] > 0
    assert found[2].standing is State.AT_CHANCE and found[2].person is None
    assert found[3].decided.value == 0.5


def test_places_are_one_and_the_rivals_that_are_better_by_tests_at_five_percent_over_their_number():
    answers, quality = people(n_raters=8, n_samples=10, seed=3)
    rng = np.random.default_rng(0)
    metrics = {f"m{n}": quality + n * rng.normal(size=quality.shape) for n in range(6)}
    differences = {key: agreement.differences(answers, x) for key, x in metrics.items()}
    found = [row for row in standings(answers, metrics) if not row.reference_point]
    for row in found:
        tests = [agreement.compared(differences[row.key], differences[key], (row.key, key)) for key in metrics if key != row.key]
        sure = [test.value for test in tests if test.p <= 0.05 / 5]
        assert row.places == (1 + sum(value < 0 for value in sure), 6 - sum(value > 0 for value in sure))
        assert row.may_be_best is (row.places[0] == 1)
    assert found[-1].places[0] > 1 and sum(row.may_be_best for row in found) > 1


def test_a_studys_own_metrics_stand_as_a_challenges_entries_do():
    answers, quality = people()
    noise = np.random.default_rng(5).normal(size=quality.shape)
    metrics = {"noise": noise, "knows": quality, "trained": quality + 0.1 * noise}
    found = standings(answers, metrics, seed=4, size=noise + 0.1)
    scored = [Scored(key, x, trained="these" if key == "trained" else "") for key, x in metrics.items()]
    study = People(answers, scored, seed=4, fragility=False, size=noise + 0.1).entries.metrics
    names = [one.name for one in fields(metric_board.Standing)]
    assert [{name: getattr(row, name) for name in names} for row in study] == [vars(row) for row in found]
    assert {row.key: row.places for row in found if not row.reference_point} == {"knows": (1, 1), "trained": None, "noise": (2, 2)}


def test_whether_a_metric_is_better_than_chance_is_told_by_its_own_interval_and_not_by_one_draw_of_a_coin():
    answers, quality = people(n_samples=8, seed=1)
    rng = np.random.default_rng(0)
    metrics = {f"m{n}": n / 4 * quality + rng.normal(scale=3.0, size=quality.shape) for n in range(8)}
    for seed in range(10):
        rows = [row for row in standings(answers, metrics, seed) if not row.reference_point]
        no_better = [row.standing in (State.AT_CHANCE, State.WORSE_THAN_CHANCE) for row in rows]
        assert no_better == [row.decided.low <= 0.5 for row in rows], seed


def test_size_is_a_reference_point_and_what_is_not_shown_to_beat_it_is_told():
    answers, quality = people()
    noise = np.random.default_rng(5).normal(size=quality.shape)
    rows = standings(answers, {"knows": quality, "noise": noise}, size=noise + 0.1)
    assert [(row.key, row.places, row.above_size) for row in rows[:2]] == [("knows", (1, 1), True), ("noise", (2, 2), False)]
    assert rows[-1].key == "size" and rows[-1].reference_point and rows[-1].decided.value == rows[1].decided.value
    assert {row.above_size for row in standings(answers, {"knows": quality})} == {None}


def test_a_figure_says_of_how_many_comparisons_it_is():
    answers, quality = people()
    silent = np.where(np.arange(len(quality))[:, None] < 12, quality, np.nan)
    found = {row.key: row.decided.coverage for row in standings(answers, {"silent": silent})}
    assert found == {"silent": pytest.approx(np.mean(answers.sample < 12)), "coin": 1.0, "constant": 1.0}


def test_with_few_raters_there_is_no_place_and_no_interval():
    answers, quality = people(n_raters=4)
    (first, second, *_) = standings(answers, {"b": quality, "a": -quality})
    assert (first.key, second.key) == ("a", "b")  # in the order of their names, which tells nothing
    assert (first.places, first.may_be_best, first.standing, first.decided.low) == (None, None, State.TOO_EARLY, None)
    assert first.decided.reason.need == RATERS_FOR_FIGURE


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_halves_share_nothing_and_leave_nothing_out(n):
    samples = tuple(f"s{k}" for k in range(n))
    public, final = metric_board.halves(samples, 3)
    assert not public & final
    assert public | final == set(samples)
    assert len(final) - len(public) in (0, 1)
    assert metric_board.halves(samples, 3) == (public, final)
    assert n < 7 or metric_board.halves(samples, 4) != (public, final)


def test_a_metric_without_an_interval_because_all_its_answers_are_alike_has_a_place():
    answers, quality = people()
    rows = standings(answers, {"flat": np.zeros_like(quality), "knows": quality})
    assert [(row.key, row.places) for row in rows[:2]] == [("knows", (1, 1)), ("flat", (2, 2))]
    assert (rows[1].decided.value, rows[1].decided.low, rows[1].standing) == (0.5, None, State.AT_CHANCE)


def test_metrics_that_are_equal_but_for_rounding_stand_in_the_order_of_their_names():
    answers, quality = people()
    rows = standings(answers, {"b": quality, "a": 3 * quality})
    assert [(row.key, row.places) for row in rows[:2]] == [("a", (1, 2)), ("b", (1, 2))]


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
