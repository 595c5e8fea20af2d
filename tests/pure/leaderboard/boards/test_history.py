"""Changes from one ranking to the next, and the drawing of ranks over time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from leaderboard.boards.history import Moment, chart, dated, folded, steps
from leaderboard.records.board import Board
from leaderboard.records.history import (
    Again,
    Baselines,
    Change,
    Entered,
    Gone,
    Leaving,
    Left,
    Move,
    Moved,
    NewEntry,
    Opened,
    PeopleChanged,
    Scored,
    Texts,
)
from leaderboard.records.study import HIDDEN_NAME
from tests.support.leaderboard.boards import board_of, judged

START = datetime(2026, 3, 1, tzinfo=UTC)


def moments(*boards: Board) -> list[Moment]:
    return [Moment(f"{n}" * 64, START + timedelta(days=n), board) for n, board in enumerate(boards)]


def changes(before: Board, after: Board, left=None) -> tuple[Change, ...]:
    return steps(moments(before, after), left)[0].changes


def without(board: Board, *gone: int) -> Board:
    """The ranking as if these entries were not there, ranked anew by its first metric."""
    kept = [n for n in range(len(board.entries)) if n not in gone]
    values = [board.metrics[0].value[n] for n in kept]
    again = board_of(
        values,
        name=[board.entries[n].name for n in kept],
        team=[board.entries[n].team for n in kept],
        team_id=[board.entries[n].team_id for n in kept],
    )
    entries = [entry.model_copy(update={"id": board.entries[n].id}) for entry, n in zip(again.entries, kept, strict=True)]
    return again.model_copy(update={"entries": entries})


NOW = board_of([0.9, 0.8, 0.7, 0.6], name=["gable", "ridge", "hip", "shed"])


def test_the_oldest_is_the_oldest_that_is_kept():
    (step,) = steps(moments(NOW))
    assert step.changes == (Opened(4),) and step.leaders == ("gable",)


def test_the_newest_step_comes_first_and_rankings_without_a_visible_change_belong_to_the_step_before():
    analysed_again = NOW.model_copy(update={"uncertainty": NOW.uncertainty + 1})
    found = steps(folded(moments(without(NOW, 0), NOW, NOW, analysed_again)))
    assert [(step.digest[0], [digest[0] for digest in step.same]) for step in found] == [("1", ["2", "3"]), ("0", [])]
    assert found[0].at == START + timedelta(days=1)


def test_an_entry_whose_name_is_withheld_is_no_news():
    hidden = NOW.model_copy(update={"entries": [NOW.entries[0].model_copy(update={"name": HIDDEN_NAME}), *NOW.entries[1:]]})
    assert [type(one) for one in changes(without(NOW, 0), hidden)] == [Moved]


def test_new_entries_have_their_ranks_and_those_they_push_down():
    assert changes(without(NOW, 0), NOW) == (
        Entered((NewEntry("gable", "team 0", 1),)),
        Moved((Move("ridge", 1, 2), Move("hip", 2, 3), Move("shed", 3, 4))),
    )


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        ({1: (START + timedelta(days=1), Leaving.WITHDRAWN)}, Leaving.WITHDRAWN),
        ({1: (START + timedelta(days=2), Leaving.WITHDRAWN)}, None),  # it was gone before
        ({}, None),
    ],
)
def test_entries_that_left_have_a_reason_where_that_may_be_said(left, reason):
    assert changes(NOW, without(NOW, 0), left)[0] == Left((Gone("gable", reason),), 0, NOW.phase.entries)


def test_a_teams_better_entry_is_the_reason_why_its_other_went():
    both = board_of([0.9, 0.8], name=["old", "other"], team_id=[7, 8])
    after = board_of([0.95, 0.8], name=["newer", "other"], team_id=[7, 8])
    entries = [after.entries[0].model_copy(update={"id": 99}), after.entries[1]]
    assert changes(both, after.model_copy(update={"entries": entries}))[1] == Left((Gone("old", instead="newer"),), 0, "best")


def test_what_people_gave_is_counted_by_its_own_kind():
    few, more = (judged(NOW, [0.2, 0.8, 0.5, 0.4], answers=n) for n in (120, 150))
    some, most = (judged(NOW, [4.2, 3.1, 2.0, 1.5], kind="opinions", of="ratings", answers=n) for n in (90, 60))
    assert changes(NOW, few) == (PeopleChanged(0, 120, False, False),)
    assert changes(few, more) == (PeopleChanged(120, 150, False, False),) and changes(few, NOW)[0].now == 0
    assert changes(some, most) == (PeopleChanged(90, 60, True, False),)
    assert changes(few, some) == (PeopleChanged(120, 90, True, True),)


def test_what_was_hidden_since_is_counted_and_named_nowhere():
    before, after = NOW.redacted({1}), without(NOW, 0)
    found = steps(moments(before, after))
    assert found[0].changes[0] == Left((), 1, NOW.phase.entries)
    assert "gable" not in repr(found) and found[1].leaders == (HIDDEN_NAME,)


def test_a_reevaluation_says_what_for():
    again = NOW.model_copy(update={"batch": 2})
    assert changes(NOW, again) == (Scored(False, (), (), ()),)
    other = again.metrics[1].model_copy(update={"fingerprint": "other"})
    assert changes(NOW, again.model_copy(update={"metrics": [again.metrics[0], other]})) == (Scored(False, (), (), ("B",)),)
    assert changes(NOW, again.model_copy(update={"metrics": again.metrics[:1], "reference": 2})) == (Scored(True, (), ("B",), ()),)
    assert changes(again.model_copy(update={"metrics": again.metrics[:1]}), NOW) == (Scored(False, ("B",), (), ()),)


class TestChart:
    def test_a_line_breaks_where_the_entry_was_not_there(self):
        drawn = chart(moments(NOW, without(NOW, 0), NOW))
        gable = next(line for line in drawn.lines if line.name == "gable")
        assert gable.path.count("M") == 2 and gable.path.count("L") == 0 and len(gable.dots) == 2 and gable.is_first
        ridge = next(line for line in drawn.lines if line.name == "ridge")
        assert (ridge.path.count("M"), ridge.path.count("L")) == (1, 2)
        heights = [y for _, y, *_ in ridge.dots]
        assert heights[1] < heights[0] == heights[2], "it was first for a while, and the first stands on top"

    def test_names_of_level_entries_do_not_lie_on_each_other(self):
        level = board_of([0.5] * 4, name=["a", "b", "c", "d"])
        heights = sorted(line.y for line in chart(moments(level, level)).lines)
        assert [(a, b) for a, b in pairwise(heights) if not b - a >= 13] == []
        assert chart(moments(level, level)).height >= heights[-1]

    def test_one_ranking_and_an_unranked_board_have_none(self):
        assert chart(moments(NOW)) is None and chart(moments(board_of([None]), board_of([None]))) is None


def test_texts_that_changed_are_named():
    entries = [NOW.entries[0].model_copy(update={"parameters": 38_000_000}), *NOW.entries[1:]]
    assert changes(NOW, NOW.model_copy(update={"entries": entries})) == (Texts(("gable",)),)
    renamed = [entry.model_copy(update={"name": f"{entry.name} 2"}) for entry in NOW.entries]
    assert len(changes(NOW, NOW.model_copy(update={"entries": renamed}))[0].names) == 4


def test_a_ranking_that_is_shown_again_is_one_of_before():
    first, second, again = moments(NOW, without(NOW, 0), NOW)
    again = replace(again, digest=first.digest, made=first.at)
    found = steps(folded([first, second, again]))
    assert [step.at for step in found] == [again.at, second.at, first.at]
    assert found[0].changes == (
        Again(first.at),
        Entered((NewEntry("gable", "team 0", 1),)),
        Moved((Move("ridge", 1, 2), Move("hip", 2, 3), Move("shed", 3, 4))),
    )
    assert [(step, change) for step in found[1:] for change in step.changes if isinstance(change, Again)] == []
    (alone,) = steps(folded([first, again]))
    assert alone.same == (), "the ranking between is kept no more, and a ranking does not follow itself"


class TestReturnsOfUnknownTime:
    """Those of before returns were stored, which their migration dates a microsecond after the ranking before."""

    FIRST, SECOND, LATER = moments(NOW, without(NOW, 0), without(NOW, 1))

    def again(self, n: int = 1) -> Moment:
        return replace(self.FIRST, at=self.SECOND.at + timedelta(microseconds=n), made=self.FIRST.at)

    def test_it_was_before_the_next_ranking_or_now(self):
        now = START + timedelta(days=9)
        again, other = self.again(), replace(self.again(), digest="3", board=without(NOW, 2))
        found = dated([self.FIRST, self.SECOND, again, other, self.LATER], now)
        assert [one.until for one in found] == [None, None, self.LATER.at, self.LATER.at, None]
        assert [one.until for one in dated([self.FIRST, self.SECOND, again], now)] == [None, None, now]
        assert dated([self.FIRST, self.SECOND, self.again(1000)], now)[2].until is None, "a stored time"

    @pytest.mark.parametrize(("hours", "reason"), [(20, Leaving.WITHDRAWN), (30, None)])
    def test_an_entry_withdrawn_until_the_next_ranking_is_said_to_be(self, hours, reason):
        """The team's other entry counts instead, which was no better."""
        old = board_of([0.7, 0.5], name=["old", "other"], team_id=[7, 8])
        better = board_of([0.9, 0.5], name=["better", "other"], team_id=[7, 8])
        better = better.model_copy(update={"entries": [better.entries[0].model_copy(update={"id": 99}), better.entries[1]]})
        first, second, later = moments(old, better, without(old, 1))
        again = replace(first, at=second.at + timedelta(microseconds=1), made=first.at)
        told = steps(dated([first, second, again, later], later.at), {99: (second.at + timedelta(hours=hours), Leaving.WITHDRAWN)})[1]
        gone = Gone("better", reason, "" if reason else "old")
        assert told.is_after and Left((gone,), 0, "best") in told.changes


def test_a_list_that_is_cut_does_not_begin_with_the_oldest():
    assert [step.changes for step in steps(moments(without(NOW, 0), NOW), is_cut=True)][1] == ()


def test_entries_that_became_baselines_or_are_none_any_more_are_named():
    entries = [NOW.entries[0].model_copy(update={"baseline": True}), *NOW.entries[1:]]
    marked = NOW.model_copy(update={"entries": entries})
    assert changes(NOW, marked) == (Baselines(("gable",)),) and changes(marked, NOW) == (Baselines(("gable",), made=False),)
