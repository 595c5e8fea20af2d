"""Pages that organizers add to a challenge, and the preview of any Markdown while it is written."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST

from leaderboard.bundle.definition import PageDef
from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import confirm_and_apply, moved
from leaderboard.console.forms.challenge import PageForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer
from submissions import throttling
from submissions.errors import Refused
from submissions.markdown import laid_out
from submissions.models import Challenge
from submissions.models.challenge import MAX_PAGES


@organizer
def pages(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """The challenge's pages in their order, and a form for another one."""
    form, act = PageForm(challenge), request.POST.get("act")
    if request.method == "POST":
        definition = read(challenge)
        if act == "move":
            ordered = moved(definition.pages, request.POST.get("slug", ""), request.POST.get("to", ""))
            return confirm_and_apply(request, replace(definition, pages=ordered), request.path)
        if act != "add":
            raise Http404
        form = PageForm(challenge, request.POST)
        if form.is_valid():
            if len(definition.pages) >= MAX_PAGES:
                raise Refused(f"A challenge has at most {MAX_PAGES} pages of its own; remove one, or write into another.", "too_many_pages")
            more = (*definition.pages, PageDef(**form.cleaned_data))
            return confirm_and_apply(request, replace(definition, pages=more), request.path, f"{more[-1].title} was added.")
    return page(request, "pages", challenge, "pages", form=form, pages=challenge.pages.all())


@organizer
def edit(request: HttpRequest, challenge: Challenge, slug: str) -> HttpResponse:
    row = get_object_or_404(challenge.pages, slug=slug)
    form, back = PageForm(challenge, request.POST or None, instance=row), reverse("console_pages", args=[challenge.slug])
    if request.method == "POST":
        definition = read(challenge)
        if request.POST.get("act") == "remove":
            remaining = tuple(one for one in definition.pages if one.slug != slug)
            return confirm_and_apply(request, replace(definition, pages=remaining), back, f"{row.title} is removed.")
        if form.is_valid():
            changed = tuple(replace(one, **form.cleaned_data) if one.slug == slug else one for one in definition.pages)
            return confirm_and_apply(request, replace(definition, pages=changed), back)
    return page(request, "member_edit", challenge, "pages", form=form, title=row.title, list_title="Pages", back=back)


@organizer
@require_POST
def preview(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Markdown as the challenge's pages would show it, and the note for its author: a piece of HTML for the form that it is written in."""
    throttling.limit_previews(request)
    found = laid_out(request.POST.get("text", "").replace("\r\n", "\n"), challenge.pictures_url)
    note = format_html('<p class="alert warning">{}</p>', found.note) if found.note else ""
    return HttpResponse(note + mark_safe(found.html))  # noqa: S308 - cleaned by `submissions.markdown`
