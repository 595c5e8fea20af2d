"""Cards hold what somebody without an account may see at that moment, whoever asks."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from django.http import HttpResponse
from PIL import Image

from leaderboard.models import Snapshot, Study
from leaderboard.studies.analysis import analyse_due
from leaderboard.views import share_cards
from submissions.models import Phase
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
    long = share_cards.Sheet(
        "word " * 60, "more words " * 90, tuple(share_cards.Row("1", "name " * 30, "0.5") for _ in range(3)), "foot " * 60, True
    )
    assert Image.open(io.BytesIO(share_cards.drawn(long))).size == (1200, 630)
    assert share_cards.drawn(share_cards.Sheet("a", "rank 1–4, −.05")) == share_cards.drawn(share_cards.Sheet("a", "rank 1-4, -.05"))


def test_every_page_has_a_sentence_and_a_picture(client, board):
    for path in ("/", "/metrics/", "/docs/", "/search/"):
        page = client.get(path).content.decode()
        assert 'name="description" content="See which' in page and "/card.png" in page, path


def test_cards_are_drawn_once(client, board):
    share_cards.drawn.cache_clear()
    for _ in range(3):
        client.get(f"{place(board)}card.png")
    assert share_cards.drawn.cache_info().misses == 1
