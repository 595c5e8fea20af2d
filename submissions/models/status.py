"""An entry's status and flags, and the conditions on them under which a board shows it."""

from __future__ import annotations

from django.db.models import Q

from submissions.choices import TextChoices
from submissions.entry_states import HOLDS


class Status(TextChoices):
    """The life of a submission (the only place these words are written)."""

    UPLOADING = "uploading", "Uploading"
    RECEIVED = "received", "Received"
    CLAIMED = "claimed", "Claimed by a worker"
    VALIDATING = "validating", "Checking files"
    REJECTED = "rejected", "Rejected"
    SCORING = "scoring", "Scoring"
    SCORED = "scored", "Scored"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"

    @classmethod
    def in_progress(cls) -> tuple[Status, ...]:
        return (cls.UPLOADING, cls.RECEIVED, cls.CLAIMED, cls.VALIDATING, cls.SCORING)

    @classmethod
    def checked(cls) -> tuple[Status, ...]:
        """The states from receipt to the end of validation, which a validating worker may hold."""
        return (cls.RECEIVED, cls.CLAIMED, cls.VALIDATING)


# What of an entry's own columns decides where it is shown; to whom, says submissions.visibility.
SENT = Q(made_as="")  # by a team, or imported: not made by the service for a study
ON_HOLD = Q(status=Status.REJECTED, reason__in=HOLDS, withdrawn_at__isnull=True)  # waits for its team
STANDING = Q(status=Status.SCORED, withdrawn_at__isnull=True)
UNFLAGGED = Q(hidden_at__isnull=True, disqualified_at__isnull=True)
RANKED = SENT & STANDING  # on the board of organizers
ELIGIBLE = RANKED & UNFLAGGED  # on that of the public
