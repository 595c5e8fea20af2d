"""The studies of a phase: votes that were collected elsewhere come in, are shown, and go."""

from __future__ import annotations

import io

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from leaderboard.console.forms import StudyForm
from leaderboard.console.place import chosen_act, number, organizer_of_phase, page
from leaderboard.models import Study
from leaderboard.stats import votes as voting
from leaderboard.stats.votes import Vote, VotesError
from submissions.models import Phase


@organizer_of_phase
@require_http_methods(["GET", "HEAD", "POST"])
def studies(request: HttpRequest, phase: Phase) -> HttpResponse:
    form = StudyForm(phase)
    if request.method == "POST":
        if request.POST.get("act") != "import":
            return chosen_act(request, {"publish": _publish, "hide": _hide, "remove": _remove})(request, phase)
        form = StudyForm(phase, request.POST, request.FILES)
        if form.is_valid() and _import(request, phase, form):
            return redirect(request.path)
    rows = [(study, study.study_votes.count(), study.raters.count()) for study in phase.studies.all()]
    return page(request, "studies", phase.challenge, "studies", phase, form=form, studies=rows)


def _import(request: HttpRequest, phase: Phase, form: StudyForm) -> bool:
    """Whether the votes came in; what is wrong with the file is put beside its field."""
    data = form.cleaned_data
    try:
        votes = _votes(data)
        about = {name: data[name] for name in ("slug", "title", "question", "source", "is_public")}
        study = Study.import_votes(phase, request.user, votes, **about)
    except VotesError as error:
        form.add_error("file", list(error.problems))
        return False
    except ValueError as error:
        form.add_error("slug" if "address" in str(error) else "file", str(error))
        return False
    messages.success(
        request, f"{len(votes):,} votes are in; what follows from them is computed now and stands on the page of “{study.title}”."
    )
    return True


def _votes(data: dict) -> list[Vote]:
    file = data["file"]
    try:
        text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VotesError([f"{file.name} is not a CSV file in UTF-8 ({error}); save it as one."]) from None
    return voting.parse(io.StringIO(text, newline=""), file.name, data["columns"])


def _study(request: HttpRequest, phase: Phase) -> Study:
    found = phase.studies.filter(pk=number(request.POST.get("study"))).first()
    if found is None:
        raise Http404
    return found


def _publish(request: HttpRequest, phase: Phase) -> HttpResponse:
    found = _study(request, phase)
    found.publish(request.user, True)
    messages.success(request, f"“{found.title}” is shown to all who may see the board.")
    return redirect(request.path)


def _hide(request: HttpRequest, phase: Phase) -> HttpResponse:
    found = _study(request, phase)
    found.publish(request.user, False)
    messages.success(request, f"“{found.title}” is shown to organizers only.")
    return redirect(request.path)


def _remove(request: HttpRequest, phase: Phase) -> HttpResponse:
    found = _study(request, phase)
    title = found.title
    found.remove(request.user)
    messages.success(request, f"“{title}” is removed with all its votes.")
    return redirect(request.path)
