"""Everything that is computed of a study of opinion scores: what they say as answers, mean opinions, correlations of metrics with them,
reliability.

A study whose raters are not known (published means) has the same form, with what only raters can tell left empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leaderboard.stats import correlation, judges, labels, opinions
from leaderboard.stats.agreement import Agreement, ThreeWay
from leaderboard.stats.answers import of_opinions
from leaderboard.stats.correlation import Order
from leaderboard.stats.crossed import Figure
from leaderboard.stats.judges import JudgeAnswers
from leaderboard.stats.mos_table import LOWEST, Ratings
from leaderboard.stats.people import ONLY_DAMAGED, Opinions, by_group, people
from leaderboard.stats.preference import RESAMPLES
from leaderboard.stats.records import (
    REFERENCE_TITLES,
    Entries,
    Entry,
    Judge,
    Metric,
    RatersFound,
    Reliability,
    Soft,
    StudySummary,
    Unscreened,
    UnscreenedMetric,
    UnscreenedScale,
)
from leaderboard.stats.reliability import Share
from leaderboard.stats.states import Key, Reason, State, too_few
from leaderboard.stats.study import MetricScores
from leaderboard.stats.votes import VERSION, Floats, finite

ONLY_MEANS = Reason(Key.ONLY_MEANS)

# Rules by which raters may be left out, one at a time, fixed before a study opens.
SCREENS: dict[str, Callable[[Ratings], list[int]]] = {
    "others": lambda ratings: correlation.screened(ratings.by_rater()),
    "bt500": lambda ratings: opinions.screened_by_spread(ratings.by_rater()),
    "inconsistency": lambda ratings: opinions.screened_by_inconsistency(opinions.likelihood(ratings)),
}


@dataclass(frozen=True, eq=False)
class Means:
    """Mean opinions of each method that were published without the scores behind them: float64[M] each, NaN where not known.

    `low` and `high` are the ends of 95 % intervals, `n` how many scores a mean is of. `raters` is how many people scored, where known.
    """

    methods: tuple[str, ...]
    mean: Floats
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    n: Floats = field(repr=False)
    raters: int | None = None


def analyse(
    ratings: Ratings,
    metrics: Sequence[MetricScores] = (),
    screen: bool | str = False,
    left_out: Collection[str] = (),
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
    models: Sequence[JudgeAnswers] = (),
    out_by_rule: Collection[str] | None = None,
    *,
    damaged: Collection[str] | None = None,
    size: Floats | None = None,
    reference_size: Floats | None = None,
) -> StudySummary:
    """The summary of the scores on one criterion; `step` is called every few seconds of it. `models` are judges that compared
    the methods.

    `metrics` hold values float64[samples, methods] in the order of the ratings'. `screen` names one of SCREENS, the first
    of them where it is True, by which raters are left out; `out_by_rule` names them where the study's own rules have, and `screen`
    then says nothing. Methods `left_out` keep their means and take no part in correlations. `damaged`, `size` and `reference_size` as in
    `study` and `people`.
    """
    if out_by_rule is not None:
        screen, out = True, [k for k, name in enumerate(ratings.raters) if name in out_by_rule]
    else:
        out = SCREENS["others" if screen is True else screen](ratings) if screen else []
    counted = ratings.take(~np.isin(ratings.rater, out))

    # What the scores say as answers, of the entries and of all that was scored.
    scored, table, entries = [metric.scored for metric in metrics], Opinions.of(counted), labels.undamaged(ratings.methods, damaged)

    def summarised(among: Collection[str] | None) -> Entries:
        duels, scored_here = of_opinions(counted, among), {ratings.methods[n] for n in counted.method.tolist()}
        compared = len(of_opinions(counted)) > 0 or not scored_here & set(ratings.methods if among is None else among)
        unanswered = Reason(Key.NO_COMPARISONS)
        if compared:
            unanswered = Reason(Key.NONE_COUNTS) if scored_here & set(left_out) else ONLY_DAMAGED
        if not len(counted):
            unanswered = Reason(Key.ALL_SCREENED)
        return people(
            duels, scored, seed, opinions=table, size=size, reference_size=reference_size, unanswered=unanswered, step=step
        ).entries

    figures, every = summarised(entries), None
    if damaged is not None:
        every = figures if set(entries or ()) >= set(ratings.methods) else summarised(None)

    takes_part = np.array([name not in left_out for name in counted.methods], dtype=bool)
    parts = {"": counted} | {
        name: counted.take(np.array([counted.groups[k] == name for k in counted.rater], dtype=bool))
        for name in sorted(set(counted.groups))
        if name
    }
    means, groups = (
        {name: _by_scene(part) for name, part in parts.items()},
        {name: of_opinions(part, entries) for name, part in parts.items() if name},
    )
    measured = {metric.key: metric for metric in metrics}

    def orders(metric: MetricScores) -> tuple[Order, dict[str, Order], Order]:
        """Likeness of its order to that of the means: over the methods, within each sample, and the mean of these."""
        scenes = {
            name: (np.where(takes_part, metric.values[n], math.nan), np.where(takes_part, means[""][n], math.nan))
            for n, name in enumerate(counted.samples)
        }
        each, mean = correlation.by_scene(scenes, metric.higher_is_better, RESAMPLES, seed)
        return _order(metric, means[""][-1], takes_part, seed), each, mean

    def whole(row: Metric) -> Metric:
        if row.reference_point:  # a guard is no metric of the study, whatever a metric is called
            return replace(row, title=REFERENCE_TITLES[row.key])
        step()
        metric = measured[row.key]
        order, each, mean = orders(metric)
        return replace(_named(row, metric), groups=by_group(groups, metric.scored), order=order, scenes=each, scenes_mean=mean)

    def judge(one: JudgeAnswers) -> Judge:
        """By its Elo over the methods and its win rates within each sample; one that is for display only has no scores."""
        found = Judge(key=one.key, display_only=one.display_only, left_share=judges.left_share(one.judged), facts=dict(one.facts))
        if one.display_only:
            return found
        values = judges.win_rates(one.judged, counted.samples, counted.methods)
        scores = MetricScores(one.key, values, overall=judges.elos(one.judged, counted.methods))
        order, each, mean = orders(scores)
        undamaged = takes_part & ~np.isin(np.array(counted.methods, dtype=object).astype(str), list(damaged or ()))
        rho = correlation.correlations(np.where(undamaged, scores.of_methods, math.nan), means[""][-1])["rho"]
        by_part: dict[str, Share | Order] = {name: _order(scores, part[-1], takes_part, seed) for name, part in means.items() if name}
        return replace(found, rho=rho, order=order, groups=by_part, scenes=each, scenes_mean=mean)

    # Entry by entry, over all and sample by sample.
    likelihood = opinions.likelihood(counted)
    unshown = opinions.unshown(counted, likelihood)
    scales = []
    for n, method in enumerate(counted.methods):
        own, figure = counted.method == n, opinions.mean_opinion(counted, n)
        by_sample = [(name, own & (counted.sample == at)) for at, name in enumerate(counted.samples)]
        scenes = {name: correlation.mean_opinion(counted.score[here]) for name, here in by_sample if here.any()}
        line = Entry(
            method=method,
            answers=figure.n,
            mos=figure.ends,
            mos_mle_reason=unshown,
            state=figure.state,
            reason=figure.reason,
            raters=figure.raters,
            n=0,
            scenes=scenes if len(counted.samples) > 1 else {},
        )
        if own.any():  # else all its raters were screened
            opinion = correlation.mean_opinion(counted.score[own])
            line = replace(line, sd=opinion.sd, n=opinion.n, normalised=(opinion.mean - LOWEST) / 4)
        if unshown is None:
            better = opinions.likelihood_of(counted, likelihood, n)
            line = replace(line, mos_mle=better.ends, mos_mle_reason=better.reason)
        scales.append(line)
    scales.sort(key=_best_first)
    if every is not None:
        every = replace(every, scales=[replace(line, scenes={}) for line in scales])
        scales.sort(key=lambda line: line.method in (damaged or ()))  # none of them heads a table

    # Rater by rater: how many scores, how high, how long, and how far they go with the mean of the others'.
    by_rater = ratings.by_rater()
    raters = []
    for k, name in enumerate(ratings.raters):
        own = ratings.rater == k
        others = np.delete(by_rater, k, axis=0)
        seen = ~np.isnan(by_rater[k]) & (~np.isnan(others)).any(axis=0)
        known = ratings.seconds[own & ~np.isnan(ratings.seconds)]
        rater = Reliability(
            rater=name,
            group=ratings.groups[k],
            ratings=int(own.sum()),
            agreement=correlation.correlation(by_rater[k, seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None,
            seconds=float(np.median(known)) if len(known) else None,
            mean=float(ratings.score[own].mean()),
            screened=k in out,
            bias=finite(likelihood.bias[k]),
            inconsistency=finite(likelihood.inconsistency[k]),
        )
        raters.append(rater)
    like = [row.agreement for row in raters if row.agreement is not None]
    return StudySummary(
        **vars(replace(figures, metrics=[whole(row) for row in figures.metrics], scales=scales)),
        version=VERSION,
        kind="opinions",
        of="ratings",
        ratings=len(ratings),
        counted=len(counted),
        raters=list(ratings.raters),
        n_raters=len(ratings.raters),
        groups=list(ratings.groups),
        samples=list(ratings.samples),
        methods=list(ratings.methods),
        left_out=sorted(set(left_out) & set(ratings.methods)),
        screening=screen,
        screened=[ratings.raters[k] for k in out],
        like_others=float(np.mean(like)) if like else None,
        reliability=RatersFound(raters),
        judges=[judge(one) for one in models],
        all=every,
    )


def analyse_means(means: Means, metrics: Sequence[MetricScores] = (), left_out: Collection[str] = (), seed: int = 0) -> StudySummary:
    """The same of published means, which say little of metrics: how alike the two orders of entries are. Of `metrics` only `of_methods`
    counts."""
    scales = [
        Entry(
            method=name,
            mos=(finite(means.mean[n]), finite(means.low[n]), finite(means.high[n])),
            n=None if np.isnan(means.n[n]) else int(means.n[n]),
            normalised=finite((means.mean[n] - LOWEST) / 4),
            state=State.NO_INTERVAL if np.isnan(means.low[n]) else State.KNOWN,
        )
        for n, name in enumerate(means.methods)
    ]
    takes_part = np.array([name not in left_out for name in means.methods], dtype=bool)
    opinion, nothing, rows = np.where(takes_part, means.mean, np.nan), Figure.lacking(ONLY_MEANS), []
    for metric in sorted(metrics, key=lambda one: one.key):
        order = correlation.correlations(metric.scored.of_entries, opinion)
        row = Metric(
            key=metric.key,
            trained=metric.trained,
            decided=Agreement.lacking(ONLY_MEANS),
            auc_better_worse=nothing,
            auc_different_similar=nothing,
            acc_eq=ThreeWay.lacking(ONLY_MEANS),
            spa=Soft(None, ONLY_MEANS),
            rho=order["rho"],
            tau=order["tau"],
            r=order["r"],
            above_size=None,
            contradictions=[],
            order=_order(metric, means.mean, takes_part, seed),
            scenes_mean=Order(None, None, None, 0),
        )
        rows.append(_named(row, metric))
    return StudySummary(
        answers=0,
        decided_answers=0,
        raters_counted=0,
        samples_counted=0,
        reason=ONLY_MEANS,
        metrics=rows,
        scales=sorted(scales, key=_best_first),
        ceiling=None,
        model=None,
        models=[],
        fragile=None,
        metric_pairs=[],
        duels=[],
        enough=None,
        first_place=None,
        forecast=None,
        version=VERSION,
        kind="opinions",
        of="means",
        counted=0,
        raters=[],
        n_raters=means.raters,
        groups=[],
        samples=[],
        methods=list(means.methods),
        left_out=sorted(set(left_out) & set(means.methods)),
        reliability=RatersFound([]),
    )


def unscreened(
    ratings: Ratings, metrics: Sequence[MetricScores], damaged: Collection[str], step: Callable[[], None] = lambda: None
) -> Unscreened:
    """As in `study`, of everybody's scores."""
    duels, scored = of_opinions(ratings, labels.undamaged(ratings.methods, damaged)), [metric.scored for metric in metrics]
    figures = people(duels, scored, 0, False, opinions=Opinions.of(ratings), step=step).entries
    scales = [UnscreenedScale(name, opinions.mean_opinion(ratings, n).ends) for n, name in enumerate(ratings.methods)]
    agreed = [UnscreenedMetric(row.key, row.decided.brief) for row in figures.metrics]
    return Unscreened(len(set(ratings.rater.tolist())), scales, agreed)


def _best_first(row: Entry) -> tuple[bool, float, str]:
    mean = row.mos[0]
    return too_few(row.reason), math.inf if mean is None else -mean, row.method  # who was scored too seldom heads no table


def _named(row: Metric, metric: MetricScores) -> Metric:
    """The row with what is known of the metric itself."""
    return replace(
        row,
        metric=metric.metric,
        title=metric.title,
        fingerprint=metric.fingerprint,
        higher_is_better=metric.higher_is_better,
        tie=metric.tie,
        values=[finite(value) for value in metric.of_methods],
    )


def _by_scene(part: Ratings) -> Floats:
    """Mean scores float64[S + 1, M], the last row over all samples; NaN where nobody scored."""
    s, m = len(part.samples), len(part.methods)
    total, count = np.zeros((s + 1, m)), np.zeros((s + 1, m))
    for row in (part.sample, np.full(len(part), s)):
        np.add.at(total, (row, part.method), part.score)
        np.add.at(count, (row, part.method), 1.0)
    return np.divide(total, count, out=np.full_like(total, math.nan), where=count > 0)


def _order(metric: MetricScores, opinion: Floats, takes_part: np.ndarray, seed: int) -> Order:
    values = np.where(takes_part, metric.of_methods, math.nan)
    return correlation.correlation(values, opinion, metric.higher_is_better, RESAMPLES, seed)
