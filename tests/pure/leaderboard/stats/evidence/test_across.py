"""Agreement across items: the logistic's derivatives and its largest correlation, ties, and intervals that hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.evidence.tables import Criterion
from leaderboard.stats.evidence import across
from leaderboard.stats.evidence.across import Logistic, likeness, spearman
from leaderboard.stats.evidence.judged import Basis, Judged, judged
from leaderboard.stats.states import Key, State
from tests.support.examples import examples
from tests.support.leaderboard.stats import made_evidence, plain_evidence
from tests.support.leaderboard.stats.published_sets import means_of, stimuli_of, tables_of


def set_of(groups: int, entries: int, y: np.ndarray) -> Judged:
    items = [f"g{g:02}" for g in range(groups) for _ in range(entries)]
    tables = tables_of(
        "made",
        "pictures",
        stimuli_of(items, [f"e{e:02}" for e in range(entries)] * groups),
        [Criterion("quality", means=means_of(y.ravel()))],
        [],
        None,
    )
    return judged(tables, tables.criteria[0], Basis.MEANS)


def standard(y: np.ndarray) -> np.ndarray:
    y = y - y.mean()
    return y / math.sqrt(float(y @ y))


def test_ranks_of_equal_values_are_shared():
    x = np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 1.0], [4.0, 7.0], [9.0, 7.0]])
    y = np.array([[1.0, 1.0, 3.0, 2.0, 2.0], [1.0, np.nan, 3.0, 2.0, 2.0]])
    found = spearman(x, y)
    for row in range(2):
        kept = ~np.isnan(y[row])
        expected = [scipy.stats.spearmanr(x[kept, k], y[row, kept]).statistic for k in range(2)]
        assert found[row] == pytest.approx(expected)
    assert np.isnan(spearman(np.ones((5, 1)), y)).all(), "what does not vary has no correlation"


@given(st.integers(0, 10_000), st.floats(0.1, 30), st.floats(-2.5, 2.5))
@examples(60)
def test_the_logistics_gradient_and_bend_are_those_of_small_steps(seed, b3, b4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=30)
    curve, y = Logistic(x), standard(x + rng.normal(size=30))
    b = np.array([[b3, b4]])
    r, gradient, hessian = curve.r(b, y[None])
    expected = np.corrcoef(scipy.special.expit(b3 * (curve.z - b4)), y)[0, 1]
    assert r[0] == pytest.approx(expected, abs=1e-9)
    for i, step in enumerate((1e-5 * b3, 1e-5)):
        moved = [curve.r(b + sign * step * np.eye(2)[i], y[None]) for sign in (1, -1)]
        assert (moved[0][0] - moved[1][0])[0] / (2 * step) == pytest.approx(gradient[0, i], abs=1e-5, rel=1e-4)
        assert (moved[0][1] - moved[1][1])[0] / (2 * step) == pytest.approx(hessian[0, i], abs=1e-4, rel=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_correlation_is_that_of_a_global_search(seed):
    rng = np.random.default_rng(seed)
    n = (20, 60, 900)[seed % 3]  # of 900 stimuli the grid looks at neighbours together
    x = 3 * rng.normal(size=n)
    curve, y = Logistic(x), standard(np.tanh(x) + rng.normal(size=n) * (0.1, 1, 3)[seed % 3])
    found, at = curve.largest(y)
    bounds = [*zip(curve.low, curve.high, strict=True)]
    other = scipy.optimize.differential_evolution(lambda b: -float(curve.r(b[None], y[None])[0][0]), bounds, seed=1, tol=1e-10, popsize=40)
    assert found >= -other.fun - 1e-9 and found == pytest.approx(curve.r(at[None], y[None])[0][0])
    assert (at >= curve.low).all() and (at <= curve.high).all()


def test_a_search_uphill_ends_where_scipys_does():
    rng = np.random.default_rng(3)
    x = rng.normal(size=50)
    curve = Logistic(x)
    y = np.stack([standard(np.tanh(x) + s * rng.normal(size=50)) for s in (0.2, 0.5, 1.0, 2.0)])
    start = np.tile([1.5, 0.1], (4, 1))
    found, _ = curve.near(start, y)
    for n in range(4):
        other = scipy.optimize.minimize(
            lambda b, n=n: (-float(curve.r(b[None], y[n][None])[0][0]), -curve.r(b[None], y[n][None])[1][0]),
            start[n],
            jac=True,
            method="L-BFGS-B",
            bounds=[*zip(curve.low, curve.high, strict=True)],
            options={"ftol": 1e-15, "gtol": 1e-11},
        )
        assert found[n] == pytest.approx(-other.fun, abs=1e-9)


def test_a_metric_that_goes_the_wrong_way_gets_no_sign_back():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(8, 6))
    found = likeness(set_of(8, 6, y), {"turned": -y.ravel() + 0.1 * rng.normal(size=48)}, persons=False)
    assert found["srocc"].figures["turned"].value < -0.9 and found["srocc"].figures["turned"].high < 0
    assert found["plcc"].figures["turned"].value < 0.3


def test_one_line_has_a_value_and_no_interval_and_what_does_not_vary_has_neither():
    y = np.arange(48.0).reshape(8, 6)
    found = likeness(set_of(8, 6, y), {"same": y.ravel() ** 3, "flat": np.ones(48)}, persons=False, among=("same", "flat"))
    same, flat = (found["srocc"].figures[key] for key in ("same", "flat"))
    assert same.value == pytest.approx(1) and same.low is None and same.state == State.NO_INTERVAL and same.reason.key is Key.IN_LINE
    assert flat.value is None and flat.state == State.ALIKE and same.places is None and flat.places is None


def test_a_correlation_that_one_group_holds_up_is_unstable_where_nothing_is_left_without_it():
    y = np.zeros((8, 6))
    y[0] = np.arange(6)
    rng = np.random.default_rng(1)
    found = likeness(set_of(8, 6, y), {"x": rng.normal(size=48)}, persons=False)["srocc"].figures["x"]
    assert found.value is not None and found.low is None and found.reason.key is Key.UNSTABLE


def test_two_metrics_that_are_the_same_do_not_differ():
    rng = np.random.default_rng(2)
    y = rng.normal(size=(8, 6))
    x = y.ravel() + rng.normal(size=48)
    found = likeness(set_of(8, 6, y), {"one": x, "other": 2 * x, "size": rng.normal(size=48)}, persons=False, among=("one", "other"))
    (apart,) = found["srocc"].differences
    assert (apart.value, apart.p) == (0, 1) and {found["srocc"].figures[key].places for key in ("one", "other")} == {(1, 2)}
    assert found["srocc"].figures["one"].size_p == found["srocc"].figures["other"].size_p < 0.5


@pytest.mark.parametrize(("groups", "entries"), [(8, 8), (15, 10)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(groups, entries):
    """Offsets of groups make stimuli depend on each other: the simulation of the specification's table, in small."""
    rng = np.random.default_rng(groups)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.normal(size=(n, entries))
        return y, y + 0.6 * rng.normal(size=(n, 1)) + 0.4 * rng.normal(size=(n, entries))

    y, x = drawn(3000)
    truth = scipy.stats.spearmanr(x.ravel(), y.ravel()).statistic
    held, independent, sets = 0, 0, 120
    for _ in range(sets):
        y, x = drawn(groups)
        of = set_of(groups, entries, y)
        made = across.Alike.of(of, {"x": x.ravel()}, False).compared(across.CORRELATIONS["srocc"])[0]["x"]
        held += made.low <= truth <= made.high
        half = 1.96 * math.sqrt((1 + made.value**2 / 2) / (len(of) - 3))
        independent += abs(math.atanh(made.value) - math.atanh(truth)) <= half
    assert held / sets >= 0.88 and held > independent, (held / sets, independent / sets)


def test_a_given_one_of_equal_metrics_is_seldom_shut_out_as_the_best():
    """The promise is at most .05 for a given metric; Bonferroni's form of it keeps well below."""
    rng = np.random.default_rng(8)
    groups, entries, k, sets, shut_out = 6, 15, 10, 60, 0
    keys = [f"m{n}" for n in range(k)]
    for _ in range(sets):
        y = rng.normal(size=(groups, entries, 1))
        x = (y + 0.6 * rng.normal(size=(groups, 1, k)) + 0.5 * rng.normal(size=(groups, entries, k))).reshape(-1, k)
        of = set_of(groups, entries, y)
        found, tests = across.Alike.of(of, dict(zip(keys, x.T, strict=True)), False).compared(across.CORRELATIONS["srocc"])
        placed = across.places.compared(found, keys, tests).figures
        shut_out += sum(not one.may_be_best for one in placed.values())
    assert shut_out / (sets * k) <= 0.05, shut_out / (sets * k)


def test_a_metric_that_is_clearly_better_is_alone_at_the_top():
    rng = np.random.default_rng(9)
    y = rng.normal(size=(40, 8))
    metrics = {f"m{n}": (y + rng.normal(size=(40, 1)) * 0.8 + rng.normal(size=y.shape) * 0.5).ravel() for n in range(5)}
    metrics["best"] = (y + rng.normal(size=(40, 1)) * 0.2 + rng.normal(size=y.shape) * 0.2).ravel()
    found = likeness(set_of(40, 8, y), metrics, persons=False, among=tuple(metrics))["srocc"].figures
    assert found["best"].places == (1, 1) and [n for n in range(5) if found[f"m{n}"].may_be_best] == []


def test_means_are_left_out_of_in_blocks_as_at_once(monkeypatch):
    rng = np.random.default_rng(6)
    scores = made_evidence.scores(rng)
    tables = made_evidence.tables(scores, made_evidence.metrics(rng, plain_evidence.means_of(scores)))
    of = judged(tables, tables.criteria[0], Basis.PERSONS)
    metrics = {"x": of.x[:, 0], "y": of.x[:, 1]}
    whole = likeness(of, metrics, persons=True, among=("x", "y"))
    monkeypatch.setattr(across, "VALUES_OF_BLOCK", 3 * len(of))
    assert max(len(block) for block in across.left_out(of, True, np.ones(len(of), dtype=bool)).blocks()) == 3
    for name, again in likeness(of, metrics, persons=True, among=("x", "y")).items():
        for key, figure in again.figures.items():  # sums of other lengths may differ by rounding
            same = whole[name].figures[key]
            assert (figure.value, figure.low, figure.high, figure.se) == pytest.approx(
                (same.value, same.low, same.high, same.se), abs=1e-12
            )
