"""Acts of members who were declined or have not accepted new rules: sending, choosing and inviting are refused, taking back is not."""

from __future__ import annotations

import hashlib
import io
import json

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from submissions.entry_states import Reason
from submissions.models import Admission, Challenge, Membership, Participation, Phase, Status, Submission, TeamInvite
from submissions.storage import uploads
from tests.support.factories import archive, gables, received

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_files")]
SENT = archive(gables(4))


@pytest.fixture(params=["declined", "new rules"])
def bar(request, challenge, people):
    """`bar()`: the owner, who leads a team of two, does not take part any more; returns a part of the sentence that says why."""

    def barred() -> str:
        if request.param == "declined":
            Participation.objects.get(challenge=challenge, user=people.owner).decide(people.organizer, Admission.DECLINED)
            return "have declined your participation"
        Challenge.objects.filter(pk=challenge.pk).update(rules_version="2.0")
        challenge.refresh_from_db()
        return f"{settings.SITE_URL}/challenges/{challenge.slug}/rules/"

    return barred


@pytest.fixture
def barred(bar) -> str:
    return bar()


def reserved(phase: Phase, people) -> Submission:
    """An upload of the owner's all of whose parts have come."""
    sha256 = hashlib.sha256(SENT).hexdigest()
    made = uploads.start(people.owner, phase, method_name="late", file_name="late.zip", size=len(SENT), sha256=sha256)
    uploads.save_part(made, 1, io.BytesIO(SENT))
    return made


def entry(phase: Phase, people, status: str, **values) -> Submission:
    made = received(phase, people.team, SENT, user=people.owner)
    Submission.objects.filter(pk=made.pk).update(status=status, **values)
    return Submission.objects.get(pk=made.pk)


def browser(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def api(user, made: Submission, act: str):
    return browser(user).post(f"/api/v1/submissions/{made.pk}/{act}", {}, "application/json")


class TestEntries:
    def test_a_reserved_upload_is_kept_and_completed_once_they_take_part_again(self, phase, people, bar):
        made = reserved(phase, people)
        why = bar()
        for act in ("complete", "resume"):
            answer = api(people.owner, made, act)
            assert answer.status_code == 403 and why in answer.json()["detail"]
        part = browser(people.owner).put(f"/api/v1/submissions/{made.pk}/parts/1", SENT, "application/octet-stream")
        assert part.status_code == 403
        made.refresh_from_db()
        assert made.status == Status.UPLOADING and made.upload_data
        assert browser(people.owner).get(f"/api/v1/submissions/{made.pk}").json()["upload"] is None
        assert api(people.owner, made, "pause").status_code == 200
        if "declined" in why:
            Participation.objects.get(challenge=phase.challenge, user=people.owner).decide(people.organizer, Admission.ADMITTED)
        else:
            answer = browser(people.owner).post(f"/challenges/{phase.challenge.slug}/join/", {"accept": "yes", "version": "2.0"})
            assert answer.status_code == 302
        assert api(people.owner, made, "complete").json()["status"] == "received"

    def test_a_team_mate_who_takes_part_completes_it(self, phase, people):
        made = reserved(phase, people)
        Participation.objects.get(challenge=phase.challenge, user=people.owner).decide(people.organizer, Admission.DECLINED)
        assert api(people.mate, made, "complete").json()["status"] == "received"

    @pytest.mark.parametrize(
        ("act", "state"),
        [
            ("choose", {"status": Status.SCORED}),
            ("retry", {"status": Status.FAILED, "reason": Reason.ERROR}),
            ("confirm", {"status": Status.REJECTED, "reason": Reason.INPUTS}),
        ],
    )
    def test_what_sends_or_chooses_is_refused_and_not_offered(self, phase, people, bar, act, state):
        Phase.objects.filter(pk=phase.pk).update(entries="chosen")
        made = entry(phase, people, **state)
        why = bar()
        button = f'action="/entries/{made.pk}/{act}/"'
        answer, page = api(people.owner, made, act), browser(people.owner).post(f"/entries/{made.pk}/{act}/")
        assert answer.status_code == page.status_code == 403
        assert why in answer.json()["detail"] and why in page.content.decode()
        before = made.__dict__ | {"_state": None}
        assert Submission.objects.get(pk=made.pk).__dict__ | {"_state": None} == before
        shown = browser(people.owner).get(f"/entries/{made.pk}/").content.decode()
        assert button not in shown
        if act != "confirm":
            assert why in shown
        if Participation.objects.get(challenge=phase.challenge, user=people.owner).admission == Admission.DECLINED:
            assert button in browser(people.mate).get(f"/entries/{made.pk}/").content.decode()
            assert api(people.mate, made, act).status_code == 200

    def test_what_takes_back_or_describes_an_entry_stays_open(self, phase, people, barred):
        scored, working = entry(phase, people, Status.SCORED), entry(phase, people, Status.RECEIVED)
        edited = browser(people.owner).patch(f"/api/v1/submissions/{scored.pk}", json.dumps({"description": "of then"}), "application/json")
        assert edited.json()["description"] == "of then"
        assert api(people.owner, working, "cancel").json()["status"] == "cancelled"
        assert api(people.owner, scored, "withdraw").json()["is_withdrawn"] is True

    def test_an_organizer_retries_whoever_may_not(self, phase, people, barred):
        made = entry(phase, people, Status.FAILED)
        console = reverse("console_entry", args=[phase.challenge.slug, made.pk])
        assert browser(people.organizer).post(console, {"act": "retry"}).status_code == 302
        assert Submission.objects.get(pk=made.pk).status == Status.RECEIVED

    def test_an_organizer_in_the_team_retries_for_the_service_and_not_for_the_team(self, phase, people, barred):
        phase.challenge.organizers.add(people.owner)
        made = entry(phase, people, Status.FAILED)
        assert api(people.owner, made, "retry").status_code == 403
        console = reverse("console_entry", args=[phase.challenge.slug, made.pk])
        assert browser(people.owner).post(console, {"act": "retry"}).status_code == 302
        assert Submission.objects.get(pk=made.pk).status == Status.RECEIVED

    def test_a_stranger_reads_nothing_of_who_takes_part(self, phase, people, barred):
        made = entry(phase, people, Status.SCORED)
        answer = api(people.stranger, made, "choose")
        assert answer.status_code == 403 and "rules" not in answer.json()["detail"]


class TestTeams:
    @pytest.mark.parametrize(
        ("act", "sent"),
        [("rename", {"name": "Crest"}), ("invite", {"email": "new@example.org"}), ("make_link", {}), ("lead", {"how": "share"})],
    )
    def test_a_leader_renames_and_invites_only_while_they_take_part(self, challenge, people, barred, act, sent):
        sent = sent | ({"member": people.mate.pk} if act == "lead" else {})
        answer = browser(people.owner).post(reverse(f"team_{act}", args=[challenge.slug]), sent)
        assert answer.status_code == 403 and barred in answer.content.decode()
        people.team.refresh_from_db()
        assert (people.team.name, people.team.invite_hash) == ("Ridge", "")
        assert not TeamInvite.objects.exists()
        assert list(Membership.objects.filter(team=people.team, is_leader=True).values_list("user", flat=True)) == [people.owner.pk]

    def test_the_api_says_the_same(self, challenge, people, barred):
        team = f"/api/v1/challenges/{challenge.slug}/team"
        client = browser(people.owner)
        answers = [
            client.patch(team, json.dumps({"name": "Crest"}), "application/json"),
            client.post(f"{team}/invites", json.dumps({"email": "new@example.org"}), "application/json"),
            client.post(f"{team}/link", {}, "application/json"),
        ]
        assert [answer.status_code for answer in answers] == [403, 403, 403]
        assert [answer for answer in answers if barred not in answer.json()["detail"]] == []

    def test_what_takes_back_stays_open(self, challenge, people, bar):
        people.team.make_link()
        invite = people.team.invite("new@example.org", people.owner)
        bar()
        client, team = browser(people.owner), f"/challenges/{challenge.slug}/team/"
        page = client.get(team).content.decode()
        assert 'id="rename"' not in page and 'id="by-mail"' not in page and "End" in page
        assert client.post(f"{team}withdraw-invite/", {"invite": invite.pk}).status_code == 302
        assert client.post(f"{team}end-link/").status_code == 302
        people.team.refresh_from_db()
        assert people.team.invite_hash == "" and not people.team.invites.open().exists()
        assert client.post(f"{team}lead/", {"how": "hand_over", "member": people.mate.pk}).status_code == 302
        assert people.team.is_leader(people.mate) and not people.team.is_leader(people.owner)
        assert client.post(f"{team}leave/").status_code == 302
        assert not people.team.memberships.filter(user=people.owner).exists()

    def test_a_member_is_removed_whether_or_not_the_leader_takes_part(self, challenge, people, barred):
        answer = browser(people.owner).post(f"/challenges/{challenge.slug}/team/remove/", {"member": people.mate.pk})
        assert answer.status_code == 302 and not people.team.memberships.filter(user=people.mate).exists()

    def test_who_waits_for_admission_may_build_their_team(self, challenge, people):
        Challenge.objects.filter(pk=challenge.pk).update(needs_approval=True)
        Participation.objects.filter(challenge=challenge, user=people.owner).update(admission=Admission.PENDING)
        answer = browser(people.owner).post(f"/challenges/{challenge.slug}/team/rename/", {"name": "Crest"})
        assert answer.status_code == 302
