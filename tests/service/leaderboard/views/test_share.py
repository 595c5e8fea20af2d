"""Badges and boards on other pages hold what somebody without an account may see at that moment, whoever asks; so does what search
engines are told."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Snapshot
from submissions.models import Challenge, Phase
from tests.service.leaderboard.views.test_board import address
from tests.support.factories import ChallengeFactory, PhaseFactory

pytestmark = pytest.mark.django_db


def test_who_is_hidden_later_is_on_no_card_badge_or_feed(client, board, people):
    first = board.submissions.get(method_name="ridge-net")
    assert "ridge-net" in client.get(f"{address(board)}feed.atom").content.decode()
    assert "#1 of 2" in client.get(f"/entries/{first.pk}/badge.svg").content.decode()
    before = client.get(f"{address(board)}card.png").content
    first.hide(people.organizer, "no")
    organizer = Client()
    organizer.force_login(people.organizer)
    for viewer in (client, organizer):  # whoever asks: what they fetch may be passed on
        assert "ridge-net" not in viewer.get(f"{address(board)}feed.atom").content.decode()
        assert viewer.get(f"/entries/{first.pk}/badge.svg").status_code == 404
        assert viewer.get(f"{address(board)}card.png").content != before


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


def test_what_is_no_page_has_the_icon_that_pages_have(client):
    answer = client.get("/favicon.ico")
    assert answer.status_code == 302 and answer["Location"] in client.get("/").content.decode()


def test_search_engines_are_led_to_what_is_public_and_nothing_else(client, board):
    private = PhaseFactory(challenge=ChallengeFactory(visibility=Challenge.Visibility.PRIVATE))
    hidden = PhaseFactory(challenge=board.challenge, board=Phase.Board.HIDDEN, board_at=timezone.now() + timezone.timedelta(days=1))
    places = re.findall(r"<loc>https?://[^/]+([^<]+)</loc>", client.get("/sitemap.xml").content.decode())
    assert address(board) in places and "/metrics/hss/" in places and "/docs/ranking/" in places
    assert address(private) not in places and address(hidden) not in places
    for path in places:
        assert client.get(path).status_code == 200, path
    robots = client.get("/robots.txt").content.decode()
    assert "Disallow: /rate/" in robots and robots.rstrip().endswith("/sitemap.xml")


def test_a_board_stands_in_the_frame_of_another_page(client, board, people):
    page = client.get(address(board)).content.decode()
    asked = unescape(re.search(r'type="application/json\+oembed"[^>]*href="([^"]*)"', page).group(1))
    told = client.get(asked).json()
    assert (told["version"], told["type"], told["width"]) == ("1.0", "rich", 720)
    src = re.search(r'<iframe src="https?://[^/]+([^"]*)" width="720"', told["html"]).group(1)
    frame = client.get(src)
    assert "X-Frame-Options" not in frame and "frame-ancestors *" in frame["Content-Security-Policy"]
    assert client.get(address(board))["X-Frame-Options"] == "DENY"
    shown = frame.content.decode()
    assert shown.index("ridge-net") < shown.index("valley-net") and "<script" not in shown
    assert client.get(f"{asked}&maxwidth=300&maxheight=99999").json()["width"] == 300
    assert client.get(f"{asked}&format=xml").status_code == 501
    for other in ("/metrics/", "/nothing/", "https://[", "", f"{address(board)}charts/"):
        assert client.get("/oembed", {"url": other}).status_code == 404
    board.submissions.get(method_name="ridge-net").hide(people.organizer, "no")
    assert "ridge-net" not in client.get(src).content.decode()
