"""Acts on the challenge itself: making it, its settings, who may see it, its bundle, its end."""

from __future__ import annotations

import io
import zipfile

import numpy as np

from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import write_ply
from submissions.models import Challenge, Phase
from submissions.storage import stored_files
from tests.support.factories import archive, gables, received
from tests.support.leaderboard.console.acts import confirm, latest, upload
from tests.support.pages import faults, refusal


def test_a_new_challenge_is_a_draft_of_its_maker(client, people):
    client.force_login(people.staff)
    answer = client.post("/console/new/", {"title": "Bridges", "slug": "bridges", "summary": "", "family": "wireframe"})
    assert answer.url == "/console/challenges/bridges/"
    made = Challenge.objects.get(slug="bridges")
    assert (made.visibility, list(made.organizers.all())) == ("draft", [people.staff])
    assert {entry.action for entry in made.audit.all()} == {"challenge.create", "organizer.add"}


def test_only_whom_the_setting_allows_makes_challenges(client, people, settings):
    client.force_login(people.stranger)
    assert client.post("/console/new/", {"title": "B", "slug": "b", "family": "wireframe"}).status_code == 403
    refused = client.get("/console/new/").content.decode()
    assert "only staff can start a challenge" in refused and "challenge's organizer" not in refused
    settings.CREATE_CHALLENGES = "anyone"
    assert client.post("/console/new/", {"title": "B", "slug": "b", "family": "wireframe"}).status_code == 302


def test_a_taken_address_is_said_at_the_field(client, people, challenge):
    client.force_login(people.staff)
    answer = client.post("/console/new/", {"title": "Again", "slug": challenge.slug, "family": "wireframe"})
    assert faults(answer) == {"slug": ["unique"]}


def test_a_challenge_of_meshes_is_made_in_the_browser(client, people):
    client.force_login(people.staff)
    page = client.get("/console/new/").content.decode()
    assert '<option value="mesh">Meshes</option>' in page
    client.post("/console/new/", {"title": "Objects", "slug": "objects", "summary": "", "family": "mesh"})
    challenge = Challenge.objects.get(slug="objects")
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final")
    at = "/console/challenges/objects/phases/final/"

    form = client.get(f"{at}reference/").content.decode()
    assert "Meshes" in form and "(.glb, .gltf, .obj, .ply, .stl, .off)" in form and "Wireframe" not in form
    metrics = client.get(f"{at}metrics/").content.decode()
    assert "chamfer_l1" in metrics and "corner_f1" not in metrics
    assert client.get(f"{at}metrics/new/corner_f1/").status_code == 404
    assert client.get(f"{at}metrics/new/chamfer_l1/").status_code == 200

    refused = client.post(f"{at}reference/", upload(archive(gables(1))))
    assert refusal(refused) == "bad_reference" and not phase.references.exists()
    vertices, faces = np.eye(4, 3), np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    client.post(f"{at}reference/", upload(write_ply(Mesh(vertices, faces)), name="pyramid.ply"))
    stored = phase.references.get()
    assert (stored.item_ids, stored.bounds) == (["pyramid"], [[4, 4]])
    assert (stored.items()["pyramid"].vertices == vertices).all()


NOUNS = {"item_noun": "house", "unit_noun": "street", "tags": "Roofs, lidar roofs", "licence": "CC-BY-4.0"}


def test_settings_are_saved_and_kept_with_the_values_before(desk, challenge, people, at):
    values = {
        "title": "New title",
        "summary": "",
        "description": "One\r\ntwo\r\n",
        "rules": "Be fair.",
        "rules_version": "1",
        "team_size": "3",
        **NOUNS,
    }
    assert desk.post(at("settings/"), values).status_code == 302
    before, challenge = challenge.title, Challenge.objects.get(pk=challenge.pk)
    assert (challenge.title, challenge.description, challenge.team_size) == ("New title", "One\ntwo\n", 3)
    assert (challenge.item_noun, challenge.unit_noun) == ("house", "street")
    assert (challenge.tags, challenge.licence) == (["roofs", "lidar"], "CC-BY-4.0")
    entry = latest(challenge)
    assert (entry.action, entry.actor, entry.detail["before"]["title"], entry.detail["after"]["title"]) == (
        "challenge.edit",
        people.organizer,
        before,
        "New title",
    )


def test_a_licence_that_is_neither_an_address_nor_a_name_is_refused_in_a_sentence(desk, challenge, at):
    values = {"title": challenge.title, "description": "", "rules": "Be fair.", "rules_version": "1"} | NOUNS
    answer = desk.post(at("settings/"), values | {"licence": "javascript://example.org"})
    assert list(faults(answer)) == ["licence"]
    assert Challenge.objects.get(pk=challenge.pk).licence == ""


def test_new_rules_tell_how_many_have_to_accept_them_again(desk, challenge, at):
    values = {"title": challenge.title, "description": "", "rules": "Be kind.", "rules_version": "2"} | NOUNS
    answer = desk.post(at("settings/"), values)
    assert Challenge.objects.get(pk=challenge.pk).rules_version == "1"
    confirm(desk, answer)
    assert Challenge.objects.get(pk=challenge.pk).rules_version == "2"


def test_a_confirmation_of_something_else_is_asked_again(desk, challenge, at):
    values = {"title": challenge.title, "description": "", "rules": "Be kind.", "rules_version": "2", "confirmed": "0" * 64} | NOUNS
    answer = desk.post(at("settings/"), values)
    assert answer.context["changed"]
    assert Challenge.objects.get(pk=challenge.pk).rules_version == "1"


def test_a_private_challenge_gets_a_link_and_a_new_one_ends_it(desk, challenge, people, at):
    answer = desk.post(at("access/"), {"visibility": "private", "admitted_emails": "Ann@Example.org\nbo@example.org\nann@example.org"})
    assert answer.status_code == 302
    challenge.refresh_from_db()
    assert challenge.admitted_emails == ["ann@example.org", "bo@example.org"]
    first = challenge.access_key
    assert len(first) >= 20 and first in desk.get(at("access/")).content.decode()
    desk.post(at("access/"), {"act": "rotate"})
    challenge.refresh_from_db()
    assert challenge.access_key not in ("", first)
    assert (latest(challenge).action, latest(challenge).actor) == ("link.rotate", people.organizer)
    assert first not in str([entry.detail for entry in challenge.audit.all()])


def test_going_public_is_confirmed(desk, challenge, at):
    Challenge.objects.filter(pk=challenge.pk).update(visibility="draft")
    answer = desk.post(at("access/"), {"visibility": "public", "admitted_emails": ""})
    assert Challenge.objects.get(pk=challenge.pk).visibility == "draft"
    confirm(desk, answer)
    assert Challenge.objects.get(pk=challenge.pk).visibility == "public"


def test_a_wrong_address_on_the_list_is_named(desk, challenge, at):
    answer = desk.post(at("access/"), {"visibility": "private", "admitted_emails": "ann"})
    assert faults(answer) == {"admitted_emails": ["bad_address"]}


def test_the_bundle_to_download_holds_the_challenge(desk, phase, at):
    answer = desk.get(at("bundle.zip"))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as package:
        names = package.namelist()
    root = phase.challenge.slug
    assert f"{root}/challenge.yaml" in names and f"{root}/phases/{phase.slug}/reference/house_01.json" in names


def test_an_empty_draft_is_deleted_once_its_address_is_typed(desk, phase, people, at, django_capture_on_commit_callbacks):
    challenge, key = phase.challenge, phase.references.get().key
    assert refusal(desk.post(at("delete/"), {"slug": challenge.slug})) == "not_draft"
    Challenge.objects.filter(pk=challenge.pk).update(visibility="draft")
    desk.post(at("delete/"), {"slug": "something"})
    assert Challenge.objects.filter(pk=challenge.pk).exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert desk.post(at("delete/"), {"slug": challenge.slug}).url == "/console/"
    assert not Challenge.objects.filter(pk=challenge.pk).exists()
    assert not stored_files.store().exists(key)


def test_a_draft_with_entries_is_not_deleted(desk, phase, people, at):
    received(phase, people.team, archive(gables()))
    Challenge.objects.filter(pk=phase.challenge_id).update(visibility="draft")
    assert refusal(desk.post(at("delete/"), {"slug": phase.challenge.slug})) == "has_entries"
