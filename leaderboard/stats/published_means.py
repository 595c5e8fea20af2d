"""The analysis of published means: the form of a study's, with what only single answers can tell left empty."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from leaderboard.stats import correlation
from leaderboard.stats.agreement import Agreement, ThreeWay
from leaderboard.stats.correlation import Order
from leaderboard.stats.mos_table import USUAL, Scale
from leaderboard.stats.preference import RESAMPLES
from leaderboard.stats.records import Entry, Metric, RatersFound, Soft, StudySummary
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.study import MetricScores, best_first
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.stats.votes import VERSION, Floats, finite

ONLY_MEANS = Reason(Key.ONLY_MEANS)


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
    scale: Scale = USUAL


def analyse_means(means: Means, metrics: Sequence[MetricScores], left_out: Collection[str]) -> StudySummary:
    """The same of published means, which say little of metrics: how alike the two orders of entries are. Of `metrics` only `of_methods`
    counts."""
    scales = [
        Entry(
            method=name,
            mos=(finite(means.mean[n]), finite(means.low[n]), finite(means.high[n])),
            n=None if np.isnan(means.n[n]) else int(means.n[n]),
            normalised=finite((means.mean[n] - means.scale[0]) / (means.scale[1] - means.scale[0])),
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
            order=correlation.correlation(
                np.where(takes_part, metric.of_methods, math.nan), means.mean, metric.higher_is_better, RESAMPLES
            ),
            scenes_mean=Order(None, None, None, 0),
        )
        rows.append(metric.named(row))
    return StudySummary(
        answers=0,
        decided_answers=0,
        raters_counted=0,
        samples_counted=0,
        reason=ONLY_MEANS,
        metrics=rows,
        scales=sorted(scales, key=best_first),
        ceiling=None,
        model=None,
        models=[],
        fragile=None,
        metric_pairs=[],
        entry_pairs=[],
        enough=None,
        first_place=None,
        forecast=None,
        version=VERSION,
        kind="opinions",
        scale=means.scale,
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
