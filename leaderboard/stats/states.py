"""The state of a figure, and the reason for it, as data: what decides whether a reader sees a number.

A reason is a key with numbers and never a text. `leaderboard.wording.reasons` makes the sentence of it, last and in one place; nothing
compares, splits or rewrites that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The reason why there is a number, or none."""

    KNOWN = "known"  # a value and its interval
    ROUGH = "rough"  # the same of so few raters or items that the interval is a rough one
    NO_INTERVAL = "no_interval"  # a value whose interval is not known
    TOO_FEW = "too_few"  # a figure from too few raters or items: no value is shown
    UNDECIDED = "undecided"  # nobody named a winner
    ALIKE = "alike"  # all answers, or all values, are equal
    UNCONNECTED = "unconnected"  # the entries never met
    WITHHELD = "withheld"  # this reader may not see it
    OUTDATED = "outdated"  # computed by an earlier version, whose state nothing tells
    NOT_APPLICABLE = "not_applicable"


SHOWN = frozenset({State.KNOWN, State.ROUGH, State.NO_INTERVAL, State.ALIKE})


class Key(StrEnum):
    """The reasons there are; each leads to one state."""

    FEW = "few"
    FEW_FOR_DIFFERENCE = "few_for_difference"
    FEW_SHARED = "few_shared"
    FEW_STUDIES = "few_studies"
    FEW_SETS = "few_sets"
    FEW_FOR_GATE = "few_for_gate"
    FEW_FOR_LIKELIHOOD = "few_for_likelihood"
    FEW_FOR_LOOK = "few_for_look"
    FEW_FOR_CORRELATION = "few_for_correlation"
    FEW_FOR_CORRELATION_INTERVAL = "few_for_correlation_interval"
    FEW_FOR_INTERVAL = "few_for_interval"
    FEW_FOR_TOLERANCE = "few_for_tolerance"
    ALIKE = "alike"
    SAME_SCORES = "same_scores"
    IN_LINE = "in_line"
    UNSTABLE = "unstable"
    ALWAYS_HIGHER = "always_higher"
    NO_PREFERENCE = "no_preference"
    NO_WINNER = "no_winner"
    NO_ANSWER = "no_answer"
    NEVER_TIED = "never_tied"
    ALWAYS_TIED = "always_tied"
    NO_TWO = "no_two"
    NEVER_MET = "never_met"
    MET_NONE_WITH_PLACE = "met_none_with_place"
    LITTLE_IN_COMMON = "little_in_common"
    NOT_SCORED = "not_scored"
    NOT_SCORED_BOTH = "not_scored_both"
    NOTHING_COUNTS = "nothing_counts"
    ONLY_DAMAGED = "only_damaged"
    NONE_COUNTS = "none_counts"
    ALL_SCREENED = "all_screened"
    NO_COMPARISONS = "no_comparisons"
    ONLY_MEANS = "only_means"
    RATERS_AT_CHANCE = "raters_at_chance"
    ONE_RATER_HOLDS_MOST = "one_rater_holds_most"
    GATE_NOT_PASSED = "gate_not_passed"
    OUT_OF_RANGE = "out_of_range"
    JUDGE_SILENT = "judge_silent"
    EARLIER = "earlier"


STATES = {
    Key.FEW: State.TOO_FEW,
    Key.FEW_FOR_DIFFERENCE: State.TOO_FEW,
    Key.FEW_SHARED: State.TOO_FEW,
    Key.FEW_STUDIES: State.TOO_FEW,
    Key.FEW_SETS: State.TOO_FEW,
    Key.FEW_FOR_GATE: State.TOO_FEW,
    Key.FEW_FOR_LIKELIHOOD: State.TOO_FEW,
    Key.FEW_FOR_LOOK: State.TOO_FEW,
    Key.FEW_FOR_CORRELATION: State.NOT_APPLICABLE,
    Key.FEW_FOR_CORRELATION_INTERVAL: State.NO_INTERVAL,
    Key.FEW_FOR_INTERVAL: State.NO_INTERVAL,
    Key.FEW_FOR_TOLERANCE: State.NOT_APPLICABLE,
    Key.ALIKE: State.ALIKE,
    Key.SAME_SCORES: State.ALIKE,
    Key.IN_LINE: State.NO_INTERVAL,
    Key.UNSTABLE: State.NO_INTERVAL,
    Key.ALWAYS_HIGHER: State.ALIKE,
    Key.NO_PREFERENCE: State.UNDECIDED,
    Key.NO_WINNER: State.UNDECIDED,
    Key.NO_ANSWER: State.NOT_APPLICABLE,
    Key.NEVER_TIED: State.NOT_APPLICABLE,
    Key.ALWAYS_TIED: State.NOT_APPLICABLE,
    Key.NO_TWO: State.UNCONNECTED,
    Key.NEVER_MET: State.UNCONNECTED,
    Key.MET_NONE_WITH_PLACE: State.UNCONNECTED,
    Key.LITTLE_IN_COMMON: State.TOO_FEW,
    Key.NOT_SCORED: State.NOT_APPLICABLE,
    Key.NOT_SCORED_BOTH: State.UNCONNECTED,
    Key.NOTHING_COUNTS: State.NOT_APPLICABLE,
    Key.ONLY_DAMAGED: State.NOT_APPLICABLE,
    Key.NONE_COUNTS: State.NOT_APPLICABLE,
    Key.ALL_SCREENED: State.NOT_APPLICABLE,
    Key.NO_COMPARISONS: State.UNCONNECTED,
    Key.ONLY_MEANS: State.NOT_APPLICABLE,
    Key.RATERS_AT_CHANCE: State.NOT_APPLICABLE,
    Key.ONE_RATER_HOLDS_MOST: State.NOT_APPLICABLE,
    Key.GATE_NOT_PASSED: State.NOT_APPLICABLE,
    Key.OUT_OF_RANGE: State.NO_INTERVAL,
    Key.JUDGE_SILENT: State.NOT_APPLICABLE,
    Key.EARLIER: State.OUTDATED,
}


class Counted(StrEnum):
    """Things of which there may be too few."""

    RATERS = "raters"
    ITEMS = "items"
    ENTRIES = "entries"
    PAIRS = "pairs"  # of entries
    ANSWERS = "answers"
    STUDIES = "studies"
    SETS = "sets"  # of published ratings and votes
    GROUPS = "groups"  # of items
    RESULTS = "results"  # of an entry on an item


@dataclass(frozen=True)
class Reason:
    """A key, and its numbers: `need` of what is `counted` are needed and `have` are there; all scores are `value`."""

    key: Key
    counted: Counted | None = None
    need: int | None = None
    have: int | None = None
    value: float | None = None

    @property
    def state(self) -> State:
        return STATES[self.key]


def too_few(reason: Reason | None) -> bool:
    """True if there are too few of something for any value."""
    return reason is not None and reason.state is State.TOO_FEW


def alike(reason: Reason | None) -> bool:
    """True if all answers, or all values, are equal."""
    return reason is not None and reason.state is State.ALIKE
