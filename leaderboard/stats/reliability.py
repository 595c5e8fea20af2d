"""Agreement of raters: people with people, with metrics, with judges; and how reliable each is.

A rater is whoever answers questions: a row of verdicts float64[Q] over the questions (a pair of one sample), -1, 0
or +1 as in `votes`, NaN where there is none. A metric answers by the sign of its difference, see `metric_verdicts`.
Two verdicts agree by 1 - |v - u| / 2: fully if equal, half if exactly one is a tie, not at all if opposite.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats.answers import Answers
from leaderboard.stats.minimums import ANSWERS_FOR_RATER
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.preference import LEVEL, RESAMPLES, interval
from leaderboard.stats.votes import Floats, Ints, Votes

MAX_CLUSTERS = 5
SEPARATE = 0.1  # mean silhouette below which raters are one cluster
Z = 1.959963984540054  # of a 95 % interval
BLOCK = 100  # resamples at once


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions asked: `sample`, `a`, `b` int64[Q] index the votes' names; `verdicts` float64[K, Q] are the raters' answers."""

    sample: Ints
    a: Ints
    b: Ints
    verdicts: Floats


@dataclass(frozen=True, eq=False)
class Agreement:
    """float64[K, K] each: mean agreement, agreement where both are decisive, and the questions in common.

    NaN where two raters have no (decisive) question in common.
    """

    all: Floats
    decisive: Floats
    common: Floats


@dataclass(frozen=True, eq=False)
class Clusters:
    """`label` int64[K] from 0; `order` int64[K] shows the raters side by side as the tree joins them; the mean silhouette."""

    label: Ints
    order: Ints
    silhouette: float


@dataclass(frozen=True)
class Share:
    """A mean with its 95 % bootstrap interval over `n` cases; None without any, and no interval where all are of one question:
    resampling gives that one again, which is no certainty."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def questions(counted: Votes | Answers) -> Questions:
    """The questions of votes that count, in the order of their numbers, and what each rater answered."""
    asked, first, place = np.unique(counted.question, return_index=True, return_inverse=True)
    verdicts = np.full((len(counted.raters), len(asked)), math.nan)
    verdicts[counted.rater, place] = counted.verdict
    return Questions(counted.sample[first], counted.a[first], counted.b[first], verdicts)


def metric_verdicts(asked: Questions, values: Floats, higher_is_better: bool, tie: float = 0.0) -> Floats:
    """A metric's answers float64[Q] from its values float64[samples, M]: NaN where a value is missing.

    A difference of at most `tie`, in the metric's unit, is a tie.
    """
    difference = values[asked.sample, asked.b] - values[asked.sample, asked.a]
    verdicts = np.where(np.abs(difference) <= tie, 0.0, np.sign(difference))
    return np.where(np.isnan(difference), math.nan, verdicts if higher_is_better else -verdicts)


def agreement(verdicts: Floats, others: Floats | None = None) -> Agreement:
    """Agreement of each row of verdicts [K, Q] with each of `others` [L, Q] (themselves without any)."""
    rows, columns = _indicators(verdicts), _indicators(verdicts if others is None else others)
    common = rows["any"] @ columns["any"].T
    same = sum(rows[kind] @ columns[kind].T for kind in ("a", "tie", "b"))
    opposite = rows["a"] @ columns["b"].T + rows["b"] @ columns["a"].T
    decided = rows["decisive"] @ columns["decisive"].T
    equal = rows["a"] @ columns["a"].T + rows["b"] @ columns["b"].T
    half = common - same - opposite  # exactly one of the two is a tie
    return Agreement(_over(same + half / 2, common), _over(equal, decided), common)


def with_people(verdict: Floats, people: Floats, decisive: bool = False, resamples: int = RESAMPLES, seed: int = 0) -> Share:
    """Agreement of one row of verdicts [Q] with people's [K, Q]: the mean over all answers of theirs it has one for.

    The interval resamples questions, which is what another study would draw again.
    """
    agreed = 1 - np.abs(people - verdict[None, :]) / 2
    if decisive:
        agreed = np.where((people == 0) | (verdict == 0)[None, :], math.nan, agreed)
    total, count = np.nansum(agreed, axis=0), (~np.isnan(agreed)).sum(axis=0).astype(float)
    return _share(total, count, resamples, seed)


def people_prefer(people: Floats) -> Floats:
    """The share of raters who prefer the first of each pair, ties counting half: float64[Q] of verdicts [K, Q], NaN without any."""
    answers = (~np.isnan(people)).sum(axis=0)
    return np.divide(np.nansum((1 - people) / 2, axis=0), answers, out=np.full(people.shape[1], math.nan), where=answers > 0)


@dataclass(frozen=True)
class Probability:
    """Nearness of the preferences p and q of two kinds of raters over `n` pairs. `agreement` is the mean probability that an answer of each
    is the same, p q + (1 - p)(1 - q). `l1` is twice the mean of |p - q|; lower is nearer."""

    agreement: float | None
    l1: float | None
    n: int


def probability(p: Floats, q: Floats) -> Probability:
    """Nearness over the pairs [Q] for which both have a preference in [0, 1]."""
    both = ~(np.isnan(p) | np.isnan(q))
    p, q = p[both], q[both]
    if not len(p):
        return Probability(None, None, 0)
    return Probability(float((p * q + (1 - p) * (1 - q)).mean()), float(2 * np.abs(p - q).mean()), len(p))


def between_people(people: Floats, decisive: bool = False, resamples: int = RESAMPLES, seed: int = 0) -> Share:
    """Agreement of two different raters of the same question, over all such pairs of answers; questions are resampled."""
    rows = _indicators(people)
    a, tie, b = (rows[kind].sum(axis=0) for kind in ("a", "tie", "b"))
    if decisive:
        tie = np.zeros_like(tie)
    n = a + tie + b
    count = n * (n - 1) / 2
    same = sum(each * (each - 1) / 2 for each in (a, tie, b))
    return _share(same + tie * (a + b) / 2, count, resamples, seed)


def clusters(agree: Floats, most: int = MAX_CLUSTERS) -> Clusters:
    """Average-linkage clusters of raters on 1 - agreement [K, K], cut where the mean silhouette is largest.

    Cells without a common question take the mean of the others. One cluster where no cut has a silhouette of at least 0.1.
    """
    k = len(agree)
    if k < 3:
        return Clusters(np.zeros(k, dtype=np.int64), np.arange(k), 0.0)
    off = ~np.eye(k, dtype=bool)
    filled = np.where(np.isnan(agree), np.nanmean(agree[off]) if (~np.isnan(agree[off])).any() else 0.0, agree)
    apart = 1 - (filled + filled.T) / 2
    np.fill_diagonal(apart, 0.0)
    tree = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(apart, checks=False), "average")
    best, label = SEPARATE, np.zeros(k, dtype=np.int64)
    gap = 0.0
    for count in range(2, min(most, k - 1) + 1):
        cut = scipy.cluster.hierarchy.fcluster(tree, count, "maxclust") - 1
        width = silhouette(apart, cut)
        if width >= best and width > gap:
            best, gap, label = width, width, cut.astype(np.int64)
    # Numbered by size, the largest first; of equal ones the one that appears first.
    names, first, counts = np.unique(label, return_index=True, return_counts=True)
    place = {int(names[old]): new for new, old in enumerate(np.lexsort((first, -counts)).tolist())}
    numbered = np.array([place[int(name)] for name in label], dtype=np.int64)
    return Clusters(numbered, scipy.cluster.hierarchy.leaves_list(tree).astype(np.int64), gap)


def silhouette(apart: Floats, label: NDArray[np.integer]) -> float:
    """The mean of (b - a) / max(a, b): a is the mean distance to one's own cluster, b to the nearest other; 0 for singletons."""
    widths = []
    for i, own in enumerate(label):
        mates = (label == own) & (np.arange(len(label)) != i)
        others = [float(apart[i, label == other].mean()) for other in np.unique(label) if other != own]
        if not mates.any() or not others:
            widths.append(0.0)
            continue
        a, b = float(apart[i, mates].mean()), min(others)
        widths.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return float(np.mean(widths))


# --- reliability


def self_consistency(votes: Votes) -> tuple[dict[str, tuple[float, float, int]], Share]:
    """Consistency of each rater (share of repeats answered exactly alike, mean agreement with oneself, repeats), and over all of them.

    A repeat is compared with the rater's first answer to the same question; turned sides are undone before.
    """
    first = votes.first
    known = {(int(r), int(q)): int(v) for r, q, v in zip(votes.rater[first], votes.question[first], votes.verdict[first], strict=True)}
    rows: dict[str, list[int]] = {}
    for n in np.flatnonzero(votes.repeat):
        before = known.get((int(votes.rater[n]), int(votes.question[n])))
        if before is not None:
            rows.setdefault(votes.raters[votes.rater[n]], []).append(abs(int(votes.verdict[n]) - before))
    each = {name: (gaps.count(0) / len(gaps), 1 - sum(gaps) / 2 / len(gaps), len(gaps)) for name, gaps in rows.items()}
    exact = np.array([gap == 0 for gaps in rows.values() for gap in gaps], dtype=float)
    return each, _share(exact, np.ones(len(exact)))


def gold_correctness(votes: Votes, gold: Collection[tuple[str, str]]) -> tuple[dict[str, tuple[float, int]], Share]:
    """Correctness of each rater (share correct, n) on pairs (better, worse) of known order, and over all; "equal" counts as wrong."""
    index = {name: n for n, name in enumerate(votes.methods)}
    wanted = {
        (min(index[better], index[worse]), max(index[better], index[worse])): -1 if index[better] < index[worse] else 1
        for better, worse in gold
        if better in index and worse in index
    }
    rows: dict[str, list[float]] = {}
    counted = votes.take(votes.first)
    for rater, a, b, verdict in zip(counted.rater, counted.a, counted.b, counted.verdict, strict=True):
        if (int(a), int(b)) in wanted:
            rows.setdefault(votes.raters[rater], []).append(float(verdict == wanted[int(a), int(b)]))
    right = np.array([value for values in rows.values() for value in values])
    return {name: (sum(values) / len(values), len(values)) for name, values in rows.items()}, _share(right, np.ones(len(right)))


def lapse_rates(votes: Votes, gold: Collection[tuple[str, str]]) -> dict[str, Share]:
    """Share of each rater's checked answers that disagreed with the check: their own first answer where a question was asked again, and the
    known order of a pair. Of raters who were checked at all; one by one, so with Wilson's interval and no value of few checks."""
    again, _ = self_consistency(votes)
    known, _ = gold_correctness(votes, gold)
    wrong: dict[str, list[int]] = {}
    for name, (same, _, n) in again.items():
        wrong.setdefault(name, []).extend((n - round(same * n), n))
    for name, (right, n) in known.items():
        wrong.setdefault(name, []).extend((n - round(right * n), n))
    return {name: of_one(sum(counts[::2]), sum(counts[1::2])) for name, counts in wrong.items()}


def left_shares(votes: Votes) -> dict[str, Share]:
    """The share of each rater's decisive answers that chose the left side, repeats and gold included; as `lapse_rates`."""
    left = votes.verdict * votes.side < 0  # a verdict of -1 prefers the first, which stands left where side is +1
    found = {}
    for k, name in enumerate(votes.raters):
        own = (votes.rater == k) & (votes.verdict != 0)
        if own.any():
            found[name] = of_one(int(left[own].sum()), int(own.sum()))
    return found


def of_one(times: int, n: int) -> Share:
    """A share of one rater's answers with Wilson's 95 % interval; no value below ANSWERS_FOR_RATER of them."""
    if n < ANSWERS_FOR_RATER:
        return Share(None, None, None, n)
    share, z2 = times / n, Z * Z
    middle, half = share + z2 / (2 * n), Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At the ends the interval reaches 0 or 1 itself, which floating point misses.
    low, high = 0.0 if times == 0 else (middle - half) / (1 + z2 / n), 1.0 if times == n else (middle + half) / (1 + z2 / n)
    return Share(share, low, high, n)


def seconds_per_answer(votes: Votes | Ratings) -> dict[str, float]:
    """The median time of each rater, for those whose times are known."""
    medians = {}
    for k, name in enumerate(votes.raters):
        own = votes.seconds[(votes.rater == k) & ~np.isnan(votes.seconds)]
        if len(own):
            medians[name] = float(np.median(own))
    return medians


def leave_one_out(people: Floats) -> Floats:
    """float64[K]: each rater's mean agreement with the others, NaN without a common question: low ones want a look."""
    agree = agreement(people).all.copy()
    np.fill_diagonal(agree, math.nan)
    some = np.asarray(~np.isnan(agree).all(axis=1))
    return np.where(some, np.nanmean(np.where(some[:, None], agree, 0.0), axis=1), math.nan)


def krippendorff_alpha(people: Floats) -> float | None:
    """Krippendorff's alpha for three nominal choices: 1 - observed / expected disagreement; None where it is undefined.

    Questions with one answer say nothing and are left out.
    """
    counts = np.stack([(people == kind).sum(axis=0) for kind in (-1, 0, 1)]).astype(float)
    n = counts.sum(axis=0)
    counts, n = counts[:, n > 1], n[n > 1]
    total = n.sum()
    if total < 2:
        return None
    observed = ((n**2 - (counts**2).sum(axis=0)) / (n - 1)).sum() / total
    sums = counts.sum(axis=1)
    expected = (total**2 - (sums**2).sum()) / (total * (total - 1))
    return float(1 - observed / expected) if expected > 0 else None


def panel_error(n: int, p: float) -> float:
    """P(the majority of n independent raters is wrong), each right with probability p; half of a draw counts."""
    wrong = float(scipy.stats.binom.cdf(math.ceil(n / 2) - 1, n, p))
    return wrong + (0.5 * float(scipy.stats.binom.pmf(n // 2, n, p)) if n % 2 == 0 else 0.0)


# --- inside


def _indicators(verdicts: Floats) -> dict[str, Floats]:
    found = {"a": verdicts < 0, "tie": verdicts == 0, "b": verdicts > 0}
    found |= {"any": ~np.isnan(verdicts), "decisive": found["a"] | found["b"]}
    return {kind: rows.astype(np.float64) for kind, rows in found.items()}


def _over(points: Floats, count: Floats) -> Floats:
    return np.divide(points, count, out=np.full_like(points, math.nan), where=count > 0)


def _share(total: Floats, count: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Share:
    """sum(total) / sum(count), with the interval of resampled entries; those without a count take no part. What is drawn does not hang on
    the order in which they come."""
    total, count = total[count > 0], count[count > 0]
    order = np.lexsort((total, count))
    total, count = total[order], count[order]
    n = round(float(count.sum()))
    if not n:
        return Share(None, None, None, 0)
    if len(total) == 1:
        return Share(float(total[0] / count[0]), None, None, n)
    drawn = _resampled(len(total), resamples, seed)
    ratios = np.concatenate([(block @ total) / (block @ count) for block in _blocks(drawn)])
    low, high = interval(ratios, LEVEL)
    return Share(float(total.sum() / count.sum()), float(low), float(high), n)


@lru_cache(maxsize=2)
def _resampled(n: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """Number of times that each of n entries is drawn in each resample [resamples, n]. Most metrics of a study answer the same questions,
    so that one drawing serves them all; it is kept in a byte each, because none is drawn 256 times."""
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(n, np.full(n, 1 / n), size=min(BLOCK, resamples - at)) for at in range(0, resamples, BLOCK)]
    return np.concatenate([block.astype(np.uint8) for block in rows])


def _blocks(drawn: NDArray[np.uint8]) -> Iterator[Floats]:
    return (drawn[at : at + BLOCK].astype(np.float64) for at in range(0, len(drawn), BLOCK))
