"""People's preferences in one model with ties: Davidson (JASA 1970), with the side a thing stood on and covariates.

    eta = theta_a - theta_b + gamma side + z beta,   P(a) ~ exp(eta / 2),   P(b) ~ exp(-eta / 2),   P(equal) ~ nu

It is an exponential family, so that its fitted points (1 for a win, 1/2 for a tie) are the observed ones of each entry. Leaderboards rank
by `implied`: how often an entry would be preferred against each other entry in turn, ties half. It does not depend on the opponents that a
plan chose. Intervals come from the influence of each answer, over raters and samples (`crossed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial

import numpy as np
import scipy

from leaderboard.stats import two_way_intervals
from leaderboard.stats.answers import Answers
from leaderboard.stats.levels import Column, Levels, Tests
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.two_way_intervals import Variance
from leaderboard.stats.votes import Floats, Ints

GRADIENT = 1e-9  # of the number of answers
STEPS = 100
BOUND = 15.0  # a side or a covariate beyond this is not finite
SPREAD = 0.5  # of raters' consistency around that of the panel, as a prior
NOBODY = Reason(Key.NO_PREFERENCE)
SIDE = "side"  # in the place of a covariate's name


class Cause(StrEnum):
    """The reasons why a model leaves out the side or a covariate."""

    UNKNOWN = "unknown"  # it is not known of everything that was compared
    INSEPARABLE = "inseparable"  # from the entries, or from another covariate
    ENDLESS = "endless"  # it has no finite effect, as where everybody chose by it alone


@dataclass(frozen=True)
class Omitted:
    """The side or a covariate that a model leaves out."""

    name: str
    cause: Cause


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(Levels):
    """A fitted model of M entries that met, directly or through others.

    `theta` are abilities; `nu` is 0 where nobody tied; `gamma` is None if sides are unknown or cannot be separated from the entries; `beta`
    has one value per covariate of `covariates`. The columns of `u` are influences on theta, then (where they were fitted) on ln nu, gamma
    and beta. `prior` says that abilities were drawn to 0 by a standard normal prior. `asked` are the covariates that it was to take account
    of, differences float64[N]; `omitted` are those of them, and the side, that it leaves out.
    """

    answers: Answers
    nu: float
    gamma: float | None
    beta: Floats
    covariates: tuple[str, ...]
    prior: bool
    omitted: tuple[Omitted, ...]
    eta: Floats = field(repr=False)
    asked: Mapping[str, Floats] = field(repr=False, default_factory=dict)

    def end(self, m: int) -> float:
        return m * (m - 1) / 2 * self.clusters.n_raters * self.clusters.n_samples / len(self.answers)

    @property
    def log_nu(self) -> int | None:
        """The column of `u` of ln nu."""
        return len(self) if self.nu > 0 else None

    def column(self, name: str) -> int:
        """The column of `u` of the side or of a covariate."""
        at = len(self) + (self.nu > 0)
        if name == SIDE:
            return at
        return at + (self.gamma is not None) + self.covariates.index(name)

    @cached_property
    def covariance(self) -> Variance:
        m = len(self)
        return self.with_ties.each(lambda part: part[:m, :m])

    @cached_property
    def with_ties(self) -> Variance:
        """The same with ln nu in the last row and column, where somebody tied."""
        return self.clusters.covariance(self.u[:, : len(self) + (self.nu > 0)])

    @cached_property
    def tests(self) -> Tests:
        """Tests whose value is how often the row's entry would be preferred to the column's, ties half."""
        found, m = super().tests, len(self)
        value, by_eta, by_nu = _slopes(self)
        if self.clusters.few:
            return replace(found, value=value)

        def of_share(part: Floats) -> Floats:
            theta, own = part[:m, :m], np.diag(part)[:m]
            variance = by_eta**2 * two_way_intervals.left_of(own[:, None] + own[None, :], 2 * theta)
            if self.log_nu is not None:
                with_nu = part[:m, m]
                variance += by_nu**2 * part[m, m] + 2 * by_eta * by_nu * (with_nu[:, None] - with_nu[None, :])
            return np.maximum(0.0, variance)

        spread = self.with_ties.each(of_share)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = two_way_intervals.share_interval(value, np.sqrt(spread.total), spread.df)
        none = (spread.total <= two_way_intervals.NO_VARIANCE) | np.eye(m, dtype=bool)
        return Tests(value, np.where(none, math.nan, low), np.where(none, math.nan, high), found.p)


# --- fitting


def models(answers: Answers, covariates: Mapping[str, Floats] | None = None) -> list[Model]:
    """A model of each part of the comparisons, the one with most answers first; none where nobody preferred any.

    Entries of two parts never met, not even through others, and have no common column. `covariates` are differences, a minus b,
    float64[N] of the answers.
    """
    fits = []
    for entries in answers.parts:
        inside = np.isin(answers.a, entries)
        if (answers.verdict[inside] != 0).any():
            fits.append(fit(answers.take(inside), {name: z[inside] for name, z in (covariates or {}).items()}))
    return fits


def fit(answers: Answers, covariates: Mapping[str, Floats] | None = None) -> Model:
    """The model of answers whose entries all met, directly or through others, of which at least one names a winner.

    The side and covariates are left out if they cannot be separated from the entries or have no finite value.
    """
    entries, place = np.unique(np.concatenate([answers.a, answers.b]), return_inverse=True)
    a, b = place[: len(answers)], place[len(answers) :]
    m = len(entries)
    extra: list[Floats] = []
    names: list[str] = []
    omitted: list[Omitted] = []
    wanted: dict[str, Floats] = dict(covariates or {})
    if (answers.side > 0).any() and (answers.side < 0).any():
        wanted = {SIDE: answers.side.astype(np.float64), **wanted}
    for name, z in wanted.items():
        if _separate(a, b, m, [*extra, z]):
            extra.append(z)
            names.append(name)
        else:
            omitted.append(Omitted(name, Cause.INSEPARABLE))
    prior = separated(a, b, answers.verdict, m)
    while True:
        z = np.stack(extra, axis=1) if extra else np.zeros((len(answers), 0))
        solution = _newton(a, b, answers.verdict, m, z, prior)
        wild = [
            n for n, value in enumerate(solution.extra) if not abs(value) <= BOUND * max(1e-300, 1 / max(1e-300, np.abs(z[:, n]).max()))
        ]
        if not wild and extra and not prior and np.abs(solution.eta).max() > BOUND:
            wild = _endless(a, b, answers.verdict, m, z)
        if not wild:
            break
        omitted.append(Omitted(names.pop(wild[0]), Cause.ENDLESS))
        del extra[wild[0]]
    sided = names[:1] == [SIDE]
    return Model(
        entries=entries,
        theta=solution.theta,
        influences=partial(_influences, solution, a, b, answers.verdict, z, prior),
        clusters=answers.clusters,
        answers=answers,
        nu=solution.nu,
        gamma=float(solution.extra[0]) if sided else None,
        beta=solution.extra[int(sided) :],
        covariates=tuple(names[int(sided) :]),
        prior=prior,
        omitted=tuple(omitted),
        eta=solution.eta,
        asked=dict(covariates or {}),
    )


def _separate(a: Ints, b: Ints, m: int, extra: Sequence[Floats]) -> bool:
    """True if the last of `extra` is no combination of the entries' differences and of the others."""
    z = np.stack(extra, axis=1)
    scale = np.abs(z).max(axis=0)
    if not (scale > 0).all():
        return False
    # Residual of a least-squares fit of potentials on the graph of comparisons, which the entries cannot explain.
    laplacian = np.full((m, m), 1.0 / m)
    np.add.at(laplacian, (a, a), 1.0)
    np.add.at(laplacian, (b, b), 1.0)
    np.add.at(laplacian, (a, b), -1.0)
    np.add.at(laplacian, (b, a), -1.0)
    z = z / scale
    flow = np.zeros((m, z.shape[1]))
    np.add.at(flow, a, z)
    np.subtract.at(flow, b, z)
    potential = np.linalg.solve(laplacian, flow)
    rest = z - (potential[a] - potential[b])
    return int(np.linalg.matrix_rank(rest.T @ rest, tol=1e-9 * len(a))) == z.shape[1]


def separated(a: Ints, b: Ints, verdict: Ints, m: int) -> bool:
    """True if abilities have no finite estimate: some entries never lost to the others.

    If they never tied either, their lead can grow without end. If they tied, their lead can grow together with nu. Take leads of at least 2
    over entries that they won against, and of at most 2 over entries that they tied with. Every answer becomes more likely as these leads
    and ln nu are scaled up. Such leads exist unless a cycle of entries, from winners to losers and between tied entries, has more wins than
    ties.
    """
    wins, ties = np.zeros((m, m), dtype=bool), np.zeros((m, m), dtype=bool)
    wins[a[verdict < 0], b[verdict < 0]] = True
    wins[b[verdict > 0], a[verdict > 0]] = True
    ties[a[verdict == 0], b[verdict == 0]] = True
    ties |= ties.T
    if int(scipy.sparse.csgraph.connected_components(wins | ties, directed=True, connection="strong")[0]) > 1:
        return True
    if not ties.any() or (wins & wins.T).any():
        return False
    leads = scipy.sparse.csgraph.csgraph_from_dense(np.where(wins, -1.0, np.where(ties, 1.0, np.inf)), null_value=np.inf)
    try:
        scipy.sparse.csgraph.bellman_ford(leads, indices=0)
    except scipy.sparse.csgraph.NegativeCycleError:
        return False
    return True


def _endless(a: Ints, b: Ints, verdict: Ints, m: int, z: Floats) -> list[int]:
    """The column of z [N, K] that goes furthest, if abilities and z together have no finite estimate; else empty.

    There is no finite estimate if a direction exists along which no answer becomes less likely and one becomes more likely, however far one
    goes. Let x be the change of an answer's eta towards its winner, and y the change of ln nu. The conditions are x >= 0 and x / 2 >= y for
    each answer that names a winner, and y >= |x| / 2 for each tie. The search then ends at an arbitrary point where the slope is small:
    both abilities and z grow, each by a part.
    """
    rows = np.unique(np.column_stack([a, b, verdict, z]), axis=0)
    n, k = len(rows), z.shape[1]
    at, scale = np.arange(n), np.abs(z).max(axis=0)
    ahead = np.zeros((n, m + 1 + k))  # abilities, ln nu, z
    ahead[at, rows[:, 0].astype(np.int64)] = 1.0
    ahead[at, rows[:, 1].astype(np.int64)] = -1.0
    ahead[:, m + 1 :] = rows[:, 3:] / scale
    won = rows[:, 2] != 0
    ahead[won] *= -rows[won, 2:3]
    nu = np.zeros(m + 1 + k)
    nu[m] = 1.0
    ends = [ahead[won], nu - ahead[~won] / 2, nu + ahead[~won] / 2, *([] if won.all() else [ahead[won] / 2 - nu])]
    gains = np.concatenate(ends)
    solved = scipy.optimize.linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1.0, 1.0))
    if not solved.success or -solved.fun <= 1e-6:
        return []
    return [int(np.argmax(np.abs(solved.x[m + 1 :])))]


@dataclass(frozen=True, eq=False)
class _Fitted:
    theta: Floats
    nu: float
    extra: Floats
    eta: Floats
    information: Floats


def chances(eta: Floats, nu: float) -> tuple[Floats, Floats, Floats]:
    """P(a), P(equal), P(b)."""
    top = np.abs(eta) / 2
    a, b, tie = np.exp(eta / 2 - top), np.exp(-eta / 2 - top), nu * np.exp(-top)
    total = a + b + tie
    return a / total, tie / total, b / total


def _newton(a: Ints, b: Ints, verdict: Ints, m: int, z: Floats, prior: bool) -> _Fitted:
    """The maximum of the likelihood, to a gradient of 1e-9 times the number of answers."""
    n, k = len(a), z.shape[1]
    tied = verdict == 0
    ties = bool(tied.any())
    size = m + ties + k
    at = np.zeros(size)
    if ties:
        at[m] = math.log(2 * tied.sum() / max(1, n - tied.sum()))
    half = -verdict / 2

    def eta_of(x: Floats) -> Floats:
        return x[a] - x[b] + (z @ x[m + ties :] if k else 0.0)

    def loss_of(x: Floats, eta: Floats) -> float:
        log_nu = x[m] if ties else -np.inf
        top = np.maximum(np.abs(eta) / 2, log_nu)
        total = top + np.log(np.exp(eta / 2 - top) + np.exp(-eta / 2 - top) + np.exp(log_nu - top))
        value = float((total - half * eta).sum()) - (log_nu * tied.sum() if ties else 0.0)
        return value + (float((x[:m] ** 2).sum()) / 2 if prior else 0.0)

    eta = eta_of(at)
    loss = loss_of(at, eta)
    for _ in range(STEPS):
        first, tie, second = chances(eta, math.exp(at[m]) if ties else 0.0)
        by_eta = half - (first - second) / 2
        theta = np.bincount(a, by_eta, m) - np.bincount(b, by_eta, m)
        slope = np.concatenate([theta, [(tied - tie).sum()] if ties else [], by_eta @ z])
        information = _information(a, b, first, tie, second, z, m, ties)
        if prior:
            slope[:m] -= at[:m]
            information[np.arange(m), np.arange(m)] += 1.0
        if np.abs(slope).max() <= GRADIENT * n / 10:
            break
        fixed = information.copy()
        fixed[:m, :m] += 1.0 / m
        step = np.linalg.solve(fixed, slope)
        length = 1.0
        for _ in range(40):
            trial = at + length * step
            trial_eta = eta_of(trial)
            trial_loss = loss_of(trial, trial_eta)
            if trial_loss <= loss + 1e-12 * abs(loss):
                break
            length /= 2
        at, eta, loss = trial, trial_eta, trial_loss
        if k and np.abs(at[m + ties :] * np.abs(z).max(axis=0)).max() > 2 * BOUND:
            break
    at[:m] -= at[:m].mean()
    first, tie, second = chances(eta, math.exp(at[m]) if ties else 0.0)
    information = _information(a, b, first, tie, second, z, m, ties)
    if prior:
        information[np.arange(m), np.arange(m)] += 1.0
    return _Fitted(at[:m], math.exp(at[m]) if ties else 0.0, at[m + ties :], eta, information)


def _information(a: Ints, b: Ints, first: Floats, tie: Floats, second: Floats, z: Floats, m: int, ties: bool) -> Floats:
    """The covariance of the sufficient statistics: half the sign of the verdict along the design, and the tie."""
    bend = (first + second - (first - second) ** 2) / 4
    size = m + ties + z.shape[1]
    matrix = np.zeros((size, size))
    between = np.bincount(a * m + b, bend, m * m).reshape(m, m)
    between = between + between.T
    matrix[:m, :m] = np.diag(between.sum(axis=1)) - between
    if ties:
        cross = -(first - second) / 2 * tie
        matrix[m, :m] = matrix[:m, m] = np.bincount(a, cross, m) - np.bincount(b, cross, m)
        matrix[m, m] = float((tie * (1 - tie)).sum())
        matrix[m, m + 1 :] = matrix[m + 1 :, m] = cross @ z
    if z.shape[1]:
        weighted = bend[:, None] * z
        start = m + ties
        for column in range(z.shape[1]):
            own = weighted[:, column]
            matrix[start + column, :m] = matrix[:m, start + column] = np.bincount(a, own, m) - np.bincount(b, own, m)
        matrix[start:, start:] = z.T @ weighted
    return matrix


def _influences(solution: _Fitted, a: Ints, b: Ints, verdict: Ints, z: Floats, prior: bool) -> Floats:
    """H^-1 score [N, P], centred over theta; with the prior, its pull is shared by all answers."""
    n, m = len(a), len(solution.theta)
    ties = solution.nu > 0
    first, tie, second = chances(solution.eta, solution.nu)
    by_eta = -verdict / 2 - (first - second) / 2
    score = np.zeros((n, m + ties + z.shape[1]))
    rows = np.arange(n)
    score[rows, a] = by_eta
    score[rows, b] = -by_eta
    if prior:
        score[:, :m] -= solution.theta / n
    if ties:
        score[:, m] = (verdict == 0) - tie
    score[:, m + ties :] = by_eta[:, None] * z
    fixed = solution.information.copy()
    fixed[:m, :m] += 1.0 / m
    u: Floats = np.linalg.solve(fixed, score.T).T.astype(np.float64, copy=False)
    u[:, :m] -= u[:, :m].mean(axis=1, keepdims=True)
    return u


# --- what follows from it


def preference(eta: Floats, nu: float) -> Floats:
    """P(a) + P(equal) / 2."""
    first, tie, _ = chances(eta, nu)
    return first + tie / 2


def _slopes(model: Model) -> tuple[Floats, Floats, Floats]:
    """Slopes of each pair [M, M]: the preference of the row over the column, and its derivatives in eta and in ln nu."""
    eta = model.theta[:, None] - model.theta[None, :]
    first, tie, second = chances(eta, model.nu)
    return first + tie / 2, (first + second - (first - second) ** 2) / 4, -(first - second) / 2 * tie


def implied(model: Model) -> Column:
    """People's column [M]: the mean over the others of how often an entry would be preferred, ties half."""
    m = len(model)
    p, by_eta, by_nu = _slopes(model)
    for table in (p, by_eta, by_nu):
        np.fill_diagonal(table, 0.0)
    value = p.sum(axis=1) / (m - 1)
    jacobian = np.diag(by_eta.sum(axis=1)) - by_eta
    u = model.u[:, :m] @ jacobian.T / (m - 1)
    if model.log_nu is not None:
        u += model.u[:, [model.log_nu]] * (by_nu.sum(axis=1) / (m - 1))
    return _column(model, value, u, two_way_intervals.share_interval)


def abilities(model: Model) -> Column:
    """theta [M] with its intervals."""
    return _column(model, model.theta, model.u[:, : len(model)], two_way_intervals.interval)


def _column(model: Model, value: Floats, u: Floats, ends: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]) -> Column:
    nothing = np.full(len(value), math.nan)
    if model.clusters.few:
        return Column(value, nothing, nothing, model.clusters.few)
    variance = model.clusters.variance(u)
    none = variance.total <= two_way_intervals.NO_VARIANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = ends(value, np.sqrt(variance.total), variance.df)
    return Column(value, np.where(none, math.nan, low), np.where(none, math.nan, high), two_way_intervals.ALIKE if none.all() else None)


def consistency(model: Model) -> dict[int, tuple[float, int]]:
    """Consistency of each rater, by number: how consistent with the panel, and the number of answers. 1 is like the panel, near 0 at
    random, and below 0 reversed; a normal prior with spread 1/2 draws it to 1. For organizers to see, never a weight."""
    answers = model.answers
    raters, place = np.unique(answers.rater, return_inverse=True)
    b = np.ones(len(raters))
    half = -answers.verdict / 2
    for _ in range(STEPS):
        first, _, second = chances(b[place] * model.eta, model.nu)
        slope = np.bincount(place, (half - (first - second) / 2) * model.eta, len(raters)) - (b - 1) / SPREAD**2
        bend = np.bincount(place, (first + second - (first - second) ** 2) / 4 * model.eta**2, len(raters)) + 1 / SPREAD**2
        step = np.clip(slope / bend, -1, 1)
        b = b + step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    counts = np.bincount(place, minlength=len(raters))
    return {int(rater): (float(value), int(n)) for rater, value, n in zip(raters, b, counts, strict=True)}


def share_of(value: float, nu: float) -> float:
    """Probability that the side of a coefficient is preferred between equals: (e^(v/2) + nu/2) / (e^(v/2) + e^(-v/2) + nu)."""
    return float(preference(np.array(value), nu))


def coefficient(model: Model, name: str) -> two_way_intervals.Figure:
    """The side or a covariate, with its interval."""
    at = model.column(name)
    value = model.gamma if name == SIDE else float(model.beta[model.covariates.index(name)])
    assert value is not None  # who asks for the side knows that it was fitted
    return two_way_intervals.figure(value, model.u[:, at], model.clusters, np.ones(len(model.answers)), share=False)


# --- how fragile is first place?


@dataclass(frozen=True)
class Fragile:
    """The fewest answers, raters and samples found whose removal makes another entry first: at most so many; None where no half
    of them does."""

    answers: int | None
    raters: int | None
    samples: int | None


EXACT = 60  # raters, or samples, up to which each is left out by itself


def fragile(model: Model, step: Callable[[], object] = lambda: None, among: Ints | None = None) -> Fragile:
    """Number of answers, raters and samples that first place hangs on. `among` are the places in the model of the entries that may be
    first; without it all may.

    The most influential answers against the first are left out until a refit has another first (Huang et al., 2508.11847)."""
    n = len(model.answers)
    among = np.arange(len(model)) if among is None else among
    answers = _fewest(model, among, np.arange(n), n, exact=False)
    step()
    raters = _fewest(model, among, model.clusters.rater, model.clusters.n_raters, exact=model.clusters.n_raters <= EXACT)
    step()
    samples = _fewest(model, among, model.clusters.sample, model.clusters.n_samples, exact=model.clusters.n_samples <= EXACT)
    return Fragile(answers, raters, samples)


def _fewest(model: Model, among: Ints, group: Ints, count: int, exact: bool) -> int | None:
    """The fewest of `count` groups of answers found whose removal makes another entry first; None where no half of them does. `group` is
    the number of each answer's group; where `exact`, each is first left out by itself."""
    first = int(among[np.argmax(model.theta[among])])

    def other_is_first(left_out: Sequence[int] | Ints) -> bool:
        remaining = ~np.isin(group, left_out)
        answers = model.answers.take(remaining)
        if not len(answers) or not (answers.verdict != 0).any():
            return False
        for refit in models(answers, {name: z[remaining] for name, z in model.asked.items()}):
            if model.entries[first] in refit.entries:
                theta = np.where(np.isin(refit.entries, model.entries[among]), refit.theta, -np.inf)
                return int(refit.entries[np.argmax(theta)]) != int(model.entries[first])
        return True  # it met nobody any more

    if exact and any(other_is_first([one]) for one in range(count)):
        return 1
    rivals = (_toward(model, first, rival, group, count) for rival in among.tolist() if rival != first)
    length, order = min((one for one in rivals if one is not None), key=lambda one: one[0], default=(count, group))
    while length <= count / 2 and not other_is_first(order[:length]):
        length += max(1, length // 8)
    if length > count / 2:
        return None
    low = 0  # does not do it; `length` does
    while length - low > 1:
        middle = (low + length) // 2
        low, length = (low, middle) if other_is_first(order[:middle]) else (middle, length)
    return length


def _toward(model: Model, first: int, rival: int, group: Ints, count: int) -> tuple[int, Ints] | None:
    """The groups of answers, those that favour the first over the rival most before the others, and how many of them make up the gap of
    the two; None where they do not."""
    gap = float(model.theta[first] - model.theta[rival])
    toward = np.bincount(group, model.u[:, first] - model.u[:, rival], count)
    order = np.argsort(-toward, kind="stable")
    needed = int(np.searchsorted(np.cumsum(np.maximum(toward[order], 0.0)), gap, "right")) + 1
    return (needed, order) if needed <= count and toward[order[needed - 1]] > 0 else None
