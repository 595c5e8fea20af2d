"""Search finds what is there to be seen by whoever searches, and nothing else."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.views import docs
from leaderboard.views.search import sections
from submissions.models import Challenge, Phase, Status, Submission, Team
from submissions.visibility import Person, sees_entry
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]


def found(viewer: Client, text: str) -> str:
    return viewer.get("/search/", {"q": text}).content.decode()


def test_every_page_leads_there_on_a_phone_too(client):
    page = client.get("/status/").content.decode()
    assert '<a class="narrow-only" href="/search/">Search</a>' in page, "the field in the head has no room there"
    assert '<input type="search"' in found(client, "") and 'href="/#how"' in page and 'id="how"' in client.get("/").content.decode()


def entries_in(page: str) -> set[int]:
    return {int(pk) for pk in re.findall(r'href="/entries/(\d+)/"', page)}


def sent(phase: Phase, team: Team, name: str) -> Submission:
    now, number = timezone.now(), phase.submissions.count() + 1
    return Submission.objects.create(
        phase=phase, team=team, number=number, status=Status.SCORED, method_name=name, file_name="e.zip", size=1, received_at=now
    )


def test_entries_are_found_by_whom_they_are_shown_to(phase, people):
    now = timezone.now()
    frozen = PhaseFactory(challenge=phase.challenge, board=Phase.Board.FROZEN, board_at=now - timedelta(hours=1))
    unseen = PhaseFactory(challenge=phase.challenge, board=Phase.Board.HIDDEN, board_at=now + timedelta(days=2))
    private = PhaseFactory(challenge=ChallengeFactory(visibility=Challenge.Visibility.PRIVATE))
    stranger = TeamFactory(challenge=private.challenge)
    for place, team in (
        (phase, people.team),
        (phase, people.other_team),
        (frozen, people.team),
        (unseen, people.team),
        (private, stranger),
    ):
        sent(place, team, f"roofer {place.pk}")
    hidden = sent(phase, people.team, "roofer hidden")
    hidden.hide(people.organizer, "no")
    out = sent(phase, people.other_team, "roofer out")
    out.disqualify(people.organizer, "no")
    rows = list(Submission.objects.filter(method_name__startswith="roofer").select_related("phase__challenge", "phase__parent"))
    assert len(rows) == 7
    seen_by = {}
    for name in ("anonymous", "stranger", "owner", "other"):
        user, viewer = getattr(people, name), Client()
        if name != "anonymous":
            viewer.force_login(user)
        expected = {row.pk for row in rows if sees_entry(Person(user, row.phase.challenge, now), row)}
        seen_by[name] = entries_in(found(viewer, "ROOF er"))
        assert seen_by[name] == expected, name
    assert seen_by["anonymous"] == seen_by["stranger"] and len(seen_by["anonymous"]) == 2 and hidden.pk in seen_by["owner"]


def test_challenges_that_one_may_not_know_of_are_not_found(people):
    for visibility in Challenge.Visibility:
        ChallengeFactory(title=f"Gables {visibility}", visibility=visibility)
    page = found(Client(), "gables")
    assert "Gables public" in page and "Gables private" not in page and "Gables draft" not in page


def test_metrics_and_sections_of_documents_are_found_where_they_are():
    client = Client()
    page = found(client, "puzzlesim")
    assert 'href="/metrics/puzzlesim/"' in page and page.index("/metrics/puzzlesim/") < page.index("<h2>Documents")
    heading = next(one for one in sections() if one.heading and one.anchor)
    linked = f'href="/docs/{heading.name}/#{heading.anchor}"'
    assert linked in found(client, heading.heading)
    assert f'id="{heading.anchor}"' in docs.html_of(heading.name)
    assert len({one.name for one in sections()}) == len(docs.TITLES)


@pytest.mark.parametrize(
    ("text", "words"), [("", "What are you looking for?"), ("x", "at least 2 letters"), ("qqzzqq", "Nothing found for “qqzzqq”")]
)
def test_nothing_found_says_what_to_do(text, words):
    assert words in found(Client(), text)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "%' OR 1=1 --", "\x00roof", "é" * 300, "_ %"])
def test_hostile_words_are_words(text):
    page = found(Client(), text)
    assert "<script>alert" not in page


def test_it_takes_few_queries_however_many_phases_there_are(phase, django_assert_max_num_queries):
    for _ in range(8):
        PhaseFactory(challenge=phase.challenge, board=Phase.Board.FROZEN, board_at=timezone.now() - timedelta(hours=1))
    with django_assert_max_num_queries(4):
        found(Client(), "roof")


def test_links_into_a_document_lead_to_one_of_its_headings():
    anchors = {name: set(re.findall(r'<h\d id="([^"]*)"', docs.html_of(name))) for name in docs.TITLES}
    sources = [*ROOT.glob("leaderboard/**/*.html"), *ROOT.glob("submissions/**/*.html"), *ROOT.glob("leaderboard/docs/*.md")]
    links = [link for path in sources for link in re.findall(r"(?:url 'doc' '|/docs/)(\w+)(?:' %}|/)#([\w-]+)", path.read_text())]
    assert len(links) > 3 and [(name, anchor) for name, anchor in links if anchor not in anchors.get(name, ())] == []
