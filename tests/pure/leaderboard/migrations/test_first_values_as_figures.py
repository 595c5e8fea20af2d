"""The first entry's value in the summary beside a ranking, which was text, as the figure of the ranking."""

from __future__ import annotations

import json
from importlib import import_module

from leaderboard.boards.board_summary import front
from tests.support.leaderboard.boards import board_of

MIGRATION = import_module("leaderboard.migrations.0044_first_values_as_figures")


def test_the_text_becomes_the_value_with_its_interval_and_all_else_stays():
    board = board_of([0.4, 0.9], overall={"metrics": ["a"]})
    ends = {"ci_low": [0.3, 0.8], "ci_high": [0.5, 0.95], "n": [4, 4]}
    board = board.model_copy(update={"metrics": [column.model_copy(update=ends) for column in board.metrics]})
    lead = front(board).model_dump(mode="json")
    before = {name: each for name, each in lead.items() if name not in ("bounds", "decimals")} | {"value": "0.900 ±.075"}
    stored = json.loads(board.to_json())
    assert lead["value"] == [0.9, 0.8, 0.95]
    assert MIGRATION.converted(before, stored) == lead and MIGRATION.converted(lead, stored) == lead
