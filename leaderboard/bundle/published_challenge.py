"""The challenge of a published set that was fetched: its results by item and the study of its answers, private until it is opened."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import yaml
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard.bundle.apply import apply, remove_phase
from leaderboard.bundle.parse import FILE, parse
from leaderboard.bundle.state import read
from leaderboard.evidence import manifest as manifests
from leaderboard.evidence.manifest import Manifest
from leaderboard.kinds import of_material
from leaderboard.wording import evidence as wording
from submissions.errors import Refused
from submissions.kinds import FAMILIES, MESH, RENDER
from submissions.models import Challenge

TAG, PHASE = "published", "main"
MAX_NOUN = 30


def make(manifest: Manifest, manifest_file: Path, files: Path, is_open: bool = False) -> Challenge:
    """Make the challenge of a set, or bring it up to date, from the published `files`, and open it to all where `is_open`. Raises
    `DocumentError`, and `Refused` where another challenge has the name."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "set").mkdir()
        shutil.copy(manifest_file, folder / "set" / manifests.FILE_NAME)
        for file in manifest.files:
            shutil.copy(files / file.name, folder / "set")
        (folder / FILE).write_text(yaml.safe_dump(_document(manifest, is_open), allow_unicode=True, sort_keys=False))
        definition = parse(folder).definition
    known = of_set(manifest.name)
    if known is not None:  # what organizers changed since stays, except the figures
        before = read(known)
        phases = tuple(replace(one, results=definition.phases[0].results) if one.slug == PHASE else one for one in before.phases)
        visibility = Challenge.Visibility.PUBLIC.value if is_open else before.visibility
        summary, description = before.summary or definition.summary, before.description or definition.description
        definition = replace(before, phases=phases, visibility=visibility, summary=summary, description=description)
    apply(definition)
    return Challenge.objects.get(slug=manifest.name)


def remove(name: str) -> bool:
    """Remove the challenge of a set with its study; False where there is none. Raises `Refused` for another challenge of that name."""
    with transaction.atomic():
        challenge = of_set(name)
        if challenge is None:
            return False
        for phase in challenge.phases.all():
            remove_phase(phase)
        challenge.delete()
    return True


def of_set(name: str) -> Challenge | None:
    """The challenge that was made of a set; None where there is none. Raises `Refused` for another challenge of that name."""
    challenge = Challenge.objects.filter(slug=name).first()
    if challenge is None:
        return None
    phases = list(challenge.phases.all())
    if TAG not in challenge.tags or [phase.slug for phase in phases] != [PHASE] or phases[0].is_measured_here:
        raise Refused(f"There is a challenge {name} here that was not made of the published set; it stays as it is.", "other_challenge")
    return challenge


def _document(manifest: Manifest, is_open: bool) -> dict[str, object]:
    """The challenge as a bundle says it."""
    words, kind = manifest.words, of_material(manifest.material)
    has_metrics, people_address = bool(manifest.metrics), reverse("studies", args=[manifest.name, PHASE])
    nearest = MESH if manifest.material == "point clouds" else RENDER  # of what nobody can enter here
    made: dict[str, object] = {
        "slug": manifest.name,
        "title": manifest.title[:120],
        "summary": wording.challenge_summary(manifest.material, has_metrics),
        "description": wording.challenge_description(manifest.asked, words.entry, has_metrics, people_address),
        "family": kind if kind in FAMILIES else nearest.key,
        "visibility": "public" if is_open else "private",
        "tags": [TAG],
        "item_noun": words.item[:MAX_NOUN],
    }
    made |= {"unit_noun": words.group[:MAX_NOUN]} if words.group != words.item else {}
    made |= {"licence": manifest.licence.stated} if manifest.licence.is_stated else {}
    opened = timezone.now().replace(second=0, microsecond=0, tzinfo=None).isoformat()
    results = {"items": f"set/{manifests.FILE_NAME}"}
    return made | {"phases": [{"slug": PHASE, "title": "As published", "opens_at": opened, "results": results}]}
