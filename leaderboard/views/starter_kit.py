"""The download of a phase's starter kit."""

from __future__ import annotations

from django.http import FileResponse, Http404, HttpRequest, HttpResponse

from leaderboard.starter_kit import name_of, write_kit
from submissions.errors import Refused
from submissions.lookup import phase_place
from submissions.storage.store import StorageError


def starter_kit(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """For participants, once the phase has opened and has a reference."""
    place = phase_place(request.user, challenge, phase)
    place.viewer.require("phase.see_inputs", place.phase)
    if not place.phase.manifest_data:
        raise Http404
    try:
        kit = write_kit(place.phase)
    except (StorageError, FileNotFoundError) as error:
        raise Refused("An example file of this phase cannot be read now; try again, or tell the organizers.", "storage") from error
    return FileResponse(kit, as_attachment=True, filename=f"{name_of(place.phase)}.zip", content_type="application/zip")
