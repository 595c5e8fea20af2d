"""Plans that would settle first place: a study that somebody else computed, and what must hold of every plan."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats import davidson, plans
from leaderboard.stats.plans import PLANS, Plan, Projection, Settling
from tests.pure.leaderboard.stats.test_agreement import made, simulated
from tests.support.leaderboard.stats.golden import golden, study


@pytest.fixture(scope="module")
def model() -> davidson.Model:
    return davidson.models(study()[0])[0]


def of_first(model: davidson.Model) -> Projection:
    places = model.places()
    return Projection.of(model, float(places.critical[np.argmax(model.theta)]), places.df)


def test_variances_and_bars_of_the_study_of_somebody_else(model):
    expected, places = golden("B"), model.places()
    names, first = [model.answers.entries[n] for n in model.entries], int(np.argmax(model.theta))
    assert names[first] == expected["first"] and places.df == pytest.approx(expected["nu"], abs=1e-6)
    assert places.critical[first] == pytest.approx(expected["critical_random"], abs=0.02)
    projection = Projection.of(model, 3.0, places.df)
    factors = {
        "now": (1, 1, 1),
        "answers2": (1, 1, 2),
        "people3": (3, 1, 3),
        "items3": (1, 3, 3),
        "both4": (4, 4, 4),
        "endless_answers": (1, 1, 1e6),
    }
    for name, more in factors.items():
        one = expected["plans"][name]
        assert projection.df_under(more) == pytest.approx(one["nu"], abs=1e-6), name
        assert plans.bonferroni(projection.df_under(more), len(model)) == pytest.approx(one["bonferroni"], abs=1e-6)
        v = projection.under(more)[first]
        assert {rival: v[names.index(rival)] for rival in one["V"]} == pytest.approx(one["V"], abs=1e-6)
    for name, reach in expected["reach_at_c_3"].items():
        plan, factor = name.split()
        assert projection.reach(PLANS[plan](float(factor))) == pytest.approx(reach, abs=1e-6), name


def test_chances_of_the_study_of_somebody_else(model):
    projection = Projection.of(model, 3.0, model.places().df)
    for name, chance in golden("B")["chance_at_c_3_random"].items():
        plan, factor = name.split()[0], name.split()[-1]
        assert projection.chance(PLANS[plan](1e6 if factor == "endless" else float(factor))) == pytest.approx(chance, abs=0.02), name


def test_a_plan_has_the_smallest_factor_that_is_likely_enough_and_ends_where_all_is_answered():
    counted, _ = simulated(1, raters=20, samples=12, entries=4, each=30)
    found = davidson.models(counted)[0]
    projection = of_first(found)
    of = projection.plans()
    end = 6 * 20 * 12 / len(counted)
    assert of.answers.limit == projection.chance((1, 1, end)) and (of.answers.factor or 0) <= end
    for name in ("people", "items", "both"):
        plan = getattr(of, name)
        if plan.factor is not None:
            smaller = [k for k in plans.FACTORS if k < plan.factor]
            assert plan.chance >= 0.8 and [k for k in smaller if not projection.chance(PLANS[name](k)) < 0.8] == []
    assert of.both.limit == pytest.approx(1, abs=0.05), "without end everything is settled"


def test_nothing_is_left_to_ask_where_all_raters_answered_everything():
    rows = [(r, s, "AB", 1 if (3 * r + 5 * s + r * s) % 7 > 2 else -1) for r in range(6) for s in range(6)]
    found = davidson.models(made(rows))[0]
    answers = of_first(found).plans().answers
    assert answers.limit == answers.chance and answers.factor in (None, 1.0)


def plan(factor: float | None) -> Plan:
    return Plan(factor, 0.8 if factor else 0.1, 0.9)


@pytest.mark.parametrize(
    ("factors", "named"),
    [
        ((4.0, 3.0, 3.0, 2.0), "people"),
        ((None, None, 2.0, 1.5), "items"),
        ((2.0, 2.0, 2.0, 1.5), "answers"),
        ((None, None, None, 3.0), "both"),
    ],
)
def test_the_plan_with_the_fewest_new_answers_is_named(factors, named):
    assert Settling(*(plan(factor) for factor in factors)).named()[0] == named
    assert Settling(*[plan(None)] * 4).named() is None
