"""One item of an entry: its values, and the entry's wireframe over the reference in 3D."""

from __future__ import annotations

from functools import lru_cache

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from evaluation.models import Evaluation
from leaderboard.geometry import scene
from leaderboard.scorecard import ItemTable, current_evaluation, item_details, results
from leaderboard.views.entry import base_context
from leaderboard.views.places import EntryPlace, entry_place
from submissions import storage
from submissions.formats.wireframe import Wireframe, unpack
from submissions.models import Status
from submissions.permissions import allowed, require


def entry_item(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """Needs the per-item scores; the 3D view is there where the reference may be seen."""
    place = entry_place(request, pk)
    require(request.user, "submission.see_items", place.submission)
    evaluation, index = _scored_item(place, item)
    found = results(evaluation, None)
    sees_reference = allowed(request.user, "phase.see_reference", place.submission.phase)
    table = ItemTable(evaluation, found, sees_reference=sees_reference)
    order = table.order()
    at = order.index(index)
    context = base_context(place) | {
        "item": item, "group": evaluation.batch.reference.groups[index], "table": table,
        "details": item_details(found, index, sees_reference),
        "before": table.ids[order[at - 1]] if at > 0 else None, "after": table.ids[order[at + 1]] if at + 1 < len(order) else None,
        "number": at + 1, "total": len(order), "is_missing": item in place.submission.missing_items,
    }  # fmt: skip
    return render(request, "leaderboard/item.html", context)


def entry_geometry(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """The 3D view's data, for those who may see the reference."""
    place = entry_place(request, pk)
    require(request.user, "submission.see_geometry", place.submission)
    evaluation, _ = _scored_item(place, item)
    phase, batch = place.submission.phase, evaluation.batch
    reference = stored(batch.reference.key)[item]
    prediction = stored(place.submission.artifact_key).get(item)
    data = scene(reference, [(place.submission.method_name, prediction)], batch.metrics, phase.unit, batch.unit_scale)
    response = JsonResponse(data)
    response["Cache-Control"] = "private, max-age=300"
    return response


def _scored_item(place: EntryPlace, item: str) -> tuple[Evaluation, int]:
    """The entry's evaluation and where the item stands in it; Http404 for anything else."""
    evaluation = current_evaluation(place.submission)
    if place.submission.status != Status.SCORED or evaluation is None or item not in evaluation.batch.reference.item_ids:
        raise Http404
    return evaluation, evaluation.batch.reference.item_ids.index(item)


@lru_cache(maxsize=4)
def stored(key: str) -> dict[str, Wireframe]:
    """The wireframes under a storage key, which never changes; kept, because people step from item to item."""
    return unpack(storage.store().read(key))
