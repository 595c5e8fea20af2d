"""One figure, one text: board, study, entry, cards, exports, API and command show the same numbers of it, in one notation."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse

from leaderboard.charts.cards import Sheet
from leaderboard.models import Snapshot, Study
from leaderboard.stats import votes
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from leaderboard.views import share_cards
from leaderboard.wording.agreement import STANDINGS
from leaderboard.wording.figures import interval, share
from leaderboard.wording.ranks import span
from submissions.models import Challenge
from tests.service.leaderboard.studies.test_parity import ABOUT, by_the_command
from tests.service.leaderboard.views.test_metrics import text
from tests.support.leaderboard.studies.scored_houses import NAMES, comparisons, scored_houses

pytestmark = pytest.mark.django_db
METRICS = {"corner_f1": "Corner F1", "edge_f1": "Edge F1", "hss": "HSS"}
VERDICT = r"People put it (?:first|(\S+) of 3) ?: it wins (\d+) % of its comparisons (\[\d+, \d+\])"


class Said:
    """Texts of each figure, by surface."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, set[str]]] = defaultdict(dict)

    def note(self, figure: str, surface: str, *found: str) -> None:
        assert found, f"{surface} does not show: {figure}"
        self.texts[figure].setdefault(surface, set()).update(re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", one) for one in found)


def figure(value: Any, low: Any, high: Any) -> str:
    return f"{share(float(value))} {interval(float(low), float(high))}"


def plain(html: str) -> str:
    """Text of a page with its tooltips before what they are of, one blank between words."""
    main = re.sub(r'<[^>]*?\btitle="([^"]*)"[^>]*>', r" \1 ", html.partition("<main")[2])
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


@pytest.fixture
def phase(challenge, people):
    """Three entries on six houses, and nine raters' votes on them."""
    phase = scored_houses(challenge, people)
    Challenge.objects.filter(pk=challenge.pk).update(visibility="public")
    Study.import_votes(phase, None, comparisons(phase, raters=9, seed=3), **ABOUT)
    assert analyse_due() == 1
    build_due_boards()
    return phase


@pytest.fixture
def sheets(monkeypatch) -> list[Sheet]:
    """Sheets of the cards that are asked for, instead of their pictures."""
    found: list[Sheet] = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: found.append(sheet) or HttpResponse())
    return found


def test_no_two_surfaces_say_different_things_of_one_figure(phase, client, sheets, tmp_path, capsys):
    said, slugs = Said(), [phase.challenge.slug, phase.slug]
    board_url, study_url = reverse("board", args=slugs), reverse("study", args=[*slugs, "people"])
    entries = {entry.method_name: reverse("entry", args=[entry.pk]) for entry in phase.submissions.all()}
    board, study = (plain(text(client.get(url))) for url in (board_url, study_url))
    pages = {"board": board, "study": study} | {name: plain(text(client.get(url))) for name, url in entries.items()}
    api = f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}"
    ranking = client.get(f"{api}/board").json()
    rows = client.get(ranking["rows_url"]).json()["items"]
    analyses = {
        "API of the study": client.get(f"{api}/studies/people").json()["analyses"][""],
        "JSON of the study": client.get(f"{study_url}analysis.json").json()["criteria"][""],
        "command": by_the_command(tmp_path, votes.write(phase.studies.get().votes()), phase.studies.get(), capsys),
    }
    snapshot = Snapshot.current(phase, "public")
    exported = list(csv.DictReader(text(client.get(f"{board_url}snapshots/{snapshot.digest}.csv")).splitlines()))
    cards = {}
    for name, url in {"board": board_url, "study": study_url, **entries}.items():
        client.get(f"{url}card.png")
        cards[name] = sheets.pop()

    # Agreement of metrics with people: the figure, its state, the range of places.
    for slug, title in METRICS.items():
        agrees, state, places = (f"{title}: {what}" for what in ("agreement", "state", "places"))
        reading = rf"that people decided, {title} decides (\d+) as they did \(95 % interval (\d+) to (\d+)"
        for surface, page in (("board", board), ("study", study)):
            said.note(agrees, surface, *(f"{value} [{low}, {high}]" for value, low, high in re.findall(reading, page)))
            for words, ends in re.findall(rf"{title} \d+ ([a-z ]+) · place (\d+(?:–\d+)?)", page):
                said.note(state, surface, words)
                said.note(places, surface, ends)
        said.note(agrees, "table of the study", *re.findall(rf"{title} [a-z ]+: a rough interval (\d+ \[\d+, \d+\]), n \d+", study))
        column = next(one for one in ranking["columns"] if one["slug"] == slug)["people"]
        said.note(agrees, "API of the board", figure(*(column["decided"][end] for end in ("value", "low", "high"))))
        for surface, found in analyses.items():
            line = next(one for one in found["metrics"] if one["key"] == slug)
            said.note(agrees, surface, figure(*(line["decided"][end] for end in ("value", "low", "high"))))
            said.note(state, surface, STANDINGS[line["standing"]][1])
            said.note(places, surface, span(*line["places"]))
        said.note(state, "API of the board", STANDINGS[column["standing"]][1])
        said.note(places, "API of the board", span(*column["places"]))
        said.note(agrees, "CSV", *(figure(*(row[f"{slug}_people_decided{end}"] for end in ("", "_low", "_high"))) for row in exported))
        said.note(places, "CSV", *(span(*(int(row[f"{slug}_people_place_{end}"]) for end in ("low", "high"))) for row in exported))

    # Another rater.
    for surface, page in (("board", board), ("study", study)):
        said.note("another rater", surface, *re.findall(r"another rater:? (\d+ \[\d+, \d+\])", page))
    said.note("another rater", "sentence of the study", *re.findall(r"Two raters agree on (\d+ \[\d+, \d+\]) of 100", study))
    bands = {"API of the board": ranking["study"]["band"]} | {surface: found["ceiling"] for surface, found in analyses.items()}
    for surface, band in bands.items():
        said.note("another rater", surface, figure(*(band["two_people"][end] for end in ("value", "low", "high"))))

    # Entries with people: the figure, and the range of the place.
    for name in NAMES:
        wins, at = f"{name}: comparisons won", f"{name}: place with people"
        cell = r"people would pick it in ([\d.]+) % of comparisons; 95 % interval ([\d.]+) to ([\d.]+) %; rank \d (\d\S*)"
        *ends, of_board = re.search(rf"\b{name} Ridge(?:(?! Ridge).)*?{cell}", board).groups()
        said.note(wins, "board", figure(*(float(end) / 100 for end in ends)))
        said.note(at, "board", of_board)
        for low_high, value in re.findall(rf"\b{name}(?: Ridge)? 95 % interval (\[\d+, \d+\])(?:, n \d+)? (\d+) %", study):
            said.note(wins, "study", f"{value} {low_high}")
        said.note(at, "study", *re.findall(rf"(?:range of its place )?(\d(?:–\d)?) {name} Ridge", study))
        for surface, words in (("entry", pages[name]), ("card of the entry", cards[name].words)):
            of_entry, value, low_high = re.search(VERDICT, words).groups()
            said.note(wins, surface, f"{value} {low_high}")
            if of_entry is not None:
                said.note(at, surface, of_entry)
        strips = {"card of the entry": cards[name].strips[0]}
        strips["card of the study"] = next(strip for strip in cards["study"].strips if strip.name == name)
        for surface, strip in strips.items():
            said.note(wins, surface, f"{strip.value.removesuffix(' %')} {strip.more}")
            said.note(at, surface, strip.place)
        said.note(at, "card of the board", next(row.right.removeprefix("people: ") for row in cards["board"].rows if row.name == name))
        own = next(row for row in rows if row["name"] == name)["people"]
        said.note(wins, "API of the board", figure(own["value"], own["low"], own["high"]))
        line = next(row for row in exported if row["entry"] == name)
        said.note(wins, "CSV", figure(line["people"], line["people_low"], line["people_high"]))
        for surface, found in analyses.items():
            scale = next(one for one in found["scales"] if one["method"] == name)
            said.note(wins, surface, figure(*scale["implied"]))
            said.note(at, surface, span(*scale["rank"]))

    # The answers that all of it is of, and how sure its intervals are.
    for surface, page in pages.items():
        said.note("answers", surface, *re.findall(r"\b(\d+ votes) by 9 raters", page), *re.findall(r"9 raters · (\d+ votes)", page))
    said.note("answers", "API of the board", f"{ranking['study']['answers']} votes")
    for surface, sheet in cards.items():
        said.note("answers", f"card of {surface}", *re.findall(r"(\d+ votes)(?: by| in all)", f"{sheet.note} {sheet.foot}"))
    rough = {one["people"]["state"] for one in rows} | {one["people"]["decided"]["state"] for one in ranking["columns"]}
    assert rough == {"rough"} and all("few items: rough intervals" in page.lower() for page in pages.values())

    assert len(said.texts) == 3 * len(METRICS) + 1 + 2 * len(NAMES) + 1
    different = {name: found for name, found in said.texts.items() if len(found) < 4 or len(set().union(*found.values())) > 1}
    assert not different, different
