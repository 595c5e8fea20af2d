"""All that a study's answers say of its metrics and entries, on one criterion and one set of entries, with its intervals.

A study has two such summaries: of the entries of teams and baselines, which is what boards and pages show, and of all that was
compared, damaged and empty entries included, which stands beside it in small print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from leaderboard.stats import agreement, another_rater, correlation, crossed, davidson, meaning, metric_board, planning, plans
from leaderboard.stats import opinions as opinion_scores
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.answers import Answers
from leaderboard.stats.crossed import Clusters
from leaderboard.stats.davidson import Model
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.opinions import fitted
from leaderboard.stats.planning import Forecast
from leaderboard.stats.records import (
    Contradiction,
    Covariate,
    Duel,
    Enough,
    Entries,
    Entry,
    FirstPlace,
    Metric,
    Preference,
    Rival,
    Soft,
)
from leaderboard.stats.states import Key, Reason, too_few
from leaderboard.stats.uncertainty import ALPHA, paired
from leaderboard.stats.votes import Floats, Ints, finite

ONLY_DAMAGED = Reason(Key.ONLY_DAMAGED)
UNKNOWN_COVARIATE = "{} is not known of everything that was compared, so no account was taken of it."


@dataclass(frozen=True, eq=False)
class Opinions:
    """Mean opinion scores in the place of preferences: of each entry float64[entries], and on each sample float64[samples, entries];
    `scores` are what they are the means of."""

    of_entries: Floats
    by_sample: Floats
    scores: Ratings

    @classmethod
    def of(cls, scores: Ratings) -> Self:
        total, count = np.zeros((2, len(scores.samples), len(scores.methods)))
        np.add.at(total, (scores.sample, scores.method), scores.score)
        np.add.at(count, (scores.sample, scores.method), 1.0)
        with np.errstate(invalid="ignore"):
            return cls(total.sum(axis=0) / count.sum(axis=0), total / count, scores)


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
    opinions: Opinions | None = None,
    size: Floats | None = None,
    reference_size: Floats | None = None,
    unanswered: Reason = ONLY_DAMAGED,
    step: Callable[[], None] = lambda: None,
) -> People:
    """The summary of these answers; `unanswered` is said where there are none. `covariates` are tables like a metric's x, of which the
    models take the differences. With `opinions`, of which the answers were made, entries stand by their mean scores and no model is
    fitted. `size` is how large what an entry handed in for a sample is [samples, entries], `reference_size` how large its reference is
    [samples]: reference points, where known."""
    z = {name: agreement.differences(answers, x) for name, x in (covariates or {}).items()}
    full = {name: difference for name, difference in z.items() if difference.had.all()}
    unknown = tuple(UNKNOWN_COVARIATE.format(name) for name in z if name not in full)
    # The models' design has b - a turned round: theirs is a minus b.
    models = [] if opinions else davidson.models(answers, {name: -difference.d for name, difference in full.items()})
    clusters = answers.clusters

    # People's value of each entry [M], and how sure they are of each two [M, M], where there are enough raters and samples. Entries of
    # parts that never met have no common column: only the part with most answers has one.
    m = len(answers.entries)
    column, certain = np.full(m, math.nan), np.full((m, m), math.nan)
    if opinions is not None:
        met = np.isin(np.arange(m), np.concatenate([answers.a, answers.b]))
        column = np.where(met, opinions.of_entries, math.nan)
        certain = agreement.certain_by_samples(np.where(met, opinions.by_sample, math.nan))
    elif models and len(models[0]) > 1:
        main = models[0]
        column[main.entries] = davidson.implied(main).value
        if not main.clusters.few:
            certain[np.ix_(main.entries, main.entries)] = agreement.certain_by_people(main.theta, main.between.total, main.between.df)
    step()
    # A part may have too few of its own where all parts together have enough.
    unsure = models[0].clusters.few if models else None
    decided = int((answers.verdict != 0).sum())
    reason = unanswered if not len(answers) else clusters.few if decided else davidson.NOBODY
    another = another_rater.another_rater(answers)
    compared = _duels_of_scores(answers, opinions.scores) if opinions else _duels(answers, models)
    step()
    points = metric_board.reference_points(answers, seed, size, reference_size if opinions else None)
    held = metric_board.ranked(answers, [*metrics, *points], step)
    rows = []
    for row in held.rows:
        metric, difference, few = row.metric, row.differences, row.standing.few
        order, sure, curve = correlation.correlations(metric.of_entries, column), None, None
        if not clusters.few and metric.by_sample and not few:
            sure = agreement.soft_pairwise(certain, agreement.certain_by_samples(np.where(np.isnan(column), math.nan, metric.x)))
        if opinions is not None:
            curve = fitted(metric.x.ravel(), np.where(np.isnan(column), math.nan, opinions.by_sample).ravel())
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
    unplaced = {} if opinions else _too_few(answers)
    entries, ranges = ([], []) if opinions else _entries(answers, models, unplaced)
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
        duels=compared,
        enough=None,
        first_place=None,
        forecast=_forecast(held.rows),
    )
    if clusters.few or not models or len(models[0]) < 2:
        return People(summary)

    # Of the largest part. The p of first place are not those of one look among several: that holds each against 5 % over the number of
    # looks.
    main = models[0]
    names = [answers.entries[entry] for entry in main.entries.tolist()]
    placed_entries = np.array([n for n, name in enumerate(names) if name not in unplaced], dtype=np.int64)
    consistency = {answers.raters[k]: one for k, one in davidson.consistency(main).items()}
    if len(placed_entries) < 2:
        return People(summary, consistency)
    first, p = int(placed_entries[np.argmax(main.theta[placed_entries])]), davidson.duels(main).p
    rivals = [Rival(names[n], finite(p[first, n])) for n in placed_entries.tolist() if n != first]
    summary = replace(
        summary,
        fragile=davidson.fragile(main, step, placed_entries) if fragility and not unsure else None,
        enough=_enough(main, entries, ranges[0], placed_entries, step),
        first_place=FirstPlace(names[first], rivals),
    )
    return People(summary, consistency)


def _too_few(answers: Answers) -> dict[str, Reason]:
    """The entries that fewer people judged, or on fewer items, than any figure needs, each with the reason. Where no
    items are named there are no more duels of an entry than others that it can meet, so people alone are counted."""
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


def _duels(answers: Answers, models: Sequence[Model]) -> list[Duel]:
    """Each two entries that somebody was asked about, those that people are surest of first."""
    counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
    np.add.at(counts, (answers.a, answers.b), 1)
    duels, p_values = [], []
    for model in models:
        table = davidson.duels(model)
        for i, j in np.argwhere(np.triu(table.met, 1)).tolist():
            if table.value[i, j] < 0.5:
                i, j = j, i
            a, b = int(model.entries[i]), int(model.entries[j])
            n = int(counts[a, b] + counts[b, a])
            share = float(table.value[i, j]), finite(table.low[i, j]), finite(table.high[i, j])
            own = meaning.asked(answers, a, b)
            duels.append(Duel(answers.entries[a], answers.entries[b], share, None, n, asked=own.ends if own is not None else None))
            p_values.append(float(table.p[i, j]))
    return _surest_first(duels, p_values)


def _duels_of_scores(answers: Answers, scores: Ratings) -> list[Duel]:
    """Each two entries that one rater scored on one sample; the difference of their means, over raters and samples."""
    counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
    np.add.at(counts, (answers.a, answers.b), 1)
    found, p_values = [], []
    for a, b in np.argwhere(counts).tolist():
        apart = opinion_scores.apart(scores, a, b)
        if apart.value is not None and apart.value < 0:
            a, b, apart = b, a, opinion_scores.apart(scores, b, a)
        found.append(Duel(answers.entries[a], answers.entries[b], apart.ends, None, int(counts[a, b] + counts[b, a])))
        if apart.value is None or too_few(apart.reason):
            p_values.append(math.nan)
        elif apart.se is None or apart.df is None:  # all scores of each are alike
            p_values.append(1.0 if abs(apart.value) <= crossed.NOTHING else 0.0)
        else:
            p_values.append(crossed.two_sided(apart.value, apart.se**2, apart.df))
    return _surest_first(found, p_values)


def _surest_first(found: Sequence[Duel], p_values: Sequence[float]) -> list[Duel]:
    tested = [n for n, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = dict(zip(tested, crossed.holm(np.array([p_values[n] for n in tested])).tolist(), strict=True))
    order = sorted(range(len(found)), key=lambda n: (p_values[n] if n in adjusted else math.inf, found[n].first, found[n].second))
    return [replace(found[n], p_holm=adjusted.get(n)) for n in order]


def _contradictions(answers: Answers, metric: Scored, compared: Sequence[Duel]) -> list[Contradiction]:
    """The duels that people decided and the metric turns round, both beyond chance; those that people are surest of first."""
    place = {name: n for n, name in enumerate(answers.entries)}
    values, contradictions = metric.of_entries, []
    for duel in compared:
        i, j = place[duel.first], place[duel.second]
        near = agreement.EQUAL * max(1.0, abs(values[i]), abs(values[j]))
        if not (duel.told_apart and values[j] - values[i] > near):  # also where one of them has no value
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
        contradictions.append(Contradiction(**vars(duel), p_metric=p, samples=[answers.samples[n] for n in samples]))
    return contradictions


def _enough(model: Model, entries: Sequence[Entry], places: davidson.Places | None, among: Ints, step: Callable[[], None]) -> Enough | None:
    """By the places of the entries `among` those of the largest part; None without them."""
    ranked = [(row.method, *row.rank) for row in entries if row.part == 1 and row.rank is not None]
    if not ranked or places is None:
        return None
    settled = planning.settled_places(np.array([low for _, low, _ in ranked]), np.array([high for _, _, high in ranked]))
    names = [model.answers.entries[entry] for entry in model.entries[among].tolist()]
    first = int(np.argmax(model.theta[among]))
    others = [name for n, name in enumerate(names) if n != first and places.low[n] == 1]
    if places.high[first] == 1:
        return Enough(settled, names[first], [], None)
    found = plans.Outlook.of(model, float(places.critical[first]), places.df, among).plans()
    step()
    return Enough(settled, names[first], others, found)


def _forecast(rows: Sequence[metric_board.Row]) -> Forecast | None:
    """Precision that the headline of the first metric would have with more answers, raters or samples; None where it is always right, or
    always wrong."""
    decided = rows[0].standing.decided if rows and not rows[0].metric.reference_point else None
    if decided is None or decided.low is None or decided.value is None:
        return None
    if not crossed.NOTHING < decided.value < 1 - crossed.NOTHING:  # nothing varies there, as if it were known for sure
        return None
    answers, credits = agreement.credit(rows[0].differences)
    _, u = crossed.ratio(answers.weight * credits, answers.weight)
    # Of new answers as many name a winner as of those that are there.
    return planning.forecast(rows[0].metric.key, answers.clusters.variance(u), len(rows[0].differences.answers))


def _entries(answers: Answers, fitted: Sequence[Model], few: Mapping[str, Reason]) -> tuple[list[Entry], list[davidson.Places | None]]:
    """People's figures of each entry, the best first, and the places of each part. Those named in `few`, which too few people judged or
    on too few items, have no interval and no place, stand last, and take no place from others."""
    counts = np.bincount(np.concatenate([answers.a, answers.b]), minlength=len(answers.entries))
    rows: list[Entry] = []
    ranges: list[davidson.Places | None] = []
    for part, model in enumerate(fitted, 1):
        column, ability = davidson.implied(model), davidson.abilities(model)
        among = np.array([n for n, entry in enumerate(model.entries.tolist()) if answers.entries[entry] not in few], dtype=np.int64)
        places, place_of = davidson.places(model, among), {n: place for place, n in enumerate(among.tolist())}
        ranges.append(places)
        for n, entry in enumerate(model.entries.tolist()):
            implied, theta = ((float(scale.value[n]), finite(scale.low[n]), finite(scale.high[n])) for scale in (column, ability))
            reason = column.reason or few.get(answers.entries[entry]) or (crossed.ALIKE if implied[1] is None else None)
            if too_few(reason):
                implied, theta = (implied[0], None, None), (theta[0], None, None)
            row = Entry(method=answers.entries[entry], part=part, answers=int(counts[entry]), implied=implied, theta=theta)
            if reason is not None:
                row = replace(row, state=reason.state, reason=reason)
            if places is not None and n in place_of:
                low = int(places.low[place_of[n]])
                row = replace(row, rank=(low, int(places.high[place_of[n]])), may_be_first=low == 1)
            rows.append(row)
    placed = {row.method for row in rows}
    for n, name in enumerate(answers.entries):
        if counts[n] and name not in placed:
            rows.append(Entry(method=name, answers=int(counts[n]), state=davidson.NOBODY.state, reason=davidson.NOBODY))
    rows.sort(key=lambda row: (row.method in few, row.part or math.inf, -(row.implied[0] or 0.0), row.method))
    return rows, ranges
