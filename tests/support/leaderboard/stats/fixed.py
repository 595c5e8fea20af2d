"""A fixed study and a fixed board, and the numbers that the statistics gave for them: `python -m tests.support.leaderboard.stats.fixed`
writes them again, after a change that raised the statistics' version."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.stats import uncertainty
from leaderboard.stats.study import analyse
from leaderboard.stats.votes import VERSION, canonical, read
from tests.support.leaderboard.stats.golden import FOLDER, study

FILE = Path(__file__).with_name("fixed.json")
VERSIONS = {"study": VERSION, "board": uncertainty.RULE}


def numbers(found: Any, where: str = "") -> Iterator[tuple[str, float | None]]:
    """Every number of nested records, tables and arrays by its place; one that is not finite as None."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from numbers(value, f"{where}/{key}")
    elif isinstance(found, np.ndarray | list | tuple):
        for place, value in enumerate(found):
            yield from numbers(value, f"{where}/{place}")
    elif isinstance(found, bool | np.bool_ | int | float | np.number):
        yield where, float(found) if math.isfinite(found) else None


def of_study() -> dict[str, float | None]:
    """The summary of the study that others computed by hand, with its metrics."""
    _, metrics = study()
    return dict(numbers(asdict(analyse(canonical(read(FOLDER / "votes.csv")), list(metrics.values()), damaged=set()))))


def of_board() -> dict[str, float | None]:
    """Intervals and brackets of six entries on forty items, two of them hard to tell from one another."""
    rng = np.random.default_rng(7)
    items = rng.normal(size=40)
    matrix = np.array([0.6 + 0.02 * n * (n > 1) + 0.05 * items + 0.03 * rng.normal(size=40) for n in range(6)])
    interval = uncertainty.mean_interval(matrix, (0.0, 1.0))
    board = uncertainty.brackets(matrix, True, matrix.mean(axis=1).tolist())
    return dict(numbers({"interval": asdict(interval), "board": asdict(board), "leads": uncertainty.leads(matrix, True)}))


if __name__ == "__main__":
    FILE.write_text(json.dumps({"versions": VERSIONS, "study": of_study(), "board": of_board()}, indent=0) + "\n")
