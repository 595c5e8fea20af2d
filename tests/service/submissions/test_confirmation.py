"""Entries that do not fit what was given out: held back without a cost, scored once their team says so, and diagnosed afterwards in
words that tell nothing of a hidden reference."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from html import unescape

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from evaluation.models import Evaluation
from leaderboard.service.mail import send_due_mail
from leaderboard.tasks import build_due_boards
from leaderboard.views.entry import DIAGNOSES
from submissions.entry_states import Reader, Reason, Why
from submissions.errors import Refused
from submissions.formats.box_alignment import Box
from submissions.formats.inputs import read_table, write_table
from submissions.formats.wireframe.wireframe_files import Wireframe, write_obj
from submissions.manifest import Input
from submissions.models import Phase, Status, Submission
from submissions.models.quota import quota_of
from submissions.storage import stored_files
from submissions.wording import sentence
from tests.support.factories import PhaseFactory, archive, gables, give_reference, received
from tests.support.leaderboard.console.acts import phase_form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_files")]
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
FAR = np.array([4.8e5, 5.4e6, 200])
SCORED_ALIKE = ({"slug": "corner_f1", "key": "corner_f1", "is_primary": True}, {"slug": "edge_f1", "key": "edge_f1"})


def browser(user=None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def scaled(items: dict[str, Wireframe], factor: float) -> dict[str, Wireframe]:
    return {name: Wireframe(item.vertices * factor, item.edges, None) for name, item in items.items()}


def boxes(items: dict[str, Wireframe], margin: float = 0.5) -> str:
    """The table of points that reach a little beyond each house."""
    found = {}
    for name, item in items.items():
        box = Box.of(item.vertices)
        found[name] = Input(tuple((box.low - margin).tolist()), tuple((box.high + margin).tolist()), 9000)
    return write_table(found)


@pytest.fixture
def given_out(phase):
    """The phase, with inputs that its houses lie in."""
    Phase.objects.filter(pk=phase.pk).update(input_boxes=boxes(gables()))
    phase.refresh_from_db()
    return phase


class TestHeldBack:
    def test_millimetres_are_held_back_and_use_up_no_quota(self, given_out, people, scored):
        Phase.objects.filter(pk=given_out.pk).update(limit_total=1)
        given_out.refresh_from_db()
        entry = scored(items=scaled(gables(), 1000))
        assert (entry.status, entry.reason) == (Status.REJECTED, Reason.INPUTS)
        assert len(entry.problems) == 1
        assert quota_of(given_out, people.team).left_total == 1 and not Evaluation.objects.filter(submission=entry).exists()
        assert scored().status == Status.SCORED, "one that fits is scored at once"

    def test_its_page_asks_its_team_and_tells_nobody_else(self, given_out, people, scored):
        entry = scored(items=scaled(gables(), 1000))
        page = browser(people.mate).get(f"/entries/{entry.pk}/").content.decode()
        assert "Is this meant?" in page and "millimetres?" in page and f"/entries/{entry.pk}/confirm/" in page
        page = browser(people.organizer).get(f"/entries/{entry.pk}/").content.decode()
        assert "millimetres?" in page and f"/entries/{entry.pk}/confirm/" not in page
        assert browser(people.other).get(f"/entries/{entry.pk}/").status_code == 404

    def test_confirmed_it_is_scored_as_it_is_and_keeps_the_warning(self, given_out, people, scored):
        from evaluation.work.worker import drain

        entry = scored(items=scaled(gables(), 1000))
        sent = entry.created_at
        assert browser(people.mate).post(f"/entries/{entry.pk}/confirm/").status_code == 302
        drain()
        entry.refresh_from_db()
        assert (entry.status, entry.reason, entry.is_confirmed) == (Status.SCORED, "", True)
        assert entry.problems == [] and "millimetres?" in entry.warnings[0] and entry.created_at > sent
        own, others = quota_of(given_out, people.team), quota_of(given_out, people.other_team)
        assert own.left_total == others.left_total - 1 if given_out.limit_total else True

    def test_confirming_counts_as_an_upload_of_now(self, given_out, people, scored):
        entry = scored(items=scaled(gables(), 1000))
        Phase.objects.filter(pk=given_out.pk).update(limit_total=1)
        scored()
        entry.refresh_from_db()
        entry.phase.refresh_from_db()
        with pytest.raises(Refused) as refused:
            entry.confirm()
        assert "1" in refused.value.sentence
        Phase.objects.filter(pk=given_out.pk).update(limit_total=None)
        entry.confirm()

    def test_it_keeps_the_moment_of_its_upload_and_takes_a_place_of_the_day_of_the_confirmation(self, given_out, people, scored):
        Phase.objects.filter(pk=given_out.pk).update(limit_per_day=1)
        entry = scored(items=scaled(gables(), 1000))
        came, now = entry.received_at, timezone.now() + timedelta(days=2)
        entry.confirm(now)
        assert (entry.received_at, entry.created_at) == (came, now)
        given_out.refresh_from_db()
        assert quota_of(given_out, people.team, now).left_today == 0 and quota_of(given_out, people.team).left_today == 1

    def test_after_the_phase_has_closed_it_takes_a_place_of_its_own_day(self, given_out, people, scored):
        now = timezone.now()
        entry = scored(items=scaled(gables(), 1000))
        Phase.objects.filter(pk=given_out.pk).update(limit_per_day=1, closes_at=now + MINUTE, time_zone="UTC")
        scored()
        Submission.objects.filter(phase=given_out).update(created_at=now - MINUTE)
        entry = Submission.objects.get(pk=entry.pk)
        with pytest.raises(Refused) as refused:
            entry.confirm(now + 23 * HOUR)
        assert refused.value.code == "limit_per_day"
        Phase.objects.filter(pk=given_out.pk).update(limit_per_day=2)
        entry = Submission.objects.get(pk=entry.pk)
        entry.confirm(now + 23 * HOUR)
        assert entry.created_at == now - MINUTE

    def test_its_page_names_the_day_for_which_it_would_count(self, given_out, people, scored):
        entry = scored(items=scaled(gables(), 1000))

        def said() -> str:
            page = re.sub(r"<[^>]*>", "", browser(people.mate).get(f"/entries/{entry.pk}/").content.decode())
            return re.search(r"it counts as an upload of ([^.]*)\.", " ".join(page.split()))[1]

        assert said() == "today"
        # Its place is of 30 May on the phase's clock, a day later than in UTC.
        now = timezone.now()
        Phase.objects.filter(pk=given_out.pk).update(opens_at=now - timedelta(days=9), closes_at=now - MINUTE, time_zone="Pacific/Auckland")
        Submission.objects.filter(pk=entry.pk).update(created_at=datetime(2026, 5, 29, 20, tzinfo=UTC))
        assert said() == "30 May 2026"

    @pytest.mark.parametrize(
        ("changes", "after", "code"),
        [
            ({"closes_at": HOUR}, 2 * HOUR, None),
            ({"closes_at": HOUR}, 25 * HOUR - MINUTE, None),
            ({"closes_at": HOUR}, 25 * HOUR, "phase_closed"),
            ({"closes_at": -HOUR}, MINUTE, "phase_closed"),  # it came after the end, with a checksum that was announced before
            ({"board": "frozen", "board_at": HOUR}, HOUR - MINUTE, None),
            ({"board": "frozen", "board_at": HOUR}, HOUR, "phase_decided"),
            ({"board": "hidden", "board_at": HOUR}, HOUR - MINUTE, None),
            ({"board": "hidden", "board_at": HOUR}, HOUR, "phase_decided"),
            ({"closes_at": HOUR, "board": "hidden", "board_at": 3 * HOUR}, 2 * HOUR, None),
            ({"closes_at": None}, timedelta(days=7) - HOUR, None),
            ({"closes_at": None}, timedelta(days=7) + HOUR, "hold_over"),
        ],
    )
    def test_until_when_it_can_be_confirmed(self, given_out, scored, changes, after, code):
        entry = scored(items=scaled(gables(), 1000))
        now = entry.received_at
        dates = {name: now + value if isinstance(value, timedelta) else value for name, value in changes.items()}
        Phase.objects.filter(pk=given_out.pk).update(**dates)
        if code is None:
            entry.confirm(now + after)
            assert entry.status == Status.RECEIVED
            return
        with pytest.raises(Refused) as refused:
            entry.confirm(now + after)
        entry.refresh_from_db()
        assert (refused.value.code, entry.status, entry.reason) == (code, Status.REJECTED, Reason.INPUTS)

    def test_an_earlier_phase_is_asked_for_when_it_is_confirmed(self, given_out, people, scored):
        entry = scored(items=scaled(gables(), 1000))
        Phase.objects.filter(pk=given_out.pk).update(parent=PhaseFactory(challenge=given_out.challenge, title="Practice"))
        with pytest.raises(Refused, match="Practice") as refused:
            entry.confirm()
        assert refused.value.code == "parent_phase"

    def test_a_team_has_three_at_once_of_which_the_oldest_ends(self, given_out, scored):
        entries = [scored(items=scaled(gables(), 1000 + n)) for n in range(4)]
        for entry in entries:
            entry.refresh_from_db()
        assert [entry.reason for entry in entries] == ["newer_holds", "inputs", "inputs", "inputs"]
        assert entries[0].status == Status.REJECTED and entries[0].n_problems == 1
        assert entries[0].why == Why(Reason.NEWER_HOLDS, {"n": 3})
        with pytest.raises(Refused) as refused:
            entries[0].confirm()
        assert refused.value.code == "not_held"

    @pytest.mark.parametrize("path", ["/entries/{}/withdraw/", "/api/v1/submissions/{}/withdraw"])
    def test_a_withdrawn_one_waits_no_more_and_leaves_its_place_to_another(self, given_out, people, scored, path):
        entries = [scored(items=scaled(gables(), 1000 + n)) for n in range(3)]
        withdrawn, client = entries[1], browser(people.mate)
        assert f"/entries/{withdrawn.pk}/withdraw/" in client.get(f"/entries/{withdrawn.pk}/").content.decode()
        client.post(path.format(withdrawn.pk))
        entries.append(scored(items=scaled(gables(), 1003)))
        for entry in entries:
            entry.refresh_from_db()
        assert [entry.state.state for entry in entries] == ["on_hold", "withdrawn", "on_hold", "on_hold"]
        with pytest.raises(Refused) as refused:
            withdrawn.confirm()
        assert refused.value.code == "not_held"
        page = client.get(f"/entries/{withdrawn.pk}/").content.decode()
        assert f"/entries/{withdrawn.pk}/withdraw/" not in page and f"/entries/{withdrawn.pk}/confirm/" not in page
        assert client.get(f"/api/v1/submissions/{withdrawn.pk}").json()["awaits_confirmation"] is False
        assert not given_out.submissions.counted().exists(), "none of them uses a try"
        scored(items=scaled(gables(), 1004))
        entries[0].refresh_from_db()
        assert entries[0].reason == Reason.NEWER_HOLDS, "three wait at most"

    def test_only_a_scored_entry_and_one_on_hold_can_be_withdrawn(self, given_out, people, scored):
        entry = scored(items=scaled(gables(), 1000))
        for status, reason, code in ((Status.REJECTED, Reason.PROBLEMS, "not_scored"), (Status.RECEIVED, "", "in_progress")):
            Submission.objects.filter(pk=entry.pk).update(status=status, reason=reason)
            answer = browser(people.owner).post(f"/api/v1/submissions/{entry.pk}/withdraw")
            assert (answer.status_code, answer.json()["code"]) == (409, code)
            assert f"/entries/{entry.pk}/withdraw/" not in browser(people.owner).get(f"/entries/{entry.pk}/").content.decode()

    def test_it_expires_with_its_file(self, given_out, scored):
        entry = scored(items=scaled(gables(), 1000))
        week = entry.finished_at + timedelta(days=7)
        assert Submission.expire_holds(week - MINUTE) == 0 and stored_files.clean_uploads(week - MINUTE) == 0
        assert Submission.expire_holds(week) == 1 and stored_files.clean_uploads(week) == 1
        entry.refresh_from_db()
        assert (entry.why, entry.file_key) == (Why(Reason.UNCONFIRMED, {"until": week.isoformat()}), "")

    def test_it_expires_a_day_after_the_end_of_the_phase_and_keeps_its_file(self, given_out, scored):
        entry = scored(items=scaled(gables(), 1000))
        end = entry.received_at + HOUR
        Phase.objects.filter(pk=given_out.pk).update(closes_at=end)
        assert Submission.expire_holds(end + 24 * HOUR - MINUTE) == 0 and Submission.expire_holds(end + 24 * HOUR) == 1
        entry.refresh_from_db()
        assert entry.reason == Reason.UNCONFIRMED and entry.file_key

    def test_what_nobody_could_confirm_is_rejected_with_what_to_do(self, given_out, scored):
        Phase.objects.filter(pk=given_out.pk).update(board="frozen", board_at=timezone.now() - MINUTE)
        entry = scored(items=scaled(gables(), 1000))
        assert (entry.status, entry.reason, entry.n_problems) == (Status.REJECTED, Reason.HOLDS_OVER, 1)

    def test_the_files_of_entries_on_hold_count_against_no_bound(self, given_out, scored, settings):
        settings.KEEP_REJECTED_BYTES = 1
        entry = scored(items=scaled(gables(), 1000))
        assert stored_files.clean_uploads(timezone.now()) == 0
        Submission.objects.filter(pk=entry.pk).update(reason=Reason.PROBLEMS)
        assert stored_files.clean_uploads(timezone.now()) == 1

    def test_only_what_was_held_back_can_be_confirmed_and_only_once(self, given_out, people, scored):
        done, held = scored(), scored(items=scaled(gables(), 1000))
        with pytest.raises(Refused):
            done.confirm()
        held.confirm()
        with pytest.raises(Refused):
            held.confirm()
        Phase.objects.filter(pk=given_out.pk).update(limit_total=9)
        again = scored(items=scaled(gables(), 1001))
        type(again).objects.filter(pk=again.pk).update(file_key="")
        again.refresh_from_db()
        with pytest.raises(Refused, match="no longer kept"):
            again.confirm()

    def test_sent_as_it_is_nothing_is_asked(self, given_out, scored):
        entry = scored(items=scaled(gables(), 1000), as_it_is=True)
        assert entry.status == Status.SCORED and "millimetres?" in entry.warnings[0]

    def test_without_inputs_there_is_no_such_check_and_the_page_says_so(self, phase, people, scored):
        assert scored(items=scaled(gables(), 1000)).status == Status.SCORED
        page = f"/challenges/{phase.challenge.slug}/{phase.slug}/upload/"
        assert browser(people.owner).get(page).context["n_inputs"] == 0
        Phase.objects.filter(pk=phase.pk).update(input_boxes=boxes(gables()))
        answer = browser(people.owner).get(page)
        assert answer.context["n_inputs"] == 4 and "4 of 4" in answer.content.decode()


FACES = b"v 0 0 0\nv 8 0 0\nv 0 8 0\nf 1 2 3\n"


def of_files(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, data in files.items():
            packed.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


class TestReasons:
    """Each has its own sentence on page, API and e-mail, and each e-mail says that the entry can be confirmed."""

    @pytest.mark.parametrize(
        ("files", "hold"),
        [
            ({f"{name}.obj": FACES for name in gables()}, Reason.KIND),
            ({f"{name}.obj": write_obj(item) for name, item in scaled(gables(), 1000).items()}, Reason.INPUTS),
            ({f"run_{n % 2}/{name}.obj": write_obj(item) for n, (name, item) in enumerate(gables().items())}, Reason.FOLDERS),
        ],
    )
    def test_page_api_and_mail_say_why(self, given_out, people, mailoutbox, files, hold):
        from evaluation.work.worker import drain

        entry = received(given_out, people.team, of_files(files), user=people.owner)
        drain()
        entry.refresh_from_db()
        assert (entry.status, entry.reason) == (Status.REJECTED, hold)
        (problem,) = entry.problems
        assert not given_out.submissions.counted().exists(), "it uses no try"
        said = sentence(entry.state, Reader.TEAM)
        page = " ".join(unescape(browser(people.mate).get(f"/entries/{entry.pk}/").content.decode()).split())
        assert said in page and problem in page and f"/entries/{entry.pk}/confirm/" in page
        api = browser(people.mate).get(f"/api/v1/submissions/{entry.pk}").json()
        assert (api["sentence"], api["on_hold"], api["awaits_confirmation"], api["problems"]) == (said, hold, True, [problem])
        off = datetime.fromisoformat(api["confirm_until"]) - entry.finished_at - timedelta(days=7)
        assert abs(off) < timedelta(milliseconds=1)  # JSON has no finer ones
        assert send_due_mail() == len(mailoutbox) > 0
        for mail in mailoutbox:
            text = " ".join(mail.body.split())
            assert "is on hold" in mail.subject and said in text and problem in text and "rejected" not in text


class TestSentTwice:
    """The same bytes of a team to a phase within a minute are one entry, whichever door they come through."""

    def post(self, user, phase, data, **fields):
        body = {"challenge": phase.challenge.slug, "phase": phase.slug, "method_name": "m", "file_name": "e.zip", "size": len(data)}
        body |= {"sha256": hashlib.sha256(data).hexdigest(), **fields}
        return browser(user).post("/api/v1/submissions", json.dumps(body), content_type="application/json")

    def send(self, user, phase, data, **fields):
        """The answer to the last of the requests that send the bytes through the API."""
        entry = self.post(user, phase, data, **fields)
        assert entry.status_code == 201
        return self.finish(user, entry.json(), data)

    def finish(self, user, entry, data):
        client = browser(user)
        assert client.put(f"{entry['upload']['url']}/1", data, content_type="application/octet-stream").status_code == 200
        return client.post(entry["upload"]["complete_url"], "{}", content_type="application/json").json()

    def form(self, user, phase, data):
        page = f"/challenges/{phase.challenge.slug}/{phase.slug}/upload/"
        return browser(user).post(page, {"method_name": "m", "file": SimpleUploadedFile("e.zip", data)}, follow=True)

    def test_announced_again_nothing_is_sent(self, phase, people):
        data = archive(gables())
        first = self.send(people.owner, phase, data)
        again = self.post(people.mate, phase, data)
        assert (again.status_code, again.json()["id"], again.json()["upload"]) == (200, first["id"], None)
        assert phase.submissions.count() == 1
        assert self.post(people.owner, phase, archive(gables(3))).status_code == 201, "other bytes are another entry"
        assert self.post(people.other, phase, data).status_code == 201, "of another team too"

    @pytest.mark.parametrize("digest", [None, ""])
    def test_of_two_uploads_at_once_the_second_to_arrive_is_given_back(self, phase, people, digest):
        data, fields = archive(gables()), {} if digest is None else {"sha256": digest}
        one, two = (self.post(people.owner, phase, data, **fields).json() for _ in range(2))
        assert self.finish(people.owner, one, data)["id"] == self.finish(people.owner, two, data)["id"] == one["id"]
        assert [entry.status for entry in phase.submissions.order_by("pk")] == [Status.RECEIVED, Status.CANCELLED]
        assert phase.submissions.counted().count() == 1

    def test_the_form_leads_to_the_first(self, phase, people):
        data = archive(gables())
        first = self.form(people.owner, phase, data)
        again = self.form(people.owner, phase, data)
        assert first.redirect_chain == again.redirect_chain and phase.submissions.counted().count() == 1

    def test_after_a_minute_or_a_failure_or_as_it_is_they_are_another_entry(self, phase, people):
        data = archive(gables())
        first = self.send(people.owner, phase, data)
        assert self.post(people.owner, phase, data, as_it_is=True).status_code == 201
        for change in ({"received_at": timezone.now() - MINUTE}, {"received_at": timezone.now(), "status": Status.FAILED}):
            Submission.objects.filter(pk=first["id"]).update(**change)
            assert self.post(people.owner, phase, data).status_code == 201


class TestManifest:
    def test_inputs_are_told_to_who_may_have_them(self, given_out, people):
        address = f"/challenges/{given_out.challenge.slug}/{given_out.slug}/manifest.json"
        assert "input" in browser(people.owner).get(address).json()["items"][0]
        assert "input" not in browser().get(address).json()["items"][0]
        assert "input" not in browser(people.stranger).get(f"/api/v1{address.removesuffix('.json')}").content.decode()

    def test_the_starter_kits_example_fits_them(self, given_out, people, tmp_path):
        from submissions.manifest import Manifest
        from submissions.validation import validate

        far = {name: Wireframe(item.vertices + FAR, item.edges, None) for name, item in gables().items()}
        Phase.objects.filter(pk=given_out.pk).update(input_boxes=boxes(far))
        answer = browser(people.owner).get(f"/challenges/{given_out.challenge.slug}/{given_out.slug}/starter-kit.zip")
        with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as kit:
            kit.extractall(tmp_path / "kit")
        (top,) = (tmp_path / "kit").iterdir()
        verdict = validate(top / "example-entry", Manifest.from_json((top / "manifest.json").read_bytes()))
        assert verdict.accepted and verdict.to_confirm == ()


class TestAdmission:
    def test_the_rule_is_said_before_the_form(self, phase, people, scored, challenge):
        final = PhaseFactory(challenge=challenge, parent=phase, title="Final")
        give_reference(final)
        page = f"/challenges/{challenge.slug}/{final.slug}/upload/"
        enter_first = f'href="/challenges/{challenge.slug}/{phase.slug}/upload/"'
        for team, user in ((people.team, people.owner), (None, None)):
            answer = browser(user).get(page)
            text = answer.content.decode()
            assert (answer.context["team"], answer.context["admitted"]) == (team, False)
            assert (enter_first in text) == (team is not None)
            assert 'type="file"' not in text, "a form that would be refused is not offered"
        scored()
        answer = browser(people.owner).get(page)
        assert answer.context["admitted"] and 'type="file"' in answer.content.decode()


class TestReferences:
    def test_where_they_may_be_seen_they_can_be_downloaded_and_read_back(self, phase, people, tmp_path):
        from submissions.kinds import WIREFRAME

        address = f"/challenges/{phase.challenge.slug}/{phase.slug}/reference.zip"
        data = f"/challenges/{phase.challenge.slug}/data/"
        assert browser().get(address).status_code == 403 and address not in browser(people.owner).get(data).content.decode()
        Phase.objects.filter(pk=phase.pk).update(reference_access="public")
        assert address in browser().get(data).content.decode() and address in browser(people.owner).get(data).content.decode()
        (tmp_path / "r.zip").write_bytes(b"".join(browser().get(address).streaming_content))
        items = WIREFRAME.load_folder(tmp_path / "r.zip")
        assert items.keys() == gables().keys() and [n for n in items if not np.array_equal(items[n].vertices, gables()[n].vertices)] == []


# --- after scoring


def page_of(entry, user) -> str:
    """An entry's page without what names the phase, the entry and the moment."""
    build_due_boards()
    text = browser(user).get(f"/entries/{entry.pk}/").content.decode()
    main = text.partition("<main")[2].partition("</main>")[0]
    main = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", main)
    for piece in (entry.phase.slug, entry.phase.title, f"/entries/{entry.pk}/", f"a={entry.pk}"):
        main = main.replace(piece, "·")
    return re.sub(r"<time.*?</time>|[0-9a-f]{16}…", "·", main)


@pytest.mark.parametrize(
    ("factor", "move", "diagnosis"),
    [(1000.0, 0.0, "size"), (0.001, 0.0, "size"), (1.0, 9000.0, "place")],
)
def test_two_hidden_references_with_one_diagnosis_give_identical_pages(challenge, people, factor, move, diagnosis, settings):
    """The same wrong entry, compared with two references that differ in every coordinate: its page tells nothing of which it was."""
    from evaluation.work.worker import drain

    pages = []
    sent = {name: Wireframe(item.vertices * factor + move, item.edges, None) for name, item in gables().items()}
    for stretch in (1.0, 1.2):
        hidden = PhaseFactory(challenge=challenge, limit_total=None)
        truth = {name: Wireframe(item.vertices * [stretch, 1.0, 1.1 * stretch], item.edges, None) for name, item in gables().items()}
        give_reference(hidden, truth, metrics=SCORED_ALIKE)
        entry = received(hidden, people.team, archive(sent), user=people.owner)
        drain()
        entry.refresh_from_db()
        assert entry.status == Status.SCORED
        type(entry).objects.filter(pk=entry.pk).update(sha256="")  # or the second page tells of the first upload
        # The second page names the first, too, as what stands on another board.
        pages.append(re.sub(r'<dl class="pairs"><dt>Elsewhere</dt>.*?</dl>', "", page_of(entry, people.owner)))
    assert DIAGNOSES[diagnosis][0] in pages[0] and pages[0] == pages[1]
    about = pages[0].partition('id="diagnosis"')[2].partition("</section>")[0]
    assert not re.search(r"\d", re.sub(r"<[^>]*>", "", about).replace("&#x27;", "")), "no number of a transform"


class TestDiagnosis:
    def test_a_good_entry_is_told_what_was_compared(self, people, scored):
        entry = scored(scale=0.05)
        assert DIAGNOSES["fits"][0] in page_of(entry, people.owner) and Evaluation.objects.get(submission=entry).diagnosis == "fits"

    def test_it_goes_with_the_values_per_item(self, phase, people, scored):
        entry = scored(items=scaled(gables(), 1000))
        title = DIAGNOSES[Evaluation.objects.get(submission=entry).diagnosis][0]
        assert title in page_of(entry, people.owner) and title in page_of(entry, people.other)
        Phase.objects.filter(pk=phase.pk).update(withhold_items=True)
        assert title not in page_of(entry, people.owner) and title in page_of(entry, people.organizer)

    def test_what_the_parts_said_is_not_kept(self, scored):
        entry = scored(items=scaled(gables(), 1000))
        assert not Evaluation.objects.get(submission=entry).parts.filter(fits__isnull=False).exists()

    def test_swapped_axes_are_said_to_be_swapped(self, people, scored):
        turned = {name: Wireframe(item.vertices[:, [2, 0, 1]], item.edges, None) for name, item in gables().items()}
        entry = scored(items=turned)
        found = Evaluation.objects.get(submission=entry).diagnosis
        assert found == "axes" and DIAGNOSES[found][0] in page_of(entry, people.owner)


class TestConsole:
    def test_boxes_are_computed_from_a_file_that_was_given_out(self, phase, people):
        from django.core.files.uploadedfile import SimpleUploadedFile

        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as packed:
            for name, item in gables().items():
                packed.writestr(f"inputs/{name}.xyz", "\n".join(" ".join(map(str, row)) for row in item.vertices.tolist()))
        organizer, files = browser(people.organizer), f"/console/challenges/{phase.challenge.slug}/files/"
        organizer.post(
            files, {"act": "add", "kind": "input", "title": "", "phase": phase.pk, "file": SimpleUploadedFile("points.zip", out.getvalue())}
        )
        row = phase.files.get()
        assert 'value="boxes"' in organizer.get(files).content.decode()
        answer = organizer.post(files, {"act": "boxes", "file": row.pk}, follow=True)
        phase.refresh_from_db()
        assert phase.inputs.keys() == gables().keys(), answer.content.decode()[-3000:]
        box = Box.of(gables()["house_02"].vertices)
        assert phase.inputs["house_02"] == Input(tuple(box.low.tolist()), tuple(box.high.tolist()), len(gables()["house_02"].vertices))

    def test_a_file_without_items_is_refused_with_what_to_do(self, phase, people):
        from django.core.files.uploadedfile import SimpleUploadedFile

        organizer, files = browser(people.organizer), f"/console/challenges/{phase.challenge.slug}/files/"
        organizer.post(
            files, {"act": "add", "kind": "input", "title": "", "phase": phase.pk, "file": SimpleUploadedFile("a.xyz", b"0 0 0\n1 1 1\n")}
        )
        answer = organizer.post(files, {"act": "boxes", "file": phase.files.get().pk}, follow=True)
        assert "house_01.ply" in answer.content.decode()
        phase.refresh_from_db()
        assert phase.input_boxes == ""

    def test_stated_in_the_form_they_are_checked_at_their_field(self, phase, people):
        organizer, address = browser(people.organizer), f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/"
        answer = organizer.post(address, phase_form(phase, input_boxes="item,min_x\nhouse_01,0"))
        assert "min_y" in answer.context["form"].errors["input_boxes"][0]
        organizer.post(address, phase_form(phase, input_boxes=boxes(gables()).replace("\n", "\r\n")), follow=True)
        phase.refresh_from_db()
        assert read_table(phase.input_boxes) == read_table(boxes(gables()))
