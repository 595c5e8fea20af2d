"""Downloads: the participants' package, and of a phase its starter kit, and its reference where that may be seen."""

from __future__ import annotations

import tempfile
import zipfile

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse

from evaluation.models import EvaluationBatch
from leaderboard.exports import wheel
from leaderboard.exports.starter_kit import IN_MEMORY, name_of, write_kit
from submissions.errors import Refused
from submissions.formats.archive import readable_member
from submissions.lookup import phase_place
from submissions.storage import stored_files
from submissions.storage.store import StorageError

LARGEST_REFERENCE = 500_000_000  # bytes as it is stored; a larger one is not packed while somebody waits


def package(request: HttpRequest, name: str) -> HttpResponse:
    """A wheel by its name, which says by a digest what it holds: this server's own, or one that it served before."""
    path = settings.PACKAGE / name
    if not wheel.NAME.fullmatch(name) or not path.is_file():
        raise Http404
    response = FileResponse(path.open("rb"), content_type="application/octet-stream")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


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


def reference_files(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The reference of the board, as files to score with on one's own machine, for those who may see it."""
    place = phase_place(request.user, challenge, phase)
    place.viewer.require("phase.see_reference", place.phase)
    batch = EvaluationBatch.current(place.phase)
    reference = batch.reference if batch is not None else None
    if reference is None:
        raise Http404
    try:
        if stored_files.store().size(reference.key) > LARGEST_REFERENCE:
            raise Refused("This reference is too large to be packed here; ask the organizers for it.", "too_large")
        items = reference.items()
    except (StorageError, FileNotFoundError) as error:
        raise Refused("The reference of this phase cannot be read now; try again, or tell the organizers.", "storage") from error
    packed = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed by the response that sends it
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in reference.family.files(items):
            archive.writestr(readable_member(path), data)
    packed.seek(0)
    name = f"{place.challenge.slug}-{place.phase.slug}-reference-v{reference.version}.zip"
    return FileResponse(packed, as_attachment=True, filename=name, content_type="application/zip")
