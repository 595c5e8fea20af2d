"""Summaries of a board in lists of challenges, and what they leave out of it later."""

from __future__ import annotations

from leaderboard.boards.board_summary import TOP, front
from leaderboard.records.board import Against, Mark
from leaderboard.records.front import Parted, SlopeLine, Turned
from leaderboard.records.people import Basis
from tests.support.leaderboard.boards import board_of, column_of, judged

NINE = Basis(of="votes", n=9, raters=2)


def test_the_first_and_who_follows():
    found = front(board_of([0.2, 0.9, None, 0.5, 0.1], name=list("abcde")))
    assert (found.name, found.metric, found.value) == ("b", "A", (0.9, None, None))
    assert [(one.rank, one.name, one.place, one.against) for one in found.top] == [
        (1, "b", None, False),
        (2, "d", None, False),
        (3, "a", None, False),
    ]
    assert len(found.top) == TOP and found.people is None and found.parted is None
    assert front(board_of([None, None])) is None


def test_a_first_place_that_is_not_settled_says_how_many_may_have_it():
    ranges = {"rank_low": [3, 1, None, 1, 3], "rank_high": [4, 2, None, 2, 4]}
    found = front(board_of([0.2, 0.9, None, 0.5, 0.1], name=list("abcde"), overall=ranges))
    assert found.open == 1 and [one.ranks for one in found.top] == [(1, 2), (1, 2), (3, 4)]
    settled = front(board_of([0.2, 0.9, None, 0.5, 0.1], overall={"rank_low": [2, 1, None, 2, 4], "rank_high": [3, 1, None, 3, 4]}))
    assert settled.open == 0 and front(board_of([0.2, 0.9])).open == 0


def test_the_first_stands_with_the_interval_of_its_value():
    board = board_of([0.2, 0.9])
    column = column_of("a", [0.2, 0.9], ci_low=[0.1, 0.872], ci_high=[0.3, 0.928], bounds=[0.0, 1.0])
    found = front(board.model_copy(update={"metrics": [column]}))
    assert (found.value, found.bounds, found.decimals) == ((0.9, 0.872, 0.928), (0.0, 1.0), None)


def test_what_is_hidden_later_is_left_out_with_all_that_names_it():
    line = SlopeLine(id=4, name="d", left=9, right=21, kind="", place=(2, 2))
    parted = Parted(
        metrics=("b", 2),
        people=("a", 1),
        ends=(0.7, 0.6, 0.8),
        basis=NINE,
        simulated=False,
        imported=False,
        lines=(line,),
        ids=(1, 2, 4),
    )
    turned = Turned(
        metric="A",
        first=("d", 4),
        preferred=("a", 1),
        ends=(0.7, 0.6, 0.8),
        basis=NINE,
        simulated=False,
        sample="s",
    )
    update = {"people": NINE, "parted": parted, "turned": turned}
    known = front(board_of([0.2, 0.9, None, 0.5, 0.1], name=list("abcde"))).model_copy(update=update)
    assert known.without(frozenset()) == known
    assert known.without({2}) is None
    less = known.without({4})
    assert [one.name for one in less.top] == ["b", "a"] and less.parted is None and less.people == NINE and less.turned is None
    assert known.without({5}).turned == turned
    assert "d" not in {less.name, *(one.name for one in less.top)}
    nobody = known.without(frozenset(), people=True)
    assert nobody.parted is nobody.turned is None and nobody.people is None and [one for one in nobody.top if one.place is not None] == []


def mark(preferred: str, pk: int | None, low: float) -> Mark:
    return Mark(preferred=preferred, id=pk, value=(low + 0.1, low, low + 0.2), samples=["s"], n=1)


def test_a_first_entry_that_people_do_not_prefer_is_drawn_with_all_that_is_named():
    board = judged(board_of([0.9, 0.5, 0.1]), [0.2, 0.8, 0.5], over=[Against(value=(0.7, 0.6, 0.8), p_holm=0.001), None, None])
    parted = front(board).parted
    assert (parted.metrics, parted.people, parted.ends) == (("method 0", 1), ("method 1", 2), (0.7, 0.6, 0.8))
    assert parted.pair == (parted.metrics, parted.people) and parted.ids == (1, 2, 3) and len(parted.slope.lines) == 3
    close = judged(board, [0.2, 0.8, 0.5], over=[Against(value=(0.7, 0.4, 0.8), p_holm=0.3), None, None])
    assert front(close).parted is None


def test_the_surest_pair_that_a_metric_turns_round_is_drawn_in_that_metrics_order():
    # Metric b, of which less is better, has 2 before 1 before 0; people have 1 before 0 before 2.
    board = board_of([0.9, 0.5, 0.1])
    marks = {"a": {"1": [mark("method 1", 2, 0.55)]}, "b": {"3": [mark("method 0", 1, 0.6), mark("of another study", None, 0.9)]}}
    turned = front(judged(board, [0.6, 0.8, 0.3], marks=marks)).turned
    assert (turned.metric, turned.pair, turned.sample) == ("B", (("method 2", 3), ("method 0", 1)), "s")
    assert turned.ids == (1, 2, 3) and turned.basis == Basis(of="votes", n=120, raters=9)
    by_left = sorted(turned.lines, key=lambda line: line.left)
    assert [(line.id, line.kind, line.place) for line in by_left] == [(3, "metrics", (3, 3)), (2, "", (1, 1)), (1, "people", (2, 2))]
    assert front(judged(board, [0.6, 0.8, 0.3], marks={})).turned is None


def test_fewer_than_three_in_both_orders_and_a_baseline_are_named_without_a_drawing():
    marks = {"a": {"1": [mark("method 1", 2, 0.6)]}}
    two = front(judged(board_of([0.9, 0.5, 0.1]), [0.3, 0.8, None], marks=marks)).turned
    assert two.lines == () and two.slope is None and two.ids == (1, 2)
    board = board_of([0.9, 0.5, 0.1, 0.05])
    column = board.metrics[0].model_copy(update={"rank": [None, 1, 2, 3]})  # a baseline holds no rank
    board = board.model_copy(update={"metrics": [column, *board.metrics[1:]]})
    assert front(judged(board, [0.3, 0.8, 0.5, 0.4], marks=marks)).turned.lines == ()


def test_a_contradiction_goes_where_any_of_its_lines_names_who_is_hidden_later():
    marks = {"b": {"3": [mark("method 0", 1, 0.6)]}}
    over = [Against(value=(0.7, 0.6, 0.8), p_holm=0.001), None, None]
    known = front(judged(board_of([0.9, 0.5, 0.1]), [0.6, 0.8, 0.3], marks=marks, over=over))
    assert known.parted is not None and known.turned is not None
    assert known.without({99}) == known
    for hidden in ({2}, {3}):  # 2 stands in the drawing of the turned pair alone
        less = known.without(hidden)
        assert less.parted is less.turned is None
        assert [name for name in (f"method {pk - 1}" for pk in hidden) if name in less.model_dump_json()] == []


def test_answers_are_counted_as_what_they_are():
    votes = judged(board_of([0.9, 0.5, 0.1]), [0.2, 0.8, 0.5])
    ratings = judged(board_of([0.9, 0.5, 0.1]), [2.1, 4.2, 3.0], kind="opinions", of="ratings", answers=1)
    assert [front(board).people for board in (votes, ratings)] == [Basis(of="votes", n=120, raters=9), Basis(of="ratings", n=1, raters=9)]


def test_equal_entries_share_first_place():
    assert [front(board_of(values)).level for values in ([0.9, 0.5], [0.9, 0.9, 0.5], [0.9, 0.9, 0.9])] == [1, 2, 3]


def test_where_people_gave_means_alone_both_firsts_are_kept_without_a_test():
    board = judged(board_of([0.9, 0.5, 0.3], name=list("abc")), [0.2, 0.9, 0.1], raters=None, kind="opinions", of="means")
    found = front(board)
    assert found.parted is None
    assert (found.by_means.metrics, found.by_means.people, found.by_means.rank) == (("a", 1), ("b", 2), 2)
    assert [line.kind for line in found.by_means.lines] == ["", "metrics", "people"]
    assert found.without({3}).by_means is None and found.without(frozenset(), people=True).by_means is None
    agreed = front(judged(board_of([0.9, 0.5, 0.3]), [0.9, 0.2, 0.1], raters=None, kind="opinions", of="means"))
    assert agreed.by_means is None
