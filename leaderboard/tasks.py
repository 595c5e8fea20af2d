"""Celery tasks of boards, studies and e-mails: each looks at the rows and does what they ask for."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import structlog
from django.core.cache import cache
from django.db.models import F, OuterRef, Q, Subquery

from evaluation.celery import gpu_task, short_task, studies_task
from evaluation.work import shares, worker
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import sandbox
from leaderboard.boards import snapshots
from leaderboard.models import AnswerSet, JointAnalysis, JudgeRun, ProgramValues, Snapshot, StudyAnalysis
from leaderboard.service.mail import send_due_mail
from leaderboard.studies import answer_sets, joint, programs
from leaderboard.studies.analysis import analyse_due, recount
from leaderboard.studies.judge.run import ask_due
from leaderboard.studies.live import artifacts
from leaderboard.viewer import thumbnails
from submissions import database_clock, worker_notify
from submissions.leases import Leased
from submissions.models import Phase

log = structlog.get_logger(__name__)

EVERY_SECONDS = 2.0  # at most one ranking of a phase in this time
BUILDING_SECONDS = 120  # a build that has not ended by then was killed


@short_task(name="leaderboard.boards")
def boards() -> int:
    return build_due_boards()


@short_task(name="leaderboard.mail")
def mail() -> int:
    return send_due_mail()


# A judge waits for its endpoint most of the time, so idle work does not pause for it.
shares.BEFORE_IDLE += [
    ProgramValues.objects.waiting,
    lambda device: StudyAnalysis.objects.waiting() if device == "cpu" else StudyAnalysis.objects.none(),
    lambda device: JointAnalysis.objects.waiting() if device == "cpu" else JointAnalysis.objects.none(),
    lambda device: AnswerSet.objects.waiting() if device == "cpu" else AnswerSet.objects.none(),
]


@studies_task(name="leaderboard.studies")
def studies() -> int:
    """Analyse studies, or compute values of programs on them. While entries wait it may do nothing; the sweeper announces it again."""
    kinds = (analyse_due, answer_sets.analyse_due, joint.analyse_due)
    done = shares.ANALYSES.give("cpu", lambda: next((n for kind in kinds if (n := kind(between=give_way))), 0))
    return done or shares.VALUES.give("cpu", programs.score_due)


def give_way(analysis: Leased) -> None:
    """An analysis cannot be cut into slices. Between two steps of it, once a slice's time is over, entries come first as ever; boards and
    mail, which wait for this worker meanwhile, are made too."""
    if not shares.ANALYSES.is_over("cpu"):
        return
    with sandbox.keeping(analysis.heartbeat):
        while not shares.ANALYSES.is_due and worker.entry_once("cpu"):
            build_due_boards()
            send_due_mail()
    shares.ANALYSES.resume("cpu")


@gpu_task(name="leaderboard.studies_gpu")
def studies_gpu() -> int:
    return shares.VALUES.give("gpu", lambda: programs.score_due(device="gpu"))


@studies_task(name="leaderboard.judges")
def judges() -> int:
    done = shares.JUDGES.give("cpu", ask_due)
    if done:  # another turn, behind what else waits in the queue; of further runs the sweeper says that they wait
        worker_notify.send("judges")
    return done


def wake_judges() -> int:
    """Wake a worker for each run of a judge that can be worked on, or has stopped without its scores; how many there are."""
    waiting = JudgeRun.objects.waiting().unleased().count() + len(JudgeRun.objects.unscored())
    if waiting:
        worker_notify.send("judges", times=min(waiting, 4))
    return waiting


def request_analyses() -> int:
    """Ask for the analyses of studies that are due, and wake a worker for each that waits."""
    recount()
    StudyAnalysis.request_missing()
    waiting = StudyAnalysis.objects.waiting().unleased().count() + artifacts.waiting().count() + joint.request() + programs.request()
    waiting += AnswerSet.request_outdated()
    if waiting:
        worker_notify.send("studies", times=min(waiting, 4))
    return waiting


def build_due_boards(now: datetime | None = None) -> int:
    """Rank the phases that changed since their newest snapshots; returns how many were ranked.

    A phase ranked a moment ago, or being ranked by somebody else now, is left to the next round.
    """
    now = now or database_clock.read()
    built = 0
    for phase in due_phases(now):
        key, last = f"board-build-{phase.pk}", f"board-built-{phase.pk}"
        # A ranking that is the same as before leaves no newer snapshot, but it was work all the same.
        if now.timestamp() - cache.get(last, 0.0) < EVERY_SECONDS:
            continue
        # Two builders at once would do no harm, only the work twice.
        if not cache.add(key, 1, BUILDING_SECONDS):
            continue
        started = time.monotonic()
        try:
            snapshots.make_all(phase)
            thumbnails.prepare(phase)
            cache.set(last, now.timestamp(), BUILDING_SECONDS)
            built += 1
            where = f"{phase.challenge.slug}/{phase.slug}"
            log.info("board ranked", phase=where, worker=process_name(), seconds=round(time.monotonic() - started, 3))
        finally:
            cache.delete(key)
    return built


def due_phases(now: datetime) -> list[Phase]:
    """Phases that have a current batch and changed since a snapshot of either audience, except those ranked a moment ago."""
    phases, changed, ranked_lately = Phase.objects.filter(batches__state="current"), Q(), Q()
    for audience in Snapshot.Audience.values:
        # Each is the first row of an index: the largest of all kept would be looked for among all of them.
        kept, made = Snapshot.objects.filter(phase=OuterRef("pk"), audience=audience), f"{audience}_made"
        revision = Subquery(kept.order_by("-revision", "-id").values("revision")[:1])
        phases = phases.annotate(**{audience: revision, made: Subquery(kept.order_by("-created_at").values("created_at")[:1])})
        changed |= Q(**{f"{audience}__isnull": True}) | Q(**{f"{audience}__lt": F("board_revision")})
        ranked_lately |= Q(**{f"{made}__isnull": False, f"{made}__gt": now - timedelta(seconds=EVERY_SECONDS)})
    return list(phases.filter(changed).exclude(ranked_lately).select_related("challenge"))
