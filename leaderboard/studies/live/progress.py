"""How far a rater is and how quickly they answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from leaderboard.models import Rater

PAUSE = timedelta(minutes=5)  # a sitting ends with it
FEWEST = 3  # answers of a sitting, before which it has no rate


def sat_down(rater: Rater, now: datetime) -> tuple[datetime, int]:
    """When the sitting began in which the rater answers at `now`, and its answers with this one."""
    if rater.answered_last is None or rater.sitting_from is None or now - rater.answered_last >= PAUSE:
        return now, 1
    return rater.sitting_from, rater.sitting_answers + 1


def progress(rater: Rater, answered: int, total: int, now: datetime) -> dict[str, Any]:
    """Answered of so many; of the sitting that goes on its answers and its rate, and how long the rest takes at that."""
    on = rater.answered_last is not None and rater.sitting_from is not None and now - rater.answered_last < PAUSE
    since = rater.sitting_answers if on else 0
    per_hour = seconds_left = None
    if on and since >= FEWEST:
        spent = (rater.answered_last - rater.sitting_from).total_seconds()
        each = max(spent / (since - 1), 0.1)
        per_hour, seconds_left = round(3600 / each), round(each * max(0, total - answered))
    return {"answered": answered, "total": total, "since_break": since, "per_hour": per_hour, "seconds_left": seconds_left}
