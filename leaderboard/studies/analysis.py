"""Analyses of studies, computed in the background as votes and scores come: a row each, claimed under a lease."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from evaluation.models import EvaluationBatch, Score
from evaluation.result_tables import spec_of
from evaluation.work.leased import attempt, logged
from evaluation.work.sandbox import LeaseLost
from leaderboard.models import Study, StudyAnalysis, StudyLook
from leaderboard.stats import mos_table as rating
from leaderboard.stats import screening
from leaderboard.stats import votes as voting
from leaderboard.studies import published_evidence
from leaderboard.studies.judge.answers import judges_of
from leaderboard.studies.live import artifacts, campaign
from leaderboard.studies.live.grid import gold_pairs
from leaderboard.studies.sizes import covariates_of, sizes_of
from leaderboard.studies.summary import GUARD_TITLES, Summary
from leaderboard.studies.training_overlap import trained_on

if TYPE_CHECKING:
    from leaderboard.stats.study import MetricScores

GROWN = 0.01  # of the votes: with fewer new ones a study waits a while before it is analysed anew
PATIENCE = timedelta(seconds=60)
LATE = timedelta(hours=1)  # after a study closed, answers that were being stored have arrived


def analyse_due(worker: str = "studies") -> int:
    """Make entries that studies wait for, ask for what is missing and compute one analysis; how many were computed."""
    artifacts.make_due()
    recount()
    StudyAnalysis.request_missing()
    row = StudyAnalysis.objects.waiting().claim(worker)
    if row is None:
        return 0
    with logged("study analysed", row, row.study.phase, study=row.study.slug, criterion=row.criterion):
        compute(row)
    return 1


def recount(now: datetime | None = None) -> int:
    """Raise the revision of live studies whose answers have changed; how many were raised.

    Not for each vote: not while an analysis of the study waits or is computed, and where the change is small (less than
    a hundredth) not before a minute has passed.
    """
    now, raised = now or timezone.now(), 0
    live = Study.objects.filter(key__isnull=False).filter(Q(state=Study.State.OPEN) | Q(closed_at__gt=now - LATE))
    for study in live:
        rows = study.study_votes if study.kind == Study.Kind.PAIRS else study.opinions
        votes = rows.aggregate(n=Count("id"), last=Max("id"))
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


def compute(row: StudyAnalysis) -> None:
    """The analysis of a claimed row."""

    def go_on() -> None:
        if not row.heartbeat():
            raise LeaseLost

    with attempt(row):
        batch = row.study.batch  # once: a board that switches meanwhile must not give these values other names
        summary = Summary.model_validate(_figures(row, batch, go_on))
        # Which label is which entry, so that whoever reads the summary need not ask.
        linked = row.study.entries.filter(submission__isnull=False).values_list("label", "submission_id")
        update: dict[str, Any] = {"entries": dict(linked), "damaged": sorted(row.study.damaged & set(summary.methods)), "metrics": []}
        # Which metric each column is, so that a metric's own page finds what studies say of it.
        columns = {metric["slug"]: metric for metric in batch.metrics} if batch else {}
        for line in summary.metrics:
            column = columns.get(line.key, {"key": "", "fingerprint": "", "title": GUARD_TITLES.get(line.key, line.key)})
            names = {"metric": column["key"], "fingerprint": column["fingerprint"], "title": column["title"]}
            update["metrics"].append(line.model_copy(update=names))
        if row.study.chooses_pairs:
            # Who is asked about most is chosen by the answers, so that counts of wins would tell of the choice.
            bare = {"win_rate": (None, None, None), "win_rate_with_self": (None, None, None)}
            update |= {"scales": [line.model_copy(update=bare) for line in summary.scales], "adequacy": []}
        summary = summary.model_copy(update=update)
        with transaction.atomic():
            study = row.study.locked()
            if row.finish(summary.model_dump(mode="json")) and row.criterion == study.main_criterion:
                look = StudyLook.take(study, summary)
                if look is not None and study.ended_as_planned is not None:
                    campaign.close(study, None)


def _figures(row: StudyAnalysis, batch: EvaluationBatch | None, step: Callable[[], None]) -> dict[str, Any]:
    """Figures of a study's judgements on the row's criterion, beside the values of `batch`."""
    from leaderboard.stats import alternative, opinion_study, summaries
    from leaderboard.stats.study import analyse

    study = row.study
    out = set(study.entries.filter(left_out_at__isnull=False).values_list("label", flat=True))
    if study.from_results:
        means, note = published_evidence.means_of(study, row.criterion)
        metrics = metric_scores(study, batch, (), means.methods)
        analysis = opinion_study.analyse_means(means, metrics, out)
        return summaries.of_means(analysis, means, metrics, out) | {"note": note}
    if study.kind == Study.Kind.OPINIONS:
        ratings = rating.canonical(study.ratings(row.criterion, counted=True))
        metrics = metric_scores(study, batch, ratings.samples, ratings.methods)
        models = judges_of(study, row.criterion)
        reasons = screening.of_scores(ratings, study.screening)
        screened = reasons if study.screening else None
        analysis = opinion_study.analyse(ratings, metrics, left_out=out, step=step, models=models, out_by_rule=screened)
        sizes = sizes_of(study, batch, ratings.samples, ratings.methods, step)
        known: dict[str, Any] = {"size": sizes.entries, "reference_size": sizes.reference} if sizes else {}
        found = summaries.of_scores(analysis, ratings, metrics, study.damaged | out, step=step, **known)
        if reasons:
            found |= {"screened_by": reasons, "unscreened": summaries.without_screening(ratings, metrics, study.damaged | out, step)}
        return found
    rows = list(study.votes(row.criterion, counted=True))
    gold = [(better.label, worse.label) for better, worse in gold_pairs(list(study.entries.all()))]
    everybody = voting.canonical(rows)
    reasons = screening.of_pairs(everybody, study.screening, gold)
    votes = voting.canonical(vote for vote in rows if vote.rater not in reasons) if reasons else everybody
    metrics = metric_scores(study, batch, votes.samples, votes.methods)
    models = judges_of(study, row.criterion)
    analysis = analyse(votes, metrics, gold, step=step, models=models)
    sizes = sizes_of(study, batch, votes.samples, votes.methods, step)
    size, tolerated = sizes.entries if sizes else None, alternative.TOLERATED[study.rater_skill]
    covariates = covariates_of(study, sizes, (len(votes.samples), len(votes.methods)))
    found = summaries.of_pairs(
        analysis, votes, metrics, study.damaged, models=models, tolerated=tolerated, size=size, covariates=covariates, step=step
    )
    if study.screening:
        groups = dict(zip(everybody.raters, everybody.groups, strict=True))
        found |= {"screening": True, "screened": sorted(reasons), "screened_by": reasons}
        found |= {
            key: [*found[key], *more] for key, more in (("raters", sorted(reasons)), ("groups", [groups[name] for name in sorted(reasons)]))
        }
    if reasons:
        measured = metric_scores(study, batch, everybody.samples, everybody.methods)
        shape = len(everybody.samples), len(everybody.methods)
        tables = covariates_of(study, sizes_of(study, batch, everybody.samples, everybody.methods, step), shape) if covariates else None
        found["unscreened"] = summaries.without_screening(everybody, measured, study.damaged, step, tables)
    return found


def metric_scores(study: Study, batch: EvaluationBatch | None, samples: Sequence[str], methods: Sequence[str]) -> list[MetricScores]:
    """The phase's metrics as raters: their values under `batch` for the entries and samples of the study.

    A sample of a study is a group of the reference (for wireframes and meshes an item). A metric of the whole set, like a
    figure that was imported, has no value of a sample, so it answers no question and is compared over the entries alone.
    """
    from leaderboard.stats.study import MetricScores

    if batch is None:
        return []
    places = {label: n for n, label in enumerate(methods)}
    entries = study.entries.filter(submission__isnull=False).values_list("submission_id", "label")
    columns = {pk: places[label] for pk, label in entries if label in places}
    groups = np.array(batch.groups)
    items = [np.flatnonzero(groups == name) for name in samples]
    measured = []
    for metric in batch.metrics:
        spec = spec_of(metric)
        is_whole = spec.level == "set"
        if not columns or not (is_whole or any(len(some) for some in items)):
            continue
        values, overall = np.full((len(samples), len(methods)), math.nan), np.full(len(methods), math.nan)
        scores = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug=metric["slug"])
        rows = scores.filter(evaluation__submission_id__in=columns).values_list("evaluation__submission_id", "value", "vector")
        for pk, value, vector in rows:
            if is_whole:
                overall[columns[pk]] = math.nan if value is None else value
                continue
            row = np.frombuffer(vector, dtype=np.float64)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a group without any value has none
                values[:, columns[pk]] = [np.nanmean(row[some]) if len(some) else math.nan for some in items]
        trained = trained_on(study, metric, samples, methods)
        measured.append(MetricScores(metric["slug"], values, spec.higher_is_better, overall=overall if is_whole else None, trained=trained))
    return measured
