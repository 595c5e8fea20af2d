"""Analyses of studies, computed in the background as votes and scores come: a row each, claimed under a lease."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Count, F, Max, Q

from evaluation.models import EvaluationBatch, Score, acceptance_test
from evaluation.work.attempts import attempt, beat, logged
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import LeaseLost
from leaderboard.models import InterimAnalysis, Study, StudyAnalysis
from leaderboard.stats import judge_substitution, mos_table, screening
from leaderboard.stats import votes as voting
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.published_means import analyse_means
from leaderboard.stats.records import NOTHING, StudySummary, plain
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Votes
from leaderboard.studies import published_evidence
from leaderboard.studies.judge.answers import judges_of
from leaderboard.studies.live import artifacts, campaign
from leaderboard.studies.live.design_matrix import gold_labels
from leaderboard.studies.size_control import covariates_of, sizes_of
from leaderboard.studies.training_overlap import trained_on
from submissions import database_clock
from submissions.leases import Leased

GROWN = 0.01  # of the votes: with fewer new ones a study waits a while before it is analysed again
PATIENCE = timedelta(seconds=60)
LATE = timedelta(hours=1)  # after a study closed, answers that were being stored have arrived


def analyse_due(between: Callable[[Leased], None] = lambda row: None) -> int:
    """Make entries that studies wait for, ask for what is missing and compute one analysis; how many were computed. `between` is called
    every few seconds of it."""
    artifacts.make_due()
    recount()
    StudyAnalysis.request_missing()
    row = StudyAnalysis.objects.waiting().claim(process_name())
    if row is None:
        return 0
    with logged("study analysed", row, row.study.phase, study=row.study.slug, criterion=row.criterion):
        compute(row, between)
    return 1


def recount(now: datetime | None = None) -> int:
    """Raise the revision of live studies whose answers have changed; how many were raised.

    Not for each vote: not while an analysis of the study waits or is computed, and where the change is small (less than
    a hundredth) not before a minute has passed.
    """
    now, raised = now or database_clock.read(), 0
    live = Study.objects.filter(key__isnull=False).filter(Q(state=Study.State.OPEN) | Q(closed_at__gt=now - LATE))
    for study in live:
        votes = study.answers.aggregate(n=Count("id"), last=Max("id"))
        mark, before = f"{votes['n']}/{votes['last'] or 0}", int(study.counted.partition("/")[0] or 0)
        if mark == (study.counted or "0/0"):
            continue
        small = abs(votes["n"] - before) < GROWN * before and study.state == Study.State.OPEN
        if small and study.counted_at is not None and now - study.counted_at < PATIENCE:
            continue
        if study.analyses.filter(state=StudyAnalysis.State.WAITING).exists():
            continue
        Study.objects.filter(pk=study.pk).update(revision=F("revision") + 1, counted=mark, counted_at=now)
        raised += 1
    return raised


def compute(row: StudyAnalysis, between: Callable[[Leased], None] = lambda row: None) -> None:
    """The analysis of a claimed row."""
    with attempt(row):
        summary = _figures(row, row.study.batch, beat(row, between))
        # Which label is which entry, so that whoever reads the summary need not ask.
        linked = row.study.entries.filter(submission__isnull=False).values_list("label", "submission_id")
        summary = replace(summary, entries=dict(linked), damaged=sorted(row.study.damaged & set(summary.methods)))
        if row.study.chooses_pairs:
            # The answers choose the entries that are asked about most, so counts of wins, and figures compared with them, would tell of the
            # choice.
            scales = [
                replace(line, wins=None, losses=None, ties=None, win_rate=NOTHING, win_rate_with_self=NOTHING) for line in summary.scales
            ]
            metrics = [replace(line, order=None, scenes={}, scenes_mean=None) for line in summary.metrics]
            judges = [replace(judge, order=None, scenes={}, scenes_mean=None) for judge in summary.judges]
            summary = replace(summary, scales=scales, metrics=metrics, judges=judges, adequacy=[])
        with transaction.atomic():
            study = row.study.locked()
            if not row.finish(plain(summary)):
                raise LeaseLost
            if row.criterion == study.main_criterion:
                look = InterimAnalysis.take(study, summary)
                if look is not None and InterimAnalysis.that_ended(study) is not None:
                    campaign.close(study, None)


def _figures(row: StudyAnalysis, batch: EvaluationBatch | None, step: Callable[[], None]) -> StudySummary:
    """Figures of a study's answers on the row's criterion, beside the values of `batch`."""
    study = row.study
    if study.from_results:
        out = set(study.entries.filter(left_out_at__isnull=False).values_list("label", flat=True))
        means, note = published_evidence.means_of(study, row.criterion)
        return replace(analyse_means(means, metric_scores(study, batch, (), means.methods), out), note=note)
    gold: list[tuple[str, str]] = []
    given: Ratings | Votes
    is_rated = study.kind == Study.Kind.OPINIONS
    if is_rated:
        given = mos_table.canonical(study.ratings(row.criterion, counted=True), study.scale)
        screened = screening.of_scores(given, study.screening)
    else:
        gold = gold_labels(study)
        given = voting.canonical(study.votes(row.criterion, counted=True))
        screened = screening.of_pairs(given, study.screening, gold)
    sizes = sizes_of(study, batch, given.samples, given.methods, step)
    return analyse(
        given,
        metric_scores(study, batch, given.samples, given.methods),
        gold,
        step=step,
        models=judges_of(study, row.criterion),
        damaged=study.damaged,
        screening=bool(study.screening),
        screened=screened,
        tolerated=judge_substitution.TOLERATED[study.rater_skill],
        size=sizes.entries if sizes else None,
        reference_size=sizes.reference if sizes else None,
        covariates=None if is_rated else covariates_of(study, sizes, (len(given.samples), len(given.methods))),
    )


def metric_scores(study: Study, batch: EvaluationBatch | None, samples: Sequence[str], methods: Sequence[str]) -> list[MetricScores]:
    """The phase's metrics as raters: their values under `batch` for the entries and samples of the study.

    A sample of a study is a group of the reference (for wireframes and meshes an item). A metric of the whole set, like a
    figure that was imported, has no value of a sample, so it answers no question and is compared over the entries alone.
    """
    if batch is None:
        return []
    places = {label: n for n, label in enumerate(methods)}
    entries = study.entries.filter(submission__isnull=False).values_list("submission_id", "label")
    columns = {pk: places[label] for pk, label in entries if label in places}
    groups = np.array(batch.groups)
    items = [np.flatnonzero(groups == name) for name in samples]
    measured, standings = [], acceptance_test.standings(batch)
    for metric in batch.columns:
        spec = metric.spec
        standing = standings.get(metric.slug)
        counts = batch.items_of(standing.scenes if standing is not None else None)  # the column is compared where it is ranked
        is_whole = spec.level == "set"
        if not columns or not (is_whole or any(len(some) for some in items)):
            continue
        values, overall = np.full((len(samples), len(methods)), math.nan), np.full(len(methods), math.nan)
        scores = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug=metric.slug)
        rows = scores.filter(evaluation__submission_id__in=columns).values_list("evaluation__submission_id", "value", "vector")
        for pk, value, vector in rows:
            if is_whole:
                overall[columns[pk]] = math.nan if value is None else value
                continue
            row = np.where(counts, np.frombuffer(vector, dtype=np.float64), math.nan)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a group without any value has none
                values[:, columns[pk]] = [np.nanmean(row[some]) if len(some) else math.nan for some in items]
        trained = trained_on(study, metric, samples, methods)
        column = MetricScores(
            metric.slug,
            values,
            spec.higher_is_better,
            overall=overall if is_whole else None,
            trained=trained,
            metric=metric.key,
            title=metric.title,
            fingerprint=metric.fingerprint,
        )
        measured.append(column)
    return measured
