"""Metrics beside another rater: a study that somebody else computed, dyads by hand, and the order of states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from leaderboard.stats import agreement, another_rater
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Dyads, Person, Standing, standing
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.minimums import ANSWERS_FOR_ANOTHER_RATER
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.votes import Vote, canonical
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.stats.golden import golden, study


def made(rows: list[tuple[int, int, int]]) -> Answers:
    """Answers of (rater, sample, verdict) on one pair of entries."""
    return answers(canonical([Vote(f"r{r}", "A", "B", {-1: "left", 0: "tie", 1: "right"}[v], f"s{s}") for r, s, v in rows]))


def test_the_study_of_somebody_else():
    counted, metrics = study()
    dyads, expected = Dyads(counted.decided), golden("D_dyads")
    figure = dyads.another_rater()
    assert len(dyads) == expected["dyads"] and figure.value == pytest.approx(expected["D"], abs=1e-6)
    variance = dyads.variance((dyads.weight * dyads.same - figure.value * dyads.weight) / dyads.weight.sum())
    found = [float(part) for part in (variance.total, variance.df, variance.rater, variance.sample, variance.cell)]
    assert found == pytest.approx([expected[name] for name in ("V", "df", "V_R", "V_S", "V_C")], abs=1e-6)
    for key, one in golden("D").items():
        deltas = agreement.differences(counted, metrics[key].scored.x)
        _, person = another_rater.beside(deltas)
        assert standing(agreement.decided(deltas), person) == one["standing"], key
        if "apart" in one:
            assert person.apart == pytest.approx(one["apart"], abs=1e-6) and person.half == pytest.approx(one["half"], abs=1e-6)
            assert person.shared == one["shared"] and figure.ends == pytest.approx(one["person"], abs=1e-6)


def test_how_often_two_raters_agree_is_that_of_all_pairs_of_their_answers():
    rows = [(r, s, -1 if (3 * r + s) % 4 else 1) for r in range(6) for s in range(7)]
    same = [a[2] == b[2] for a, b in itertools.combinations(rows, 2) if a[1] == b[1]]
    figure = Dyads(made(rows)).another_rater()
    assert figure.value == pytest.approx(np.mean(same)) and figure.low < figure.value < figure.high and figure.n == 42


def test_answers_that_nobody_else_gave_are_in_no_dyad():
    alone = made([(r, s, 1) for r, s in zip(range(5), range(5), strict=True)])
    assert len(Dyads(alone)) == 0 and Dyads(alone).another_rater().value is None
    assert another_rater.another_rater(alone) is None


def test_too_few_raters_or_samples_have_a_value_and_no_interval():
    three = Dyads(made([(r, s, 1 if (r + s) % 3 else -1) for r in range(3) for s in range(9)])).another_rater()
    assert three.value is not None and three.low is None and three.reason == few_raters(3)


def test_too_few_shared_answers_make_no_comparison_and_are_counted():
    counted = made([(r, s, 1 if s % 3 else -1) for r in range(6) for s in range(9)])
    _, person = another_rater.beside(agreement.differences(counted, np.tile([0.0, 1.0], (9, 1))))
    assert person.apart == (None, None, None) and person.shared == 54
    assert person.reason == Reason(Key.FEW_SHARED, Counted.ANSWERS, ANSWERS_FOR_ANOTHER_RATER, 54)


def test_a_metric_that_says_what_a_rater_says_is_no_better_and_no_worse():
    rng = np.random.default_rng(0)
    truth = rng.choice([-1, 1], 30)
    rows = [(r, s, int(truth[s] if rng.random() < 0.8 else -truth[s])) for r in range(8) for s in range(30)]
    counted = made(rows)
    place = {name: n for n, name in enumerate(counted.samples)}

    def person(says: np.ndarray) -> Person:
        x = np.zeros((30, 2))
        for s in range(30):
            x[place[f"s{s}"]] = (0.0, float(says[s]))
        return another_rater.beside(agreement.differences(counted, x))[1]

    perfect, as_a_rater = person(truth), person(np.where(rng.random(30) < 0.8, truth, -truth))
    assert perfect.apart[1] > 0 and perfect.half[1] > 0, "one that knows the truth beats another rater"
    assert as_a_rater.apart[1] < 0 < as_a_rater.apart[2]


LEVEL = Person((0.0, -0.1, 0.1), (0.1, 0.02, 0.2), 200)


@pytest.mark.parametrize(
    ("decided", "person", "state"),
    [
        (Agreement(0.9, None, None).because(few_raters(3)), LEVEL, Standing.TOO_EARLY),
        (Agreement(0.3, 0.2, 0.4), LEVEL, Standing.WORSE_THAN_CHANCE),
        (Agreement(0.6, 0.45, 0.7), LEVEL, Standing.AT_CHANCE),
        (Agreement(0.5, None, None).because(Reason(Key.ALIKE)), LEVEL, Standing.AT_CHANCE),
        (Agreement(0.7, 0.6, 0.8), LEVEL, Standing.HUMAN_LEVEL),
        (Agreement(0.7, 0.6, 0.8), Person((0.1, 0.02, 0.2), (0.1, 0.02, 0.2), 200), Standing.ABOVE_HUMAN_LEVEL),
        (Agreement(0.7, 0.6, 0.8), Person((-0.1, -0.2, -0.02), (0.1, 0.02, 0.2), 200), Standing.BELOW_HUMAN_LEVEL),
        (Agreement(0.7, 0.6, 0.8), Person((0.0, -0.3, 0.3), (0.1, -0.2, 0.3), 200), Standing.UNCLEAR),
        (Agreement(0.7, 0.6, 0.8), Person((None,) * 3, (None,) * 3, 54, Reason(Key.FEW_SHARED)), Standing.UNCLEAR),
        (Agreement.lacking(Reason(Key.NO_WINNER)), None, None),
    ],
)
def test_states_in_their_order(decided, person, state):
    assert standing(decided, person) is state


@pytest.mark.parametrize("d", [0.6, 0.7, 0.75, 0.8, 0.9])
def test_the_best_possible_of_how_often_two_people_agree(d):
    likely = {0.6: 0.6875, 0.7: 0.7782089, 0.75: 0.8183099, 0.8: 0.8565871, 0.9: 0.9297037}[d]
    high = {0.6: 0.7236068, 0.7: 0.8162278, 0.75: 0.8535534, 0.8: 0.8872983, 0.9: 0.9472136}[d]
    assert another_rater.band(d) == pytest.approx((d, likely, high), abs=1e-6)


def test_the_band_at_its_ends():
    assert (
        another_rater.band(0.5) == (0.5, 0.5, 0.5)
        and another_rater.band(0.2) == (0.2, 0.5, 0.5)
        and another_rater.band(1.0) == (1.0, 1.0, 1.0)
    )
    low, likely, high = another_rater.band(0.6, 0.9)
    assert low == likely == high  # never above what is possible
    near = [another_rater.band(0.5 + step)[1] for step in (0.9e-3, 1.1e-3)]  # two formulas meet
    assert near[0] < near[1] < near[0] + 0.005
