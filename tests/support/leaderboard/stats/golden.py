"""A small study whose figures were computed by somebody else from the text of the statistics alone: `statements/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leaderboard.stats.__main__ import read_scores
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.study import MetricScores
from leaderboard.stats.votes import canonical, read

FOLDER = Path(__file__).parent / "statements"


def golden(part: str) -> Any:
    """One part of the results that others found."""
    return json.loads((FOLDER / "golden.json").read_text())[part]


def study() -> tuple[Answers, dict[str, MetricScores]]:
    """The answers, and the metrics by name."""
    votes = canonical(read(FOLDER / "votes.csv"))
    return answers(votes), {scores.key: scores for scores in read_scores(FOLDER / "scores.csv", votes, {})}
