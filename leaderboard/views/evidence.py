"""Published sets of ratings and votes: the list of sets whose figures are here, and a page of each."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.evidence import catalogue, shown, store
from leaderboard.evidence.shown import Set, leading
from leaderboard.exports.citation import PublishedCitation
from leaderboard.stats.evidence.record import EvidenceRecord
from leaderboard.wording import evidence as wording


def records() -> dict[str, EvidenceRecord]:
    """The records that this service shows: those that ship and those that the operator made, unless the operator names fewer."""
    wanted = settings.EVIDENCE_RECORDS
    return {name: record for name, record in shown.records(settings.EVIDENCE_DIR).items() if not wanted or name in wanted}


def sets() -> list[Set]:
    """The leading criterion of every set, in the order of `records`."""
    found = (leading(record) for record in records().values())
    return [one for one in found if one is not None]


def published_sets(request: HttpRequest) -> HttpResponse:
    """All sets whose figures are here, and those that an operator may bring in next."""
    return render(request, "leaderboard/published_sets.html", {"sets": sets(), "not_tried": catalogue.not_tried()})


def published_set(request: HttpRequest, name: str) -> HttpResponse:
    """One published set: what reproduces, each metric's figures, the source, the licence, what people were asked, and what is missing."""
    record = records().get(name)
    if record is None:
        raise Http404
    criteria = [Set(record, criterion, figures) for criterion, figures in record.criteria.items()]
    lines = record.reproduction.lines if record.reproduction is not None else ()
    context = {
        "record": record,
        "criteria": criteria,
        "differing": [wording.told(line) for line in lines if not line.same],
        "scale": wording.scale(record),
        "cite": PublishedCitation.of(record),
        "verified": store.verified(record),
    }
    return render(request, "leaderboard/published_set.html", context)
