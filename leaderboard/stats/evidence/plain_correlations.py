"""Further figures over all stimuli, beside the ones of `across`: Pearson's correlation without a curve, and Kendall's tau-b."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from leaderboard.stats.evidence.across import ROUNDING, Alike, Correlation, Stimuli
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.votes import Floats


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation [B] of a metric x [J] with means y [B, J], over the values in a row; NaN where one side does not vary."""
    there = ~np.isnan(y)
    n = there.sum(axis=1, keepdims=True)
    own = np.where(there, x, 0.0)
    theirs = np.where(there, y, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.where(there, own - own.sum(axis=1, keepdims=True) / n, 0.0)
        theirs = np.where(there, theirs - theirs.sum(axis=1, keepdims=True) / n, 0.0)
        size = np.sqrt((own**2).sum(axis=1) * (theirs**2).sum(axis=1))
        return np.where(size > 0, (own * theirs).sum(axis=1) / size, math.nan)


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b [B] of a metric x [J] with means y [B, J], over the values in a row; NaN where one side does not vary."""
    signs, y = np.sign(x[:, None] - x), np.round(y, ROUNDING)
    made = np.empty(len(y))
    for n, row in enumerate(y):
        theirs = np.sign(row[:, None] - row)
        both = ~np.isnan(theirs)
        theirs = np.where(both, theirs, 0.0)
        untied = math.sqrt(float((np.abs(signs) * both).sum()) * float(np.abs(theirs).sum()))
        made[n] = float((signs * theirs).sum()) / untied if untied else math.nan
    return made


def _alone(statistic: Callable[[Floats, Floats], Floats]) -> Correlation:
    """The same of one metric as `across` takes it."""
    return lambda x, y: (statistic(x[:, 0], y[None]), lambda block: statistic(x[:, 0], block)[:, None])


def correlations(judged: Stimuli, metrics: Mapping[str, Floats], persons: bool) -> dict[str, dict[str, SetFigure]]:
    """ "pearson" and "kendall" of each metric x float64[J] with its interval, by leaving out what `across.likeness` leaves out."""
    found: dict[str, dict[str, SetFigure]] = {"pearson": {}, "kendall": {}}
    for key, x in metrics.items():
        own = Alike.of(judged, {key: x}, persons)
        for name, statistic in (("pearson", pearson), ("kendall", kendall)):
            found[name] |= own.compared(_alone(statistic))[0]
    return found
