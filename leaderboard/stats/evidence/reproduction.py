"""Numbers that a publication prints, computed again from the same data: each that differs is kept beside what it should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import scipy

from leaderboard.stats import correlation
from leaderboard.stats.votes import Floats, Ints


class Statistic(StrEnum):
    PLCC = "plcc"
    SRCC = "srcc"
    KRCC = "krcc"


@dataclass(frozen=True)
class PrintedLine:
    """A printed number and what the same data give. `metric` and `against` are columns of the source, `where` the texts that rows have in
    other columns, `procedure` the function of `PROCEDURES` that comes before the statistic."""

    statistic: Statistic
    metric: str
    against: str
    printed: float
    digits: int
    same: bool
    here: float | None = None
    where: dict[str, tuple[str, ...]] = field(default_factory=dict)
    procedure: str = ""


@dataclass(frozen=True)
class Reproduction:
    """Counts of the numbers that are `printed` and of those that are the `same` here; the chief lines, and every one that differs."""

    printed: int
    same: int
    lines: tuple[PrintedLine, ...]


def line(
    statistic: Statistic,
    x: Floats,
    y: Floats,
    printed: float,
    digits: int,
    *,
    metric: str,
    against: str,
    higher_is_better: bool = True,
    group: Ints | None = None,
    procedure: str = "",
    where: dict[str, tuple[str, ...]] | None = None,
) -> PrintedLine:
    """The number that the metric's values x float64[J] and people's y float64[J] give, both as they stand in the source.

    If lower is better, papers print the correlation with either sign. The comparison uses the printed sign. A number printed to `digits`
    must round to the same; one that is printed to more may differ by one unit of these.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if procedure:
        x = PROCEDURES[procedure](x, y, np.zeros(len(x), dtype=np.int64) if group is None else group[known])
    found = correlation.correlation(x, y)
    here = {Statistic.PLCC: found.plcc, Statistic.SRCC: found.srocc, Statistic.KRCC: found.krocc}[statistic]
    if here is not None and not procedure and not higher_is_better and here * printed < 0:
        here = -here
    unit = 10.0**-digits
    rounded = abs(printed - round(printed, digits)) <= 1e-12
    same = here is not None and abs(here - printed) <= (unit / 2 if rounded else unit) + 1e-12
    return PrintedLine(statistic, metric, against, printed, digits, same, here, where or {}, procedure)


def logistic_of_other_groups(x: Floats, y: Floats, group: Ints) -> Floats:
    """Predictions float64[J] of y from a logistic of x that was fitted to the other groups (Quach and others, ICIP 2020's data). x is
    scaled by their mean and sd, y by their least and range."""
    made = np.empty(len(x))
    step = float(np.finfo(np.float32).eps) ** (1 / 3)
    for one in np.unique(group):
        others, own = group != one, group == one
        mean, sd, least, spread = x[others].mean(), x[others].std(), y[others].min(), np.ptp(y[others])
        z, target = (x[others] - mean) / sd, (y[others] - least) / spread

        def rest(p: Floats, z: Floats = z, target: Floats = target) -> Floats:
            return scipy.special.expit(p[1] * (z - p[0])) - target

        a, b = scipy.optimize.least_squares(rest, (0.0, 1.0), diff_step=step).x
        made[own] = scipy.special.expit(b * ((x[own] - mean) / sd - a)) * spread + least
    return made


PROCEDURES: dict[str, Callable[[Floats, Floats, Ints], Floats]] = {"logistic-of-other-groups": logistic_of_other_groups}
