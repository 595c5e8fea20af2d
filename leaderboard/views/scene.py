"""One scene of an entry of renders: its views, the worst first, and the pictures that show where they fail."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.images import names
from evaluation.models import Evaluation, PictureRun
from leaderboard.boards.scorecard import current_evaluation, results
from leaderboard.lookup import page_numbers, page_of
from leaderboard.service.responses import revalidated
from leaderboard.viewer import render_scene
from leaderboard.views.entry import base_context
from submissions.lookup import EntryPlace, entry_place
from submissions.models import Status
from submissions.storage import stored_files

VIEWS_PER_PAGE = 12


def entry_scene(request: HttpRequest, pk: int, scene: str) -> HttpResponse:
    """Needs the per-item scores. Data from the reference are only for viewers who may see it."""
    place, evaluation = _scored(request, pk)
    place.viewer.require("submission.see_items", place.submission)
    every = render_scene.scenes(evaluation)
    here = next((n for n, (name, *_) in enumerate(every) if name == scene), None)
    if here is None:
        raise Http404
    rendered = render_scene.Scene(evaluation, scene, results(evaluation, None), place.may("see_geometry"), request.GET.get("sort", ""))
    page = page_of(request, range(len(rendered.order)), VIEWS_PER_PAGE)
    run = rendered.request() if place.may("see_render") else None
    context = (
        base_context(place)
        | progress(run)
        | {
            "scene": rendered,
            "views": rendered.views(run, page.object_list.start, page.object_list.stop) if run else [],
            "n_views": len(rendered.order),
            "before": every[here - 1][0] if here else None,
            "after": every[here + 1][0] if here + 1 < len(every) else None,
            "number": here + 1,
            "n_scenes": len(every),
            "pages": page_numbers(page.number, page.paginator.num_pages),
            "page": page.number,
        }
    )
    return render(request, "leaderboard/scene.html", context)


def scene_progress(request: HttpRequest, pk: int, scene: str) -> HttpResponse:
    """Progress of the pictures, for polling; once all are there the whole page is fetched again."""
    place, evaluation = _scored(request, pk)
    place.viewer.require("submission.see_render", place.submission)
    run = PictureRun.objects.filter(evaluation=evaluation, scene=scene).first()
    if run is None:
        raise Http404
    response = render(request, "leaderboard/parts/picture_progress.html", base_context(place) | progress(run))
    if run.state != PictureRun.State.WAITING:
        response["HX-Refresh"] = "true"
    return response


def entry_picture(request: HttpRequest, pk: int, item: str, name: str) -> HttpResponse:
    """One picture. Every request checks whether the viewer may see it. Browsers keep a copy and ask each time whether it is still
    current."""
    place, evaluation = _scored(request, pk)
    own = name.removesuffix(names.SMALL) == names.RENDER
    place.viewer.require("submission.see_render" if own else "submission.see_geometry", place.submission)
    reference = evaluation.batch.reference
    if item not in reference.item_ids:
        raise Http404
    scene = reference.groups[reference.item_ids.index(item)]
    run = PictureRun.objects.filter(evaluation=evaluation, scene=scene).select_related("evaluation").first()
    if run is None or name.removesuffix(names.SMALL) not in run.made.get(item, {}):
        raise Http404
    etag = f'"{run.digest[:32]}-{run.items.index(item)}-{name}"'

    def picture() -> HttpResponse:
        try:
            data = stored_files.store().read(run.key(item, name))
        except FileNotFoundError:
            run.restart()  # somebody has emptied the storage: then they are made again
            raise Http404 from None
        return HttpResponse(data, content_type="image/webp")

    return revalidated(request, etag, picture)


def progress(run: PictureRun | None) -> dict:
    """Progress of a scene's pictures, and legends of their colours."""
    return {"run": run, "is_making": run is not None and run.state == PictureRun.State.WAITING, **render_scene.SCALES}


def _scored(request: HttpRequest, pk: int) -> tuple[EntryPlace, Evaluation]:
    place = entry_place(request.user, pk)
    evaluation = current_evaluation(place.submission)
    if not place.submission.phase.challenge.kind.images or place.submission.status != Status.SCORED or evaluation is None:
        raise Http404
    evaluation.submission = place.submission
    return place, evaluation
