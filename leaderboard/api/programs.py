"""Metric programs of a challenge, for its organizers: list them, add one or a version, see its checks."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Schema, UploadedFile
from pydantic import Field

from evaluation.models import MetricProgram
from evaluation.programs.files import MAX_UNPACKED
from submissions.api.common import ACT_ERRORS, ERRORS, ORGANIZING, Id, Slug
from submissions.errors import Refused
from submissions.lookup import challenge_for
from submissions.wording import failed

router = Router(tags=["organizers"], auth=ORGANIZING)


class CheckOut(Schema):
    passed: bool
    sentence: str


class ProgramOut(Schema):
    """One version of a metric program."""

    id: int
    key: str = Field(description="challenge/key, the name that phases use.")
    title: str
    version: int
    state: str = Field(description="waiting (being checked), ready (may score) or failed (cannot score).")
    failure: str = Field(description="Reason why the program cannot score; otherwise empty.")
    sha256: str = Field(description="Over the names and contents of its files.")
    created_at: datetime
    is_public: bool = Field(description="Whether everybody who sees the challenge may download its files.")
    checks: dict[str, CheckOut] = Field(description="The result of each check by its name; checks after the first failure are left out.")
    environment: dict[str, str] = Field(description="Versions of the interpreter and of packages in the check.")


def program_out(row: MetricProgram) -> ProgramOut:
    return ProgramOut(
        id=row.pk,
        key=row.full_key,
        title=row.read.title,
        version=row.version,
        state=row.state,
        failure=failed(row) if row.state == MetricProgram.State.FAILED else "",
        sha256=row.contents,
        created_at=row.created_at,
        is_public=row.is_public,
        checks={name: CheckOut(passed=found["passed"], sentence=found["sentence"]) for name, found in row.report.items()},
        environment=row.environment,
    )


@router.get("/challenges/{challenge}/programs", response={200: list[ProgramOut], **ERRORS}, summary="The organizer's own metrics")
def list_programs(request: HttpRequest, challenge: Slug) -> Any:
    place = challenge_for(request.user, challenge, "challenge.organize")
    return [program_out(row) for row in MetricProgram.objects.filter(challenge=place, scope=place.slug)]


@router.get("/challenges/{challenge}/programs/{pk}", response={200: ProgramOut, **ERRORS}, summary="One version of a metric program")
def get_program(request: HttpRequest, challenge: Slug, pk: Id) -> Any:
    place = challenge_for(request.user, challenge, "challenge.organize")
    return program_out(get_object_or_404(MetricProgram, challenge=place, scope=place.slug, pk=pk))


@router.post(
    "/challenges/{challenge}/programs",
    response={201: ProgramOut, **ACT_ERRORS},
    summary="Add a metric program, or a version of one",
    description="A zip with metric.yaml at its root. The same files are not added twice.",
)
def add_program(request: HttpRequest, challenge: Slug, file: File[UploadedFile], is_public: Form[bool] = False) -> Any:
    place = challenge_for(request.user, challenge, "challenge.organize")
    if (file.size or 0) > MAX_UNPACKED:
        raise Refused(f"The file has {file.size:,} bytes and at most {MAX_UNPACKED:,} are taken.", "too_large")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.zip"
        with path.open("wb") as target:
            target.writelines(file.chunks())
        return 201, program_out(MetricProgram.add(place, path, (file.name or "program.zip"), request.user, is_public=is_public))
