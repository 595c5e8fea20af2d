"""An analysis with what its answers say, both of the entries and of all that was compared, in the names of its JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from leaderboard.stats import agreement, alternative, judges, opinions
from leaderboard.stats.agreement import Differences, ThreeWay
from leaderboard.stats.alternative import Asked
from leaderboard.stats.answers import Answers, answers, of_opinions
from leaderboard.stats.crossed import Figure
from leaderboard.stats.judges import Judge
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.opinion_study import Means
from leaderboard.stats.people import MetricRow, Opinions, People, Scored, as_json, figure_json, people
from leaderboard.stats.reliability import Questions
from leaderboard.stats.study import MetricScores, plain
from leaderboard.stats.votes import NO_DUELS, Floats, Votes

NOTHING_COUNTS = "No judgement counts: all are on known pairs, or repeat others."
UNANSWERED = "It answered none of people's duels."
ONLY_MEANS = "Only the means were published, and a duel needs single scores."


def of_pairs(
    analysis: dict[str, Any],
    votes: Votes,
    metrics: Sequence[MetricScores] = (),
    damaged: Collection[str] | None = None,
    seed: int = 0,
    fragility: bool = True,
    models: Sequence[Judge] = (),
    tolerated: float = alternative.TOLERATED["crowd"],
    size: Floats | None = None,
    covariates: Mapping[str, Floats] | None = None,
    step: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The analysis `analysis` of votes on pairs with its summary. `damaged` names the methods that are no entries of teams or baselines:
    corruptions, the empty entry, the reference; where it is given (it may be empty), the figures are of the others, and `all` has the
    same of every method. `models` are judges that answered too, `tolerated` how much worse than a person one may be; `size` is how
    large each entry is [samples, methods], where that is known."""
    scored = [metric.scored for metric in metrics]
    entries = _entries(votes.methods, damaged)
    counted = answers(votes, entries)
    summary = as_json(people(counted, scored, seed, fragility, covariates, size=size, step=step))
    if covariates:
        # The column with them and without them stand side by side.
        alone = {row["method"]: row["implied"] for row in as_json(people(counted, (), seed, False, step=step))["scales"]}
        summary["scales"] = [row | {"implied_without": alone.get(row["method"])} for row in summary["scales"]]
    if damaged is not None:
        of_all = summary
        if covariates or not set(entries or ()) >= set(votes.methods):
            of_all = as_json(people(answers(votes), scored, seed, False, size=size, step=step))
        summary["all"] = _without_raters(of_all)
    if not len(votes.counted()):
        for found in (summary, summary.get("all", {})):
            found["why"] = NOTHING_COUNTS
    groups = {}
    for name in sorted({name for name in votes.groups if name}):
        inside = np.array([group == name for group in votes.groups], dtype=bool)
        groups[name] = answers(votes.take(inside[votes.rater]), entries)
    _by_group(summary, groups, scored)
    summary["judges"] = [_judge(counted, scored, one, tolerated) for one in models]
    step()
    return plain(_joined(analysis, summary))


def of_scores(
    analysis: dict[str, Any],
    ratings: Ratings,
    metrics: Sequence[MetricScores] = (),
    damaged: Collection[str] | None = None,
    seed: int = 0,
    size: Floats | None = None,
    reference_size: Floats | None = None,
    step: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The analysis `analysis` of opinion scores with its summary; raters that it screened are left out."""
    out = np.isin(np.array(ratings.raters, dtype=object).astype(str), analysis["screened"])
    counted = ratings.take(~out[ratings.rater])
    scored, table = [metric.scored for metric in metrics], means_of(counted)
    entries = _entries(ratings.methods, damaged)

    def summarised(among: Collection[str] | None) -> dict[str, Any]:
        duels = of_opinions(counted, among)
        analysis = people(duels, scored, seed, opinions=table, size=size, reference_size=reference_size, step=step)
        if not len(duels) and {ratings.methods[n] for n in counted.method.tolist()} & set(ratings.methods if among is None else among):
            analysis = replace(analysis, why=NO_DUELS)
        return as_json(analysis)

    summary = summarised(entries)
    if damaged is not None:
        every = set(entries or ()) >= set(ratings.methods)
        of_all = summary if every else summarised(None)
        summary["all"] = _without_raters(of_all)
    groups = {}
    for name in sorted({name for name in ratings.groups if name}):
        inside = np.array([group == name for group in ratings.groups], dtype=bool)
        groups[name] = of_opinions(counted.take(inside[counted.rater]), entries)
    _by_group(summary, groups, scored)
    likelihood = opinions.likelihood(counted)
    unshown = opinions.unshown(counted, likelihood)
    for n, name in enumerate(ratings.methods):
        figure = opinions.mean_opinion(counted, n)
        row = {"method": name, "mos": [figure.value, figure.low, figure.high], "why": figure.why, "raters": figure.raters}
        row |= {"mos_mle": None, "mos_mle_why": unshown, "answers": figure.n}
        if not unshown:
            better = opinions.likelihood_of(counted, likelihood, n)
            row |= {"mos_mle": [better.value, better.low, better.high], "mos_mle_why": better.why}
        summary["scales"].append(row)
    summary["scales"].sort(key=lambda row: (row["mos"][0] is None, -(row["mos"][0] or 0.0), row["method"]))
    spread = dict(zip(counted.raters, zip(likelihood.bias.tolist(), likelihood.inconsistency.tolist(), strict=True), strict=True))
    analysis = analysis | {
        "reliability": {
            "raters": [
                row | {"bias": spread[row["rater"]][0], "inconsistency": spread[row["rater"]][1]}
                for row in analysis["reliability"]["raters"]
            ]
        }
    }
    return plain(_joined(analysis, summary))


def without_screening(
    answered: Votes | Ratings,
    metrics: Sequence[MetricScores],
    damaged: Collection[str],
    step: Callable[[], None] = lambda: None,
    covariates: Mapping[str, Floats] | None = None,
) -> dict[str, Any]:
    """The figures that screening can change, of everybody's answers: people's column, and how far each metric agrees with people."""
    entries, scored = _entries(answered.methods, damaged), [metric.scored for metric in metrics]
    if isinstance(answered, Votes):
        summary = as_json(people(answers(answered, entries), scored, 0, False, covariates, step=step))
        scales = [{"method": row["method"], "value": row["implied"]} for row in summary["scales"]]
    else:
        summary = as_json(people(of_opinions(answered, entries), scored, 0, False, opinions=means_of(answered), step=step))
        scales = []
        for n, name in enumerate(answered.methods):
            figure = opinions.mean_opinion(answered, n)
            scales.append({"method": name, "value": [figure.value, figure.low, figure.high]})
    agreed = [{"key": row["key"], "decided": row["decided"]} for row in summary["metrics"]]
    return plain({"raters": len(set(answered.rater.tolist())), "scales": scales, "metrics": agreed})


def of_means(
    analysis: dict[str, Any], means: Means, metrics: Sequence[MetricScores] = (), left_out: Collection[str] = ()
) -> dict[str, Any]:
    """The analysis `analysis` of published means with the little that means say of metrics: how alike the two orders of entries are."""
    takes_part = np.array([name not in left_out for name in means.methods], dtype=bool)
    opinion, nothing, rows = np.where(takes_part, means.mean, np.nan), Figure(None, why=ONLY_MEANS), []
    for metric in sorted((one.scored for one in metrics), key=lambda one: one.key):
        order = agreement.correlations(metric.of_entries, opinion)
        rows.append(
            MetricRow(
                metric.key,
                False,
                metric.trained,
                None,
                nothing,
                nothing,
                nothing,
                ThreeWay(nothing),
                None,
                order["rho"],
                order["tau"],
                order["r"],
                None,
                None,
            )
        )
    return plain(_joined(analysis, as_json(People(0, 0, 0, 0, tuple(rows), (), None, (), (), None, why=ONLY_MEANS))))


def _by_group(summary: dict[str, Any], groups: Mapping[str, Answers], scored: Sequence[Scored]) -> None:
    """Each metric's decided agreement with the raters of each group, into its row."""
    of_key = {metric.key: metric for metric in scored}
    for row in summary["metrics"]:
        metric = of_key.get(row["key"])
        row["groups"] = {
            name: figure_json(agreement.decided(agreement.differences(counted, metric.x)))
            for name, counted in groups.items()
            if metric and not row["guard"]
        }


# --- judges


def _judge(counted: Answers, scored: Sequence[Scored], one: Judge, tolerated: float) -> dict[str, Any]:
    """Agreement of a judge with people, whether it may stand beside them, and, where it may, what its answers add."""
    _, first, place = np.unique(counted.question, return_index=True, return_inverse=True)
    verdicts = np.full((len(counted.raters), len(first)), np.nan)
    verdicts[counted.rater, place] = counted.verdict
    asked = Questions(counted.sample[first], counted.a[first], counted.b[first], verdicts)
    verdict = judges.verdict(judges.preferred(asked, counted.samples, counted.entries, one.judged))
    own = verdict[place]
    had = ~np.isnan(own)
    decided = agreement.decided(Differences(counted.take(had), own[had], own[had], had, 1.0))
    gate = alternative.gate(asked.verdicts, verdict, tolerated)
    row: dict[str, Any] = {"key": one.key, "display_only": one.display_only, "decided": figure_json(decided), "gate": vars(gate)}
    row |= {"with_people": [], "duels_with_people": []}
    if not gate.passed or one.display_only or not one.drawn_alike:
        return row

    # Verdicts of the judge on duels that people were not asked: sample, entries a < b, and the verdict as people give them.
    known = set(zip(counted.sample.tolist(), counted.a.tolist(), counted.b.tolist(), strict=True))
    samples = {name: n for n, name in enumerate(counted.samples)}
    entries = {name: n for n, name in enumerate(counted.entries)}
    said: dict[tuple[int, int, int], list[int]] = {}
    for judged in one.judged:
        if judged.sample in samples and judged.left in entries and judged.right in entries:
            turn = 1 if judged.left < judged.right else -1
            a, b = sorted((entries[judged.left], entries[judged.right]))
            said.setdefault((samples[judged.sample], a, b), []).extend(turn * verdict for verdict in judged.verdicts)
    alone = [(*duel, float(np.sign(sum(each)))) for duel, each in sorted(said.items()) if each and duel not in known]

    # Each metric's decided agreement by people and the judge: people's answers that the judge gave too, and the judge's on the rest.
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
                more.append((h, (1 + (0 if abs(d) <= near else np.sign(d)) * answer) / 2))
        people_said = Asked((1 + ours * both.verdict) / 2, both.rater, both.sample)
        row["with_people"].append({"key": metric.key} | _joined_with(people_said, (1 + ours * own[used][chosen]) / 2, more))

    # The share of answers that pick the first of each two entries, equal answers half.
    others: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for h, a, b, answer in alone:
        others.setdefault((a, b), []).append((h, (1 - answer) / 2))
    for (a, b), more in sorted(others.items()):
        on = (counted.a == a) & (counted.b == b) & ~np.isnan(own)
        both = counted.take(on)
        if len(both):
            people_said = Asked((1 - both.verdict) / 2, both.rater, both.sample)
            names = {"first": counted.entries[a], "second": counted.entries[b]}
            row["duels_with_people"].append(names | _joined_with(people_said, (1 - own[on]) / 2, more))
    return row


def _joined_with(people_said: Asked, same: Floats, more: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """People's values with the judge's `same` on them, and its others as (sample, value)."""
    n = len(people_said.value)
    if n < 2:
        return {"value": None, "low": None, "high": None, "trust": 0.0, "n": n, "worth": None, "why": UNANSWERED}
    values = np.array([value for _, value in more], dtype=np.float64)
    others = Asked(values, np.arange(len(more)), np.array([h for h, _ in more], dtype=np.int64))
    return vars(alternative.together(people_said, same, others))


# --- the sets of entries


def _without_raters(found: dict[str, Any]) -> dict[str, Any]:
    """A copy, since what stands beside the headline gets none of what is added to the headline."""
    return deepcopy({name: value for name, value in found.items() if name != "consistency"})


def _entries(methods: Sequence[str], damaged: Collection[str] | None) -> list[str] | None:
    return None if damaged is None else [name for name in methods if name not in damaged]


def means_of(counted: Ratings) -> Opinions:
    """Mean opinions of the entries, and on each sample."""
    total, count = np.zeros((2, len(counted.samples), len(counted.methods)))
    np.add.at(total, (counted.sample, counted.method), counted.score)
    np.add.at(count, (counted.sample, counted.method), 1.0)
    with np.errstate(invalid="ignore"):
        return Opinions(total.sum(axis=0) / count.sum(axis=0), total / count, counted)


def _joined(found: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    """Both, row by row where both have rows; what the summary says wins, and its order."""
    rows = {}
    for name, key in (("metrics", "key"), ("scales", "method"), ("judges", "key")):
        if name in summary:
            known = {row[key]: row for row in found.get(name, [])}
            # A guard is no metric of the study, whatever a metric is called.
            rows[name] = [({} if row.get("guard") else known.pop(row[key], {})) | row for row in summary[name]] + list(known.values())
    consistency = summary.pop("consistency", {})
    if consistency:
        raters = [row | consistency.get(row["rater"], {}) for row in found["reliability"]["raters"]]
        found = found | {"reliability": found["reliability"] | {"raters": raters}}
    return found | summary | rows
