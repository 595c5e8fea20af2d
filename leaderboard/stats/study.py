"""Everything that is computed of a study, in one pass: what its answers say, scales, agreement, reliability, adequacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from leaderboard.stats import (
    agreement,
    correlation,
    judge_substitution,
    judges,
    labels,
    metric_board,
    opinions,
    preference,
    rater_groups,
    reliability,
    subsample_stability,
)
from leaderboard.stats.agreement import Differences
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.evidence.across import likeness
from leaderboard.stats.judge_substitution import Asked, Joined
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import USUAL, Ratings
from leaderboard.stats.opinions import Likelihood
from leaderboard.stats.people import ONLY_DAMAGED, People, by_group, people, scored_entry
from leaderboard.stats.records import (
    REFERENCE_TITLES,
    Across,
    BetweenPeople,
    Entry,
    Judge,
    Matrix,
    Metric,
    PairTogether,
    RatersFound,
    Reliability,
    StudySummary,
    Together,
    Unscreened,
    UnscreenedMetric,
    UnscreenedScale,
)
from leaderboard.stats.reliability import Questions
from leaderboard.stats.states import Counted, Key, Reason, too_few
from leaderboard.stats.votes import VERSION, Floats, Ints, Votes, finite, without_raters

NOTHING_COUNTS = Reason(Key.NOTHING_COUNTS)


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric that answers too: its values float64[samples, methods] in the votes' order, NaN where it has none.

    Differences of at most `tie`, in its unit, are ties. `overall` float64[methods] is its value over everything, where that is not
    the mean over samples: a metric of the whole set, or a figure that was published, has nothing else and answers no question.
    `trained` is not empty where it was, or may have been, learnt from these answers or others about the same methods.
    `metric`, `title` and `fingerprint` say which metric it is, where that is known.
    """

    key: str
    values: Floats = field(repr=False)
    higher_is_better: bool = True
    tie: float = 0.0
    overall: Floats | None = field(default=None, repr=False)
    trained: str = ""
    metric: str = ""
    title: str = ""
    fingerprint: str = ""

    @cached_property
    def of_methods(self) -> Floats:
        """One value per method float64[methods]: `overall`, else the mean over its samples."""
        if self.overall is not None:
            return self.overall
        return np.array([math.nan if np.isnan(column).all() else np.nanmean(column) for column in self.values.T])

    def named(self, row: Metric) -> Metric:
        """The row with what is known of the metric itself."""
        return replace(
            row,
            metric=self.metric,
            title=self.title,
            fingerprint=self.fingerprint,
            higher_is_better=self.higher_is_better,
            tie=self.tie,
            values=[finite(value) for value in self.of_methods],
        )

    @property
    def scored(self) -> Scored:
        """The same, turned so that higher is better."""
        sign = 1.0 if self.higher_is_better else -1.0
        return Scored(self.key, sign * self.values, None if self.overall is None else sign * self.overall, self.trained)


def analyse(
    given: Votes | Ratings,
    metrics: Sequence[MetricScores] = (),
    gold: Collection[tuple[str, str]] = (),
    anchor: str | None = None,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
    models: Sequence[JudgeAnswers] = (),
    *,
    damaged: Collection[str] | None = None,
    left_out: Collection[str] = (),
    screening: bool | str = False,
    screened: Mapping[str, list[str]] | None = None,
    fragility: bool = True,
    tolerated: float = judge_substitution.TOLERATED["crowd"],
    size: Floats | None = None,
    reference_size: Floats | None = None,
    covariates: Mapping[str, Floats] | None = None,
) -> StudySummary:
    """The summary of the answers on one criterion; `step` is called every few seconds of it. Of ratings, all but their means is computed of
    comparisons: which of two entries of one sample the same rater scored higher.

    `metrics` hold values float64[samples, methods] in the order of what was given. `damaged` names the methods that are no entries of teams
    or baselines: corruptions, the empty entry, the reference; where it is given (it may be empty), the figures are of the others, and `all`
    has the same of every method. Methods `left_out` are in no figure but `all` either, and take no part in correlations. `screened` are the
    raters that rules leave out, with the rules of each; `screening` says that there are rules, or which one. `models` are judges that
    answered too, `tolerated` how much worse than a person one may be; `size` is how large each entry is [samples, methods] and
    `reference_size` how large the reference is [samples], where known. ValueError if `anchor` names no method.
    """
    if anchor is not None and anchor not in given.methods:
        raise ValueError(f"There is no method {anchor!r} in the votes to anchor at; there are: {', '.join(given.methods)}.")
    kept = without_raters(given, screened or ())
    ratings = kept if isinstance(kept, Ratings) else None
    votes = kept.comparisons() if isinstance(kept, Ratings) else kept
    counted, asked = votes.counted(), reliability.questions(votes)
    step()

    # What the answers say, of the entries and of all that was compared.
    aside = None if damaged is None and not left_out else {*(damaged or ()), *left_out}
    scored, entries = [metric.scored for metric in metrics], labels.undamaged(votes.methods, aside)

    def unanswered(among: Collection[str] | None) -> Reason:
        """Reason why there is no answer on these methods."""
        if ratings is None:
            return ONLY_DAMAGED if len(counted) else NOTHING_COUNTS
        here = {ratings.methods[n] for n in ratings.method.tolist()}
        if not here:
            return Reason(Key.ALL_SCREENED)
        if not len(votes) and here & set(ratings.methods if among is None else among):
            return Reason(Key.NO_COMPARISONS)
        return Reason(Key.NONE_COUNTS) if here & set(left_out) else ONLY_DAMAGED

    def told(chosen: Answers, among: Collection[str] | None, fragility: bool, with_covariates: bool = True) -> People:
        taken = covariates if with_covariates else None
        return people(chosen, scored, seed, fragility, taken, ratings, size, reference_size, unanswered(among), step)

    of_entries = answers(votes, entries)
    found = told(of_entries, entries, fragility)
    figures, every = found.entries, None
    if aside is not None:
        every = figures
        if covariates or not set(entries or ()) >= set(votes.methods):
            every = told(answers(votes), None, False, with_covariates=False).entries
    if covariates:
        # The column with them and without them stand side by side.
        alone = {row.method: row.implied for row in people(of_entries, (), seed, False, step=step).entries.scales}
        figures = replace(figures, scales=[replace(row, implied_without=alone.get(row.method)) for row in figures.scales])
    step()
    explained: float | None = None
    fit = None if ratings is None else opinions.likelihood(ratings)
    if ratings is not None and fit is not None:
        scales = sorted(_scored(ratings, figures.scales, fit), key=best_first)
        every = every and replace(every, scales=[replace(row, scenes={}) for row in scales])
        scales.sort(key=lambda row: row.method in (damaged or ()))  # none of them heads a table
    else:
        scales, explained = _scales(counted, anchor, seed, figures.scales)
    step()

    # The matrix of people and metrics together, and people's clusters. Judges stand in tables of judges only.
    by_metric = [reliability.metric_verdicts(asked, metric.values, metric.higher_is_better, metric.tie) for metric in metrics]
    everybody = np.concatenate([asked.verdicts, np.array(by_metric).reshape(len(metrics), -1)]) if metrics else asked.verdicts
    agreed = reliability.agreement(everybody)
    clusters = reliability.clusters(agreed.all[: len(votes.raters), : len(votes.raters)])
    matrix = Matrix(
        names=[*votes.raters, *(metric.key for metric in metrics)],
        kinds=["person"] * len(votes.raters) + ["metric"] * len(metrics),
        all=[[finite(value) for value in row] for row in agreed.all],
        decisive=[[finite(value) for value in row] for row in agreed.decisive],
        common=agreed.common.tolist(),
        order=reliability.clusters(agreed.all).order.tolist(),
        cluster=clusters.label.tolist(),
        silhouette=finite(clusters.silhouette),
    )

    # Each metric and each judge against people: pair by pair, with each group of them, and in the order of the methods, which is that of
    # their mean scores or their win rates.
    prefer = reliability.people_prefer(asked.verdicts)
    of_group = {name: np.array([group == name for group in votes.groups], dtype=bool) for name in sorted(set(votes.groups))}
    groups = {name: answers(votes.take(inside[votes.rater]), entries) for name, inside in of_group.items() if name}
    takes_part = np.array([name not in left_out for name in votes.methods], dtype=bool)
    liked = np.where(takes_part, _win_rates(counted) if ratings is None else ratings.means, math.nan)
    # Reference points are in this table too. A metric that is called like one of them is not.
    tables = {metric.key: metric for metric in scored if metric.key not in REFERENCE_TITLES}
    tables |= {point.key: point for point in metric_board.reference_points(of_entries, seed, size, reference_size)}
    across = {} if ratings is None else across_items(ratings, entries, tables)
    step()
    measured = {metric.key: (metric, verdict) for metric, verdict in zip(metrics, by_metric, strict=True)}

    def orders(of_methods: Floats, values: Floats, higher_is_better: bool = True) -> dict[str, Any]:
        """Likeness of a metric's order to people's: over the methods, within each sample, and the mean of these."""
        scenes = dict(zip(votes.samples, zip(values, liked[:-1], strict=True), strict=True))
        each, mean = correlation.by_scene(scenes, higher_is_better, preference.RESAMPLES, seed)
        order = correlation.correlation(of_methods, liked[-1], higher_is_better, preference.RESAMPLES, seed)
        step()
        return {"order": order, "scenes": each, "scenes_mean": mean}

    def whole(row: Metric) -> Metric:
        if row.reference_point:  # a reference point is no metric of the study, whatever a metric is called
            return replace(row, title=REFERENCE_TITLES[row.key], srocc=across.get(row.key))
        metric, verdict = measured[row.key]
        return replace(
            metric.named(row),
            srocc=None if row.key in REFERENCE_TITLES else across.get(row.key),
            groups=by_group(groups, metric.scored),
            pairs=reliability.with_people(verdict, asked.verdicts, seed=seed),
            decisive=reliability.with_people(verdict, asked.verdicts, decisive=True, seed=seed),
            probability=reliability.probability((1 - verdict) / 2, prefer),
            **orders(metric.of_methods, metric.values, metric.higher_is_better),
        )

    # Comparisons in which no answer counts, whoever gives it: those of damaged entries, and those whose answer is known.
    inside, known_pairs = set(votes.methods if entries is None else entries), {frozenset(pair) for pair in gold}
    golden = votes.take(votes.gold)
    known_comparisons = {
        (votes.samples[h], frozenset((votes.methods[a], votes.methods[b])))
        for h, a, b in zip(golden.sample.tolist(), golden.a.tolist(), golden.b.tolist(), strict=True)
    }

    def would_count(said: Judged) -> bool:
        pair = frozenset((said.left, said.right))
        return pair <= inside and pair not in known_pairs and (said.sample, pair) not in known_comparisons

    def judge(one: JudgeAnswers) -> Judge:
        preferred = judges.preferred(asked, votes.samples, votes.methods, one.judged)
        verdict, more = judges.verdict(preferred), {}
        if not one.display_only:
            elos = judges.elos(one.judged, votes.methods)
            counts = np.isin(np.array(votes.methods, dtype=object).astype(str), list(inside))
            more = orders(elos, judges.win_rates(one.judged, votes.samples, votes.methods))
            more["rho"] = correlation.correlations(np.where(counts, elos, math.nan), liked[-1])["rho"]
        return replace(
            _beside_people(of_entries, scored, one, tolerated, filter(would_count, one.judged)),
            pairs=reliability.with_people(verdict, asked.verdicts, seed=seed),
            decisive=reliability.with_people(verdict, asked.verdicts, decisive=True, seed=seed),
            probability=reliability.probability(preferred, prefer),
            groups={name: reliability.with_people(verdict, asked.verdicts[own], seed=seed) for name, own in of_group.items()},
            **more,
        )

    found_raters = _raters(given, votes, fit, asked, gold, found.consistency)
    steady = []
    for resource in subsample_stability.RESOURCES if len(counted) and ratings is None else ():
        step()
        steady.append(subsample_stability.curve(counted, resource, seed=seed))
    beside = None
    if screened:
        all_votes = given.comparisons() if isinstance(given, Ratings) else given
        all_ratings = given if isinstance(given, Ratings) else None
        rows = people(answers(all_votes, entries), scored, 0, False, covariates, all_ratings, step=step).entries
        scales_of_all = [UnscreenedScale(row.method, row.value) for row in rows.scales]
        agreed_of_all = [UnscreenedMetric(row.key, row.decided.brief) for row in rows.metrics]
        beside = Unscreened(len(set(given.rater.tolist())), scales_of_all, agreed_of_all)
    is_rated = ratings is not None
    return StudySummary(
        **vars(replace(figures, metrics=[whole(row) for row in figures.metrics], scales=scales)),
        version=VERSION,
        kind="opinions" if is_rated else "pairs",
        scale=given.scale if isinstance(given, Ratings) else USUAL,
        of="ratings" if is_rated else "votes",
        votes=0 if is_rated else len(votes),
        ratings=len(given) if is_rated else 0,
        counted=len(kept) if is_rated else len(counted),
        repeats=int(votes.repeat.sum()),
        questions=0 if is_rated else len(asked.sample),
        ties=float((counted.verdict == 0).mean()) if len(counted) and not is_rated else None,
        raters=list(given.raters),
        n_raters=len(given.raters),
        groups=list(given.groups),
        samples=list(given.samples),
        methods=list(given.methods),
        left_out=sorted(set(left_out) & set(given.methods)),
        screening=screening,
        screened=sorted(screened or ()),
        screened_by=dict(screened or {}),
        unscreened=beside,
        anchor=None if is_rated or not counted.methods else anchor or counted.methods[0],
        explained_share=explained,
        like_others=_mean([row.agreement for row in found_raters.raters if row.agreement is not None]) if is_rated else None,
        agreement=matrix,
        people=BetweenPeople(
            pairs=reliability.between_people(asked.verdicts, seed=seed),
            decisive=reliability.between_people(asked.verdicts, decisive=True, seed=seed),
            alpha=reliability.krippendorff_alpha(asked.verdicts),
        ),
        rater_groups=rater_groups.rater_groups(asked, seed),
        reliability=found_raters,
        adequacy=steady,
        judges=[judge(one) for one in models],
        all=every,
    )


def best_first(row: Entry) -> tuple[bool, float, str]:
    """Sorts entries by their mean scores; who was scored too seldom heads no table."""
    mean = row.mos[0]
    return too_few(row.reason), math.inf if mean is None else -mean, row.method


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _win_rates(counted: Votes) -> Floats:
    """Win rates float64[samples + 1, methods], the last row over all samples; NaN where a method was not compared."""
    parts = [*(counted.take(counted.sample == n) for n in range(len(counted.samples))), counted]
    rates = [preference.win_rate(preference.wins(preference.cells(part))) for part in parts]
    return np.array(rates, dtype=np.float64).reshape(len(parts), len(counted.methods))


def _raters(
    given: Votes | Ratings,
    votes: Votes,
    fit: Likelihood | None,
    asked: Questions,
    gold: Collection[tuple[str, str]],
    consistency: Mapping[str, tuple[float, int]],
) -> RatersFound:
    """Rater by rater: how many answers, how long, how consistent, how right on pairs of known order, how like the others. Who was left out
    of `votes` is among them; `fit` is of the ratings of the others."""
    kept = {name: n for n, name in enumerate(votes.raters)}
    seconds, rows = reliability.seconds_per_answer(given), []
    _, same_again = reliability.self_consistency(votes)
    _, right = reliability.gold_correctness(votes, gold)
    if isinstance(given, Ratings):
        by_rater = given.by_rater()
        for k, name in enumerate(given.raters):
            others = np.delete(by_rater, k, axis=0)
            seen = ~np.isnan(by_rater[k]) & (~np.isnan(others)).any(axis=0)
            like = correlation.correlation(by_rater[k, seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None
            row = Reliability(
                rater=name,
                group=given.groups[k],
                ratings=int((given.rater == k).sum()),
                agreement=like,
                seconds=seconds.get(name),
                mean=float(given.score[given.rater == k].mean()),
                screened=name not in kept,
            )
            if fit is not None and name in kept:
                row = replace(row, bias=finite(fit.bias[kept[name]]), inconsistency=finite(fit.inconsistency[kept[name]]))
            rows.append(row)
    else:
        consistent, correct, likeness = (
            reliability.self_consistency(given)[0],
            reliability.gold_correctness(given, gold)[0],
            reliability.leave_one_out(asked.verdicts),
        )
        for k, name in enumerate(given.raters):
            own = given.rater == k
            share, self_agreement, repeats = consistent.get(name, (None, None, 0))
            known, gold_pairs = correct.get(name, (None, 0))
            as_all, as_all_of = consistency.get(name, (None, 0))
            rows.append(
                Reliability(
                    rater=name,
                    group=given.groups[k],
                    votes=int(own.sum()),
                    agreement=finite(likeness[kept[name]]) if name in kept else None,
                    seconds=seconds.get(name),
                    ties=float((given.verdict[own] == 0).mean()),
                    self_consistency=share,
                    self_agreement=self_agreement,
                    repeats=repeats,
                    gold=known,
                    gold_pairs=gold_pairs,
                    consistency=as_all,
                    consistency_answers=as_all_of,
                    screened=name not in kept,
                )
            )
    wrong = reliability.panel_error(len(kept), right.value) if right.value is not None and kept else None
    return RatersFound(rows, same_again, right, wrong)


@dataclass(frozen=True, eq=False)
class Rated:
    """Stimuli that people rated, see `evidence.across.Stimuli`."""

    group: Ints
    y: Floats
    by_rater: Floats


def stimuli(ratings: Ratings, entries: Collection[str] | None) -> tuple[Rated, Ints]:
    """The stimuli of these entries that have a mean, samples as groups, and the method of each."""
    shape = len(ratings.raters), len(ratings.samples), len(ratings.methods)
    inside = np.array([entries is None or name in entries for name in ratings.methods], dtype=bool)
    group, method = np.nonzero(~np.isnan(ratings.means[:-1]) & inside)
    return Rated(group, ratings.means[group, method], ratings.by_rater().reshape(shape)[:, group, method]), method


def across_items(ratings: Ratings, entries: Collection[str] | None, metrics: Mapping[str, Scored]) -> dict[str, Across]:
    """Likeness of people's order of all results of these entries on all samples to that of each metric, with samples as clusters."""
    rated, method = stimuli(ratings, entries)
    x = {key: metric.x[rated.group, method] for key, metric in metrics.items()}
    among = [
        key
        for key, metric in metrics.items()
        if not (metric.reference_point or metric.trained or np.isnan(x[key]).any() or not len(x[key]))
    ]
    found = likeness(rated, x, True, among, of=("srocc",))["srocc"].figures

    def record(key: str) -> Across:
        figure = found[key]
        reason = figure.reason
        if reason is not None and reason.counted is Counted.GROUPS:  # an item of a study is a group of its own
            reason = replace(reason, counted=Counted.ITEMS)
        return Across(
            figure.value,
            figure.low,
            figure.high,
            figure.n,
            figure.state,
            reason,
            items=figure.groups,
            raters=figure.raters or 0,
            **{name: getattr(figure, name) for name in ("se", "df", "places", "may_be_best", "above_size", "size_p")},
        )

    return {key: record(key) for key in metrics}


def _scored(ratings: Ratings, rows: Sequence[Entry], fit: Likelihood) -> list[Entry]:
    """The rows with all that ratings say of each entry, over all and sample by sample, and those that have no row after them, the best
    first."""
    unshown, place = opinions.unshown(ratings, fit), {name: n for n, name in enumerate(ratings.methods)}

    def whole(row: Entry) -> Entry:
        n = place[row.method]
        own = ratings.method == n
        by_sample = [(name, own & (ratings.sample == at)) for at, name in enumerate(ratings.samples)]
        scenes = {name: correlation.mean_opinion(ratings.score[here]) for name, here in by_sample if here.any()}
        row = replace(row, mos_mle_reason=unshown, scenes=scenes if len(ratings.samples) > 1 else {})
        if own.any():  # else all its raters were screened
            opinion = correlation.mean_opinion(ratings.score[own])
            row = replace(
                row, sd=opinion.sd, n=opinion.n, normalised=(opinion.mean - ratings.scale[0]) / (ratings.scale[1] - ratings.scale[0])
            )
        if unshown is None:
            better = opinions.likelihood_of(ratings, fit, n)
            row = replace(row, mos_mle=better.ends, mos_mle_reason=better.reason)
        return row

    known = {row.method for row in rows}
    return [whole(row) for row in [*rows, *(scored_entry(ratings, n) for name, n in place.items() if name not in known)]]


def _scales(counted: Votes, anchor: str | None, seed: int, rows: Sequence[Entry]) -> tuple[list[Entry], float | None]:
    """The rows with what other ways to count give each method, those that have no row after them, the best win rate first; and the share
    that the quality scale explains. Nothing where nobody was asked about any."""
    if not counted.methods:
        return [], None
    cells = preference.cells(counted)
    samples = preference.resampled(counted, seed=seed)
    half, drawn = preference.wins(cells), preference.wins(samples)
    fitted = preference.fit(half)
    at = counted.methods.index(anchor) if anchor else 0
    elo, dilated = preference.judge_elo(cells, at)
    drawn_elo = preference.fits(preference.wins(samples, tie=1.0))
    drawn_elo = preference.ANCHOR + preference.PER_LOGIT * (drawn_elo - drawn_elo[:, at : at + 1])
    drawn_ability = preference.fits(drawn)
    quality, share = preference.quality_scale(counted, seed=seed)
    win_rate = preference.scale(preference.win_rate(half), preference.win_rate(drawn))
    win_rate_with_self = preference.scale(preference.win_rate_with_self(half), preference.win_rate_with_self(drawn))
    ability = preference.scale(fitted.ability, drawn_ability)
    wf_elo = preference.scale(preference.wf_elo(fitted.ability), preference.wf_elo(drawn_ability))
    judge_elo = preference.scale(elo, drawn_elo)
    place = {name: n for n, name in enumerate(counted.methods)}

    def whole(row: Entry) -> Entry:
        n = place[row.method]
        return replace(
            row,
            appearances=int(half[n].sum() + half[:, n].sum()),
            wins=float(cells[n, :, 0].sum()),
            losses=float(cells[:, n, 0].sum()),
            ties=float(cells[n, :, 1].sum()),
            win_rate=win_rate.ends(n),
            win_rate_with_self=win_rate_with_self.ends(n),
            ability=ability.ends(n),
            wf_elo=wf_elo.ends(n),
            judge_elo=judge_elo.ends(n),
            quality=quality.ends(n),
            component=int(fitted.component[n]),
            regularised=bool(fitted.regularised[n] or dilated.regularised[n]),
        )

    others = [whole(Entry(method=name)) for name in counted.methods if name not in {row.method for row in rows}]
    others.sort(key=lambda row: (math.inf if row.win_rate[0] is None else -row.win_rate[0], row.method))
    return [*(whole(row) for row in rows), *others], finite(share)


# --- judges


def _beside_people(counted: Answers, scored: Sequence[Scored], one: JudgeAnswers, tolerated: float, would_count: Iterable[Judged]) -> Judge:
    """Agreement of a judge with people, whether it may stand beside them, and, where it may, what its answers add; of these
    `would_count` are on comparisons in which people's answers count."""
    _, first, place = np.unique(counted.question, return_index=True, return_inverse=True)
    verdicts = np.full((len(counted.raters), len(first)), np.nan)
    verdicts[counted.rater, place] = counted.verdict
    asked = Questions(counted.sample[first], counted.a[first], counted.b[first], verdicts)
    verdict = judges.verdict(judges.preferred(asked, counted.samples, counted.entries, one.judged))
    own = verdict[place]
    had = ~np.isnan(own)
    decided = agreement.decided(Differences(counted.take(had), own[had], own[had], had, 1.0))
    gate = judge_substitution.gate(asked.verdicts, verdict, tolerated)
    judge = Judge(
        key=one.key,
        display_only=one.display_only,
        decided=decided,
        gate=gate,
        left_share=judges.left_share(one.judged),
        facts=dict(one.facts),
    )
    if not gate.passed or one.display_only or not one.drawn_alike:
        return judge

    # Verdicts of the judge on comparisons that people were not asked: sample, entries a < b, and the verdict as people give them.
    known = set(zip(counted.sample.tolist(), counted.a.tolist(), counted.b.tolist(), strict=True))
    samples = {name: n for n, name in enumerate(counted.samples)}
    entries = {name: n for n, name in enumerate(counted.entries)}
    said: dict[tuple[int, int, int], list[int]] = {}
    for judged in would_count:
        if judged.sample in samples and judged.left in entries and judged.right in entries:
            turn = 1 if judged.left < judged.right else -1
            a, b = sorted((entries[judged.left], entries[judged.right]))
            said.setdefault((samples[judged.sample], a, b), []).extend(turn * verdict for verdict in judged.verdicts)
    alone = [(*pair, float(np.sign(sum(each)))) for pair, each in sorted(said.items()) if each and pair not in known]

    def unit(h: int, a: int, b: int) -> int:
        """Unit that an interval takes for the sample of a pair, as `Answers.unit`."""
        return h if counted.sampled else (h * len(counted.entries) + a) * len(counted.entries) + b

    # Each metric's decided agreement by people and the judge: people's answers that the judge gave too, and the judge's on the rest.
    with_people = []
    for metric in scored:
        if not metric.by_sample:
            continue
        found = agreement.differences(counted, metric.x)
        used = np.flatnonzero(found.had)
        chosen = (found.answers.verdict != 0) & ~np.isnan(own[used])
        both, ours = found.answers.take(chosen), found.verdict[chosen]
        more = []
        for h, a, b, answer in alone:
            d = metric.x[h, b] - metric.x[h, a]
            if not np.isnan(d):
                near = agreement.EQUAL * max(1.0, abs(metric.x[h, a]), abs(metric.x[h, b]))
                more.append((unit(h, a, b), (1 + (0 if abs(d) <= near else np.sign(d)) * answer) / 2))
        people_said = Asked((1 + ours * both.verdict) / 2, both.rater, both.unit)
        with_people.append(Together(**vars(_joined(people_said, (1 + ours * own[used][chosen]) / 2, more)), key=metric.key))

    # The share of answers that pick the first of each two entries, equal answers half.
    others: dict[tuple[int, int], list[tuple[int, float]]] = {}
    entry_pairs = []
    for h, a, b, answer in alone:
        others.setdefault((a, b), []).append((unit(h, a, b), (1 - answer) / 2))
    for (a, b), more in sorted(others.items()):
        on = (counted.a == a) & (counted.b == b) & ~np.isnan(own)
        both = counted.take(on)
        if len(both):
            people_said = Asked((1 - both.verdict) / 2, both.rater, both.unit)
            joined = _joined(people_said, (1 - own[on]) / 2, more)
            entry_pairs.append(PairTogether(**vars(joined), first=counted.entries[a], second=counted.entries[b]))
    return replace(judge, with_people=with_people, pairs_with_people=entry_pairs)


def _joined(people_said: Asked, same: Floats, more: Sequence[tuple[int, float]]) -> Joined:
    """People's values with the judge's `same` on them, and its others as (unit, value)."""
    n = len(people_said.value)
    if n < 2:
        return Joined(None, None, None, 0.0, n, None, Reason(Key.JUDGE_SILENT))
    values = np.array([value for _, value in more], dtype=np.float64)
    others = Asked(values, np.arange(len(more)), np.array([h for h, _ in more], dtype=np.int64))
    return judge_substitution.together(people_said, same, others)
