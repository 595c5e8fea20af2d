"""Rankings of format 2 in format 3: the numbers that sentences held as data, and bytes that the records of now write."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from leaderboard.records.board import Board, ColumnAcceptanceTest
from leaderboard.stats.ranking import RULES
from leaderboard.wording.acceptance_test import outcome
from leaderboard.wording.board import rule_value
from tests import ROOT
from tests.support.leaderboard.boards import board_of, judged
from tests.support.leaderboard.earlier_forms import in_format_2

FORMAT_2, FORMAT_3 = (import_module(f"leaderboard.migrations.{name}_of_rankings") for name in ("0042_format_2", "0046_format_3"))
KEPT = sorted(Path(ROOT, "tests/support/leaderboard/payloads").glob("*.json"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_ranking_says_what_it_said(path):
    before = FORMAT_2.ranking(json.loads(path.read_bytes()))
    found = FORMAT_3.ranking(before)
    board = Board.model_validate(found)
    assert list(found) == list(before) and Board.from_json(json.dumps(found).encode()) == board
    said = [rule_value(board.rule_value(index)) for index in range(len(board.entries))]
    told = [words if value is not None else "" for words, value in zip(before["overall"]["explanation"], board.overall.value, strict=True)]
    if board.overall.rule == "primary":  # its sentence named the metric by its slug
        told = [words.replace(f" in {board.overall.metrics[0]},", f" in {board.rule.title},") for words in told]
    # Words before the value said that an entry does not count; now words after it do.
    before_value = FORMAT_3.NOT_COUNTED
    told = [f"{one.removeprefix(before_value)} (this entry does not count)" if one.startswith(before_value) else one for one in told]
    assert said == told
    tests = [(one["acceptance_test"], column) for one, column in zip(before["metrics"], board.metrics, strict=True) if column.acceptance_test]
    assert [(one, column) for one, column in tests if outcome(column.acceptance_test) not in (one["sentence"], "passed")] == []
    assert [(one, column) for one, column in tests if (one["state"] == "passed") != column.may_rank] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_ranking_of_the_last_form_becomes_the_bytes_that_are_written_now(rule):
    metrics = ["a"] if rule == "primary" else ["a", "b"]
    ranks = {"rule": rule, "metrics": metrics, "ranks": [[1.0, 2.5][: len(metrics)], None, [2.0, 1.0][: len(metrics)]], "incomplete": 1}
    board = board_of([0.9, None, 0.1], [0.5, 0.5, 0.6], overall=ranks, counted=[True, True, False])
    tested = board.metrics[1].model_copy(update={"acceptance_test": ColumnAcceptanceTest(state="waiting", percent=40)})
    board = judged(board.model_copy(update={"metrics": [board.metrics[0], tested]}), [0.2, 0.8, 0.5])
    assert json.dumps(FORMAT_3.ranking(in_format_2(board)), separators=(",", ":")).encode() == board.to_json()


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("", None),
        ("an overall rank needs at least one metric", {"reason": "no_metric"}),
        ("weights must be finite, not negative, and not all zero", {"reason": "weights"}),
        (
            "HSS, of ours, which decides the order here, is shown and not ranked; the organizers can choose another metric.",
            {"reason": "may_not_rank", "title": "HSS, of ours"},
        ),
        ("something else", {"reason": "earlier", "note": "something else"}),
    ],
)
def test_a_problem_becomes_a_reason(sentence, reason):
    assert FORMAT_3.problem(sentence) == reason


@pytest.mark.parametrize(
    ("state", "sentence", "found"),
    [
        ("passed", "Acceptance test passed on the references: 9 of 9 pairs in order.", {"state": "passed"}),
        ("refused", "Shown, not ranked: its weights miss requirements that their model card lists.", {"state": "weights"}),
        ("refused", "Shown, not ranked. It was worse.", {"state": "refused", "note": "Shown, not ranked. It was worse."}),
        ("retired", "No longer computed: its values stay and do not rank.", {"state": "retired"}),
        ("waiting", "Not yet.", {"state": "waiting", "note": "Not yet."}),
    ],
)
def test_what_an_acceptance_test_found_becomes_data_or_stays_as_a_note(state, sentence, found):
    assert FORMAT_3.acceptance_test({"state": state, "sentence": sentence, "id": 3, "scenes": ["attic"]}) == {
        "id": 3,
        "scenes": ["attic"],
        **found,
    }
