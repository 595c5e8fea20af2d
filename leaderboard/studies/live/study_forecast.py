"""Forecast of a study of pairs before it opens: from its plan, and from how past studies of the kind went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats import davidson
from leaderboard.stats.minimums import (
    ANSWERS_FOR_ANOTHER_RATER,
    ITEMS_ADVISED,
    ITEMS_FOR_FIGURE,
    RATERS_ADVISED,
    RATERS_FOR_FIGURE,
    RATERS_FOR_LOOK,
)
from leaderboard.stats.planning import DESIGN, POWER, SHARED_ADVISED, power_of_look
from leaderboard.studies.live.question_choice import EXPLORED, Overlap

RATERS = (3, 5, 12, 24, 48)
TIES, SECONDS = 0.3, 8.0  # where no past study says


@dataclass(frozen=True)
class Habits:
    """Habits of people who answered before: the share of answers that say equal, and the mean seconds of one; `source` names the studies,
    empty where there are none. `gaps` are the preferences for each entry over the next one in people's order, see `preferences`."""

    ties: float = TIES
    seconds: float = SECONDS
    source: str = ""
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """The question sheet: `pairs` of entries on `samples`, `questions` of a rater without repeats (None: all), of which `gold` share are on
    pairs of known order; `repeats` share on top. `fixed` is False where pairs are chosen by what they tell."""

    pairs: int
    samples: int
    questions: int | None
    overlap: Overlap
    gold: float = 0.0
    repeats: float = 0.0
    fixed: bool = True

    @property
    def cells(self) -> int:
        return self.pairs * self.samples

    @property
    def per_rater(self) -> int:
        return self.cells if self.questions is None else min(self.questions, self.cells)

    @property
    def counted(self) -> int:
        """Questions of a rater whose order is not known."""
        return self.per_rater - math.ceil(self.gold * self.per_rater - 1e-9)


@dataclass(frozen=True)
class Forecast:
    """Forecast for a number of raters on so many samples. `answers` counts theirs without repeats, and `per_pair` those of a pair. `share`
    is the smallest preference, a tie counted half, that four of five studies tell from one half (None: not even a unanimous one).
    `gaps_seen` counts past preferences as large. `shared` counts decisive answers on questions that two raters decided. `hours` is the
    time of all raters together."""

    raters: int
    samples: int
    answers: int
    per_pair: float
    share: float | None
    gaps_seen: int
    shared: float
    hours: float

    @property
    def has_few_samples(self) -> bool:
        """True if the study has too few samples for any figure, whoever answers."""
        return self.samples < ITEMS_FOR_FIGURE

    @property
    def is_early(self) -> bool:
        """True if too few people will have answered for any figure."""
        return self.raters < RATERS_FOR_FIGURE

    @property
    def compares(self) -> bool:
        """True if a metric can be compared with another rater."""
        return not self.has_few_samples and not self.is_early and self.shared >= ANSWERS_FOR_ANOTHER_RATER


@dataclass(frozen=True)
class PlannedLook:
    """Forecast of one planned look at first place. `answers` is their number when it is taken, and `raters` the number of raters who give
    these. `comparisons` counts the answers on the first entry and one that is still tied with it. `share` is the smallest preference for
    the first over each other entry, a tie counted half, that settles first place in four of five studies (None: not even a unanimous
    one)."""

    number: int
    answers: int
    raters: int
    comparisons: float
    share: float | None

    @property
    def is_early(self) -> bool:
        """True if too few people will have answered for any look."""
        return self.raters < RATERS_FOR_LOOK


def planned_looks(
    sheet: Sheet, habits: Habits, entries: int, looks: int, answers: int, first_place: bool, counts: float = 1.0
) -> list[PlannedLook]:
    """The looks of a study of so many `entries` that ends after `answers`. `first_place`: questions go to the first and those not yet told
    from it, which are all others until something is known. Answers on damaged entries are asked and not counted: `counts` is the share
    of pairs that have none. A look stands by the answers on two entries alone, as `forecast` does."""
    rows = []
    own = sheet.counted
    aimed = 1 - EXPLORED if first_place and entries > 1 else 0.0  # share of the questions that go to the first
    for number in range(1, looks + 1):
        due = -(-number * answers // looks)
        asked = due / (aimed + (1 - aimed) * counts) if counts else 0.0
        comparisons = (1 - aimed) * asked / sheet.pairs if sheet.pairs else 0.0
        comparisons += aimed * asked / (entries - 1) if aimed else 0.0
        share = smallest_share(comparisons, habits.ties, power=power_of_look(looks))
        rows.append(PlannedLook(number, due, math.ceil(asked / own - 1e-9) if own else 0, comparisons, share))
    return rows


def smallest_share(answers: float, ties: float, power: float = POWER) -> float | None:
    """The smallest preference, a tie counted half, that so many answers on a pair show at 5 % with a power of 80 % (or as `power` says).
    The inverse of `leaderboard.stats.planning.answers_needed`."""
    if answers <= 0 or ties >= 1:
        return None
    share = 0.5 + math.sqrt(power * (1 - ties) / 4 * DESIGN / answers)
    return share if share <= 1 else None


def preferences(abilities: Sequence[float], nu: float) -> tuple[float, ...]:
    """Preferences for each entry over the next, a tie counted half, by the abilities and the share of ties of a `davidson.Model`."""
    return tuple(davidson.preference(-np.diff(abilities), nu).tolist())


def shared_answers(sheet: Sheet, raters: int, ties: float) -> float:
    """Expected decisive answers on questions that at least two decided, everybody answering all that they are asked."""
    own, counted = sheet.per_rater, sheet.counted
    if own >= sheet.cells:
        return counted * _decided_by_two(raters, ties)
    common = min(math.ceil(sheet.overlap.common * own - 1e-9), counted)
    rest, left = raters * (counted - common), sheet.cells - common
    shared = common * _decided_by_two(raters, ties)
    together = min(sheet.overlap.answers if sheet.fixed else 1, raters)
    full, more = divmod(rest, left)  # every question that often, and so many once more
    if full >= together:
        return shared + (left - more) * _decided_by_two(full, ties) + more * _decided_by_two(full + 1, ties)
    begun, last = divmod(rest - full * left if together == 1 else rest, together)
    if together == 1:
        return shared + begun * _decided_by_two(full + 1, ties) + (left - begun) * _decided_by_two(full, ties)
    closed = min(begun, left)
    return shared + closed * _decided_by_two(together, ties) + _decided_by_two(last, ties)


def _decided_by_two(raters: int, ties: float) -> float:
    """Expected deciders of a question that so many are asked, where there are at least two of them."""
    if raters < 2:
        return 0.0
    return raters * (1 - ties) * (1 - ties ** (raters - 1))


def forecast(sheet: Sheet, habits: Habits, raters: int) -> Forecast:
    answers = raters * sheet.per_rater
    per_pair = raters * sheet.counted / sheet.pairs if sheet.pairs else 0.0
    share = smallest_share(per_pair, habits.ties)
    seen = 0 if share is None else sum(max(gap, 1 - gap) >= share for gap in habits.gaps)
    seconds = answers * (1 + sheet.repeats) * habits.seconds
    return Forecast(raters, sheet.samples, answers, per_pair, share, seen, shared_answers(sheet, raters, habits.ties), seconds / 3600)


def table(sheet: Sheet, habits: Habits, most: int | None = None) -> list[Forecast]:
    """One line for each of `RATERS`, and of as many as there may be at most."""
    counts: Sequence[int] = RATERS if most is None else sorted({*(n for n in RATERS if n < most), most})
    return [forecast(sheet, habits, n) for n in counts]


def raters_for_comparison(sheet: Sheet, habits: Habits, most: int = 1000) -> int | None:
    """Raters from which on a metric can be compared with another rater; None where so many are not enough, or samples are too few."""
    return next((n for n in range(RATERS_FOR_FIGURE, most + 1) if forecast(sheet, habits, n).compares), None)


def advice(sheet: Sheet) -> str:
    """Advice on what the plan lacks, in a sentence; empty where it lacks nothing."""
    lacks = []
    if sheet.samples < ITEMS_ADVISED:
        lacks.append(f"{ITEMS_ADVISED} items (it has {sheet.samples})")
    if sheet.per_rater < sheet.cells:
        alone = replace(sheet, gold=0.0)
        twice = shared_answers(alone, RATERS_ADVISED, 0.0) / (RATERS_ADVISED * sheet.per_rater)
        if twice < SHARED_ADVISED:
            lacks.append(f"each fifth question answered by two people (it is {100 * twice:.0f} % of the answers)")
    return f"Better have {' and '.join(lacks)}." if lacks else ""
