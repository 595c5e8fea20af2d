"""An analysis with what its answers say, both of the entries and of all that was compared, in the names of its JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from leaderboard.stats import mos
from leaderboard.stats.answers import answers, of_opinions
from leaderboard.stats.people import Opinions, as_json, people
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.study import MetricScores, plain
from leaderboard.stats.votes import Votes


def of_pairs(
    found: dict[str, Any],
    votes: Votes,
    metrics: Sequence[MetricScores] = (),
    damaged: Collection[str] | None = None,
    seed: int = 0,
    fragility: bool = True,
) -> dict[str, Any]:
    """The analysis `found` of votes on pairs with its summary. `damaged` names the methods that are no entries of teams or baselines:
    corruptions, the empty entry, the reference; where it is given (it may be empty), the figures are of the others, and `all` has the
    same of every method."""
    scored = [metric.scored for metric in metrics]
    summary = as_json(people(answers(votes, _entries(votes.methods, damaged)), scored, seed, fragility))
    if damaged is not None:
        summary["all"] = as_json(people(answers(votes), scored, seed, fragility))
    return plain(_joined(found, summary))


def of_scores(
    found: dict[str, Any],
    ratings: Ratings,
    metrics: Sequence[MetricScores] = (),
    damaged: Collection[str] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The analysis `found` of opinion scores with its summary; raters that it screened are left out."""
    out = np.isin(np.array(ratings.raters, dtype=object).astype(str), found["screened"])
    counted = ratings.take(~out[ratings.rater])
    scored, table = [metric.scored for metric in metrics], _means(counted)
    entries = _entries(ratings.methods, damaged)
    summary = as_json(people(of_opinions(counted, entries), scored, seed, opinions=table))
    if damaged is not None:
        summary["all"] = as_json(people(of_opinions(counted), scored, seed, opinions=table))
    likelihood = mos.likelihood(counted)
    unshown = mos.unshown(counted, likelihood)
    for n, name in enumerate(ratings.methods):
        figure = mos.mean_opinion(counted, n)
        row = {"method": name, "mos": [figure.value, figure.low, figure.high], "why": figure.why, "raters": figure.raters}
        row |= {"mos_mle": None, "mos_mle_why": unshown}
        if not unshown:
            better = mos.likelihood_of(counted, likelihood, n)
            row |= {"mos_mle": [better.value, better.low, better.high], "mos_mle_why": better.why}
        summary["scales"].append(row)
    known = zip(counted.raters, likelihood.bias.tolist(), likelihood.inconsistency.tolist(), strict=True)
    summary["raters"] = [{"rater": name, "bias": bias, "inconsistency": spread} for name, bias, spread in known]
    return plain(_joined(found, summary))


def _entries(methods: Sequence[str], damaged: Collection[str] | None) -> list[str] | None:
    return None if damaged is None else [name for name in methods if name not in damaged]


def _means(counted: Ratings) -> Opinions:
    total, count = np.zeros((2, len(counted.samples), len(counted.methods)))
    np.add.at(total, (counted.sample, counted.method), counted.score)
    np.add.at(count, (counted.sample, counted.method), 1.0)
    with np.errstate(invalid="ignore"):
        return Opinions(total.sum(axis=0) / count.sum(axis=0), total / count)


def _joined(found: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    """Both, row by row where both have rows; what the summary says wins, and its order."""
    rows = {}
    for name, key in (("metrics", "key"), ("scales", "method")):
        known = {row[key]: row for row in found[name]}
        rows[name] = [known.pop(row[key], {}) | row for row in summary[name]] + list(known.values())
    return found | summary | rows
