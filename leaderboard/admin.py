"""Boards and studies as operators look at them."""

from __future__ import annotations

from django.contrib import admin

from leaderboard import models
from submissions.admin import LookOnly


@admin.register(models.Snapshot)
class SnapshotAdmin(LookOnly):
    list_display = ("short", "phase", "audience", "revision", "n_entries", "n_teams", "created_at", "opened_at")
    list_filter = ("audience",)
    search_fields = ("digest", "phase__slug", "phase__challenge__slug")
    list_select_related = ("phase__challenge",)
    exclude = ("payload",)
    show_full_result_count = False


@admin.register(models.EarlierForm)
class EarlierFormAdmin(LookOnly):
    list_display = ("digest", "snapshot", "changed_at")
    search_fields = ("digest",)
    list_select_related = ("snapshot__phase__challenge",)
    exclude = ("payload",)


@admin.register(models.Study)
class StudyAdmin(LookOnly):
    list_display = ("title", "phase", "slug", "kind", "state", "simulated", "is_public", "revision", "created_at")
    list_filter = ("state", "kind", "is_public", "simulated")
    search_fields = ("slug", "title", "phase__slug", "phase__challenge__slug")
    list_select_related = ("phase__challenge",)


@admin.register(models.StudyEntry)
class StudyEntryAdmin(LookOnly):
    list_display = ("label", "study", "submission", "artifact", "left_out_at")
    search_fields = ("label", "study__slug")
    list_select_related = ("study__phase__challenge", "submission")


@admin.register(models.StudySample)
class StudySampleAdmin(LookOnly):
    list_display = ("name", "study", "order")
    search_fields = ("name", "study__slug")
    list_select_related = ("study__phase__challenge",)


@admin.register(models.StudyInvitation)
class StudyInvitationAdmin(LookOnly):
    list_display = ("note", "study", "group", "most_uses", "expires_at", "withdrawn_at", "made_by", "created_at")
    search_fields = ("note", "study__slug")
    list_select_related = ("study__phase__challenge", "made_by")
    exclude = ("token_hash",)


@admin.register(models.Question)
class QuestionAdmin(LookOnly):
    list_display = ("study", "rater", "number", "sample", "left", "right", "is_gold", "shown_at", "answered_at")
    search_fields = ("study__slug", "rater__name", "sample__name")
    list_select_related = ("study__phase__challenge", "rater", "sample", "left", "right")
    exclude = ("token",)
    show_full_result_count = False


@admin.register(models.PracticeQuestion)
class PracticeQuestionAdmin(LookOnly):
    list_display = ("study", "rater", "number", "sample", "left", "right", "is_gold", "answered_at")
    search_fields = ("study__slug", "rater__name", "sample__name")
    list_select_related = ("study__phase__challenge", "rater", "sample", "left", "right")
    exclude = ("token",)


@admin.register(models.Opinion)
class OpinionAdmin(LookOnly):
    list_display = ("study", "rater", "sample", "entry", "criterion", "score")
    search_fields = ("study__slug", "rater__name", "sample")
    list_select_related = ("study__phase__challenge", "rater", "entry")
    show_full_result_count = False


@admin.register(models.Rater)
class RaterAdmin(LookOnly):
    list_display = ("name", "kind", "group", "study", "joined_at", "removed_at", "withdrawn", "is_counted")
    list_filter = ("kind",)
    search_fields = ("name", "group", "study__slug")
    exclude = ("key_hash", "kept_from")
    list_select_related = ("study__phase__challenge",)


@admin.register(models.Tally)
class TallyAdmin(LookOnly):
    list_display = ("rater",)
    search_fields = ("rater__study__slug", "rater__name")
    list_select_related = ("rater",)


@admin.register(models.StudyVote)
class StudyVoteAdmin(LookOnly):
    list_display = ("study", "rater", "sample", "left", "choice", "right", "criterion")
    list_filter = ("choice",)
    search_fields = ("study__slug", "rater__name", "sample")
    list_select_related = ("study__phase__challenge", "rater", "left", "right")
    show_full_result_count = False


@admin.register(models.InterimAnalysis)
class StudyLookAdmin(LookOnly):
    list_display = ("study", "number", "answers", "raters", "samples", "entry", "made_at")
    search_fields = ("study__slug", "entry")
    list_select_related = ("study__phase__challenge",)


@admin.register(models.StudyAnalysis)
class StudyAnalysisAdmin(LookOnly):
    list_display = ("study", "criterion", "state", "made_of", "wanted", "attempts", "losses", "worker", "finished_at")
    list_filter = ("state",)
    search_fields = ("study__slug", "criterion")
    list_select_related = ("study__phase__challenge",)
    exclude = ("content",)


@admin.register(models.JointAnalysis)
class JointAnalysisAdmin(LookOnly):
    list_display = ("members", "state", "made_of", "wanted", "attempts", "losses", "worker", "finished_at")
    list_filter = ("state",)
    search_fields = ("members",)
    exclude = ("content",)


@admin.register(models.AnswerSet)
class AnswerSetAdmin(LookOnly):
    list_display = ("study", "state", "made_of", "wanted", "attempts", "losses", "worker", "finished_at")
    list_filter = ("state",)
    search_fields = ("study__slug", "study__title")
    list_select_related = ("study__phase__challenge",)
    exclude = ("packed", "content", "reproduction")


@admin.register(models.JudgeRun)
class JudgeRunAdmin(LookOnly):
    list_display = ("rater", "study", "plan", "state", "n_answered", "n_planned", "requests", "budget", "cost", "worker", "created_at")
    list_filter = ("state", "form")
    search_fields = ("model", "study__slug", "study__title")
    list_select_related = ("study__phase__challenge", "rater")
    exclude = ("result",)


@admin.register(models.JudgeBudget)
class JudgeBudgetAdmin(LookOnly):
    list_display = ("challenge", "account", "limit", "month", "spent", "reserved", "set_by", "set_at")
    search_fields = ("challenge__slug", "account__username")
    list_select_related = ("challenge", "account", "set_by")


@admin.register(models.JudgeKey)
class JudgeKeyAdmin(LookOnly):
    list_display = ("challenge", "account", "url", "last_four", "put_in_by", "put_in_at")
    search_fields = ("challenge__slug", "account__username")
    list_select_related = ("challenge", "account", "put_in_by")
    exclude = ("sealed",)


@admin.register(models.JudgeAnswer)
class JudgeAnswerAdmin(LookOnly):
    list_display = ("run_id", "number", "sample", "left", "right", "state", "rounds", "requests", "tokens_in", "tokens_out", "cost")
    list_filter = ("state",)
    search_fields = ("sample", "left__label", "right__label")
    list_select_related = ("left", "right")
    show_full_result_count = False


@admin.register(models.ProgramValues)
class ProgramValuesAdmin(LookOnly):
    list_display = ("program", "study", "state", "total", "finished_at", "failure")
    list_filter = ("state",)
    list_select_related = ("program", "study__phase__challenge")
    search_fields = ("program__key", "study__slug", "failure")


@admin.register(models.MetricChallenge)
class MetricChallengeAdmin(LookOnly):
    list_display = ("title", "study", "opens_at", "closes_at", "limit_per_day", "limit_total", "standings_at")
    list_select_related = ("study__phase__challenge",)
    search_fields = ("title", "study__slug")


@admin.register(models.MetricEntry)
class MetricEntryAdmin(LookOnly):
    list_display = ("pk", "contest", "user", "program", "created_at")
    list_select_related = ("contest", "user", "program")
    search_fields = ("contest__title", "user__username", "program__key")
