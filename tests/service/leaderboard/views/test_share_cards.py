"""Cards hold what somebody without an account may see at that moment, whoever asks."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from django.http import HttpResponse
from PIL import Image

from leaderboard.boards import snapshots
from leaderboard.boards.board_summary import front
from leaderboard.charts.cards import Sheet, drawn
from leaderboard.models import Snapshot, Study
from leaderboard.records.board import Against, Board, Mark
from leaderboard.records.front import Front
from leaderboard.studies.analysis import analyse_due
from leaderboard.views import share_cards
from leaderboard.wording import contradiction
from leaderboard.wording.contradiction import first
from submissions.models import Challenge, Phase
from tests.service.leaderboard.views.test_board import address
from tests.support.leaderboard.boards import board_of, judged
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.held_against_people import held

pytestmark = pytest.mark.django_db


def test_a_pasted_link_of_a_board_shows_its_sentence_and_its_card(client, board):
    page = client.get(address(board)).content.decode()
    told = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[a-z_:]+|description)" content="([^"]*)"', page))
    assert told["og:title"] == f"{board.challenge.title} · {board.title}"
    assert told["og:description"] == told["description"] == f"{first(Snapshot.current(board, 'public').front)} 2 entries of 2 teams."
    assert told["twitter:card"] == "summary_large_image"
    assert f'<link rel="canonical" href="{told["og:url"]}">' in page and told["og:url"].endswith(address(board))
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
        f"{address(board)}compare/?a={first.pk}&b={second.pk}",
        "/metrics/hss/",
        "/metrics/corner_f1/",
        f"{address(board)}people/people/",
    ]
    cards = [card_of(client, path) for path in pages]
    assert len({address for address, _ in cards}) == len({data for _, data in cards}) == len(pages)
    assert cards[2][0].endswith(f"compare/card.png?a={first.pk}&b={second.pk}")


@pytest.fixture
def sheets(monkeypatch) -> list[Sheet]:
    """Sheets of the cards that are asked for, instead of their pictures."""
    found = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: found.append(sheet) or HttpResponse())
    return found


def judged_evenly(board: Phase, **changes) -> Study:
    """A study of six people who find two entries equal."""
    names = [entry.method_name for entry in board.submissions.order_by("pk")]
    rows = [vote(*names, "left" if (k + n) % 2 else "right", f"r{k}", f"s{n}") for k in range(6) for n in range(6)]
    study = Study.import_votes(board, None, rows, **({"slug": "level", "title": "Level", "question": "?", "is_public": True} | changes))
    while analyse_due():
        pass
    snapshots.make_all(board)
    return study


def test_cards_tell_places_that_are_shared_and_figures_with_their_intervals(client, board, sheets):
    judged_evenly(board)
    client.get(f"{address(board)}people/level/card.png")
    client.get(f"/entries/{board.submissions.order_by('pk').first().pk}/card.png")
    study, entry = sheets
    assert [(strip.place, strip.value, strip.more) for strip in study.strips] == [("1–2", "50 %", "[33, 67]")] * 2
    assert study.foot == "36 votes by 6 raters" and [strip for strip in study.strips if not strip.width > 0] == []
    people, *metrics = entry.strips
    assert (people.name, people.value, people.more, people.place) == ("People", "50 %", "[33, 67]", "1–2")
    assert metrics and "36 votes by 6 raters" in entry.note


def test_who_has_no_account_is_shown_no_people_of_a_study_that_is_not_public(client, board, sheets):
    study = judged_evenly(board)
    entry = f"/entries/{board.submissions.first().pk}/card.png"
    client.get(entry)
    client.get(f"{address(board)}card.png")
    Study.objects.filter(pk=study.pk).update(is_public=False)
    board.touch_board()
    for _ in range(2):  # before the next ranking, and with it
        client.get(entry)
        client.get(f"{address(board)}card.png")
        snapshots.make_all(board)
    said = ["eople" in f"{sheet.words}{sheet.note}{sheet.strips}{sheet.rows}" for sheet in sheets]
    assert said == [True, True, False, False, False, False]
    assert client.get(f"{address(board)}people/level/card.png").status_code == 404


def test_an_item_is_pictured_where_everybody_may_see_it(client, board, sheets):
    address = f"/entries/{board.submissions.first().pk}/card.png"
    for access in Phase.ReferenceAccess:
        Phase.objects.filter(pk=board.pk).update(reference_access=access)
        client.get(address)
    seen = {access: sheet.picture for access, sheet in zip(Phase.ReferenceAccess, sheets, strict=True)}
    assert Image.open(io.BytesIO(seen.pop(Phase.ReferenceAccess.PUBLIC))).size == (576, 384)
    assert len(seen) >= 1 and set(seen.values()) == {None}


# --- boards made by hand

ENDS, OVER = (0.7, 0.6, 0.8), [Against(value=(0.7, 0.6, 0.8), p_holm=0.001), None, None]
MARKS = {"b": {"3": [Mark(preferred="method 0", id=1, value=(0.7, 0.6, 0.8), samples=["s"], n=1)]}}
SHARES = [0.2, 0.8, 0.5]


def sheet_of(ranking: Board, simulated: bool = False) -> Sheet:
    return share_cards.board_sheet(front(ranking), "C · P", "snapshot", simulated)


def test_a_first_place_that_people_contradict_is_the_claim():
    sheet = sheet_of(judged(board_of([0.9, 0.5, 0.1]), SHARES, over=OVER, marks=MARKS))
    assert [piece.text for sentence in sheet.claim for piece in sentence if piece.tone == "accent"] == ["method 1"]
    assert [figure.value for figure in sheet.figures] == ["70 of 100", "120"]
    assert "[60, 80]" in sheet.figures[0].words and "9 raters" in sheet.figures[1].words
    assert sheet.chart.left == "metrics" and len(sheet.chart.lines) == 3 and not sheet.rows


def test_else_a_pair_that_one_metric_turns_round_is_the_claim_in_that_metrics_order():
    ranking = judged(board_of([0.9, 0.5, 0.1]), [0.6, 0.8, 0.3], marks=MARKS)
    sheet = sheet_of(ranking)
    assert sheet.words == contradiction.statement(front(ranking).turned).text
    assert sheet.chart.left == "B" and sheet.figures[0].value == "70 of 100"


def test_two_entries_have_no_chart_and_the_first_stand_there_as_rows():
    marks = {"a": {"1": [Mark(preferred="method 1", id=2, value=(0.999, 0.99, 1.0), samples=[], n=0)]}}
    sheet = sheet_of(judged(board_of([0.9, 0.5]), [0.3, 0.8], marks=marks))
    assert sheet.chart is None and [(row.left, row.name, row.right) for row in sheet.rows] == [
        ("1", "method 0", "people: 2nd"),
        ("2", "method 1", "people: 1st"),
    ]
    assert sheet.figures[0].value.endswith("99 of 100")


def test_simulated_people_are_marked_on_a_board_that_is_not_made_up_itself():
    study = {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "simulated": True}
    ranking = judged(board_of([0.9, 0.5, 0.1]), SHARES, over=OVER, study=study)
    assert sheet_of(ranking).figures[1].words.endswith(", simulated")
    assert sheet_of(ranking, simulated=True).simulated and "simulated" not in sheet_of(ranking, simulated=True).figures[1].words


def test_simulated_people_are_marked_beside_places_and_on_an_entry():
    study = {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "simulated": True}
    ranking = judged(board_of([0.9, 0.5, 0.1]), SHARES, over=OVER[1:] + OVER[1:2], study=study)
    assert sheet_of(ranking).note.endswith("120 votes by 9 raters, simulated")
    assert "simulated" not in sheet_of(ranking, simulated=True).note
    real = ranking.model_copy(update={"challenge": ranking.challenge.model_copy(update={"simulated": False})})
    notes = [share_cards.entry_sheet(one, 0, "C · P", "snapshot").note for one in (real, ranking)]
    assert ["simulated" in note for note in notes] == [True, False]


def test_published_means_are_called_that_beside_an_entrys():
    nothing = [None, None, None]
    ranking = judged(board_of([0.9, 0.5, 0.1]), [4.4, 4.0, 3.1], kind="opinions", of="means", low=nothing, high=nothing)
    sheet = share_cards.entry_sheet(ranking, 0, "C · P", "snapshot")
    assert sheet.note.startswith("People: published means, 9 raters.")
    assert (sheet.strips[0].name, sheet.strips[0].more, sheet.strips[0].width) == ("Opinion score, of 5", "", 0.0)


def test_opinion_scores_differ_by_points():
    over = [Against(value=(0.52, 0.31, 0.7), p_holm=0.001), None, None]
    sheet = sheet_of(judged(board_of([0.9, 0.5, 0.1]), [2.1, 4.2, 3.0], kind="opinions", of="ratings", over=over))
    assert sheet.figures[0].value == "0.52 points" and "[0.31, 0.70]" in sheet.figures[0].words
    assert sheet.figures[1].words.startswith("ratings by 9 raters")
    alike = sheet_of(judged(board_of([0.9, 0.5, 0.1]), [2.1, 4.2, 3.0], kind="opinions", of="ratings"))
    assert alike.note.endswith("120 ratings by 9 raters")


@pytest.mark.parametrize(
    "ranking",
    [
        board_of([0.9, 0.5, 0.1]),
        judged(board_of([0.9, 0.5, 0.1]), SHARES),
        judged(board_of([0.9, 0.5, 0.1]), SHARES, raters=1, answers=4, reason=few_raters(1)),
    ],
    ids=["nobody judged", "not beyond chance", "one person"],
)
def test_without_a_contradiction_the_first_three_stand_there(ranking):
    sheet = sheet_of(ranking)
    assert sheet.words == first(front(ranking)).text and sheet.chart is None and not sheet.figures
    assert [(row.left, row.name) for row in sheet.rows] == [("1", "method 0"), ("2", "method 1"), ("3", "method 2")]
    shows_people = ranking.people is not None and ranking.people.reason is None
    assert [row.right for row in sheet.rows] == (
        ["people: 3rd", "people: 1st", "people: 2nd"] if shows_people else ["team 0", "team 1", "team 2"]
    )
    assert bool(sheet.note) == shows_people


def test_level_entries_are_called_level_and_names_without_letters_of_the_font_by_their_number():
    level = board_of([0.9, 0.9, 0.1])
    assert sheet_of(level).words == first(front(level)).text
    ranking = board_of([0.9, 0.9, 0.1], name=["网络重建", "x" * 200, "Müller"])
    assert sheet_of(ranking).words.startswith("entry 1 and ")
    assert [row.name for row in sheet_of(ranking).rows] == ["entry 1", "x" * 200, "Muller"]
    judged_ = sheet_of(judged(ranking, SHARES, over=OVER).model_copy(update={"overall": board_of([0.9, 0.5, 0.1]).overall}))
    assert "entry 1" in judged_.words and "xxx" in judged_.words and len(judged_.words) < 90


def test_an_entry_that_nobody_judged_has_no_strip_of_people():
    ranking = judged(board_of([0.9, 0.5, 0.1]), [0.3, 0.8, None], over=OVER)
    judged_, unjudged = (share_cards.entry_sheet(ranking, index, "C · P", "snapshot") for index in (1, 2))
    assert [strip.name for strip in judged_.strips] == ["People", "A"]
    assert "80 of 100" in judged_.words and "[75, 85]" in judged_.words
    assert [strip.name for strip in unjudged.strips] == ["A"] and "People" not in unjudged.words
    assert judged_.line == "C · P · team 1" and "People" not in unjudged.note


# --- the site's own


def test_the_sites_card_shows_the_surest_contradiction_that_anybody_may_see(client, board, sheets):
    client.get("/card.png")
    shown = front(judged(board_of([0.9, 0.5, 0.1]), SHARES, over=OVER)).model_dump(mode="json")
    lead = Snapshot.current(board, "public").lead
    Snapshot.objects.filter(phase=board).update(lead=shown)
    Study.import_votes(board, None, [vote("a", "b", "left", "r", "s")], slug="s", title="S", question="?", is_public=True)
    client.get("/card.png")
    Challenge.objects.filter(pk=board.challenge_id).update(visibility=Challenge.Visibility.PRIVATE)
    client.get("/card.png")
    Challenge.objects.filter(pk=board.challenge_id).update(visibility=Challenge.Visibility.PUBLIC)
    Snapshot.objects.filter(phase=board).update(lead=lead)
    client.get("/card.png")
    nothing, found, private, again = sheets
    assert found.words == contradiction.statement(Front.model_validate(shown).parted).text and found.chart is not None
    assert board.challenge.title in found.line and found.service == share_cards.SERVICE
    assert nothing == private == again and nothing.figures == share_cards.SERVES and nothing.words == ""


def test_every_page_has_a_sentence_and_a_picture(client, board):
    for path in ("/", "/metrics/", "/docs/", "/search/"):
        page = client.get(path).content.decode()
        (about,) = re.findall(r'<meta name="description" content="([^"]{40,}[.])">', page)
        assert f'<meta property="og:image:alt" content="{about}">' in page and "/card.png" in page, path


def test_cards_are_drawn_once(client, board):
    drawn.cache_clear()
    for _ in range(3):
        client.get(f"{address(board)}card.png")
    assert drawn.cache_info().misses == 1
