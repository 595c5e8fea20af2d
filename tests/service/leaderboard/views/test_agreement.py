"""Choosing metrics: what the page and the API say of a board, to whom, and by how much work."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards import ranking_variants, snapshots
from leaderboard.models import Snapshot
from leaderboard.records.board import NoOverallRank
from leaderboard.stats.ranking import NoOrder
from leaderboard.tasks import build_due_boards
from leaderboard.views.choosing_metrics import letter
from submissions.models import Phase, Submission
from tests.service.leaderboard.views.test_board import address, signed_in, text
from tests.support.factories import TeamFactory
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db
NAME = "choosing_metrics"
# Ranks: corner F1 1 2 3, edge F1 1 3 2, HSS 3 2 1; the mean ranks put them 1, 3, 2.
VALUES = {"ridge-net": (0.9, 0.9, 0.3), "valley-net": (0.8, 0.5, 0.5), "eaves-net": (0.7, 0.6, 0.8)}


@pytest.fixture
def board(phase, people):
    """Three entries whose metrics disagree, a baseline and an entry without HSS, ranked by the mean rank of three metrics."""
    for name, (corner, edge, hss) in VALUES.items():
        entry(phase, people.team, {"corner_f1": spread(corner), "edge_f1": spread(edge), "hss": spread(hss)}, method_name=name)
    entry(phase, people.team, {slug: spread(0.1) for slug in ("corner_f1", "edge_f1", "hss")}, method_name="hull", is_baseline=True)
    entry(phase, people.team, {"corner_f1": spread(0.2), "edge_f1": spread(0.2), "hss": [None] * 4}, method_name="half")
    Phase.objects.filter(pk=phase.pk).update(ranking="mean_rank", entries="all")
    build_due_boards()
    phase.refresh_from_db()
    return phase


class TestPage:
    def test_it_tells_how_many_entries_are_compared_their_ranks_and_the_pairs_that_turn_round(self, client, board):
        response = client.get(address(board, NAME))
        page, found = text(response), response.context["found"]
        assert (found.n, found.incomplete, found.step) == (3, 1, pytest.approx(2 / 3))
        assert "0.67" in page and "hull" not in page and "half" not in page
        ranks = page.split('aria-label="Ranks under every choice"')[1].split("</table>")[0]
        assert ranks.index(">ridge-net<") < ranks.index(">eaves-net<") < ranks.index(">valley-net<")
        assert "▲1" in ranks and "▼2" in ranks and "1–3" in ranks, "marked by more than colour"
        pairs = page.split('id="pairs"')[1]
        assert (found.n_flips, found.n_pairs) == (3, 3) and "HSS alone" in pairs and "without Corner F1" in pairs
        assert 'data-figure="figure-bumps"' in page and "<summary>Numbers</summary>" in page
        assert address(board, NAME) in text(client.get(address(board)))

    def test_the_matrix_holds_tau_or_rho_between_metrics(self, client, board):
        def cells(page):
            return [
                cell.split("</td>")[0].rsplit(">", 1)[-1] for cell in page.split('aria-label="Agreement of metrics"')[1].split("<td")[1:10]
            ]

        tau = cells(text(client.get(address(board, NAME))))
        # Corner and edge F1 differ in one pair of three, corner F1 and HSS in all, edge F1 and HSS in two.
        assert [cell for cell in tau if cell] == ["1", "0.33", "−1.00", "0.33", "1", "−0.33", "−1.00", "−0.33", "1"]
        rho = cells(text(client.get(address(board, NAME) + "?by=rho")))
        assert [cell for cell in rho if cell] == ["1", "0.50", "−1.00", "0.50", "1", "−0.50", "−1.00", "−0.50", "1"]
        assert cells(text(client.get(address(board, NAME) + "?by=nonsense"))) == tau

    def test_ranks_are_said_to_be_among_the_compared_where_an_entry_of_the_board_lacks_a_value(self, client, board):
        Phase.objects.filter(pk=board.pk).update(ranking="primary")
        values = {"corner_f1": spread(0.85), "edge_f1": spread(0.85), "hss": [None] * 4}
        entry(board, TeamFactory(challenge=board.challenge), values, method_name="lacking")
        build_due_boards(timezone.now() + timedelta(seconds=5))
        rows = client.get(f"/api/v1/challenges/{board.challenge.slug}/phases/{board.slug}/board").json()["rows_url"]
        assert [(row["name"], row["rank"]) for row in client.get(rows).json()["items"]][:3] == [
            ("ridge-net", 1),
            ("lacking", 2),
            ("valley-net", 3),
        ]
        response = client.get(address(board, NAME))
        ranks = text(response).split('aria-label="Ranks under every choice"')[1].split("</table>")[0]
        assert re.search(r'<td class="rank">2</td>\s*<td class="name"><b><a href="[^"]*">valley-net<', ranks)
        assert response.context["found"].n == 3

    def test_names_are_text_whatever_they_hold(self, client, board):
        Submission.objects.filter(method_name="ridge-net").update(method_name="<script>alert(1)</script>")
        snapshots.make(board, "public")
        page = text(client.get(address(board, NAME)))
        assert "<script>alert" not in page and "&lt;script&gt;" in page

    def test_it_asks_the_database_no_more_for_more_entries(self, client, board, people):
        ranking_variants._cached.answers.clear()
        with CaptureQueriesContext(connection) as few:
            client.get(address(board, NAME))
        for number in range(6):
            entry(board, people.team, {slug: spread(0.3 + number / 20) for slug in ("corner_f1", "edge_f1", "hss")})
        snapshots.make(board, "public")
        with CaptureQueriesContext(connection) as many:
            client.get(address(board, NAME))
        assert len(many) <= len(few) <= 12


class TestLittleToCompare:
    def test_before_the_first_entry(self, client, phase):
        assert '<div class="empty' in text(client.get(address(phase, NAME)))

    def test_a_ranking_without_columns_is_an_empty_state_on_the_page_and_in_the_api(self, client, phase):
        snapshots.make(phase, "public")  # as the demo's final: a reference and metrics, and no entry yet
        assert '<div class="empty' in text(client.get(address(phase, NAME)))
        told = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/agreement")
        assert told.status_code == 200
        assert {name: told.json()[name] for name in ("n", "metrics", "tau", "rho", "groups", "ways")} == {
            "n": 0,
            "metrics": [],
            "tau": [],
            "rho": [],
            "groups": [],
            "ways": [],
        }

    @pytest.mark.parametrize("n", [1, 2])
    def test_one_and_two_entries_are_too_few(self, client, phase, people, n):
        Phase.objects.filter(pk=phase.pk).update(entries="all")
        for number in range(n):
            entry(phase, people.team, {slug: spread(0.3 + number / 10) for slug in ("corner_f1", "edge_f1", "hss")})
        build_due_boards()
        response = client.get(address(phase, NAME))
        assert response.context["found"].n == n and "too few" in text(response)

    def test_a_board_without_an_overall_rank_still_shows_agreement(self, client, board):
        ranking = Snapshot.current(board, "public").board
        problem = NoOverallRank(reason=NoOrder.WEIGHTS)
        overall = ranking.overall.model_copy(update={"problem": problem, "metrics": []})
        found = ranking_variants.of(ranking.model_copy(update={"overall": overall}))
        assert found.problem == problem and not found.variants and found.matrix.tau[0, 1] == pytest.approx(1 / 3)

    def test_a_metric_without_any_value_is_left_out(self, board):
        ranking = Snapshot.current(board, "public").board
        metrics = [m if m.slug != "hss" else m.model_copy(update={"value": [None] * len(m.value)}) for m in ranking.metrics]
        found = ranking_variants.of(ranking.model_copy(update={"metrics": metrics}))
        assert [metric.slug for metric in found.metrics] == ["corner_f1", "edge_f1"]
        assert found.n == 4 and found.problem == NoOverallRank(reason=NoOrder.NO_VALUES)


class TestWhoSeesIt:
    def test_a_hidden_board_says_when_instead(self, client, board, people):
        Phase.objects.filter(pk=board.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=3))
        for viewer in (client, signed_in(people.owner)):
            assert "eaves-net" not in text(viewer.get(address(board, NAME)))
        assert "eaves-net" in text(signed_in(people.organizer).get(address(board, NAME)))

    def test_what_is_hidden_is_compared_for_organizers_only_and_at_once(self, client, board, people):
        text(client.get(address(board, NAME)))  # the answer that is kept must not be given again
        Submission.objects.get(method_name="eaves-net").hide(people.organizer, "asked for by its authors")
        page = text(client.get(address(board, NAME)))
        assert "eaves-net" not in page and "<b>2 entries</b>" in page
        for audience in ("public", "organizers"):
            snapshots.make(board, audience)
        assert "eaves-net" not in text(client.get(address(board, NAME)))
        assert "eaves-net" not in text(signed_in(people.organizer).get(address(board, NAME) + "?view=public"))

    def test_the_kept_answer_is_that_of_the_newest_ranking(self, client, board, people):
        text(client.get(address(board, NAME)))
        entry(board, people.team, {slug: spread(0.95) for slug in ("corner_f1", "edge_f1", "hss")}, method_name="late-net")
        snapshots.make(board, "public")
        page = text(client.get(address(board, NAME)))
        assert "late-net" in page and "<b>4 entries</b>" in page


class TestApi:
    def test_it_tells_matrices_groups_and_ways(self, client, board):
        told = client.get(f"/api/v1/challenges/{board.challenge.slug}/phases/{board.slug}/agreement").json()
        assert told["digest"] == Snapshot.current(board, "public").digest
        assert (told["n"], told["incomplete"], told["beyond"], told["problem"]) == (3, 1, 0, "")
        assert told["metrics"] == ["corner_f1", "edge_f1", "hss"]
        assert told["tau"][0] == pytest.approx([1, 1 / 3, -1]) and told["rho"][0] == pytest.approx([1, 0.5, -1])
        assert told["groups"] == [["corner_f1"], ["edge_f1"], ["hss"]]
        ids = {it.method_name: it.pk for it in Submission.objects.filter(phase=board)}
        first, *others = told["ways"]
        assert first == {
            "kind": "board",
            "title": "The board",
            "moved": 0,
            "flipped": 0,
            "tau": 1.0,
            "ranks": [{"id": ids["ridge-net"], "rank": 1}, {"id": ids["eaves-net"], "rank": 2}, {"id": ids["valley-net"], "rank": 3}],
        }
        assert len(others) == 8 and sum(variant["kind"] == "without" for variant in others) == 3

    def test_a_hidden_board_is_not_told(self, client, board, people):
        Phase.objects.filter(pk=board.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=3))
        path = f"/api/v1/challenges/{board.challenge.slug}/phases/{board.slug}/agreement"
        assert client.get(path).status_code in (401, 403)
        assert signed_in(people.organizer).get(path).status_code == 200


def test_groups_are_lettered_past_z():
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]
