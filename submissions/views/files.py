"""Files for participants: input files, the manifest, the way to the starter kit."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from submissions.errors import Refused
from submissions.lookup import ChallengePlace, challenge_place, phase_with_manifest
from submissions.models import ChallengeFile, Phase
from submissions.permissions import allowed
from submissions.storage.store import StorageError
from submissions.storage.stored_files import store


@require_safe
def data(request: HttpRequest, challenge: str) -> HttpResponse:
    """Per phase: the inputs, the starter kit and the manifest, or why they are not available yet."""
    place = challenge_place(request.user, challenge)
    files = list(place.challenge.files.filter(kind=ChallengeFile.Kind.INPUT).select_related("phase__challenge"))
    context = place.context("data") | {
        "sections": [_section(place, phase, [file for file in files if file.phase_id == phase.pk]) for phase in place.phases],
        "common": [file for file in files if file.phase_id is None],
        "sees_common": any(place.viewer.may("file.see", file) for file in files if file.phase_id is None),
    }
    return render(request, "submissions/data.html", context)


def _section(place: ChallengePlace, phase: Phase, files: list[ChallengeFile]) -> dict:
    manifest = phase.manifest
    return {
        "phase": phase,
        "files": files,
        "sees": place.viewer.may("phase.see_inputs", phase),
        "takes_upload": phase.takes_uploads(place.now) and place.viewer.may("phase.upload", phase),
        "sees_reference": manifest is not None and place.viewer.may("phase.see_reference", phase),
        "n_inputs": len(phase.inputs) if manifest is not None and not manifest.kind.images else 0,
        "manifest": manifest,
        "n_items": len(manifest.items) if manifest else 0,
        "opened": phase.has_opened(place.now),
        "example_ids": [item.id for item in manifest.items[:3]] if manifest else [],
    }


@require_safe
def challenge_file(request: HttpRequest, challenge: str, pk: int) -> HttpResponse:
    place = challenge_place(request.user, challenge)
    file = get_object_or_404(ChallengeFile.objects.select_related("phase__challenge"), pk=pk, challenge=place.challenge)
    place.viewer.require("file.see", file)
    return download(file.key, file.name)


@require_safe
def manifest(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Return what the phase expects of an upload, for the client and for scoring at home. Everybody who may
    see the phase may have it once it has opened: an entry can be checked without an account."""
    found = phase_with_manifest(request.user, challenge, phase)
    response = HttpResponse(manifest_bytes(found, request.user), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{found.challenge.slug}-{found.slug}-manifest.json"'
    return response


def manifest_bytes(phase: Phase, user: Any = None) -> bytes:
    """A phase's manifest as it is sent to somebody, or to everybody; the same manifest is the same bytes, whose digest is told."""
    return json.dumps(manifest_for(user, phase), indent=1, ensure_ascii=False).encode()


def manifest_for(user: Any, phase: Phase) -> dict[str, Any]:
    """The manifest for somebody: descriptions of the inputs are included if they may download these."""
    return phase.manifest_with_inputs() if allowed(user, "phase.see_inputs", phase) else phase.manifest_data


def download(key: str, name: str) -> HttpResponse:
    """A stored file under a name of its own: by signed link from S3, else streamed.

    It is always an attachment of no particular type, so no browser runs what somebody uploaded.
    """
    name = safe_name(name)
    try:
        link = store().link(key, name, settings.LINK_SECONDS)
        if link is not None:
            return HttpResponseRedirect(link)
        return FileResponse(store().open(key), as_attachment=True, filename=name, content_type="application/octet-stream")
    except FileNotFoundError:
        raise Http404 from None
    except StorageError as error:
        raise Refused(str(error), "storage") from error


def safe_name(name: str) -> str:
    """A file name that is one, in any header or folder: printable, without path or quote."""
    return "".join(c if c.isprintable() and c not in '/\\"' else "_" for c in name).strip(". ") or "file"
