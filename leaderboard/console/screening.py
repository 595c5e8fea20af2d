"""Screening of raters as an organizer sees it, before and after."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.models import Study
from leaderboard.stats.correlation import SCREENED


@dataclass(frozen=True)
class Low:
    """A rater whose scores hardly go with the others', on a criterion."""

    criterion: str
    rater: str
    likeness: float
    is_out: bool  # of the analysis as it stands


@dataclass(frozen=True)
class Screening:
    """`is_on` is what was chosen; `computed` what the results that stand now are of, None before there are any."""

    least: float
    is_on: bool
    computed: bool | None
    low: tuple[Low, ...]


def screening(study: Study) -> Screening | None:
    """None for a study whose raters cannot be screened."""
    if not study.can_screen:
        return None
    titles = {criterion["key"]: criterion["title"] for criterion in study.criteria}
    rows = study.analyses.filter(content__isnull=False).order_by("criterion")
    done = [(row.criterion, row.summary) for row in rows if row.summary is not None]
    low = (
        Low(titles.get(criterion, criterion or "all"), line.rater, line.agreement, line.screened)
        for criterion, summary in done
        for line in summary.reliability.raters
        if line.screened or (line.agreement is not None and line.agreement < SCREENED)
    )
    computed = all(summary.screening for _, summary in done) if done else None
    return Screening(SCREENED, study.screens_raters, computed, tuple(low))
