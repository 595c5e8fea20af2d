"""Acts that change what a challenge is: each does it, keeps it in the log, and asks first where it takes something away."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import EvaluationBatch
from leaderboard.bundle.moments import moment_text
from leaderboard.console.forms import MOMENTS, PhaseForm
from submissions import storage
from submissions.errors import Refused
from submissions.formats.arrays import Mesh
from submissions.formats.families import WIREFRAME
from submissions.formats.mesh import write_ply
from submissions.models import Announcement, AuditEntry, Challenge, ChallengeFile, Phase
from tests.factories import archive, gables, received


def latest(challenge) -> AuditEntry:
    return challenge.audit.order_by("-id").first()


def confirm(client, answer):
    """Send the form of a confirming page."""
    assert answer.status_code == 200 and "Nothing is changed yet" in answer.content.decode()
    fields: dict[str, list[str]] = {}
    for name, value in answer.context["fields"]:
        fields.setdefault(name, []).append(value)
    return client.post(answer.wsgi_request.path, {**fields, "confirmed": answer.context["plan"].digest})


def phase_form(phase, **changes) -> dict[str, object]:
    """What a browser sends for the phase as it stands, with some fields changed."""
    form = PhaseForm(instance=phase)
    values = {name: form[name].value() for name in form.fields}
    values = {name: value for name, value in values.items() if value not in (None, False)}
    return {**values, **changes}


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
    settings.CREATE_CHALLENGES = "anyone"
    assert client.post("/console/new/", {"title": "B", "slug": "b", "family": "wireframe"}).status_code == 302


def test_a_taken_address_is_said_at_the_field(client, people, challenge):
    client.force_login(people.staff)
    answer = client.post("/console/new/", {"title": "Again", "slug": challenge.slug, "family": "wireframe"})
    assert "already exists" in str(answer.context["form"].errors["slug"])


def test_settings_are_saved_and_kept_with_the_values_before(desk, challenge, people, at):
    values = {
        "title": "New title",
        "summary": "",
        "description": "One\r\ntwo\r\n",
        "rules": "Be fair.",
        "rules_version": "1",
        "team_size": "3",
    }
    assert desk.post(at("settings/"), values).status_code == 302
    before, challenge = challenge.title, Challenge.objects.get(pk=challenge.pk)
    assert (challenge.title, challenge.description, challenge.team_size) == ("New title", "One\ntwo\n", 3)
    entry = latest(challenge)
    assert (entry.action, entry.actor, entry.detail["before"]["title"], entry.detail["after"]["title"]) == (
        "challenge.edit", people.organizer, before, "New title",
    )  # fmt: skip


def test_saving_without_a_change_writes_nothing(desk, phase, at):
    assert desk.post(at(f"phases/{phase.slug}/"), phase_form(phase)).status_code == 302
    assert not AuditEntry.objects.filter(action="phase.edit").exists()


def test_new_rules_tell_how_many_have_to_accept_them_again(desk, challenge, at):
    values = {"title": challenge.title, "description": "", "rules": "Be kind.", "rules_version": "2"}
    answer = desk.post(at("settings/"), values)
    assert "3 participants have to accept the rules again" in answer.content.decode()
    assert Challenge.objects.get(pk=challenge.pk).rules_version == "1"
    confirm(desk, answer)
    assert Challenge.objects.get(pk=challenge.pk).rules_version == "2"


def test_a_confirmation_of_something_else_is_asked_again(desk, challenge, at):
    values = {"title": challenge.title, "description": "", "rules": "Be kind.", "rules_version": "2", "confirmed": "0" * 64}
    answer = desk.post(at("settings/"), values)
    assert "Somebody else changed the challenge meanwhile" in answer.content.decode()
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
    assert "Everybody will see the challenge" in answer.content.decode()
    confirm(desk, answer)
    assert Challenge.objects.get(pk=challenge.pk).visibility == "public"


def test_a_wrong_address_on_the_list_is_named(desk, challenge, at):
    answer = desk.post(at("access/"), {"visibility": "private", "admitted_emails": "ann"})
    assert "“ann” is no e-mail address" in answer.content.decode()


def test_a_new_phase_takes_its_moments_on_its_own_clocks(desk, challenge, at):
    values = phase_form(Phase(challenge=challenge), slug="final", title="Final", time_zone="Europe/Prague", opens_at="2026-07-01T09:00")
    answer = desk.post(at("new-phase/"), values)
    assert answer.url == at("phases/final/metrics/")
    assert challenge.phases.get(slug="final").opens_at == datetime(2026, 7, 1, 7, tzinfo=UTC)
    assert challenge.audit.filter(action="phase.add", target="phase final").exists()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("opens_at", "2026-03-29T02:30", "skip 02:30"),
        ("opens_at", "soon", "such as 2026-12-14T23:59"),
        ("closes_at", "2020-01-01T00:00", "closes before it opens"),
        ("time_zone", "Europe/Pragu", "no IANA time zone"),
        ("slug", "rules", "own pages"),
        ("unit_scale", "0", "above 0"),
        ("board", "hidden", "Say from when"),
    ],
)
def test_what_a_phase_cannot_be_is_said_at_the_field(desk, challenge, at, field, value, words):
    values = phase_form(Phase(challenge=challenge), slug="final", title="Final", time_zone="Europe/Prague", opens_at="2026-01-01T09:00")
    assert words in desk.post(at("new-phase/"), {**values, field: value}).content.decode()
    assert not challenge.phases.exists()


def test_limits_and_board_of_a_phase_are_edited_with_a_line_in_the_log(desk, phase, people, at):
    before = {name: getattr(phase, name) for name in MOMENTS}
    desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, limit_per_day="5", ranking="borda"))
    phase.refresh_from_db()
    assert (phase.limit_per_day, phase.ranking) == (5, "borda")
    assert {name: getattr(phase, name) for name in MOMENTS} == before  # also the parts of a second
    entry = latest(phase.challenge)
    assert (entry.action, entry.actor) == ("phase.edit", people.organizer)
    assert entry.detail == {"before": {"ranking": "primary"}, "after": {"limit_per_day": 5, "ranking": "borda"}}


def test_an_hour_that_comes_twice_survives_a_visit_of_its_form(desk, phase, at):
    at_night = datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    Phase.objects.filter(pk=phase.pk).update(time_zone="Europe/Prague", closes_at=at_night)
    phase.refresh_from_db()
    assert moment_text(at_night, phase.zone).endswith("+01:00")
    desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, limit_total="9"))
    phase.refresh_from_db()
    assert (phase.closes_at, phase.limit_total) == (at_night, 9)


def test_showing_the_reference_is_confirmed(desk, phase, at):
    answer = desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, reference_access="public"))
    assert "Everybody will be able to see the hidden reference" in answer.content.decode()
    assert Phase.objects.get().reference_access == "hidden"


def test_an_empty_phase_is_removed_after_confirming_and_one_with_entries_stays(desk, phase, people, at):
    path = at(f"phases/{phase.slug}/")
    answer = desk.post(path, {"act": "remove"})
    assert Phase.objects.exists()
    received(phase, people.team, archive(gables()))
    refused = desk.post(path, {"act": "remove"}, follow=True)
    assert "has 1 entry, so it cannot be removed" in refused.content.decode()
    phase.submissions.all().delete()
    confirm(desk, answer)
    assert not Phase.objects.exists()
    assert AuditEntry.objects.filter(action="phase.remove").exists()


def test_phases_are_put_in_another_order(desk, phase, at):
    Phase.objects.create(challenge=phase.challenge, slug="second", title="Second", position=1)
    desk.post(at(), {"act": "move", "slug": "second", "to": "up"})
    assert [it.slug for it in phase.challenge.phases.all()] == ["second", phase.slug]


def metric_values(**changes) -> dict[str, object]:
    return {
        "slug": "hss-2",
        "title": "",
        "weight": "1",
        "in_ranking": "on",
        "param_vert_thresh": "0.25",
        "param_edge_thresh": "0.5",
        "param_sections": "6",
        **changes,
    }


def test_a_metric_is_added_with_typed_parameters(desk, phase, people, at):
    path = at(f"phases/{phase.slug}/metrics/new/hss/")
    assert "More than 0 m; default: 0.5." in desk.get(path).content.decode()
    desk.post(path, metric_values())
    metric = phase.metrics.get(slug="hss-2")
    assert (metric.params, metric.position) == ({"vert_thresh": 0.25}, 3)
    assert [m["slug"] for m in EvaluationBatch.current(phase).metrics] == ["corner_f1", "edge_f1", "hss", "hss-2"]
    assert phase.challenge.audit.get(action="metric.add").actor == people.organizer


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("param_vert_thresh", "0", "must be more than 0"), ("param_sections", "2", "greater than or equal to 3"),
        ("slug", "hss", "already"), ("slug", "H!", "small letters"), ("weight", "-1", "greater than or equal to 0"),
    ],
)  # fmt: skip
def test_a_parameter_out_of_range_is_said_at_the_field(desk, phase, at, field, value, words):
    answer = desk.post(at(f"phases/{phase.slug}/metrics/new/hss/"), metric_values(**{field: value}))
    assert words in answer.content.decode()
    assert phase.metrics.count() == 3


def test_another_parameter_shows_how_many_entries_are_scored_anew(desk, phase, scored, at):
    scored(0.1)
    answer = desk.post(at(f"phases/{phase.slug}/metrics/edit/hss/"), metric_values(param_vert_thresh="0.3"))
    assert "1 entry is scored anew" in answer.content.decode()
    assert EvaluationBatch.objects.filter(phase=phase).count() == 1
    confirm(desk, answer)
    assert EvaluationBatch.latest(phase).state == "building"
    assert phase.metrics.get(slug="hss").params == {"vert_thresh": 0.3}


def test_metrics_are_ordered_made_primary_and_removed(desk, phase, at):
    path = at(f"phases/{phase.slug}/metrics/")
    desk.post(path, {"act": "move", "slug": "hss", "to": "up"})
    desk.post(path, {"act": "primary", "slug": "hss"})
    assert [(m.slug, m.is_primary) for m in phase.metrics.all()] == [("corner_f1", False), ("hss", True), ("edge_f1", False)]
    assert [m["slug"] for m in EvaluationBatch.current(phase).metrics] == ["corner_f1", "hss", "edge_f1"]
    confirm(desk, desk.post(path, {"act": "remove", "slug": "hss"}))
    assert [(m.slug, m.is_primary) for m in phase.metrics.all()] == [("corner_f1", True), ("edge_f1", False)]
    assert phase.challenge.audit.filter(action="metric.remove").exists()


def test_the_last_metric_stays(desk, phase, at):
    path = at(f"phases/{phase.slug}/metrics/")
    for slug in ("hss", "edge_f1"):
        confirm(desk, desk.post(path, {"act": "remove", "slug": slug}))
    answer = desk.post(path, {"act": "remove", "slug": "corner_f1"}, follow=True)
    assert "keeps at least one metric" in answer.content.decode()


def upload(data: bytes, name: str = "reference.zip", **values) -> dict[str, object]:
    return {"file": SimpleUploadedFile(name, data), "note": "Second survey", "groups": "", **values}


def test_a_new_reference_is_kept_first_and_put_in_force_after_confirming(desk, phase, scored, people, at):
    scored(0.1)
    path = at(f"phases/{phase.slug}/reference/")
    desk.post(path, upload(archive(gables(5)), groups="house_01 north\nhouse_02 north"))
    second = phase.references.get(version=2)
    # The order is by group, then by name, and a group without a word of its own is named after its item.
    assert (second.item_ids, second.groups) == (
        ["house_03", "house_04", "house_05", "house_01", "house_02"],
        ["house_03", "house_04", "house_05", "north", "north"],
    )
    assert (second.note, second.created_by) == ("Second survey", people.organizer)
    assert EvaluationBatch.latest(phase).reference.version == 1
    answer = desk.post(path, {"act": "use", "version": "2"})
    assert "version 2, 5 items (1 added)" in answer.content.decode()
    assert "worst value there" in answer.content.decode()
    assert confirm(desk, answer).url == at(f"phases/{phase.slug}/scoring/")  # where the bar is
    assert EvaluationBatch.latest(phase).reference == second
    actions = set(phase.challenge.audit.filter(actor=people.organizer).values_list("action", flat=True))
    assert {"reference.store", "reference.edit", "phase.reevaluate"} <= actions


def test_the_first_reference_begins_the_scoring(desk, challenge, at):
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final")
    desk.post(at("phases/final/reference/"), upload(archive(gables(2))))
    assert EvaluationBatch.current(phase) is None
    desk.post(at("phases/final/metrics/new/hss/"), metric_values(slug="hss"))
    phase.refresh_from_db()
    assert EvaluationBatch.current(phase).reference.version == 1
    assert phase.manifest.item_ids == ("house_01", "house_02")


@pytest.mark.parametrize(
    ("data", "values", "words"),
    [
        (b"PK\x03\x04 nothing", {}, "broken zip archive"),
        (b"v 0 0 0\nv nan 0 0\nl 1 2\n", {"name": "house.obj"}, "line 2"),
        (b"v 0 0 0\nv 0 0 0\nl 1 2\n", {"name": "house.obj"}, "at least one edge with a length"),
        (archive(gables(1)), {"groups": "shed north"}, "no item shed"),
    ],
    # Not by the bytes: an archive holds the time it was made, and test processes must agree on names.
    ids=("broken", "not finite", "without length", "unknown item"),
)
def test_a_reference_that_cannot_be_is_refused_in_a_sentence(desk, phase, at, data, values, words):
    answer = desk.post(at(f"phases/{phase.slug}/reference/"), upload(data, **values), follow=True)
    assert words in answer.content.decode()
    assert phase.references.count() == 1


@pytest.mark.parametrize("name", ["job.json", "result.json", "error.txt", "artifact.npz"])
def test_a_reference_may_have_the_name_of_a_file_that_the_job_itself_uses(name):
    from leaderboard.console.acts import read_reference
    from submissions.formats.wireframe import pack, write_json

    house = gables(1)["house_01"]
    data = {"job.json": write_json(house), "result.json": write_json(house), "artifact.npz": pack({"x": house})}.get(name, b"words")
    try:
        assert list(read_reference(name, [data], WIREFRAME)) == [name.partition(".")[0]]
    except Refused as refused:
        assert name in refused.sentence or "wireframe" in refused.sentence


def test_a_reference_that_takes_long_to_read_is_stopped_and_says_so(monkeypatch, settings):
    from evaluation.sandbox import JobFailed, Sandbox
    from leaderboard.console.acts import read_reference

    settings.READ_SECONDS, limits_given = 1, []

    def slow(self, folder, job, heartbeat, seconds=None):
        limits_given.append(seconds)
        raise JobFailed("time", "", seconds)

    monkeypatch.setattr(Sandbox, "run", slow)
    with pytest.raises(Refused, match="within the 1 s one job may take"):
        read_reference("house.obj", [b"v 0 0 0\n"], WIREFRAME)
    assert limits_given == [1]


def test_nobody_keeps_the_web_process_busy_with_one_reference_after_another(desk, phase, at, settings):
    settings.REFERENCE_RATE = "1/h"
    path = at(f"phases/{phase.slug}/reference/")
    assert desk.post(path, upload(archive(gables(2)))).status_code == 302
    answer = desk.post(path, upload(archive(gables(3))), follow=True)
    assert "more than 1 requests of this kind; go on in" in answer.content.decode() and phase.references.count() == 2


def test_a_reference_that_leads_outside_its_archive_is_refused(desk, phase, at):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("../../house.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n")
    answer = desk.post(at(f"phases/{phase.slug}/reference/"), upload(buffer.getvalue()), follow=True)
    assert "leads outside the archive" in answer.content.decode()


def test_files_are_added_replaced_and_removed(desk, phase, people, at, django_capture_on_commit_callbacks):
    path = at("files/")
    values = {"act": "add", "title": "Points", "kind": "input", "phase": str(phase.pk)}
    desk.post(path, {**values, "file": SimpleUploadedFile("points.zip", b"points")})
    row = ChallengeFile.objects.get()
    assert (row.phase, row.name, row.title, storage.store().read(row.key)) == (phase, "points.zip", "Points", b"points")
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(path, {**values, "file": SimpleUploadedFile("points.zip", b"more")})
    again = ChallengeFile.objects.get()
    assert (again.pk, storage.store().read(again.key), storage.store().exists(row.key)) == (row.pk, b"more", False)
    confirm(desk, desk.post(path, {"act": "remove", "file": str(row.pk)}))
    assert not ChallengeFile.objects.exists()
    actions = list(phase.challenge.audit.filter(actor=people.organizer).order_by("id").values_list("action", flat=True))
    assert actions == ["file.add", "file.edit", "file.remove"]


def test_announcements_are_published_corrected_and_taken_back(desk, challenge, people, at):
    desk.post(at("news/"), {"title": "Data", "body": "It is there."})
    row = Announcement.objects.get()
    desk.post(at(f"news/{row.pk}/"), {"title": "Data", "body": "It is **there**."})
    row.refresh_from_db()
    assert row.body == "It is **there**."
    confirm(desk, desk.post(at(f"news/{row.pk}/"), {"act": "remove"}))
    assert not Announcement.objects.exists()
    actions = list(challenge.audit.filter(actor=people.organizer).order_by("id").values_list("action", flat=True))
    assert actions == ["announcement.add", "announcement.edit", "announcement.remove"]


def test_organizers_are_added_and_removed_and_one_always_stays(desk, challenge, people, at):
    path = at("organizers/")
    assert "has no account here" in desk.post(path, {"act": "add", "name": "nobody"}, follow=True).content.decode()
    desk.post(path, {"act": "add", "name": "stranger"})
    assert people.stranger in challenge.organizers.all()
    assert latest(challenge).action == "organizer.add"
    confirm(desk, desk.post(path, {"act": "remove", "name": "stranger"}))
    assert people.stranger not in challenge.organizers.all()
    answer = desk.post(path, {"act": "remove", "name": "organizer"})
    assert answer.status_code == 302 and people.organizer in challenge.organizers.all()


def test_an_empty_draft_is_deleted_once_its_address_is_typed(desk, phase, people, at, django_capture_on_commit_callbacks):
    challenge, key = phase.challenge, phase.references.get().key
    answer = desk.post(at("delete/"), {"slug": challenge.slug}, follow=True)
    assert "Only a draft can be deleted" in answer.content.decode()
    Challenge.objects.filter(pk=challenge.pk).update(visibility="draft")
    desk.post(at("delete/"), {"slug": "something"})
    assert Challenge.objects.filter(pk=challenge.pk).exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert desk.post(at("delete/"), {"slug": challenge.slug}).url == "/console/"
    assert not Challenge.objects.filter(pk=challenge.pk).exists()
    assert not storage.store().exists(key)


def test_a_draft_with_entries_is_not_deleted(desk, phase, people, at):
    received(phase, people.team, archive(gables()))
    Challenge.objects.filter(pk=phase.challenge_id).update(visibility="draft")
    answer = desk.post(at("delete/"), {"slug": phase.challenge.slug}, follow=True)
    assert "has entries, so it stays" in answer.content.decode()


def test_the_bundle_to_download_holds_the_challenge(desk, phase, at):
    answer = desk.get(at("bundle.zip"))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as package:
        names = package.namelist()
    root = phase.challenge.slug
    assert f"{root}/challenge.yaml" in names and f"{root}/phases/{phase.slug}/reference/house_01.json" in names


def test_a_full_disk_is_said_on_the_page(desk, phase, at, monkeypatch):
    def full(*arguments):
        raise storage.StorageError("The server's disk is full; try again later.")

    monkeypatch.setattr(type(storage.store()), "save_file", full)
    values = {"act": "add", "title": "", "kind": "input", "phase": "", "file": SimpleUploadedFile("points.zip", b"points")}
    assert "disk is full" in desk.post(at("files/"), values, follow=True).content.decode()
    assert not ChallengeFile.objects.exists()


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

    refused = client.post(f"{at}reference/", upload(archive(gables(1))), follow=True).content.decode()
    assert "at least one face with an area" in refused and not phase.references.exists()
    vertices, faces = np.eye(4, 3), np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    client.post(f"{at}reference/", upload(write_ply(Mesh(vertices, faces)), name="pyramid.ply"))
    stored = phase.references.get()
    assert (stored.item_ids, stored.bounds) == (["pyramid"], [[4, 4]])
    assert (stored.items()["pyramid"].vertices == vertices).all()
