"""Studies that share items or raters, analysed as one study: samples are items, raters are accounts, entries are what was handed in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.contrib.auth.models import AnonymousUser

from evaluation.models import EvaluationBatch
from evaluation.work.attempts import attempt, beat, logged
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
from leaderboard.studies.live.design_matrix import gold_labels
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
    with logged("studies analysed together", row, studies=row.members), attempt(row):
        studies = list(Study.objects.filter(pk__in=row.ids).select_related("phase__challenge").order_by("pk"))
        if not row.finish(plain(together(studies, beat(row, between)))):
            raise LeaseLost
    return 1


@dataclass(frozen=True)
class Part:
    """One study's part in a joint analysis. It has the answers as they were given, except of raters that the study's rules leave out. Its
    names of entries, samples and raters are mapped to the names in the joint analysis."""

    study: Study
    batch: EvaluationBatch | None
    answers: Sequence[Any]
    gold: Sequence[tuple[str, str]]
    entries: dict[str, str]
    raters: dict[str, str]

    @classmethod
    def of(cls, study: Study) -> Part:
        criterion = study.leading(study.judged_criteria())
        gold = gold_labels(study)
        given: list[Any]
        if study.kind == Study.Kind.OPINIONS:
            given = list(study.ratings(criterion, counted=True))
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
            # Of answers that were brought from elsewhere only the name says which entry it is.
            {label: f"entry {pk}" if pk is not None else f"phase {study.phase_id}: {label}" for label, pk in linked},
            {name: f"account {pk}" if pk is not None else f"study {study.pk}: {name}" for name, pk in accounts},
        )

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
    damaged = {part.entries[label] for part in parts for label in part.study.damaged if label in part.entries}
    # If an account answered one question in several studies, the first answer counts, whichever study was made first. Imported answers, by
    # raters of their own, keep their order.
    dated = [one for part in parts for one in part.renamed()]
    renamed = [one for _, one in sorted(dated, key=lambda answer: answer[0])]
    answers: Any = rating.canonical(renamed, scale) if opinions else voting.canonical(renamed)
    placed = [Placed.of(part, answers.samples, answers.methods) for part in parts]
    shape = len(answers.samples), len(answers.methods)
    size, reference_size = _sizes(placed, shape, step)
    gold = [(part.entries[better], part.entries[worse]) for part in parts for better, worse in part.gold]
    return analyse(
        answers,
        _columns(placed, shape),
        [pair for pair in gold if set(pair) <= set(answers.methods)],
        step=step,
        damaged=damaged,
        fragility=False,
        size=size,
        reference_size=reference_size,
    )


@dataclass(frozen=True)
class Placed:
    """A part beside the tables of all parts. `samples` and `labels` are its samples and entries, in order, by the study's names for them.
    `rows` are the places of the samples in the tables. `known` are the entries that have an answer, and `columns` their places."""

    part: Part
    samples: list[str]
    labels: list[str]
    rows: list[int]
    known: list[int]
    columns: list[int]

    @classmethod
    def of(cls, part: Part, samples: Sequence[str], methods: Sequence[str]) -> Placed:
        row_of, column_of = ({name: n for n, name in enumerate(names)} for names in (samples, methods))
        own, labels = sorted({one.sample for one in part.answers}), sorted(part.entries)
        known = [n for n, label in enumerate(labels) if part.entries[label] in column_of]
        columns = [column_of[part.entries[labels[n]]] for n in known]
        return cls(part, own, labels, [row_of[part.sample(name)] for name in own], known, columns)

    def put(self, table: Floats, values: Floats) -> None:
        """Write the study's values [its samples, its entries] into the table of all; where two studies have one, it is the same."""
        at, own = np.ix_(self.rows, self.columns), values[:, self.known]
        table[at] = np.where(np.isnan(own), table[at], own)


def _sizes(placed: Sequence[Placed], shape: tuple[int, int], step: Callable[[], None]) -> tuple[Floats | None, Floats | None]:
    """Sizes of what the studies compare, in tables of that shape, and of its references; None where none is known."""
    size, reference = np.full(shape, math.nan), np.full(shape[0], math.nan)
    for one in placed:
        step()
        if sizes := sizes_of(one.part.study, one.part.batch, one.samples, one.labels, step):
            one.put(size, sizes.entries)
            if sizes.reference is not None:
                reference[one.rows] = np.where(np.isnan(sizes.reference), reference[one.rows], sizes.reference)
    known, known_reference = (None if np.isnan(table).all() else table for table in (size, reference))
    return known, known_reference


def _columns(placed: Sequence[Placed], shape: tuple[int, int]) -> list[MetricScores]:
    """Values of each definition of a metric that any of the studies has values of, in tables of that shape, by its fingerprint."""
    columns: dict[str, MetricScores] = {}
    for one in placed:
        for own in metric_scores(one.part.study, one.part.batch, one.samples, one.labels):
            name = own.fingerprint
            column = columns.get(name) or replace(own, key=name, values=np.full(shape, math.nan), overall=None)
            one.put(column.values, own.values)
            overall = column.overall
            if own.overall is not None:
                overall = np.full(shape[1], math.nan) if overall is None else overall
                overall[one.columns] = own.overall[one.known]
            columns[name] = replace(column, overall=overall, trained=column.trained or own.trained)
    return list(columns.values())
