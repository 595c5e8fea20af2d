"""Inputs and example entries for participants."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from leaderboard.bundle.definition import ChallengeDef, FileDef
from leaderboard.bundle.folder import local_file
from leaderboard.bundle.state import read
from leaderboard.console import acts
from leaderboard.console.confirm_and_apply import confirm_and_apply, with_phase
from leaderboard.console.forms.challenge import FileForm
from leaderboard.console.page import chosen_act, page
from leaderboard.lookup import organizer
from submissions import throttling
from submissions.errors import Refused
from submissions.formats.inputs import read_table
from submissions.lookup import row_number
from submissions.models import Challenge, ChallengeFile


@organizer
def files(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    form = FileForm(challenge)
    if request.method == "POST":
        if request.POST.get("act") != "add":
            return chosen_act(request, {"remove": _remove, "boxes": _take_boxes})(request, challenge)
        form = FileForm(challenge, request.POST, request.FILES)
        if form.is_valid():
            return _add(request, challenge, form)
    rows = challenge.files.select_related("phase").order_by("phase__position", "kind", "name")
    return page(request, "files", challenge, "files", form=form, files=rows)


def _add(request: HttpRequest, challenge: Challenge, form: FileForm) -> HttpResponse:
    """Add a file; one of the same kind and name is replaced."""
    data = form.cleaned_data
    with tempfile.TemporaryDirectory() as folder:
        if data["kind"] == ChallengeFile.Kind.PICTURE:
            throttling.limit_references(request)
            added = acts.read_picture(data["file"], data["title"])
        else:
            path = Path(folder) / "file"
            with path.open("wb") as target:
                target.writelines(data["file"].chunks())
            added = local_file(path, data["kind"], data["file"].name, data["title"])
        definition, slug = read(challenge), data["phase"].slug if data["phase"] else None
        kept = [file for file in _files(definition, slug) if (file.kind, file.name) != (added.kind, added.name)]
        return confirm_and_apply(request, _with_files(definition, slug, (*kept, added)), request.path, f"{added.name} was added.")


def _chosen(request: HttpRequest, challenge: Challenge) -> ChallengeFile:
    return get_object_or_404(challenge.files.select_related("phase__challenge"), pk=row_number(request.POST.get("file")))


def _remove(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    row, definition = _chosen(request, challenge), read(challenge)
    slug = row.phase.slug if row.phase else None
    remaining = tuple(file for file in _files(definition, slug) if file.pk != row.pk)
    return confirm_and_apply(request, _with_files(definition, slug, remaining), request.path, f"{row.name} is removed.")


def _take_boxes(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Compute the description that uploads to the file's phase, or to all phases with items, are compared with."""
    throttling.limit_references(request)
    row, definition = _chosen(request, challenge), read(challenge)
    phases, counts = [row.phase] if row.phase else [phase for phase in challenge.phases.all() if phase.manifest_data], []
    if not phases:
        raise Refused(
            "No phase of this challenge has a reference yet, so nothing says which items there are; give one first.", "no_reference"
        )
    for phase in phases:
        phase.challenge = challenge
        table = acts.read_inputs(phase, row)
        counts.append(f"{len(read_table(table))} items of {phase.title}")
        definition = with_phase(definition, phase.slug, input_boxes=table)
    return confirm_and_apply(request, definition, request.path, f"Uploads are compared with {row.name} now: {', '.join(counts)}.")


def _files(definition: ChallengeDef, slug: str | None) -> tuple[FileDef, ...]:
    if not slug:
        return definition.files
    phase = definition.phase(slug)
    assert phase is not None  # `slug` is that of a row
    return phase.files


def _with_files(definition: ChallengeDef, slug: str | None, files: tuple[FileDef, ...]) -> ChallengeDef:
    return with_phase(definition, slug, files=files) if slug else replace(definition, files=files)
