"""Everything that is computed of a study of pairs, in one pass: what its answers say, scales, agreement, reliability, adequacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from leaderboard.stats import adequacy, agreement, alternative, camps, correlation, judges, labels, preference, reliability
from leaderboard.stats.agreement import Differences
from leaderboard.stats.alternative import Asked, Joined
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.people import by_group, people
from leaderboard.stats.records import (
    REFERENCE_TITLES,
    BetweenPeople,
    DuelTogether,
    Entry,
    Judge,
    Matrix,
    Metric,
    RatersFound,
    Reliability,
    StudySummary,
    Together,
    Unscreened,
    UnscreenedMetric,
    UnscreenedScale,
)
from leaderboard.stats.reliability import Questions
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.votes import VERSION, Floats, Votes, finite

NOTHING_COUNTS = Reason(Key.NOTHING_COUNTS)


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric that answers too: its values float64[samples, methods] in the votes' order, NaN where it has none.

    Differences of at most `tie`, in its unit, are ties. `overall` float64[methods] is its value over everything, where that is not
    the mean over samples: a metric of the whole set, or a figure that was published, has nothing else and answers no question.
    `trained` is not empty where it was, or may have been, learnt from these judgements or others about the same methods.
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

    @property
    def scored(self) -> Scored:
        """The same, turned so that higher is better."""
        sign = 1.0 if self.higher_is_better else -1.0
        return Scored(self.key, sign * self.values, None if self.overall is None else sign * self.overall, self.trained)


def analyse(
    votes: Votes,
    metrics: Sequence[MetricScores] = (),
    gold: Collection[tuple[str, str]] = (),
    anchor: str | None = None,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
    models: Sequence[JudgeAnswers] = (),
    *,
    damaged: Collection[str] | None = None,
    fragility: bool = True,
    tolerated: float = alternative.TOLERATED["crowd"],
    size: Floats | None = None,
    covariates: Mapping[str, Floats] | None = None,
) -> StudySummary:
    """The summary of the votes of one criterion; `step` is called every few seconds of it.

    `damaged` names the methods that are no entries of teams or baselines: corruptions, the empty entry, the reference; where it is
    given (it may be empty), the figures are of the others, and `all` has the same of every method. `models` are judges that answered
    too, `tolerated` how much worse than a person one may be; `size` is how large each entry is [samples, methods], where that is known.
    ValueError if `anchor` names no method.
    """
    if anchor is not None and anchor not in votes.methods:
        raise ValueError(f"There is no method {anchor!r} in the votes to anchor at; there are: {', '.join(votes.methods)}.")
    counted, asked = votes.counted(), reliability.questions(votes)

    # What the answers say, of the entries and of all that was compared.
    scored, entries = [metric.scored for metric in metrics], labels.undamaged(votes.methods, damaged)
    of_entries = answers(votes, entries)
    found = people(of_entries, scored, seed, fragility, covariates, size=size, step=step)
    figures, every = found.entries, None
    if damaged is not None:
        every = figures
        if covariates or not set(entries or ()) >= set(votes.methods):
            every = people(answers(votes), scored, seed, False, size=size, step=step).entries
    if covariates:
        # The column with them and without them stand side by side.
        alone = {row.method: row.implied for row in people(of_entries, (), seed, False, step=step).entries.scales}
        figures = replace(figures, scales=[replace(row, implied_without=alone.get(row.method)) for row in figures.scales])
    if not len(counted):
        figures, every = replace(figures, reason=NOTHING_COUNTS), every and replace(every, reason=NOTHING_COUNTS)
    step()
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

    # Each metric and each judge against people: pair by pair, with each group of them, and in the order of the methods.
    rates, prefer = preference.win_rate(preference.wins(preference.cells(counted))), reliability.people_prefer(asked.verdicts)
    by_sample = [counted.take(counted.sample == n) for n in range(len(votes.samples))]
    rates_by_sample = [preference.win_rate(preference.wins(preference.cells(own))) for own in by_sample]
    of_group = {name: np.array([group == name for group in votes.groups], dtype=bool) for name in sorted(set(votes.groups))}
    groups = {name: answers(votes.take(inside[votes.rater]), entries) for name, inside in of_group.items() if name}
    measured = {metric.key: (metric, verdict) for metric, verdict in zip(metrics, by_metric, strict=True)}

    def whole(row: Metric) -> Metric:
        if row.reference_point:  # a guard is no metric of the study, whatever a metric is called
            return replace(row, title=REFERENCE_TITLES[row.key])
        metric, verdict = measured[row.key]
        scenes = dict(zip(votes.samples, zip(metric.values, rates_by_sample, strict=True), strict=True))
        each, mean = correlation.by_scene(scenes, metric.higher_is_better, preference.RESAMPLES, seed)
        step()
        return replace(
            row,
            metric=metric.metric,
            title=metric.title,
            fingerprint=metric.fingerprint,
            groups=by_group(groups, metric.scored),
            higher_is_better=metric.higher_is_better,
            tie=metric.tie,
            pairs=reliability.with_people(verdict, asked.verdicts, seed=seed),
            decisive=reliability.with_people(verdict, asked.verdicts, decisive=True, seed=seed),
            probability=reliability.probability((1 - verdict) / 2, prefer),
            order=correlation.correlation(metric.of_methods, rates, metric.higher_is_better, preference.RESAMPLES, seed),
            scenes=each,
            scenes_mean=mean,
        )

    # Duels in which no answer counts, whoever gives it: those of damaged entries, and those whose answer is known.
    inside, known_pairs = set(votes.methods if entries is None else entries), {frozenset(pair) for pair in gold}
    golden = votes.take(votes.gold)
    known_duels = {
        (votes.samples[h], frozenset((votes.methods[a], votes.methods[b])))
        for h, a, b in zip(golden.sample.tolist(), golden.a.tolist(), golden.b.tolist(), strict=True)
    }

    def would_count(said: Judged) -> bool:
        pair = frozenset((said.left, said.right))
        return pair <= inside and pair not in known_pairs and (said.sample, pair) not in known_duels

    def judge(one: JudgeAnswers) -> Judge:
        preferred = judges.preferred(asked, votes.samples, votes.methods, one.judged)
        verdict, order = judges.verdict(preferred), None
        if not one.display_only:
            elos = judges.elos(one.judged, votes.methods)
            order = correlation.correlation(elos, rates, resamples=preference.RESAMPLES, seed=seed)
        return replace(
            _beside_people(of_entries, scored, one, tolerated, filter(would_count, one.judged)),
            pairs=reliability.with_people(verdict, asked.verdicts, seed=seed),
            decisive=reliability.with_people(verdict, asked.verdicts, decisive=True, seed=seed),
            probability=reliability.probability(preferred, prefer),
            groups={name: reliability.with_people(verdict, asked.verdicts[own], seed=seed) for name, own in of_group.items()},
            order=order,
        )

    anchored = None if not counted.methods else anchor or counted.methods[0]
    parted = camps.camps(asked, seed)

    # Rater by rater: how many answers, how long, how consistent, how right on pairs of known order, how like the others.
    consistent, consistency = reliability.self_consistency(votes)
    right, overall_right = reliability.gold_correctness(votes, gold)
    seconds, like = reliability.seconds_per_answer(votes), reliability.leave_one_out(asked.verdicts)
    raters = []
    for n, name in enumerate(votes.raters):
        own = votes.rater == n
        share, self_agreement, repeats = consistent.get(name, (None, None, 0))
        correct, gold_pairs = right.get(name, (None, 0))
        as_all, as_all_of = found.consistency.get(name, (None, 0))
        rater = Reliability(
            rater=name,
            group=votes.groups[n],
            votes=int(own.sum()),
            agreement=finite(like[n]),
            seconds=seconds.get(name),
            ties=float((votes.verdict[own] == 0).mean()),
            self_consistency=share,
            self_agreement=self_agreement,
            repeats=repeats,
            gold=correct,
            gold_pairs=gold_pairs,
            consistency=as_all,
            consistency_answers=as_all_of,
        )
        raters.append(rater)
    wrong = reliability.panel_error(len(raters), overall_right.value) if overall_right.value is not None and raters else None
    steady = []
    for resource in adequacy.RESOURCES if len(counted) else ():
        step()
        steady.append(adequacy.curve(counted, resource, seed=seed))
    return StudySummary(
        **vars(replace(figures, metrics=[whole(row) for row in figures.metrics], scales=scales)),
        version=VERSION,
        kind="pairs",
        votes=len(votes),
        counted=len(counted),
        repeats=int(votes.repeat.sum()),
        questions=len(asked.sample),
        ties=float((counted.verdict == 0).mean()) if len(counted) else None,
        raters=list(votes.raters),
        groups=list(votes.groups),
        samples=list(votes.samples),
        methods=list(votes.methods),
        anchor=anchored,
        explained_share=explained,
        agreement=matrix,
        people=BetweenPeople(
            pairs=reliability.between_people(asked.verdicts, seed=seed),
            decisive=reliability.between_people(asked.verdicts, decisive=True, seed=seed),
            alpha=reliability.krippendorff_alpha(asked.verdicts),
        ),
        camps=parted,
        reliability=RatersFound(raters, consistency, overall_right, wrong),
        adequacy=steady,
        judges=[judge(one) for one in models],
        all=every,
    )


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


def unscreened(
    votes: Votes,
    metrics: Sequence[MetricScores],
    damaged: Collection[str],
    step: Callable[[], None] = lambda: None,
    covariates: Mapping[str, Floats] | None = None,
) -> Unscreened:
    """The figures that screening can change, of everybody's votes: people's column, and how far each metric agrees with people."""
    entries, scored = labels.undamaged(votes.methods, damaged), [metric.scored for metric in metrics]
    figures = people(answers(votes, entries), scored, 0, False, covariates, step=step).entries
    scales = [UnscreenedScale(row.method, row.implied) for row in figures.scales]
    agreed = [UnscreenedMetric(row.key, row.decided.brief) for row in figures.metrics]
    return Unscreened(len(set(votes.rater.tolist())), scales, agreed)


# --- judges


def _beside_people(counted: Answers, scored: Sequence[Scored], one: JudgeAnswers, tolerated: float, would_count: Iterable[Judged]) -> Judge:
    """Agreement of a judge with people, whether it may stand beside them, and, where it may, what its answers add; of these
    `would_count` are on duels in which people's answers count."""
    _, first, place = np.unique(counted.question, return_index=True, return_inverse=True)
    verdicts = np.full((len(counted.raters), len(first)), np.nan)
    verdicts[counted.rater, place] = counted.verdict
    asked = Questions(counted.sample[first], counted.a[first], counted.b[first], verdicts)
    verdict = judges.verdict(judges.preferred(asked, counted.samples, counted.entries, one.judged))
    own = verdict[place]
    had = ~np.isnan(own)
    decided = agreement.decided(Differences(counted.take(had), own[had], own[had], had, 1.0))
    gate = alternative.gate(asked.verdicts, verdict, tolerated)
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

    # Verdicts of the judge on duels that people were not asked: sample, entries a < b, and the verdict as people give them.
    known = set(zip(counted.sample.tolist(), counted.a.tolist(), counted.b.tolist(), strict=True))
    samples = {name: n for n, name in enumerate(counted.samples)}
    entries = {name: n for n, name in enumerate(counted.entries)}
    said: dict[tuple[int, int, int], list[int]] = {}
    for judged in would_count:
        if judged.sample in samples and judged.left in entries and judged.right in entries:
            turn = 1 if judged.left < judged.right else -1
            a, b = sorted((entries[judged.left], entries[judged.right]))
            said.setdefault((samples[judged.sample], a, b), []).extend(turn * verdict for verdict in judged.verdicts)
    alone = [(*duel, float(np.sign(sum(each)))) for duel, each in sorted(said.items()) if each and duel not in known]

    def unit(h: int, a: int, b: int) -> int:
        """Unit that an interval takes for the sample of a duel, as `Answers.unit`."""
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
    duels = []
    for h, a, b, answer in alone:
        others.setdefault((a, b), []).append((unit(h, a, b), (1 - answer) / 2))
    for (a, b), more in sorted(others.items()):
        on = (counted.a == a) & (counted.b == b) & ~np.isnan(own)
        both = counted.take(on)
        if len(both):
            people_said = Asked((1 - both.verdict) / 2, both.rater, both.unit)
            joined = _joined(people_said, (1 - own[on]) / 2, more)
            duels.append(DuelTogether(**vars(joined), first=counted.entries[a], second=counted.entries[b]))
    return replace(judge, with_people=with_people, duels_with_people=duels)


def _joined(people_said: Asked, same: Floats, more: Sequence[tuple[int, float]]) -> Joined:
    """People's values with the judge's `same` on them, and its others as (unit, value)."""
    n = len(people_said.value)
    if n < 2:
        return Joined(None, None, None, 0.0, n, None, Reason(Key.JUDGE_SILENT))
    values = np.array([value for _, value in more], dtype=np.float64)
    others = Asked(values, np.arange(len(more)), np.array([h for h, _ in more], dtype=np.int64))
    return alternative.together(people_said, same, others)
