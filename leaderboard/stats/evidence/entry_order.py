"""Order of entries over all items, where entries may have stood on different ones: value = item + entry, by least squares.

In a complete table the entries' effects are their plain means. In others a difference of two entries is as certain as the items that
link them allow; `efficiency` says how certain, against two entries that stood on the same items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from leaderboard.stats import correlation, davidson, two_way_intervals
from leaderboard.stats.evidence.figure import EFFICIENCY_FOR_INTERVAL, SetFigure, certainty
from leaderboard.stats.evidence.judged import Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.minimums import ENTRIES_FOR_CORRELATION, ENTRIES_FOR_CORRELATION_INTERVAL, GROUPS_FOR_FIGURE
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.votes import Floats, Ints

ROUNDING = 9  # decimals beyond which effects differ by rounding alone


@dataclass(frozen=True, eq=False)
class Additive:
    """The fit of values [J, C] on stimuli. `entries` int64[E] are those that occur, `effects` float64[E, C] theirs, of mean 0 in each block
    (int64[E]) of entries that a chain of common items links. `efficiency` is the least of two entries of one block, None for fewer."""

    entries: Ints
    effects: Floats
    block: Ints
    efficiency: float | None

    @property
    def connected(self) -> bool:
        return not self.block.any()


def additive(item: Ints, entry: Ints, values: Floats) -> Additive:
    """The effects of entries in values float64[J, C]."""
    entries, e = np.unique(entry, return_inverse=True)
    i = np.unique(item, return_inverse=True)[1]
    n, m = len(entries), int(i.max(initial=-1)) + 1
    stood = scipy.sparse.csr_matrix((np.ones(len(e)), (e, i)), shape=(n, m)).toarray()
    of_item = stood.sum(axis=0)
    # The items' part is taken out of the normal equations; what is left is a Laplacian of the entries.
    counts = stood.sum(axis=1)
    laplacian = np.diag(counts) - (stood / of_item) @ stood.T
    mean, right = np.zeros((m, values.shape[1])), np.zeros((n, values.shape[1]))
    np.add.at(mean, i, values / of_item[i][:, None])
    np.add.at(right, e, values - mean[i])
    blocks, block = scipy.sparse.csgraph.connected_components(np.abs(laplacian) > 1e-12, directed=False)
    inverse, effects, least = np.zeros((n, n)), np.zeros_like(right), math.inf
    for number in range(blocks):
        own = np.flatnonzero(block == number)
        inner = np.ix_(own, own)
        # The pseudo-inverse: the eigenvalue of 0 is lifted to 1 first, since rounding may lift it over a cutoff.
        inverse[inner] = np.linalg.inv(laplacian[inner] + 1 / len(own)) - 1 / len(own)
        effects[own] = inverse[inner] @ right[own]
        effects[own] -= effects[own].mean(axis=0)
        if len(own) > 1:
            variance = np.diag(inverse)[own][:, None] + np.diag(inverse)[own] - 2 * inverse[inner]
            simple = 1 / counts[own][:, None] + 1 / counts[own]
            upper = np.triu_indices(len(own), 1)
            least = min(least, float((simple[upper] / variance[upper]).min()))
    return Additive(entries, effects, block.astype(np.int64), least if math.isfinite(least) else None)


@dataclass(frozen=True)
class Order:
    """Likeness of a metric's order of entries to people's: Spearman's, Kendall's and Pearson's."""

    rho: SetFigure
    tau: SetFigure
    r: SetFigure
    efficiency: float | None = None


def order(judged: Judged, x: Floats) -> Order:
    """Likeness of the metric x float64[J] over the entries, on the stimuli that it has values for."""
    known = ~np.isnan(x)
    if not known.any():
        return _nothing(SetFigure().because(Reason(Key.NO_ANSWER)), None)
    fit = additive(judged.item[known], judged.entry[known], np.stack([x[known], judged.y[known]], axis=1))
    groups = len(np.unique(judged.group[known]))
    if not fit.connected:
        return _nothing(SetFigure(n=len(fit.entries), groups=groups).because(Reason(Key.NEVER_MET)), fit.efficiency)
    theirs, ours = np.round(fit.effects.T, ROUNDING)
    return _correlated(theirs, ours, groups, fit.efficiency)


def order_of_pairs(judged: Judged, tables: Mapping[str, Floats]) -> dict[str, Order]:
    """The same of answers on pairs, by how often people would pick each entry; x float64[items, entries]."""
    assert judged.asked is not None
    models, groups = davidson.models(judged.asked), len(judged.groups)
    if len(models) != 1:
        nothing = SetFigure(groups=groups).because(Reason(Key.NEVER_MET if models else Key.NO_WINNER))
        return {key: _nothing(nothing, None) for key in tables}
    column = np.full(len(judged.entries), math.nan)
    column[models[0].entries] = davidson.implied(models[0]).value
    return {key: _correlated(Scored(key, x).of_entries, column, groups, None) for key, x in tables.items()}


def _nothing(figure: SetFigure, efficiency: float | None) -> Order:
    return Order(figure, figure, figure, efficiency)


def _correlated(x: Floats, y: Floats, groups: int, efficiency: float | None) -> Order:
    made = {}
    for name, found in correlation.correlations(x, y).items():
        n, reason = found.n, None
        if n < ENTRIES_FOR_CORRELATION:
            reason = Reason(Key.FEW, Counted.ENTRIES, ENTRIES_FOR_CORRELATION, n)
        elif found.value is None:
            reason = Reason(Key.ALIKE)
        elif efficiency is not None and efficiency < EFFICIENCY_FOR_INTERVAL:
            reason = Reason(Key.LITTLE_IN_COMMON, value=efficiency)
        elif n < ENTRIES_FOR_CORRELATION_INTERVAL:
            reason = Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, ENTRIES_FOR_CORRELATION_INTERVAL, n)
        elif found.low is None:
            reason = Reason(Key.IN_LINE)
        figure = SetFigure(value=found.value, low=found.low, high=found.high, n=n, groups=groups)
        made[name] = figure if reason is None else figure.because(reason)
    return Order(made["rho"], made["tau"], made["r"], efficiency)


# --- people's own order


@dataclass(frozen=True)
class EntryMean:
    """People's mean of an entry over all items, had it stood on each of its block; entries of two blocks were never compared, not even by a
    chain of others. The interval speaks of other groups of items."""

    entry: str
    block: int
    items: int
    mean: SetFigure


def entry_means(judged: Judged, turned: bool = False) -> list[EntryMean]:
    """The list of entries, the best first in each block, the block of most stimuli first; `turned` where a lower score is better on the
    published scale, on which the means are. The mean of an entry on one item would be a single stimulus's: such an entry is left out.
    """
    if not len(judged):
        return []
    whole = additive(judged.item, judged.entry, judged.y[:, None])
    rows = []
    for block in range(int(whole.block.max()) + 1):
        entries = whole.entries[whole.block == block]
        own = np.isin(judged.entry, entries)
        item, entry, group, y = judged.item[own], judged.entry[own], judged.group[own], judged.y[own]
        value = _placed(item, entry, y, entries)
        groups = np.unique(group)
        without = np.stack([_placed(item[group != g], entry[group != g], y[group != g], entries) for g in groups])
        apart = value - without
        variance = (len(groups) - 1) / len(groups) * ((apart - apart.mean(axis=0)) ** 2).sum(axis=0)
        found = []
        for n, number in enumerate(entries.tolist()):
            here = entry == number
            stood = len(np.unique(group[here]))
            items = len(np.unique(item[here]))
            figure = SetFigure(value=float(value[n]), n=int(here.sum()), groups=stood)
            found.append(EntryMean(judged.entries[number], 0, items, _bounded(figure, items, stood, float(variance[n]), len(groups))))
        found.sort(key=lambda one: (one.mean.value is None, -(one.mean.value or 0.0), one.entry))
        rows.append((len(y), found))
    rows.sort(key=lambda row: (-row[0], row[1][0].entry))
    return [replace(one, block=n, mean=_turned(one.mean) if turned else one.mean) for n, (_, found) in enumerate(rows, 1) for one in found]


def _turned(figure: SetFigure) -> SetFigure:
    """On the scale on which lower is better."""
    value, low, high = (None if end is None else -end for end in (figure.value, figure.high, figure.low))
    return replace(figure, value=value, low=low, high=high)


def _bounded(figure: SetFigure, items: int, groups: int, variance: float, all_groups: int) -> SetFigure:
    assert figure.value is not None
    if items < 2:
        return replace(figure, value=None).because(Reason(Key.FEW, Counted.ITEMS, 2, items))
    if groups < GROUPS_FOR_FIGURE:
        return figure.because(Reason(Key.FEW_FOR_INTERVAL, Counted.GROUPS, GROUPS_FOR_FIGURE, groups))
    if math.isnan(variance):
        return figure.because(Reason(Key.UNSTABLE))
    if variance <= two_way_intervals.NO_VARIANCE:
        return figure.because(Reason(Key.ALIKE))
    se, df = math.sqrt(variance), float(all_groups - 1)
    low, high = (float(end) for end in two_way_intervals.interval(figure.value, se, df))
    return replace(figure, low=low, high=high, se=se, df=df, state=certainty(None, groups))


def _placed(item: Ints, entry: Ints, y: Floats, entries: Ints) -> Floats:
    """The effect of each of these entries and the mean of all; NaN where it does not occur, or is not linked with all others."""
    made = np.full(len(entries), math.nan)
    if len(y):
        fit = additive(item, entry, y[:, None])
        if fit.connected:
            made[np.searchsorted(entries, fit.entries)] = fit.effects[:, 0] + y.mean()
    return made
