"""Figures of published judgements in the API."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from leaderboard.evidence.record_file import as_plain
from leaderboard.views.evidence import records
from submissions.api.common import ANYBODY, ERRORS, Slug

router = Router(tags=["metrics"], auth=ANYBODY)


class PublishedSet(Schema):
    name: str
    title: str
    material: str = Field(description="What was judged, such as splat videos, meshes or point clouds.")
    licence: str = Field(description="As the source states it; none where it states nothing.")
    criteria: list[str] = Field(description="What people were asked about, the leading one first.")


@router.get("/evidence/", response={200: list[PublishedSet], **ERRORS}, summary="Published sets whose figures are shown here")
def published_sets(request: HttpRequest) -> Any:
    return [
        PublishedSet(name=one.name, title=one.title, material=one.material, licence=one.licence.stated, criteria=list(one.criteria))
        for one in records().values()
    ]


@router.get("/evidence/{published}/", response={200: dict[str, Any], **ERRORS}, summary="All figures of a published set")
def published_set(request: HttpRequest, published: Slug) -> Any:
    """The fields of the record that ships: the set, its source and licence, and by criterion and metric every figure with its interval, its
    number of answers and its state. A field that is left out has no value."""
    record = records().get(published)
    if record is None:
        raise Http404
    return as_plain(record)
