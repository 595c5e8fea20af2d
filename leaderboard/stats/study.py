"""Everything that is computed of a study, in one pass: what its answers say, scales, agreement, reliability, adequacy."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats import (
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
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.correlation import Order
from leaderboard.stats.evidence.across import likeness
from leaderboard.stats.judge_beside_people import beside_people
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import USUAL, Ratings
from leaderboard.stats.opinions import Likelihood
from leaderboard.stats.people import ONLY_DAMAGED, People, by_group, scored_entry
from leaderboard.stats.records import (
    REFERENCE_TITLES,
    Across,
    BetweenPeople,
    Entries,
    Entry,
    Judge,
    Matrix,
    Metric,
    RatersFound,
    Reliability,
    StudySummary,
    Unscreened,
    UnscreenedMetric,
    UnscreenedScale,
)
from leaderboard.stats.reliability import Probability, Questions, Share
from leaderboard.stats.states import Counted, Key, Reason, too_few
from leaderboard.stats.votes import VERSION, Floats, Ints, Votes, finite, without_raters

NOTHING_COUNTS = Reason(Key.NOTHING_COUNTS)
T = TypeVar("T", Votes, Ratings)


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

    `metrics` hold values float64[samples, methods] in the order of `given`. `damaged` names the methods that are no entries of teams or
    baselines: corruptions, the empty entry, the reference. If it is given (it may be empty), the figures are of the others, and `all`
    has the same of every method. Methods `left_out` are in no figure but `all` either, and take no part in correlations. `screened` are the
    raters that rules leave out, with the rules of each; `screening` says that there are rules, or which one. `models` are judges that
    answered too, and `tolerated` is how much worse than a person one may be. `size` [samples, methods] is the size of each entry, and
    `reference_size` [samples] of the reference, where known. ValueError if `anchor` names no method.
    """
    if anchor is not None and anchor not in given.methods:
        raise ValueError(f"There is no method {anchor!r} in the votes to anchor at; there are: {', '.join(given.methods)}.")
    of: type[_Study[Any]] = _OfRatings if isinstance(given, Ratings) else _OfVotes
    sizes, rules = (size, reference_size), (screening, screened or {})
    study = of(given, metrics, gold, anchor, seed, step, models, damaged, left_out, *rules, fragility, tolerated, *sizes, covariates)
    return study.summary()


@dataclass(frozen=True)
class _Verdicts:
    """Agreement of one row of verdicts with people's."""

    pairs: Share
    decisive: Share
    probability: Probability


@dataclass(frozen=True)
class _Orders:
    """Likeness of an order of the methods to people's: over everything, within each sample, and the mean of these."""

    order: Order
    scenes: dict[str, Order]
    scenes_mean: Order


@dataclass(frozen=True, eq=False)
class _Study(Generic[T]):
    """A study on one criterion: what `analyse` takes, and the parts of the summary that it returns."""

    given: T
    metrics: Sequence[MetricScores]
    gold: Collection[tuple[str, str]]
    anchor: str | None
    seed: int
    step: Callable[[], None]
    models: Sequence[JudgeAnswers]
    damaged: Collection[str] | None
    left_out: Collection[str]
    screening: bool | str
    screened: Mapping[str, list[str]]
    fragility: bool
    tolerated: float
    size: Floats | None
    reference_size: Floats | None
    covariates: Mapping[str, Floats] | None

    def summary(self) -> StudySummary:
        """All of it but what only votes, or only ratings, have."""
        given, verdicts, figures = self.given, self.asked.verdicts, self.figures
        self.step()
        return StudySummary(
            **vars(replace(figures, metrics=[self._metric(row) for row in figures.metrics])),
            version=VERSION,
            kind="pairs",
            counted=len(self.counted),
            repeats=int(self.votes.repeat.sum()),
            raters=list(given.raters),
            n_raters=len(given.raters),
            groups=list(given.groups),
            samples=list(given.samples),
            methods=list(given.methods),
            left_out=sorted(set(self.left_out) & set(given.methods)),
            screening=self.screening,
            screened=sorted(self.screened),
            screened_by=dict(self.screened),
            unscreened=self._unscreened() if self.screened else None,
            agreement=self._matrix(),
            people=BetweenPeople(
                pairs=reliability.between_people(verdicts, seed=self.seed),
                decisive=reliability.between_people(verdicts, decisive=True, seed=self.seed),
                alpha=reliability.krippendorff_alpha(verdicts),
            ),
            rater_groups=rater_groups.rater_groups(self.asked, self.seed),
            reliability=self._raters(),
            judges=[self._judge(one) for one in self.models],
            all=self.every,
        )

    # --- A: the answers that count, of raters whom no rule leaves out

    @cached_property
    def kept(self) -> T:
        return without_raters(self.given, self.screened)

    @cached_property
    @abstractmethod
    def votes(self) -> Votes:
        """The same as comparisons."""

    @property
    def ratings(self) -> Ratings | None:
        return None

    @cached_property
    def counted(self) -> Votes:
        return self.votes.counted()

    @cached_property
    def asked(self) -> Questions:
        return reliability.questions(self.counted)

    @cached_property
    def among(self) -> list[str] | None:
        """The methods that are neither damaged nor left out; None where nobody says which are."""
        aside = None if self.damaged is None and not self.left_out else {*(self.damaged or ()), *self.left_out}
        return labels.undamaged(self.votes.methods, aside)

    @cached_property
    def answers(self) -> Answers:
        """The answers on these."""
        return answers(self.votes, self.among)

    @abstractmethod
    def _unanswered(self, among: Collection[str] | None) -> Reason:
        """Reason why there is no answer on these methods."""

    # --- B to I: figures of the entries, and of all that was compared

    @cached_property
    def scored(self) -> list[Scored]:
        return [metric.scored for metric in self.metrics]

    def _people(self, counted: Answers, among: Collection[str] | None, fragility: bool, covariates: Mapping[str, Floats] | None) -> People:
        sizes = self.size, self.reference_size
        return People(counted, self.scored, self.seed, fragility, covariates, self.ratings, *sizes, self._unanswered(among), self.step)

    @cached_property
    def people(self) -> People:
        """Figures of the entries."""
        return self._people(self.answers, self.among, self.fragility, self.covariates)

    @cached_property
    def figures(self) -> Entries:
        """The same, where there are covariates with the people's column without them beside it."""
        found = self.people.entries
        if not self.covariates:
            return found
        rows = People(self.answers, (), self.seed, False, step=self.step).entries.scales
        alone = {row.method: row.implied for row in rows}
        return replace(found, scales=[replace(row, implied_without=alone.get(row.method)) for row in found.scales])

    @cached_property
    def every(self) -> Entries | None:
        """The same of all that was compared; None where nobody says what is damaged."""
        if self.among is None:
            return None
        if not self.covariates and set(self.among) >= set(self.votes.methods):
            return self.people.entries
        return self._people(answers(self.votes), None, False, None).entries

    def _unscreened(self) -> Unscreened:
        """The figures of all raters."""
        votes, ratings = (self.given.comparisons(), self.given) if isinstance(self.given, Ratings) else (self.given, None)
        found = People(answers(votes, self.among), self.scored, 0, False, self.covariates, ratings, step=self.step).entries
        scales = [UnscreenedScale(row.method, row.value) for row in found.scales]
        agreed = [UnscreenedMetric(row.key, row.decided.brief) for row in found.metrics]
        return Unscreened(len(set(self.given.rater.tolist())), scales, agreed)

    # --- metrics and judges against people, as earlier papers have it

    @cached_property
    def by_metric(self) -> list[Floats]:
        """Verdicts of each metric on the questions [Q]."""
        return [reliability.metric_verdicts(self.asked, one.values, one.higher_is_better, one.tie) for one in self.metrics]

    @cached_property
    def of_group(self) -> dict[str, NDArray[np.bool_]]:
        """Raters of each group [K]."""
        groups = self.votes.groups
        return {name: np.array([group == name for group in groups], dtype=bool) for name in sorted(set(groups))}

    @cached_property
    def answers_of_group(self) -> dict[str, Answers]:
        """Answers of the raters of each group that has a name."""
        return {name: answers(self.votes.take(own[self.votes.rater]), self.among) for name, own in self.of_group.items() if name}

    @cached_property
    def prefer(self) -> Floats:
        """The share of people who prefer the first of each question [Q]."""
        return reliability.people_prefer(self.asked.verdicts)

    @cached_property
    @abstractmethod
    def liked(self) -> Floats:
        """People's value of each method on each sample and, in the last row, over all [S + 1, M]."""

    @cached_property
    def liked_entries(self) -> Floats:
        """The same, NaN for methods that are left out."""
        return np.where([name not in self.left_out for name in self.votes.methods], self.liked, math.nan)

    def _verdicts(self, verdict: Floats, preferred: Floats) -> _Verdicts:
        said = self.asked.verdicts
        pairs, decisive = (reliability.with_people(verdict, said, decisive=only, seed=self.seed) for only in (False, True))
        return _Verdicts(pairs, decisive, reliability.probability(preferred, self.prefer))

    def _orders(self, of_methods: Floats, values: Floats, higher_is_better: bool = True) -> _Orders:
        *within, over_all = self.liked_entries
        scenes = dict(zip(self.votes.samples, zip(values, within, strict=True), strict=True))
        each, mean = correlation.by_scene(scenes, higher_is_better, preference.RESAMPLES, self.seed)
        order = correlation.correlation(of_methods, over_all, higher_is_better, preference.RESAMPLES, self.seed)
        self.step()
        return _Orders(order, each, mean)

    def _metric(self, row: Metric) -> Metric:
        """A metric's row with these; a reference point is no metric of the study, whatever a metric is called."""
        if row.reference_point:
            return replace(row, title=REFERENCE_TITLES[row.key])
        n = {metric.key: n for n, metric in enumerate(self.metrics)}[row.key]
        metric, verdict = self.metrics[n], self.by_metric[n]
        return replace(
            metric.named(row),
            groups=by_group(self.answers_of_group, self.scored[n]),
            **vars(self._verdicts(verdict, (1 - verdict) / 2)),
            **vars(self._orders(metric.of_methods, metric.values, metric.higher_is_better)),
        )

    def _judge(self, one: JudgeAnswers) -> Judge:
        votes, known = self.votes, {frozenset(pair) for pair in self.gold}
        inside, golden = set(votes.methods if self.among is None else self.among), votes.take(votes.gold)
        sides = zip(golden.sample.tolist(), golden.a.tolist(), golden.b.tolist(), strict=True)
        known_comparisons = {(votes.samples[h], frozenset((votes.methods[a], votes.methods[b]))) for h, a, b in sides}

        def would_count(said: Judged) -> bool:
            """False where no answer counts, whoever gives it: on damaged entries, and where the answer is known."""
            pair = frozenset((said.left, said.right))
            return pair <= inside and pair not in known and (said.sample, pair) not in known_comparisons

        preferred = judges.preferred(self.asked, votes.samples, votes.methods, one.judged)
        verdict = judges.verdict(preferred)
        said = {name: self.asked.verdicts[own] for name, own in self.of_group.items()}
        judge = replace(
            beside_people(self.answers, self.scored, one, self.tolerated, filter(would_count, one.judged)),
            groups={name: reliability.with_people(verdict, own, seed=self.seed) for name, own in said.items()},
            **vars(self._verdicts(verdict, preferred)),
        )
        if one.display_only:
            return judge
        elos = judges.elos(one.judged, votes.methods)
        orders = self._orders(elos, judges.win_rates(one.judged, votes.samples, votes.methods))
        of_entries = np.where([name in inside for name in votes.methods], elos, math.nan)
        return replace(judge, rho=correlation.correlations(of_entries, self.liked_entries[-1])["rho"], **vars(orders))

    def _matrix(self) -> Matrix:
        """The matrix of people and metrics together, and people's clusters. Judges stand in tables of judges only."""
        k = len(self.votes.raters)
        agreed = reliability.agreement(np.vstack([self.asked.verdicts, *self.by_metric]))
        clusters = reliability.clusters(agreed.all[:k, :k])
        return Matrix(
            names=[*self.votes.raters, *(metric.key for metric in self.metrics)],
            kinds=["person"] * k + ["metric"] * len(self.metrics),
            all=[[finite(value) for value in row] for row in agreed.all],
            decisive=[[finite(value) for value in row] for row in agreed.decisive],
            common=agreed.common.tolist(),
            order=reliability.clusters(agreed.all).order.tolist(),
            cluster=clusters.label.tolist(),
            silhouette=finite(clusters.silhouette),
        )

    # --- raters

    def _raters(self) -> RatersFound:
        """Rater by rater: how many answers, how long, how consistent, how right on pairs of known order, how like the others. Who was left
        out of the figures is among them."""
        _, same_again = reliability.self_consistency(self.votes)
        _, right = reliability.gold_correctness(self.votes, self.gold)
        kept = {name: n for n, name in enumerate(self.votes.raters)}
        wrong = reliability.panel_error(len(kept), right.value) if right.value is not None and kept else None
        seconds = reliability.seconds_per_answer(self.given)
        rows = [
            replace(self._rater(k, kept.get(name)), group=group, seconds=seconds.get(name), screened=name not in kept)
            for k, (name, group) in enumerate(zip(self.given.raters, self.given.groups, strict=True))
        ]
        return RatersFound(rows, same_again, right, wrong)

    @abstractmethod
    def _rater(self, k: int, kept: int | None) -> Reliability:
        """One rater, by the number among all, and among those who are not left out."""


class _OfVotes(_Study[Votes]):
    def summary(self) -> StudySummary:
        counted, (scales, explained) = self.counted, self._scales()
        found, adequacy = super().summary(), []
        for resource in subsample_stability.RESOURCES if len(counted) else ():
            self.step()
            adequacy.append(subsample_stability.curve(counted, resource, seed=self.seed))
        return replace(
            found,
            scales=scales,
            scale=USUAL,
            votes=len(self.votes),
            questions=len(self.asked.sample),
            ties=float((counted.verdict == 0).mean()) if len(counted) else None,
            anchor=(self.anchor or counted.methods[0]) if counted.methods else None,
            explained_share=explained,
            adequacy=adequacy,
        )

    @cached_property
    def votes(self) -> Votes:
        return self.kept

    @cached_property
    def liked(self) -> Floats:
        """Win rates; NaN where a method was not compared."""
        parts = [*(self.counted.take(self.counted.sample == n) for n in range(len(self.counted.samples))), self.counted]
        return np.array([preference.win_rate(preference.wins(preference.cells(part))) for part in parts])

    def _unanswered(self, among: Collection[str] | None) -> Reason:
        return ONLY_DAMAGED if len(self.counted) else NOTHING_COUNTS

    @cached_property
    def _checked(self) -> tuple[dict[str, tuple[float, float, int]], dict[str, tuple[float, int]], Floats]:
        """Each rater's consistency and correctness on pairs of known order; and agreement with the others, of those who are kept."""
        again, _ = reliability.self_consistency(self.given)
        right, _ = reliability.gold_correctness(self.given, self.gold)
        return again, right, reliability.leave_one_out(self.asked.verdicts)

    def _rater(self, k: int, kept: int | None) -> Reliability:
        (again, right, likeness), name, own = self._checked, self.given.raters[k], self.given.rater == k
        share, self_agreement, repeats = again.get(name, (None, None, 0))
        known, gold_pairs = right.get(name, (None, 0))
        as_all, as_all_of = self.people.consistency.get(name, (None, 0))
        return Reliability(
            rater=name,
            votes=int(own.sum()),
            agreement=None if kept is None else finite(likeness[kept]),
            ties=float((self.given.verdict[own] == 0).mean()),
            self_consistency=share,
            self_agreement=self_agreement,
            repeats=repeats,
            gold=known,
            gold_pairs=gold_pairs,
            consistency=as_all,
            consistency_answers=as_all_of,
        )

    def _scales(self) -> tuple[list[Entry], float | None]:
        """The rows with each method's figures by other ways to count, then methods without a row, the best win rate first; and the share
        that the quality scale explains. Nothing where nobody was asked about any."""
        counted, rows = self.counted, self.figures.scales
        if not counted.methods:
            return [], None
        cells = preference.cells(counted)
        samples = preference.resampled(counted, seed=self.seed)
        half, drawn = preference.wins(cells), preference.wins(samples)
        fitted = preference.fit(half)
        at = counted.methods.index(self.anchor) if self.anchor else 0
        elo, dilated = preference.judge_elo(cells, at)
        drawn_elo = preference.fits(preference.wins(samples, tie=1.0))
        drawn_elo = preference.ANCHOR + preference.PER_LOGIT * (drawn_elo - drawn_elo[:, at : at + 1])
        drawn_ability = preference.fits(drawn)
        quality, share = preference.quality_scale(counted, seed=self.seed)
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


class _OfRatings(_Study[Ratings]):
    def summary(self) -> StudySummary:
        found, rated = super().summary(), self._scales()
        like_others = [row.agreement for row in found.reliability.raters if row.agreement is not None]
        return replace(
            found,
            metrics=self._across(found.metrics),
            scales=sorted(rated, key=lambda row: row.method in (self.damaged or ())),  # none of them heads a table
            kind="opinions",
            scale=self.given.scale,
            of="ratings",
            ratings=len(self.given),
            counted=len(self.kept),
            like_others=float(np.mean(like_others)) if like_others else None,
            all=found.all and replace(found.all, scales=[replace(row, scenes={}) for row in rated]),
        )

    @cached_property
    def votes(self) -> Votes:
        return self.kept.comparisons()

    @property
    def ratings(self) -> Ratings:
        return self.kept

    @cached_property
    def liked(self) -> Floats:
        """Mean scores."""
        return self.kept.means

    @cached_property
    def fit(self) -> Likelihood:
        return opinions.likelihood(self.kept)

    def _unanswered(self, among: Collection[str] | None) -> Reason:
        here = {self.kept.methods[n] for n in self.kept.method.tolist()}
        if not here:
            return Reason(Key.ALL_SCREENED)
        if not len(self.votes) and here & set(self.kept.methods if among is None else among):
            return Reason(Key.NO_COMPARISONS)
        return Reason(Key.NONE_COUNTS) if here & set(self.left_out) else ONLY_DAMAGED

    def _across(self, rows: Sequence[Metric]) -> list[Metric]:
        """The rows with likeness over all items. Reference points are in this table too, and a metric that is called like one is not."""
        tables = {metric.key: metric for metric in self.scored if metric.key not in REFERENCE_TITLES}
        points = metric_board.reference_points(self.answers, self.seed, self.size, self.reference_size)
        found = across_items(self.kept, self.among, tables | {point.key: point for point in points})
        self.step()
        known = (row.reference_point or row.key not in REFERENCE_TITLES for row in rows)
        return [replace(row, srocc=found.get(row.key) if own else None) for row, own in zip(rows, known, strict=True)]

    @cached_property
    def _by_rater(self) -> Floats:
        """Scores of each rater [K, S * M]."""
        return self.given.by_rater()

    def _rater(self, k: int, kept: int | None) -> Reliability:
        others, own = np.delete(self._by_rater, k, axis=0), self.given.rater == k
        seen = ~np.isnan(self._by_rater[k]) & (~np.isnan(others)).any(axis=0)
        like = correlation.correlation(self._by_rater[k, seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None
        row = Reliability(rater=self.given.raters[k], ratings=int(own.sum()), agreement=like, mean=float(self.given.score[own].mean()))
        if kept is None:
            return row
        return replace(row, bias=finite(self.fit.bias[kept]), inconsistency=finite(self.fit.inconsistency[kept]))

    def _scales(self) -> list[Entry]:
        """The rows with all that ratings say of each entry, over all and sample by sample, and those that have no row, the best first."""
        ratings, rows, unshown = self.kept, self.figures.scales, opinions.unshown(self.kept, self.fit)
        place = {name: n for n, name in enumerate(ratings.methods)}

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
                better = opinions.likelihood_of(ratings, self.fit, n)
                row = replace(row, mos_mle=better.ends, mos_mle_reason=better.reason)
            return row

        known = {row.method for row in rows}
        rows = [*rows, *(scored_entry(ratings, n) for name, n in place.items() if name not in known)]
        return sorted(map(whole, rows), key=best_first)


def best_first(row: Entry) -> tuple[bool, float, str]:
    """Sorts entries by their mean scores; who was scored too seldom heads no table."""
    mean = row.mos[0]
    return too_few(row.reason), math.inf if mean is None else -mean, row.method


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
    """Likeness of people's order of all results of these entries on all samples to each metric's, with samples as clusters."""
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
