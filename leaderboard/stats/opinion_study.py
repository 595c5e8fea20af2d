"""Everything that is computed of a study of opinion scores: mean opinions, correlations of metrics with them, reliability.

The result is plain JSON values, as that of `study`. A study whose raters are not known (published means) has the same
form, with what only raters can tell left empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from leaderboard.stats import correlation, judges, opinions
from leaderboard.stats.judges import Judge
from leaderboard.stats.mos_table import LOWEST, Ratings
from leaderboard.stats.preference import RESAMPLES
from leaderboard.stats.study import MetricScores, plain
from leaderboard.stats.votes import VERSION, Floats

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
    models: Sequence[Judge] = (),
    out_by_rule: Collection[str] | None = None,
) -> dict[str, Any]:
    """The analysis of the scores on one criterion; `step` is called every few seconds of it. `models` are judges that compared
    the methods.

    `metrics` hold values float64[samples, methods] in the order of the ratings'. `screen` names one of SCREENS, the first
    of them where it is True, by which raters are left out; `out_by_rule` names them where the study's own rules have, and `screen`
    then says nothing. Methods `left_out` keep their means and take no part in correlations.
    """
    if out_by_rule is not None:
        screen, out = True, [k for k, name in enumerate(ratings.raters) if name in out_by_rule]
    else:
        out = SCREENS["others" if screen is True else screen](ratings) if screen else []
    counted = ratings.take(~np.isin(ratings.rater, out))
    scales = []
    for n, method in enumerate(counted.methods):  # over all, and sample by sample
        own = counted.method == n
        by_sample = [(name, own & (counted.sample == at)) for at, name in enumerate(counted.samples)]
        scenes = {name: asdict(correlation.mean_opinion(counted.score[here])) for name, here in by_sample if here.any()}
        line: dict[str, Any] = {"method": method, "scenes": scenes if len(counted.samples) > 1 else {}}
        if own.any():
            opinion = correlation.mean_opinion(counted.score[own])
            line |= {"mos": [opinion.mean, opinion.low, opinion.high], "sd": opinion.sd, "n": opinion.n}
            scales.append(line | {"normalised": (opinion.mean - LOWEST) / 4})
        else:  # all its raters were screened
            scales.append(line | {"mos": [math.nan] * 3, "sd": None, "n": 0, "normalised": None})
    analysis = _head("ratings", ratings.methods, scales) | {
        "ratings": len(ratings),
        "counted": len(counted),
        "raters": list(ratings.raters),
        "groups": list(ratings.groups),
        "n_raters": len(ratings.raters),
        "samples": list(ratings.samples),
        "screening": screen,
        "screened": [ratings.raters[k] for k in out],
        "left_out": sorted(set(left_out) & set(ratings.methods)),
    }
    takes_part = np.array([name not in left_out for name in counted.methods], dtype=bool)
    parts = {"": counted} | {
        name: counted.take(np.array([counted.groups[k] == name for k in counted.rater], dtype=bool))
        for name in sorted(set(counted.groups))
        if name
    }
    means = {name: _by_scene(part) for name, part in parts.items()}
    analysis["metrics"] = []
    for metric in metrics:
        step()
        analysis["metrics"].append(_metric(counted, metric, means, takes_part, seed))
    step()
    # Judges by their Elo over the methods and their win rates within each sample; one that is for display only has no scores.
    analysis["judges"] = []
    for one in models:
        left = judges.left_share(one.judged)
        row: dict[str, Any] = {"key": one.key, "order": None, "groups": {}}
        if not one.display_only:
            values = judges.win_rates(one.judged, counted.samples, counted.methods)
            scores = MetricScores(one.key, values, overall=judges.elos(one.judged, counted.methods))
            row = _metric(counted, scores, means, takes_part, seed)
        facts = {"display_only": one.display_only, "left_share": asdict(left) if left else None, "facts": dict(one.facts)}
        analysis["judges"].append(row | facts)

    # Rater by rater: how many scores, how high, how long, and how far they go with the mean of the others'.
    table = ratings.by_rater()
    raters: list[dict[str, Any]] = []
    for k, name in enumerate(ratings.raters):
        own = ratings.rater == k
        others = np.delete(table, k, axis=0)
        seen = ~np.isnan(table[k]) & (~np.isnan(others)).any(axis=0)
        known = ratings.seconds[own & ~np.isnan(ratings.seconds)]
        raters.append(
            {
                "rater": name,
                "group": ratings.groups[k],
                "ratings": int(own.sum()),
                "mean": float(ratings.score[own].mean()),
                "agreement": correlation.correlation(table[k, seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None,
                "seconds": float(np.median(known)) if len(known) else None,
                "screened": k in out,
            }
        )
    analysis["reliability"] = {"raters": raters}
    like = [row["agreement"] for row in raters if row["agreement"] is not None]
    analysis["like_others"] = float(np.mean(like)) if like else None
    return plain(analysis)


def analyse_means(means: Means, metrics: Sequence[MetricScores] = (), left_out: Collection[str] = (), seed: int = 0) -> dict[str, Any]:
    """The same of published means; of `metrics` only `of_methods` counts."""
    scales: list[dict[str, Any]] = [
        {
            "method": name,
            "mos": [float(means.mean[n]), float(means.low[n]), float(means.high[n])],
            "sd": None,
            "n": None if np.isnan(means.n[n]) else int(means.n[n]),
            "normalised": (float(means.mean[n]) - LOWEST) / 4,
            "scenes": {},
        }
        for n, name in enumerate(means.methods)
    ]
    analysis = _head("means", means.methods, scales) | {
        "ratings": 0,
        "counted": 0,
        "raters": [],
        "groups": [],
        "n_raters": means.raters,
        "samples": [],
        "screening": False,
        "screened": [],
        "left_out": sorted(set(left_out) & set(means.methods)),
        "reliability": {"raters": []},
        "like_others": None,
    }
    takes_part = np.array([name not in left_out for name in means.methods], dtype=bool)
    analysis["metrics"] = [
        {
            "key": metric.key,
            "higher_is_better": metric.higher_is_better,
            "tie": metric.tie,
            "trained": metric.trained,
            "values": metric.of_methods,
            "order": _order(metric.of_methods, means.mean, takes_part, metric.higher_is_better, seed),
            "groups": {},
            "scenes": {},
            "scenes_mean": asdict(correlation.Correlation(None, None, None, 0)),
        }
        for metric in metrics
    ]
    return plain(analysis)


def _head(of: str, methods: Sequence[str], scales: list[dict[str, Any]]) -> dict[str, Any]:
    def best_first(row: dict[str, Any]) -> tuple[float, str]:
        return (math.inf if math.isnan(row["mos"][0]) else -row["mos"][0], row["method"])

    return {"version": VERSION, "kind": "opinions", "of": of, "methods": list(methods), "scales": sorted(scales, key=best_first)}


def _by_scene(part: Ratings) -> Floats:
    """Mean scores float64[S + 1, M], the last row over all samples; NaN where nobody scored."""
    s, m = len(part.samples), len(part.methods)
    total, count = np.zeros((s + 1, m)), np.zeros((s + 1, m))
    for row in (part.sample, np.full(len(part), s)):
        np.add.at(total, (row, part.method), part.score)
        np.add.at(count, (row, part.method), 1.0)
    return np.divide(total, count, out=np.full_like(total, math.nan), where=count > 0)


def _metric(counted: Ratings, metric: MetricScores, means: dict[str, Floats], takes_part: np.ndarray, seed: int) -> dict[str, Any]:
    """Correlation of one metric with mean opinions: over the methods, with each group of people, and within each sample."""
    higher = metric.higher_is_better
    overall = metric.of_methods
    scenes = {
        name: (np.where(takes_part, metric.values[n], math.nan), np.where(takes_part, means[""][n], math.nan))
        for n, name in enumerate(counted.samples)
    }
    each, mean = correlation.by_scene(scenes, higher, RESAMPLES, seed)
    return {
        "key": metric.key,
        "higher_is_better": higher,
        "tie": metric.tie,
        "trained": metric.trained,
        "values": overall,
        "order": _order(overall, means[""][-1], takes_part, higher, seed),
        "groups": {name: _order(overall, found[-1], takes_part, higher, seed) for name, found in means.items() if name},
        "scenes": {name: asdict(found) for name, found in each.items()},
        "scenes_mean": asdict(mean),
    }


def _order(values: Floats, opinion: Floats, takes_part: np.ndarray, higher_is_better: bool, seed: int) -> dict[str, Any]:
    return asdict(correlation.correlation(np.where(takes_part, values, math.nan), opinion, higher_is_better, RESAMPLES, seed))
