"""The starter kit of a phase: an example entry, the manifest, and how to check, score and upload it."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from dataclasses import replace
from typing import IO, Any

import numpy as np
from django.conf import settings
from django.db.models import Q
from django.template.loader import render_to_string

from evaluation.metrics import registry
from leaderboard.exports import wheel
from leaderboard.kinds import KINDS
from submissions.formats.archive import readable_member
from submissions.formats.box_alignment import Box
from submissions.formats.plausibility import box_of
from submissions.formats.render.views import render
from submissions.manifest import Item, Manifest
from submissions.models import ChallengeFile, Phase
from submissions.storage.stored_files import store
from submissions.views.files import safe_name

IN_MEMORY = 4 * 1024 * 1024  # larger kits go through a temporary file
NOISE_METRES = 0.2  # on houses
NOISE_SHARE = 0.005  # of a mesh's size
NOISE_LEVELS = 20.0  # of 255, on images
FIELDS = 8  # a side
ANY_SIZE = (256, 192)


def name_of(phase: Phase) -> str:
    return f"{phase.challenge.slug}-{phase.slug}-starter-kit"


def write_kit(phase: Phase) -> IO[bytes]:
    """The kit as an open zip, at its beginning; the phase must have a manifest.

    The organizers' example files are taken as they are. Without any, the example is simulated: a house, an object or an image for every
    sample with noise, and the same without noise as reference. So all three commands of the README run unchanged.
    """
    manifest = Manifest.from_dict(phase.manifest_with_inputs())
    files = list(phase.challenge.files.filter(Q(phase=phase) | Q(phase=None), kind=ChallengeFile.Kind.EXAMPLE))
    names = [safe_name(file.name) for file in files]
    single_file = len(names) == 1  # one archive or file is an entry of its own; several are a folder's content
    made = {
        "manifest": manifest,
        "phase": phase,
        "challenge": phase.challenge,
        "site": settings.SITE_URL,
        "simulated": not files,
        "example": f"example-entry/{names[0]}" if single_file else "example-entry",
        "example_noun": KINDS[manifest.family].example_noun,
        "package": wheel.address(),
    }
    made["extra"] = "networks" if any(registry.runs_networks(one.key, one.params) for one in manifest.metrics) else "score"
    top = name_of(phase)
    kit = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed by the response that sends it
    with zipfile.ZipFile(kit, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(readable_member(f"{top}/manifest.json"), manifest.to_json())
        package.writestr(readable_member(f"{top}/README.md"), render_to_string("starter_kit/README.md", made))
        if made["package"]:
            package.writestr(readable_member(f"{top}/notebook.ipynb"), _notebook(made))
            package.writestr(readable_member(f"{top}/github-action.yml"), render_to_string("starter_kit/github-action.yml", made))
        for file, name in zip(files, names, strict=True):
            with (
                store().open(file.key) as source,
                package.open(readable_member(f"{top}/example-entry/{name}"), "w", force_zip64=True) as target,
            ):
                shutil.copyfileobj(source, target)
        # Without files of the organizers, a simulated reference for each sample, and the same with a bit of noise as the entry.
        family, make = manifest.kind, KINDS[manifest.family].simulated
        for number, item in enumerate(manifest.items) if not files else ():
            for folder, model in zip(("example-reference", "example-entry"), make(manifest, item, number), strict=True):
                box = Box.of(model.vertices) if item.input is not None else None
                if box is not None and item.input is not None:  # it is moved to where the item's input lies, and made as large
                    there = box_of(item.input, manifest)
                    model = replace(model, vertices=(model.vertices - box.centre) * (there.diagonal / box.diagonal) + there.centre)
                package.writestr(readable_member(f"{top}/{folder}/{item.id}.{family.example}"), family.write(model, family.example))
    kit.seek(0)
    return kit


def _notebook(made: dict[str, Any]) -> str:
    """The same steps as cells of a notebook (nbformat 4), not run."""
    phase, challenge, example = made["phase"].slug, made["challenge"].slug, made["example"]
    reference = "example-reference" if made["simulated"] else example
    at = f"--server {made['site']} --challenge {challenge} --phase {phase}"
    cells = [
        ("markdown", f"# {made['challenge'].title}, {made['phase'].title}\n\nCheck an entry, score it as the server does, read the board."),
        ("code", f'%pip install --quiet "plumbline[{made["extra"]},frames] @ {made["package"]}"'),
        ("markdown", "The verdict is the server's, and needs no account."),
        ("code", f'import plumbline\n\nverdict = plumbline.check("{example}", "manifest.json")\nverdict.accepted, verdict.problems'),
        ("markdown", "The numbers are the server's, too."),
        ("code", f'plumbline.evaluate("{example}", "{reference}", manifest="manifest.json").summary()'),
        ("markdown", "The newest ranking: one row per entry, with the ends of each 95 % interval and the number of groups it is of."),
        ("code", f'site = plumbline.Site("{made["site"]}")\nboard = site.board("{challenge}", "{phase}")\nboard'),
        ("markdown", f"To upload, make a token with the scope submit at {made['site']}/account/tokens/."),
        ("markdown", "Start the notebook with it as PLUMBLINE_TOKEN."),
        ("code", f'# !plumbline upload {example} {at} --method "My method" --wait'),
    ]
    more: dict[str, dict[str, Any]] = {"markdown": {}, "code": {"execution_count": None, "outputs": []}}
    written = [
        {"cell_type": kind, "id": f"cell-{n}", "metadata": {}, "source": text} | more[kind] for n, (kind, text) in enumerate(cells, 1)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": written, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1)


def house(manifest: Manifest, item: Item, number: int) -> tuple[Any, Any]:
    """A house, and the same with its corners moved."""
    from evaluation.synthetic import houses  # which take a second to load
    from evaluation.synthetic.simplified import jittered

    metres = houses.house(houses.KINDS[number % len(houses.KINDS)], number)
    return _in_unit(manifest, metres), _in_unit(manifest, jittered(metres, NOISE_METRES, number))


def solid(manifest: Manifest, item: Item, number: int) -> tuple[Any, Any]:
    """A mesh, and the same with noise on its vertices."""
    from evaluation.synthetic import meshes  # which take a second to load
    from evaluation.synthetic.distortions import add_noise

    made = meshes.mesh(meshes.KINDS[number % len(meshes.KINDS)], number)
    return _in_unit(manifest, made), _in_unit(manifest, add_noise(made, NOISE_SHARE, np.random.default_rng(number)))


def _in_unit(manifest: Manifest, made: Any) -> Any:
    return replace(made, vertices=made.vertices / manifest.unit_scale)


def fields(manifest: Manifest, item: Item, number: int) -> tuple[Any, Any]:
    """Coloured fields in the view's own size, a small one where any size will do. The noise is the same all over a field, so
    that hundreds of large images are packed in seconds."""
    width, height = item.size if all(item.size) else ANY_SIZE
    rng = np.random.default_rng(number)
    plain = rng.uniform(40, 215, (FIELDS, FIELDS, 3))
    noisy = plain + rng.normal(scale=NOISE_LEVELS, size=plain.shape)
    rows, columns = (np.arange(side) * FIELDS // side for side in (height, width))
    clean, other = (render(np.clip(np.round(image), 0, 255).astype(np.uint8)[rows][:, columns]) for image in (plain, noisy))
    return clean, other
