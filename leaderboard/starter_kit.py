"""The starter kit of a phase: an example entry, the manifest, and how to check, score and upload it."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from typing import IO

from django.conf import settings
from django.db.models import Q
from django.template.loader import render_to_string

from evaluation.synthetic.houses import KINDS, house
from evaluation.synthetic.simplified import jittered
from submissions.formats.wireframe import Wireframe, write_obj
from submissions.manifest import Manifest
from submissions.models import ChallengeFile, Phase
from submissions.storage import store
from submissions.views.files import safe_name

IN_MEMORY = 4 * 1024 * 1024  # larger kits go through a temporary file
NOISE_METRES = 0.2


def name_of(phase: Phase) -> str:
    return f"{phase.challenge.slug}-{phase.slug}-starter-kit"


def write_kit(phase: Phase) -> IO[bytes]:
    """The kit as an open zip, at its beginning; the phase must have a manifest.

    The organizers' example files are taken as they are. Without any, the example is made up: a
    house for every sample, and a reference of the same houses before noise was added, so that
    all three commands of the README run as they stand.
    """
    manifest = phase.manifest
    files = list(phase.challenge.files.filter(Q(phase=phase) | Q(phase=None), kind=ChallengeFile.Kind.EXAMPLE))
    names = [safe_name(file.name) for file in files]
    whole = len(names) == 1  # one archive or file is an entry of its own; several are a folder's content
    made = {
        "manifest": manifest, "phase": phase, "challenge": phase.challenge, "site": settings.SITE_URL, "made_up": not files,
        "example": f"example-entry/{names[0]}" if whole else "example-entry",
    }  # fmt: skip
    top = name_of(phase)
    kit = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed by the response that sends it
    with zipfile.ZipFile(kit, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(f"{top}/manifest.json", manifest.to_json())
        package.writestr(f"{top}/README.md", render_to_string("starter_kit/README.md", made))
        for file, name in zip(files, names, strict=True):
            with store().open(file.key) as source, package.open(f"{top}/example-entry/{name}", "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
        for path, data in _made_up(manifest) if not files else ():
            package.writestr(f"{top}/{path}", data)
    kit.seek(0)
    return kit


def _made_up(manifest: Manifest) -> Iterable[tuple[str, bytes]]:
    """A house for each sample, and the same with a bit of noise as the entry."""
    for number, item in enumerate(manifest.items):
        metres = house(KINDS[number % len(KINDS)], number)
        yield f"example-reference/{item.id}.obj", write_obj(_scaled(metres, manifest))
        yield f"example-entry/{item.id}.obj", write_obj(_scaled(jittered(metres, NOISE_METRES, number), manifest))


def _scaled(metres: Wireframe, manifest: Manifest) -> Wireframe:
    return Wireframe(metres.vertices / manifest.unit_scale, metres.edges)
