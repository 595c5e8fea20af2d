"""The operators' view of rows: one looks and searches; acts belong to the console, which keeps a log. Only accounts are edited here."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from submissions import models


class LookOnly(admin.ModelAdmin):
    """Rows that the service writes: changing one by hand would break what it promises, and leave no line in the log."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    list_display = ("username", "email", "is_active", "is_staff", "date_joined", "last_login")
    fieldsets = (*UserAdmin.fieldsets, ("Plumbline", {"fields": ("notify_by_email", "time_zone", "has_page")}))


@admin.register(models.ApiToken)
class ApiTokenAdmin(LookOnly):
    list_display = ("name", "user", "hint", "created_at", "last_used_at", "expires_at", "revoked_at")
    search_fields = ("name", "hint", "user__username", "user__email")
    list_select_related = ("user",)
    exclude = ("token_hash",)


@admin.register(models.Challenge)
class ChallengeAdmin(LookOnly):
    list_display = ("slug", "title", "visibility", "family", "created_at")
    list_filter = ("visibility", "family")
    search_fields = ("slug", "title", "organizers__username")


@admin.register(models.Phase)
class PhaseAdmin(LookOnly):
    list_display = ("slug", "challenge", "opens_at", "closes_at", "time_zone", "board", "board_revision")
    list_filter = ("board", "ranking")
    search_fields = ("slug", "title", "challenge__slug", "challenge__title")
    list_select_related = ("challenge",)


@admin.register(models.Submission)
class SubmissionAdmin(LookOnly):
    list_display = (
        "pk",
        "number",
        "method_name",
        "team",
        "phase",
        "status",
        "attempts",
        "losses",
        "worker",
        "created_at",
        "finished_at",
        "reason",
        "failure",
    )
    list_filter = ("status", "reason", "phase__challenge", "is_baseline", "is_verified")
    search_fields = ("=pk", "method_name", "team__name", "sha256", "failure", "failure_detail", "worker")
    list_select_related = ("team", "phase__challenge")
    date_hierarchy = "created_at"
    show_full_result_count = False


@admin.register(models.Team)
class TeamAdmin(LookOnly):
    list_display = ("name", "challenge", "created_at")
    search_fields = ("name", "challenge__slug", "members__username", "members__email")
    list_select_related = ("challenge",)
    exclude = ("invite_hash",)


@admin.register(models.Membership)
class MembershipAdmin(LookOnly):
    list_display = ("user", "team", "challenge", "is_leader", "joined_at")
    search_fields = ("user__username", "user__email", "team__name")
    list_select_related = ("user", "team", "challenge")


@admin.register(models.TeamInvite)
class TeamInviteAdmin(LookOnly):
    list_display = ("email", "team", "invited_by", "created_at", "expires_at", "accepted_at", "withdrawn_at")
    search_fields = ("email", "team__name")
    list_select_related = ("team", "invited_by")


@admin.register(models.TeamMerge)
class TeamMergeAdmin(LookOnly):
    list_display = ("asking", "asked", "asked_by", "created_at", "sent_at")
    search_fields = ("asking__name", "asked__name")
    list_select_related = ("asking", "asked", "asked_by")


@admin.register(models.FormerTeam)
class FormerTeamAdmin(LookOnly):
    list_display = ("name", "number", "team", "merged_at")
    search_fields = ("name", "=number", "team__name")
    list_select_related = ("team",)


@admin.register(models.Participation)
class ParticipationAdmin(LookOnly):
    list_display = ("user", "challenge", "admission", "rules_version", "rules_accepted_at", "decided_by")
    list_filter = ("admission",)
    search_fields = ("user__username", "user__email", "challenge__slug")
    list_select_related = ("user", "challenge", "decided_by")


@admin.register(models.ExtraTries)
class ExtraTriesAdmin(LookOnly):
    list_display = ("team", "phase", "amount", "reason", "granted_by", "granted_at")
    search_fields = ("team__name", "reason")
    list_select_related = ("team", "phase__challenge", "granted_by")


@admin.register(models.ChallengePage)
class ChallengePageAdmin(LookOnly):
    list_display = ("title", "challenge", "slug", "position")
    search_fields = ("title", "slug", "body", "challenge__slug")
    list_select_related = ("challenge",)


@admin.register(models.ChallengeFile)
class ChallengeFileAdmin(LookOnly):
    list_display = ("name", "kind", "challenge", "phase", "size", "sha256", "created_at")
    list_filter = ("kind",)
    search_fields = ("name", "title", "sha256", "key", "challenge__slug")
    list_select_related = ("challenge", "phase__challenge")


@admin.register(models.RateCount)
class RateCountAdmin(LookOnly):
    list_display = ("key", "n", "ends_at")
    search_fields = ("key",)


@admin.register(models.Announcement)
class AnnouncementAdmin(LookOnly):
    list_display = ("title", "challenge", "published_at")
    search_fields = ("title", "body", "challenge__slug")
    list_select_related = ("challenge",)


@admin.register(models.AuditEntry)
class AuditEntryAdmin(LookOnly):
    list_display = ("at", "challenge", "actor", "action", "target")
    list_filter = ("action",)
    search_fields = ("action", "target", "actor__username", "challenge__slug")
    list_select_related = ("challenge", "actor")
    date_hierarchy = "at"
    show_full_result_count = False
