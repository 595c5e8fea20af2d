"""Summaries of a board in lists of challenges, and what they leave out of it later."""

from __future__ import annotations

from leaderboard.boards.front import TOP, Front, Parted, Turned, front
from leaderboard.boards.slope import SlopeLine
from tests.support.leaderboard.boards import board_of


def test_the_first_and_who_follows():
    found = front(board_of([0.2, 0.9, None, 0.5, 0.1], name=list("abcde")))
    assert (found.name, found.metric, found.value) == ("b", "A", "0.9000")
    assert [(one.rank, one.name, one.place, one.against) for one in found.top] == [
        (1, "b", "", False),
        (2, "d", "", False),
        (3, "a", "", False),
    ]
    assert len(found.top) == TOP and found.judgements == 0 and found.parted is None
    assert front(board_of([None, None])) is None


def test_what_is_hidden_later_is_left_out_with_all_that_names_it():
    line = SlopeLine(id=4, name="d", left=9, right=21, kind="", place="2nd")
    parted = Parted(
        metrics=("b", 2),
        people=("a", 1),
        ends=(0.7, 0.6, 0.8),
        opinions=False,
        basis="9 judgements",
        made_up=False,
        imported=False,
        lines=(line,),
        ids=(1, 2, 4),
    )
    turned = Turned(
        metric="A",
        first=("d", 4),
        preferred=("a", 1),
        ends=(0.7, 0.6, 0.8),
        opinions=False,
        basis="9 judgements",
        made_up=False,
        sample="s",
    )
    update = {"judgements": 9, "parted": parted, "turned": turned}
    known = front(board_of([0.2, 0.9, None, 0.5, 0.1], name=list("abcde"))).model_copy(update=update)
    assert known.without(frozenset()) == known
    assert known.without({2}) is None
    less = known.without({4})
    assert [one.name for one in less.top] == ["b", "a"] and less.parted is None and less.judgements == 9 and less.turned is None
    assert known.without({5}).turned == turned
    assert "d" not in {less.name, *(one.name for one in less.top)}
    nobody = known.without(frozenset(), people=True)
    assert nobody.parted is nobody.turned is None and nobody.judgements == 0 and all(one.place == "" for one in nobody.top)


def test_one_of_before_is_read():
    assert Front.model_validate({"id": 1, "name": "a", "team": "t", "metric": "A", "value": "0.9"}).top == ()


def test_equal_entries_are_level_and_none_of_them_is_called_the_first():
    assert front(board_of([0.9, 0.5])).lead == "method 0 is first."
    assert front(board_of([0.9, 0.9, 0.5])).lead == "method 0 and 1 other are level in first place."
    assert front(board_of([0.9, 0.9, 0.9])).lead == "method 0 and 2 others are level in first place."
