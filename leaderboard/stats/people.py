"""All that a study's answers say of its metrics and entries, on one criterion and one set of entries, with its intervals.

A study has two such summaries: of the entries of teams and baselines, which is what boards and pages show, and of all that was
compared, damaged and empty entries included, which stands beside it in small print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leaderboard.stats import (
    agreement,
    another_rater,
    correlation,
    davidson,
    meaning,
    metric_board,
    opinions,
    planning,
    plans,
    two_way_intervals,
)
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.answers import Answers
from leaderboard.stats.davidson import Model
from leaderboard.stats.levels import Levels, Places
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.planning import Forecast
from leaderboard.stats.records import (
    Contradiction,
    Covariate,
    Enough,
    Entries,
    Entry,
    EntryPair,
    FirstPlace,
    Metric,
    Preference,
    Rival,
    Soft,
)
from leaderboard.stats.states import Key, Reason, too_few
from leaderboard.stats.two_way_intervals import Clusters
from leaderboard.stats.uncertainty import ALPHA, paired
from leaderboard.stats.votes import Floats, Ints, finite

ONLY_DAMAGED = Reason(Key.ONLY_DAMAGED)
UNKNOWN_COVARIATE = "{} is not known of everything that was compared, so no account was taken of it."


@dataclass(frozen=True)
class People:
    """The figures of one set of entries, and of each rater the consistency with the answers that it is of, see `davidson.consistency`."""

    entries: Entries
    consistency: dict[str, tuple[float, int]] = field(default_factory=dict)


def people(
    answers: Answers,
    metrics: Sequence[Scored] = (),
    seed: int = 0,
    fragility: bool = True,
    covariates: Mapping[str, Floats] | None = None,
    ratings: Ratings | None = None,
    size: Floats | None = None,
    reference_size: Floats | None = None,
    unanswered: Reason = ONLY_DAMAGED,
    step: Callable[[], None] = lambda: None,
) -> People:
    """The summary of these answers; `unanswered` is said where there are none. `covariates` are tables like a metric's x, of which the
    models take the differences. With `ratings`, which the answers are comparisons of, entries stand by their mean scores, and by a model of
    the answers otherwise. `size` is how large what an entry handed in for a sample is [samples, entries], `reference_size` how large its
    reference is [samples]: reference points, where known."""
    z = {name: agreement.differences(answers, x) for name, x in (covariates or {}).items()}
    full = {name: difference for name, difference in z.items() if difference.had.all()}
    unknown = tuple(UNKNOWN_COVARIATE.format(name) for name in z if name not in full)
    # The models' design has b - a turned round: theirs is a minus b.
    models = [] if ratings else davidson.models(answers, {name: -difference.d for name, difference in full.items()})
    levels: Sequence[Levels] = [opinions.levels(ratings, entries) for entries in answers.parts] if ratings else models
    clusters = answers.clusters

    # People's value of each entry [M], and how sure they are of each two [M, M], where there are enough raters and samples. Entries of
    # parts that never met have no common column: only the part with most answers has one.
    m = len(answers.entries)
    column, certain, by_sample = np.full(m, math.nan), np.full((m, m), math.nan), None
    if levels and len(levels[0]) > 1:
        main = levels[0].entries
        if ratings is not None:
            column[main] = ratings.means[-1, main]
            by_sample = np.where(np.isnan(column), math.nan, ratings.means[:-1])
            certain = agreement.certain_by_samples(by_sample)
        else:
            column[main] = davidson.implied(models[0]).value
            if not models[0].clusters.few:
                certain[np.ix_(main, main)] = agreement.certain_by_people(levels[0].theta, levels[0].between.total, levels[0].between.df)
    step()
    # A part may have too few of its own where all parts together have enough.
    unsure = levels[0].clusters.few if levels else None
    decided = int((answers.verdict != 0).sum())
    reason = unanswered if not len(answers) else clusters.few if decided else davidson.NOBODY
    another = another_rater.another_rater(answers)
    scored = {} if ratings is None else {name: scored_entry(ratings, n) for n, name in enumerate(answers.entries)}
    unplaced = _too_few(answers)
    if scored:
        unplaced = {name: row.reason for name, row in scored.items() if row.reason is not None and too_few(row.reason)}
    compared = _entry_pairs(answers, levels, unplaced)
    step()
    points = metric_board.reference_points(answers, seed, size, reference_size if ratings else None)
    held = metric_board.ranked(answers, [*metrics, *points], step)
    rows = []
    for row in held.rows:
        metric, difference, few = row.metric, row.differences, row.standing.few
        order, sure, curve = correlation.correlations(metric.of_entries, column), None, None
        if not clusters.few and metric.by_sample and not few:
            sure = agreement.soft_pairwise(certain, agreement.certain_by_samples(np.where(np.isnan(column), math.nan, metric.x)))
        if by_sample is not None:
            curve = opinions.fitted(metric.x.ravel(), by_sample.ravel())
        figures = Metric(
            **vars(row.standing),
            auc_better_worse=agreement.better_worse(difference).brief,
            auc_different_similar=agreement.different_similar(difference).brief,
            acc_eq=agreement.three_way(difference),
            spa=Soft(sure, reason or few or unsure or row.standing.decided.reason or Reason(Key.NO_TWO) if sure is None else None),
            rho=order["rho"],
            tau=order["tau"],
            r=order["r"],
            difference=None if reason or few or metric.reference_point else meaning.difference(answers, metric.of_entries),
            fitted=curve,
            contradictions=[] if metric.reference_point else _contradictions(answers, metric, compared),
        )
        rows.append(figures)
        step()
    entries, ranges = _entries(answers, levels, unplaced, scored)
    step()
    preferences = []
    for part, model in enumerate(models, 1):
        coefficients = []
        for name, value in zip(model.covariates, model.beta.tolist(), strict=True):
            beta = davidson.coefficient(model, name)
            low, high = (None if end is None else davidson.share_of(end, model.nu) for end in (beta.low, beta.high))
            coefficients.append(Covariate(name, *beta.ends, davidson.share_of(value, model.nu), low, high))
        side = left = None
        if model.gamma is not None:
            side, left = davidson.coefficient(model, "side").ends, davidson.share_of(model.gamma, model.nu)
        preferences.append(Preference(part, model.nu, side, left, coefficients, model.prior, [*unknown, *model.notes]))

    summary = Entries(
        answers=len(answers),
        decided_answers=decided,
        raters_counted=clusters.n_raters,
        samples_counted=clusters.n_samples,
        reason=reason,
        metrics=rows,
        scales=entries,
        ceiling=None if another is None else another_rater.ceiling(answers, another),
        another_rater=another,
        model=preferences[0] if preferences else None,
        models=preferences,
        fragile=None,
        metric_pairs=held.pairs,
        entry_pairs=compared,
        enough=None,
        first_place=None,
        forecast=_forecast(held.rows),
    )
    if clusters.few or not levels or len(levels[0]) < 2:
        return People(summary)

    # Of the largest part. The p of first place are not those of one look among several: that holds each against 5 % over the number of
    # looks.
    largest, of_raters = levels[0], davidson.consistency(models[0]) if models else {}
    consistency = {answers.raters[k]: one for k, one in of_raters.items()}
    names = [answers.entries[entry] for entry in largest.entries.tolist()]
    placed_entries = np.array([n for n, name in enumerate(names) if name not in unplaced], dtype=np.int64)
    if len(placed_entries) < 2:
        return People(summary, consistency)
    first, p = int(placed_entries[np.argmax(largest.theta[placed_entries])]), largest.tests.p
    rivals = [Rival(names[n], finite(p[first, n])) for n in placed_entries.tolist() if n != first]
    summary = replace(
        summary,
        fragile=davidson.fragile(models[0], step, placed_entries) if models and fragility and not unsure else None,
        enough=_enough(largest, names, entries, ranges[0], placed_entries, step),
        first_place=FirstPlace(names[first], rivals),
    )
    return People(summary, consistency)


def _too_few(answers: Answers) -> dict[str, Reason]:
    """The entries that fewer people judged, or on fewer items, than any figure needs, each with the reason. Where no
    items are named there are no more comparisons of an entry than others that it can meet, so people alone are counted."""
    found = {}
    for n, name in enumerate(answers.entries):
        own = answers.take((answers.a == n) | (answers.b == n))
        few = Clusters(own.rater, own.unit if answers.sampled else np.arange(len(own))).few
        if len(own) and few:
            found[name] = few
    return found


def by_group(groups: Mapping[str, Answers], metric: Scored) -> dict[str, Agreement]:
    """A metric's decided agreement with the raters of each group."""
    return {name: agreement.decided(agreement.differences(counted, metric.x)) for name, counted in groups.items()}


def scored_entry(ratings: Ratings, entry: int) -> Entry:
    """The mean of an entry's scores."""
    figure = opinions.mean_opinion(ratings, entry)
    return Entry(
        method=ratings.methods[entry],
        answers=figure.n,
        mos=figure.ends,
        state=figure.state,
        reason=figure.reason,
        raters=figure.raters,
        n=0,
    )


def _entry_pairs(answers: Answers, levels: Sequence[Levels], few: Collection[str]) -> list[EntryPair]:
    """Each two entries that somebody was asked about, those that people are surest of first; those with one of the `few` are not tested."""
    counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
    np.add.at(counts, (answers.a, answers.b), 1)
    entry_pairs, p_values = [], []
    for part in levels:
        table, of_model = part.tests, isinstance(part, Model)
        for i, j in np.argwhere(np.triu((counts + counts.T)[np.ix_(part.entries, part.entries)], 1)).tolist():
            if table.value[i, j] < (0.5 if of_model else 0.0):
                i, j = j, i
            a, b = int(part.entries[i]), int(part.entries[j])
            first, second = answers.entries[a], answers.entries[b]
            tested = first not in few and second not in few
            ends = (finite(table.low[i, j]), finite(table.high[i, j])) if tested else (None, None)
            own = meaning.asked(answers, a, b) if of_model else None
            pair = EntryPair(first, second, (float(table.value[i, j]), *ends), None, int(counts[a, b] + counts[b, a]))
            entry_pairs.append(replace(pair, asked=own.ends if own is not None else None))
            p_values.append(float(table.p[i, j]) if tested else math.nan)
    return _surest_first(entry_pairs, p_values)


def _surest_first(found: Sequence[EntryPair], p_values: Sequence[float]) -> list[EntryPair]:
    tested = [n for n, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = dict(zip(tested, two_way_intervals.holm(np.array([p_values[n] for n in tested])).tolist(), strict=True))
    order = sorted(range(len(found)), key=lambda n: (p_values[n] if n in adjusted else math.inf, found[n].first, found[n].second))
    return [replace(found[n], p_holm=adjusted.get(n)) for n in order]


def _contradictions(answers: Answers, metric: Scored, compared: Sequence[EntryPair]) -> list[Contradiction]:
    """Pairs that people decided significantly and that the metric significantly decides the other way, those with the clearest preference
    first."""
    place = {name: n for n, name in enumerate(answers.entries)}
    values, contradictions = metric.of_entries, []
    for pair in compared:
        i, j = place[pair.first], place[pair.second]
        near = agreement.EQUAL * max(1.0, abs(values[i]), abs(values[j]))
        if not (pair.told_apart and values[j] - values[i] > near):  # also where one of them has no value
            continue
        p = None
        if metric.by_sample:
            p = paired(metric.x[:, i], metric.x[:, j]).p_value
            if p is None or p > ALPHA:
                continue
        on = (answers.a == min(i, j)) & (answers.b == max(i, j))
        leaning = np.bincount(answers.sample[on], answers.verdict[on] * (1 if j < i else -1), len(answers.samples))
        ours, theirs = metric.x[:, i], metric.x[:, j]
        samples = np.flatnonzero((leaning > 0) & (theirs - ours > agreement.bounds(ours, theirs)))
        contradictions.append(Contradiction(**vars(pair), p_metric=p, samples=[answers.samples[n] for n in samples]))
    return contradictions


def _enough(
    part: Levels, names: Sequence[str], entries: Sequence[Entry], places: Places | None, among: Ints, step: Callable[[], None]
) -> Enough | None:
    """By the places of the entries `among` those of the largest part, which are called `names`; None without them."""
    ranked = [(row.method, *row.rank) for row in entries if row.part == 1 and row.rank is not None]
    if not ranked or places is None:
        return None
    settled = planning.settled_places(np.array([low for _, low, _ in ranked]), np.array([high for _, _, high in ranked]))
    placed = [names[n] for n in among.tolist()]
    first = int(np.argmax(part.theta[among]))
    others = [name for n, name in enumerate(placed) if n != first and places.low[n] == 1]
    if places.high[first] == 1:
        return Enough(settled, placed[first], [], None)
    found = plans.Projection.of(part, float(places.critical[first]), places.df, among).plans()
    step()
    return Enough(settled, placed[first], others, found)


def _forecast(rows: Sequence[metric_board.Row]) -> Forecast | None:
    """Precision that the headline of the first metric would have with more answers, raters or samples; None where it is always right, or
    always wrong."""
    decided = rows[0].standing.decided if rows and not rows[0].metric.reference_point else None
    if decided is None or decided.low is None or decided.value is None:
        return None
    if not two_way_intervals.NOTHING < decided.value < 1 - two_way_intervals.NOTHING:  # nothing varies there, as if it were known for sure
        return None
    answers, credits = agreement.credit(rows[0].differences)
    _, u = two_way_intervals.ratio(answers.weight * credits, answers.weight)
    # Of new answers as many name a winner as of those that are there.
    return planning.forecast(rows[0].metric.key, answers.clusters.variance(u), len(rows[0].differences.answers))


def _entries(
    answers: Answers, levels: Sequence[Levels], few: Mapping[str, Reason], scored: Mapping[str, Entry]
) -> tuple[list[Entry], list[Places | None]]:
    """People's figures of each entry, the best first, and the places of each part. Those named in `few`, which too few people judged or on
    too few items, have no interval and no place. They come last, and take no place from others. `scored` are the mean scores of ratings."""
    counts = np.bincount(np.concatenate([answers.a, answers.b]), minlength=len(answers.entries))
    rows: list[Entry] = []
    ranges: list[Places | None] = []
    for number, part in enumerate(levels, 1):
        names = [answers.entries[entry] for entry in part.entries.tolist()]
        among = np.array([n for n, name in enumerate(names) if name not in few], dtype=np.int64)
        places, place_of = part.places(among), {n: place for place, n in enumerate(among.tolist())}
        ranges.append(places)
        own = _preferred(part, names, counts, few) if isinstance(part, Model) else [scored[name] for name in names]
        for n, row in enumerate(own):
            row = replace(row, part=number)
            if places is not None and n in place_of:
                low = int(places.low[place_of[n]])
                row = replace(row, rank=(low, int(places.high[place_of[n]])), may_be_first=low == 1)
            rows.append(row)
    placed = {row.method for row in rows}
    for n, name in enumerate(answers.entries):
        if counts[n] and name not in placed:
            rows.append(Entry(method=name, answers=int(counts[n]), state=davidson.NOBODY.state, reason=davidson.NOBODY))
    rows.sort(key=lambda row: (row.method in few, row.part or math.inf, -(row.value[0] or 0.0), row.method))
    return rows, ranges


def _preferred(model: Model, names: Sequence[str], counts: Ints, few: Mapping[str, Reason]) -> list[Entry]:
    """Rows of the entries of a model: how often people would pick each, and its ability."""
    column, ability, rows = davidson.implied(model), davidson.abilities(model), []
    for n, (name, entry) in enumerate(zip(names, model.entries.tolist(), strict=True)):
        implied, theta = ((float(scale.value[n]), finite(scale.low[n]), finite(scale.high[n])) for scale in (column, ability))
        reason = column.reason or few.get(name) or (two_way_intervals.ALIKE if implied[1] is None else None)
        if too_few(reason):
            implied, theta = (implied[0], None, None), (theta[0], None, None)
        row = Entry(method=name, answers=int(counts[entry]), implied=implied, theta=theta)
        rows.append(row if reason is None else replace(row, state=reason.state, reason=reason))
    return rows
