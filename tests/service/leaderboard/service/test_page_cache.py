"""Cache of public pages: each is computed once, and is nobody else's."""

from __future__ import annotations

import time
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.utils import timezone

from leaderboard.boards import ranking_variants, snapshots
from leaderboard.boards.rows import Choice
from leaderboard.charts import boards
from leaderboard.models import snapshot
from leaderboard.models.snapshot import Seen
from leaderboard.service.page_cache import PARTS, PageCache
from leaderboard.views import api_docs
from leaderboard.views import board as views_board
from leaderboard.wording import certainty
from submissions.models import Phase, Submission
from tests.service.leaderboard.views.test_board import address, signed_in, text
from tests.support.leaderboard.boards import board_of
from tests.support.leaderboard.scores import entry, spread


def test_many_who_ask_at_once_wait_for_one_computation():
    cache, computed, got, start = PageCache(4), [], [], Barrier(8)

    def ask():
        start.wait()
        got.append(cache.of("a", lambda: computed.append(1) or len(computed)))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [1] * 8 and computed == [1]


@pytest.mark.parametrize(
    ("module", "computation", "page"),
    [
        (ranking_variants, "of", lambda: ranking_variants._cached(Seen(0, ""))),
        (api_docs, "operations", lambda: api_docs.reference("https://boards.example.org")),
        (certainty, "before", lambda: views_board.rendered(Seen(0, ""), Choice(), None, "c", "p", "UTC", "en", "")),
    ],
)
def test_readers_of_a_page_that_nobody_has_asked_for_lately_wait_for_the_first(module, computation, page, monkeypatch):
    """20 who opened the page about choosing metrics at once each computed it, and waited 20 times as long."""
    computed, start = [], Barrier(4)
    board = board_of([0.5])

    def slow(*_):
        computed.append(1)
        time.sleep(0.3)
        return {} if computation == "operations" else board

    monkeypatch.setattr(module, computation, slow)
    monkeypatch.setattr(snapshot, "read_board", lambda *_: board)
    threads = [Thread(target=lambda: (start.wait(), page())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kept in (ranking_variants._cached, api_docs.reference, views_board.rendered):
        kept.answers.clear()
    assert computed == [1]


def test_a_computation_that_fails_is_done_again_and_the_oldest_goes():
    cache = PageCache(2)
    with pytest.raises(ZeroDivisionError):
        cache.of("a", lambda: 1 / 0)
    assert cache.of("a", lambda: 1) == cache.of("a", lambda: 2) == 1
    cache.of("b", lambda: 1)
    cache.of("c", lambda: 1)
    assert cache.of("a", lambda: 3) == 3


@pytest.fixture
def board(phase, people):
    """Two teams' entries, of which the other team's later one came after the freeze."""
    PARTS.clear()
    now = timezone.now()
    Phase.objects.filter(pk=phase.pk).update(entries="all", board="frozen", board_at=now - timedelta(hours=1))
    for name, team, hours in (("ridge-net", people.team, 3), ("valley-net", people.other_team, 2), ("late-net", people.other_team, 0)):
        it = entry(phase, team, {"corner_f1": spread(0.5 + hours / 10), "edge_f1": spread(0.5), "hss": spread(0.5)}, method_name=name)
        Submission.objects.filter(pk=it.pk).update(received_at=now - timedelta(hours=hours))
    for audience in ("public", "organizers"):
        snapshots.make(phase, audience)
    phase.refresh_from_db()
    return phase


@pytest.mark.django_db
class TestPages:
    @pytest.mark.parametrize("name", ["charts", "choosing_metrics"])
    @pytest.mark.parametrize("first", ["organizer", "anonymous"])
    def test_what_an_organizer_sees_is_never_served_to_others_nor_theirs_to_the_organizer(self, client, people, board, name, first):
        organizer, other = signed_in(people.organizer), signed_in(people.other)
        viewers = [(client, False), (other, False), (organizer, True), (client, False), (other, False)]
        for viewer, sees_late in viewers if first == "anonymous" else reversed(viewers):
            page = text(viewer.get(address(board, name)))
            assert "ridge-net" in page and ("late-net" in page) == sees_late

    @pytest.mark.parametrize("name", ["charts", "choosing_metrics"])
    def test_no_name_of_a_viewer_gets_into_what_another_is_shown(self, client, people, board, name):
        assert "owner" in text(signed_in(people.owner).get(address(board, name)))
        page = text(client.get(address(board, name)))
        assert ">owner<" not in page and "csrfmiddlewaretoken" not in page

    def test_charts_are_drawn_once_until_something_is_decided(self, client, people, board, monkeypatch):
        drawn = []
        monkeypatch.setattr(boards, "progress", lambda *given, draw=boards.progress, **named: drawn.append(1) or draw(*given, **named))
        for _ in range(3):
            text(client.get(address(board, "charts")))
        assert len(drawn) == 1
        Submission.objects.get(method_name="ridge-net").hide(people.organizer, "asked for by its authors")
        assert "ridge-net" not in text(client.get(address(board, "charts"))) and len(drawn) == 2
