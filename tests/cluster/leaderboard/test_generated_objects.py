"""A challenge of generated objects from meshes to its ranking: the service draws the reference's views, of which the entries'
pictures are scored."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.__main__ import main as evaluation_command
from evaluation.rendering import objects
from evaluation.synthetic import meshes
from evaluation.work.worker import drain
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from submissions.client.command import main as client_command
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.obj import write_obj
from submissions.formats.yaml_document import DocumentError
from submissions.models import ApiToken, Challenge, Phase, Submission
from tests.support.factories import TeamFactory, UserFactory, join

BUNDLE = """\
slug: objects
title: Objects from texts
family: render
visibility: public
phases:
  - slug: one
    title: One
    opens_at: 2026-01-01T00:00
    entries: all
    metrics:
      - {key: psnr, primary: true}
      - {key: psnr@mask}
    reference:
      path: reference
      render: {views: turntable, size: 64, seeds: 2}
"""
PROMPTS = {"0": "a slender <b>vase</b>", "1": "a bowl"}  # organizers, too, may send anything
MESHES = {"0": meshes.mesh("vase", 3), "1": meshes.mesh("vase", 4)}


@pytest.fixture
def bundle(tmp_path) -> Path:
    folder = tmp_path / "bundle" / "reference"
    folder.mkdir(parents=True)
    for name, mesh in MESHES.items():
        (folder / f"{name}.obj").write_bytes(write_obj(mesh))
    (folder / "prompts.json").write_text(json.dumps(PROMPTS))
    (folder.parent / "challenge.yaml").write_text(BUNDLE)
    return folder.parent


def drawn(tmp_path: Path, name: str, change) -> Path:
    """An entry as text-to-3D tournaments keep them, drawn with the command of the documentation."""
    for prompt, mesh in MESHES.items():
        for seed in range(2):
            made = tmp_path / f"{name}-{prompt}-{seed}.obj"
            made.write_bytes(write_obj(change(mesh, seed)))
            out = tmp_path / name / prompt / str(seed)
            assert evaluation_command(["render", str(made), str(out), "--views", "turntable", "--size", "64"]) == 0
    (tmp_path / name / "prompts.json").write_text(json.dumps(PROMPTS))
    return tmp_path / name


def flattened(mesh: Mesh, seed: int) -> Mesh:
    """The object with a height of its own for each seed."""
    return replace(mesh, vertices=mesh.vertices * [1, 1, 0.8 - 0.2 * seed])


@pytest.mark.django_db(transaction=True)
def test_meshes_become_views_that_entries_are_scored_and_shown_against(live_server, client, bundle, tmp_path, capsys):
    apply(parse(bundle).definition)
    challenge, phase = Challenge.objects.get(), Phase.objects.get()
    ids = [item.id for item in phase.manifest.items]
    assert len(ids) == 2 * 2 * 24 and {"0/0-0", "0/1-23", "1/1-7"} <= {*ids}
    assert {(item.group, item.size) for item in phase.manifest.items} == {("0", (64, 64)), ("1", (64, 64))}
    user = UserFactory(username="owner")
    join(user, TeamFactory(challenge=challenge, name="Ridge"), leader=True)
    _, token = ApiToken.make(user, "test", timezone.now() + timedelta(hours=1))
    address = ["--server", live_server.url, "--challenge", "objects", "--phase", "one", "--token", token]
    for name, change in (("the same", lambda mesh, seed: mesh), ("flat", flattened)):
        folder = drawn(tmp_path, name, change)
        assert client_command(["upload", str(folder), *address, "--method", name]) == 0, capsys.readouterr()
    drain("cpu")
    scores = {it.method_name: {score.slug: score for score in it.evaluations.get().scores.all()} for it in Submission.objects.all()}
    assert scores["the same"]["psnr"].value == 100 and set(scores["the same"]["psnr"].values) == {100.0}
    flat = dict(zip(ids, scores["flat"]["psnr"].values, strict=True))
    assert [(prompt, n) for prompt in "01" for n in range(24) if not flat[f"{prompt}/1-{n}"] < flat[f"{prompt}/0-{n}"] < 40] == [], (
        "each seed its own pictures"
    )
    assert scores["flat"]["psnr@mask"].value < scores["flat"]["psnr"].value, "in the mask of the reference there is no white around"

    snapshots.make(phase, "public")
    page = client.get(reverse("board", args=["objects", "one"])).content.decode()
    assert page.index("the same") < page.index("flat")
    client.force_login(user)
    entry = Submission.objects.get(method_name="flat")
    same = Submission.objects.get(method_name="the same")
    compared = f"{reverse('compare', args=['objects', 'one'])}?a={same.pk}&b={entry.pk}&item=0/1-7"
    pages = [
        reverse("entry", args=[entry.pk]),
        reverse("entry_scene", args=[entry.pk, "0"]),
        reverse("entry_item", args=[entry.pk, "0/1-7"]),
    ]
    for address in (*pages, compared):
        page = client.get(address).content.decode()
        assert "a slender &lt;b&gt;vase&lt;/b&gt;" in page and "a slender <b>" not in page, address
        assert ("a bowl" in page) is (address == pages[0]), "each object its own text"


def test_the_prompts_stay_with_the_views_and_an_export_describes_the_same(db, bundle, tmp_path):
    definition = parse(bundle).definition
    views = definition.phases[0].reference.load()
    assert views["0/0-3"].prompt == PROMPTS["0"] and views["0/0-3"].same_as(views["0/1-3"]) and not views["0/0-3"].same_as(views["0/0-9"])
    mask = views["1/0-0"].mask_pixels()
    assert 0.05 < mask.mean() < 0.9 and (views["1/0-0"].image.pixels()[~mask] == 255).all()
    apply(definition)
    assert plan_for(parse(bundle).definition).is_empty, "drawn again, they are the same bit for bit"
    export(read(Challenge.objects.get()), tmp_path / "out")
    assert (tmp_path / "out" / "phases" / "one" / "reference" / "0" / "0-3.png").is_file()
    assert plan_for(parse(tmp_path / "out").definition).is_empty


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("views: turntable", "views: all"), "line 15: phases[0].reference.render.views: expected one of turntable, 266"),
        (("size: 64", "size: 9"), "expected a whole number from 64 to 1,024"),
        (("seeds: 2", "seed: 2"), "did you mean seeds?"),
        (("    entries: all", '    background: "#000000"'), "let the phase's background be #ffffff"),
        (("family: render", "family: mesh"), "expected no such key; meshes are measured as they are"),
    ],
)
def test_faults_are_named_with_their_line(bundle, change, fault, monkeypatch):
    (bundle / "reference" / "flat.obj").write_bytes(write_obj(Mesh(np.eye(3) * 0 + [1, 2, 3], np.array([[0, 1, 2]]))))
    monkeypatch.setattr("evaluation.rendering.reference.mesh_views", lambda *_: pytest.fail("drawn, although it is refused"))
    (bundle / "challenge.yaml").write_text(BUNDLE.replace(*change))
    with pytest.raises(DocumentError) as raised:
        parse(bundle)
    assert fault in str(raised.value)
    assert "flat" in str(raised.value) or "background" in fault, "the files are read all the same"


def test_faults_of_the_files_are_all_named(bundle):
    (bundle / "reference" / "flat.obj").write_bytes(write_obj(Mesh(np.eye(3) * 0 + [1, 2, 3], np.array([[0, 1, 2]]))))
    (bundle / "reference" / "prompts.json").write_text(json.dumps({**PROMPTS, "9": "a lamp"}))
    with pytest.raises(DocumentError) as raised:
        parse(bundle)
    assert "prompts.json: " in str(raised.value) and "flat: " in str(raised.value)
    for file in (bundle / "reference").glob("*.obj"):
        file.unlink()
    with pytest.raises(DocumentError, match="holds no mesh; put one for each prompt there"):
        parse(bundle)


def test_the_sets_of_views_are_as_many_as_they_say():
    from evaluation.rendering.reference import SETS

    assert {name: len(views()) for name, views in SETS.items()} == objects.SETS


@pytest.mark.django_db
def test_the_console_draws_the_views_of_an_uploaded_zip(client, bundle, tmp_path):
    (bundle / "challenge.yaml").write_text(BUNDLE.split("    reference:")[0].replace("visibility: public", "visibility: draft"))
    apply(parse(bundle).definition)
    phase = Phase.objects.get()
    organizer = UserFactory(username="olga")
    phase.challenge.organizers.add(organizer)
    client.force_login(organizer)
    path = reverse("console_reference", args=["objects", "one"])
    assert 'value="turntable"' in client.get(path).content.decode()
    with zipfile.ZipFile(tmp_path / "meshes.zip", "w") as package:
        for file in (bundle / "reference").iterdir():
            package.write(file, file.name)
    with (tmp_path / "meshes.zip").open("rb") as file:
        client.post(path, {"file": file, "note": "", "views": "turntable", "size": "64", "up": "z", "seeds": "2"})
    assert len(phase.references.get().item_ids) == 96
    assert phase.references.get().items()["1/1-0"].prompt == "a bowl"
