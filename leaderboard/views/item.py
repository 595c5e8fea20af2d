"""One item of an entry: its values, and the entry's wireframe or mesh beside the reference in 3D."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import Evaluation
from leaderboard.boards.scorecard import ItemTable, current_evaluation, item_details, results
from leaderboard.kinds import KINDS
from leaderboard.viewer import mesh_scene, render_scene, thumbnails, wireframe_scene
from leaderboard.viewer.svg import Drawing, draw
from leaderboard.viewer.viewer_cache import cached_response
from leaderboard.views.entry import base_context
from leaderboard.views.gallery import stored
from leaderboard.views.scene import progress
from submissions.formats.mesh import mesh_files
from submissions.lookup import EntryPlace, entry_place
from submissions.models import Status
from submissions.storage import stored_files


def entry_item(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """Needs the per-item scores; the 3D view is there where the reference may be seen."""
    place = entry_place(request.user, pk)
    place.viewer.require("submission.see_items", place.submission)
    evaluation, index = _scored_item(place, item)
    metric_results = results(evaluation, None)
    sees_reference = place.viewer.may("phase.see_reference", place.submission.phase)
    table = ItemTable(evaluation, metric_results, sees_reference=sees_reference)
    order = table.order()
    at = order.index(index)
    context = base_context(place) | {
        "item": item,
        "group": evaluation.batch.reference.groups[index],
        "table": table,
        "details": item_details(metric_results, item, index, sees_reference),
        "before": table.ids[order[at - 1]] if at > 0 else None,
        "after": table.ids[order[at + 1]] if at + 1 < len(order) else None,
        "shown_as": KINDS[place.submission.phase.challenge.family],
        "number": at + 1,
        "total": len(order),
        "is_missing": item in place.submission.missing_items,
    }
    if place.submission.phase.challenge.kind.images:
        evaluation.submission = place.submission
        scene = render_scene.Scene(evaluation, context["group"], results(evaluation, None), place.may("see_geometry"))
        run = scene.request() if place.may("see_render") else None  # pictures are made of all views of a scene
        pictures = progress(run) | {"scene": scene, "view": scene.view(item, run) if run else None}
        return render(request, "leaderboard/view.html", context | pictures)
    return render(request, "leaderboard/item.html", context)


def entry_thumbnail(request: HttpRequest, pk: int) -> HttpResponse:
    """A small picture of the first item that the entry has, if the viewer may see it drawn."""
    place = _drawable(request, pk)
    evaluation = current_evaluation(place.submission)
    if place.submission.status != Status.SCORED or evaluation is None:
        raise Http404
    return _picture(place, thumbnails.item_of(evaluation.batch, place.submission.missing_items), 1)


def entry_poster(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """A picture of an item of the entry, shown in place of its 3D view, for those who may see it drawn."""
    place = _drawable(request, pk)
    _scored_item(place, item)
    return _picture(place, item, thumbnails.LARGE)


def _drawable(request: HttpRequest, pk: int) -> EntryPlace:
    place = entry_place(request.user, pk)
    place.viewer.require("submission.see_render", place.submission)
    if not place.submission.artifact_key:
        raise Http404
    return place


def _picture(place: EntryPlace, item: str, times: int) -> HttpResponse:
    """A browser keeps it for a day: nothing that an entry has sent changes, and pages name another address where the item is another."""
    try:
        data = thumbnails.picture(place.submission, item, times)
    except FileNotFoundError:
        raise Http404 from None
    if data is None:
        return HttpResponse(status=503, headers={"Retry-After": "30"})
    return HttpResponse(data, content_type="image/webp", headers={"Cache-Control": "private, max-age=86400"})


def entry_geometry(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """The 3D view's wireframes, for those who may see the reference."""
    place, evaluation = _viewable(request, pk, item, "entry_geometry")
    batch, facts = evaluation.batch, _facts(place, evaluation, item)
    facts |= {
        "metrics": [(one.key, one.params) for one in batch.columns],
        "unit_scale": batch.unit_scale,
        "version": wireframe_scene.VERSION,
    }

    def compute() -> bytes:
        prediction = stored(place.submission.artifact_key).get(item)
        named = [(place.submission.method_name, prediction)]
        scene = wireframe_scene.scene(
            stored(batch.reference.key)[item], named, facts["metrics"], place.submission.phase.unit, batch.unit_scale
        )
        return json.dumps(scene).encode()

    return cached_response(request, pk, facts, ("json", "application/json"), compute)


def entry_meshes(request: HttpRequest, pk: int, item: str) -> HttpResponse:
    """The 3D view's meshes with their distances, for those who may see the reference."""
    place, evaluation = _viewable(request, pk, item, "entry_meshes")
    facts = _facts(place, evaluation, item) | {"version": mesh_scene.VERSION}

    def compute() -> bytes:
        read = stored_files.store().read
        prediction = mesh_files.unpack(read(place.submission.artifact_key)).get(item)
        reference = mesh_files.unpack(read(evaluation.batch.reference.key))[item]
        return mesh_scene.scene(reference, prediction, place.submission.method_name, place.submission.phase.unit)

    return cached_response(request, pk, facts, ("mesh", "application/octet-stream"), compute, heavy=True)


def _viewable(request: HttpRequest, pk: int, item: str, viewer: str) -> tuple[EntryPlace, Evaluation]:
    """The entry and its evaluation, if the viewer may see the item drawn by the 3D view of that address."""
    place = entry_place(request.user, pk)
    place.viewer.require("submission.see_geometry", place.submission)
    if KINDS[place.submission.phase.challenge.family].viewer != viewer:
        raise Http404
    return place, _scored_item(place, item)[0]


def _facts(place: EntryPlace, evaluation: Evaluation, item: str) -> dict[str, Any]:
    """Facts that any picture of the item depends on."""
    it = place.submission
    return {
        "item": item,
        "reference": evaluation.batch.reference.key,
        "artifact": it.artifact_key,
        "name": it.method_name,
        "unit": it.phase.unit,
    }


def _scored_item(place: EntryPlace, item: str) -> tuple[Evaluation, int]:
    """The entry's evaluation and the place of the item in it; Http404 for anything else."""
    evaluation = current_evaluation(place.submission)
    if place.submission.status != Status.SCORED or evaluation is None or item not in evaluation.batch.reference.item_ids:
        raise Http404
    return evaluation, evaluation.batch.reference.item_ids.index(item)


def drawing(reference: str, entry: str, item: str) -> Drawing:
    """An entry's wireframe over the reference's, both by their storage keys."""
    return draw(stored(reference)[item], stored(entry).get(item))
