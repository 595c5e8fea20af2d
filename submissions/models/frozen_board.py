"""A frozen board: from the phase's `board_at` on, the public board takes no more entries. Later entries have no rank, and only their team
and the organizers see them, until the organizers lift the freeze.

No task runs at that moment: the code that shows or ranks a board asks the clock.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from submissions.models.status import SENT

if TYPE_CHECKING:
    from submissions.models.phase import Phase


def frozen_since(phase: Phase, now: datetime | None = None) -> datetime | None:
    """Return the moment of the freeze, once it has come; None for a board that is not frozen."""
    frozen = phase.board == phase.Board.FROZEN and (now or timezone.now()) >= phase.board_at
    return phase.board_at if frozen else None


def in_time(phase: Phase, now: datetime | None = None) -> Q:
    """Entries received up to the freeze, that moment included; all while the board is not frozen."""
    frozen = frozen_since(phase, now)
    return Q() if frozen is None else Q(received_at__lte=frozen)


def too_late(phase: Phase, now: datetime | None = None) -> Q:
    """Entries received after the freeze; none while the board is not frozen. Entries that the service made for a study are never late."""
    frozen = frozen_since(phase, now)
    return Q(pk__in=[]) if frozen is None else SENT & Q(received_at__gt=frozen)
