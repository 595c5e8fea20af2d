"""Regions of interest on a reference's views: marked on the pictures, and kept as a new version of the reference."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from evaluation.models import EvaluationBatch, Reference
from leaderboard.bundle.state import reference_in_force
from leaderboard.console import acts
from leaderboard.console.forms.regions import MAX_REGIONS, VIEWS_SHOWN, RegionsForm, scene_counts
from leaderboard.console.page import page, paged
from leaderboard.console.views.reference import tell_stored
from leaderboard.lookup import organizer_of_measured_phase
from leaderboard.service.responses import revalidated
from submissions import throttling
from submissions.errors import Refused
from submissions.lookup import row_number
from submissions.models import Phase
from submissions.storage.store import StorageError


@organizer_of_measured_phase
@require_safe
def scenes(request: HttpRequest, phase: Phase) -> HttpResponse:
    """The scenes of the newest version, and how many regions each has."""
    newest = _newest(phase)
    counts = list(scene_counts(newest.item_ids, newest.regions()))
    return page(request, "regions", phase.challenge, "reference", phase, counts=counts, **_standing(phase, newest))


@organizer_of_measured_phase
def scene(request: HttpRequest, phase: Phase, scene: str) -> HttpResponse:
    """The views of a scene with their regions. Rows are added and deleted in the browser, or by sending the form back and forth;
    only saving keeps anything."""
    newest = _newest(phase)
    opened = newest
    if request.method == "POST":
        opened = phase.references.filter(version=row_number(request.POST.get("version"))).first() or newest
        opened.phase = phase
    stored = opened.regions()
    sizes = {item: size for item, size in zip(opened.item_ids, opened.bounds, strict=True) if item.partition("/")[0] == scene}
    if not sizes:
        raise Http404
    here, foot = paged(request, [item for item in sizes if item in stored], VIEWS_SHOWN)
    sent = request.POST if request.method == "POST" else None
    form = RegionsForm({item: sizes[item] for item in here}, stored, opened.version, sent)
    if sent is not None:
        act, *place = sent.get("act", "").split("-")
        match act, [row_number(text) for text in place]:
            case "add", [view]:
                form.add(view)
            case "delete", [view, row]:
                form.delete(view, row)
            case "save", []:
                if form.is_valid() and (answer := _save(request, opened, scene, form)) is not None:
                    return answer
            case _:
                raise Http404
    names = list(dict.fromkeys(item.partition("/")[0] for item in opened.item_ids))
    context = {"form": form, "scene": scene, "scenes": names, "opened": opened, **foot}
    context |= {"n_without_image": sum(item not in stored for item in sizes), "max_regions": MAX_REGIONS}
    return page(request, "scene_regions", phase.challenge, "reference", phase, **context, **_standing(phase, newest))


@organizer_of_measured_phase
@require_safe
def picture(request: HttpRequest, phase: Phase, version: int, item: str) -> HttpResponse:
    """The reference image of one view."""
    row = phase.references.filter(version=version).first()
    if row is None or item not in row.item_ids:
        raise Http404
    row.phase = phase
    etag = f'"{row.sha256[:32]}-{row.item_ids.index(item)}"'

    def image() -> HttpResponse:
        data = row.image(item)
        if data is None:
            raise Http404
        return HttpResponse(data, content_type="image/png")

    return revalidated(request, etag, image)


def _newest(phase: Phase) -> Reference:
    """The version that regions are marked in. Only phases of renders have pictures to mark them on."""
    newest = phase.references.order_by("-version").first()
    if newest is None or not phase.challenge.kind.images:
        raise Http404
    newest.phase = phase
    return newest


def _standing(phase: Phase, newest: Reference) -> dict[str, object]:
    """Versions, as the pages show them."""
    return {"newest": newest, "in_force": reference_in_force(phase), "is_scored": EvaluationBatch.latest(phase) is not None}


def _save(request: HttpRequest, opened: Reference, scene: str, form: RegionsForm) -> HttpResponse | None:
    """Keep the form's regions; None where that is refused: the form says why, and has all that was entered."""
    phase, changes = opened.phase, form.changes()
    if not changes:
        messages.info(request, "Nothing to change.")
        return redirect(request.get_full_path())
    try:
        throttling.limit_regions(request)
        row = acts.store_regions(opened, changes, scene, request.user)
    except (Refused, StorageError) as error:
        form.fault = str(error)
        if getattr(error, "code", "") == "newer_version":
            newest = _newest(phase)
            by = f" by {newest.created_by}" if newest.created_by else ""
            form.fault = f"Nothing was saved yet, because version {newest.version} was saved{by} while this page was open. "
            if newest.item_ids == opened.item_ids and newest.bounds == opened.bounds:
                form.rebase(newest.regions(), newest.version)
                form.fault += "Below is what you entered, and beside it what that version has otherwise; save again to replace that."
            else:
                form.fault += "It has other views. Open the page again to mark regions there. Your entries are still below."
        return None
    words = f"Version {row.version} of the reference is kept, with other regions in {len(changes)} view{'s'[: len(changes) != 1]}."
    tell_stored(request, phase, words)
    return redirect(request.get_full_path())
