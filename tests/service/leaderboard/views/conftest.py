"""A board that several files of tests look at from outside."""

from __future__ import annotations

import pytest

from leaderboard.boards import snapshots
from submissions.models import Phase


@pytest.fixture
def board(phase, people, scored) -> Phase:
    scored(0.25, method_name="ridge-net")
    scored(0.6, method_name="valley-net", team=people.other_team)
    snapshots.make_all(phase)
    return phase
