"""Every state of people's figures on every surface: board, entry, study, metric, cards, exports and API show it, with its reason where
there is no number."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import asdict
from html import unescape

import pytest
from django.http import HttpResponse
from django.urls import reverse

from leaderboard.boards.board_summary import front
from leaderboard.models import Snapshot, StudyAnalysis
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.states import SHOWN, Counted, Key, Reason, State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.views import share_cards
from leaderboard.wording.reasons import sentence
from submissions.models import Phase
from tests.service.leaderboard.test_one_figure import VOTES, judged
from tests.support.factories import ChallengeFactory
from tests.support.leaderboard.studies.scored_houses import scored_houses
from tests.support.people import People

pytestmark = pytest.mark.django_db
REASON_OF = {reason.state: reason for reason in (Reason(key, Counted.RATERS, 5, 3, 1.0) for key in reversed(Key))}
NOUN = "item"


@pytest.fixture(scope="module")
def number_of_the_phase(rows_of_module) -> int:
    """Three entries on six houses, which everybody may see, and nine raters' votes on them."""
    challenge = ChallengeFactory(visibility="public")
    return judged(scored_houses(challenge, People.around(challenge)), VOTES).pk


@pytest.fixture
def phase(number_of_the_phase, db) -> Phase:
    return Phase.objects.get(pk=number_of_the_phase)


def figures(state: State) -> tuple[Agreement, Figure]:
    """A figure of agreement in that state, and a correlation."""
    reason, has_ends = REASON_OF.get(state), state in (State.KNOWN, State.ROUGH)
    value, low, high = (0.8 if state in SHOWN or state is State.TOO_FEW else None), *((0.7, 0.9) if has_ends else (None, None))
    counts = {"raters": 9, "samples": 6, "coverage": 1.0}
    return Agreement(value, low, high, 117, state, reason, **counts), Figure(value, low, high, 9, state, reason)


def read(answer: HttpResponse) -> str:
    assert answer.status_code == 200
    found = unescape(answer.content.decode())
    assert not re.search(r"\bNone\b|\bnan\b|\{[a-z]+\}", re.sub(r"(?s)<script.*?</script>", "", found)), found
    return found


@pytest.mark.parametrize("state", State)
def test_each_surface_of_a_board_shows_it(phase, client, monkeypatch, state):
    snapshot = Snapshot.current(phase, "public")
    decided, correlation = figures(state)
    people = snapshot.board.people
    changed = {"decided": decided, "rho": correlation, "tau": correlation, "r": correlation, "damaged": correlation, "standing": None}
    lines = [line if line.reference_point else line.model_copy(update=changed) for line in people.metrics]
    board = snapshot.board.model_copy(update={"people": people.model_copy(update={"metrics": lines})})
    kept = Snapshot.keep(phase, snapshot.batch, board, front(board))
    Snapshot.objects.exclude(pk=kept.pk).delete()
    sheets = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: sheets.append(sheet) or HttpResponse())

    slugs = [phase.challenge.slug, phase.slug]
    url, entry = reverse("board", args=slugs), reverse("entry", args=[phase.submissions.first().pk])
    page = read(client.get(url))
    titles = " ".join(re.findall(r'title="([^"]*)"', page))
    assert ("80 of 100 comparisons" in titles) == decided.shown
    if not decided.shown or state is State.ALIKE:
        assert state in (State.WITHHELD, *SHOWN) or sentence(REASON_OF[state], NOUN) in page
    for address in (entry, reverse("home"), f"{url}snapshots/{kept.digest}.json", f"{url}snapshots/{kept.digest}.md"):
        read(client.get(address))
    for address in (url, entry):
        client.get(f"{address}card.png")
    assert len(sheets) == 2

    api = client.get(f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}/board").json()
    told = next(one["people"] for one in api["columns"])
    assert told["srocc"]["state"] == state and told["srocc"]["why"] == sentence(REASON_OF.get(state), NOUN)
    assert (told["decided"] is None) == (decided.value is None)
    exported = next(csv.DictReader(read(client.get(f"{url}snapshots/{kept.digest}.csv")).splitlines()))
    assert exported["corner_f1_people_rho_why"] == sentence(REASON_OF.get(state), NOUN)
    assert exported["corner_f1_people_rho"] == ("" if correlation.value is None else "0.8")


@pytest.mark.parametrize("state", State)
def test_each_surface_of_a_study_shows_it(phase, client, monkeypatch, state):
    row = StudyAnalysis.objects.get()
    decided, correlation = (json.loads(json.dumps(asdict(one))) for one in figures(state))
    for line in row.content["metrics"]:
        if not line["reference_point"]:
            line["decided"] |= {name: decided[name] for name in ("value", "low", "high", "n", "state", "reason")}
            line |= {name: dict(correlation) for name in ("rho", "tau", "r")}
            line["standing"] = None
    row.save()
    monkeypatch.setattr(share_cards, "sent", lambda sheet: HttpResponse())
    slugs = [phase.challenge.slug, phase.slug, "people"]
    url = reverse("study", args=slugs)
    page = read(client.get(url))
    assert ("80 of 100 comparisons" in page) == (state in SHOWN)
    assert sentence(REASON_OF.get(state), NOUN) in page
    api = client.get(f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}/studies/people").json()["analyses"][""]["metrics"][0]
    stored = client.get(f"{url}analysis.json").json()["criteria"][""]["metrics"][0]
    assert api["decided"]["state"] == stored["decided"]["state"] == state
    assert api["decided"]["why"] == stored["decided"]["why"] == sentence(REASON_OF.get(state), NOUN)
    for address in (f"{url}card.png", reverse("metric", args=["hss"]), reverse("metric", args=["hss"]) + "card.png"):
        assert client.get(address).status_code == 200
