"""The console's own pages of a challenge: the list, a new one, overview, settings, who sees it."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

from django.conf import settings as project
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.models import EvaluationBatch
from evaluation.models.batch import sentences
from leaderboard.bundle.apply import apply
from leaderboard.bundle.definition import ChallengeDef
from leaderboard.bundle.export import export
from leaderboard.bundle.state import of_row, read
from leaderboard.console import acts
from leaderboard.console.confirm_and_apply import confirm_and_apply, moved, scored_anew
from leaderboard.console.forms.challenge import NewChallengeForm, SettingsForm, VisibilityForm
from leaderboard.console.page import page, told
from leaderboard.console.views.audit import sentence
from leaderboard.lookup import organizer
from submissions.models import Admission, Challenge, ChallengeFile, Status, Team
from submissions.permissions import allowed, require


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    """The challenges that the viewer organizes, and their phases that have values of older versions. An operator can have all of these
    scored again together."""
    if request.method == "POST":
        require(request.user, "operator.see")
        if request.POST.get("act") != "reevaluate_outdated":
            raise Http404
        begun, refused = acts.reevaluate_outdated(request.user)
        for phase, why in refused:
            messages.error(request, f"{phase}: {why}")
        if begun:
            messages.success(request, scored_anew(sum(batch.progress()["total"] for batch in begun)))
        return redirect(request.path)
    everything = allowed(request.user, "operator.see")
    challenges = Challenge.objects.all() if everything else request.user.organized.all()
    joined = Team.objects.joined().filter(challenge=OuterRef("pk")).order_by().values("challenge").annotate(n=Count("pk")).values("n")
    challenges = challenges.annotate(n_phases=Count("phases"), n_teams=Coalesce(Subquery(joined), 0)).order_by("-created_at")
    organized = set(challenges.values_list("pk", flat=True))
    outdated = [
        {"phase": batch.phase, "sentences": sentences(batch.outdated()), "n": batch.progress()["total"]}
        for batch in EvaluationBatch.all_outdated()
        if batch.phase.challenge_id in organized
    ]
    context = {
        "challenges": challenges,
        "may_create": allowed(request.user, "challenge.create"),
        "here": "index",
        "outdated": outdated,
        "is_operator": everything,
    }
    return render(request, "console/index.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Begin a challenge, as a draft with the viewer as its organizer."""
    require(request.user, "challenge.create")
    form = NewChallengeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        blank, names = Challenge(**form.cleaned_data), (request.user.get_username(),)
        definition = of_row(ChallengeDef, blank, admitted_emails=(), tags=(), organizers=names)
        apply(definition, request.user)
        return told(request, "The challenge is a draft that only you see. Continue with a phase.", "console_challenge", definition.slug)
    return render(request, "console/new.html", {"form": form, "here": "new"})


@organizer
def overview(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """The challenge, and what is still to be done; the order of phases is changed here."""
    if request.method == "POST":
        if request.POST.get("act") != "move":
            raise Http404
        definition = read(challenge)
        ordered = moved(definition.phases, request.POST.get("slug", ""), request.POST.get("to", ""))
        return confirm_and_apply(request, replace(definition, phases=ordered), request.path)
    phases = challenge.phases.annotate(
        n_entries=Count("submissions", distinct=True),
        n_scored=Count("submissions", filter=Q(submissions__status=Status.SCORED), distinct=True),
        n_failed=Count("submissions", filter=Q(submissions__status=Status.FAILED), distinct=True),
        n_metrics=Count("metrics", distinct=True),
    ).order_by("position", "opens_at", "id")
    rows = [
        {"phase": phase, "batch": batch, "outdated": sentences(batch.outdated()) if batch else []}
        for phase in phases
        for batch in [EvaluationBatch.latest(phase)]
    ]

    # A step that a challenge needs before people can take part: done or not, what, and where.
    at = [challenge.slug]
    measured_here = [row["phase"] for row in rows if row["phase"].is_measured_here]
    first = next(iter(measured_here), None)
    here = [*at, first.slug] if first else at
    metrics, reference = ("console_metrics", "console_reference") if first else ("console_phase_new", "console_phase_new")
    measured = [
        (bool(first and first.n_metrics), "Choose metrics", reverse(metrics, args=here)),
        (bool(first and first.manifest_data), "Give the reference", reverse(reference, args=here)),
        (challenge.files.filter(kind=ChallengeFile.Kind.INPUT).exists(), "Offer the inputs", reverse("console_files", args=at)),
    ]
    steps = [
        (bool(challenge.description), "Describe the task", reverse("console_settings", args=at)),
        (bool(challenge.rules), "Write the rules", reverse("console_settings", args=at)),
        (bool(rows), "Make a phase", reverse("console_phase_new", args=at)),
        *(measured if first or not rows else []),
        (challenge.visibility != Challenge.Visibility.DRAFT, "Show it", reverse("console_access", args=at)),
    ]
    context = {
        "rows": rows,
        "steps": steps,
        "waiting": challenge.participations.filter(admission=Admission.PENDING).exclude(rules_accepted_at=None).count(),
        "log": [(entry, sentence(entry.action)) for entry in challenge.audit.select_related("actor")[:6]],
    }
    return page(request, "overview", challenge, "overview", **context)


@organizer
def settings(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Texts, rules, and who may take part."""
    definition = read(challenge)
    form = SettingsForm(request.POST or None, instance=challenge)
    if request.method == "POST" and form.is_valid():
        return confirm_and_apply(request, replace(definition, **form.cleaned_data), request.path)
    return page(request, "settings", challenge, "settings", form=form)


@organizer
def access(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Draft, private by link or list, or public."""
    form = VisibilityForm(None, instance=challenge)
    if request.method == "POST":
        if request.POST.get("act") == "rotate":
            challenge.rotate_link(request.user)
            return told(request, "There is a new link; the earlier one no longer works.")
        definition = read(challenge)
        form = VisibilityForm(request.POST, instance=challenge)
        if form.is_valid():
            return confirm_and_apply(request, replace(definition, **form.cleaned_data), request.path)
    link = f"{project.SITE_URL}{reverse('access', args=[challenge.slug, challenge.access_key])}" if challenge.access_key else ""
    return page(request, "access", challenge, "access", form=form, link=link)


@organizer
def delete(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Remove a draft, once its address has been typed."""
    if request.method == "POST":
        if request.POST.get("slug", "").strip() != challenge.slug:
            messages.error(request, f"Type {challenge.slug} to delete this draft.")
            return redirect(request.path)
        acts.delete_challenge(challenge)
        return told(request, f"{challenge.title} is deleted.", "console")
    return page(request, "delete", challenge, "settings")


@organizer
@require_safe
def bundle(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """The challenge as files, the hidden reference with them."""
    packed = tempfile.TemporaryFile()  # noqa: SIM115  inputs may be larger than memory; the response closes it
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / challenge.slug
        export(read(challenge), root)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(root.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(temporary))
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=f"{challenge.slug}-bundle.zip")
