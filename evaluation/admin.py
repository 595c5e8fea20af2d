"""Scoring as operators look at it: what runs where, what failed, and the traceback of it."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from evaluation import models
from submissions.admin import LookOnly, look


class PictureRunAdmin(LookOnly):
    actions = ("make_again",)

    @admin.action(description="Make the pictures again")
    def make_again(self, request: HttpRequest, queryset: QuerySet) -> None:
        n = sum(run.restart() for run in queryset)
        self.message_user(request, f"{n} of {queryset.count()} will be made again; one that a worker holds is left as it is.")


class SuiteRunAdmin(LookOnly):
    list_filter = ("state", ("reference", admin.EmptyFieldListFilter), "key")
    actions = ("test_again",)

    @admin.action(description="Test again, from the start")
    def test_again(self, request: HttpRequest, queryset: QuerySet) -> None:
        n = sum(run.restart() for run in queryset)
        self.message_user(request, f"{n} of {queryset.count()} will be tested again; one that a worker holds is left as it is.")


look(models.Process, "kind name queues started_at seen_at worked_at wrote_at write_faults clock_ahead", search="name", filters="kind")
look(
    models.MetricProgram,
    "scope key version state size created_by created_at failure",
    search="scope key challenge__slug contents failure",
    filters="state",
)
look(
    models.PhaseMetric,
    "slug key phase position weight is_primary in_ranking",
    search="slug key phase__slug phase__challenge__slug",
    filters="key",
)
look(models.Reference, "phase version sha256 note created_by created_at", search="phase__slug phase__challenge__slug sha256 note")
look(
    models.ResultTable, "phase version file_name sha256 created_by created_at", search="phase__slug phase__challenge__slug sha256 file_name"
)
look(
    models.EvaluationBatch,
    "pk phase reference results state reason created_by created_at switched_at",
    search="phase__slug phase__challenge__slug reason",
    filters="state",
)
look(
    models.Evaluation,
    "pk submission batch_id state n_items created_at finished_at failure",
    search="=pk =submission__pk submission__method_name submission__team__name failure failure_detail",
    filters="state kind",
    show_full_result_count=False,
)
look(
    models.Part,
    "pk evaluation_id device slugs start stop state attempts losses worker lease_until failure",
    search="=pk =evaluation__pk worker failure failure_detail",
    filters="state device",
    hidden="result",
    show_full_result_count=False,
)
look(
    models.PictureRun,
    "pk evaluation_id scene state n_made attempts losses worker lease_until failure",
    search="=pk =evaluation__pk scene digest failure failure_detail",
    filters="state",
    hidden="made",
    base=PictureRunAdmin,
)
look(
    models.SuiteRun,
    "pk key params reference state done total seconds attempts losses worker failure",
    search="=pk key fingerprint failure failure_detail",
    hidden="rows at results pictures",
    base=SuiteRunAdmin,
)
look(
    models.Score,
    "pk evaluation_id slug key value n n_missing n_invalid n_null",
    search="=evaluation__pk slug key fingerprint",
    filters="key",
    hidden="vector status_vector part_vectors",
    show_full_result_count=False,
)
look(
    models.WorkerToken,
    "name challenge hint queues share at_once agreed created_by expires_at revoked_at held_at wrong_at waits_until",
    search="name challenge__slug",
    hidden="token_hash",
)
look(models.RemoteWorker, "name token machine first_seen_at seen_at", search="name machine token__name")
look(
    models.PartRecord,
    "pk submission token worker device n_items verdict core_seconds gpu_seconds finished_at",
    search="=submission__pk worker token__name",
    filters="verdict device",
    show_full_result_count=False,
)
look(models.ComputeBudget, "challenge core_hours gpu_hours")
