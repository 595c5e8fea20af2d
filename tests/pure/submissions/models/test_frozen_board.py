"""The freeze by the clock, to the second: who is in time, who is too late, and boards that never freeze."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from submissions.models import Phase, Submission
from submissions.models.frozen_board import frozen_since, in_time, too_late
from submissions.visibility import holds

FREEZE = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BOARDS = {board: Phase(board=board, board_at=None if board == "live" else FREEZE) for board in Phase.Board.values}


@pytest.mark.parametrize("now", [FREEZE - SECOND, FREEZE, FREEZE + SECOND])
@pytest.mark.parametrize("board", BOARDS)
def test_a_board_freezes_from_its_moment_on(board, now):
    assert frozen_since(BOARDS[board], now) == (FREEZE if board == "frozen" and now >= FREEZE else None)


@pytest.mark.parametrize(("received", "late"), [(FREEZE - SECOND, False), (FREEZE, False), (FREEZE + SECOND, True)])
@pytest.mark.parametrize(("board", "now"), [("live", FREEZE), ("hidden", FREEZE), ("frozen", FREEZE - SECOND), ("frozen", FREEZE)])
def test_an_entry_is_in_time_or_too_late_and_never_both(board, now, received, late):
    late = late and frozen_since(BOARDS[board], now) is not None
    entry = Submission(received_at=received)
    assert holds(too_late(BOARDS[board], now), entry) is late
    assert holds(in_time(BOARDS[board], now), entry) is not late


def test_what_is_made_for_a_study_is_never_late_and_what_was_not_received_is_not_in_time():
    frozen = BOARDS["frozen"]
    assert not holds(too_late(frozen, FREEZE), Submission(received_at=FREEZE + SECOND, made_as="empty@1"))
    assert not holds(in_time(frozen, FREEZE), Submission(received_at=None))
