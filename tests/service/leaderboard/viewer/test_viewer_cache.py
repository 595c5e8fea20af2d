"""Data of the 3D view: computed once, told apart by an ETag, and asked permission for every time."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.viewer import mesh_scene, viewer_cache, wireframe_scene
from submissions.models import Challenge, Phase, Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.factories import MESH_METRICS, ChallengeFactory, PhaseFactory, TeamFactory, boxes, gables, give_reference
from tests.support.leaderboard.scores import entry, with_files

pytestmark = pytest.mark.django_db


def made(family: str) -> Submission:
    phase = PhaseFactory(challenge=ChallengeFactory(family=family), reference_access="public")
    team = TeamFactory(challenge=phase.challenge)
    if family == "mesh":
        give_reference(phase, boxes(), MESH_METRICS)
        return with_files(entry(phase, team, {"chamfer_l1": [0.1, 0.2]}, method_name="box-net"), boxes(1.25))
    give_reference(phase, gables(2))
    return with_files(entry(phase, team, {"hss": [0.1, 0.2]}, method_name="ridge-net"), gables(2))


@pytest.fixture(params=["wireframe", "mesh"])
def scene(request, monkeypatch):
    """(an entry, the address of one of its items, the list that every computing is noted in)."""
    it = made(request.param)
    module = {"wireframe": wireframe_scene, "mesh": mesh_scene}[request.param]
    computed, original = [], module.scene
    monkeypatch.setattr(module, "scene", lambda *args, **more: computed.append(1) or original(*args, **more))
    name, item = ("entry_meshes", "box_1") if request.param == "mesh" else ("entry_geometry", "house_01")
    return it, reverse(name, args=[it.pk, item]), computed


def test_it_is_computed_once_and_sent_again_as_it_was(client, scene) -> None:
    it, address, computed = scene
    first, second = client.get(address), Client().get(address)
    assert first.status_code == second.status_code == 200 and first.content == second.content
    assert len(computed) == 1 and first["Cache-Control"] == "private, no-cache" and first["ETag"] == second["ETag"]
    digest, suffix = first["ETag"].strip('"'), address.rsplit(".", 1)[1]
    assert stored_files.store().read(f"geometry/{it.pk}/{digest}.{suffix}") == first.content


def test_a_browser_that_has_it_is_told_so_without_a_look_at_the_files(client, scene, monkeypatch) -> None:
    _, address, computed = scene
    etag = client.get(address)["ETag"]
    monkeypatch.setattr(stored_files, "store", lambda: pytest.fail("nothing needs to be read"))
    again = client.get(address, headers={"if-none-match": etag})
    assert (again.status_code, again.content, again["ETag"], again["Cache-Control"]) == (304, b"", etag, "private, no-cache")
    assert len(computed) == 1


def test_who_may_no_longer_see_the_reference_is_refused_whatever_they_hold(client, scene) -> None:
    it, address, _ = scene
    etag = client.get(address)["ETag"]
    Phase.objects.filter(pk=it.phase_id).update(reference_access="hidden")
    assert client.get(address, headers={"if-none-match": etag}).status_code == 403


def test_another_name_unit_or_artifact_is_another_answer(client, scene) -> None:
    it, address, _ = scene
    etags = {client.get(address)["ETag"]}
    Submission.objects.filter(pk=it.pk).update(method_name="renamed")
    etags.add(client.get(address)["ETag"])
    Phase.objects.filter(pk=it.phase_id).update(unit="cm")
    etags.add(client.get(address)["ETag"])
    with_files(it, boxes(2.0) if it.phase.challenge.family == "mesh" else gables(1))
    etags.add(client.get(address)["ETag"])
    assert len(etags) == 4


def test_a_full_disk_costs_the_copy_but_not_the_answer(client, scene, monkeypatch) -> None:
    _, address, computed = scene

    def full(self, key, data):
        raise StorageError("The server's disk is full.")

    monkeypatch.setattr(type(stored_files.store()), "save_bytes", full)
    assert client.get(address).status_code == client.get(address).status_code == 200 and len(computed) == 2


def test_whose_turn_does_not_come_is_told_to_come_again(client, monkeypatch) -> None:
    it = made("mesh")
    monkeypatch.setattr(viewer_cache, "BUSY_SECONDS", 0.01)
    address = reverse("entry_meshes", args=[it.pk, "box_1"])
    with viewer_cache._HEAVY:
        busy = client.get(address)
    assert busy.status_code == 503 and json.loads(busy.content)["code"] == "busy" and busy["Cache-Control"] == "no-store"
    assert client.get(address).status_code == 200


def test_the_pages_of_a_mesh_have_one_view_and_no_data_of_a_hidden_reference(client) -> None:
    it = made("mesh")
    other = with_files(entry(it.phase, it.team, {"chamfer_l1": [0.3, 0.1]}, method_name="other-net"), boxes(1.5))
    item = reverse("entry_item", args=[it.pk, "box_1"])
    compare = f"{reverse('compare', args=[it.phase.challenge.slug, it.phase.slug])}?a={it.pk}&b={other.pk}&item=box_1"
    ours, theirs = (reverse("entry_meshes", args=[one.pk, "box_1"]) for one in (it, other))
    page = client.get(item).content.decode()
    assert f'data-meshes-later="{ours}"' in page and "<script" in page and 'viewer/viewer.js" defer' not in page
    page = " ".join(client.get(compare).content.decode().split())
    assert f'data-meshes-later="{ours}" data-meshes-b="{theirs}"' in page and page.count('class="viewer poster"') == 1
    Phase.objects.filter(pk=it.phase_id).update(reference_access="hidden")
    for address in (item, compare):
        assert "data-meshes" not in client.get(address).content.decode()


def test_each_family_has_its_own_address(client) -> None:
    it = made("mesh")
    assert client.get(reverse("entry_geometry", args=[it.pk, "box_1"])).status_code == 404
    Challenge.objects.update(family="wireframe")
    assert client.get(reverse("entry_meshes", args=[it.pk, "box_1"])).status_code == 404
