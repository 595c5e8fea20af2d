"""A challenge of meshes from its files to its ranking: bundle, client over HTTP, worker, board, and the same numbers at home."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.__main__ import main as evaluation_command
from evaluation.synthetic.distortions import add_noise, decimate
from evaluation.synthetic.meshes import mesh
from evaluation.work.worker import drain
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from submissions.client.command import main as client_command
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import write_obj, write_ply
from submissions.formats.yaml_document import DocumentError
from submissions.kinds import MESH, same
from submissions.models import ApiToken, Challenge, Phase, Submission
from tests.service.leaderboard.bundle.test_apply import same_folders
from tests.support.factories import TeamFactory, UserFactory, join

BUNDLE = """\
slug: objects
title: Objects
family: mesh
visibility: public
phases:
  - slug: one
    title: One
    opens_at: 2026-01-01T00:00
    reference_access: public
    missing: worst
    entries: all
    unit: unitless
    metrics:
      - {key: chamfer_l1, params: {n: 2000}, primary: true}
      - {key: mesh_fscore, params: {n: 2000, threshold: 0.02}}
      - {key: normal_difference, params: {n: 2000}}
    reference: {path: reference, groups: {vase: pots, mug: pots}}
    examples:
      - {path: mug.obj}
"""
# As float64 of all sizes, one of them painted, in three formats that hold them exactly.
OBJECTS = {name: mesh(name, seed) for seed, name in enumerate(("gear", "mug", "vase"))}
OBJECTS["gear"] = Mesh(OBJECTS["gear"].vertices * (1 / 3), OBJECTS["gear"].faces, np.full(OBJECTS["gear"].faces.shape, 77, np.uint8))


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    (folder / "reference").mkdir(parents=True)
    for number, (name, item) in enumerate(OBJECTS.items()):
        data, suffix = (write_obj(item), "obj") if number % 2 else (write_ply(item), "ply")
        (folder / "reference" / f"{name}.{suffix}").write_bytes(data)
    (folder / "mug.obj").write_bytes(write_obj(OBJECTS["mug"]))
    (folder / "challenge.yaml").write_text(BUNDLE)
    return folder


@pytest.mark.django_db
def test_a_bundle_of_meshes_comes_back_bit_for_bit_and_changes_nothing(bundle, tmp_path):
    apply(parse(bundle).definition)
    phase = Phase.objects.get()
    assert (phase.manifest.family, phase.manifest.formats) == ("mesh", MESH.formats)
    assert {item.limits for item in phase.manifest.items} == {(600_000, 200_000)}
    assert phase.manifest.bounds.max_file_bytes == MESH.max_file_bytes
    stored = phase.references.get().items()
    assert stored.keys() == OBJECTS.keys() and [name for name in OBJECTS if not same(stored[name], OBJECTS[name])] == []

    export(read(Challenge.objects.get()), tmp_path / "out")
    found = MESH.load_folder(tmp_path / "out" / "phases" / "one" / "reference")
    assert found.keys() == OBJECTS.keys() and [name for name in OBJECTS if not same(found[name], OBJECTS[name])] == []
    assert plan_for(parse(tmp_path / "out").definition).is_empty
    assert plan_for(parse(bundle).definition).is_empty
    apply(parse(tmp_path / "out").definition)
    export(read(Challenge.objects.get()), tmp_path / "again")
    assert same_folders(tmp_path / "out", tmp_path / "again") == []


@pytest.mark.django_db
def test_a_moved_vertex_a_turned_face_or_another_colour_is_another_reference(bundle):
    apply(parse(bundle).definition)
    gear = OBJECTS["gear"]
    for other in (
        Mesh(np.nextafter(gear.vertices, 1), gear.faces, gear.face_colours),
        Mesh(gear.vertices, gear.faces[:, [1, 2, 0]], gear.face_colours),
        Mesh(gear.vertices, gear.faces, gear.face_colours + np.uint8(1)),
    ):
        (bundle / "reference" / "gear.ply").write_bytes(write_ply(other))
        (change,) = plan_for(parse(bundle).definition).changes
        assert "3 items (1 changed)" in change.after


@pytest.mark.django_db
def test_a_challenge_with_a_reference_stays_of_its_kind(bundle):
    apply(parse(bundle).definition)
    text = BUNDLE.replace("family: mesh", "family: wireframe").split("    metrics:")[0]
    (bundle / "challenge.yaml").write_text(text)
    assert [refusal for refusal in plan_for(parse(bundle).definition).refusals if "meshes" in refusal and "wireframes" in refusal]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("key: mesh_fscore, params: {n: 2000, threshold: 0.02}", "key: corner_f1"), "a metric of meshes; corner_f1 is one of wireframes"),
        (("path: reference, groups: {vase: pots, mug: pots}", "path: flat"), "flat: expected at least one face with an area"),
        (("path: reference, groups: {vase: pots, mug: pots}", "path: none"), "expected meshes (.glb, .gltf, .obj, .ply, .stl, .off)"),
        (("path: reference, groups: {vase: pots, mug: pots}", "path: torn"), "expected readable meshes; torn.ply"),
    ],
)
def test_what_no_mesh_challenge_can_use_is_said_with_its_key(bundle, change, fault):
    for name, data in {"flat.obj": b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "none.json": b"{}", "torn.ply": b"ply\n"}.items():
        (bundle / name.partition(".")[0]).mkdir()
        (bundle / name.partition(".")[0] / name).write_bytes(data)
    (bundle / "challenge.yaml").write_text(BUNDLE.replace(*change))
    with pytest.raises(DocumentError) as caught:
        parse(bundle)
    assert fault in str(caught.value)


def entry(folder, damage, leave_out=()):
    folder.mkdir()
    for name, item in OBJECTS.items():
        if name not in leave_out:
            (folder / f"{name}.obj").write_bytes(b"mtllib thing.mtl\n" + write_obj(damage(item)))
    (folder / "thing.mtl").write_bytes(b"newmtl m\nKd 1 1 1\n")
    (folder / "wood.png").write_bytes(b"\x89PNG")
    return folder


@pytest.mark.django_db(transaction=True)
def test_meshes_are_sent_by_the_client_scored_by_the_worker_and_ranked_as_at_home(live_server, client, bundle, tmp_path, capsys):
    apply(parse(bundle).definition)
    challenge, phase = Challenge.objects.get(), Phase.objects.get()
    user = UserFactory(username="owner")
    join(user, TeamFactory(challenge=challenge, name="Ridge"), leader=True)
    _, token = ApiToken.make(user, "test", timezone.now() + timedelta(hours=1))
    address = ["--server", live_server.url, "--challenge", "objects", "--phase", "one"]
    folders = {
        "noisy": entry(tmp_path / "noisy", lambda item: add_noise(item, 0.02, np.random.default_rng(1))),
        "coarse": entry(tmp_path / "coarse", lambda item: decimate(item, 0.5), leave_out=("vase",)),
    }
    for name, folder in folders.items():
        assert client_command(["check", str(folder), *address, "--token", token]) == 0
        assert client_command(["upload", str(folder), *address, "--token", token, "--method", name]) == 0
    drain()
    assert {row.method_name: row.status for row in Submission.objects.all()} == {"noisy": "scored", "coarse": "scored"}
    assert client_command(["status", str(Submission.objects.first().pk), "--server", live_server.url, "--token", token]) == 0
    assert "Chamfer distance (L1)" in capsys.readouterr().out

    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(phase.manifest.to_json())
    for name, folder in folders.items():
        assert evaluation_command(["score", "--manifest", str(manifest), "--json", str(folder), str(bundle / "reference")]) == 0
        at_home = json.loads(capsys.readouterr().out)
        evaluation = Submission.objects.get(method_name=name).evaluations.get()
        assert set(at_home["scores"]) == {"chamfer_l1", "mesh_fscore", "normal_difference"}
        ids = evaluation.batch.reference.item_ids
        for score in evaluation.scores.all():
            assert score.value == at_home["scores"][score.slug]["value"], (name, score.slug)
            assert score.values.tolist() == [at_home["samples"][item][score.slug]["value"] for item in ids]

    snapshots.make(phase, "public")
    client.force_login(user)
    board = client.get(reverse("board", args=["objects", "one"])).content.decode()
    assert "noisy" in board and "coarse" in board and "Chamfer" in board
    upload = client.get(reverse("upload", args=["objects", "one"])).content.decode().partition("<main")[2]
    assert MESH.hint in upload and f'accept="{MESH.accept}"' in upload and "wireframe" not in upload.lower()
    assert "glb, obj, ply, stl, off" in client.get(reverse("data", args=["objects"])).content.decode()
