"""Certainty of first place, as a board states it, and what changed lately."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from leaderboard.models import Snapshot
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from leaderboard.wording.study import fragile
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401
from tests.service.leaderboard.views.test_metrics import text, words
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.scored_houses import items


@pytest.mark.django_db
def test_peoples_first_place_is_shown_with_its_interval_and_what_it_hangs_on_until_the_entry_is_hidden(judged, client, request):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 1))
    assert analyse_due() == 1
    build_due_boards()
    summary, board = study.analyses.get().summary, Snapshot.current(phase, "public").board
    firm = board.people.firm
    first = summary.ranked[0]
    assert (first.method, first.rank, first.may_be_first, summary.enough.settled) == ("far off", (1, 1), True, 2)
    assert (firm.rank, firm.settled, firm.fragile, firm.answers) == (first.rank, True, summary.fragile, 64)
    assert firm.p_best is None

    address = reverse("board", args=[phase.challenge.slug, phase.slug])
    response = client.get(address)
    said = response.context["peoples_first"].text
    assert said.endswith(fragile(summary, board.resampled)) and "far off" in said and said in unescape(words(text(response)))
    entries[1].hide(request.getfixturevalue("people").organizer, "no")
    build_due_boards()
    page = words(text(client.get(address)))
    assert "People put" not in page and "By people" not in page

    lately = text(client.get(reverse("board_history", args=[phase.challenge.slug, phase.slug]) + "?part=lately"))
    assert "<html" not in lately and lately.count("<p>") <= 3 and "far off" not in lately


@pytest.mark.django_db
def test_what_first_place_hangs_on_is_counted_in_entry_pairs_where_answers_name_no_sample(judged, client):  # noqa: F811
    phase, entries = judged
    names = [*(entry.method_name for entry in entries), "elsewhere", "nowhere"]
    pairs = [(1, 0, 5), (1, 2, 2), (0, 2, 4), (1, 3, 3), (0, 3, 3), (2, 3, 4)]  # better, worse, how many of 12 say the other
    sides = [("left", names[a], names[b], n) for a, b, n in pairs], [("right", names[b], names[a], n) for a, b, n in pairs]
    other = {"left": "right", "right": "left"}
    votes = [(left, right, other[side] if k < n else side, f"r{k}") for k in range(12) for side, left, right, n in sides[k % 2]]
    study = imported(phase, [vote(*row, "") for row in votes])
    assert analyse_due() == 1
    row = study.analyses.get()
    row.content["fragile"]["samples"] = 2
    row.save()
    build_due_boards()
    board = Snapshot.current(phase, "public").board
    assert board.people.unsampled and board.people.firm.samples_counted == 6
    assert (board.people.firm.rank, board.people.places[board.people.first]) == ((1, 4), (1, 2))
    response = client.get(reverse("board", args=[phase.challenge.slug, phase.slug]))
    said = response.context["peoples_first"].text
    assert "1 to 2" in said and "2 of 6 comparisons" in said and not response.context["people"].sampled
    assert said in unescape(words(text(response))) and "raters and other" not in text(response)
