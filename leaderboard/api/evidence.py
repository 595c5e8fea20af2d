"""Figures of published sets in the API."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from leaderboard.stats.evidence.by_name import POOLS, NamedMetric, named_metrics
from leaderboard.stats.evidence.record import EvidenceRecord
from leaderboard.views.evidence import records
from submissions.api.common import ANYBODY, ERRORS, Slug

router = Router(tags=["metrics"], auth=ANYBODY)


class PublishedSet(Schema):
    name: str
    title: str
    material: str = Field(description="What was rated, such as splat videos, meshes or point clouds.")
    licence: str = Field(description="Licence as the source states it; none if the source states no licence.")
    criteria: list[str] = Field(description="The questions to people, the leading one first.")


@router.get("/evidence/", response={200: list[PublishedSet], **ERRORS}, summary="Published sets whose figures are shown here")
def published_sets(request: HttpRequest) -> Any:
    return [
        PublishedSet(name=one.name, title=one.title, material=one.material, licence=one.licence.stated, criteria=list(one.criteria))
        for one in records().values()
    ]


@router.get("/evidence/{published}/", response={200: EvidenceRecord, **ERRORS}, exclude_none=True, summary="All figures of a published set")
def published_set(request: HttpRequest, published: Slug) -> Any:
    """The record, as it ships or as the operator made it: the set, its source and licence, and by criterion and metric every figure with
    its interval, its number of answers and its state. A field that is left out has no value."""
    record = records().get(published)
    if record is None:
        raise Http404
    return record


@router.get(
    "/published-metrics/",
    response={200: list[NamedMetric], **ERRORS},
    exclude_none=True,
    summary="Published metrics over all sets, by name and material",
)
def published_metrics(request: HttpRequest) -> Any:
    """Each published metric in each figure that can be pooled, apart from the metrics of this service. From three sets of one material on
    there is a mean; below that, a reason."""
    return [one for pool in POOLS for one in named_metrics(list(records().values()), pool)]
