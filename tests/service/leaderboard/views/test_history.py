"""The history of a board: what its readers are told of old rankings, and what of them is told nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from leaderboard.boards import snapshots
from leaderboard.boards.history import Moment
from leaderboard.models import Snapshot
from leaderboard.records.history import (
    Again,
    Entered,
    Gone,
    Leaving,
    Left,
    Move,
    Moved,
    NewEntry,
    Opened,
    PeopleChanged,
    Step,
    Texts,
)
from leaderboard.views import history as view
from submissions.models import Phase, Submission
from tests.service.leaderboard.views.test_board import address, scores, signed_in, text
from tests.support.leaderboard.scores import entry

pytestmark = pytest.mark.django_db


def rank(phase: Phase) -> None:
    snapshots.make_all(phase)


@pytest.fixture
def three(phase, people):
    """A board that grew by an entry at a time."""
    Phase.objects.filter(pk=phase.pk).update(entries="all")
    made = []
    for value, team, name in ((0.6, people.team, "first-net"), (0.9, people.other_team, "second-net"), (0.7, people.team, "third-net")):
        made.append(entry(phase, team, scores(value), method_name=name))
        rank(phase)
    return made


def history(phase, user=None) -> str:
    client = signed_in(user) if user is not None else Client()
    return " ".join(text(client.get(address(phase, "board_history"))).split())


def steps(phase) -> list[Step]:
    """Steps as the public reads them, the newest first."""
    return Client().get(address(phase, "board_history")).context["steps"]


def changes(phase) -> list[tuple]:
    """Changes of each step as the public reads them, the newest step first."""
    return [step.changes for step in steps(phase)]


def test_each_step_says_what_came_and_who_moved(three):
    third, second, first = changes(three[0].phase)
    assert first == (Opened(1),)
    assert second == (Entered((NewEntry("second-net", three[1].team.name, 1),)), Moved((Move("first-net", 1, 2),)))
    assert third == (Entered((NewEntry("third-net", three[2].team.name, 2),)), Moved((Move("first-net", 2, 3),)))
    page = history(three[0].phase)
    assert "<svg" in page and page.index("New: third-net") < page.index("New: second-net")


def test_a_day_that_only_brought_votes_is_one_step(monkeypatch):
    votes = PeopleChanged(5, 6, opinions=False, other=False)
    changes = (Opened(1), votes, votes, Texts(("a",)), votes, votes, votes)
    moments = [Moment(str(n), datetime(2026, 3, day, n, tzinfo=UTC), None) for n, day in enumerate((1, 1, 1, 1, 2, 2, 3))]
    told = [Step(one.digest, one.at, (), 0, (change,)) for one, change in zip(moments, changes, strict=True)]
    monkeypatch.setattr(view.history, "steps", lambda given: told[::-1])
    assert [one.digest for one in view._by_day(moments)] == ["0", "2", "3", "5", "6"]


def test_its_days_are_of_the_phases_clock(three):
    Phase.objects.filter(pk=three[0].phase_id).update(time_zone="Pacific/Kiritimati")
    Snapshot.objects.update(created_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    page = history(three[0].phase)
    assert "<b><time" in page and ">2 March 2026, 02:00 UTC+14</time>" in page
    assert ">2 Mar 2026</text>" in page and "1 Mar 2026" not in page


def test_a_withdrawal_is_said_to_be_one(three):
    three[2].withdraw()
    rank(three[0].phase)
    assert Left((Gone("third-net", Leaving.WITHDRAWN),), 0, "all") in changes(three[0].phase)[0]
    assert "third-net" in history(three[0].phase)


def test_an_entry_that_a_withdrawal_keeps_off_is_said_to_be_so(three):
    first, _, third = three
    Phase.objects.filter(pk=first.phase_id).update(entries="best", closes_at=timezone.now())
    entry(first.phase, first.team, scores(0.4), method_name="fourth-net")
    first.phase.refresh_from_db()
    rank(first.phase)
    third.phase.refresh_from_db()
    third.withdraw()
    rank(first.phase)
    latest, before, *_ = changes(first.phase)
    left = [one for one in before if isinstance(one, Left)]
    assert [one.entries for one in left] == [(Gone("first-net", None, "third-net"),)], "which was so when it left"
    assert [one.entries for one in latest if isinstance(one, Left)] == [(Gone("third-net", Leaving.WITHDRAWN),)]
    assert [new.name for one in latest if isinstance(one, Entered) for new in one.entries] == ["fourth-net"]
    entry(first.phase, three[1].team, scores(0.1), method_name="fifth-net").withdraw()  # which never stood
    rank(first.phase)
    latest = changes(first.phase)[0]
    assert [one.entries for one in latest if isinstance(one, Left)] == [(Gone("second-net", Leaving.KEPT_OFF),)]


@pytest.mark.parametrize("act", ["hide", "disqualify"])
def test_what_was_taken_off_is_named_to_organizers_alone(three, people, act):
    getattr(three[1], act)(people.organizer, "copied")
    rank(three[0].phase)
    for user in (None, people.owner, people.other):
        page = history(three[0].phase, user)
        assert "second-net" not in page and "copied" not in page
    assert "second-net has no rank any more" in history(three[0].phase, people.organizer)


def test_a_disqualification_that_is_taken_back_is_told_in_its_order(three, people):
    phase, second = three[0].phase, three[1]
    second.disqualify(people.organizer, "copied")
    rank(phase)
    second.refresh_from_db()
    second.requalify(people.organizer)
    rank(phase)
    rank(phase)
    found = steps(phase)
    again, gone, whole, *_ = found
    assert [step.at for step in found] == sorted((step.at for step in found), reverse=True) and len(found) == 5
    assert again.digest == whole.digest == Snapshot.current(phase, "public").digest and again.same == ()
    assert again.changes[:2] == (Again(whole.at), Entered((NewEntry("second-net", second.team.name, 1),)))
    assert [type(one) for one in gone.changes] == [Left, Moved] and gone.n_entries == 2
    assert "is shown again" in history(phase)
    lately = text(Client().get(address(phase, "board_history") + "?part=lately"))
    assert lately.index("is shown again") < lately.index("Gone: second-net")


def test_a_history_of_many_rankings_is_whole_from_where_it_begins(three, people, monkeypatch):
    phase, second = three[0].phase, three[1]
    second.disqualify(people.organizer, "copied")
    rank(phase)
    second.refresh_from_db()
    second.requalify(people.organizer)
    rank(phase)
    assert "oldest ranking" in history(phase) and "These are the newest" not in history(phase)
    monkeypatch.setattr(view, "MAX_RANKINGS", 4)
    assert "oldest ranking" in history(phase) and "These are the newest" not in history(phase), "as many as there are"
    monkeypatch.setattr(view, "MAX_RANKINGS", 2)
    again, gone = steps(phase)
    assert gone.changes == () and "oldest ranking" not in history(phase) and "These are the newest" in history(phase)
    assert again.at > gone.at and isinstance(again.changes[0], Again), "the ranking of before belongs to the part that is not shown"


def test_recent_changes_tell_of_no_oldest_ranking_where_older_ones_are_kept(three, monkeypatch):
    phase, part = three[0].phase, address(three[0].phase, "board_history") + "?part=lately"
    assert "oldest ranking" in text(Client().get(part))
    monkeypatch.setattr(view, "LATELY", 1)  # so that it reads four
    for n in range(4):  # changes that it does not tell
        Submission.objects.filter(pk=three[0].pk).update(parameters=10**n)
        Phase.objects.filter(pk=phase.pk).update(board_revision=F("board_revision") + 1)
        phase.refresh_from_db()
        rank(phase)
    assert [type(one) for step in steps(phase)[:4] for one in step.changes] == [Texts] * 4
    assert "oldest ranking" not in text(Client().get(part))


def test_a_return_whose_time_is_not_known_is_told_to_be_after_the_ranking_before(three, people):
    phase, second = three[0].phase, three[1]
    second.disqualify(people.organizer, "copied")
    rank(phase)
    second.refresh_from_db()
    second.requalify(people.organizer)
    rank(phase)
    part = address(phase, "board_history") + "?part=lately"
    assert "<b>after <time" not in history(phase) and "after <time" not in text(Client().get(part))
    again, before = Snapshot.objects.filter(phase=phase, audience="public").order_by("-revision", "-pk")[:2]
    invented = before.created_at + timedelta(microseconds=1)
    Snapshot.objects.filter(pk=again.pk).update(again_at=[invented.isoformat()])
    Phase.objects.filter(pk=phase.pk).update(board_revision=F("board_revision") + 1)  # as whatever changed it would
    page = history(phase)
    assert page.count("<b>after <time") == 1 and page.count("after <time") == 1
    assert f", after {invented:%-d %B %Y}: rank" in page and f">after {invented:%-d %b %Y}</text>" in page
    assert "after <time" in text(Client().get(part))


def test_after_the_freeze_nothing_newer_is_told(three):
    phase = three[0].phase
    Phase.objects.filter(pk=phase.pk).update(board="frozen", board_at=three[2].received_at - timedelta(microseconds=1))
    rank(phase)
    page = history(phase)
    assert "third-net" not in page and "second-net" in page


def test_a_hidden_board_has_no_history(three, people):
    phase = three[0].phase
    Phase.objects.filter(pk=phase.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
    assert "first-net" not in history(phase, people.stranger) and "first-net" in history(phase, people.organizer)


def test_it_is_made_once_and_costs_few_queries(three, client, django_assert_max_num_queries):
    history(three[0].phase)
    with django_assert_max_num_queries(12):
        client.get(address(three[0].phase, "board_history"))
