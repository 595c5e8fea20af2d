"""All that a study's answers say of its metrics and entries, on one criterion and one set of entries, with its intervals.

A study has two such summaries. Leaderboards and pages show the one of the entries of teams and baselines. The other one is of all
that was compared, damaged and empty entries included, and is shown beside it in small print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

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
from leaderboard.stats.davidson import Cause, Model, Omitted
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


@dataclass(frozen=True, eq=False)
class Part:
    """The entries of one part of the comparisons. Those `among` them, by their places in `levels`, have the answers that a place needs."""

    number: int
    levels: Levels
    names: list[str]
    among: Ints

    @cached_property
    def places(self) -> Places | None:
        return self.levels.places(self.among)

    @cached_property
    def placed(self) -> list[str]:
        """Names of those with a place."""
        return [self.names[n] for n in self.among.tolist()]

    @cached_property
    def first(self) -> int:
        """The best by people of those with a place, by its number among these."""
        return int(np.argmax(self.levels.theta[self.among]))


@dataclass(frozen=True, eq=False)
class People:
    """The figures that these answers give of one set of entries; `unanswered` is said where there are none. `covariates` are tables like a
    metric's x, of which the models take the differences. With `ratings`, which the answers are comparisons of, entries stand by their mean
    scores, and by a model of the answers otherwise. `size` is how large what an entry handed in for a sample is [samples, entries],
    `reference_size` how large its reference is [samples]: reference points, where known. `step` is called every few seconds."""

    answers: Answers
    metrics: Sequence[Scored] = ()
    seed: int = 0
    fragility: bool = True
    covariates: Mapping[str, Floats] | None = None
    ratings: Ratings | None = None
    size: Floats | None = None
    reference_size: Floats | None = None
    unanswered: Reason = ONLY_DAMAGED
    step: Callable[[], None] = lambda: None

    @cached_property
    def entries(self) -> Entries:
        """All of them."""
        answers, clusters, another = self.answers, self.answers.clusters, another_rater.another_rater(self.answers)
        points = metric_board.reference_points(answers, self.seed, self.size, self.reference_size if self.ratings else None)
        self.step()
        ranked = metric_board.ranked(answers, [*self.metrics, *points], self.step)
        metrics, scales = [self._metric(row) for row in ranked.rows], self._scales()
        self.step()
        models = [self._preference(number, model) for number, model in enumerate(self._models, 1)]
        main = self._main if self._main is not None and len(self._main.among) > 1 else None
        certain = self._models and self.fragility and not self._unsure
        return Entries(
            answers=len(answers),
            decided_answers=len(answers.decided),
            raters_counted=clusters.n_raters,
            samples_counted=clusters.n_samples,
            reason=self._reason,
            metrics=metrics,
            scales=scales,
            ceiling=None if another is None else another_rater.ceiling(answers, another),
            another_rater=another,
            model=models[0] if models else None,
            models=models,
            fragile=davidson.fragile(self._models[0], self.step, main.among) if main is not None and certain else None,
            metric_pairs=ranked.pairs,
            entry_pairs=self._entry_pairs,
            enough=None if main is None else self._enough(main, scales),
            first_place=None if main is None else _first_place(main),
            forecast=_forecast(ranked.rows),
        )

    @cached_property
    def consistency(self) -> dict[str, tuple[float, int]]:
        """Consistency of each rater, and the number of answers that it is of, see `davidson.consistency`."""
        found = davidson.consistency(self._models[0]) if self._main is not None and self._models else {}
        return {self.answers.raters[k]: one for k, one in found.items()}

    # --- G, H: people's values of entries

    @cached_property
    def _differences(self) -> dict[str, agreement.Differences]:
        """Differences of the covariates."""
        return {name: agreement.differences(self.answers, x) for name, x in (self.covariates or {}).items()}

    @cached_property
    def _models(self) -> list[Model]:
        """The model of each part; none of ratings. Their design has b - a turned round: theirs is a minus b."""
        known = {name: -difference.d for name, difference in self._differences.items() if difference.had.all()}
        return [] if self.ratings is not None else davidson.models(self.answers, known)

    @cached_property
    def _parts(self) -> list[Part]:
        levels: Sequence[Levels] = self._models
        if self.ratings is not None:
            levels = [opinions.levels(self.ratings, entries) for entries in self.answers.parts]
        named = [[self.answers.entries[entry] for entry in part.entries.tolist()] for part in levels]
        return [
            Part(number, part, names, np.array([n for n, name in enumerate(names) if name not in self._few], dtype=np.int64))
            for number, (part, names) in enumerate(zip(levels, named, strict=True), 1)
        ]

    @cached_property
    def _main(self) -> Part | None:
        """The part with most answers, where tests are possible: by enough raters, on enough samples, and of two entries."""
        return self._parts[0] if not self.answers.clusters.few and self._parts and len(self._parts[0].levels) > 1 else None

    @cached_property
    def _few(self) -> dict[str, Reason]:
        """The entries that fewer people judged, or on fewer items, than any figure needs, each with the reason. Where no
        items are named there are no more comparisons of an entry than others that it can meet, so people alone are counted."""
        if self.ratings is not None:
            return {name: row.reason for name, row in self._scored.items() if row.reason is not None and too_few(row.reason)}
        found = {}
        for n, name in enumerate(self.answers.entries):
            own = self.answers.take((self.answers.a == n) | (self.answers.b == n))
            few = Clusters(own.rater, own.unit if self.answers.sampled else np.arange(len(own))).few
            if len(own) and few:
                found[name] = few
        return found

    @cached_property
    def _scored(self) -> dict[str, Entry]:
        """The mean score of each entry that was rated."""
        return {} if self.ratings is None else {name: scored_entry(self.ratings, n) for n, name in enumerate(self.answers.entries)}

    @cached_property
    def _reason(self) -> Reason | None:
        """Reason why there is no headline."""
        if not len(self.answers):
            return self.unanswered
        return self.answers.clusters.few if len(self.answers.decided) else davidson.NOBODY

    @cached_property
    def _unsure(self) -> Reason | None:
        """Reason why the part with most answers is not tested: it may have too few of its own where all parts together have enough."""
        return self._parts[0].levels.clusters.few if self._parts else None

    @cached_property
    def _value(self) -> tuple[Floats, Floats, Floats | None]:
        """People's value of each entry [M], how sure they are of each two [M, M], where there are enough raters and samples, and the means
        of ratings by sample [S, M]. Entries of parts that never met have no common column: only the part with most answers has one."""
        m = len(self.answers.entries)
        column, certain = np.full(m, math.nan), np.full((m, m), math.nan)
        if not self._parts or len(self._parts[0].levels) < 2:
            return column, certain, None
        levels = self._parts[0].levels
        if self.ratings is not None:
            column[levels.entries] = self.ratings.means[-1, levels.entries]
            by_sample = np.where(np.isnan(column), math.nan, self.ratings.means[:-1])
            return column, agreement.certain_by_samples(by_sample), by_sample
        column[levels.entries] = davidson.implied(self._models[0]).value
        if not self._unsure:
            sure = agreement.certain_by_people(levels.theta, levels.between.total, levels.between.df)
            certain[np.ix_(levels.entries, levels.entries)] = sure
        return column, certain, None

    def _scales(self) -> list[Entry]:
        """People's figures of each entry, the best first. Those which too few people judged, or on too few items, have no interval and no
        place. They come last, and take no place from others."""
        answers = self.answers
        rows: list[Entry] = []
        counts = np.bincount(np.concatenate([answers.a, answers.b]), minlength=len(answers.entries))
        for part in self._parts:
            model, places = part.levels, part.places
            own = _preferred(model, part.names, counts, self._few) if isinstance(model, Model) else [self._scored[n] for n in part.names]
            own = [replace(row, part=part.number) for row in own]
            if places is not None:
                for n, low, high in zip(part.among.tolist(), places.low.tolist(), places.high.tolist(), strict=True):
                    own[n] = replace(own[n], rank=(low, high), may_be_first=low == 1)
            rows += own
        placed = {row.method for row in rows}
        alone = [(name, n) for name, n in zip(answers.entries, counts.tolist(), strict=True) if n and name not in placed]
        rows += [Entry(method=name, answers=n, state=davidson.NOBODY.state, reason=davidson.NOBODY) for name, n in alone]
        return sorted(rows, key=lambda row: (row.method in self._few, row.part or math.inf, -(row.value[0] or 0.0), row.method))

    @cached_property
    def _entry_pairs(self) -> list[EntryPair]:
        """Each two entries that somebody was asked about, those that people are surest of first; those with one that too few judged are not
        tested."""
        answers = self.answers
        counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
        np.add.at(counts, ([answers.a, answers.b], [answers.b, answers.a]), 1)
        found: list[tuple[float, EntryPair]] = []
        for part in self._parts:
            entries, table, of_model = part.levels.entries, part.levels.tests, isinstance(part.levels, Model)
            for i, j in np.argwhere(np.triu(counts[np.ix_(entries, entries)], 1)).tolist():
                if table.value[i, j] < (0.5 if of_model else 0.0):
                    i, j = j, i
                a, b = int(entries[i]), int(entries[j])
                tested = part.names[i] not in self._few and part.names[j] not in self._few and not math.isnan(table.p[i, j])
                ends = (finite(table.low[i, j]), finite(table.high[i, j])) if tested else (None, None)
                own = meaning.asked(answers, a, b) if of_model else None
                value, asked = (float(table.value[i, j]), *ends), None if own is None else own.ends
                pair = EntryPair(part.names[i], part.names[j], value, None, int(counts[a, b]), asked=asked)
                found.append((float(table.p[i, j]) if tested else math.inf, pair))
        found.sort(key=lambda one: (one[0], one[1].first, one[1].second))
        p_holm = two_way_intervals.holm(np.array([p for p, _ in found if p < math.inf])).tolist()
        return [replace(pair, p_holm=p) for (_, pair), p in zip_longest(found, p_holm)]

    def _preference(self, number: int, model: Model) -> Preference:
        """Ties, sides and covariates of a model."""
        coefficients = []
        for name, value in zip(model.covariates, model.beta.tolist(), strict=True):
            beta = davidson.coefficient(model, name)
            low, high = (None if end is None else davidson.share_of(end, model.nu) for end in (beta.low, beta.high))
            coefficients.append(Covariate(name, *beta.ends, davidson.share_of(value, model.nu), low, high))
        side = left = None
        if model.gamma is not None:
            side, left = davidson.coefficient(model, davidson.SIDE).ends, davidson.share_of(model.gamma, model.nu)
        unknown = [Omitted(name, Cause.UNKNOWN) for name, one in self._differences.items() if not one.had.all()]
        return Preference(number, model.nu, side, left, coefficients, model.prior, [*unknown, *model.omitted])

    # --- K: what would settle first place

    def _enough(self, main: Part, entries: Sequence[Entry]) -> Enough | None:
        """By the places of the part with most answers; None without them."""
        ranks = [row.rank for row in entries if row.part == main.number and row.rank is not None]
        if not ranks or main.places is None:
            return None
        settled, first = planning.settled_places(*np.array(ranks).T), main.first
        if main.places.high[first] == 1:
            return Enough(settled, main.placed[first], [], None)
        others = [name for n, name in enumerate(main.placed) if n != first and main.places.low[n] == 1]
        found = plans.Projection.of(main.levels, float(main.places.critical[first]), main.places.df, main.among).plans()
        self.step()
        return Enough(settled, main.placed[first], others, found)

    # --- B to F, I: metrics

    def _metric(self, row: metric_board.Row) -> Metric:
        """The figures of one metric or reference point."""
        metric, difference, (column, certain, by_sample) = row.metric, row.differences, self._value
        no_test = self._reason or row.standing.few
        order, sure = correlation.correlations(metric.of_entries, column), None
        if not self.answers.clusters.few and metric.by_sample and not row.standing.few:
            sure = agreement.soft_pairwise(certain, agreement.certain_by_samples(np.where(np.isnan(column), math.nan, metric.x)))
        unknown = no_test or self._unsure or row.standing.decided.reason or Reason(Key.NO_TWO)
        figures = Metric(
            **vars(row.standing),
            auc_better_worse=agreement.better_worse(difference).brief,
            auc_different_similar=agreement.different_similar(difference).brief,
            acc_eq=agreement.three_way(difference),
            spa=Soft(sure, unknown if sure is None else None),
            rho=order["rho"],
            tau=order["tau"],
            r=order["r"],
            difference=None if no_test or metric.reference_point else meaning.difference(self.answers, metric.of_entries),
            fitted=None if by_sample is None else opinions.fitted(metric.x.ravel(), by_sample.ravel()),
            contradictions=[] if metric.reference_point else self._contradictions(metric),
        )
        self.step()
        return figures

    def _contradictions(self, metric: Scored) -> list[Contradiction]:
        """Pairs that people decided significantly and that the metric significantly decides the other way, those with the clearest
        preference first."""
        answers, values, contradictions = self.answers, metric.of_entries, []
        place = {name: n for n, name in enumerate(answers.entries)}
        for pair in self._entry_pairs:
            i, j = place[pair.first], place[pair.second]
            near = agreement.EQUAL * max(1.0, abs(values[i]), abs(values[j]))
            if not (pair.told_apart and values[j] - values[i] > near):  # also where one of them has no value
                continue
            ours, theirs = metric.x[:, i], metric.x[:, j]
            p = paired(ours, theirs).p_value if metric.by_sample else None
            if metric.by_sample and (p is None or p > ALPHA):
                continue
            on = (answers.a == min(i, j)) & (answers.b == max(i, j))
            leaning = np.bincount(answers.sample[on], answers.verdict[on] * (1 if j < i else -1), len(answers.samples))
            samples = np.flatnonzero((leaning > 0) & (theirs - ours > agreement.bounds(ours, theirs)))
            contradictions.append(Contradiction(**vars(pair), p_metric=p, samples=[answers.samples[n] for n in samples]))
        return contradictions


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


def _first_place(main: Part) -> FirstPlace:
    """The first and its rivals. The p are not for one look among several, which holds each against 5 % over the number of looks."""
    p = main.levels.tests.p[main.among[main.first], main.among]
    return FirstPlace(main.placed[main.first], [Rival(name, finite(p[n])) for n, name in enumerate(main.placed) if n != main.first])


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
