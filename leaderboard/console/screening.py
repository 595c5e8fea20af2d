"""Screening of raters as an organizer sees it: the rules, whom they leave out, and what the results would be without them."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.models import Rater, Study
from leaderboard.stats import screening as rules
from leaderboard.stats.correlation import SCREENED
from leaderboard.studies.screening_effects import Effects, effects


@dataclass(frozen=True)
class Low:
    """A rater whom rules leave out on a criterion; of opinion scores also one who hardly agrees with the others without being left out."""

    criterion: str
    rater: str
    rules: str
    likeness: float | None
    is_out: bool  # of the current analysis


@dataclass(frozen=True)
class Screening:
    """`rules` are the study's rules in words; `fixed` says that they were registered. `computed` is whether the current results were made
    with rules, None before there are any. `by_hand` are the raters whom organizers left out one by one."""

    opinions: bool
    rules: tuple[str, ...]
    fixed: bool
    computed: bool | None
    low: tuple[Low, ...]
    effects: Effects | None
    by_hand: tuple[str, ...]


def screening(study: Study) -> Screening | None:
    """None for a study of published means alone."""
    if study.from_results:
        return None
    titles = {criterion["key"]: criterion["title"] for criterion in study.criteria}
    rows = study.analyses.filter(content__isnull=False).order_by("criterion")
    done = [(row.criterion, row.summary) for row in rows if row.summary is not None]
    low = [
        Low(
            titles.get(criterion, criterion or "all"),
            line.rater,
            ", ".join(short(rule) for rule in summary.screened_by.get(line.rater, ())),
            line.agreement if summary.opinions else None,
            line.screened,
        )
        for criterion, summary in done
        for line in summary.reliability.raters
        if line.screened or (summary.opinions and line.agreement is not None and line.agreement < SCREENED)
    ]
    computed = all(summary.screening for _, summary in done) if done else None
    main = dict(done)[study.leading(dict(done))] if done else None
    by_hand = study.raters.filter(kind=Rater.Kind.PERSON, is_counted=False, left_at=None).order_by("id").values_list("name", flat=True)
    said = tuple(rules.words(key, thresholds) for key, thresholds in study.screening.items())
    return Screening(
        study.kind == Study.Kind.OPINIONS,
        said,
        bool(study.design_hash) or study.state != Study.State.DRAFT,
        computed,
        tuple(low),
        None if main is None else effects(main),
        tuple(by_hand),
    )


def short(rule: str) -> str:
    """A rule in a few words."""
    words = {"fast": "too fast", "gold": "known pairs wrong", "others": "unlike the others", "bt500": "BT.500"}
    return words.get(rule, "inconsistent")
