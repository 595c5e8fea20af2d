"""The studies of a phase: imported votes are added, shown and removed."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.console.forms.answer_sets import AnswerSetForm
from leaderboard.console.forms.challenge import StudyForm
from leaderboard.console.page import page, told
from leaderboard.evidence.by_hand import FieldError
from leaderboard.evidence.raw import EvidenceError
from leaderboard.lookup import organizer_of_phase, study_of
from leaderboard.models import Rater, Study
from leaderboard.stats import labels
from leaderboard.stats import mos_table as rating
from leaderboard.stats import votes as voting
from leaderboard.stats.correlation import SCREENED
from leaderboard.stats.labels import LabelsError
from leaderboard.stats.votes import VotesError
from leaderboard.studies.answer_sets import bring, counts
from leaderboard.views import answer_sets
from submissions.formats.yaml_document import DocumentError
from submissions.lookup import row_number
from submissions.models import Phase, User

# Act of a button of the page on a study, and the message about the study then.
ACTS: dict[str | None, tuple[Callable[[Study, User], object], str]] = {
    "publish": (lambda study, actor: study.publish(actor, True), "is shown to everybody who can see the leaderboard."),
    "hide": (lambda study, actor: study.publish(actor, False), "is shown to organizers only."),
    "other_programs": (lambda study, actor: study.admit_programs(actor, True), "is open to metric programs of other challenges."),
    "own_programs": (
        lambda study, actor: study.admit_programs(actor, False),
        "is closed to metric programs of other challenges; their values on it are removed.",
    ),
    "remove": (lambda study, actor: study.remove(actor), "is removed with all its votes."),
    "screen": (
        lambda study, actor: study.screen(actor, True),
        f"is computed again: raters whose scores correlate with the others’ by less than {SCREENED} are left out.",
    ),
    "unscreen": (lambda study, actor: study.screen(actor, False), "is computed again: all raters count."),
}


@organizer_of_phase
def studies(request: HttpRequest, phase: Phase) -> HttpResponse:
    form, set_form = StudyForm(phase), AnswerSetForm(phase)
    if request.method == "POST":
        act = request.POST.get("act")
        if act == "import":
            form = StudyForm(phase, request.POST, request.FILES)
            if form.is_valid() and _import(request, phase, form):
                return redirect(request.path)
        elif act == "import_set":
            set_form = AnswerSetForm(phase, request.POST, request.FILES)
            if set_form.is_valid() and _import_set(request, phase, set_form):
                return redirect(request.path)
        elif act in ACTS:
            found = study_of(phase, True, pk=row_number(request.POST.get("study")))
            do, words = ACTS[act]
            do(found, request.user)
            return told(request, f"“{found.title}” {words}")
        else:
            raise Http404
    rows = []
    for study in phase.studies.all():
        people = study.raters.filter(kind=Rater.Kind.PERSON)
        if (answer_set := answer_sets.of_study(study)) is not None:
            leading = answer_set.record.leading if answer_set.record is not None else None
            rows.append((study, leading.answers if leading else 0, (leading.raters or 0) if leading else 0))
            continue
        # Of a live study those who have joined; all of one that was brought in.
        rows.append((study, study.answers.count(), (people.filter(joined_at__isnull=False) if study.key else people).count()))
    return page(request, "studies", phase.challenge, "studies", phase, form=form, set_form=set_form, studies=rows)


def _import(request: HttpRequest, phase: Phase, form: StudyForm) -> bool:
    """Bring votes in and return True; what is wrong with the file is put beside its field."""
    data = form.cleaned_data
    try:
        known = labels.parse(_lines(data["labels"]), data["labels"].name) if data["labels"] else None
    except VotesError as error:
        form.add_error("labels", list(error.problems))
        return False
    try:
        about = {name: data[name] for name in ("slug", "title", "question", "source", "is_public")}
        opinions = data["kind"] == Study.Kind.OPINIONS
        lines, name, columns = _lines(data["file"]), data["file"].name, dict(data["columns"])
        rows: Any
        keep: Any
        if opinions:
            rows, keep = rating.parse(lines, name, columns, data["scale"]), partial(Study.import_ratings, scale=data["scale"])
        else:
            rows, keep = voting.parse(lines, name, columns, data["values"]), Study.import_votes
        study = keep(phase, request.user, rows, known, **about)
    except VotesError as error:
        form.add_error("file", list(error.problems))
        return False
    except LabelsError as error:
        form.add_error("labels", str(error))
        return False
    except ValueError as error:
        form.add_error("slug" if "address" in str(error) else "file", str(error))
        return False
    count = f"{len(rows):,} {'scores' if opinions else 'votes'}"
    message = f"{count} are imported. We are computing the figures; see the page of “{study.title}”."
    if known is not None:
        message += f" Of {study.entries.count()} methods {len(study.damaged)} are labelled as damaged, empty or the reference."
    messages.success(request, message)
    return True


def _import_set(request: HttpRequest, phase: Phase, form: AnswerSetForm) -> bool:
    """Bring a set of answers in and return True; what is wrong is put beside its field."""
    try:
        manifest, found = form.read()
        about = {name: form.cleaned_data[name] for name in ("slug", "title", "question", "is_public")}
        bring(phase, request.user, manifest, found, source=form.cleaned_data["source"] or manifest.authors, **about)
    except FieldError as error:
        form.refuse(error.field, list(error.problems))
        return False
    except DocumentError as error:
        form.refuse("manifest", [str(problem) for problem in error.problems])
        return False
    except EvidenceError as error:
        form.refuse("files" if form.cleaned_data["manifest"] else "answers", list(error.problems))
        return False
    except ValueError as error:
        form.refuse("slug", [str(error)])
        return False
    messages.success(
        request, f"{' '.join(counts(found))} The figures are computed now and will be shown on the page of “{form.cleaned_data['title']}”."
    )
    return True


def _lines(file: UploadedFile) -> io.StringIO:
    try:
        text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VotesError([f"{file.name} is not a CSV file in UTF-8 ({error}); save it as one."]) from None
    return io.StringIO(text, newline="")
