"""The model of preference: worked examples, a peer without ties, and what must hold of every study."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import choix
import numpy as np
import pytest
import scipy

from leaderboard.stats import agreement, davidson, two_way_intervals
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.davidson import SIDE, Cause, Omitted
from leaderboard.stats.votes import Vote, canonical
from tests.pure.leaderboard.stats.test_agreement import made, simulated

BEATS = {"AB": (6, 2, 4)}
THREE = {"AB": (4, 2, 3), "AC": (5, 1, 0), "BC": (3, 2, 2)}


def counted(spec: dict[str, tuple[int, int, int]]) -> Answers:
    """Wins of the first, wins of the second, ties; each answer by another rater on another sample."""
    rows = []
    for pair, numbers in spec.items():
        for choice, count in zip(("left", "right", "tie"), numbers, strict=True):
            rows += [Vote(f"r{len(rows) + k}", pair[0], pair[1], choice, f"s{len(rows) + k}") for k in range(count)]
    return answers(canonical(rows))


def test_two_entries():
    model = davidson.fit(counted(BEATS))
    assert model.theta == pytest.approx([0.5493061, -0.5493061], abs=1e-6) and model.nu == pytest.approx(1.1547005, abs=1e-6)
    assert davidson.implied(model).value == pytest.approx([0.6666667, 0.3333333], abs=1e-6)


def test_three_entries():
    model = davidson.fit(counted(THREE))
    assert model.theta == pytest.approx([0.8214264, -0.0520101, -0.7694163], abs=1e-6) and model.nu == pytest.approx(0.6725532, abs=1e-6)
    assert davidson.implied(model).value == pytest.approx([0.7106872, 0.4867502, 0.3025626], abs=1e-6)


def test_an_entry_that_never_lost_a_point_gets_a_weak_prior():
    model = davidson.fit(counted({"AB": (5, 0, 0)}))
    assert model.theta == pytest.approx([0.8167531, -0.8167531], abs=1e-6) and model.prior and not model.omitted
    assert np.isfinite(model.u).all() and model.u.sum(axis=0) == pytest.approx(np.zeros(2), abs=1e-9)


@pytest.mark.parametrize(
    ("spec", "prior"),
    [
        ({"AB": (3, 0, 5)}, True),  # a win and a tie: the lead and nu grow together
        ({"AB": (3, 1, 5)}, False),
        ({"AB": (3, 0, 2), "BC": (0, 0, 4), "CA": (0, 0, 4)}, True),
        ({"AB": (3, 0, 2), "BC": (2, 0, 0), "CA": (0, 0, 4)}, False),  # round A, B, C: two wins and one tie
        ({"AB": (3, 0, 0), "BC": (0, 0, 1), "CD": (3, 0, 0), "DA": (0, 0, 1)}, True),  # round A, B, C, D: as many ties as wins
    ],
)
def test_a_lead_that_only_ties_bound_has_no_end_unless_a_way_round_has_more_wins_than_ties(
    spec: dict[str, tuple[int, int, int]], prior: bool
):
    model = davidson.fit(counted(spec))
    assert model.prior is prior
    assert np.abs(model.theta).max() < 3 and model.nu < 30 and np.isfinite(model.u).all()


@pytest.mark.parametrize("ties", [0, 4])
def test_a_side_that_has_no_end_together_with_abilities_is_left_out(ties):
    """A on the left won each time, and now and then lost on the right: the farther apart sides and entries, the better that suits."""
    rows = [("A", "B", "left")] * 10 + [("B", "A", "right")] * 8 + [("B", "A", "left")] * 2
    rows += [("A", "B", "tie"), ("B", "A", "tie")] * (ties // 2)
    asked = answers(canonical([Vote(f"r{n % 6}", *row, f"s{n % 7}") for n, row in enumerate(rows)]))
    model = davidson.fit(asked)
    if ties:  # a tie on the left keeps them
        assert model.gamma is not None and np.abs(model.eta).max() < 5
    else:
        assert model.gamma is None and model.omitted == (Omitted(SIDE, Cause.ENDLESS),) and not model.prior
        assert model.theta == pytest.approx([math.log(9) / 2, -math.log(9) / 2], abs=1e-6)
        assert davidson.implied(model).value == pytest.approx([0.9, 0.1], abs=1e-6)


def test_a_side_beside_abilities_that_lie_far_apart_stays():
    """Three steps, each lost twice in 400, once from either side: the first is 3 ln 199 above the last, and that is an end."""
    votes = []
    for pair, count in (("AB", 400), ("BC", 400), ("CD", 400), ("AD", 20)):
        for n in range(count):
            left, right = pair if n % 2 else pair[::-1]
            winner = pair[1] if count == 400 and n in (6, 7) else pair[0]
            votes.append(Vote(f"r{n % 9}", left, right, "left" if winner == left else "right", f"s{n}"))
    model = davidson.fit(answers(canonical(votes)))
    assert model.gamma == pytest.approx(0.0, abs=1e-6) and not model.omitted and not model.prior
    assert np.abs(model.eta).max() == pytest.approx(3 * math.log(199), abs=1e-3)


def test_whether_a_lead_has_an_end_is_what_linear_programming_says():
    """There is none where some direction of abilities and ln nu makes no answer less likely against another choice, and one more so."""
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        a, b = (np.repeat(ends, 2) for ends in np.triu_indices(4, 1))
        verdict = rng.choice([-1, 0, 0], 12)
        if len(np.unique(verdict)) < 2:
            continue
        against = []
        for other in (-1, 0, 1):
            gain = np.zeros((12, 5))
            gain[np.arange(12), a] = (other - verdict) / 2
            gain[np.arange(12), b] = (verdict - other) / 2
            gain[:, 4] = (verdict == 0) * 1.0 - (other == 0)
            against.append(gain)
        gains = np.concatenate(against)
        best = scipy.optimize.linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=[(-1, 1)] * 5)
        without_end = bool(-best.fun > 1e-7)
        assert davidson.separated(a, b, verdict, 4) is without_end
        seen.add(without_end)
    assert seen == {True, False}


def test_without_ties_it_is_bradley_and_terrys():
    rng = np.random.default_rng(0)
    wins = [(int(i), int(j)) for i, j in rng.integers(0, 6, (400, 2)) if i != j]
    rows = [Vote(f"r{n % 9}", f"m{i}", f"m{j}", "left", f"s{n}") for n, (i, j) in enumerate(wins)]
    model = davidson.fit(answers(canonical(rows)))
    assert model.nu == 0 and model.gamma is None and model.omitted == (Omitted(SIDE, Cause.ENDLESS),)  # all won on the left
    said = answers(canonical(rows))
    unsided = davidson.fit(replace(said, side=np.zeros(len(said), dtype=int)))
    assert unsided.theta == pytest.approx(choix.opt_pairwise(6, wins), abs=1e-6)


def test_in_a_complete_design_the_implied_rate_is_the_win_rate():
    rows = {"AB": (5, 3, 2), "AC": (7, 1, 2), "BC": (4, 5, 1)}
    model = davidson.fit(counted(rows))
    points = np.array([5 + 1 + 7 + 1, 3 + 1 + 4 + 0.5, 1 + 1 + 5 + 0.5]) / 20
    assert davidson.implied(model).value == pytest.approx(points, abs=1e-9)


def test_fitted_points_are_the_observed_ones():
    said, _ = simulated(1)
    model = davidson.fit(said)
    first, tie, second = davidson.chances(model.eta, model.nu)
    m = len(model)
    expected = np.bincount(said.a, first + tie / 2, m) + np.bincount(said.b, second + tie / 2, m)
    observed = np.bincount(said.a, (1 - said.verdict) / 2, m) + np.bincount(said.b, (1 + said.verdict) / 2, m)
    assert expected == pytest.approx(observed, abs=1e-6)


def test_influences_are_what_happens_when_an_answer_is_left_out():
    said, _ = simulated(6, each=60)
    model = davidson.fit(said)
    for n in (0, 17, 301):
        kept = np.arange(len(said)) != n
        refit = davidson.fit(said.take(kept))
        assert model.theta - refit.theta == pytest.approx(model.u[n, : len(model)], abs=3e-4)


def test_sides_are_found_where_they_matter_and_left_out_where_they_cannot_be_told():
    rng = np.random.default_rng(2)
    rows = []
    for n in range(2000):
        i, j = rng.choice(4, 2, replace=False)
        left = rng.random() < 1 / (1 + math.exp(-(0.3 * (i - j) + 0.6)))
        rows.append(Vote(f"r{n % 12}", f"m{i}", f"m{j}", "left" if left else "right", f"s{n % 15}"))
    model = davidson.fit(answers(canonical(rows)))
    found = davidson.coefficient(model, "side")
    assert found.low < 0.6 < found.high and davidson.share_of(model.gamma, model.nu) == pytest.approx(1 / (1 + math.exp(-model.gamma)))
    always = [Vote(f"r{n}", "A", "B", "left" if n % 3 else "right", f"s{n}") for n in range(20)]
    assert davidson.fit(answers(canonical(always))).gamma is None


def test_a_covariate_is_found_and_one_that_is_a_combination_of_entries_refused_by_name():
    rng = np.random.default_rng(4)
    rows, textured = [], rng.integers(0, 2, (10, 5))
    for n in range(3000):
        i, j = sorted(rng.choice(5, 2, replace=False).tolist())
        sample = int(rng.integers(10))
        gap = textured[sample, i] - textured[sample, j]
        first = rng.random() < 1 / (1 + math.exp(-(0.2 * (i - j) + 0.8 * gap)))
        rows.append(Vote(f"r{n % 20}-{n}", f"m{i}", f"m{j}", "left" if first else "right", f"s{sample}"))
    said = answers(canonical(rows))
    gaps = textured[said.sample, said.a] - textured[said.sample, said.b]
    model = davidson.fit(said, {"textured": gaps.astype(float), "number": (said.a - said.b).astype(float)})
    assert model.covariates == ("textured",) and abs(float(model.beta[0]) - 0.8) < 0.2
    assert Omitted("number", Cause.INSEPARABLE) in model.omitted


def test_parts_that_never_met_have_columns_of_their_own_and_nobody_preferring_any_has_none():
    found = davidson.models(counted({"AB": (3, 1, 0), "CD": (6, 2, 1)}))
    assert [model.entries.tolist() for model in found] == [[2, 3], [0, 1]]
    assert davidson.models(counted({"AB": (0, 0, 5)})) == []
    assert davidson.models(answers(canonical([]))) == []


def test_places_hold_the_order_of_abilities():
    said, _ = simulated(3, raters=20, each=80)
    model = davidson.fit(said)
    found = model.places()
    ranks = np.argsort(np.argsort(-model.theta)) + 1
    assert ((found.low <= ranks) & (ranks <= found.high)).all()
    assert davidson.fit(counted({"AB": (2, 1, 1)})).places() is None  # four raters


def test_entries_that_stand_level_are_not_told_apart_where_all_answers_are_alike():
    alike = [("AB", -1), ("AC", -1), ("BC", 0), ("BD", -1), ("CD", -1), ("AD", 1)]  # B and C do as well as each other
    said = made([(r, s, pair, v) for r in range(6) for s in range(6) for pair, v in alike])
    model = davidson.fit(said)
    p = model.tests.p
    assert (p[0, 1], p[1, 2], p[2, 3]) == (0.0, 1.0, 0.0)
    certain = agreement.certain_by_people(model.theta, model.between.total, model.between.df)
    assert certain[1, 2] == certain[2, 1] == 0.5 and certain[0, 1] == 0.0
    column = davidson.implied(model)
    assert np.isnan(column.low).all() and column.reason == two_way_intervals.ALIKE and model.places() is None


def test_what_rounding_leaves_of_a_variance_is_none_and_gives_no_interval():
    """Each rater has half of the samples one way round, so do all raters of each sample: of some pairs nothing is left of the variance, and
    rounding made an interval from 50 to 50 of it."""
    pairs = list(itertools.combinations("ABCDEF", 2))
    said = [(r, s, "".join(pair), 1 - 2 * ((r + s + n) % 2)) for r in range(8) for s in range(8) for n, pair in enumerate(pairs)]
    found = davidson.fit(made(said)).tests
    known = ~np.isnan(found.low) & ~np.eye(6, dtype=bool)
    assert np.allclose(found.value, 0.5) and (found.p[~np.eye(6, dtype=bool)] == 1.0).all()
    assert known.any() and (~known).sum() > 6 and (found.high[known] - found.low[known]).min() > 0.05


def test_entries_that_stand_level_have_one_place_whatever_rounding_leaves_of_their_difference():
    """Everybody says of A and C what is said of B and C: A and B are level, and of their difference and its variance rounding alone leaves
    something, one in units of the other."""
    rows = []
    for r, s in itertools.product(range(9), range(8)):
        for left, right, turned in (("C", "A", (r + 3 * s) % 7 == 0), ("C", "B", (r + 3 * s) % 7 == 0), ("A", "B", (r + 3 * s) % 2 == 0)):
            rows.append(Vote(f"r{r}", left, right, "right" if turned else "left", f"s{s}"))
    model = davidson.fit(answers(canonical(rows)))
    assert abs(model.theta[0] - model.theta[1]) <= two_way_intervals.NOTHING
    found = model.places()
    assert (found.low.tolist(), found.high.tolist()) == ([2, 2, 1], [3, 3, 1])


def test_equal_entries_are_not_put_in_order():
    rng = np.random.default_rng(9)
    pairs = rng.choice(["AB", "AC", "BC"], 300).tolist()
    rows = list(
        zip((np.arange(300) % 10).tolist(), rng.integers(0, 12, 300).tolist(), pairs, rng.integers(-1, 2, 300).tolist(), strict=True)
    )
    model = davidson.fit(made(rows))
    found = model.places()
    assert found.low.tolist() == [1, 1, 1] and found.high.tolist() == [3, 3, 3]
    p = model.tests.p
    assert np.nanmin(two_way_intervals.holm(p[np.triu_indices(3, 1)])) > 0.05


def test_of_each_two_entries_the_share_and_its_interval_are_those_of_that_pair_alone():
    said, _ = simulated(5, raters=12, each=60)
    model = davidson.fit(said)
    found = model.tests
    for i, j in ((0, 1), (2, 0), (3, 1)):
        # The figure of one pair by the influences of its own answers: the share's derivatives in eta and in ln nu, by differences.
        eta, step = np.array(model.theta[i] - model.theta[j]), 1e-6
        by_eta = (davidson.preference(eta + step, model.nu) - davidson.preference(eta - step, model.nu)) / (2 * step)
        by_nu = (davidson.preference(eta, model.nu * np.exp(step)) - davidson.preference(eta, model.nu * np.exp(-step))) / (2 * step)
        u = by_eta * (model.u[:, i] - model.u[:, j]) + by_nu * model.u[:, model.log_nu]
        alone = two_way_intervals.figure(float(davidson.preference(eta, model.nu)), u, model.clusters, np.ones(len(said)))
        assert (found.value[i, j], found.low[i, j], found.high[i, j]) == pytest.approx((alone.value, alone.low, alone.high), abs=1e-7)
        assert found.value[i, j] + found.value[j, i] == pytest.approx(1)
    assert np.isnan(np.diag(found.p)).all() and np.isnan(np.diag(found.low)).all()


def test_raters_who_answer_the_other_way_round_are_turned_and_coins_near_nothing():
    said, _ = simulated(12, raters=15, each=80, ties=0.0)
    turned = np.where(said.rater == 3, -said.verdict, said.verdict)
    rng = np.random.default_rng(0)
    tossed = np.where(said.rater == 7, rng.choice([-1, 1], len(said)), turned)
    model = davidson.fit(replace(said, verdict=tossed))
    found = davidson.consistency(model)
    values = {rater: value for rater, (value, _) in found.items()}
    assert values[3] < 0.3 and values[3] == min(values.values()) and found[0][1] == 80


def test_first_place_hangs_on_the_answers_whose_removal_changes_it():
    rows = [(n % 6, n % 7, "AB", -1) for n in range(21)] + [((n + 3) % 6, n % 7, "AB", 1) for n in range(20)]
    rows = [(r + 6 * k, s, pair, v) for k, (r, s, pair, v) in enumerate(rows)]
    model = davidson.fit(made(rows))
    found = davidson.fragile(model)
    assert found.answers == 2  # one makes them equal, two turn them round
    sure = davidson.fit(made([(n, n % 7, "AB", -1 if n % 10 else 1) for n in range(60)]))
    assert davidson.fragile(sure).answers is None


def test_first_place_is_looked_at_with_the_covariates_that_the_model_takes_account_of():
    """Coloured entries win by their colours; what is first without them is another one, so that a refit without would say "at once"."""
    rng, liked, coloured = np.random.default_rng(0), np.array([0.0, 1.2, -0.6]), np.zeros((12, 3))
    coloured[:10, 0], coloured[10:, 1], coloured[[3, 7], 2] = 1, 1, 1
    rows, z = [], []
    for rater in range(12):
        for sample in range(12):
            for a, b in ((0, 1), (0, 2), (1, 2)):
                eta = liked[a] - liked[b] + 3 * (coloured[sample, a] - coloured[sample, b])
                chances = np.array([np.exp(eta / 2), 0.5, np.exp(-eta / 2)])
                rows.append((rater, sample, "ABC"[a] + "ABC"[b], int(rng.choice([-1, 0, 1], p=chances / chances.sum()))))
                z.append(coloured[sample, a] - coloured[sample, b])
    said, colours = made(rows), np.array(z)
    model = davidson.fit(said, {"colours": colours})
    first = int(np.argmax(model.theta))
    assert model.covariates == ("colours",) and first != int(np.argmax(davidson.fit(said).theta))
    for group in (said.rater, said.sample):
        for one in np.unique(group):
            stay = group != one
            assert int(np.argmax(davidson.fit(said.take(stay), {"colours": colours[stay]}).theta)) == first
    found = davidson.fragile(model)
    assert (found.raters or 12) > 1 and (found.samples or 12) > 1 and (found.answers or len(said)) > 20
