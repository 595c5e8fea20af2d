"""Analyses of studies, computed in the background as votes and scores come: a row each, claimed under a lease."""

from __future__ import annotations

import math
import traceback
import warnings

import numpy as np
import structlog

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, Score
from evaluation.sandbox import LeaseLost
from leaderboard.models import Study, StudyAnalysis
from leaderboard.stats import votes as voting
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Votes

log = structlog.get_logger(__name__)


def analyse_due(worker: str = "studies") -> int:
    """Ask for what is missing and compute one analysis; how many were computed."""
    StudyAnalysis.request_missing()
    row = StudyAnalysis.objects.waiting().claim(worker)
    if row is None:
        return 0
    compute(row)
    return 1


def compute(row: StudyAnalysis) -> None:
    """The analysis of a claimed row."""

    def go_on() -> None:
        if not row.heartbeat():
            raise LeaseLost

    try:
        votes = voting.canonical(row.study.votes(row.criterion))
        content = analyse(votes, metric_scores(row.study, votes), step=go_on)
        # Which label is which entry, so that whoever reads the content need not ask.
        linked = row.study.entries.filter(submission__isnull=False).values_list("label", "submission_id")
        content["entries"] = dict(linked)
    except LeaseLost:
        return
    except Exception:
        log.exception("an analysis failed", study=row.study_id)
        row.give_up_or_retry("An error in the service stopped the analysis; its operator can see why.", traceback.format_exc())
        return
    row.finish(content)


def metric_scores(study: Study, votes: Votes) -> list[MetricScores]:
    """The phase's metrics as raters: their values under the current batch for the entries and samples of the study.

    A sample of a study is a group of the reference (for wireframes and meshes an item); a metric of
    the whole set has no value of a sample and answers no question.
    """
    batch = EvaluationBatch.current(study.phase)
    if batch is None:
        return []
    methods = {label: n for n, label in enumerate(votes.methods)}
    entries = study.entries.filter(submission__isnull=False).values_list("submission_id", "label")
    columns = {pk: methods[label] for pk, label in entries if label in methods}
    places = _places(batch, votes)
    found = []
    for metric in batch.metrics:
        spec = registry.get(metric["key"])
        if spec.level == "set" or not columns or not any(len(items) for items in places):
            continue
        values = np.full((len(votes.samples), len(votes.methods)), math.nan)
        scores = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug=metric["slug"])
        for pk, vector in scores.filter(evaluation__submission_id__in=columns).values_list("evaluation__submission_id", "vector"):
            row = np.frombuffer(vector, dtype=np.float64)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a group without any value has none
                values[:, columns[pk]] = [np.nanmean(row[items]) if len(items) else math.nan for items in places]
        found.append(MetricScores(metric["slug"], values, spec.higher_is_better))
    return found


def _places(batch: EvaluationBatch, votes: Votes) -> list[np.ndarray]:
    """The items of each of the study's samples, as positions in the reference."""
    groups = np.array(batch.reference.groups)
    return [np.flatnonzero(groups == name) for name in votes.samples]
