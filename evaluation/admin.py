"""Scoring as operators look at it: what runs where, what failed, and the traceback of it."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from evaluation import models
from submissions.admin import LookOnly


@admin.register(models.Process)
class ProcessAdmin(LookOnly):
    list_display = ("kind", "name", "queues", "started_at", "seen_at", "worked_at", "wrote_at", "write_faults", "clock_ahead")
    list_filter = ("kind",)
    search_fields = ("name",)


@admin.register(models.MetricProgram)
class MetricProgramAdmin(LookOnly):
    list_display = ("scope", "key", "version", "state", "size", "created_by", "created_at", "failure")
    list_filter = ("state",)
    search_fields = ("scope", "key", "challenge__slug", "contents", "failure")
    list_select_related = ("challenge", "created_by")


@admin.register(models.PhaseMetric)
class PhaseMetricAdmin(LookOnly):
    list_display = ("slug", "key", "phase", "position", "weight", "is_primary", "in_ranking")
    list_filter = ("key",)
    search_fields = ("slug", "key", "phase__slug", "phase__challenge__slug")
    list_select_related = ("phase__challenge",)


@admin.register(models.Reference)
class ReferenceAdmin(LookOnly):
    list_display = ("phase", "version", "sha256", "note", "created_by", "created_at")
    search_fields = ("phase__slug", "phase__challenge__slug", "sha256", "note")
    list_select_related = ("phase__challenge", "created_by")


@admin.register(models.ResultTable)
class ResultTableAdmin(LookOnly):
    list_display = ("phase", "version", "file_name", "sha256", "created_by", "created_at")
    search_fields = ("phase__slug", "phase__challenge__slug", "sha256", "file_name")
    list_select_related = ("phase__challenge", "created_by")


@admin.register(models.EvaluationBatch)
class EvaluationBatchAdmin(LookOnly):
    list_display = ("pk", "phase", "reference", "results", "state", "reason", "created_by", "created_at", "switched_at")
    list_filter = ("state",)
    search_fields = ("phase__slug", "phase__challenge__slug", "reason")
    list_select_related = ("phase__challenge", "reference__phase__challenge", "results__phase__challenge", "created_by")


@admin.register(models.Evaluation)
class EvaluationAdmin(LookOnly):
    list_display = ("pk", "submission", "batch_id", "state", "n_items", "created_at", "finished_at", "failure")
    list_filter = ("state", "kind")
    search_fields = ("=pk", "=submission__pk", "submission__method_name", "submission__team__name", "failure", "failure_detail")
    list_select_related = ("submission",)
    raw_id_fields = ("submission", "batch")
    show_full_result_count = False


@admin.register(models.Part)
class PartAdmin(LookOnly):
    list_display = (
        "pk",
        "evaluation_id",
        "device",
        "slugs",
        "start",
        "stop",
        "state",
        "attempts",
        "losses",
        "worker",
        "lease_until",
        "failure",
    )
    list_filter = ("state", "device")
    search_fields = ("=pk", "=evaluation__pk", "worker", "failure", "failure_detail")
    exclude = ("result",)
    show_full_result_count = False


@admin.register(models.PictureRun)
class PictureRunAdmin(LookOnly):
    list_display = ("pk", "evaluation_id", "scene", "state", "n_made", "attempts", "losses", "worker", "lease_until", "failure")
    list_filter = ("state",)
    search_fields = ("=pk", "=evaluation__pk", "scene", "digest", "failure", "failure_detail")
    exclude = ("made",)
    actions = ("make_again",)

    @admin.action(description="Make the pictures again")
    def make_again(self, request: HttpRequest, queryset: QuerySet) -> None:
        n = sum(run.restart() for run in queryset)
        self.message_user(request, f"{n} of {queryset.count()} will be made again; one that a worker holds is left as it is.")


@admin.register(models.SuiteRun)
class SuiteRunAdmin(LookOnly):
    list_display = ("pk", "key", "params", "reference", "state", "done", "total", "seconds", "attempts", "losses", "worker", "failure")
    list_filter = ("state", ("reference", admin.EmptyFieldListFilter), "key")
    search_fields = ("=pk", "key", "fingerprint", "failure", "failure_detail")
    exclude = ("rows", "at", "results", "pictures")
    actions = ("test_again",)

    @admin.action(description="Test again, from the start")
    def test_again(self, request: HttpRequest, queryset: QuerySet) -> None:
        n = sum(run.restart() for run in queryset)
        self.message_user(request, f"{n} of {queryset.count()} will be tested again; one that a worker holds is left as it is.")


@admin.register(models.Score)
class ScoreAdmin(LookOnly):
    list_display = ("pk", "evaluation_id", "slug", "key", "value", "n", "n_missing", "n_invalid", "n_null")
    list_filter = ("key",)
    search_fields = ("=evaluation__pk", "slug", "key", "fingerprint")
    exclude = ("vector", "status_vector", "part_vectors")
    show_full_result_count = False


@admin.register(models.WorkerToken)
class WorkerTokenAdmin(LookOnly):
    list_display = (
        "name",
        "challenge",
        "hint",
        "queues",
        "share",
        "at_once",
        "agreed",
        "created_by",
        "expires_at",
        "revoked_at",
        "held_at",
        "wrong_at",
        "waits_until",
    )
    exclude = ("token_hash",)
    search_fields = ("name", "challenge__slug")
    list_select_related = ("challenge", "created_by")


@admin.register(models.RemoteWorker)
class OutsideWorkerAdmin(LookOnly):
    list_display = ("name", "token", "machine", "first_seen_at", "seen_at")
    search_fields = ("name", "machine", "token__name")
    list_select_related = ("token",)


@admin.register(models.PartRecord)
class PartRecordAdmin(LookOnly):
    list_display = ("pk", "submission", "token", "worker", "device", "n_items", "verdict", "core_seconds", "gpu_seconds", "finished_at")
    list_filter = ("verdict", "device")
    search_fields = ("=submission__pk", "worker", "token__name")
    list_select_related = ("submission", "token")
    raw_id_fields = ("part", "batch", "submission")
    show_full_result_count = False


@admin.register(models.ComputeBudget)
class ComputeBudgetAdmin(LookOnly):
    list_display = ("challenge", "core_hours", "gpu_hours")
    list_select_related = ("challenge",)
