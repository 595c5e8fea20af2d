"""Entries and references that an earlier reader gave as other surfaces: what is stored is found, and organizers decide about new values."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from functools import partial
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from PIL import Image

from evaluation.models import Evaluation, EvaluationBatch, Reference, Score
from evaluation.work import rereading
from evaluation.work.worker import drain
from leaderboard.boards import snapshots
from leaderboard.wording.figures import number
from submissions.entry_states import Reason, Why
from submissions.errors import Refused
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import read_mesh, write_obj
from submissions.formats.render.views import Render, View, render
from submissions.kinds import MESH, RENDER, same
from submissions.models import AuditEntry, Phase, Status, Submission
from submissions.storage import stored_files
from tests.support.factories import ChallengeFactory, PhaseFactory, give_reference, received
from tests.support.submissions.hostile.renders import file_of
from tests.support.submissions.profiles import SRGB_CURVE, gamma_profile

# A slab in the form of an L, 1 m high: each side is one polygon, and the fans around the first corners of its floor and ceiling overlap.
L = [(2, 0), (2, 1), (1, 1), (1, 2), (0, 2), (0, 0)]
CEILING = [6, 7, 8, 9, 10, 11]
FLOOR = [0, 5, 4, 3, 2, 1]
SLAB = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in L)
SLAB += "".join(f"f {' '.join(str(n + 1) for n in side)}\n" for side in (FLOOR, CEILING))
SLAB += "".join(f"f {n + 1} {(n + 1) % 6 + 1} {(n + 1) % 6 + 7} {n + 7}\n" for n in range(6))
RIGHT = read_mesh(SLAB.encode(), "slab.obj")
FANS = [[side[0], side[n], side[n + 1]] for side in (FLOOR, CEILING) for n in range(1, 5)]
WRONG = Mesh(RIGHT.vertices, np.concatenate([np.array(FANS), RIGHT.faces[8:]]))  # as it was read before


def area(item: Mesh) -> float:
    a, b, c = np.moveaxis(item.vertices[item.faces], 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


LINEAR = gamma_profile(1.0, b"sRGB linear")


def zipped(name: str, data: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr(name, data)
    return buffer.getvalue()


def package(text: str) -> bytes:
    return zipped("slab.obj", text)


@pytest.fixture
def challenge(db):
    return ChallengeFactory(family="mesh")


@pytest.fixture
def phase(challenge):
    phase = PhaseFactory(challenge=challenge)
    metric = {"slug": "chamfer_l1", "key": "chamfer_l1", "params": {"n": 2000}, "is_primary": True}
    give_reference(phase, {"slab": RIGHT}, [metric])
    return phase


@pytest.fixture
def scored_before(phase, people):
    """`scored_before(item, text)`: an entry that was scored as `item` before the upgrade, whose kept file has this text."""

    def send(item: Mesh = WRONG, text: str = SLAB, **values) -> Submission:
        entry = received(phase, people.team, package(write_obj(item).decode()), user=people.owner, **values)
        drain()
        kept = f"uploads/{entry.pk}/kept.zip"  # what lies under a key never changes
        stored_files.store().save_bytes(kept, package(text))
        Submission.objects.filter(pk=entry.pk).update(reader=1, file_key=kept)
        entry.refresh_from_db()
        assert entry.status == Status.SCORED
        return entry

    return send


@pytest.fixture
def committing(django_capture_on_commit_callbacks):
    return partial(django_capture_on_commit_callbacks, execute=True)


def value(entry: Submission) -> float:
    return Score.objects.get(evaluation__submission=entry, evaluation__batch__state="current").value


def items(entry: Submission) -> dict[str, Mesh]:
    return MESH.unpack(stored_files.store().read(entry.artifact_key))


def test_the_two_surfaces_of_these_tests_are_what_they_say() -> None:
    assert area(RIGHT) == pytest.approx(2 * 3 + 8) and area(WRONG) > area(RIGHT) + 0.9
    assert MESH.looks_misread(WRONG) and not MESH.looks_misread(RIGHT)


@pytest.mark.django_db
class TestAnEntry:
    def test_is_scored_again_beside_the_board_and_shown_when_organizers_switch(self, phase, scored_before, committing):
        entry, other = scored_before(), scored_before(RIGHT, method_name="other")
        old, before, of_other = entry.artifact_key, value(entry), value(other)
        found = rereading.read_anew(phase)
        assert ([it.pk for it in found.changed], found.same, found.misread) == ([entry.pk], 1, [])
        batch = found.batch
        assert (
            batch.by_hand and batch.reference == EvaluationBatch.current(phase).reference and batch.reason.endswith(f"entry {entry.number}")
        )
        drain()
        assert batch.progress() == {"done": 2, "failed": 0, "total": 2}
        assert EvaluationBatch.current(phase) != batch and not batch.switch_if_complete(), "it waits for organizers"
        assert value(entry) == before and same(items(entry)["slab"], WRONG)
        with committing():
            assert batch.switch_if_complete(by_hand=True)
        entry.refresh_from_db()
        assert same(items(entry)["slab"], RIGHT) and entry.reader == MESH.reader
        assert value(entry) < before and value(other) == of_other
        assert not stored_files.store().exists(old)
        assert rereading.stale_phases() == []

    def test_keeps_its_values_where_organizers_drop_the_new_ones(self, phase, scored_before, committing):
        entry = scored_before()
        before, batch = value(entry), rereading.read_anew(phase).batch
        new = Evaluation.objects.get(batch=batch).artifact_key
        with committing():
            batch.cancel()
        entry.refresh_from_db()
        assert value(entry) == before and same(items(entry)["slab"], WRONG)
        assert not stored_files.store().exists(new)
        assert rereading.stale_phases() == [], "what was dropped is not prepared again"

    def test_passes_its_new_items_to_a_re_evaluation_that_organizers_begin(self, phase, people, scored_before):
        entry = scored_before()
        rereading.read_anew(phase)
        EvaluationBatch.start(phase)  # as the command of operators does
        drain()
        entry.refresh_from_db()
        assert EvaluationBatch.latest(phase).by_hand and same(items(entry)["slab"], WRONG)
        batch = EvaluationBatch.start(phase, actor=people.organizer)
        drain()
        entry.refresh_from_db()
        assert EvaluationBatch.current(phase) == batch and same(items(entry)["slab"], RIGHT)

    def test_that_failed_in_the_new_batch_is_tried_again_with_its_new_items(self, phase, scored_before):
        scored_before()
        batch = rereading.read_anew(phase).batch
        evaluation = Evaluation.objects.get(batch=batch)
        key = evaluation.artifact_key
        evaluation.fail(Why(Reason.ERROR), "")
        Evaluation.objects.get(batch=batch).retry()
        assert Evaluation.objects.get(batch=batch).artifact_key == key

    def test_that_cannot_be_read_any_more_keeps_its_values(self, phase, scored_before):
        entry = scored_before(text=SLAB + "f 1 2 99\n")
        found = rereading.read_anew(phase)
        assert [one for one, _ in found.refused] == [entry] and "line 21" in found.refused[0][1] and found.batch is None

    def test_whose_file_is_gone_keeps_its_values(self, phase, scored_before):
        entry = scored_before()
        Submission.objects.filter(pk=entry.pk).update(file_key="")
        found = rereading.read_anew(phase)
        assert found.without_file == [entry] and found.batch is None and rereading.stale_phases() == []

    def test_of_a_closed_phase_changes_by_its_organizers_hand_alone(self, phase, scored_before):
        entry = scored_before()
        before = value(entry)
        Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - timedelta(days=1))
        phase.refresh_from_db()
        batch = rereading.read_anew(phase).batch
        drain()
        batch.refresh_from_db()
        assert batch.state == EvaluationBatch.State.BUILDING and value(entry) == before

    def test_is_not_read_while_its_phase_is_being_scored_anew(self, phase, scored_before):
        scored_before()
        EvaluationBatch.start(phase)
        with pytest.raises(Refused) as refused:
            rereading.read_anew(phase)
        assert refused.value.code == "building"
        with pytest.raises(CommandError, match=re.escape(refused.value.sentence)):
            call_command("reread", stdout=StringIO())
        assert rereading.stale_phases() == [phase]


@pytest.mark.django_db
class TestARender:
    """An image of linear values whose profile is called sRGB: earlier the name was believed."""

    LIGHT = np.linspace(60, 250, 8 * 6 * 3).reshape(6, 8, 3).round().astype(np.uint8)  # linear
    SHOWN = np.rint(255 * np.interp(LIGHT / 255, SRGB_CURVE, np.linspace(0, 1, len(SRGB_CURVE)))).astype(np.uint8)  # the same in sRGB

    @pytest.fixture
    def challenge(self, db):
        return ChallengeFactory(family="render")

    @pytest.fixture
    def phase(self, challenge):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, {"room/v1": View(render(self.SHOWN), 8, 6)}, [{"slug": "psnr", "key": "psnr", "is_primary": True}])
        return phase

    @pytest.fixture
    def entry(self, phase, people):
        """Scored as its values stand; the kept file has the profile."""
        sent = [zipped("room/v1.png", file_of("PNG", self.LIGHT, **options)) for options in ({}, {"icc_profile": LINEAR})]
        entry = received(phase, people.team, sent[0], user=people.owner)
        drain()
        stored_files.store().save_bytes("uploads/kept.zip", sent[1])
        Submission.objects.filter(pk=entry.pk).update(reader=1, file_key="uploads/kept.zip")
        Reference.objects.filter(phase=phase).update(reader=1)
        entry.refresh_from_db()
        assert entry.status == Status.SCORED
        return entry

    def test_whose_profile_was_judged_by_its_name_is_read_anew(self, entry, phase, committing):
        wrong = 10 * np.log10(255**2 / np.mean((self.LIGHT.astype(float) - self.SHOWN) ** 2))
        assert value(entry) == pytest.approx(wrong) and wrong < 20
        found = rereading.read_anew(phase)
        assert [it.pk for it in found.changed] == [entry.pk]
        drain()
        with committing():
            assert found.batch.switch_if_complete(by_hand=True)
        entry.refresh_from_db()
        pixels = RENDER.unpack(stored_files.store().read(entry.artifact_key))["room/v1"].pixels()
        assert np.abs(pixels.astype(int) - self.SHOWN).max() <= 1 and value(entry) > 45 and entry.reader == RENDER.reader

    def test_with_the_same_pixels_packed_otherwise_is_the_same(self, entry, phase):
        packed = io.BytesIO()
        Image.fromarray(self.SHOWN).save(packed, "PNG", compress_level=0)
        image = Render(packed.getvalue(), 8, 6)
        stored_files.store().save_bytes("artifacts/other.renders", RENDER.pack({"room/v1": image}))
        stored_files.store().save_bytes("uploads/plain.zip", zipped("room/v1.png", file_of("PNG", self.SHOWN)))
        Submission.objects.filter(pk=entry.pk).update(artifact_key="artifacts/other.renders", file_key="uploads/plain.zip")
        found = rereading.read_anew(phase)
        assert (found.same, found.changed, found.batch) == (1, [], None)

    def test_does_not_tell_of_a_reference_whether_it_was_read_rightly(self, entry, phase):
        out = StringIO()
        call_command("reread", stdout=out)
        assert f"version 1 of {phase}.\n" in out.getvalue()
        assert "looks wrong" not in out.getvalue() and rereading.stale_phases() == []


@pytest.mark.django_db
def test_a_reference_whose_files_are_not_kept_is_named_and_its_new_version_clears_it(phase, client, people, scored_before):
    wrong = Reference.add(phase, {"slab": WRONG})
    batch = EvaluationBatch.start(phase, reference=wrong)
    Reference.objects.filter(pk=wrong.pk).update(reader=1)
    out = StringIO()
    call_command("reread", stdout=out)
    assert "in 1 item;" in out.getvalue()
    assert EvaluationBatch.current(phase) == batch, "nothing is prepared where only the reference is in doubt"
    client.force_login(people.organizer)
    words = "probably misread"
    for page in ("reference", "scoring"):
        assert words in client.get(f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/{page}/").content.decode(), page
    board = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    scored_before()
    snapshots.make_all(phase)
    assert "misread" in client.get(board).content.decode()
    address = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/board"
    assert client.get(address).json()["reference_misread"]
    EvaluationBatch.start(phase, reference=Reference.add(phase, {"slab": RIGHT}))
    drain()
    snapshots.make_all(phase)
    assert "misread" not in client.get(board).content.decode()
    assert not client.get(address).json()["reference_misread"]


@pytest.mark.django_db
def test_the_console_and_the_board_say_what_is_prepared_and_organizers_switch(phase, client, people, scored_before):
    entry = scored_before()
    before = value(entry)
    out = StringIO()
    call_command("reread", stdout=out)
    assert "1 entry changed, 0 " in out.getvalue()
    scoring = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/scoring/"
    board = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    assert "The organizers decide" in " ".join(client.get(board).content.decode().split())
    address = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/board"
    snapshots.make_all(phase)
    assert client.get(address).json()["reevaluation_prepared"]
    client.force_login(people.organizer)
    page = client.get(scoring).content.decode()
    assert 'value="switch"' not in page
    client.post(scoring, {"act": "switch"})
    assert not AuditEntry.objects.filter(action="batch.switch").exists() and value(entry) == before, "an entry is not scored yet"
    drain()
    page = client.get(scoring).content.decode()
    after = Score.objects.get(evaluation__batch__state="building").value
    assert 'value="switch"' in page and "What changes" in page
    assert [f'<td class="n">{number(it, 4)}</td>' in page for it in (before, after)] == [True, True] and before > after
    client.post(scoring, {"act": "switch"})
    assert value(entry) < before
    assert AuditEntry.objects.get(action="batch.switch").actor == people.organizer
    assert "The organizers decide" not in " ".join(client.get(board).content.decode().split())
    assert not client.get(address).json()["reevaluation_prepared"]
    call_command("reread", stdout=out)
    assert rereading.stale_phases() == []
