"""All that a study's answers say of its metrics and entries, on one criterion and one set of entries, with its intervals.

A study has two such summaries: of the entries of teams and baselines, which is what boards and pages show, and of all that was
compared, damaged and empty entries included, which stands beside it in small print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.stats import agreement, crossed, davidson, planning
from leaderboard.stats import opinions as opinion_scores
from leaderboard.stats.agreement import Ceiling, Correlation, Differences, Pair, ThreeWay
from leaderboard.stats.answers import Answers
from leaderboard.stats.crossed import Figure
from leaderboard.stats.davidson import Fragile, Model
from leaderboard.stats.differences import UNTOLD, Seen, seen
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.opinions import Fitted, fitted
from leaderboard.stats.planning import Forecast
from leaderboard.stats.uncertainty import ALPHA, paired
from leaderboard.stats.votes import FEW, Floats

ONLY_DAMAGED = "Only damaged entries were compared here."
NEVER_MET = "It met nobody."
UNKNOWN_COVARIATE = "{} is not known of everything that was compared, so no account was taken of it."


@dataclass(frozen=True, eq=False)
class Scored:
    """A metric of the study: x float64[samples, entries], turned so that higher is better, NaN where it has no value.

    `overall` float64[entries] is its value of each entry where that is not the mean over the study's samples. `trained` is not
    empty where it was, or may have been, learnt from these answers. A `guard` knows nothing, or size alone.
    """

    key: str
    x: Floats
    overall: Floats | None = None
    trained: str = ""
    guard: bool = False

    @property
    def of_entries(self) -> Floats:
        if self.overall is not None:
            return self.overall
        n = (~np.isnan(self.x)).sum(axis=0)
        return np.divide(np.nansum(self.x, axis=0), n, out=np.full(self.x.shape[1], math.nan), where=n > 0)

    @property
    def by_sample(self) -> bool:
        """True if it answers questions; a metric of the whole set does not."""
        return not np.isnan(self.x).all()


@dataclass(frozen=True, eq=False)
class Opinions:
    """Mean opinion scores in the place of preferences: of each entry float64[entries], and on each sample float64[samples, entries];
    `scores` are what they are the means of."""

    of_entries: Floats
    by_sample: Floats
    scores: Ratings


@dataclass(frozen=True)
class Duel:
    """Two entries that people compared, `first` the one that they prefer. `value` says how often (in an opinion study: by how many
    points of the scale their means differ), `p` how likely such a difference is between equals, after Holm over all such pairs.
    `answers` were given on the two."""

    first: str
    second: str
    value: Figure
    p: float | None
    answers: int

    @property
    def told_apart(self) -> bool:
        return self.p is not None and self.p <= ALPHA


@dataclass(frozen=True)
class Contradiction:
    """A duel that people decided beyond chance and that a metric, beyond chance too, puts the other way round. `p` is the metric's own, of
    the paired test over the study's samples; None of a metric without values per sample, which puts them strictly so. `samples` are
    those in which it contradicts the majority."""

    duel: Duel
    p: float | None
    samples: tuple[str, ...]


@dataclass(frozen=True)
class MetricRow:
    """Figures of one metric by the answers; `tier` is None for guards, for metrics trained on these answers, and where nothing could be
    tested. `over_size` is its difference to the guard of size, and `above_size` says whether it was shown to see more than that; None
    where there is no such guard."""

    key: str
    guard: bool
    trained: str
    coverage: float | None
    decided: Figure
    better_worse: Figure
    different_similar: Figure
    three_way: ThreeWay
    spa: float | None
    rho: Correlation
    tau: Correlation
    r: Correlation
    seen: Seen | None
    of_ceiling: float | None
    fitted: Fitted | None = None
    contradictions: tuple[Contradiction, ...] = ()
    tier: int | None = None
    above_size: bool | None = None
    over_size: Pair | None = None

    @property
    def few(self) -> str:
        """The sentence that says why nothing of it is tested: it has values for answers of too few raters, or on too few samples."""
        return self.decided.why if self.decided.why.startswith(FEW) else ""


@dataclass(frozen=True)
class EntryRow:
    """People's figures of one entry: `implied` is their column, `rank` between which places it lies, `part` numbers the parts of a
    study whose entries never met. None, with `why`, where nothing can be said."""

    method: str
    part: int | None
    answers: int
    implied: Figure
    theta: Figure
    rank: tuple[int, int] | None = None
    p_best: float | None = None


@dataclass(frozen=True)
class Coefficient:
    """A covariate's beta per unit, and how often, with its interval, the side with one unit more is preferred between equals."""

    name: str
    beta: Figure
    share: tuple[float, float | None, float | None]


@dataclass(frozen=True)
class Preference:
    """The model of one part: its ties, sides and covariates, and what it had to leave out."""

    part: int
    nu: float
    side: Figure | None
    left_preferred: float | None
    covariates: tuple[Coefficient, ...]
    prior: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Enough:
    """The first `settled` places are settled: their rank intervals overlap none below. `more` answers, about, would settle the next;
    None where all are settled, or the two at the edge are level."""

    settled: int
    more: int | None


@dataclass(frozen=True)
class FirstPlace:
    """The first by ability among the entries that met, and the two-sided p of its lead over each of the `others`."""

    entry: str
    others: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True)
class People:
    """Everything of one set of entries. `why` is said in the place of a headline where there is none."""

    answers: int
    decided: int
    raters: int
    samples: int
    metrics: tuple[MetricRow, ...]
    entries: tuple[EntryRow, ...]
    ceiling: Ceiling | None
    models: tuple[Preference, ...]
    pairs: tuple[Pair, ...]
    fragile: Fragile | None
    duels: tuple[Duel, ...] = ()
    enough: Enough | None = None
    first_place: FirstPlace | None = None
    forecast: Forecast | None = None  # of the first metric's decided agreement
    consistency: tuple[tuple[str, float, int], ...] = ()  # of each rater, with the answers, see `davidson.consistency`
    why: str = ""


def people(
    answers: Answers,
    metrics: Sequence[Scored] = (),
    seed: int = 0,
    fragility: bool = True,
    covariates: Mapping[str, Floats] | None = None,
    opinions: Opinions | None = None,
    size: Floats | None = None,
    reference_size: Floats | None = None,
    step: Callable[[], None] = lambda: None,
) -> People:
    """The summary of these answers. `covariates` are tables like a metric's x, of which the models take the differences. With
    `opinions`, of which the answers were made, entries stand by their mean scores and no model is fitted. `size` is how large what an
    entry handed in for a sample is [samples, entries], `reference_size` how large its reference is [samples]: guards, where known."""
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
        certain[np.ix_(main.entries, main.entries)] = agreement.certain_by_people(main.theta, main.between.total, main.between.df)
    step()
    best = agreement.ceiling(answers)
    compared = _duels_of_scores(answers, opinions.scores) if opinions else _duels(answers, models)
    step()
    rows, differences = [], []
    for metric in [*metrics, *guards(answers, seed, size, reference_size if opinions else None)]:
        difference = agreement.differences(answers, metric.x)
        headline, order = agreement.decided(difference), agreement.correlations(metric.of_entries, column)
        sure = None
        if not clusters.few and metric.by_sample and not headline.why.startswith(FEW):
            sure = agreement.soft_pairwise(certain, agreement.certain_by_samples(np.where(np.isnan(column), math.nan, metric.x)))
        curve = None
        if opinions is not None:
            curve = fitted(metric.x.ravel(), np.where(np.isnan(column), math.nan, opinions.by_sample).ravel())
        row = MetricRow(
            key=metric.key,
            guard=metric.guard,
            trained=metric.trained,
            coverage=difference.coverage,
            decided=headline,
            better_worse=agreement.better_worse(difference),
            different_similar=agreement.different_similar(difference),
            three_way=agreement.three_way(difference),
            spa=sure,
            rho=order["rho"],
            tau=order["tau"],
            r=order["r"],
            seen=seen(difference),
            of_ceiling=agreement.share_of_the_way(headline, best),
            fitted=curve,
            contradictions=() if metric.guard else _contradictions(answers, metric, compared),
        )
        rows.append(row)
        differences.append(difference)
        step()
    placed, pairs = _compared(rows, differences, few=bool(clusters.few))
    entries = () if opinions else _entries(answers, models)
    step()
    preferences = []
    for part, model in enumerate(models, 1):
        coefficients = []
        for name, value in zip(model.covariates, model.beta.tolist(), strict=True):
            beta = davidson.coefficient(model, name)
            low, high = (None if end is None else davidson.share_of(end, model.nu) for end in (beta.low, beta.high))
            coefficients.append(Coefficient(name, beta, (davidson.share_of(value, model.nu), low, high)))
        side = left = None
        if model.gamma is not None:
            side, left = davidson.coefficient(model, "side"), davidson.share_of(model.gamma, model.nu)
        preferences.append(Preference(part, model.nu, side, left, tuple(coefficients), model.prior, (*unknown, *model.notes)))

    decided = int((answers.verdict != 0).sum())
    summary = People(
        answers=len(answers),
        decided=decided,
        raters=clusters.n_raters,
        samples=clusters.n_samples,
        metrics=placed,
        entries=entries,
        ceiling=best,
        models=tuple(preferences),
        pairs=pairs,
        fragile=None,
        duels=compared,
        forecast=_forecast(placed, metrics, differences),
        why=ONLY_DAMAGED if not len(answers) else clusters.few if decided else davidson.NOBODY,
    )
    if clusters.few or not models or len(models[0]) < 2:
        return summary

    # Of the largest part. The p of first place are not those of one look among several: that holds each against 5 % over the number of
    # looks.
    main = models[0]
    names = [answers.entries[entry] for entry in main.entries.tolist()]
    first, p = int(np.argmax(main.theta)), davidson.duels(main).p
    return replace(
        summary,
        fragile=davidson.fragile(main, step) if fragility else None,
        enough=_enough(main, entries),
        first_place=FirstPlace(names[first], tuple((name, _or_none(p[first, n])) for n, name in enumerate(names) if n != first)),
        consistency=tuple((answers.raters[k], *one) for k, one in davidson.consistency(main).items()),
    )


def guards(answers: Answers, seed: int, size: Floats | None = None, reference_size: Floats | None = None) -> list[Scored]:
    """Rows that know nothing, or size alone, in every table and last in it."""
    shape = len(answers.samples), len(answers.entries)
    scored = [
        Scored("constant", agreement.constant(*shape), guard=True),
        Scored("coin", agreement.coin(seed, *shape), guard=True),
    ]
    if size is not None:
        scored.append(Scored("size", size, guard=True))
    if reference_size is not None:
        scored.append(Scored("reference only", np.repeat(reference_size[:, None], shape[1], axis=1), guard=True))
    return scored


def _duels(answers: Answers, models: Sequence[Model]) -> tuple[Duel, ...]:
    """Each two entries that somebody was asked about, those that people are surest of first."""
    counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
    np.add.at(counts, (answers.a, answers.b), 1)
    duels, p_values = [], []
    for model in models:
        table = davidson.duels(model)
        of_model = Figure(None, raters=model.clusters.n_raters, samples=model.clusters.n_samples, why=model.clusters.few)
        for i, j in np.argwhere(np.triu(table.met, 1)).tolist():
            if table.value[i, j] < 0.5:
                i, j = j, i
            a, b = int(model.entries[i]), int(model.entries[j])
            n = int(counts[a, b] + counts[b, a])
            low, high = _or_none(table.low[i, j]), _or_none(table.high[i, j])
            share = replace(of_model, value=float(table.value[i, j]), low=low, high=high, n=n)
            duels.append(Duel(answers.entries[a], answers.entries[b], share, None, n))
            p_values.append(float(table.p[i, j]))
    return _surest_first(duels, p_values)


def _duels_of_scores(answers: Answers, scores: Ratings) -> tuple[Duel, ...]:
    """Each two entries that one rater scored on one sample; the difference of their means, over raters and samples."""
    counts = np.zeros((len(answers.entries),) * 2, dtype=np.int64)
    np.add.at(counts, (answers.a, answers.b), 1)
    found, p_values = [], []
    for a, b in np.argwhere(counts).tolist():
        apart = opinion_scores.apart(scores, a, b)
        if apart.value is not None and apart.value < 0:
            a, b, apart = b, a, opinion_scores.apart(scores, b, a)
        found.append(Duel(answers.entries[a], answers.entries[b], apart, None, int(counts[a, b] + counts[b, a])))
        if apart.value is None or apart.why.startswith(FEW):
            p_values.append(math.nan)
        elif apart.se is None or apart.df is None:  # all scores of each are alike
            p_values.append(1.0 if abs(apart.value) <= crossed.NOTHING else 0.0)
        else:
            p_values.append(crossed.two_sided(apart.value, apart.se**2, apart.df))
    return _surest_first(found, p_values)


def _surest_first(found: Sequence[Duel], p_values: Sequence[float]) -> tuple[Duel, ...]:
    tested = [n for n, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = dict(zip(tested, crossed.holm(np.array([p_values[n] for n in tested])).tolist(), strict=True))
    order = sorted(range(len(found)), key=lambda n: (p_values[n] if n in adjusted else math.inf, found[n].first, found[n].second))
    return tuple(replace(found[n], p=adjusted.get(n)) for n in order)


def _contradictions(answers: Answers, metric: Scored, compared: Sequence[Duel]) -> tuple[Contradiction, ...]:
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
        samples = np.flatnonzero((leaning > 0) & (metric.x[:, j] > metric.x[:, i]))
        contradictions.append(Contradiction(duel, p, tuple(answers.samples[n] for n in samples)))
    return tuple(contradictions)


def _enough(model: Model, entries: Sequence[EntryRow]) -> Enough | None:
    """By the rank intervals of the largest part; None without them."""
    ranked = [(row.method, *row.rank) for row in entries if row.part == 1 and row.rank is not None]
    if not ranked:
        return None
    settled = planning.settled_places(np.array([low for _, low, _ in ranked]), np.array([high for _, _, high in ranked]))
    if settled == len(ranked):
        return Enough(settled, None)
    place = {int(entry): n for n, entry in enumerate(model.entries)}
    names = {name: n for n, name in enumerate(model.answers.entries)}
    above, below = (place[names[ranked[settled + n][0]]] for n in (0, 1))
    gap = float(model.theta[above] - model.theta[below])
    variance = float(model.between.total[above, below])
    known = abs(gap) > agreement.EQUAL and variance > 0
    return Enough(settled, planning.more_for(gap, variance, len(model.answers)) if known else None)


def _forecast(rows: Sequence[MetricRow], metrics: Sequence[Scored], found: Sequence[Differences]) -> Forecast | None:
    """Precision that the headline of the first metric would have with more answers, raters or samples; None where it is always right, or
    always wrong."""
    if not rows or rows[0].guard or rows[0].decided.low is None or rows[0].decided.value is None:
        return None
    if not crossed.NOTHING < rows[0].decided.value < 1 - crossed.NOTHING:  # nothing varies there, as if it were known for sure
        return None
    at = next(n for n, metric in enumerate(metrics) if metric.key == rows[0].key)
    answers, credits = agreement.credit(found[at])
    _, u = crossed.ratio(answers.weight * credits, answers.weight)
    # Of new answers as many name a winner as of those that are there.
    return planning.forecast(answers.clusters.variance(u), len(found[at].answers))


def _compared(rows: list[MetricRow], differences: list[Differences], few: bool) -> tuple[tuple[MetricRow, ...], tuple[Pair, ...]]:
    """The rows with their tiers, the best first and guards last, and the tests between metrics."""
    pairs = agreement.pairs([(row.key, one) for row, one in zip(rows, differences, strict=True) if _counts(row)])
    p_holm = {frozenset((pair.first, pair.second)): pair.p_holm for pair in pairs if pair.p_holm is not None}
    values = {row.key: row.decided.value for row in rows if _counts(row) and not row.few and row.decided.value is not None}
    tiers = {} if few else agreement.tiers(values, p_holm)
    size = next((one for row, one in zip(rows, differences, strict=True) if row.guard and row.key == "size"), None)
    placed = []
    for row, one in zip(rows, differences, strict=True):
        over = None
        if size is not None and not row.guard and row.decided.value is not None and not few and not row.few:
            over = agreement.compared(one, size, (row.key, "size"))
        above = None if over is None else not agreement.not_above(over)
        placed.append(replace(row, tier=None if row.guard else tiers.get(row.key), above_size=above, over_size=over))
    # Where nothing could be tested there is no order of metrics, and none of those that have values for too few raters or samples.
    ranked = [row for row in placed if not row.guard]
    ranked.sort(key=lambda row: (bool(row.few), 0.0 if few or row.few or row.decided.value is None else -row.decided.value, row.key))
    return (*ranked, *(row for row in placed if row.guard)), tuple(pairs)


def _counts(row: MetricRow) -> bool:
    return not row.guard and not row.trained and row.decided.value is not None


def _entries(answers: Answers, fitted: Sequence[Model]) -> tuple[EntryRow, ...]:
    counts = np.bincount(np.concatenate([answers.a, answers.b]), minlength=len(answers.entries))
    rows = []
    for part, model in enumerate(fitted, 1):
        column, ability, places = davidson.implied(model), davidson.abilities(model), davidson.places(model)
        known = {"n": len(model.answers), "raters": model.clusters.n_raters, "samples": model.clusters.n_samples}
        for n, entry in enumerate(model.entries.tolist()):
            implied, theta = (
                Figure(float(scale.value[n]), _or_none(scale.low[n]), _or_none(scale.high[n]), why=scale.why, **known)
                for scale in (column, ability)
            )
            rank = None if places is None else (int(places.low[n]), int(places.high[n]))
            best = None if places is None else float(places.p_best[n])
            rows.append(EntryRow(answers.entries[entry], part, int(counts[entry]), implied, theta, rank, best))
    placed = {row.method for row in rows}
    for n, name in enumerate(answers.entries):
        if counts[n] and name not in placed:
            nobody = Figure(None, why=davidson.NOBODY)
            rows.append(EntryRow(name, None, int(counts[n]), nobody, nobody))
    rows.sort(key=lambda row: (row.part or math.inf, -(row.implied.value or 0.0), row.method))
    return tuple(rows)


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# --- as JSON


def as_json(summary: People) -> dict[str, Any]:
    """The names that pages, API, exports and the command share."""
    metrics = []
    for row in summary.metrics:
        seen_json: dict[str, Any] | None = None
        if row.seen is not None:
            seen_json = {"gamma": row.seen.gamma, "unit": row.seen.unit, **dict(zip(("slope", "low", "high"), row.seen.slope, strict=True))}
            seen_json |= {"delta75": row.seen.delta75, "largest": row.seen.largest}
        three_way = _ends(row.three_way.figure) | {"tolerance": row.three_way.tolerance, "range": row.three_way.range}
        metrics.append(
            {
                "key": row.key,
                "guard": row.guard,
                "trained": row.trained,
                "decided": figure_json(row.decided) | {"coverage": row.coverage},
                "auc_better_worse": _ends(row.better_worse),
                "auc_different_similar": _ends(row.different_similar),
                "acc_eq": three_way,
                "spa": {"value": row.spa, "why": summary.why or row.few if row.spa is None else ""},
                "rho": _ends(row.rho),
                "tau": _ends(row.tau),
                "r": _ends(row.r),
                "seen": seen_json,
                "seen_why": "" if seen_json else summary.why or row.few or UNTOLD,
                "fitted": None if row.fitted is None else vars(row.fitted),
                "of_ceiling": row.of_ceiling,
                "tier": row.tier,
                "above_size": row.above_size,
                "over_size": None if row.over_size is None else vars(row.over_size),
                "contradictions": [_duel_json(one.duel) | {"p_metric": one.p, "samples": list(one.samples)} for one in row.contradictions],
            }
        )
    scales = [
        {
            "method": row.method,
            "part": row.part,
            "answers": row.answers,
            "implied": [row.implied.value, row.implied.low, row.implied.high],
            "theta": [row.theta.value, row.theta.low, row.theta.high],
            "rank": None if row.rank is None else list(row.rank),
            "p_best": row.p_best,
            "why": row.implied.why,
        }
        for row in summary.entries
    ]
    best, fragile, first = summary.ceiling, summary.fragile, summary.first_place
    ceiling = None
    if best is not None:
        ceiling = {name: getattr(best, name) for name in ("leave_one_out", "low", "likely", "high", "n")}
        ceiling = {"two_people": _ends(best.two_people)} | ceiling
    models = [
        {
            "part": model.part,
            "nu": model.nu,
            "side": None if model.side is None else [model.side.value, model.side.low, model.side.high],
            "left_preferred": model.left_preferred,
            "covariates": [
                {"name": one.name, "value": one.beta.value, "low": one.beta.low, "high": one.beta.high, "share": one.share[0]}
                | {"share_low": one.share[1], "share_high": one.share[2]}
                for one in model.covariates
            ],
            "prior": model.prior,
            "notes": list(model.notes),
        }
        for model in summary.models
    ]
    return {
        "answers": summary.answers,
        "decided_answers": summary.decided,
        "raters_counted": summary.raters,
        "samples_counted": summary.samples,
        "why": summary.why,
        "metrics": metrics,
        "scales": scales,
        "ceiling": ceiling,
        "model": models[0] if models else None,
        "models": models,
        "fragile": None if fragile is None else {"answers": fragile.answers, "raters": fragile.raters, "samples": fragile.samples},
        "metric_pairs": [vars(pair) for pair in summary.pairs],
        "duels": [_duel_json(duel) for duel in summary.duels],
        "enough": None if summary.enough is None else vars(summary.enough),
        "first_place": None if first is None else {"entry": first.entry, "others": [{"entry": name, "p": p} for name, p in first.others]},
        "consistency": {rater: {"consistency": value, "consistency_answers": n} for rater, value, n in summary.consistency},
        "forecast": None if summary.forecast is None else {"metric": summary.metrics[0].key, **vars(summary.forecast)},
    }


def _duel_json(duel: Duel) -> dict[str, Any]:
    share = [duel.value.value, duel.value.low, duel.value.high]
    return {"first": duel.first, "second": duel.second, "value": share, "p_holm": duel.p, "answers": duel.answers}


def _ends(figure: Figure | Correlation) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n, "why": figure.why}


def figure_json(figure: Figure) -> dict[str, Any]:
    """A figure with all that its interval is made of."""
    return _ends(figure) | {
        "n_eff": figure.n_eff,
        "raters": figure.raters,
        "samples": figure.samples,
        "se": figure.se,
        "df": figure.df,
        "rough": figure.rough,
    }
