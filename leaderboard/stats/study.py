"""Everything that is computed of a study of pairs, in one pass: scales, agreement, reliability, adequacy.

The result is plain JSON values: what a page shows, what the command prints, and what is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from leaderboard.stats import adequacy, camps, correlation, judges, preference, reliability
from leaderboard.stats.judges import Judge
from leaderboard.stats.people import Scored
from leaderboard.stats.votes import VERSION, Floats, Votes


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric that answers too: its values float64[samples, methods] in the votes' order, NaN where it has none.

    Differences of at most `tie`, in its unit, are ties. `overall` float64[methods] is its value over everything, where that is not
    the mean over samples: a metric of the whole set, or a figure that was published, has nothing else and answers no question.
    `trained` is not empty where it was, or may have been, learnt from these judgements or others about the same methods.
    """

    key: str
    values: Floats = field(repr=False)
    higher_is_better: bool = True
    tie: float = 0.0
    overall: Floats | None = field(default=None, repr=False)
    trained: str = ""

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
    models: Sequence[Judge] = (),
) -> dict[str, Any]:
    """The analysis of the votes of one criterion; `step` is called every few seconds of it. `models` are judges that answered too.

    ValueError if `anchor` names no method.
    """
    if anchor is not None and anchor not in votes.methods:
        raise ValueError(f"There is no method {anchor!r} in the votes to anchor at; there are: {', '.join(votes.methods)}.")
    counted = votes.counted()
    asked = reliability.questions(votes)
    analysis: dict[str, Any] = {
        "version": VERSION,
        "kind": "pairs",
        "votes": len(votes),
        "counted": len(counted),
        "repeats": int(votes.repeat.sum()),
        "questions": len(asked.sample),
        "ties": float((counted.verdict == 0).mean()) if len(counted) else None,
        "raters": list(votes.raters),
        "groups": list(votes.groups),
        "samples": list(votes.samples),
        "methods": list(votes.methods),
    }
    step()
    analysis |= _scales(counted, anchor, seed)
    step()
    # The matrix of people and metrics together, and people's clusters. Judges stand in tables of judges only.
    by_metric = [reliability.metric_verdicts(asked, metric.values, metric.higher_is_better, metric.tie) for metric in metrics]
    everybody = np.concatenate([asked.verdicts, np.array(by_metric).reshape(len(metrics), -1)]) if metrics else asked.verdicts
    agreement = reliability.agreement(everybody)
    clusters = reliability.clusters(agreement.all[: len(votes.raters), : len(votes.raters)])
    analysis["agreement"] = {
        "names": [*votes.raters, *(metric.key for metric in metrics)],
        "kinds": ["person"] * len(votes.raters) + ["metric"] * len(metrics),
        "all": agreement.all,
        "decisive": agreement.decisive,
        "common": agreement.common,
        "order": reliability.clusters(agreement.all).order,
        "cluster": clusters.label,
        "silhouette": clusters.silhouette,
    }

    # Each metric and each judge against people: pair by pair, with each group of them, and in the order of the methods.
    rates = preference.win_rate(preference.wins(preference.cells(counted)))
    by_sample = [counted.take(counted.sample == n) for n in range(len(votes.samples))]
    rates_by_sample = [preference.win_rate(preference.wins(preference.cells(own))) for own in by_sample]
    analysis["metrics"] = []
    for metric, verdict in zip(metrics, by_metric, strict=True):
        scenes = dict(zip(votes.samples, zip(metric.values, rates_by_sample, strict=True), strict=True))
        each, mean = correlation.by_scene(scenes, metric.higher_is_better, preference.RESAMPLES, seed)
        order = correlation.correlation(metric.of_methods, rates, metric.higher_is_better, preference.RESAMPLES, seed)
        analysis["metrics"].append(
            {
                "key": metric.key,
                "higher_is_better": metric.higher_is_better,
                "tie": metric.tie,
                "trained": metric.trained,
                **_with_people(verdict, (1 - verdict) / 2, asked.verdicts, votes.groups, seed),
                "order": asdict(order),
                "scenes": {name: asdict(figure) for name, figure in each.items()},
                "scenes_mean": asdict(mean),
            }
        )
        step()
    analysis["judges"] = []
    for one in models:
        preferred = judges.preferred(asked, votes.samples, votes.methods, one.judged)
        left = judges.left_share(one.judged)
        row = {
            "key": one.key,
            "display_only": one.display_only,
            **_with_people(judges.verdict(preferred), preferred, asked.verdicts, votes.groups, seed),
            "order": None,
            "left_share": asdict(left) if left else None,
            "facts": dict(one.facts),
        }
        if not one.display_only:
            elos = judges.elos(one.judged, votes.methods, analysis["anchor"])
            row["order"] = asdict(correlation.correlation(elos, rates, resamples=preference.RESAMPLES, seed=seed))
        analysis["judges"].append(row)
    step()

    analysis["people"] = {
        "pairs": asdict(reliability.between_people(asked.verdicts, seed=seed)),
        "decisive": asdict(reliability.between_people(asked.verdicts, decisive=True, seed=seed)),
        "alpha": reliability.krippendorff_alpha(asked.verdicts),
    }
    found = camps.camps(asked, seed)
    analysis["camps"] = None if found is None else asdict(found) | {"sizes": found.sizes}
    # Rater by rater: how many answers, how long, how consistent, how right on pairs of known order, how like the others.
    consistent, consistency = reliability.self_consistency(votes)
    right, overall_right = reliability.gold_correctness(votes, gold)
    seconds, like = reliability.seconds_per_answer(votes), reliability.leave_one_out(asked.verdicts)
    raters = []
    for n, name in enumerate(votes.raters):
        own = votes.rater == n
        share, self_agreement, repeats = consistent.get(name, (None, None, 0))
        correct, gold_pairs = right.get(name, (None, 0))
        raters.append(
            {
                "rater": name,
                "group": votes.groups[n],
                "votes": int(own.sum()),
                "agreement": float(like[n]),
                "seconds": seconds.get(name),
                "ties": float((votes.verdict[own] == 0).mean()),
                "self_consistency": share,
                "self_agreement": self_agreement,
                "repeats": repeats,
                "gold": correct,
                "gold_pairs": gold_pairs,
            }
        )
    analysis["reliability"] = {
        "raters": raters,
        "self_consistency": asdict(consistency),
        "gold": asdict(overall_right),
        "panel_error": reliability.panel_error(len(raters), overall_right.value) if overall_right.value is not None and raters else None,
    }
    analysis["adequacy"] = []
    for resource in adequacy.RESOURCES if len(counted) else ():
        step()
        analysis["adequacy"].append(asdict(adequacy.curve(counted, resource, seed=seed)))
    return plain(analysis)


def _scales(counted: Votes, anchor: str | None, seed: int) -> dict[str, Any]:
    """Each method on every scale, best win rate first; none where nobody was asked about any."""
    if not counted.methods:
        return {"scales": [], "anchor": None, "explained_share": None}
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
    columns = {
        "win_rate": preference.scale(preference.win_rate(half), preference.win_rate(drawn)),
        "win_rate_with_self": preference.scale(preference.win_rate_with_self(half), preference.win_rate_with_self(drawn)),
        "ability": preference.scale(fitted.ability, drawn_ability),
        "wf_elo": preference.scale(preference.wf_elo(fitted.ability), preference.wf_elo(drawn_ability)),
        "judge_elo": preference.scale(elo, drawn_elo),
        "quality": quality,
    }
    rows = []
    for n, name in enumerate(counted.methods):
        row: dict[str, Any] = {"method": name, "appearances": int(half[n].sum() + half[:, n].sum()), "wins": float(cells[n, :, 0].sum())}
        row |= {"losses": float(cells[:, n, 0].sum()), "ties": float(cells[n, :, 1].sum())}
        row |= {key: [float(scale.value[n]), float(scale.low[n]), float(scale.high[n])] for key, scale in columns.items()}
        rows.append(row | {"component": int(fitted.component[n]), "regularised": bool(fitted.regularised[n] or dilated.regularised[n])})
    rows.sort(key=lambda row: (-row["win_rate"][0] if not math.isnan(row["win_rate"][0]) else math.inf, row["method"]))
    return {"scales": rows, "anchor": counted.methods[at] if counted.methods else None, "explained_share": share}


def _with_people(verdict: Floats, prefers: Floats, people: Floats, groups: Sequence[str], seed: int) -> dict[str, Any]:
    """Agreement of verdicts with those of people [raters, questions]: with all of them, where they decide, and with each group."""
    return {
        "pairs": asdict(reliability.with_people(verdict, people, seed=seed)),
        "decisive": asdict(reliability.with_people(verdict, people, decisive=True, seed=seed)),
        "probability": asdict(reliability.probability(prefers, reliability.people_prefer(people))),
        "groups": {
            name: asdict(reliability.with_people(verdict, people[[group == name for group in groups]], seed=seed))
            for name in sorted(set(groups))
        },
    }


def plain(value: Any) -> Any:
    """The same in JSON's own types; None for what is not a number."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
