"""Cards, feeds and badges hold what somebody without an account may see at that moment, whoever asks."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from PIL import Image

from leaderboard.models import Snapshot, Study
from leaderboard.studies.analysis import analyse_due
from leaderboard.views import share, share_cards
from submissions.models import Announcement, Challenge, Phase
from tests.support.factories import ChallengeFactory, PhaseFactory
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.held_against_people import held

pytestmark = pytest.mark.django_db
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def board(phase, people, scored) -> Phase:
    scored(0.25, method_name="ridge-net")
    scored(0.6, method_name="valley-net", team=people.other_team)
    Snapshot.make_all(phase)
    return phase


def place(phase: Phase) -> str:
    return f"/challenges/{phase.challenge.slug}/{phase.slug}/"


def test_a_pasted_link_of_a_board_shows_its_sentence_and_its_card(client, board):
    page = client.get(place(board)).content.decode()
    told = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[a-z_:]+|description)" content="([^"]*)"', page))
    assert told["og:title"] == f"{board.challenge.title} · {board.title}"
    assert told["og:description"] == told["description"] == "ridge-net is first. 2 entries of 2 teams."
    assert told["twitter:card"] == "summary_large_image"
    assert f'<link rel="canonical" href="{told["og:url"]}">' in page and told["og:url"].endswith(place(board))
    card = client.get(told["og:image"].partition("//")[2].partition("/")[1] + told["og:image"].partition("//")[2].partition("/")[2])
    assert card["Content-Type"] == "image/png" and "public" in card["Cache-Control"]
    picture = Image.open(io.BytesIO(card.content))
    assert picture.size == (1200, 630) and len(picture.getcolors(1 << 20)) > 50
    assert len(card.content) < 300_000


def card_of(client, path: str) -> tuple[str, bytes]:
    """(address, PNG) of the card that a page names."""
    page = client.get(path).content.decode()
    address = unescape(re.search(r'<meta property="og:image" content="https?://[^/]+([^"]*)"', page).group(1))
    response = client.get(address)
    assert response.status_code == 200 and response["Content-Type"] == "image/png" and "public" in response["Cache-Control"], address
    assert Image.open(io.BytesIO(response.content)).size == (1200, 630)
    return address, response.content


def test_entries_comparisons_metrics_and_studies_have_cards_of_their_own(client, board):
    first, second = board.submissions.order_by("pk")
    held(board, "people")
    pages = [
        f"/entries/{first.pk}/",
        f"/entries/{second.pk}/",
        f"{place(board)}compare/?a={first.pk}&b={second.pk}",
        "/metrics/hss/",
        "/metrics/corner_f1/",
        f"{place(board)}people/people/",
    ]
    cards = [card_of(client, path) for path in pages]
    assert len({address for address, _ in cards}) == len({data for _, data in cards}) == len(pages)
    assert cards[2][0].endswith(f"compare/card.png?a={first.pk}&b={second.pk}")


def test_cards_tell_places_that_are_shared_and_figures_with_their_intervals(client, board, monkeypatch):
    sheets = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: sheets.append(sheet) or HttpResponse())
    names = [entry.method_name for entry in board.submissions.order_by("pk")]
    rows = [vote(*names, "left" if (k + n) % 2 else "right", f"r{k}", f"s{n}") for k in range(6) for n in range(6)]
    Study.import_votes(board, None, rows, slug="level", title="Level", question="?", is_public=True)
    while analyse_due():
        pass
    Snapshot.make_all(board)
    client.get(f"{place(board)}people/level/card.png")
    client.get(f"/entries/{board.submissions.first().pk}/card.png")
    study, entry = sheets
    assert [(row.left, row.right) for row in study.rows] == [("1", "50 % [33 %, 67 %]")] * 2
    assert "With people: 1st, level with 1 other, 50 % of duels won [33 %, 67 %], 36 judgements by 6 people." in entry.words


def test_a_card_is_cut_where_there_is_no_room_and_has_no_sign_that_cannot_be_drawn():
    long = share.Sheet("word " * 60, "more words " * 90, tuple(share.Row("1", "name " * 30, "0.5") for _ in range(3)), "foot " * 60, True)
    assert Image.open(io.BytesIO(share.drawn(long))).size == (1200, 630)
    assert share.drawn(share.Sheet("a", "rank 1–4, −.05")) == share.drawn(share.Sheet("a", "rank 1-4, -.05"))


def test_every_page_has_a_sentence_and_a_picture(client, board):
    for path in ("/", "/metrics/", "/docs/", "/search/"):
        page = client.get(path).content.decode()
        assert 'name="description" content="See which' in page and "/card.png" in page, path


def test_who_is_hidden_later_is_on_no_card_badge_or_feed(client, board, people):
    first = board.submissions.get(method_name="ridge-net")
    assert "ridge-net" in client.get(f"{place(board)}feed.atom").content.decode()
    assert "#1 of 2" in client.get(f"/entries/{first.pk}/badge.svg").content.decode()
    before = client.get(f"{place(board)}card.png").content
    first.hide(people.organizer, "no")
    organizer = Client()
    organizer.force_login(people.organizer)
    for viewer in (client, organizer):  # whoever asks: what they fetch may be passed on
        assert "ridge-net" not in viewer.get(f"{place(board)}feed.atom").content.decode()
        assert viewer.get(f"/entries/{first.pk}/badge.svg").status_code == 404
        assert viewer.get(f"{place(board)}card.png").content != before


def test_a_badge_says_its_rank_of_how_many_on_which_board(client, board):
    second = board.submissions.get(method_name="valley-net")
    response = client.get(f"/entries/{second.pk}/badge.svg")
    assert response["Content-Type"] == "image/svg+xml"
    root = ElementTree.fromstring(response.content)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == board.challenge.title and texts[1].startswith("#2 of 2")
    assert Snapshot.current(board, "public").short in root[0].text


def test_a_badge_of_a_hostile_name_is_text(client, board):
    Challenge.objects.filter(pk=board.challenge_id).update(title="</svg><script>alert(1)</script>")
    data = client.get(f"/entries/{board.submissions.first().pk}/badge.svg").content
    assert b"<script" not in data and ElementTree.fromstring(data) is not None


def test_the_feed_has_a_line_for_each_new_first(client, board, scored, people):
    scored(0.0, method_name="new-first", team=people.other_team)
    before = len(ElementTree.fromstring(client.get(f"{place(board)}feed.atom").content).findall("a:entry", ATOM))
    Snapshot.make_all(board)
    feed = ElementTree.fromstring(client.get(f"{place(board)}feed.atom").content)
    titles = [entry.findtext("a:title", namespaces=ATOM) for entry in feed.findall("a:entry", ATOM)]
    assert len(titles) == before + 1 and titles[0].startswith("new-first (") and titles[1].startswith("ridge-net (")
    Snapshot.make_all(board)  # the same ranking again is no news
    assert len(ElementTree.fromstring(client.get(f"{place(board)}feed.atom").content).findall("a:entry", ATOM)) == len(titles)


def test_announcements_are_a_feed_and_dates_a_calendar(client, board):
    Announcement.objects.create(challenge=board.challenge, title="Two more weeks", body="**Really.**")
    later = timezone.now() + timezone.timedelta(days=3)
    Announcement.objects.create(challenge=board.challenge, title="Not yet", published_at=later)
    feed = client.get(f"/challenges/{board.challenge.slug}/news.atom").content.decode()
    assert "Two more weeks" in feed and "&lt;strong&gt;Really" in feed and "Not yet" not in feed
    Challenge.objects.filter(pk=board.challenge_id).update(title="Roofs; walls, and a very long name " + "x" * 80)
    data = client.get(f"/challenges/{board.challenge.slug}/dates.ics")
    lines = data.content.decode().split("\r\n")
    assert data["Content-Type"].startswith("text/calendar") and lines[0] == "BEGIN:VCALENDAR" and lines[-2] == "END:VCALENDAR"
    assert all(len(line.encode()) <= 75 for line in lines)
    whole = data.content.decode().replace("\r\n ", "")
    assert "SUMMARY:Roofs\\; walls\\, and a very long name" in whole
    assert f"DTSTART:{board.opens_at:%Y%m%dT%H%M%SZ}" in whole


def test_search_engines_are_led_to_what_is_public_and_nothing_else(client, board):
    private = PhaseFactory(challenge=ChallengeFactory(visibility=Challenge.Visibility.PRIVATE))
    hidden = PhaseFactory(challenge=board.challenge, board=Phase.Board.HIDDEN, board_at=timezone.now() + timezone.timedelta(days=1))
    places = re.findall(r"<loc>https?://[^/]+([^<]+)</loc>", client.get("/sitemap.xml").content.decode())
    assert place(board) in places and "/metrics/hss/" in places and "/docs/ranking/" in places
    assert place(private) not in places and place(hidden) not in places
    for path in places:
        assert client.get(path).status_code == 200, path
    robots = client.get("/robots.txt").content.decode()
    assert "Disallow: /rate/" in robots and robots.rstrip().endswith("/sitemap.xml")


def test_cards_are_drawn_once(client, board):
    share.drawn.cache_clear()
    for _ in range(3):
        client.get(f"{place(board)}card.png")
    assert share.drawn.cache_info().misses == 1


def test_a_board_stands_in_the_frame_of_another_page(client, board, people):
    page = client.get(place(board)).content.decode()
    asked = unescape(re.search(r'type="application/json\+oembed"[^>]*href="([^"]*)"', page).group(1))
    told = client.get(asked).json()
    assert (told["version"], told["type"], told["width"]) == ("1.0", "rich", 720)
    address = re.search(r'<iframe src="https?://[^/]+([^"]*)" width="720"', told["html"]).group(1)
    frame = client.get(address)
    assert "X-Frame-Options" not in frame and "frame-ancestors *" in frame["Content-Security-Policy"]
    assert client.get(place(board))["X-Frame-Options"] == "DENY"
    shown = frame.content.decode()
    assert shown.index("ridge-net") < shown.index("valley-net") and "<script" not in shown
    assert client.get(f"{asked}&maxwidth=300&maxheight=99999").json()["width"] == 300
    assert client.get(f"{asked}&format=xml").status_code == 501
    for other in ("/metrics/", "/nothing/", "https://[", "", f"{place(board)}charts/"):
        assert client.get("/oembed", {"url": other}).status_code == 404
    board.submissions.get(method_name="ridge-net").hide(people.organizer, "no")
    assert "ridge-net" not in client.get(address).content.decode()
