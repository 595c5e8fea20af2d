"""Counts on pages: one word means one thing, and one number stands on all of them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from leaderboard.models import Snapshot
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from submissions.models import Challenge
from tests.service.leaderboard.studies.test_analysis import imported, votes_for
from tests.service.leaderboard.views.test_metrics import text, words
from tests.support.factories import PhaseFactory, TeamFactory, gables, give_reference
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db
SLUGS = ("corner_f1", "edge_f1", "hss")


@pytest.fixture
def phase(challenge, people):
    """Three entries of two teams and a baseline on eight houses, and eight people's 64 answers; a third team has only joined."""
    phase = PhaseFactory(challenge=challenge, entries="all", ranking="mean_rank")
    give_reference(phase, gables(8))
    made = [
        entry(phase, team, {slug: spread(mean, 8) for slug in SLUGS}, method_name=name)
        for team, mean, name in ((people.team, 0.9, "near"), (people.other_team, 0.5, "far off"), (people.other_team, 0.6, "between"))
    ]
    hosts = TeamFactory(challenge=challenge, name="Hosts")
    entry(phase, hosts, {slug: spread(0.2, 8) for slug in SLUGS}, method_name="hull", is_baseline=True)
    TeamFactory(challenge=challenge, name="Only joined")
    Challenge.objects.filter(pk=challenge.pk).update(visibility="public")
    imported(phase, votes_for(made, list(phase.batches.get(state="current").reference.item_ids), 0))
    assert analyse_due() == 1
    build_due_boards()
    return phase


def test_entries_teams_and_answers_are_the_same_on_every_page(phase, client):
    slugs = [phase.challenge.slug, phase.slug]
    snapshot = Snapshot.current(phase, "public")

    def page(name: str, *more: str) -> str:
        return words(text(client.get(reverse(name, args=[*slugs, *more]))))

    board = page("board")
    assert "2 teams · 3 entries" in board
    front = words(text(client.get("/")))
    assert "2 teams, 3 entries" in front and "64 votes" in front and "64 votes by 8 raters" in board
    assert "2 teams, 3 entries" in words(text(client.get(reverse("challenge_list"))))
    assert "3 entries and 1 baseline" in page("entries")
    assert re.search(r"· 3 entries · first: near", page("board_history"))
    assert "3 entries of 2 teams" in page("snapshot", snapshot.digest)
    api = client.get(f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}/board").json()
    assert (api["n_entries"], api["n_teams"]) == (3, 2)

    study = page("study", "people")
    assert "64 votes · 2 entries" in study  # those that people were asked about
    metrics = words(text(client.get("/metrics/?kind=wireframe")))
    decided = phase.studies.get().analyses.get().summary.metrics[0].decided.n
    assert f"{decided:,}" in metrics


def test_the_team_of_baselines_is_not_among_those_that_joined(phase, client):
    """Three teams of people joined, one of them without an entry; the hosts' own only holds the baseline."""
    joined = phase.challenge.teams.exclude(name="Hosts").count()
    overview = words(text(client.get(reverse("challenge", args=[phase.challenge.slug]))))
    assert f"{joined} teams joined" in overview and phase.challenge.teams.count() == joined + 1
