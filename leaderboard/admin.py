"""Boards as operators look at them."""

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
