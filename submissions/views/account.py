"""A person's own page: where they take part, e-mails, time zone, and the way to everything else."""

from __future__ import annotations

import zoneinfo
from functools import cache
from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UsernameField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from submissions.models import Membership, Participation, User
from submissions.visibility import entries_of_teams

ENTRIES_SHOWN = 10


@cache
def zone_choices() -> list[tuple[str, str]]:
    """Zones of places people live in, and UTC; found by a walk through the files of zones."""
    names = sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/", "posix/")))
    return [("", "As my browser says"), ("UTC", "UTC"), *((name, name.replace("_", " ")) for name in names)]


class AccountForm(forms.ModelForm):
    time_zone = forms.ChoiceField(choices=zone_choices, required=False, help_text="Times are shown in it beside the phase's own zone.")

    class Meta:
        model = User
        fields = ["username", "notify_by_email", "time_zone", "has_page"]
        field_classes = {"username": UsernameField}
        labels = {
            "username": "User name",
            "notify_by_email": "Send me an e-mail when an entry of my team is scored, rejected or has failed",
            "has_page": "Let everybody see a page of mine",
        }
        help_texts = {
            "username": "Yours is an e-mail address, so organizers find you by a confirmed address only. You may choose another name, "
            "without “@”.",
            "notify_by_email": "",
            "has_page": "It shows your user name, the challenges that you organize, and your teams with their public ranks. It shows no "
            "e-mail address.",
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "@" not in self.instance.username:  # what boards, teams and links show stays
            del self.fields["username"]

    def clean_username(self) -> str:
        """The stored name, or a new one under the rules of signing up."""
        name: str = self.cleaned_data["username"]
        return name if name == self.instance.username else get_adapter().clean_username(name)

    def clean_has_page(self) -> bool:
        wanted = self.cleaned_data["has_page"]
        if wanted and "@" in self.cleaned_data.get("username", ""):
            raise forms.ValidationError("Your user name is an e-mail address, which the page would show; choose another one above first.")
        return wanted


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Teams, latest entries, and the settings of e-mails and times."""
    form = AccountForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Your settings are saved.")
        return redirect("account")
    memberships = Membership.objects.filter(user=request.user).select_related("team", "challenge")
    let_in = Participation.objects.filter(user=request.user).exclude(challenge__in=memberships.values("challenge"))
    entries = entries_of_teams(request.user)
    context = {
        "form": form,
        "memberships": memberships.order_by("-joined_at"),
        "waiting": let_in.exclude(admission="declined").select_related("challenge"),
        "organized": request.user.organized.all(),
        "entries": entries.select_related("phase__challenge", "team").order_by("-created_at")[:ENTRIES_SHOWN],
        "n_entries": entries.count(),
    }
    return render(request, "submissions/account.html", context)
