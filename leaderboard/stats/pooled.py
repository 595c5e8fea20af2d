"""One metric over several studies: a random-effects mean of its decided agreements, on the scale of the logit.

tau^2 by Paule and Mandel, the interval by Hartung and Knapp, a prediction interval for one more study from four studies on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from leaderboard.stats import agreement
from leaderboard.stats.agreement import MetricPair
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.minimums import STUDIES_FOR_MEAN, STUDIES_FOR_PREDICTION
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Estimate
from leaderboard.stats.votes import Floats

DIFFERS = 0.5  # I^2 from which on studies are said to differ


@dataclass(frozen=True)
class Pooled:
    """The mean over k studies with its 95 % interval; tau2 and i2 say how far studies differ; where one more would lie. `p` is how likely
    such a mean is where the true one is 0, `se` its standard error, both on the scale that was pooled."""

    value: float
    low: float
    high: float
    tau2: float
    i2: float
    k: int
    prediction: tuple[float, float] | None
    se: float
    p: float

    @property
    def differs(self) -> bool:
        """True if half or more of how far studies differ is estimated to be more than chance; with few studies that may be chance too."""
        return self.i2 >= DIFFERS

    def as_share(self) -> Pooled:
        """The same as shares, from logits."""
        return self._as(scipy.special.expit)

    def as_correlation(self) -> Pooled:
        """The same as correlations, from Fisher's z."""
        return self._as(np.tanh)

    def _as(self, change: Callable[[float], float]) -> Pooled:
        ends = None if self.prediction is None else (float(change(self.prediction[0])), float(change(self.prediction[1])))
        value, low, high = (float(change(v)) for v in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high, prediction=ends)


def few_studies(n: int) -> Reason:
    """The reason why so many studies have no mean."""
    return Reason(Key.FEW_STUDIES, Counted.STUDIES, STUDIES_FOR_MEAN, n)


def pool(known: Collection[tuple[float, float]]) -> Pooled | None:
    """Pooled mean of values, each with its standard error; None below three."""
    k = len(known)
    if k < STUDIES_FOR_MEAN:
        return None
    values, errors = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
    q = _spread(values, errors, 0.0)
    tau2 = 0.0
    if q > k - 1:
        upper = max(1.0, float(values.var(ddof=1)))
        while _spread(values, errors, upper) > k - 1:
            upper *= 2
        tau2 = float(scipy.optimize.brentq(lambda t: _spread(values, errors, t) - (k - 1), 0.0, upper, xtol=1e-14, rtol=1e-14))
    w = 1 / (errors**2 + tau2)
    mean = float((w * values).sum() / w.sum())
    var = max(1.0, float((w * (values - mean) ** 2).sum()) / (k - 1)) / float(w.sum())
    half = float(scipy.special.stdtrit(k - 1, 0.975)) * math.sqrt(var)
    prediction = None
    if k >= STUDIES_FOR_PREDICTION:
        wide = float(scipy.special.stdtrit(k - 2, 0.975)) * math.sqrt(tau2 + var)
        prediction = (mean - wide, mean + wide)
    i2 = max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0
    error = math.sqrt(var)
    return Pooled(mean, mean - half, mean + half, tau2, i2, k, prediction, error, float(2 * scipy.special.stdtr(k - 1, -abs(mean) / error)))


def _spread(y: Floats, se: Floats, tau2: float) -> float:
    w = 1 / (se**2 + tau2)
    return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())


def on_logit(figure: Estimate | SetFigure) -> tuple[float, float] | None:
    """(logit, its standard error) of a share; None without an interval, and for one of exactly 0 or 1, which is listed, not pooled."""
    value, se = figure.value, figure.se
    if value is None or figure.low is None or not se or not 0 < value < 1:
        return None
    return float(scipy.special.logit(value)), se / (value * (1 - value))


def pairs(by_pair: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> list[MetricPair]:
    """Metrics against each other over studies: by pair, the difference of their agreements and its standard error in each study that both
    are in. Pairs with fewer than three such studies are not tested; Holm's correction is over those that are."""
    made = []
    for (first, second), differences in by_pair.items():
        mean = pool(differences)
        if mean is None:
            few = few_studies(len(differences))
            made.append(MetricPair(None, None, None, first=first, second=second, p=None, p_holm=None).because(few))
        else:
            ends = mean.value, mean.low, mean.high
            made.append(MetricPair(*ends, first=first, second=second, p=mean.p, p_holm=None, se=mean.se))
    return agreement.adjusted(made)
