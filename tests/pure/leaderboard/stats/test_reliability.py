from dataclasses import replace

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import reliability
from leaderboard.stats.reliability import agreement, between_people, clusters, krippendorff_alpha, metric_verdicts, panel_error, with_people
from leaderboard.stats.votes import canonical
from tests.support.examples import examples
from tests.support.leaderboard.stats.ballots import simulated_votes, vote

A = np.array([1, 1, 0, -1, -1, 0.0])
B = np.array([1, 0, 0, 1, -1, -1.0])
NAN = np.nan


def drawn(seed: int, k: int = 6, q: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.choice([-1.0, 0.0, 1.0], (k, q))
    found[rng.random((k, q)) < 0.3] = NAN
    return found


def test_worked_agreement_of_two_raters():
    found = agreement(np.stack([A, B]))
    assert found.all[0, 1] == pytest.approx(2 / 3) and found.decisive[0, 1] == pytest.approx(2 / 3)
    assert found.all.diagonal().tolist() == [1, 1] and found.common.tolist() == [[6, 6], [6, 6]]


@examples(30)
@given(st.integers(0, 10_000))
def test_agreement_is_the_plain_loop_over_common_questions(seed):
    rows = drawn(seed)
    found = agreement(rows)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            both = [(v, u) for v, u in zip(one, other, strict=True) if not (np.isnan(v) or np.isnan(u))]
            points = [1.0 if v == u else 0.5 if 0 in (v, u) else 0.0 for v, u in both]
            decided = [float(v == u) for v, u in both if v and u]
            assert found.all[i, j] == pytest.approx(np.mean(points) if points else NAN, nan_ok=True)
            assert found.decisive[i, j] == pytest.approx(np.mean(decided) if decided else NAN, nan_ok=True)
            assert found.common[i, j] == len(both)


def test_two_raters_without_a_common_question_have_no_agreement():
    found = agreement(np.array([[1, NAN], [NAN, 1]]))
    assert np.isnan(found.all[0, 1]) and found.common[0, 1] == 0


@examples(20)
@given(st.integers(0, 10_000))
def test_shared_figures_are_means_over_answers_and_over_pairs_of_answers(seed):
    people = drawn(seed)
    said = np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], people.shape[1])
    points = [1 - abs(v - u) / 2 for row in people for v, u in zip(row, said, strict=True) if not np.isnan(v)]
    found = with_people(said, people, resamples=50)
    assert found.value == pytest.approx(np.mean(points)) and found.n == len(points) and found.low <= found.value <= found.high
    pairs = [
        1 - abs(column[i] - column[j]) / 2 for column in people.T for i in range(6) for j in range(i) if not np.isnan(column[i] + column[j])
    ]
    between = between_people(people, resamples=50)
    assert between.value == pytest.approx(np.mean(pairs)) and between.n == len(pairs)
    decided = [float(c[i] == c[j]) for c in people.T for i in range(6) for j in range(i) if c[i] and c[j] and not np.isnan(c[i] + c[j])]
    assert between_people(people, decisive=True, resamples=50).value == pytest.approx(np.mean(decided))


def test_nobody_to_agree_with_is_no_figure():
    found = with_people(np.array([1.0, 0.0]), np.full((2, 2), NAN))
    assert (found.value, found.low, found.n) == (None, None, 0)


def test_one_question_is_no_interval():
    people = np.array([[1.0], [-1.0], [1.0]])
    found, among = with_people(np.array([1.0]), people), between_people(people)
    assert (found.value, found.low, found.high, found.n) == (pytest.approx(2 / 3), None, None, 3)
    assert (among.value, among.low, among.high, among.n) == (pytest.approx(1 / 3), None, None, 3)
    assert with_people(np.array([1.0, 1.0]), np.array([[1.0, -1.0]])).low == 0.0


def test_intervals_do_not_hang_on_the_order_of_questions_or_of_answers():
    """The draws are the same for the same cases, in whatever order a file has them and whatever things are called."""
    people = drawn(3)
    said = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], people.shape[1])
    places = np.random.default_rng(4).permutation(people.shape[1])
    assert with_people(said, people) == with_people(said[places], people[:, places])
    assert between_people(people) == between_people(people[:, places])
    votes = [vote("x", "y", "left" if n % 3 else "right", sample=str(n), rater=f"r{n % 4}") for n in range(24)]
    votes += [replace(one, choice="left", repeat_of="1") for one in votes]
    backwards = canonical(votes[:24] + votes[:23:-1])
    assert reliability.self_consistency(canonical(votes))[1] == reliability.self_consistency(backwards)[1]
    gold = [("x", "y")]
    assert reliability.gold_correctness(canonical(votes), gold)[1] == reliability.gold_correctness(canonical(votes[::-1]), gold)[1]


def test_a_metric_answers_by_the_sign_of_its_difference():
    votes = canonical([vote("x", "y", "left"), vote("x", "z", "left"), vote("y", "z", "left")])
    asked = reliability.questions(votes.counted())
    values = np.array([[1.0, 3.0, 3.05]])
    assert metric_verdicts(asked, values, True).tolist() == [1, 1, 1]
    assert metric_verdicts(asked, values, False).tolist() == [-1, -1, -1]
    assert metric_verdicts(asked, values, False, tie=0.1).tolist() == [-1, -1, 0]
    assert np.isnan(metric_verdicts(asked, np.array([[1.0, NAN, 2.0]]), True)).tolist() == [True, False, True]


def test_two_tastes_are_two_clusters_and_noise_is_one():
    found = clusters(agreement(reliability.questions(canonical(simulated_votes(10, 6, 7)).counted()).verdicts).all)
    assert found.label.tolist() == [0, 1] * 5 and found.silhouette > 0.3
    assert sorted(found.order.tolist()) == list(range(10))
    assert len({found.label[n] for n in found.order[:5]}) == 1  # side by side
    alike = np.where(np.eye(6, dtype=bool), 1.0, 0.8)
    assert clusters(alike).label.tolist() == [0] * 6
    assert clusters(np.ones((2, 2))).label.tolist() == [0, 0]


@examples(25)
@given(st.integers(0, 10_000))
def test_alpha_is_that_of_evalica(seed):
    people = drawn(seed)
    theirs = evalica.alpha(pd.DataFrame(people), distance="nominal").alpha
    assert krippendorff_alpha(people) == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_full_agreement_is_one_and_of_nothing_is_none():
    assert krippendorff_alpha(np.array([[1, 0, -1.0], [1, 0, -1.0]])) == pytest.approx(1)
    assert krippendorff_alpha(np.array([[1.0, NAN], [NAN, 1.0]])) is None
    assert krippendorff_alpha(np.array([[1.0, 1.0], [1.0, 1.0]])) is None


def test_repeats_measure_consistency_with_turned_sides_undone():
    votes = canonical(
        [
            vote("x", "y", "left"),
            vote("x", "z", "tie"),
            vote("y", "x", "right", repeat_of="1", swapped="1"),
            vote("x", "z", "left", repeat_of="2"),
            vote("y", "z", "left", repeat_of="lost"),
            vote("x", "y", "left", rater="other"),
        ]
    )
    each, overall = reliability.self_consistency(votes)
    assert each == {"r": (0.5, 0.75, 2)} and (overall.value, overall.n) == (0.5, 2)


def test_gold_pairs_are_right_only_where_the_better_one_is_chosen():
    votes = canonical(
        [
            vote("low", "high", "left"),
            vote("high", "low", "left", rater="wrong"),
            vote("high", "low", "tie", rater="equal"),
            vote("other", "low", "left"),
        ]
    )
    each, overall = reliability.gold_correctness(votes, {("low", "high"), ("none", "such")})
    assert each == {"r": (1.0, 1), "wrong": (0.0, 1), "equal": (0.0, 1)} and overall.value == pytest.approx(1 / 3)


def test_times_are_medians_of_those_that_are_known():
    votes = canonical([vote("x", "y", "left", seconds=n) for n in (1.0, 9.0, None, 2.0)] + [vote("x", "y", "tie", rater="quiet")])
    assert reliability.seconds_per_answer(votes) == {"r": 2.0}


def test_a_rater_against_the_others_stands_out():
    people = np.tile(np.array([1, -1, 1, 1, -1.0]), (4, 1))
    people[3] *= -1
    assert reliability.leave_one_out(people).tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0])


@pytest.mark.parametrize(
    ("n", "wrong"), [(1, 0.2), (3, 0.104), (5, 0.05792), (10, 0.0195814), (11, 0.0116542), (17, 0.0025815), (18, 0.0025815)]
)
def test_worked_panel_errors(n, wrong):
    assert panel_error(n, 0.8) == pytest.approx(wrong, abs=5e-8)
