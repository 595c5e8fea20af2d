"""Boards that several files of tests look at."""

from __future__ import annotations

import pytest

from leaderboard.boards import snapshots
from leaderboard.tasks import build_due_boards
from submissions.models import Phase, Submission
from tests.support.factories import gables, perturbed
from tests.support.leaderboard.scores import entry, spread, with_files


@pytest.fixture
def board(phase, people, scored) -> Phase:
    scored(0.25, method_name="ridge-net")
    scored(0.6, method_name="valley-net", team=people.other_team)
    snapshots.make_all(phase)
    return phase


@pytest.fixture
def two(phase, people) -> tuple[Submission, Submission]:
    """A scored entry of each team, with their files, ranked."""
    values = [{slug: spread(mean) for slug in ("corner_f1", "edge_f1", "hss")} for mean in (0.9, 0.6)]
    about = {"description": "Uses **roofs**.", "code_url": "https://example.org/code"}
    first = entry(phase, people.team, values[0], method_name="ridge-net", **about)
    second = entry(phase, people.other_team, values[1], method_name="valley-net")
    with_files(first, perturbed(gables(), 0.05))
    with_files(second, {name: item for name, item in gables().items() if name != "house_02"})
    build_due_boards()
    return first, second
