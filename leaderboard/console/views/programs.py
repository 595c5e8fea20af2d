"""The organizer's own metrics: add a program, watch its checks, publish its files, take it away."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from evaluation.models import MetricProgram, SuiteRun
from evaluation.models.runs import WAITS_FOR_CARD
from evaluation.programs import document, sandbox
from leaderboard.console.forms.programs import ProgramForm
from leaderboard.console.page import chosen_act, page, told
from leaderboard.lookup import organizer
from submissions.lookup import row_number
from submissions.models import Challenge
from submissions.views.files import download


@organizer
def programs(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """All versions, and the form for another."""
    form = ProgramForm()
    if request.method == "POST":
        if request.POST.get("act") != "add":
            return chosen_act(request, {"remove": _remove, "again": _again, "publish": _publish})(request, challenge)
        form = ProgramForm(request.POST, request.FILES)
        if form.is_valid():
            return _add(request, challenge, form)
    rows = list(own(challenge))
    return page(
        request,
        "programs",
        challenge,
        "programs",
        form=form,
        programs=rows,
        packages=document.OFFERED if settings.BROKER_URL else document.installed(),
        refusal="" if settings.BROKER_URL else sandbox.refusal("python"),
        images="" if settings.BROKER_URL else sandbox.refusal("image"),
        waiting=any(row.state == MetricProgram.State.WAITING for row in rows),
    )


@organizer
@require_safe
def program(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """One version: its declaration, and the result of each check."""
    row = get_object_or_404(own(challenge), pk=pk)
    run = SuiteRun.objects.sanity_tests().filter(key=row.full_key).order_by("-created_at").first() if row.is_newest else None
    checks = [(TITLES[name], row.report.get(name)) for name in TITLES]
    values = row.values_on_studies.select_related("study__phase__challenge").order_by("study__title")
    return page(
        request,
        "program",
        challenge,
        "programs",
        program=row,
        document=row.read,
        checks=checks,
        properties=run,
        agreement=[(one, one.figure) for one in values],
        waits_for_card=WAITS_FOR_CARD if row.waits_for_card else "",
    )


@organizer
@require_safe
def program_file(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """The files of one version, as a zip."""
    row = get_object_or_404(own(challenge), pk=pk)
    return download(row.file_key, f"{row.key}-{row.version}.zip")


TITLES = {"run": "Three items of the reference", "determinism": "The same again"}


def own(challenge: Challenge) -> QuerySet[MetricProgram]:
    """The organizer's programs, without programs of a challenge of metrics."""
    return MetricProgram.objects.filter(challenge=challenge, scope=challenge.slug)


def _add(request: HttpRequest, challenge: Challenge, form: ProgramForm) -> HttpResponse:
    sent = form.cleaned_data["file"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.zip"
        with path.open("wb") as target:
            target.writelines(sent.chunks())
        row = MetricProgram.add(challenge, path, sent.name, request.user, is_public=form.cleaned_data["is_public"])
    waits = row.state == MetricProgram.State.WAITING
    now = "a worker checks it now" if waits else "it existed before, with the same files"
    return told(request, f"{row.read.title} version {row.version} was added; {now}.", "console_program", challenge.slug, row.pk)


def _chosen(request: HttpRequest, challenge: Challenge) -> MetricProgram:
    return get_object_or_404(own(challenge), pk=row_number(request.POST.get("program")))


def _remove(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    row = _chosen(request, challenge)
    row.remove(request.user)
    return told(request, f"{row.read.title} version {row.version} is removed.", "console_programs", challenge.slug)


def _again(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    row = _chosen(request, challenge)
    if row.restart():
        for run in SuiteRun.objects.filter(key=row.full_key, state=SuiteRun.State.FAILED):
            run.restart()
        row.values_on_studies.filter(state="failed").delete()  # asked for again once it may score
        messages.success(request, f"{row.read.title} is being checked again.")
    else:
        messages.error(request, "A worker is checking it right now; wait until it is done.")
    return redirect(reverse("console_program", args=[challenge.slug, row.pk]))


def _publish(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    row = _chosen(request, challenge)
    row.publish(request.POST.get("public") == "yes", request.user)
    messages.success(request, "Everybody who sees the challenge may download its files." if row.is_public else "Its files are hidden.")
    return redirect(reverse("console_program", args=[challenge.slug, row.pk]))
