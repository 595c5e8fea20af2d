"""Studies that share items or raters, analysed as one study: samples are items, raters are accounts, entries are what was handed in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.contrib.auth.models import AnonymousUser

from evaluation.models import EvaluationBatch
from evaluation.work.attempts import attempt, logged
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import LeaseLost
from leaderboard.models import Rater, Study
from leaderboard.models.joint_analysis import JointAnalysis
from leaderboard.stats import mos_table as rating
from leaderboard.stats import screening
from leaderboard.stats import votes as voting
from leaderboard.stats.records import StudySummary, plain
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Floats
from leaderboard.studies import metric_ranking
from leaderboard.studies.analysis import metric_scores
from leaderboard.studies.live.design_matrix import gold_pairs
from leaderboard.studies.size_control import sizes_of
from submissions.leases import Leased


def request() -> int:
    """Ask for what is missing of the studies that everybody may see; how many wait."""
    ranking = metric_ranking.of(AnonymousUser())
    JointAnalysis.request([one for family in ranking.families.values() for one in family.sets], ranking.made_of)
    return JointAnalysis.objects.waiting().unleased().count()


def analyse_due(between: Callable[[Leased], None] = lambda row: None) -> int:
    """Compute one analysis that was asked for; how many were computed. `between` is called every few seconds of it."""
    row = JointAnalysis.objects.waiting().claim(process_name())
    if row is None:
        return 0

    def go_on() -> None:
        if not row.heartbeat():
            raise LeaseLost
        between(row)

    with logged("studies analysed together", row, studies=row.members), attempt(row):
        studies = list(Study.objects.filter(pk__in=row.ids).select_related("phase__challenge").order_by("pk"))
        if not row.finish(plain(together(studies, go_on))):
            raise LeaseLost
    return 1


@dataclass
class Column:
    """One definition of a metric: its values float64[samples, methods] of all studies, or of whole entries float64[methods]."""

    metric: str
    title: str
    higher_is_better: bool
    values: Floats
    overall: Floats | None = None
    trained: str = ""


@dataclass(frozen=True)
class Part:
    """One study's part in a joint analysis. It has the answers as they were given, except of raters that the study's rules leave out. Its
    names of entries, samples and raters are mapped to the names in the joint analysis."""

    study: Study
    batch: EvaluationBatch | None
    answers: Sequence[Any]
    gold: Sequence[tuple[str, str]]
    out: frozenset[str]
    entries: dict[str, str]
    raters: dict[str, str]

    @classmethod
    def of(cls, study: Study) -> Part:
        criterion = study.leading(study.judged_criteria())
        gold = [(better.label, worse.label) for better, worse in gold_pairs(list(study.entries.all()))]
        given: list[Any]
        out: frozenset[str] = frozenset()
        if study.kind == Study.Kind.OPINIONS:
            given = list(study.ratings(criterion, counted=True))
            out = frozenset(study.entries.filter(left_out_at__isnull=False).values_list("label", flat=True))
            reasons = screening.of_scores(rating.canonical(given, study.scale), study.screening) if study.screening else {}
        else:
            given = list(study.votes(criterion, counted=True))
            reasons = screening.of_pairs(voting.canonical(given), study.screening, gold)
        linked = study.entries.values_list("label", "submission_id")
        accounts = study.raters.filter(kind=Rater.Kind.PERSON).values_list("name", "user_id")
        return cls(
            study,
            study.batch,
            [one for one in given if one.rater not in reasons],
            gold,
            out,
            # Of answers that were brought from elsewhere only the name says which entry it is.
            {label: f"entry {pk}" if pk is not None else f"phase {study.phase_id}: {label}" for label, pk in linked},
            {name: f"account {pk}" if pk is not None else f"study {study.pk}: {name}" for name, pk in accounts},
        )

    @property
    def own(self) -> tuple[list[str], list[str]]:
        """The samples that its answers are about, and its entries, as the study calls them; both in order."""
        return sorted({one.sample for one in self.answers}), sorted(self.entries)

    def sample(self, name: str) -> str:
        return f"{self.study.phase_id}/{name}"

    def renamed(self) -> Iterator[tuple[str, Any]]:
        """Its answers under the names of all, each with its moment, which is empty where they were brought from elsewhere."""
        sides = ("entry",) if self.study.kind == Study.Kind.OPINIONS else ("left", "right")
        for one in self.answers:
            names = {name: self.entries[getattr(one, name)] for name in sides}
            as_one = replace(one, rater=self.raters[one.rater], sample=self.sample(one.sample), group="", criterion="", **names)
            yield one.at if self.study.key is not None else "", as_one


def together(studies: Sequence[Study], step: Callable[[], None] = lambda: None) -> StudySummary:
    """The summary of the studies' answers as of one study, each on its leading criterion; its metrics are called by their fingerprints.

    ValueError where some ask for pairs and others for opinion scores.
    """
    if len({(study.kind, study.scale) for study in studies}) != 1:
        raise ValueError("studies of pairs, and of opinion scores on each scale, are not analysed together")
    opinions, scale = studies[0].kind == Study.Kind.OPINIONS, studies[0].scale
    parts = [Part.of(study) for study in studies]
    damaged = {part.entries[label] for part in parts for label in part.study.damaged | part.out if label in part.entries}
    # If an account answered one question in several studies, the first answer counts, whichever study was made first. Imported answers, by
    # raters of their own, keep their order.
    dated = [one for part in parts for one in part.renamed()]
    renamed = [one for _, one in sorted(dated, key=lambda answer: answer[0])]
    answers: Any = rating.canonical(renamed, scale) if opinions else voting.canonical(renamed)
    columns, size = _columns(parts, answers.samples, answers.methods), np.full((len(answers.samples), len(answers.methods)), math.nan)
    reference = np.full(len(answers.samples), math.nan)
    places = {name: n for n, name in enumerate(answers.samples)}, {name: n for n, name in enumerate(answers.methods)}
    for part in parts:
        step()
        own = part.own
        if sizes := sizes_of(part.study, part.batch, *own, step):
            _place(size, sizes.entries, part, own, places)
            if sizes.reference is not None:
                at = [places[0][part.sample(name)] for name in own[0]]
                reference[at] = np.where(np.isnan(sizes.reference), reference[at], sizes.reference)
    metrics = [
        MetricScores(
            name,
            column.values,
            column.higher_is_better,
            overall=column.overall,
            trained=column.trained,
            metric=column.metric,
            title=column.title,
            fingerprint=name,
        )
        for name, column in columns.items()
    ]
    known, known_reference = (None if np.isnan(table).all() else table for table in (size, reference))
    gold = [(part.entries[better], part.entries[worse]) for part in parts for better, worse in part.gold if better in part.entries]
    gold = [pair for pair in gold if set(pair) <= set(answers.methods)]
    return analyse(
        answers,
        metrics,
        gold,
        step=step,
        damaged=damaged,
        left_out=damaged if opinions else (),
        fragility=False,
        size=known,
        reference_size=known_reference,
    )


def _columns(parts: Sequence[Part], samples: Sequence[str], methods: Sequence[str]) -> dict[str, Column]:
    """Values of each definition of a metric that any of the studies has values of, by its fingerprint."""
    columns: dict[str, Column] = {}
    places = {name: n for n, name in enumerate(samples)}, {name: n for n, name in enumerate(methods)}
    for part in parts:
        of_slug = {metric.slug: metric for metric in part.batch.columns} if part.batch else {}
        own = part.own
        for scores in metric_scores(part.study, part.batch, *own):
            metric = of_slug[scores.key]
            empty = np.full((len(samples), len(methods)), math.nan)
            column = columns.setdefault(metric.fingerprint, Column(metric.key, metric.title, scores.higher_is_better, empty))
            column.trained = column.trained or scores.trained
            _place(column.values, scores.values, part, own, places)
            if scores.overall is not None:
                if column.overall is None:
                    column.overall = np.full(len(methods), math.nan)
                for label, value in zip(own[1], scores.overall, strict=True):
                    if part.entries[label] in places[1]:
                        column.overall[places[1][part.entries[label]]] = value
    return columns


def _place(
    table: Floats, values: Floats, part: Part, own: tuple[list[str], list[str]], places: tuple[dict[str, int], dict[str, int]]
) -> None:
    """Write a study's values [its samples, its entries] to their places in the table of all; where two studies have one, it is the same."""
    there = [n for n, label in enumerate(own[1]) if part.entries[label] in places[1]]
    at = np.ix_([places[0][part.sample(name)] for name in own[0]], [places[1][part.entries[own[1][n]]] for n in there])
    table[at] = np.where(np.isnan(values[:, there]), table[at], values[:, there])
