"""Acts on a phase's reference: kept first, put in force after confirming, and read as hostile bytes."""

from __future__ import annotations

import io
import zipfile

import pytest

from evaluation.models import EvaluationBatch
from submissions.errors import Refused
from submissions.kinds import WIREFRAME
from submissions.models import Phase
from tests.support.factories import archive, gables
from tests.support.leaderboard.console.acts import confirm, metric_values, upload
from tests.support.pages import refusal


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
    ("data", "values", "code"),
    [
        (b"PK\x03\x04 nothing", {}, "bad_reference"),
        (b"v 0 0 0\nv nan 0 0\nl 1 2\n", {"name": "house.obj"}, "bad_reference"),
        (b"v 0 0 0\nv 0 0 0\nl 1 2\n", {"name": "house.obj"}, "bad_reference"),
        (archive(gables(1)), {"groups": "shed north"}, "unknown_item"),
    ],
    # Not by the bytes: an archive holds the time it was made, and test processes must agree on names.
    ids=("broken", "not finite", "without length", "unknown item"),
)
def test_a_reference_that_cannot_be_is_refused(desk, phase, at, data, values, code):
    assert refusal(desk.post(at(f"phases/{phase.slug}/reference/"), upload(data, **values))) == code
    assert phase.references.count() == 1


@pytest.mark.parametrize("name", ["job.json", "result.json", "error.txt", "artifact.npz"])
def test_a_reference_may_have_the_name_of_a_file_that_the_job_itself_uses(name):
    from leaderboard.console.acts import read_reference
    from submissions.formats.wireframe.wireframe_files import pack, write_json

    house = gables(1)["house_01"]
    data = {"job.json": write_json(house), "result.json": write_json(house), "artifact.npz": pack({"x": house})}.get(name, b"words")
    try:
        assert list(read_reference(name, [data], WIREFRAME)) == [name.partition(".")[0]]
    except Refused as refused:
        assert name in refused.sentence or "wireframe" in refused.sentence  # noqa: PT017 - either is fine: read, or refused so


def test_a_reference_that_takes_long_to_read_is_stopped_and_says_so(monkeypatch, settings):
    from evaluation.work.sandbox import JobFailed, sandbox
    from leaderboard.console.acts import read_reference

    settings.READ_SECONDS, limits_given = 1, []

    def slow(folder, job, heartbeat, seconds=None):
        limits_given.append(seconds)
        raise JobFailed("time", "", seconds)

    monkeypatch.setattr(sandbox, "run", slow)
    with pytest.raises(Refused, match="within the 1 s that one job may take"):
        read_reference("house.obj", [b"v 0 0 0\n"], WIREFRAME)
    assert limits_given == [1]


def test_nobody_keeps_the_web_process_busy_with_one_reference_after_another(desk, phase, at, settings):
    settings.REFERENCE_RATE = "1/h"
    path = at(f"phases/{phase.slug}/reference/")
    assert desk.post(path, upload(archive(gables(2)))).status_code == 302
    assert refusal(desk.post(path, upload(archive(gables(3))))) == "too_many_requests" and phase.references.count() == 2


def test_a_reference_that_leads_outside_its_archive_is_refused(desk, phase, at):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("../../house.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n")
    assert refusal(desk.post(at(f"phases/{phase.slug}/reference/"), upload(buffer.getvalue()))) == "bad_reference"
    assert phase.references.count() == 1
