"""Two people join a challenge and form a team, in a browser, with and without scripts."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from submissions.models import Team, User
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def roofs():
    """A challenge somebody can join."""
    challenge = ChallengeFactory(slug="roofs", title="Roofs", description="Build **roofs**.", team_size=3)
    PhaseFactory(challenge=challenge, slug="test", title="Test phase", time_zone="Asia/Tokyo")
    return challenge


@pytest.fixture
def person(browser, live_server, settings):
    """`person("ada")`: a page of ada's own browser, logged in. Anything a page trips over fails the test."""
    settings.SITE_URL = live_server.url
    troubles: list[str] = []
    contexts = []

    def open_browser(name: str, **options):
        user = UserFactory(username=name)
        session = SessionStore()
        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session.save()
        context = browser.new_context(base_url=live_server.url, timezone_id="Europe/Prague", **options)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session.session_key, "url": live_server.url}])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        return page

    yield open_browser
    for context in contexts:
        context.close()
    assert troubles == []


def accept_rules(page) -> None:
    page.goto("/challenges/roofs/")
    page.get_by_role("link", name="Read and accept").click()
    page.get_by_label("I have read the rules").check()
    page.get_by_role("button", name="Accept and take part").click()


def message(page) -> str:
    return page.locator(".messages").inner_text()


def new_link(page) -> str:
    page.goto("/challenges/roofs/team/")
    page.get_by_role("button", name="Make a link").click()
    return page.locator(".copy pre").inner_text()


def test_two_people_form_a_team_and_part_again(person, roofs):
    ada, grace = person("ada"), person("grace")
    accept_rules(ada)
    assert Team.of(roofs, User.objects.get(username="ada")).name == "ada"
    assert ada.locator(".checklist .done").count() == 3
    link = new_link(ada)
    accept_rules(grace)  # and has a team of one, which she leaves by joining the other
    grace.goto(link)
    grace.get_by_role("button", name="Join as grace").click()
    message(grace)
    assert {user.username for user in Team.objects.get().members.all()} == {"ada", "grace"}

    ada.goto("/challenges/roofs/team/")
    ada.get_by_role("button", name="Remove").click()
    dialog = ada.get_by_role("dialog")  # asked first; the way back changes nothing
    assert "grace" in dialog.inner_text()
    dialog.get_by_role("button", name="Cancel").click()
    assert Team.objects.get().members.count() == 2
    ada.get_by_role("button", name="Remove").click()
    ada.get_by_role("dialog").get_by_role("button", name="Remove").click()
    message(ada)
    assert Team.of(roofs, User.objects.get(username="grace")) is None


def test_everything_works_without_scripts_too(person, roofs):
    ada, grace = person("ada", java_script_enabled=False), person("grace", java_script_enabled=False)
    accept_rules(ada)
    link = new_link(ada)
    grace.goto(link)
    grace.get_by_label("I have read the").check()
    grace.get_by_role("button", name="Join as grace").click()
    assert {user.username for user in Team.objects.get().members.all()} == {"ada", "grace"}
    ada.goto("/challenges/roofs/team/")
    ada.get_by_role("button", name="Hand over the lead").click()
    team = Team.objects.get()
    assert team.is_leader(User.objects.get(username="grace"))
    ada.get_by_role("button", name="Leave ada").click()
    message(ada)
    assert [user.username for user in team.members.all()] == ["grace"]


def test_times_stand_in_the_phases_zone_and_in_the_viewers(person, roofs):
    page = person("ada")
    page.goto("/challenges/roofs/")
    opens = page.locator("table time").first
    assert opens.inner_text().endswith("JST")
    assert opens.get_attribute("title").startswith("your time: ")
    page.goto("/account/")
    page.get_by_label("Time zone").select_option("America/Lima")
    page.get_by_role("button", name="Save").click()
    page.goto("/challenges/roofs/")
    local = roofs.phases.get().opens_at.astimezone(ZoneInfo("America/Lima"))
    assert page.locator("table time").first.get_attribute("title") == f"your time: {local.day} {local:%B}, {local:%H:%M}"
