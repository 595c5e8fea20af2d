"""One metric over several studies: a random-effects mean of its decided agreements, on the scale of the logit.

tau^2 by Paule and Mandel, the interval by Hartung and Knapp, a prediction interval for one more study from four studies on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from leaderboard.stats.votes import Floats

MIN_STUDIES = 3
MIN_FOR_PREDICTION = 4
DIFFERS = 0.5  # I^2 from which on studies are said to differ
FEW_STUDIES = f"Fewer than {MIN_STUDIES} studies: they are listed, not pooled."


@dataclass(frozen=True)
class Pooled:
    """The mean over k studies with its 95 % interval; tau2 and i2 say how far studies differ; where one more would lie."""

    value: float
    low: float
    high: float
    tau2: float
    i2: float
    k: int
    prediction: tuple[float, float] | None

    def as_share(self) -> Pooled:
        """The same as shares, from logits."""
        ends = None if self.prediction is None else (float(expit(self.prediction[0])), float(expit(self.prediction[1])))
        value, low, high = (float(expit(v)) for v in (self.value, self.low, self.high))
        return Pooled(value, low, high, self.tau2, self.i2, self.k, ends)


def pool(y: Sequence[float], se: Sequence[float]) -> Pooled | None:
    """Pooled mean of values with their standard errors; None below three."""
    values, errors = np.asarray(y, dtype=np.float64), np.asarray(se, dtype=np.float64)
    k = len(values)
    if k < MIN_STUDIES:
        return None
    q = _spread(values, errors, 0.0)
    tau2 = 0.0
    if q > k - 1:
        upper = max(1.0, float(values.var(ddof=1)))
        while _spread(values, errors, upper) > k - 1:
            upper *= 2
        tau2 = float(brentq(lambda t: _spread(values, errors, t) - (k - 1), 0.0, upper, xtol=1e-14, rtol=1e-14))
    w = 1 / (errors**2 + tau2)
    mean = float((w * values).sum() / w.sum())
    var = max(1.0, float((w * (values - mean) ** 2).sum()) / (k - 1)) / float(w.sum())
    half = float(stdtrit(k - 1, 0.975)) * math.sqrt(var)
    prediction = None
    if k >= MIN_FOR_PREDICTION:
        wide = float(stdtrit(k - 2, 0.975)) * math.sqrt(tau2 + var)
        prediction = (mean - wide, mean + wide)
    i2 = max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0
    return Pooled(mean, mean - half, mean + half, tau2, i2, k, prediction)


def _spread(y: Floats, se: Floats, tau2: float) -> float:
    w = 1 / (se**2 + tau2)
    return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())


def on_logit(value: float, se: float) -> tuple[float, float] | None:
    """(logit, its standard error) of a share; None for one of exactly 0 or 1, which is listed, not pooled."""
    return (float(logit(value)), se / (value * (1 - value))) if 0 < value < 1 else None


def combined(y: Sequence[float], se: Sequence[float]) -> tuple[float, float]:
    """Studies that share raters or samples, as one: by inverse variance."""
    w = 1 / np.asarray(se, dtype=np.float64) ** 2
    return float((w * np.asarray(y)).sum() / w.sum()), float(1 / math.sqrt(w.sum()))
