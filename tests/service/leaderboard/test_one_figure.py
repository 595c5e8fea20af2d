"""One figure, one text: board, study, entry, lists, feed, cards, exports, API and command show the same numbers of it, in one notation; of
votes, of ratings, and of published means."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse

from leaderboard.charts.cards import Sheet
from leaderboard.models import Snapshot, Study
from leaderboard.stats import mos_table, votes
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from leaderboard.views import share_cards
from leaderboard.wording.agreement import STANDINGS
from leaderboard.wording.digits import rounded
from leaderboard.wording.figures import interval, number, share
from leaderboard.wording.ranks import span
from submissions.models import Challenge, Phase
from tests.service.leaderboard.bundle.test_results import published  # noqa: F401
from tests.service.leaderboard.studies.test_parity import ABOUT, by_the_command
from tests.service.leaderboard.views.test_metrics import text
from tests.support.leaderboard.studies.scored_houses import NAMES, comparisons, scored_houses, scores

pytestmark = pytest.mark.django_db
METRICS = {"corner_f1": "Corner F1", "edge_f1": "Edge F1", "hss": "HSS"}


@dataclass(frozen=True)
class Answers:
    """Answers of a kind: patterns of what pages say of an entry's figure with people, and how that is written."""

    noun: str
    verdict: str
    cell: str
    factor: float  # of the numbers in a cell, to those of records
    field: str

    def written(self, value: Any, low: Any, high: Any) -> str:
        ends = [float(end) for end in (value, low, high)]
        return figure(*ends) if self.noun == "votes" else f"{number(ends[0], 2)} {interval(*ends[1:], 2)}"


VOTES = Answers(
    noun="votes",
    verdict=r"People put this entry (?:first|(\S+) of 3) ?: they would pick it in (\d+) of 100 comparisons (\[\d+, \d+\])",
    cell=r"people would pick this entry in ([\d.]+) % of comparisons; 95 % interval ([\d.]+) to ([\d.]+) %; rank \d (\d\S*)",
    factor=0.01,
    field="implied",
)
RATINGS = Answers(
    noun="ratings",
    verdict=r"People put this entry (?:first|(\S+) of 3) ?: ([\d.]+) of 5 on average (\[[\d.]+, [\d.]+\])",
    cell=r"([\d.]+) of 5; 95 % interval ([\d.]+) to ([\d.]+); rank \d (\d\S*)",
    factor=1.0,
    field="mos",
)


class Said:
    """Texts of each figure, by surface."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, set[str]]] = defaultdict(dict)

    def note(self, figure: str, surface: str, *found: str) -> None:
        assert found, f"{surface} does not show: {figure}"
        self.texts[figure].setdefault(surface, set()).update(re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", one) for one in found)

    def check(self) -> None:
        """Each figure is on at least three surfaces, which all say the same of it."""
        different = {name: found for name, found in self.texts.items() if len(found) < 3 or len(set().union(*found.values())) > 1}
        assert not different, different


def table_of(study: Study) -> Iterable[list[str]]:
    return mos_table.write(study.ratings()) if study.kind == Study.Kind.OPINIONS else votes.write(study.votes())


def figure(value: Any, low: Any, high: Any) -> str:
    return f"{share(float(value))} {interval(float(low), float(high))}"


def plain(html: str) -> str:
    """Text of a page with its tooltips before what they are of, one blank between words."""
    main = re.sub(r'<[^>]*?\btitle="([^"]*)"[^>]*>', r" \1 ", html.partition("<main")[2])
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


@pytest.fixture
def houses(challenge, people):
    """Three entries on six houses, which everybody may see."""
    Challenge.objects.filter(pk=challenge.pk).update(visibility="public")
    return scored_houses(challenge, people)


def judged(phase: Phase, kind: Answers) -> Phase:
    """The phase with answers of nine raters on its entries, analysed and ranked."""
    if kind is VOTES:
        Study.import_votes(phase, None, comparisons(phase, raters=9, seed=3), **ABOUT)
    else:
        Study.import_ratings(phase, None, scores(phase, raters=9, seed=3), **ABOUT)
    assert analyse_due() == 1
    build_due_boards()
    return phase


@pytest.fixture
def phase(houses):
    """Three entries on six houses, and nine raters' votes on them."""
    return judged(houses, VOTES)


@pytest.fixture
def sheets(monkeypatch) -> list[Sheet]:
    """Sheets of the cards that are asked for, instead of their pictures."""
    found: list[Sheet] = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: found.append(sheet) or HttpResponse())
    return found


@pytest.mark.parametrize("kind", [VOTES, RATINGS], ids=lambda kind: kind.noun)
def test_no_two_surfaces_say_different_things_of_one_figure(houses, kind, client, sheets, tmp_path, capsys):
    phase = judged(houses, kind)
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
        "command": by_the_command(tmp_path, table_of(phase.studies.get()), phase.studies.get(), capsys),
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
        reading = rf"{title} picks the same winner as people in (\d+) of 100 comparisons \(95 % interval (\d+) to (\d+)"
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
    listed = plain(text(client.get(reverse("challenge_list"))))
    for name in NAMES:
        value_of, at = f"{name}: figure with people", f"{name}: place with people"
        *ends, of_board = re.search(rf"\b{name} Ridge(?:(?! Ridge).)*?{kind.cell}", board).groups()
        said.note(value_of, "board", kind.written(*(float(end) * kind.factor for end in ends)))
        said.note(at, "board", of_board)
        for low_high, value in re.findall(rf"\b{name}(?: Ridge)? 95 % interval (\[\S+, \S+\])(?:, n \d+)? (\S+)", study):
            said.note(value_of, "study", f"{value} {low_high}")
        said.note(at, "study", *re.findall(rf"(?:range of its place |Rank |st |nd )?\b(\d(?:–\d)?) {name} Ridge", study))
        said.note(at, "list of challenges", *re.findall(rf"{name} Ridge (\d\S*)", listed))
        for surface, words in (("entry", pages[name]), ("card of the entry", cards[name].words)):
            of_entry, value, low_high = re.search(kind.verdict, words).groups()
            said.note(value_of, surface, f"{value} {low_high}")
            if of_entry is not None:
                said.note(at, surface, of_entry)
        strips = {"card of the entry": cards[name].strips[0]}
        strips["card of the study"] = next(strip for strip in cards["study"].strips if strip.name == name)
        for surface, strip in strips.items():
            said.note(value_of, surface, f"{strip.value.removesuffix(' %')} {strip.more}")
            said.note(at, surface, strip.place)
        said.note(at, "card of the board", next(row.right.removeprefix("people: ") for row in cards["board"].rows if row.name == name))
        own = next(row for row in rows if row["name"] == name)["people"]
        said.note(value_of, "API of the board", kind.written(own["value"], own["low"], own["high"]))
        line = next(row for row in exported if row["entry"] == name)
        said.note(value_of, "CSV", kind.written(line["people"], line["people_low"], line["people_high"]))
        for surface, found in analyses.items():
            scale = next(one for one in found["scales"] if one["method"] == name)
            said.note(value_of, surface, kind.written(*scale[kind.field]))
            if scale["rank"] is not None:
                said.note(at, surface, span(*scale["rank"]))

    # The value of the first, with its interval where there is one.
    first, column = rows[0], next(one for one in ranking["columns"] if one["is_primary"])
    ends = first["scores"][column["slug"]]["ci"] or (None, None)
    said.note("value of the first", "API of the board", rounded(first["scores"][column["slug"]]["value"], *ends, (0.0, 1.0)).text)
    feed = text(client.get(f"{board_url}feed.atom"))
    is_first = rf"{first['name']} is first, {column['title']} (\S+?)\.?(?: |<|$)"
    for surface, words in (("feed", feed), ("card of the board", cards["board"].words)):
        said.note("value of the first", surface, *re.findall(is_first, words))
    shown = rf"{first['name']} Ridge(?:(?! Ridge).)*?rank 1 \(1\) (\S+)"
    said.note("value of the first", "board", re.search(shown, board)[1])
    of_primary = rf"{column['title']} higher is better ↑ [^;]*; .*?rank 1 \(1\) (\S+)"
    said.note("value of the first", "entry", re.search(of_primary, pages[first["name"]])[1])

    # The answers that all of it is of, and how sure its intervals are.
    for surface, page in pages.items():
        said.note(
            "answers", surface, *re.findall(rf"\b(\d+ {kind.noun}) by 9 raters", page), *re.findall(rf"9 raters · (\d+ {kind.noun})", page)
        )
    said.note("answers", "API of the board", f"{ranking['study']['answers']} {kind.noun}")
    for surface, sheet in cards.items():
        said.note("answers", f"card of {surface}", *re.findall(rf"(\d+ {kind.noun})(?: by| in all)", f"{sheet.note} {sheet.foot}"))
    rough = {one["people"]["state"] for one in rows} | {one["people"]["decided"]["state"] for one in ranking["columns"]}
    assert rough == {"rough"} and [key for key, page in pages.items() if "rough intervals" not in page.lower()] == []

    assert len(said.texts) == 3 * len(METRICS) + 1 + 2 * len(NAMES) + 2
    said.check()


def test_of_published_means_no_two_surfaces_say_different_things(published, client, sheets):  # noqa: F811
    said, slugs = Said(), [published.challenge.slug, published.slug]
    board_url, study_url = reverse("board", args=slugs), reverse("study", args=[*slugs, "published-opinions"])
    board, study = (plain(text(client.get(url))) for url in (board_url, study_url))
    front, listed = (plain(text(client.get(reverse(name)))) for name in ("home", "challenge_list"))
    api = f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}"
    ranking = client.get(f"{api}/board").json()
    rows = client.get(ranking["rows_url"]).json()["items"]
    analyses = {
        "API of the study": client.get(f"{api}/studies/published-opinions").json()["analyses"]["overall"],
        "JSON of the study": client.get(f"{study_url}analysis.json").json()["criteria"]["overall"],
    }
    files = f"{board_url}snapshots/{Snapshot.current(published, 'public').digest}"
    exported = list(csv.DictReader(text(client.get(f"{files}.csv")).splitlines()))
    *_, by_people = text(client.get(f"{files}.md")).strip().splitlines()

    def order(found: Mapping[str, Any], digits: int, name: str = "rho") -> str:
        value, low, high = (float(found[f"{name}{end}"]) for end in ("", "_low", "_high"))
        return f"{number(value, digits)} {interval(low, high, digits)}"

    of_files = iter(re.findall(r"(−?[\d.]+) \((−?[\d.]+) to (−?[\d.]+), 11 entries\)", by_people))
    for column in ranking["columns"]:
        title, slug = column["title"], column["slug"]
        short, long = f"{title}: order of entries", f"{title}: order of entries, three digits"
        if f"{title} and people" in board:  # else its column is folded away
            said.note(short, "board", *re.findall(rf"{title} and people order .*? ρ (−?[\d.]+ \[\S+, \S+\]) · 11 entries", board))
        said.note(short, "Markdown", "{} [{}, {}]".format(*next(of_files)))
        said.note(long, "study", *re.findall(rf"{title} (−?[\d.]+ \[\S+, \S+\])", study))
        found = {"API of the board": column["people"]["srocc"]}
        found |= {surface: next(one for one in one_of["metrics"] if one["key"] == slug)["rho"] for surface, one_of in analyses.items()}
        found = {name: {"rho": one["value"], "rho_low": one["low"], "rho_high": one["high"]} for name, one in found.items()}
        found["CSV"] = {name: exported[0][f"{slug}_people_{name}"] for name in ("rho", "rho_low", "rho_high")}
        for surface, one in found.items():
            said.note(short, surface, order(one, 2))
            said.note(long, surface, order(one, 3))

    # Means of the entries, which have no interval, and their places.
    for row in rows:
        name = row["name"]
        mean, at = f"{name}: mean", f"{name}: place with people"
        client.get(f"{reverse('entry', args=[row['id']])}card.png")
        strip, page = sheets.pop().strips[0], plain(text(client.get(reverse("entry", args=[row["id"]]))))
        line = next(one for one in exported if one["entry"] == name)
        said.note(mean, "API of the board", number(row["people"]["value"], 2))
        said.note(mean, "CSV", number(float(line["people"]), 2))
        said.note(mean, "card of the entry", strip.value)
        said.note(mean, "entry", *re.findall(r"Opinion score higher is better ↑ [^;]* of 5(?:; rank \d+)? ([\d.]+) of 5", page))
        said.note(mean, "board", *re.findall(rf"\b{name} (?:(?! of 5).)*? of 5(?:; rank \d+ \d+\S*)? ([\d.]+) ", board))
        if name not in ranking["study"]["left_out"]:
            said.note(mean, "study", *re.findall(rf" {name} (\d\.\d\d) ", study))
        said.note(at, "card of the entry", strip.place)
        said.note(at, "CSV", line["people_rank"])
        said.note(at, "entry", *re.findall(r"Opinion score .*? of 5; rank \d+ [\d.]+ of 5 (\S+)", page))

    # What all of it is of, and who is first by metrics and by the means.
    basis = "ublished means, 23 raters"
    cards = {}
    for surface, url in {"board": board_url, "study": study_url}.items():
        client.get(f"{url}card.png")
        cards[f"card of the {surface}"] = (sheet := sheets.pop()).words + sheet.note + sheet.foot
    for surface, words in {"board": board, **cards}.items():
        said.note("answers", surface, *re.findall(basis, words))
        assert not re.search(r"\b0 ratings", words), surface
    highest = max(rows, key=lambda row: row["people"]["value"])["name"]
    said.note("first with people", "API of the board", highest)
    said.note("first with people", "front page", re.search(r"published means put (\S+) first", front)[1])
    said.note("first with people", "board", re.search(r"published means put (\S+) first", board)[1])
    said.note("first with people", "study", re.search(r"(\S+) has the highest published mean", study)[1])
    for name, place in re.findall(r"\d+ (\S+) (\d+)(?:st|nd|rd|th)", listed.partition("Rank metrics people")[2]):
        said.note(f"{name}: place with people", "list of challenges", place)
    said.check()


FIGURE = re.compile(r'(?s)<small class="range"([^>]*)>(.*?)</small>')
CELL = re.compile(r'(?s)<td class="(?:num|people)[^"]*"\s+title="([^"]*)"[^>]*>(.*?)</td>')
INTERVAL = r"\[[^\]]*, [^\]]*\]|\d–\d| to "
REASONS = ("interval", "is the same on all ", "no value", "waiting", "shown, not ranked")


def test_every_number_of_a_page_has_its_interval_or_a_reason(houses, client):
    """On all pages of the challenge, with votes of enough raters, and of too few."""
    phase = judged(houses, VOTES)
    Study.import_votes(phase, None, comparisons(phase, raters=3, seed=4), **ABOUT | {"slug": "few", "title": "Too few"})
    assert analyse_due() == 1
    root, seen, cells, figures = reverse("challenge", args=[phase.challenge.slug]), set(), 0, 0
    todo = [root, *(reverse("entry", args=[entry.pk]) for entry in phase.submissions.all()), *(f"/metrics/{key}/" for key in METRICS)]
    while todo:
        url = todo.pop()
        seen.add(url)
        answer = client.get(url)
        if "text/html" not in answer.get("Content-Type", "") or answer.status_code != 200:
            continue
        page = text(answer)
        todo += {link for link in re.findall(r'href="([^"?#]*)', page) if link.startswith(root) and link not in seen} - set(todo)
        for title, cell in CELL.findall(page):
            cells += 1
            assert any(reason in title for reason in REASONS), (url, title, cell)
        for attributes, words in FIGURE.findall(re.sub(r"(?s)<th.*?</th>", "", page)):
            figures += 1
            is_count = re.fullmatch(r"\s*(?:n |of )?\d[\d,]*\s*", words)
            assert is_count or re.search(INTERVAL, words) or 'title="' in attributes, (url, attributes, words)
    assert len(seen) > 20 and cells > 9 and figures > 20
