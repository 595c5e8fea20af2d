"""The list of challenges, filtered: the page, the API and the queries behind them agree on what fits."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.models import Study
from leaderboard.views.home import main_phase
from submissions.models import Challenge, Phase
from submissions.models.challenge import check_tags
from tests.service.leaderboard.views.test_board import text
from tests.support.factories import ChallengeFactory, PhaseFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def five() -> dict[str, Challenge]:
    now = timezone.now()
    day = timedelta(days=1)
    rows = {
        "roofs": ChallengeFactory(slug="roofs", title="T-roofs", tags=["roofs", "outdoor"]),
        "roof": ChallengeFactory(slug="roof", title="T-roof", tags=["roof"], family="mesh"),
        "rooms": ChallengeFactory(slug="rooms", title="T-rooms", tags=["indoor", "outdoor"], family="render"),
        "empty": ChallengeFactory(slug="empty", title="T-empty"),
        "secret": ChallengeFactory(slug="secret", title="T-secret", tags=["roofs", "secret-tag"], visibility="private"),
    }
    PhaseFactory(challenge=rows["roofs"], slug="p")
    PhaseFactory(challenge=rows["roofs"], slug="later", opens_at=now + day)
    PhaseFactory(challenge=rows["roof"], opens_at=now - 3 * day, closes_at=now - day)
    PhaseFactory(challenge=rows["rooms"], opens_at=now - 3 * day, closes_at=now - day)
    PhaseFactory(challenge=rows["rooms"], opens_at=now + day, closes_at=None)
    PhaseFactory(challenge=rows["secret"])
    return rows


def titles(page: str) -> set[str]:
    return {found.removeprefix("T-") for found in re.findall(r">(T-[a-z]+)<", page)}


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("", {"roofs", "roof", "rooms", "empty"}),
        ("tag=roofs", {"roofs"}),
        ("tag=roof", {"roof"}),
        ("tag=outdoor", {"roofs", "rooms"}),
        ("tag=outdoor&tag=indoor", {"rooms"}),
        ("tag=out%25", {"roofs", "roof", "rooms", "empty"}),  # what cannot be a tag asks for nothing
        ("tag=secret-tag", set()),
        ("kind=mesh", {"roof"}),
        ("kind=nothing", {"roofs", "roof", "rooms", "empty"}),
        ("state=running", {"roofs"}),
        ("state=upcoming", {"rooms", "empty"}),
        ("state=past", {"roof"}),
        ("people=yes", {"roofs"}),
        ("people=no", {"roof", "rooms", "empty"}),
        ("tag=outdoor&state=upcoming&kind=render&people=no", {"rooms"}),
        ("q=t-roof&kind=wireframe", {"roofs"}),
    ],
)
def test_a_filter_leaves_what_fits(client, five, query, fits):
    Study.objects.create(phase=five["roofs"].phases.get(slug="p"), slug="s", title="S", is_public=True, state=Study.State.CLOSED)
    Study.objects.create(phase=five["roof"].phases.get(), slug="s", title="S", is_public=False, state=Study.State.CLOSED)
    page = text(client.get(f"/challenges/?{query}"))
    assert titles(page) == fits
    assert "secret-tag" not in page.replace('value="secret-tag"', "").split("<main")[1] or "secret-tag" in query


def test_a_study_on_a_board_that_is_not_out_is_not_told(client, five):
    phase = five["roofs"].phases.get(slug="p")
    Study.objects.create(phase=phase, slug="s", title="S", is_public=True, state=Study.State.CLOSED)
    Phase.objects.filter(pk=phase.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
    assert titles(text(client.get("/challenges/?people=yes"))) == set()


def test_states_are_those_of_the_cards(five):
    now = timezone.now()
    for challenge in five.values():
        phases = list(challenge.phases.order_by("position", "opens_at", "id"))
        when = main_phase(phases, now, set())[1]
        for state in ("running", "upcoming", "past"):
            assert Challenge.objects.in_state(state, now).filter(pk=challenge.pk).exists() == (state == when), (challenge.slug, state)


def test_the_api_filters_alike(client, five):
    def slugs(query: str) -> set[str]:
        return {one["slug"] for one in client.get(f"/api/v1/challenges?{query}").json()["items"]}

    assert slugs("tag=outdoor") == {"roofs", "rooms"} and slugs("state=past") == {"roof"} and slugs("family=render") == {"rooms"}
    assert client.get("/api/v1/challenges?state=nothing").status_code == 422
    found = client.get("/api/v1/challenges?limit=1&tag=outdoor").json()
    assert "tag=outdoor" in found["next"] and client.get("/api/v1/challenges/roofs").json()["tags"] == ["roofs", "outdoor"]
    assert {one["slug"] for one in client.get(found["next"]).json()["items"]} | {found["items"][0]["slug"]} == {"roofs", "rooms"}


@pytest.mark.parametrize("tags", [["Roofs"], ["a b"], ["-a"], ["a" * 31], ["a", "a"], [f"t{n}" for n in range(13)], [3], ['"']])
def test_what_is_no_tag_is_refused(tags):
    with pytest.raises(ValidationError):
        check_tags(tags)


def test_numbers_beside_tags_are_of_what_the_reader_may_see(client, five):
    page = re.sub(r"\s+", " ", text(client.get("/challenges/")))
    assert re.search(r'href="\?tag=roofs">roofs <span class="soft">1</span>', page), page
    assert re.search(r'href="\?tag=outdoor">outdoor <span class="soft">2</span>', page)


def test_real_challenges_stand_before_simulated_ones_and_newer_before_older(client):
    for title, simulated in (("T-old", False), ("T-made", True), ("T-new", False), ("T-invented", True)):
        ChallengeFactory(slug=title.lower(), title=title, simulated=simulated)
    assert re.findall(r">(T-[a-z]+)<", text(client.get("/challenges/"))) == ["T-new", "T-old", "T-invented", "T-made"]
