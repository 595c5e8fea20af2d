"""Values per item to one number per submission, with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.registry import MetricSpec
from evaluation.metrics.result import Status

GROUPS_FOR_BOARD_INTERVAL = 6  # groups below which there is no interval, and no test can reject at 5 %
ALIKE = 1e-12  # of the mean, or of 1: a spread up to this is rounding
BLOCK_CELLS = 1_000_000  # float64 cells of one working array: 8 MB


@dataclass(frozen=True)
class Summary:
    """A metric over a whole submission.

    `value` is the unweighted mean over groups of the mean within each group. A missing item comes with the worst value (`scoring.py`);
    items without a value are left out and counted in `n_null`. The 95 % interval is from `mean_interval` over `n` units; None where it
    gives none. Units are groups, or items if all share one group (`resampled` says which). `median`, `minimum`, `maximum` and `sd` (ddof=1,
    None for one unit) are over the same units. `n_ok` counts the items whose file was scored, empty ones included; one of another size than
    the reference counts as missing. `extra` holds figures over the summed parts, such as `corner_offset_micro`. A metric of groups has
    units where there are two groups or more, and one of the whole set never: where there is one unit, there is no interval.
    """

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    median: float | None
    minimum: float | None
    maximum: float | None
    sd: float | None
    n_ok: int
    n_missing: int
    n_invalid: int
    n_null: int
    resampled: str = "group"  # or "item", or "set" where nothing was
    extra: Mapping[str, float | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; floats survive exactly."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The inverse of to_dict."""
        return cls(**data)


def group_means(values: Sequence[float | None], groups: Sequence[str]) -> dict[str, float | None]:
    """The mean within each group, in order of first appearance.

    None values are left out; a group of nothing else has the mean None.
    """
    members: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        kept = members.setdefault(group, [])
        if value is not None:
            kept.append(value)
    return {group: float(np.mean(kept)) if kept else None for group, kept in members.items()}


def unit_matrix(items: ArrayLike, groups: Sequence[str], level: str = "item", names: Sequence[str] = ()) -> NDArray[np.float64]:
    """float64[entries, units] from per-item values [entries, items] (NaN where there is none).

    Units are the groups in the order of their names, holding means within the group, or the
    items themselves where they all share one group: what an interval or a test is over. Items of one group go by their ``names``,
    else as they come: with them nothing depends on the order in which items are listed.
    A metric whose ``level`` is the whole set, or the only group, has no units: all NaN, as where there is no vector.
    """
    samples = np.asarray(items, dtype=np.float64)
    if samples.ndim != 2 or samples.shape[1] != len(groups):
        raise ValueError(f"every item needs a group: values of the shape {samples.shape}, {len(groups)} groups")
    order = sorted(range(len(groups)), key=lambda place: (groups[place], names[place] if names else place))
    groups = [groups[place] for place in order]
    samples, units = samples[:, order], list(dict.fromkeys(groups))
    if level == "set" or (level == "group" and len(units) == 1):
        return np.full_like(samples, np.nan)
    samples = np.where(np.isfinite(samples), samples, np.nan)
    if len(units) in (1, len(groups)):
        return samples
    place = {name: index for index, name in enumerate(units)}
    member = np.zeros((len(groups), len(units)))
    member[np.arange(len(groups)), [place[group] for group in groups]] = 1.0
    valid = (~np.isnan(samples)).astype(np.float64) @ member
    return np.where(valid > 0, np.nan_to_num(samples) @ member / np.maximum(valid, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Means over groups with their 95 % intervals, float64[entries] each, and how many groups int64[entries] each is of; NaN ends
    where there is no interval."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray


def mean_interval(values: np.ndarray, bounds: tuple[float | None, float | None] = (None, None)) -> Intervals:
    """Hall's skewness-corrected t interval of each row's mean, each side at most twice that of t; values float64[entries, groups],
    NaN where there is none, `bounds` those of the metric.

    There is none for fewer than six groups or where all are equal. Source: Hall, J. R. Stat. Soc. B 54, 1992 (cubic
    transformation); the cap is ours, because uncapped it gains little and is at times far wider.
    """
    values = np.asarray(values, dtype=np.float64)
    n_rows = len(values)
    found = Intervals(np.empty(n_rows), np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, dtype=np.int64))
    step = max(1, BLOCK_CELLS // max(1, values.shape[1]))
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        x = values[rows]
        known = ~np.isnan(x)
        n = known.sum(axis=1)
        filled = np.where(known, x, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(n > 0, filled.sum(axis=1) / n, np.nan)
            apart = np.where(known, x - mean[:, None], 0.0)
            second = (apart * apart).sum(axis=1) / n
            third = (apart * apart * apart).sum(axis=1) / n
            spread = np.sqrt(second)
            enough = (n >= GROUPS_FOR_BOARD_INTERVAL) & (spread > ALIKE * np.maximum(1.0, np.abs(mean)))
            se = np.where(enough, np.sqrt(second / (n - 1)), np.nan)
            skew = third / spread**3 / np.sqrt(n)
            t = scipy.special.stdtrit(np.maximum(1, n - 1), 0.975)
            low = mean - se * np.minimum(_hall(t, skew), 2 * t)
            high = mean - se * np.maximum(_hall(-t, skew), -2 * t)
        found.value[rows], found.n[rows] = mean, n
        found.low[rows], found.high[rows] = np.clip(low, bounds[0], bounds[1]), np.clip(high, bounds[0], bounds[1])
    return found


def _hall(z: np.ndarray, skew: np.ndarray) -> np.ndarray:
    """The inverse of T + f T^2 / 3 + f^2 T^3 / 27 + f / 6."""
    small = np.abs(skew) < 1e-6
    f = np.where(small, 1.0, skew)
    return np.where(small, z, 3 / f * (np.cbrt(1 + f * (z - f / 6)) - 1))


def micro_figure(spec: MetricSpec, parts: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    """The spec's ratio of summed parts, by name; None where the denominator is 0, {} without one."""
    if spec.micro is None:
        return {}
    above = sum(item.get(spec.micro.numerator, 0.0) for item in parts)
    below = sum(item.get(name, 0.0) for item in parts for name in spec.micro.denominator)
    return {spec.micro.name: spec.micro.factor * above / below if below else None}


def summarise(
    spec: MetricSpec,
    values: Sequence[float | None],
    statuses: Sequence[str],
    parts: Sequence[Mapping[str, float]],
    groups: Sequence[str],
) -> Summary:
    """Summarise one metric over all items, given in the reference's order.

    All sequences have one entry per item. With no value at all, every figure is None and n is 0.
    """
    if not len(values) == len(statuses) == len(parts) == len(groups):
        raise ValueError("values, statuses, parts and groups must have one entry per item")
    means = group_means(values, groups)
    present = [value for value in values if value is not None]
    single = len(means) == 1 and spec.level == "item"
    # What is averaged: the groups, the items of the one group there is, or the set as one.
    # In the order of their names, so that rounding does not depend on the order in which items are listed.
    units = present[:1] if spec.level == "set" else present if single else [mean for _, mean in sorted(means.items()) if mean is not None]
    counts = Counter(str(status) for status in statuses)
    found = Summary(
        value=None,
        ci_low=None,
        ci_high=None,
        n=0,
        median=None,
        minimum=None,
        maximum=None,
        sd=None,
        n_ok=counts[Status.OK] + counts[Status.EMPTY_PRED],
        n_missing=counts[Status.MISSING_PRED] + counts[Status.SIZE_MISMATCH],
        n_invalid=counts[Status.INVALID_PRED] + counts[Status.FAILED],
        n_null=len(values) - len(present),
        resampled="item" if single else "set" if spec.level == "set" else "group",
        extra=micro_figure(spec, parts),
    )
    if not units:
        return found
    row = np.array([[np.nan if value is None else value for value in values]])
    interval = mean_interval(unit_matrix(row, groups, spec.level), spec.bounds)
    known = not np.isnan(interval.low[0])
    return replace(
        found,
        value=float(np.mean(units)),
        ci_low=float(interval.low[0]) if known else None,
        ci_high=float(interval.high[0]) if known else None,
        n=len(units),
        median=float(np.median(units)),
        minimum=min(units),
        maximum=max(units),
        sd=float(np.std(units, ddof=1)) if len(units) > 1 else None,
    )
