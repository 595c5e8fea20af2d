"""Feeds and calendars hold what somebody without an account may see at that moment, whoever asks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from django.utils import timezone

from leaderboard.boards import snapshots
from submissions.models import Announcement, Challenge, Submission
from tests.service.leaderboard.views.test_board import address

pytestmark = pytest.mark.django_db
ATOM = {"a": "http://www.w3.org/2005/Atom"}


def test_the_feed_has_a_line_for_each_new_first(client, board, scored, people):
    scored(0.0, method_name="new-first", team=people.other_team)
    before = len(ElementTree.fromstring(client.get(f"{address(board)}feed.atom").content).findall("a:entry", ATOM))
    snapshots.make_all(board)
    feed = ElementTree.fromstring(client.get(f"{address(board)}feed.atom").content)
    titles = [entry.findtext("a:title", namespaces=ATOM) for entry in feed.findall("a:entry", ATOM)]
    assert len(titles) == before + 1 and titles[0].startswith("new-first is first, ") and titles[1].startswith("ridge-net is first, ")
    assert feed.find("a:entry/a:summary", ATOM).text.startswith(f"By {people.other_team.name}. 3 entries ")
    assert b"(simulated)</title>" not in client.get(f"{address(board)}feed.atom").content
    Challenge.objects.filter(pk=board.challenge_id).update(simulated=True)
    assert b"(simulated)</title>" in client.get(f"{address(board)}feed.atom").content
    snapshots.make_all(board)  # the same ranking again is no news
    assert len(ElementTree.fromstring(client.get(f"{address(board)}feed.atom").content).findall("a:entry", ATOM)) == len(titles)
    board.submissions.filter(method_name="new-first").update(is_baseline=True)
    assert len(ElementTree.fromstring(client.get(f"{address(board)}feed.atom").content).findall("a:entry", ATOM)) == before


def test_who_comes_back_to_first_place_is_news_again(client, board, scored, people):
    first = Submission.objects.get(method_name="ridge-net")
    for act in (lambda: first.hide(people.organizer, "We look at it."), lambda: first.unhide(people.organizer)):
        act()
        board.refresh_from_db()
        snapshots.make_all(board)
    feed = ElementTree.fromstring(client.get(f"{address(board)}feed.atom").content).findall("a:entry", ATOM)
    firsts = [entry.findtext("a:title", namespaces=ATOM).partition(" is first")[0] for entry in feed]
    assert firsts == ["ridge-net", "valley-net", "ridge-net"]
    again, _, made = [entry.find("a:link", ATOM).get("href") for entry in feed]
    assert again.partition("#")[0] == made != again and feed[0].findtext("a:id", namespaces=ATOM) != feed[2].findtext(
        "a:id", namespaces=ATOM
    )


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
    assert [line for line in lines if not len(line.encode()) <= 75] == []
    whole = data.content.decode().replace("\r\n ", "")
    assert "SUMMARY:Roofs\\; walls\\, and a" in whole
    assert f"DTSTART:{board.opens_at:%Y%m%dT%H%M%SZ}" in whole
