"""Rankings as they are made and kept."""

from __future__ import annotations

from datetime import datetime

from evaluation.models import EvaluationBatch
from leaderboard.boards import build
from leaderboard.boards.board_summary import front
from leaderboard.models import Snapshot
from submissions.models import Phase


def make(phase: Phase, audience: str, now: datetime | None = None) -> Snapshot | None:
    """Rank the phase as it stands. None while it cannot be scored."""
    while True:
        phase.refresh_from_db()
        board = build.build(phase, audience, now)
        if board is None:
            return None
        batch = EvaluationBatch.current(phase)
        if batch is not None and batch.pk == board.batch:
            return Snapshot.keep(phase, batch, board, front(board))
        # The batch was switched while we read; what we read mixes the two.


def make_all(phase: Phase, now: datetime | None = None) -> None:
    """Rank the phase for both audiences, with one computation where they see the same."""
    public = make(phase, Snapshot.Audience.PUBLIC, now)
    if public is not None and build.hides_nothing(phase, now):
        board = public.board.model_copy(update={"audience": build.ORGANIZERS})
        Snapshot.keep(phase, public.batch, board, front(board))
    else:
        make(phase, Snapshot.Audience.ORGANIZERS, now)
