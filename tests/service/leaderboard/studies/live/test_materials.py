"""Files that a rater is sent to look at: the right thing in the right frame, and not a byte that tells whose it is."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from PIL import Image

from evaluation.models import EvaluationBatch, Reference
from leaderboard.models import Question
from leaderboard.studies.live import campaign, materials
from leaderboard.studies.live.materials import plain
from leaderboard.viewer import mesh_scene
from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.render.views import encoded, render
from submissions.models import Submission
from tests.support import pictures
from tests.support.factories import MESH_METRICS, ChallengeFactory, PhaseFactory, TeamFactory, boxes, gables, give_reference, perturbed
from tests.support.leaderboard.scores import entry, with_files
from tests.support.leaderboard.studies.live import making

pytestmark = pytest.mark.django_db


# --- wireframes


def test_a_wireframe_is_plain_whatever_its_file_looked_like():
    square = np.array([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)], dtype=float)
    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 0)])
    vertices, found = plain(Wireframe(square, edges), np.array([1.0, 1.0, 0.0]))
    assert vertices.tolist() == [[-1, -1, 0], [-1, 1, 0], [1, -1, 0], [1, 1, 0]]
    assert found.tolist() == [[0, 1], [0, 2], [1, 3], [2, 3]]
    # Another order, turned edges, an edge twice, a corner twice, a loop, and digits nobody sees.
    other = np.concatenate([square[[2, 0, 3, 1]], square[:1]]) + 3e-8
    mixed = np.array([(2, 0), (0, 3), (3, 1), (4, 2), (1, 2), (2, 2), (1, 4)])
    same = plain(Wireframe(other, mixed), np.array([1.0, 1.0, 0.0]))
    assert np.array_equal(same[0], vertices) and np.array_equal(same[1], found)


def test_nothing_is_a_wireframe_too():
    vertices, edges = plain(Wireframe(np.zeros((0, 3)), np.zeros((0, 2), dtype=np.int64)), np.zeros(3))
    assert vertices.shape == (0, 3) and edges.shape == (0, 2)


def question(study, left: Submission, right: Submission | None, sample: str, rater=None) -> Question:
    """A question as the service would make it."""
    rows = {row.submission_id: row for row in study.entries.all()}
    rater = rater or making.rater(study)
    number = rater.questions.count() + 50
    found = Question.objects.create(
        study=study,
        rater=rater,
        number=number,
        sample=study.samples.get(name=sample),
        left=rows[left.pk],
        right=rows[right.pk] if right else None,
    )
    found.study = study
    return found


@pytest.fixture
def wires(phase, people):
    """(study, entries): each of four entries is noisier, far from the origin."""
    rows = making.entries(phase, people)
    for k, row in enumerate(rows):
        with_files(row, perturbed(gables(), 0.1 * (k + 1), seed=k))
    return making.live(phase, people.organizer, rows), rows


def test_a_scene_of_wireframes_shows_both_over_the_reference_in_its_frame(wires):
    study, rows = wires
    scene = materials.scene(question(study, rows[2], rows[0], "house_02"))
    assert (scene["form"], scene["unit"]) == ("wireframe", study.phase.unit)
    assert [(model["name"], model["role"]) for model in scene["models"]] == [
        ("reference", "reference"),
        ("left", "prediction"),
        ("right", "prediction"),
    ]
    truth = gables()["house_02"]
    middle = (truth.vertices.min(axis=0) + truth.vertices.max(axis=0)) / 2
    shown = (truth, perturbed(gables(), 0.3, 2)["house_02"], perturbed(gables(), 0.1, 0)["house_02"])
    for model, frame in zip(scene["models"], shown, strict=True):
        expected = frame.vertices - middle
        assert np.allclose(model["vertices"], expected[np.lexsort(np.round(expected, 6).T[::-1])], atol=1e-6)
        assert len(model["edges"]) == len(frame.edges)


def test_the_same_entry_is_the_same_bytes_on_either_side_and_whatever_it_is_called(wires, phase, people):
    study, rows = wires
    twin = with_files(
        entry(phase, people.other_team, {slug: [0.5] * 4 for slug in making.SLUGS}, method_name="secret-method-twin"),
        {name: Wireframe(it.vertices[::-1], len(it.vertices) - 1 - it.edges[::-1, ::-1]) for name, it in perturbed(gables(), 0.1).items()},
    )
    with_files(rows[0], perturbed(gables(), 0.1))
    study = making.live(phase, people.organizer, [*rows, twin], slug="twins")
    rater = making.rater(study)
    one, two = (materials.scene(question(study, *pair, "house_01", rater))["models"] for pair in ((rows[0], rows[1]), (rows[1], twin)))
    content = [[json.dumps({**model, "name": ""}) for model in models] for models in (one, two)]
    assert content[0] == [content[1][0], content[1][2], content[1][1]]


def test_what_an_entry_left_out_is_empty_and_opinions_have_one_side(wires, phase, people):
    _, rows = wires
    with_files(rows[3], {name: it for name, it in gables().items() if name != "house_01"})
    study = making.live(phase, people.organizer, rows, slug="one", kind="opinions")
    models = materials.scene(question(study, rows[3], None, "house_01"))["models"]
    assert [model["name"] for model in models] == ["reference", "left"]
    assert models[1]["vertices"] == models[1]["edges"] == []


# --- meshes


@pytest.fixture
def solids(people):
    phase = PhaseFactory(challenge=ChallengeFactory(family="mesh"), reference_access="public")
    phase.challenge.organizers.add(people.organizer)
    painted = boxes(1.0)["box_1"]
    far = Mesh(painted.vertices + 5e6, painted.faces)
    give_reference(phase, {"box_1": far}, MESH_METRICS)
    team = TeamFactory(challenge=phase.challenge)
    colours = np.arange(36, dtype=np.uint8).reshape(12, 3)
    rows = [entry(phase, team, {"chamfer_l1": [0.1 * k]}, method_name=f"secret-method-{k}") for k in (1, 2)]
    with_files(rows[0], {"box_1": Mesh(boxes(1.25)["box_1"].vertices + 5e6, painted.faces, colours)})
    with_files(rows[1], {})
    return making.live(phase, people.organizer, rows, samples=("box_1",)), rows


def test_meshes_come_one_a_file_centred_and_in_an_order_of_their_own(solids):
    study, rows = solids
    asked = question(study, rows[0], rows[1], "box_1")
    scene = materials.scene(asked)
    assert [model["file"] for model in scene["models"]] == ["reference.mesh", "left.mesh", "right.mesh"]
    data, content_type = materials.file(asked, "left.mesh")
    assert content_type == "application/octet-stream"
    (model,) = mesh_scene.unpacked(data)["models"]
    assert set(mesh_scene.unpacked(data)) == {"models"} and set(model) == {"vertices", "faces", "simplified", "arrays"}
    # The box is 4 x 2 m and 1 m high as a reference, centred there; the entry's is 1.25 m high.
    assert model["arrays"]["positions"].min(axis=0).tolist() == [-2, -1, -0.5]
    assert model["arrays"]["positions"].max(axis=0).tolist() == [2, 1, 0.75]
    faces = model["arrays"]["faces"]
    assert (faces[:, 0] == faces.min(axis=1)).all() and (np.lexsort(faces.T[::-1]) == np.arange(12)).all()
    empty = mesh_scene.unpacked(materials.file(asked, "right.mesh")[0])["models"][0]
    assert (empty["vertices"], empty["faces"]) == (0, 0)


def test_a_face_keeps_its_turn_and_its_colour_in_the_new_order():
    it = boxes()["box_1"]
    colours = np.random.default_rng(0).integers(0, 255, (12, 3)).astype(np.uint8)
    order, names = np.random.default_rng(1).permutation(12), np.random.default_rng(2).permutation(8)
    mixed = Mesh(it.vertices[np.argsort(names)], np.roll(names[it.faces[order]], 1, axis=1), colours[order])
    data = mesh_scene.single(Mesh(it.vertices, it.faces, colours), np.zeros(3))
    assert mesh_scene.single(mixed, np.zeros(3)) == data
    arrays = mesh_scene.unpacked(data)["models"][0]["arrays"]
    a, b, c = arrays["positions"].astype(float)[arrays["faces"]].transpose(1, 0, 2)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(8.0)  # 4 x 2 x 1 m, outwards
    normal = {tuple(np.cross(b - a, c - a)) for a, b, c in it.vertices[it.faces]}
    assert {tuple(one) for one in np.cross(b - a, c - a)} == normal
    assert sorted(map(tuple, arrays["colours"])) == sorted(map(tuple, colours))


@pytest.mark.parametrize("name", ["left-1.webp", "scene.mesh", "left.obj", "left-.mesh", "middle.mesh", "left", "left-1.mesh", ""])
def test_there_are_no_other_files(solids, name):
    study, rows = solids
    with pytest.raises(materials.NoSuchFile):
        materials.file(question(study, rows[0], rows[1], "box_1"), name)


# --- renders


def tagged(pixels: np.ndarray) -> bytes:
    """A PNG with words beside its pixels."""
    from PIL.PngImagePlugin import PngInfo

    words = PngInfo()
    words.add_text("Software", "secret-method-1")
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", pnginfo=words)
    return buffer.getvalue()


@pytest.fixture
def views(people):
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"), reference_access="public")
    phase.challenge.organizers.add(people.organizer)
    give_reference(phase, pictures.views(30, clean=False), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    team = TeamFactory(challenge=phase.challenge)
    rows = [entry(phase, team, {"psnr": [30.0] * 30}, method_name=f"secret-method-{k}") for k in (1, 2)]
    named = {name: type(it)(tagged(it.pixels()), it.width, it.height) for name, it in pictures.renders(30, noise=0.01).items()}
    with_files(rows[0], named)
    with_files(rows[1], {name: it for name, it in pictures.renders(30).items() if name != "garden/view_1"})
    Submission.objects.filter(pk=rows[1].pk).update(missing_items=["garden/view_1"])
    return making.live(phase, people.organizer, rows, samples=("garden",)), rows


def test_a_scene_of_renders_has_views_spread_over_all_and_leaves_out_what_is_not_there(views):
    study, rows = views
    asked = question(study, rows[0], rows[1], "garden")
    ids = [name for name, group in zip(study.reference.item_ids, study.reference.groups, strict=True) if group == "garden"]
    scene = materials.scene(asked)
    assert len(scene["views"]) == 24 and scene["views"][0] == {"reference": "reference-1.webp", "left": "left-1.webp", "right": None}
    assert scene["views"][23] == {side: f"{side}-24.webp" for side in ("reference", "left", "right")}
    with pytest.raises(materials.NoSuchFile):
        materials.file(asked, "right-1.webp")
    for number in (1, 2, 24):
        item = ids[(number - 1) * 30 // 24]
        data, content_type = materials.file(asked, f"left-{number}.webp")
        assert content_type == "image/webp" and b"secret" not in data and not Image.open(io.BytesIO(data)).getexif()
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), pictures.renders(30, noise=0.01)[item].pixels())
        truth = np.asarray(Image.open(io.BytesIO(materials.file(asked, f"reference-{number}.webp")[0])).convert("RGB"))
        assert np.array_equal(truth, pictures.views(30)[item].image.pixels())
    for name in ("left-0.webp", "left-25.webp", "left-01.webp", "left-².webp", "left.webp"):
        with pytest.raises(materials.NoSuchFile):
            materials.file(asked, name)


def test_a_generated_object_comes_with_the_text_it_was_asked_for_with_and_its_normals(views):
    study, rows = views
    asked = question(study, rows[0], rows[1], "garden")
    scene = materials.scene(asked)
    assert (scene["prompt"], scene["normals"]) == ("", False)
    with pytest.raises(materials.NoSuchFile):
        materials.file(asked, "left-1-normal.webp")
    found = pictures.renders(30)
    with_files(rows[0], {name: replace(it, normal=encoded(pictures.picture(k + 100))) for k, (name, it) in enumerate(found.items())})
    truth = {name: replace(it, prompt="a garden") for name, it in pictures.views(30, clean=False).items()}
    reference = Reference.add(study.phase, truth)
    type(study).objects.filter(pk=study.pk).update(reference=reference)
    study.refresh_from_db()
    asked = question(study, rows[0], rows[1], "garden")
    scene = materials.scene(asked)
    assert (scene["prompt"], scene["normals"]) == ("a garden", True)
    data, _ = materials.file(asked, "left-1-normal.webp")
    item = reference.item_ids[0]
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), pictures.picture(list(found).index(item) + 100))
    with pytest.raises(materials.NoSuchFile):
        materials.file(asked, "reference-1-normal.webp")


def test_the_same_pixels_are_the_same_bytes_however_they_were_stored(views):
    pixels = pictures.picture(3)
    again = render(pixels)
    assert tagged(pixels) != encoded(pixels)
    assert materials._encoded(again.pixels()) == materials._encoded(type(again)(tagged(pixels), again.width, again.height).pixels())


# --- over HTTP


@pytest.fixture
def asked(wires):
    """(client of a rater, study, what they are asked)."""
    study, _ = wires
    client = Client()
    client.post(f"/rate/{study.key}/join/", {"agree": "yes"})
    return client, study, client.get(f"/rate/{study.key}/next").json()


def test_a_rater_looks_at_their_open_questions_and_at_no_others(asked, people):
    client, study, state = asked
    for it in (state["question"], state["following"]):
        found = client.get(it["scene"])
        assert found.status_code == 200 and len(found.json()["models"]) == 3
    third = Question.objects.get(rater__study=study, number=state["following"]["number"])
    further = state["question"]["scene"].replace(state["question"]["id"], third.token)
    assert client.get(further).status_code == 404
    assert Client().get(state["question"]["scene"]).status_code == 404
    other = Client()
    other.post(f"/rate/{study.key}/join/", {"agree": "yes"})
    assert other.get(state["question"]["scene"]).status_code == 404
    organizer = Client()
    organizer.force_login(people.organizer)
    assert organizer.get(state["question"]["scene"]).status_code == 404
    answer = {"question": state["question"]["id"], "answers": {"overall": "left"}, "seconds": 1}
    client.post(f"/rate/{study.key}/answer", answer, content_type="application/json")
    assert client.get(state["question"]["scene"]).status_code == 404
    campaign.close(study, people.organizer)
    assert client.get(state["following"]["scene"]).status_code == 404


def test_no_byte_and_no_head_of_what_is_looked_at_tells_what_is_behind_it(asked, people):
    client, study, state = asked
    batch = EvaluationBatch.current(study.phase)
    keys = [row.submission.artifact_key for row in study.entries.select_related("submission")]
    secret = {"secret-method", "house_0", people.team.name, people.other_team.name, "corner_f1"}
    secret |= {study.reference.key, study.reference.sha256[:12]}
    secret |= {*keys, *(key.split("-")[-1] for key in keys), study.phase.challenge.slug, str(batch.pk) + '"'}
    for it in (state["question"], state["following"]):
        found = client.get(it["scene"])
        everything = f"{found.content.decode()} {dict(found.items())}"
        for word in secret:
            assert word not in everything, word
        assert set(found.json()) == {"form", "unit", "models"}
        assert [model for model in found.json()["models"] if set(model) != {"name", "role", "vertices", "edges"}] == []
        assert found["Cache-Control"] == "private, max-age=3600"
        assert not {"ETag", "Last-Modified", "Content-Disposition"} & set(found.headers)
    assert client.get(it["scene"].replace("scene.json", "left.mesh")).status_code == 404
    assert client.post(it["scene"]).status_code == 405


def test_what_is_made_once_is_not_made_again(wires, monkeypatch):
    study, rows = wires
    rater = making.rater(study)
    made = []
    original = materials._wireframe
    monkeypatch.setattr(materials, "_wireframe", lambda *given: made.append(given[1].name) or original(*given))
    for pair in ((rows[0], rows[1]), (rows[1], rows[0]), (rows[1], rows[2])):
        materials.scene(question(study, *pair, "house_01", rater))
    assert [name for name in made if name != "reference"] == ["left", "right", "right"] and made.count("reference") < 2
