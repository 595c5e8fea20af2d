"""Boards and studies as operators look at them."""

from __future__ import annotations

from django.contrib import admin

from leaderboard import models
from submissions.admin import LookOnly


@admin.register(models.Snapshot)
class SnapshotAdmin(LookOnly):
    list_display = ("short", "phase", "audience", "revision", "n_entries", "n_teams", "created_at")
    list_filter = ("audience",)
    search_fields = ("digest", "phase__slug", "phase__challenge__slug")
    list_select_related = ("phase__challenge",)
    exclude = ("payload",)
    show_full_result_count = False


@admin.register(models.Study)
class StudyAdmin(LookOnly):
    list_display = ("title", "phase", "slug", "made_up", "is_public", "revision", "created_at")
    list_filter = ("is_public", "made_up")
    search_fields = ("slug", "title", "phase__slug", "phase__challenge__slug")
    list_select_related = ("phase__challenge",)


@admin.register(models.StudyEntry)
class StudyEntryAdmin(LookOnly):
    list_display = ("label", "study", "submission")
    search_fields = ("label", "study__slug")
    list_select_related = ("study__phase__challenge", "submission")


@admin.register(models.Rater)
class RaterAdmin(LookOnly):
    list_display = ("name", "group", "study")
    search_fields = ("name", "group", "study__slug")
    list_select_related = ("study__phase__challenge",)


@admin.register(models.StudyVote)
class StudyVoteAdmin(LookOnly):
    list_display = ("study", "rater", "sample", "left", "choice", "right", "criterion")
    list_filter = ("choice",)
    search_fields = ("study__slug", "rater__name", "sample")
    list_select_related = ("study__phase__challenge", "rater", "left", "right")
    show_full_result_count = False


@admin.register(models.StudyAnalysis)
class StudyAnalysisAdmin(LookOnly):
    list_display = ("study", "criterion", "state", "made_of", "wanted", "attempts", "worker", "finished_at")
    list_filter = ("state",)
    search_fields = ("study__slug", "criterion")
    list_select_related = ("study__phase__challenge",)
    exclude = ("content",)
