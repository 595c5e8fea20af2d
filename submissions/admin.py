"""The operators' view of rows: one looks and searches; acts belong to the console, which keeps a log. Only accounts are edited here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import models as fields
from django.http import HttpRequest

from submissions import models

# What the names of these rows tell, so that a list does not ask for it row by row.
TOLD = {"phase": "challenge", **dict.fromkeys(("study", "snapshot", "reference", "results"), "phase__challenge")}


class LookOnly(admin.ModelAdmin):
    """Rows that the service writes: changing one by hand would break what it promises, and leave no line in the log."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def look(
    model: type[fields.Model],
    columns: str,
    search: str = "",
    filters: str = "",
    hidden: str = "",
    *,
    base: type[LookOnly] = LookOnly,
    **options: Any,
) -> None:
    """Show the rows of a model: `columns` in their list, by `search` in these fields and by `filters`, and all fields but `hidden` ones on
    the page of a row. Names are separated by spaces."""
    said = {"list_display": columns, "search_fields": search, "list_filter": filters, "exclude": hidden}
    options = {name: text.split() for name, text in said.items() if text} | options
    foreign = {field.name for field in model._meta.get_fields() if isinstance(field, fields.ForeignKey)}
    options["list_select_related"] = [f"{name}__{TOLD[name]}" if name in TOLD else name for name in columns.split() if name in foreign]
    admin.site.register(model, type(f"{model.__name__}Admin", (base,), options))


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    list_display = ("username", "email", "is_active", "is_staff", "date_joined", "last_login")
    fieldsets = (*UserAdmin.fieldsets, ("Plumbline", {"fields": ("notify_by_email", "time_zone", "has_page")}))


look(
    models.ApiToken,
    "name user hint created_at last_used_at expires_at revoked_at",
    search="name hint user__username user__email",
    hidden="token_hash",
)
look(models.Challenge, "slug title visibility family created_at", search="slug title organizers__username", filters="visibility family")
look(
    models.Phase,
    "slug challenge opens_at closes_at time_zone board board_revision",
    search="slug title challenge__slug challenge__title",
    filters="board ranking",
)
look(
    models.Submission,
    "pk number method_name team phase status attempts losses worker created_at finished_at reason failure",
    search="=pk method_name team__name sha256 failure failure_detail worker",
    filters="status reason phase__challenge is_baseline is_verified",
    show_full_result_count=False,
    date_hierarchy="created_at",
)
look(models.Team, "name challenge created_at", search="name challenge__slug members__username members__email", hidden="invite_hash")
look(models.Membership, "user team challenge is_leader joined_at", search="user__username user__email team__name")
look(models.TeamInvite, "email team invited_by created_at expires_at accepted_at withdrawn_at", search="email team__name")
look(models.TeamMerge, "asking asked asked_by created_at sent_at", search="asking__name asked__name")
look(models.FormerTeam, "name number team merged_at", search="name =number team__name")
look(
    models.Participation,
    "user challenge admission rules_version rules_accepted_at decided_by",
    search="user__username user__email challenge__slug",
    filters="admission",
)
look(models.ExtraTries, "team phase amount reason granted_by granted_at", search="team__name reason")
look(models.ChallengePage, "title challenge slug position", search="title slug body challenge__slug")
look(
    models.ChallengeFile, "name kind challenge phase size sha256 created_at", search="name title sha256 key challenge__slug", filters="kind"
)
look(models.RateCount, "key n ends_at", search="key")
look(models.Announcement, "title challenge published_at", search="title body challenge__slug")
look(
    models.AuditEntry,
    "at challenge actor action target",
    search="action target actor__username challenge__slug",
    filters="action",
    show_full_result_count=False,
    date_hierarchy="at",
)
