"""The pages of a challenge for those who take part: what each person reads and may do there."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.urls import reverse
from django.utils import timezone

from submissions.checklist import Step
from submissions.format_time import in_words
from submissions.models import Challenge, ChallengeFile, Participation, Phase, Team
from submissions.storage import stored_files
from tests.support.factories import PhaseFactory, UserFactory, gables, give_reference

pytestmark = pytest.mark.django_db


def read(client, view: str, *arguments, user=None, status: int = 200) -> str:
    if user is not None:
        client.force_login(user)
    response = client.get(reverse(view, args=arguments))
    assert response.status_code == status, (view, response.status_code)
    return response.content.decode()


def next_step(client, challenge: Challenge, user=None) -> Step:
    """The one step that a challenge's overview marks as the next."""
    if user is not None:
        client.force_login(user)
    response = client.get(reverse("challenge", args=[challenge.slug]))
    (step,) = [step for step in response.context["steps"] if step.now]
    shown = response.content.decode()
    assert shown.count('aria-current="step"') == 1 and step.title in shown.partition('aria-current="step"')[2].partition("</li>")[0]
    return step


def act(client, user, view: str, *arguments, follow: bool = True, **data):
    client.force_login(user)
    return client.post(reverse(view, args=arguments), data, follow=follow)


def add_file(challenge: Challenge, phase: Phase | None, name: str = "points.zip", data: bytes = b"points") -> ChallengeFile:
    digest = hashlib.sha256(data).hexdigest()
    stored_files.store().save_bytes(f"files/{digest}", data)
    return ChallengeFile.objects.create(challenge=challenge, phase=phase, name=name, key=f"files/{digest}", size=len(data), sha256=digest)


def fetch(client, file: ChallengeFile) -> tuple[int, dict, bytes]:
    """Status, headers and content of a download, from here or from where the link leads."""
    response = client.get(reverse("challenge_file", args=[file.challenge.slug, file.pk]))
    if response.status_code == 302:
        response = httpx.get(response["Location"])
        return response.status_code, dict(response.headers), response.content
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return response.status_code, {name.lower(): value for name, value in response.items()}, content


# --- overview ----------------------------------------------------------------------------------


def test_the_overview_says_what_each_viewer_does_next(client, phase, people):
    challenge = phase.challenge
    assert next_step(client, challenge).url.startswith(reverse("account_login"))
    assert next_step(client, challenge, people.stranger).url == reverse("rules", args=[challenge.slug])
    assert next_step(client, challenge, people.owner).url == reverse("upload", args=[challenge.slug, phase.slug])


def test_a_later_phase_is_pointed_at_once_it_admits_the_team(client, phase, people, scored):
    later = PhaseFactory(challenge=phase.challenge, parent=phase, title="Later", position=9)
    give_reference(later, gables(4))
    assert next_step(client, phase.challenge, people.owner).url == reverse("upload", args=[phase.challenge.slug, phase.slug])
    scored()
    assert next_step(client, phase.challenge, people.owner).url == reverse("upload", args=[phase.challenge.slug, later.slug])


def test_waiting_for_approval_is_said(client, phase, people):
    challenge = phase.challenge
    Challenge.objects.filter(pk=challenge.pk).update(needs_approval=True)
    act(client, people.stranger, "join", challenge.slug, accept="yes", version="1")
    step = next_step(client, challenge)
    assert step.note and not step.url, "there is nothing to do but wait"


def test_new_rules_are_asked_for_again(client, phase, people):
    Challenge.objects.filter(pk=phase.challenge_id).update(rules_version="2")
    step = next_step(client, phase.challenge, people.owner)
    assert step.url == reverse("rules", args=[phase.challenge.slug]) and "(version 2)" in step.title and "version 1;" in step.note


def test_texts_of_organizers_are_markdown_without_anything_active(client, phase, people):
    challenge = phase.challenge
    challenge.description = "Read **this**. <script>alert(1)</script>"
    challenge.save()
    challenge.announcements.create(title="Data <b>moved</b>", body="See [here](javascript:alert(1)).")
    page = read(client, "challenge", challenge.slug)
    assert "<strong>this</strong>" in page and "alert(1)</script>" not in page
    assert "Data &lt;b&gt;moved&lt;/b&gt;" in page and "javascript:" not in page


def test_pages_of_a_challenge_are_tabs_and_hidden_with_it(client, phase, people):
    challenge = phase.challenge
    challenge.pages.create(slug="faq", title="FAQ", body="May I? **Yes.** <b>Now</b>")
    html = read(client, "challenge_page", challenge.slug, "faq")
    assert "May I? <strong>Yes.</strong> Now" in html and 'pages/faq/" aria-current="page">FAQ</a>' in html
    assert f'href="/challenges/{challenge.slug}/pages/faq/"' in read(client, "board", challenge.slug, phase.slug)
    (told,) = client.get(f"/api/v1/challenges/{challenge.slug}").json()["pages"]
    assert (told["slug"], told["title"]) == ("faq", "FAQ") and "**Yes.**" in told["body"]
    Challenge.objects.update(visibility="draft")
    read(client, "challenge_page", challenge.slug, "faq", status=404)
    assert "Edit this page" in read(client, "challenge_page", challenge.slug, "faq", user=people.organizer)


def test_a_limit_of_none_a_day_is_not_no_limit(client, phase):
    Phase.objects.filter(pk=phase.pk).update(limit_per_day=0, limit_total=None)
    words = " ".join(read(client, "challenge", phase.challenge.slug).split())
    assert words.count("0 a day") == 2 and "no limit" not in words
    Phase.objects.filter(pk=phase.pk).update(limit_per_day=None)
    words = " ".join(read(client, "challenge", phase.challenge.slug).split())
    assert words.count("no limit") == 2 and "a day" not in words


def test_announcements_of_later_are_not_shown_yet(client, challenge):
    challenge.announcements.create(title="Tomorrow's news", published_at=timezone.now() + timedelta(days=1))
    assert "Tomorrow" not in read(client, "challenge", challenge.slug)


def test_times_are_in_the_phases_zone(client, challenge, people):
    PhaseFactory(challenge=challenge, time_zone="Asia/Tokyo", opens_at=datetime(2026, 1, 1, 15, 30, tzinfo=UTC))
    challenge.announcements.create(title="Open", published_at=datetime(2026, 1, 3, 9, 0, tzinfo=UTC))
    page = read(client, "challenge", challenge.slug)
    assert 'datetime="2026-01-01T15:30:00Z"' in page and "2 January 2026, 00:30 JST" in page
    assert "3 January 2026, 18:00 JST" in page and " UTC" not in page.split('id="news"')[1].split("</section>")[0]
    for name, user, *args in (("home", None), ("console_news", people.organizer, challenge.slug)):
        assert "3 January 2026, 18:00 JST" in read(client, name, *args, user=user), name


def test_the_front_page_says_which_news_is_of_a_simulated_challenge(client, challenge):
    challenge.announcements.create(title="The phase is open", published_at=timezone.now())
    assert "simulated" not in read(client, "home").split("What’s new")[1]
    Challenge.objects.update(simulated=True)
    assert "simulated" in read(client, "home").split("What’s new")[1]


def test_a_challenge_of_imported_figures_alone_asks_nobody_to_take_part(client, challenge):
    phase = PhaseFactory(challenge=challenge, results_source="a paper, table 1")
    page = read(client, "challenge", challenge.slug)
    assert phase.title in page and "joined" not in page and 'class="checklist"' not in page and "Rules</span>" not in page
    PhaseFactory(challenge=challenge)
    page = read(client, "challenge", challenge.slug)
    assert "joined" in page and 'class="checklist"' in page


def test_a_challenge_without_phases_and_texts_says_what_will_be_there(client, challenge):
    page = read(client, "challenge", challenge.slug)
    assert "No phase yet" in page and "No description yet" in page


# --- rules and joining -------------------------------------------------------------------------


def test_accepting_the_rules_gives_a_team_of_one(client, challenge, people):
    page = read(client, "rules", challenge.slug, user=people.stranger)
    assert "Be fair." in page and 'name="version" value="1"' in page
    response = act(client, people.stranger, "join", challenge.slug, accept="yes", version="1")
    assert response.status_code == 200
    assert Team.of(challenge, people.stranger).name == "stranger"


def test_the_box_must_be_ticked_and_the_version_be_the_one_read(client, challenge, people):
    response = act(client, people.stranger, "join", challenge.slug, version="1")
    assert "Tick the box" in response.content.decode()
    response = act(client, people.stranger, "join", challenge.slug, accept="yes", version="0")
    assert response.status_code == 409 and "read them again" in response.content.decode()
    assert Participation.of(challenge, people.stranger) is None


def test_after_joining_one_goes_on_within_this_site_only(client, challenge, people):
    response = act(client, people.stranger, "join", challenge.slug, follow=False, accept="yes", version="1", next="/metrics/")
    assert response["Location"] == "/metrics/"
    response = act(client, people.stranger, "join", challenge.slug, follow=False, accept="yes", version="1", next="//evil.example/")
    assert response["Location"] == reverse("challenge", args=[challenge.slug])


def test_the_link_of_a_private_challenge_opens_it(client, challenge, people):
    Challenge.objects.filter(pk=challenge.pk).update(visibility="private", access_key="sesame-sesame")
    read(client, "challenge", challenge.slug, status=404)
    read(client, "access", challenge.slug, "sesam", status=404)
    door = read(client, "access", challenge.slug, "sesame-sesame")
    assert "Log in" in door and challenge.title in door
    response = act(client, people.stranger, "access", challenge.slug, "sesame-sesame")
    assert response.redirect_chain and response.status_code == 200
    assert "Accept the rules" in read(client, "challenge", challenge.slug)


def test_looking_at_the_door_lets_nobody_in(client, challenge, people):
    Challenge.objects.filter(pk=challenge.pk).update(visibility="private", access_key="sesame-sesame")
    read(client, "access", challenge.slug, "sesame-sesame", user=people.stranger)
    assert Participation.of(challenge, people.stranger) is None


# --- data --------------------------------------------------------------------------------------


def test_inputs_are_for_participants_once_the_phase_has_opened(client, phase, people):
    file = add_file(phase.challenge, phase)
    path = reverse("challenge_file", args=[phase.challenge.slug, file.pk])
    assert path not in read(client, "data", phase.challenge.slug, user=people.stranger)
    assert client.get(path).status_code == 403
    assert path in read(client, "data", phase.challenge.slug, user=people.mate)
    Phase.objects.filter(pk=phase.pk).update(opens_at=timezone.now() + timedelta(hours=1))
    assert path not in read(client, "data", phase.challenge.slug)
    assert client.get(path).status_code == 403


def test_a_file_for_all_phases_waits_for_the_first(client, phase, people):
    file = add_file(phase.challenge, None)
    client.force_login(people.owner)
    assert fetch(client, file)[0] == 200
    Phase.objects.filter(pk=phase.pk).update(opens_at=timezone.now() + timedelta(hours=1))
    assert fetch(client, file)[0] == 403


def test_a_file_is_found_under_its_own_challenge_only(client, phase, people):
    from tests.support.factories import ChallengeFactory

    file = add_file(phase.challenge, phase)
    client.force_login(people.staff)
    assert client.get(reverse("challenge_file", args=[ChallengeFactory().slug, file.pk])).status_code == 404


@pytest.mark.parametrize("name", ['a"b.zip', "a\r\nSet-Cookie: x=1.zip", "../../etc/passwd", "Dächer 屋根.zip", ""])
def test_downloads_are_attachments_whatever_the_file_is_called(client, phase, people, name):
    file = add_file(phase.challenge, phase, name=name, data=b"<html><script>alert(1)</script>")
    client.force_login(people.owner)
    status, headers, content = fetch(client, file)
    assert status == 200 and content == b"<html><script>alert(1)</script>"
    said = headers["content-disposition"]
    assert said.startswith("attachment;") and "\n" not in said and "/" not in said.replace("*=utf-8''", "").replace("*=UTF-8''", "")
    assert "octet-stream" in headers["content-type"] and "x=1" not in headers.get("set-cookie", "")


def test_a_file_that_is_gone_from_storage_is_not_found(client, phase, people):
    file = add_file(phase.challenge, phase)
    stored_files.store().delete(file.key)
    client.force_login(people.owner)
    assert fetch(client, file)[0] in (403, 404)  # an S3 server may keep to itself that there is nothing


def test_the_manifest_is_there_for_everybody_once_the_phase_has_opened(client, phase):
    from submissions.manifest import Manifest

    path = reverse("manifest", args=[phase.challenge.slug, phase.slug])
    assert Manifest.from_json(client.get(path).content) == phase.manifest
    Phase.objects.filter(pk=phase.pk).update(opens_at=timezone.now() + timedelta(hours=1))
    assert client.get(path).status_code == 404


# --- team --------------------------------------------------------------------------------------


def test_only_leaders_are_shown_and_may_use_the_acts_of_leaders(client, people, challenge):
    assert "Send the invitation" in read(client, "team", challenge.slug, user=people.owner)
    assert "Send the invitation" not in read(client, "team", challenge.slug, user=people.mate)
    acts = {
        "team_rename": {"name": "Mine"},
        "team_invite": {"email": "a@example.org"},
        "team_withdraw_invite": {},
        "team_make_link": {},
        "team_end_link": {},
        "team_remove": {"member": people.owner.pk},
        "team_lead": {"member": people.mate.pk, "how": "share"},
    }
    for name, data in acts.items():
        assert act(client, people.mate, name, challenge.slug, **data).status_code == 403, name
    people.team.refresh_from_db()
    assert people.team.name == "Ridge" and not people.team.is_leader(people.mate)


def test_a_leader_renames_invites_and_hands_over(client, people, challenge):
    assert "new name" in act(client, people.owner, "team_rename", challenge.slug, name="Eaves").content.decode()
    page = act(client, people.owner, "team_invite", challenge.slug, email="grace@example.org").content.decode()
    invite = people.team.invites.get()
    assert invite.email == "grace@example.org" and "grace@example.org" in page
    act(client, people.owner, "team_withdraw_invite", challenge.slug, invite=invite.pk)
    assert not people.team.invites.open(timezone.now())
    act(client, people.owner, "team_lead", challenge.slug, member=people.mate.pk, how="hand_over")
    assert people.team.is_leader(people.mate) and not people.team.is_leader(people.owner)


def test_what_is_refused_is_said_on_the_page(client, people, challenge):
    page = act(client, people.owner, "team_leave", challenge.slug).content.decode()
    assert "last leader" in page
    page = act(client, people.owner, "team_rename", challenge.slug, name="vALLEY").content.decode()
    assert "choose another name" in page


def test_a_leader_acts_on_their_own_team_only(client, people, challenge):
    assert act(client, people.owner, "team_remove", challenge.slug, member=people.other.pk).status_code == 404
    theirs = people.other_team.invite("x@example.org", people.other)
    assert act(client, people.owner, "team_withdraw_invite", challenge.slug, invite=theirs.pk).status_code == 404
    assert act(client, people.owner, "team_remove", challenge.slug, member="9" * 30).status_code == 404


def test_the_link_is_shown_once_and_lets_people_join(client, people, challenge):
    page = act(client, people.owner, "team_make_link", challenge.slug).content.decode()
    link = page.split('<pre tabindex="0">')[1].split("</pre>")[0]
    path = link.split("8000")[1]
    assert link not in read(client, "team", challenge.slug)
    client.logout()
    anonymous = client.get(path).content.decode()
    assert "Join Ridge" in anonymous and f"?next={path}" in anonymous
    client.force_login(people.stranger)
    assert 'name="accept"' in client.get(path).content.decode()
    assert client.post(path, {"version": "1"}).status_code == 409  # the box
    assert client.post(path, {"version": "1", "accept": "yes"}).status_code == 302
    assert Team.of(challenge, people.stranger) == people.team


def test_a_member_does_not_use_up_an_invitation_of_somebody_else(client, people, challenge):
    invite = people.team.invite("grace@example.org", people.owner)
    for member in (people.mate, people.owner):
        assert act(client, member, "team_join", invite.token).status_code == 200
    invite.refresh_from_db()
    assert invite.accepted_at is None
    act(client, people.stranger, "team_join", invite.token, accept="yes", version="1")
    assert Team.of(challenge, people.stranger) == people.team
    invite.refresh_from_db()
    assert invite.accepted_at is not None
    assert act(client, people.mate, "team_join", invite.token).status_code == 404, "used up"


def test_an_invitation_does_not_open_a_private_challenge(client, people, challenge):
    token = people.team.make_link()
    Challenge.objects.filter(pk=challenge.pk).update(visibility="private")
    assert 'name="accept"' not in read(client, "team_join", token, user=people.stranger)
    assert act(client, people.stranger, "team_join", token, accept="yes", version="1").status_code == 404
    assert Team.of(challenge, people.stranger) is None


def test_a_refused_joining_accepts_no_rules_by_the_way(client, people, challenge):
    Challenge.objects.filter(pk=challenge.pk).update(team_size=2)
    response = act(client, people.stranger, "team_join", people.team.make_link(), accept="yes", version="1")
    assert response.status_code == 409 and "full" in response.content.decode()
    assert Participation.of(challenge, people.stranger) is None


def test_an_old_link_says_that_it_is_over(client, people):
    token = people.team.make_link()
    people.team.make_link()
    read(client, "team_join", token, status=404)


def test_who_left_can_found_a_team_on_the_page(client, people, challenge):
    act(client, people.mate, "team_leave", challenge.slug)
    assert reverse("team_create", args=[challenge.slug]) in read(client, "team", challenge.slug)
    act(client, people.mate, "team_create", challenge.slug, name="Eaves")
    found = Team.of(challenge, people.mate)
    assert found.name == "Eaves" and found.is_leader(people.mate)


# --- account -----------------------------------------------------------------------------------


def test_the_account_shows_teams_and_entries_and_keeps_the_settings(client, people, scored):
    entry = scored()
    page = read(client, "account", user=people.mate)
    assert "Ridge" in page and reverse("entry", args=[entry.pk]) in page
    type(entry.phase).objects.filter(pk=entry.phase_id).update(time_zone="Europe/Prague")
    assert in_words(entry.created_at, "Europe/Prague") in read(client, "account", user=people.mate)
    assert act(client, people.mate, "account", time_zone="Asia/Tokyo").status_code == 200
    people.mate.refresh_from_db()
    assert people.mate.time_zone == "Asia/Tokyo" and people.mate.notify_by_email is False
    assert "your time:" in read(client, "challenge", people.team.challenge.slug)


def test_a_time_zone_that_is_none_is_refused(client):
    response = act(client, UserFactory(), "account", time_zone="Mars/Olympus")
    assert response.status_code == 200 and "errorlist" in response.content.decode()


def test_pages_of_participants_ask_for_few_queries(client, phase, people, django_assert_max_num_queries):
    add_file(phase.challenge, phase)
    client.force_login(people.owner)
    for name, most in [("challenge", 22), ("rules", 14), ("data", 18), ("team", 18)]:
        with django_assert_max_num_queries(most):
            client.get(reverse(name, args=[phase.challenge.slug]))
