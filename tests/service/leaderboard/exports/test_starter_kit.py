"""The starter kit: complete, for participants only, and its commands run as they are written."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse

from evaluation import local
from submissions.formats.arrays import Mesh
from submissions.manifest import Manifest
from submissions.models import ChallengeFile
from submissions.storage import stored_files
from submissions.validation import validate
from tests import ROOT
from tests.support.factories import PhaseFactory, give_reference
from tests.support.scenes import rich_views

pytestmark = pytest.mark.django_db


def kit_of(client, phase, user) -> zipfile.ZipFile:
    client.force_login(user)
    response = client.get(reverse("starter_kit", args=[phase.challenge.slug, phase.slug]))
    assert response.status_code == 200 and response["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))


def unpacked(kit: zipfile.ZipFile, phase, folder: Path) -> Path:
    kit.extractall(folder)
    return folder / f"{phase.challenge.slug}-{phase.slug}-starter-kit"


def commands(readme: str) -> list[list[str]]:
    return [shlex.split(line) for line in re.findall(r"^ +(plumbline .*)$", readme, re.MULTILINE)]


def test_the_simulated_example_is_accepted_by_the_phase(client, phase, people, tmp_path):
    folder = unpacked(kit_of(client, phase, people.owner), phase, tmp_path)
    manifest = Manifest.from_json((folder / "manifest.json").read_bytes())
    assert manifest == phase.manifest
    assert validate(folder / "example-entry", manifest).accepted


def test_everybody_may_read_what_was_unpacked(client, phase, people):
    """`unzip` gives a file the mode that stands in the archive, whatever the umask is."""
    kit = kit_of(client, phase, people.owner)
    assert {oct(info.external_attr >> 16) for info in kit.infolist()} == {"0o100644"}


def test_the_commands_that_check_and_score_run_as_written(client, phase, people, tmp_path):
    folder = unpacked(kit_of(client, phase, people.owner), phase, tmp_path)
    check, score, upload = commands((folder / "README.md").read_text())
    assert [c[1] for c in (check, score, upload)] == ["check", "score", "upload"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in (check, score):
        words = [sys.executable, "-m", "leaderboard.package", *command[1:]]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    assert "corner_f1" in done.stdout


def test_a_kit_of_meshes_checks_and_scores_as_written(client, challenge, people, tmp_path):
    challenge.family = "mesh"
    challenge.save()
    meshes = PhaseFactory(challenge=challenge, unit_scale=0.01)
    tetrahedron = Mesh(np.eye(4, 3), np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]))
    metric = {"slug": "chamfer_l1", "key": "chamfer_l1", "params": {"n": 1000}, "is_primary": True}
    give_reference(meshes, {"one": tetrahedron, "two": tetrahedron}, (metric,))
    folder = unpacked(kit_of(client, meshes, people.owner), meshes, tmp_path)
    manifest = Manifest.from_json((folder / "manifest.json").read_bytes())
    verdict = validate(folder / "example-entry", manifest)
    assert verdict.accepted and verdict.items.keys() == {"one", "two"}
    assert np.ptp(verdict.items["one"].vertices, axis=0).max() == pytest.approx(100, rel=0.1), "a metre in centimetres"
    readme = (folder / "README.md").read_text()
    assert "2 items" in readme and "wireframe" not in readme
    outcome = local.score(folder / "example-entry", folder / "example-reference", manifest_file=folder / "manifest.json")
    assert 0 < outcome.scores["chamfer_l1"][1].value < 0.02


def test_a_kit_of_renders_checks_and_scores_as_written(client, challenge, people, tmp_path):
    challenge.family = "render"
    challenge.save()
    phase = PhaseFactory(challenge=challenge, background="#000000")
    give_reference(phase, rich_views(), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    folder = unpacked(kit_of(client, phase, people.owner), phase, tmp_path)
    manifest = Manifest.from_json((folder / "manifest.json").read_bytes())
    verdict = validate(folder / "example-entry", manifest)
    assert verdict.accepted and verdict.items.keys() == rich_views().keys()
    assert (verdict.items["garden/000"].width, verdict.items["garden/000"].height) == (40, 28)
    readme = (folder / "README.md").read_text()
    assert "5 items" in readme and "#000000" in readme
    outcome = local.score(folder / "example-entry", folder / "example-reference", manifest_file=folder / "manifest.json")
    assert 10 < outcome.scores["psnr"][1].value < 40


def test_the_upload_command_is_one_the_client_understands(client, phase, people, tmp_path):
    from submissions.client.command import _parser

    folder = unpacked(kit_of(client, phase, people.owner), phase, tmp_path)
    options = _parser().parse_args(commands((folder / "README.md").read_text())[2][1:])
    assert (options.challenge, options.phase) == (phase.challenge.slug, phase.slug)


def test_the_organizers_example_is_taken_as_it_is(client, phase, people, tmp_path):
    stored_files.store().save_bytes("files/example", b"the organizers' own")
    ChallengeFile.objects.create(
        challenge=phase.challenge, phase=phase, kind="example", name="../mine.zip", key="files/example", size=19, sha256="0" * 64
    )
    kit = kit_of(client, phase, people.owner)
    names = [name.split("/", 1)[1] for name in kit.namelist()]
    assert sorted(names) == ["README.md", "example-entry/_mine.zip", "manifest.json"]
    folder = unpacked(kit, phase, tmp_path)
    assert (folder / "example-entry" / "_mine.zip").read_bytes() == b"the organizers' own"
    assert commands((folder / "README.md").read_text())[0][2] == "example-entry/_mine.zip"


def test_the_kit_is_in_the_units_of_the_phase(client, phase, people, tmp_path, references):
    from submissions.formats.wireframe.wireframe_files import load_folder

    metres = load_folder(unpacked(kit_of(client, phase, people.owner), phase, tmp_path / "m") / "example-reference")
    phase.manifest_data["unit_scale"] = 0.01
    phase.save()
    centimetres = load_folder(unpacked(kit_of(client, phase, people.owner), phase, tmp_path / "cm") / "example-reference")
    name = next(iter(metres))
    assert centimetres[name].vertices == pytest.approx(metres[name].vertices * 100)


def test_an_example_that_is_gone_is_a_conflict(client, phase, people):
    ChallengeFile.objects.create(challenge=phase.challenge, kind="example", name="a.zip", key="files/gone", size=1, sha256="0" * 64)
    client.force_login(people.owner)
    response = client.get(reverse("starter_kit", args=[phase.challenge.slug, phase.slug]))
    assert response.status_code == 409


def test_strangers_get_no_kit(client, phase, people):
    path = reverse("starter_kit", args=[phase.challenge.slug, phase.slug])
    nobody = client.get(path)
    assert nobody.status_code == 403 and f"?next={path}" in nobody.content.decode()
    client.force_login(people.stranger)
    stranger = client.get(path)
    assert stranger.status_code == 403 and "?next=" not in stranger.content.decode()
