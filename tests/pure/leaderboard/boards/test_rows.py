"""From a payload to the rows of a page: sorting, filters, pages, brackets, cells."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.boards.rows import BoardRows, Choice, meaning
from leaderboard.exports.tables import csv_file, json_file, latex, markdown
from leaderboard.exports.tables.table import Caption
from leaderboard.records.board import Board, ColumnAgreement
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.meaning import Difference
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.two_way_intervals import Figure
from tests.support.leaderboard.boards import board_of, column_of, judged
from tests.support.leaderboard.reasons import few_entries, few_raters


def shown(board: Board, per_page: int = 100, **choice) -> list[str]:
    return [line.entry.name for line in BoardRows(board, Choice(**choice), team=1, per_page=per_page).lines]


class TestSorting:
    def test_each_metric_sorts_best_first_by_its_own_direction_and_back(self):
        board = board_of([0.2, 0.9, None, 0.5], [3.0, 1.0, 2.0, None])
        assert shown(board, sort="a") == ["method 1", "method 3", "method 0", "method 2"]
        assert shown(board, sort="a", worst_first=True) == ["method 0", "method 3", "method 1", "method 2"]
        assert shown(board, sort="b") == ["method 1", "method 2", "method 0", "method 3"]
        assert shown(board, sort="b", worst_first=True) == ["method 0", "method 2", "method 1", "method 3"]

    def test_names_and_dates_sort_too_and_an_unknown_column_is_the_rank(self):
        board = board_of([0.2, 0.9, 0.5], name=["b", "a", "C"])
        assert shown(board, sort="name") == ["a", "b", "C"]
        assert shown(board, sort="date") == ["C", "a", "b"]
        assert shown(board, sort="date", worst_first=True) == ["b", "a", "C"]
        assert shown(board, sort="no such") == shown(board) == ["a", "C", "b"]

    @given(st.lists(st.one_of(st.none(), st.sampled_from([0.1, 0.2, 0.3])), max_size=30), st.integers(1, 7), st.booleans())
    def test_pages_hold_every_row_once_with_the_same_ranks_whatever_the_boundaries(self, values, per_page, worst_first):
        board = board_of(values)
        whole = BoardRows(board, Choice(worst_first=worst_first), per_page=1000)

        def page(n: int) -> BoardRows:
            return BoardRows(board, Choice(worst_first=worst_first, page=n), per_page=per_page)

        lines = [line for n in range(page(1).n_pages) for line in page(n + 1).lines]
        assert [(line.entry.id, line.rank, line.bracket) for line in lines] == [(o.entry.id, o.rank, o.bracket) for o in whole.lines]

    def test_a_page_beyond_the_last_is_the_last(self):
        assert shown(board_of([0.1] * 5), per_page=2, page=99) == ["method 4"]

    @given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=20), st.integers(0, 20))
    def test_one_more_row_without_a_value_never_reorders_the_others_either_way(self, values, at):
        at = min(at, len(values))
        more = [*values[:at], None, *values[at:]]
        for worst_first in (False, True):
            before = BoardRows(board_of(values), Choice(sort="a", worst_first=worst_first))
            after = BoardRows(board_of(more), Choice(sort="a", worst_first=worst_first))
            moved = [i if i < at else i - 1 for i in after.indices if i != at]
            assert moved == before.indices


class TestFilters:
    def test_text_finds_teams_and_entries_in_any_case_and_ranks_stay_those_of_the_full_set(self):
        board = board_of([0.9, 0.5, 0.1], name=["Gable", "hull", "x"], team=["A", "B", "Gablers"])
        rows = BoardRows(board, Choice(text=" gABLE "))
        assert [(line.entry.name, line.rank) for line in rows.lines] == [("Gable", 1), ("x", 3)]

    def test_baselines_can_be_left_out_and_own_entries_picked(self):
        board = board_of([0.9, 0.5, 0.1], baseline=[True, False, False])
        assert shown(board, baselines=False) == ["method 1", "method 2"]
        assert shown(board, mine=True) == ["method 1"]


class TestBrackets:
    def brackets(self, groups, **choice):
        values = [1.0 - i / 100 for i in range(len(groups))]
        return [line.bracket for line in BoardRows(board_of(values, groups=groups), Choice(**choice)).lines]

    def test_a_group_of_two_or_more_is_joined_and_one_alone_is_not(self):
        assert self.brackets([1, 1, 1, 2, 3, 3]) == ["g g1", "g", "g g3", "", "g g1", "g g3"]

    def test_a_row_that_does_not_count_lets_the_line_through(self):
        assert self.brackets([1, None, 1, None, 2]) == ["g g1", "g", "g g3", "", ""]

    def test_a_loose_entry_is_dashed(self):
        board = board_of([0.9, 0.8, 0.7, 0.6], groups=[1, 2, 2, 2], overall={"loose": [False, False, True, False]})
        assert [line.bracket for line in BoardRows(board, Choice()).lines] == ["", "g g1", "g loose", "g g3"]

    def test_upside_down_the_ends_change_places(self):
        assert self.brackets([1, 1, 2], worst_first=True) == ["", "g g1", "g g3"]

    def test_sorted_by_name_there_is_no_bracket(self):
        assert self.brackets([1, 1], sort="name") == ["", ""]

    def test_a_page_boundary_within_a_group_leaves_the_line_open(self):
        board = board_of([0.9, 0.8, 0.7, 0.6], groups=[1, 1, 1, 1])
        first, second = (BoardRows(board, Choice(page=n), per_page=2) for n in (1, 2))
        assert [line.bracket for line in first.lines] == ["g g1", "g"]
        assert [line.bracket for line in second.lines] == ["g", "g g3"]


class TestColumns:
    """Metrics in sight: those that rank first, and no more than fit."""

    BOARD = board_of([0.1, 0.2, 0.3], overall={"rule": "mean_rank", "metrics": ["e", "b"]}).model_copy(
        update={"metrics": [column_of(slug, [0.1 * k, 0.2, 0.3]) for k, slug in enumerate("abcdefg")]}
    )

    def slugs(self, **choice) -> tuple[str, str, str]:
        rows = BoardRows(self.BOARD, Choice(**choice))
        shown, folded = ("".join(metric.slug for metric in some) for some in (rows.visible_metrics, rows.folded))
        return shown, folded, rows.narrow

    def test_those_that_rank_come_first_and_the_one_sorted_by_is_always_there(self):
        assert self.slugs() == ("bea", "cdfg", "b")
        assert self.slugs(sort="g") == ("beag", "cdf", "g")
        every = self.BOARD.model_copy(update={"overall": self.BOARD.overall.model_copy(update={"metrics": list("abcdef")})})
        rows = BoardRows(every, Choice(sort="g"))
        assert [metric.slug for metric in rows.visible_metrics] == ["a", "b", "c", "g"]

    def test_a_choice_holds_in_the_boards_order_and_one_of_nothing_known_is_all(self):
        assert self.slugs(columns=("f", "a", "no_such")) == ("af", "bcdeg", "a")
        assert self.slugs(columns=("no_such",))[0] == "abcdefg"

    def test_folded_metrics_show_their_ranks_on_one_line(self):
        line = BoardRows(self.BOARD, Choice()).lines[0]
        assert [one.at for one in line.folded] == sorted({one.at for one in line.folded}) and line.folded[-1].at <= 100
        assert sum(len(one.titles) for one in line.folded) == 4
        assert [one for one in line.folded if one.rank not in (1, 2, 3)] == []


def test_what_a_difference_means_is_said_of_two_values_that_differ():
    metric = column_of("a", [0.5, 0.42, 0.42, None, 0.1])
    difference = Difference(2.0, 0.1, 0.3, 9, 30, 25, 12, 12, 0.01, 0.3, 0.01, 20.0)
    assert meaning(metric, difference, 0, 1).most == pytest.approx(difference.at(0.08).most)
    assert meaning(metric, difference, 1, 2) is None and meaning(metric, difference, 0, 3) is None
    largest = difference.at(0.3)
    assert meaning(metric, difference, 4, 0) == meaning(metric, difference, 0, 4) == largest, "at most the largest"


def test_of_two_entries_that_people_judged_no_difference_of_a_metric_says_what_people_prefer():
    difference = Difference(2.0, 0.1, 0.3, 9, 30, 25, 12, 12, 0.01, 0.3, 0.01, 20.0)
    rho = Figure(value=1.0, low=None, high=None, n=3)
    decided = Agreement(value=0.7, low=0.6, high=0.8, n=40, raters=9, samples=8)
    column = ColumnAgreement(slug="a", decided=decided, rho=rho, tau=rho, r=rho, difference=difference)

    def said(*answers: int) -> list[bool]:
        board = judged(board_of([0.5, 0.42, 0.3]), [0.6, 0.5, 0.4], metrics=[column], n=list(answers))
        return [line.cells[0].difference is not None for line in BoardRows(board, Choice()).lines]

    assert said(40, 0, 40) == [True, True, False] and said(40, 40, 0) == [False, True, False]


def test_the_exported_table_holds_all_rows_of_the_choice_with_full_numbers_and_flags():
    board = board_of([0.123456789, 0.9, None], baseline=[True, False, False], verified=[False, True, False], state=["", "", "hidden"])
    table = BoardRows(board, Choice(), per_page=1).table(Caption("C", "P", "s", "2026", "https://x.example"))
    assert [row.entry for row in table.rows] == ["method 1", "method 0", "method 2"]
    assert [row.flags for row in table.rows] == [("verified",), ("baseline",), ("hidden",)]
    assert table.numbers(table.rows[1])[0] == (0.123456789, None, None, 2, 4)


def test_the_exported_table_says_of_how_many_groups_or_answers_each_value_is():
    board = judged(board_of([0.9, None, 0.7]), [0.7, 0.3, None], n=[40, 30, 0])
    table = BoardRows(board, Choice()).table(Caption("C", "P", "s", "2026", "https://x.example"))
    assert [column.slug for column in table.columns][:2] == ["people", "a"]
    assert {row.entry: [numbers[4] for numbers in table.numbers(row)[:2]] for row in table.rows} == {
        "method 0": [40, 4],
        "method 1": [30, None],
        "method 2": [None, 4],
    }
    head, first, *_ = csv_file.write(table).splitlines()
    assert dict(zip(head.split(","), first.split(","), strict=True))["people_n"] == "40"


def test_the_exported_table_says_of_how_many_answers_a_figure_is_and_why_it_has_no_interval():
    few, entries = "Too few raters.", "Too few entries."
    rho = replace(Figure(1.0, None, None, 2).because(few_entries(2)), why=entries)
    decided = replace(Agreement(value=0.7, low=None, high=None, n=40, raters=3, samples=8).because(few_raters(3)), why=few)
    column = ColumnAgreement(slug="a", decided=decided, rho=rho, tau=rho, r=rho)
    board = judged(board_of([0.9, 0.8]), [0.7, 0.3], metrics=[column], reason=few_raters(3))
    table = BoardRows(board, Choice()).table(Caption("C", "P", "s", "2026", "https://x.example"))
    assert table.columns[0].people.figures == {
        "decided": decided,
        "rho": rho,
    }
    head, first, *_ = csv_file.write(table).splitlines()
    found = dict(zip(head.split(","), first.split(","), strict=True))
    assert [found[f"a_people_{name}"] for name in ("decided_n", "decided_why", "rho_n", "rho_why")] == ["40", few, "2", entries]
    assert [figure.state for figure in table.columns[0].people.figures.values()] == [State.TOO_FEW, State.NO_INTERVAL]


def test_what_teams_state_is_a_column_where_it_is_chosen_on_the_page_and_in_files():
    board = board_of([0.9, 0.8], parameters=[38_000_000, None], run_seconds=[None, None])
    assert list(BoardRows(board, Choice()).stated_titles().values()) == ["Parameters"], "nobody states a run time"
    chosen = BoardRows(board, Choice(columns=("stated_parameters",)))
    assert list(chosen.stated_in_sight) == ["stated_parameters"] and len(chosen.lines) == 2
    caption = Caption("C", "P", "s", "2026", "https://x.example")
    table = chosen.table(caption)
    assert table.headings[:3] == ["Rank", "Entry", "Parameters"] and table.stated_texts(table.rows[0]) == ["38 M"]
    first, second = csv.DictReader(io.StringIO(csv_file.write(table).removeprefix("\ufeff")))
    assert (first["parameters"], second["parameters"]) == ("38000000", "")
    assert [row["parameters"] for row in json.loads(json_file.write(table))["rows"]] == [38_000_000, None]
    assert "| 38 M |" in markdown.write(table) and " & 38 M & " in latex.write(table)
    assert BoardRows(board, Choice()).table(caption).stated == ()


class TestPeople:
    """The cell of people says why it has no figure."""

    def test_an_entry_that_too_few_judged_has_the_reason_and_one_that_met_no_other_says_so(self):
        board = judged(board_of([0.9, 0.8, 0.7, 0.6]), [0.7, 0.3, None, None], n=[40, 30, 4, 5])
        board = board.model_copy(update={"people": board.people.model_copy(update={"few": {str(board.entries[2].id): few_raters(3)}})})
        lines = BoardRows(board, Choice()).lines
        assert [line.people.reason for line in lines] == [None, None, few_raters(3), Reason(Key.MET_NONE_WITH_PLACE)]
        assert [line.people.state for line in lines[2:]] == [State.TOO_FEW, State.UNCONNECTED]
