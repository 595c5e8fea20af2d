"""The metrics of each family by how far they agree with people, over all studies that somebody may see.

A study gives one figure to a metric: decided agreement on its leading criterion, by values of one definition. Three or more studies are
pooled (`leaderboard.stats.pooled`). Of one or two, the larger one is shown, which a leaderboard follows too
(`leaderboard.records.study.precedence`). Studies that share items or a rater's account are not independent: they are analysed together
as one (`leaderboard.studies.joint`). Until they are, or if they cannot be, the largest of them is taken. Simulated studies count only
if there are no others, and say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.models import EvaluationBatch
from leaderboard.boards.people import line_of
from leaderboard.models import JointAnalysis, Rater, Study, StudyAnalysis
from leaderboard.records.agreement import Known, Line, Verdict
from leaderboard.records.people import Basis
from leaderboard.records.study import Summary, precedence
from leaderboard.service.page_cache import PageCache
from leaderboard.stats import agreement, another_rater, pooled
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Person
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import STUDIES_FOR_MEAN
from leaderboard.stats.mos_table import USUAL, Scale
from leaderboard.stats.pooled import Pooled
from leaderboard.stats.records import Metric
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.states import State as FigureState
from leaderboard.stats.two_way_intervals import Estimate, Figure
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.wording import agreement as agreement_words
from submissions.kinds import FAMILIES

REAL, PUBLISHED, SIMULATED = "measured here", "published", "simulated"
ALONE = "alone"  # the state of a family with one or two studies; others are "pooled" and "none"
REFERENCE_POINTS = ("size", "reference only", "coin", "constant")  # as they stand in a table
KEPT = PageCache(size=16)


def source_of(study: Study) -> str:
    """Source of its answers: measured here, published, or simulated, as in every simulated challenge."""
    if study.simulated or study.phase.challenge.simulated:
        return SIMULATED
    return REAL if study.key is not None else PUBLISHED


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence of one study on metrics, which are by fingerprint; it is of so many `people` and `answers`. `joined` are the ids of
    studies that were analysed together with it, `sharing` of others that share items or raters with it, for which it stands."""

    id: int
    family: str
    source: str
    metrics: Mapping[str, Metric]
    reference_points: Mapping[str, Metric]
    another: Estimate | None
    pairs: Mapping[tuple[str, str], tuple[float, float]]  # of fingerprints, both ways: their difference, standard error
    samples: frozenset[tuple[int, str]]  # of a phase
    accounts: frozenset[int]
    people: int | None
    answers: int
    opinions: bool
    reference: tuple[int, int] | None = None  # the phase, and the version of its reference
    joined: tuple[int, ...] = ()
    sharing: tuple[int, ...] = ()
    scale: Scale = USUAL  # of ratings

    @property
    def basis(self) -> Basis:
        """Answers that its figures are of."""
        return Basis(of="ratings" if self.opinions else "votes", n=self.answers, raters=self.people, scale=self.scale)

    @cached_property
    def precedence(self) -> tuple[bool, bool, float, int, int]:
        """Sort key of studies: the largest represents the others."""
        return precedence(self.metrics.values(), self.source == SIMULATED, self.people, self.id)

    @property
    def counts(self) -> bool:
        """True if any of its figures has an interval."""
        return self.precedence[0]

    def shares(self, other: Evidence) -> bool:
        return bool(self.samples & other.samples or self.accounts & other.accounts)


@dataclass(frozen=True)
class Meaning:
    """Meaning of a metric's differences, and the study that it is known from."""

    difference: Difference
    study: int


@dataclass(frozen=True)
class Standing:
    """One metric among its family's. `studies` are the ids of those that its figure is of, `trained` of those that were left out
    because it was, or may have been, trained on them. `over` is None where nothing was pooled."""

    key: str
    fingerprint: str
    column: str  # its slug in the first of the studies
    line: Line
    studies: tuple[int, ...]
    answers: int
    over: Pooled | None = None
    meaning: Meaning | None = None
    trained: tuple[int, ...] = ()

    @property
    def is_default(self) -> bool:
        return bool(self.key) and registry.fingerprint(self.key, {}) == self.fingerprint

    @property
    def missing(self) -> str:
        """Words that stand in the place of a figure, in brief."""
        if self.line.trained:
            return agreement_words.trained(self.line)
        if self.line.figure.reason is None or self.line.figure.reason.key is not Key.FEW_STUDIES:
            return agreement_words.head(self.line)
        return agreement_words.not_pooled(len(self.studies))


def counted_in(studies: Iterable[Evidence]) -> str:
    """Name of what these studies count: people give scores in some, and judge comparisons in others."""
    kinds = {study.opinions for study in studies}
    return "votes and ratings" if len(kinds) > 1 else "ratings" if True in kinds else "votes"


@dataclass(frozen=True)
class Family:
    """The ranking of one family. `state` is "pooled", "alone" or "none"; `simulated` is true if all its studies are. `studies` are those
    that count, the largest first; `early` is the number of those with too few people or items for any figure. `sets` are the ids of
    studies that share items or raters and can be analysed together."""

    key: str
    state: str = "none"
    simulated: bool = False
    rows: tuple[Standing, ...] = ()
    reference_points: tuple[Standing, ...] = ()
    another: Figure | None = None
    studies: tuple[Evidence, ...] = ()
    all: tuple[Evidence, ...] = ()
    early: int = 0
    sets: tuple[tuple[int, ...], ...] = ()

    @property
    def answers(self) -> int:
        return sum(study.answers for study in self.studies)

    @property
    def counted(self) -> str:
        """Name of what `answers` counts."""
        return counted_in(self.studies)

    def row(self, key: str, fingerprint: str) -> Standing | None:
        return next((row for row in self.rows if (row.key, row.fingerprint) == (key, fingerprint)), None)

    @property
    def sharing_words(self) -> str:
        """Sentence on studies that share items or people; empty where none do."""
        joined = sum(len(study.joined) + 1 for study in self.studies if study.joined)
        stood_for = sum(len(study.sharing) for study in self.studies)
        words = [f"{joined} that share items or people are analysed as one study."] if joined else []
        if stood_for:
            words.append(f"{stood_for} more share{'s' if stood_for == 1 else ''} items or people with a larger one, which stands for all.")
        return " ".join(words)


@dataclass(frozen=True)
class Ranking:
    """All families, by key, the rows of their studies, by id, and what the analysis of each of these is of."""

    families: Mapping[str, Family]
    studies: Mapping[int, Study] = field(default_factory=dict)
    made_of: Mapping[int, str] = field(default_factory=dict)


def of(user: Any, seen: Sequence[StudyAnalysis] | None = None) -> Ranking:
    """The ranking by the studies that `user` may see, which `seen` is all of where they were looked up. It is computed once for these
    analyses, and of no others."""
    rows = [row for row in (StudyAnalysis.seen_by(user) if seen is None else seen) if not row.study.from_results]
    ids, made_of = {row.study_id for row in rows}, {row.study_id: row.made_of for row in rows}
    # Of studies as they are now, all of which the reader may see.
    known = JointAnalysis.objects.filter(content__isnull=False).defer("content").order_by("members") if len(ids) > 1 else []
    joint = [row for row in known if ids.issuperset(row.ids) and row.made_of == JointAnalysis.stamp(row.ids, made_of)]
    key = tuple(sorted((row.pk, row.made_of, str(row.finished_at), source_of(row.study)) for row in rows))
    families = KEPT.of((key, tuple((row.members, str(row.finished_at)) for row in joint)), lambda: _families(rows, joint))
    return Ranking(families, {row.study_id: row.study for row in rows}, made_of)


def _families(rows: Collection[StudyAnalysis], joint: Collection[JointAnalysis] = ()) -> dict[str, Family]:
    contents = dict(StudyAnalysis.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", "content"))
    summaries = {row.study: summary for row in rows if (summary := Summary.read(contents.get(row.pk))) is not None}
    batches = EvaluationBatch.objects.filter(phase__in={study.phase_id for study in summaries})
    columns = [Column.of(column) for metrics in batches.values_list("metrics", flat=True) for column in metrics]
    current = {registry.fingerprint(key, {}) for key in registry.REGISTRY} | {column.fingerprint for column in columns if column.is_current}
    accounts = _accounts(summaries)
    found = {study.pk: _evidence(study, summary, current, accounts[study.pk]) for study, summary in summaries.items()}
    studies = {study.pk: study for study in summaries}
    as_one = {}
    for row in joint:
        if row.summary is not None and found.keys() >= set(row.ids):
            members = [found[one] for one in row.ids]
            largest = max(members, key=lambda one: one.precedence)
            as_one[frozenset(row.ids)] = _evidence(studies[largest.id], row.summary, current, members=(*members, largest))
    return {key: family(key, [one for one in found.values() if one.family == key], as_one) for key in FAMILIES}


def _accounts(summaries: Mapping[Study, Summary]) -> Mapping[int, set[int]]:
    """Accounts of the people whose answers count in each study. Somebody who is only on a study's list, or was left out of it, makes it
    share nothing with another."""
    accounts: defaultdict[int, set[int]] = defaultdict(set)
    counted = {study.pk: set(summary.raters) - set(summary.screened) for study, summary in summaries.items()}
    known = Rater.objects.filter(study__in=counted, user__isnull=False)
    for pk, name, user in known.values_list("study_id", "name", "user_id"):
        if name in counted[pk]:
            accounts[pk].add(user)
    return accounts


def _evidence(
    study: Study, summary: Summary, current: Collection[str], accounts: Iterable[int] = (), members: Sequence[Evidence] = ()
) -> Evidence:
    """Evidence of a study on the metrics whose fingerprints are `current`; or of the largest of several `members`, of which the summary is
    together. Their metrics are called by the columns of the last that has them."""
    metrics = {line.fingerprint: line for line in summary.metrics if not line.reference_point and line.fingerprint in current}
    by_slug = {line.key: fingerprint for fingerprint, line in metrics.items()}
    pairs: dict[tuple[str, str], tuple[float, float]] = {}
    for pair in summary.metric_pairs:
        if pair.known is not None and pair.first in by_slug and pair.second in by_slug:
            first, second, (value, se) = by_slug[pair.first], by_slug[pair.second], pair.known
            pairs |= {(first, second): (value, se), (second, first): (-value, se)}
    slugs = {fingerprint: line.key for one in members for fingerprint, line in one.metrics.items()}
    return Evidence(
        study.pk,
        study.phase.challenge.family,
        source_of(study),
        {name: replace(line, key=slugs.get(name, line.key)) for name, line in metrics.items()},
        {line.key: line for line in summary.metrics if line.reference_point},
        summary.another,
        pairs,
        frozenset((study.phase_id, name) for name in summary.samples),
        frozenset(accounts),
        summary.n_people,
        summary.counted,
        summary.opinions,
        (study.phase_id, study.reference_id) if study.reference_id else None,
        joined=tuple(one.id for one in members if one.id != study.pk),
        scale=summary.scale,
    )


def family(key: str, evidence: Iterable[Evidence], joint: Mapping[frozenset[int], Evidence] = MappingProxyType({})) -> Family:
    """The ranking of a family by what its studies say, some of them together: `joint`, by their ids."""
    found = sorted(evidence, key=lambda one: one.precedence, reverse=True)
    counted = [one for one in found if one.source != SIMULATED]
    usable = [one for one in counted if one.counts] or [one for one in found if one.counts]
    every = Family(key, all=tuple(found), early=sum(not one.counts for one in counted))
    if not usable:
        return every
    parts = _sharing(usable)
    studies = sorted((part.represented(joint) for part in parts), key=lambda study: study.precedence, reverse=True)
    sets = tuple(part.ids for part in parts if part.can_be_joined)
    one = replace(every, simulated=usable[0].source == SIMULATED, studies=tuple(studies), sets=sets)
    return _pooled(one) if len(studies) >= STUDIES_FOR_MEAN else _alone(one)


@dataclass(frozen=True)
class Sharing:
    """Studies that share items or raters, one by the other; or one that shares none."""

    studies: tuple[Evidence, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(sorted(study.id for study in self.studies))

    @property
    def can_be_joined(self) -> bool:
        """True if several ask for one kind of answer, on one scale and one version of each reference."""
        versions = {study.reference for study in self.studies if study.reference is not None}
        kinds = {(study.opinions, study.scale) for study in self.studies}
        return len(self.studies) > 1 and len(kinds) == 1 and len({phase for phase, _ in versions}) == len(versions)

    def represented(self, joint: Mapping[frozenset[int], Evidence]) -> Evidence:
        """The analysis of all of them together, else the largest of them, or of some of them together."""
        members = frozenset(self.ids)
        analysed = [*(one for some, one in joint.items() if some <= members), *self.studies]
        first = joint.get(members) or max(analysed, key=lambda study: study.precedence)
        others = sorted(self.studies, key=lambda study: study.precedence, reverse=True)
        return replace(first, sharing=tuple(study.id for study in others if study.id not in (first.id, *first.joined)))


def _sharing(studies: Iterable[Evidence]) -> list[Sharing]:
    sets: list[Sharing] = []
    for study in studies:
        joined = [one for one in sets if any(study.shares(other) for other in one.studies)]
        sets = [one for one in sets if one not in joined] + [Sharing((*(other for one in joined for other in one.studies), study))]
    return sets


def _alone(found: Family) -> Family:
    """As the largest study has it."""
    study = found.studies[0]

    def standing(key: str, fingerprint: str, metric: Metric, **more: Any) -> Standing:
        line = line_of(metric, study.another, opinions=study.opinions and not metric.reference_point)
        return Standing(key, fingerprint, metric.key, line, (study.id,), metric.decided.n, **more)

    rows = [standing(metric.metric, name, metric, meaning=_meaning([(study, metric)])) for name, metric in study.metrics.items()]
    points = [standing("", name, study.reference_points[name]) for name in REFERENCE_POINTS if name in study.reference_points]
    return replace(found, state=ALONE, rows=tuple(rows), reference_points=tuple(points), another=study.another)


def _meaning(found: Sequence[tuple[Evidence, Metric]]) -> Meaning | None:
    """Meaning of differences by the largest study that knows it; studies are not pooled for it."""
    known = ((study, metric.difference) for study, metric in found if metric.difference is not None and not metric.trained)
    return next((Meaning(difference, study.id) for study, difference in known if difference.reason is None), None)


def _person(found: Sequence[tuple[Evidence, Metric]]) -> Person | None:
    """A metric beside another rater, pooled over the studies that hold it against one; None of fewer than three."""
    persons = [metric.person for _, metric in found if metric.person is not None and metric.person.reason is None]
    ends = []
    for part, se in (("apart", "apart_se"), ("half", "half_se")):
        mean = pooled.pool([(getattr(one, part)[0], getattr(one, se)) for one in persons if getattr(one, se)])
        if mean is None:
            return None
        ends.append((mean.value, mean.low, mean.high))
    return Person(ends[0], ends[1], sum(one.shared for one in persons))


def _another(studies: Sequence[Evidence]) -> Figure | None:
    """Share of what two raters say alike, pooled over studies; None of fewer than three."""
    known = [
        (one, study.another.n) for study in studies if study.another is not None and (one := pooled.on_logit(study.another)) is not None
    ]
    mean = pooled.pool([one for one, _ in known])
    if mean is None:
        return None
    mean = mean.as_share()
    return Figure(mean.value, mean.low, mean.high, sum(n for _, n in known))


def _pooled(found: Family) -> Family:
    """Pooled figures of the metric over all its studies."""
    studies = found.studies
    another = _another(studies)
    fingerprints = dict.fromkeys(name for one in studies for name in one.metrics)
    rows = [_row(name, [(study, study.metrics[name]) for study in studies if name in study.metrics], another) for name in fingerprints]
    values = {row.fingerprint: row.over.value for row in rows if row.over is not None}
    names = sorted(values)
    differences = {pair: [study.pairs[pair] for study in studies if pair in study.pairs] for pair in combinations(names, 2)}
    places = agreement.places(names, pooled.pairs(differences))
    rows = [replace(row, line=replace(row.line, places=places.get(row.fingerprint))) for row in rows]
    rows.sort(key=lambda row: (row.over is None, *agreement.place(values.get(row.fingerprint, 0.0), row.key), row.fingerprint))
    points = [
        _point(name, used, another)
        for name in REFERENCE_POINTS
        if (used := [(study, study.reference_points[name]) for study in studies if name in study.reference_points])
    ]
    return replace(found, state="pooled", rows=tuple(rows), reference_points=tuple(points), another=another)


def _point(name: str, used: Sequence[tuple[Evidence, Metric]], another: Figure | None) -> Standing:
    """A reference point over the studies that have values of it."""
    over, figure, by = _mean(used)
    if name == "constant":  # one half everywhere, by its definition
        figure = replace(figure, value=0.5, state=FigureState.ALIKE, reason=Reason(Key.ALIKE))
    line = Line(used[0][1].title, figure, another, reference_point=True, key=name, of_studies=over.k if over else None)
    return Standing("", name, name, line, by, figure.n, over)


def _row(fingerprint: str, here: Sequence[tuple[Evidence, Metric]], another: Figure | None) -> Standing:
    """A metric over the studies that have values of it, without those that it was, or may have been, trained on."""
    trained = tuple(study.id for study, metric in here if metric.trained)
    used = [(study, metric) for study, metric in here if not metric.trained]
    largest, first = here[0]
    over, figure, by = _mean(used)
    beyond = pooled.pool([one for _, metric in used if metric.over_size is not None and (one := metric.over_size.known) is not None])
    above = None if beyond is None else beyond.p <= ALPHA and beyond.value > 0
    state = another_rater.standing(figure, _person(used)) if over is not None else None
    line = Line(first.title, figure, another, state, above_size=above, key=first.metric, of_studies=over.k if over else None)
    line = line if used else replace(line, trained=first.trained, opinions=largest.opinions)
    return Standing(first.metric, fingerprint, first.key, line, by, figure.n, over, _meaning(used), trained)


def _mean(used: Sequence[tuple[Evidence, Metric]]) -> tuple[Pooled | None, Agreement, tuple[int, ...]]:
    """The mean of a metric over studies, the same as a figure, and the ids of the pooled studies. Without a value if fewer than three can
    be pooled; the ids are then of all studies in which the metric has values for a decided pair."""
    figures = {study.id: metric.decided for study, metric in used}
    logits = {study: one for study, figure in figures.items() if (one := pooled.on_logit(figure)) is not None}
    over = pooled.pool(logits.values())
    held = tuple(study for study, figure in figures.items() if figure.value is not None) or tuple(figures)
    by = held if over is None else tuple(logits)
    totals = {name: sum(getattr(figures[study], name) for study in by) for name in ("n", "n_eff", "raters", "samples")}
    coverage = min((share for study in by if (share := figures[study].coverage) is not None), default=None)
    if over is None:
        few = pooled.few_studies(len(logits))
        return None, replace(Agreement.lacking(few), coverage=coverage, **totals), by
    over = over.as_share()
    return over, Agreement(value=over.value, low=over.low, high=over.high, coverage=coverage, **totals), by


def verdict(
    found: Family, row: Standing | None, early: Line | None = None, is_outdated: bool = False, alike: Line | None = None
) -> Verdict:
    """Knowledge of a metric, by its row in the ranking of its family. `early` is its line in a study that shows no figure yet.
    `is_outdated` says that all its studies used another version. `alike` is its figure in a study whose answers are all alike, so that it
    has no interval."""
    if row is not None and row.line.trained:
        return Verdict(Known.TRAINED, row.line)
    if row is not None and row.line.shown:
        placed = sum(one.line.places is not None for one in found.rows)
        return Verdict(Known.FIGURE, row.line, placed, simulated=found.simulated)
    if row is not None and found.state == "pooled":
        return Verdict(Known.NOT_POOLED, row.line, studies=len(row.studies), of_studies=len(found.studies))
    if is_outdated:
        return Verdict(Known.OUTDATED)
    if alike is not None:
        return Verdict(Known.ALIKE, alike)
    return Verdict(Known.NOTHING) if early is None else Verdict(Known.EARLY, early)
