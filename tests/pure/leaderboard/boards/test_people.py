"""People beside a board as records: who is first with them, what is claimed, and what their column holds."""

from __future__ import annotations

from importlib import import_module

from leaderboard.boards.board_summary import front
from leaderboard.boards.entry_summary import entry_summary
from leaderboard.boards.people import People, of_board, spread
from leaderboard.records.agreement import Line
from leaderboard.records.board import Against, HumanAgreement
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.records import REFERENCE_TITLES
from leaderboard.stats.states import State
from leaderboard.wording import people as people_wording
from leaderboard.wording.agreement import reading
from tests.support.leaderboard.boards import board_of, column_of
from tests.support.leaderboard.people import TWO, agreement, board, column, earlier, found
from tests.support.leaderboard.reasons import few_raters

FORMAT_2 = import_module("leaderboard.migrations.0042_format_2_of_rankings")


def test_a_metric_worse_than_chance_and_one_below_human_level_are_two_states():
    assert Line("m", agreement(0.3, 0.2, 0.42), TWO).level is Standing.WORSE_THAN_CHANCE
    assert Line("m", agreement(0.72, 0.66, 0.77), TWO, Standing.BELOW_HUMAN_LEVEL).level is Standing.BELOW_HUMAN_LEVEL
    assert People(board(), found()).line("other") is None


def test_charts_are_of_all_and_of_each_group_with_reference_points_last():
    groups = {"x": agreement(0.9, 0.8, 1.0), "y": agreement(0.6, 0.5, 0.7)}
    metrics = [
        column("a", agreement(0.8, 0.7, 0.9), groups=groups),
        column("b", agreement(0.7, 0.6, 0.8), groups=groups),
        column("constant", agreement(0.5), reference_point=True),
    ]
    titled = board(metrics=[column_of(slug, [0.9, 0.8]) for slug in "ab"])
    charts = People(titled, found(metrics=metrics, groups=["x", "y"])).charts()
    assert [(chart.group, [line.title for line in chart.lines]) for chart in charts] == [
        ("", ["A", "B", REFERENCE_TITLES["constant"]]),
        ("x", ["A", "B"]),
        ("y", ["A", "B"]),
    ]
    assert charts[0].another == TWO and charts[1].another is None  # how well a metric could do with one group is not known
    early = agreement(0.8, raters=3).because(few_raters(3))
    few = found(metrics=[column("a", early), column("constant", agreement(0.5), reference_point=True)], reason=few_raters(3))
    assert People(titled, few).charts() == []


def test_a_row_that_knows_nothing_is_at_chance_whatever_its_draw_gave():
    lucky = column("coin", agreement(0.7, 0.6, 0.8, 90, state=State.ROUGH), reference_point=True, standing=Standing.UNCLEAR)
    *_, line = People(board(), found(metrics=[column("hss", agreement(0.8, 0.7, 0.9, 90)), lucky])).charts()[0].lines
    assert (line.key, line.figure.ends, line.level) == ("coin", (0.5, None, None), Standing.AT_CHANCE)
    assert "rough" not in reading(line)


def test_a_claim_is_made_beyond_chance_only():
    def claim(first: int, p: float | None, **more):
        over = [None, None]
        over[0] = Against(value=(0.7, 0.6, 0.8), p_holm=p) if first else None
        return People(board(), found(first=first, over=over, **more)).claim

    sure = claim(1, 0.01)
    assert (sure.parted.pair, sure.parted.ends) == ((("seven", 7), ("eight", 8)), (0.7, 0.6, 0.8)) and sure.of_two
    tied = claim(1, 0.2)
    assert tied.parted is None and (tied.metrics, tied.people, tied.met) == ((("seven", 7),), (("eight", 8),), True)
    open_ = claim(0, None)
    assert open_.metrics == open_.people and (open_.first.open, open_.first.tested) == ([1], False)
    settled = People(board(), found(first=0, over=[None, Against(value=(0.8, 0.7, 0.9), p_holm=0.01)])).claim
    assert (settled.first.open, settled.first.behind) == ([], [1])
    assert claim(1, None, reason=few_raters(3)).reason == few_raters(3)
    shared = People(board(ranks=(1, 1)), found(first=0, over=[None, None])).claim
    assert (len(shared.metrics), len(shared.people), shared.of_two) == (2, 1, False)
    assert People(board(), found()).claim is None  # nobody judged these entries
    assert People(board(ranks=(None, None)), found(first=1, over=[None, None])).claim is None


def test_the_lead_of_an_entry_that_everybody_scores_alike_is_known_where_the_others_scores_vary():
    def alike(low: float | None, high: float | None) -> bool:
        over = [None, Against(value=(1.0, low, high), p_holm=0.0)]
        scores = {"value": [5.0, 4.0], "low": [None, None if low is None else 3.6], "high": [None, None if low is None else 4.4]}
        return People(board(), found(kind="opinions", of="ratings", first=0, over=over, **scores)).claim.alike

    assert (alike(0.6, 1.4), alike(None, None)) == (False, True)


def test_an_entry_that_alone_was_judged_is_first_of_nothing():
    """People put another entry before it, which is not on this board."""
    alone = {"value": [0.3, None], "low": [0.2, None], "high": [0.4, None], "n": [40, 0], "first": 0, "over": [None, None]}
    made = board(people=found(**alone), metrics=[column_of("a", [0.9, 0.8])])
    people = of_board(made)
    assert people.claim is None and people.first_place is None
    assert people.column.rank == [None, None] and people.column.value == [0.3, None]
    assert entry_summary(made, 0).people.place is None
    assert [one.place for one in front(made).top] == [None, None]


def test_who_may_be_first_is_known_by_the_ranges_of_places():
    """Holm over all comparisons is another test: by it alone the board would leave open what the study's page calls settled."""

    def claim(may_be_first: list[int] | None, leader: int = 0, value=(0.8, 0.6, 0.4, 0.2), **more):
        order = [leader, *(n for n in range(4) if n != leader)]
        ranks = [1 + order.index(n) for n in range(4)]
        made = board_of([0.9, 0.8, 0.7, 0.6], overall={"order": order, "rank": ranks}, name=["a", "b", "c", "d"])
        over = [None, *(Against(value=(0.8, 0.7, 0.9), p_holm=p) for p in (0.08, 0.08, 0.01))]
        given = {"value": list(value), "low": list(value), "high": list(value), "n": [40] * 4, "first": 0, "over": over} | more
        return People(made, found(may_be_first=may_be_first, **given)).claim

    assert [claim(may).first.open for may in ([0], [0, 1], [0, 1, 2, 3])] == [[], [1], [1, 2, 3]]
    assert [claim(may, leader=1).corrected for may in ([0, 1], [0])] == [False, True]
    # First place is settled by the first's own range, whatever those of its rivals begin with, and open where it ends lower.
    assert claim([0, 1], places=[(1, 1), (1, 2), (3, 4), (3, 4)]).first.open == []
    assert claim([0], places=[(1, 2), (2, 2), (3, 4), (3, 4)]).first.low_end == 2
    # Equal with people: nobody is first alone.
    level = (0.5, 0.5, 0.5, 0.4)
    shared = claim([0, 1, 2, 3], value=level)
    assert ([name for name, _ in shared.people], shared.first.open) == (["a", "b", "c"], [3])
    assert claim([0, 1, 2], leader=3, value=level).metrics == (("d", 4),)
    # Of another part, which met none of them.
    assert claim([0], value=(0.8, 0.6, 0.4, None)).unmet == 1
    assert claim([0], leader=1, over=[None, Against(value=(0.8, None, None), p_holm=0.0), None, None]).alike
    same = {"low": [None] * 4, "high": [None] * 4, "over": [None, *(Against(value=(0.8, None, None), p_holm=0.0) for _ in range(3))]}
    assert claim(None, **same).alike


def test_below_the_smallest_numbers_people_have_no_column():
    assert People(board(), found()).column.value == [0.75, 0.25]
    assert People(board(), found(reason=few_raters(3))).column is None


def test_what_is_withheld_leaves_no_trace():
    one = {"value": (0.7, 0.6, 0.8), "samples": [], "n": 0}
    marks = {"hss": {"7": [{"preferred": "x", "id": 8, **one}], "8": [{"preferred": "y", "id": None, **one}]}}
    over = [None, {"value": (0.7, 0.6, 0.8), "p_holm": 0.1}]
    left = found(marks=marks, first=0, over=over, left_out=["eight", "nine"]).redacted([1], {8}, {"eight"})
    assert left.n == [40, 0] and left.over == [None, None] and left.left_out == ["nine"]
    assert found(first=1).redacted([1], {8}, {"eight"}).over == []
    assert HumanAgreement.model_validate(FORMAT_2.people(earlier())).redacted([1], {8}, set()).n == [0, 0]
    assert left.value == [0.75, None] and left.high == [0.8, None] and left.marks == {"hss": {"7": []}}


def test_a_ranking_of_before_keeps_its_figures_and_names_their_rule():
    said = of_board(board(people=HumanAgreement.model_validate(FORMAT_2.people(earlier())), metrics=[column_of("hss", [0.9, 0.8])]))
    head = people_wording.head(said.found, said.line("hss"))
    assert head.words == "82 / 100 answers" and head.title.startswith(people_wording.EARLIER)
    assert people_wording.earlier(said.found) == people_wording.EARLIER and said.charts() == [] and said.claim is None
    assert said.column.value == [0.75, 0.25] and said.found.marks["hss"]["7"][0].preferred == "x"
    assert people_wording.earlier(HumanAgreement.model_validate(found().model_dump(mode="json"))) == ""


def test_an_interval_that_goes_beyond_the_line_is_drawn_to_its_end():
    assert spread(4.6, 3.9, 5.3, [(1.0, 5.0)]) == {"dot": 90.0, "left": 72.5, "width": 27.5}
