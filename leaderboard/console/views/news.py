"""Announcements: publish, correct, take back."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from leaderboard.bundle.definition import NewsDef
from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import confirm_and_apply
from leaderboard.console.forms.challenge import NewsForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer
from submissions.lookup import ChallengePlace
from submissions.models import Challenge
from submissions.permissions import Viewer


@organizer
def news(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    form = NewsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        definition = read(challenge)
        item = NewsDef(**form.cleaned_data, published_at=timezone.now())
        return confirm_and_apply(request, replace(definition, announcements=(*definition.announcements, item)), request.path, "Published.")
    main = ChallengePlace(challenge, Viewer(request.user, challenge, timezone.now())).main_phase
    zone = main.time_zone if main else "UTC"
    return page(request, "news", challenge, "news", form=form, announcements=challenge.announcements.all(), zone=zone)


@organizer
def edit(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    row = get_object_or_404(challenge.announcements, pk=pk)
    form, back = NewsForm(request.POST or None, instance=row), reverse("console_news", args=[challenge.slug])
    if request.method == "POST":
        definition = read(challenge)
        if request.POST.get("act") == "remove":
            remaining = tuple(item for item in definition.announcements if item.pk != pk)
            return confirm_and_apply(request, replace(definition, announcements=remaining), back, "Taken back.")
        if form.is_valid():
            changed = tuple(replace(item, **form.cleaned_data) if item.pk == pk else item for item in definition.announcements)
            return confirm_and_apply(request, replace(definition, announcements=changed), back)
    return page(request, "member_edit", challenge, "news", form=form, title="Announcement", list_title="Announcements", back=back)
