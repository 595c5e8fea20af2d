"""Rows of before version 23 of the statistics, which held a sentence where later ones hold a state and a reason.

It is read here and nowhere else: where a snapshot is read, whose bytes never change, and by the migration of what is kept beside them.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from leaderboard.stats.states import Counted, Key, Reason, State

PLACES = {
    "counted": r"(?P<counted>.+?)",
    "need": r"(?P<need>\d+)",
    "have": r"(?P<have>\d+)",
    "are": r"(?:is|are)",
    "value:g": r"(?P<value>-?[\d.e+-]+?)",
    "item": r".+?",
}
# As they were worded: today's sentences may change, and what is stored does not.
SENTENCES = (
    (Key.FEW_FOR_CORRELATION, "Correlations need three entries whose values differ: two are always in one line."),
    (Key.ALIKE, "All answers are alike"),
    (Key.NO_TWO, "No two entries that people compared have values of this metric on one sample."),
    (Key.FEW_FOR_TOLERANCE, "Two samples are needed to find a tolerance on one and judge it on the other."),
    (Key.FEW, "Too few {counted}: {need} are needed, there {are} {have}."),
    (Key.FEW_FOR_DIFFERENCE, "Too few {counted}: {need} are needed, there {are} {have}."),
    (Key.FEW_SHARED, "{have} of {need} votes on comparisons that two raters decided: too few to compare it with another rater."),
    (Key.FEW_STUDIES, "Fewer than {need} studies: they are listed, not pooled."),
    (Key.FEW_SETS, "In {have} of at least {need} sets of one material that a mean needs: listed, not pooled."),
    (Key.FEW_FOR_GATE, "Too few raters answered {value:g} of its questions with another rater: {need} are needed, there are {have}."),
    (Key.FEW_FOR_LIKELIHOOD, "It needs {need} raters with {value:g} scores each."),
    (Key.FEW_FOR_LOOK, "Too early: {need} {counted} are needed, there {are} {have}."),
    (Key.FEW_FOR_CORRELATION, "Correlations need {need} entries whose values differ: two are always in one line."),
    (Key.FEW_FOR_CORRELATION_INTERVAL, "Fewer than {need} entries: no interval."),
    (Key.FEW_FOR_INTERVAL, "Too few {counted} for an interval: {need} are needed, there {are} {have}."),
    (Key.FEW_FOR_TOLERANCE, "Two items are needed to find a tolerance on one and judge it on the other."),
    (Key.ALIKE, "All answers are alike."),
    (Key.SAME_SCORES, "All {have} scores are {value:g}."),
    (Key.IN_LINE, "All entries are in one line: no interval."),
    (Key.UNSTABLE, "Without one of the groups or raters there is no value: no interval."),
    (Key.ALWAYS_HIGHER, "Everybody preferred the higher side of every difference."),
    (Key.NO_PREFERENCE, "Nobody preferred either."),
    (Key.NO_WINNER, "No answer names a winner between entries that this metric has values for."),
    (Key.NO_ANSWER, "Nobody answered on entries that this metric has values for."),
    (Key.NEVER_TIED, "People never tied: nothing can be told apart."),
    (Key.ALWAYS_TIED, "People always tied: nothing can be told apart."),
    (Key.NO_TWO, "No two entries that people compared have values of this metric on one item."),
    (Key.NEVER_MET, "Some entries never met, not even by a chain of others: there is no order of all."),
    (Key.LITTLE_IN_COMMON, "Too few entries were on both kinds of items: no interval."),
    (Key.NOT_SCORED, "Nobody scored it."),
    (Key.NOT_SCORED_BOTH, "Nobody scored both."),
    (Key.NOTHING_COUNTS, "No judgement counts: all are on known pairs, repeat others, or are of people who were left out."),
    (Key.ONLY_DAMAGED, "Only damaged entries were compared here."),
    (Key.NONE_COUNTS, "No two of the entries that were compared here count: the others are damaged, or were left out."),
    (Key.ALL_SCREENED, "No score counts: the rule of screening leaves everybody out."),
    (Key.NO_COMPARISONS, "Nobody scored two entries on one {item}, so no duels follow from the scores."),
    (Key.ONLY_MEANS, "Only the means were published, and a duel needs single scores."),
    (Key.RATERS_AT_CHANCE, "Two raters agree no more than by chance here, so there is no other rater to compare it with."),
    (Key.ONE_RATER_HOLDS_MOST, "One rater would hold more than half of the weight."),
    (Key.GATE_NOT_PASSED, "It was not shown to agree with the others about as often as at least half of the raters do."),
    (Key.OUT_OF_RANGE, "Together they come to a share below 0 or above 1, which says nothing; people's own figure stands."),
    (Key.JUDGE_SILENT, "It answered none of people's duels."),
)
COUNTED = {"raters": Counted.RATERS, "people": Counted.RATERS, "entries": Counted.ENTRIES, "pairs of entries": Counted.PAIRS}


def _pattern(template: str) -> str:
    """A sentence's template as an expression that finds its numbers."""
    parts = re.split(r"\{([^}]+)\}", template)
    return "".join(PLACES[part] if n % 2 else re.escape(part) for n, part in enumerate(parts))


# The longest first: some begin as others do.
PATTERNS = [(key, re.compile(_pattern(words))) for key, words in sorted(SENTENCES, key=lambda one: -len(one[1]))]


def reason_of(words: str) -> Reason | None:
    """The reason that a stored sentence gave; `Key.EARLIER` for one that is not known, None for an empty one."""
    if not words:
        return None
    for key, pattern in PATTERNS:
        if found := pattern.fullmatch(words):
            numbers = found.groupdict()
            counted = numbers.get("counted")
            need, have, value = (numbers.get(name) for name in ("need", "have", "value"))
            return Reason(
                key,
                COUNTED.get(counted, Counted.ITEMS) if counted else None,
                int(need) if need else None,
                int(have) if have else None,
                float(value) if value else None,
            )
    return Reason(Key.EARLIER)


def with_states(content: Any) -> Any:
    """Contents in JSON's types with a reason beside each sentence, and a state beside each value. The sentence stays as a note, in the
    words of then."""
    if isinstance(content, list):
        return [with_states(each) if isinstance(each, dict | list) else each for each in content]
    if not isinstance(content, dict):
        return content
    found = {name: with_states(each) for name, each in content.items()}
    for name, words in content.items():
        prefix = name.removesuffix("why")
        if prefix != name and isinstance(words, str) and f"{prefix}reason" not in content:
            reason = reason_of(words)
            found[f"{prefix}reason"] = None if reason is None else asdict(reason)
    if {"value", "low", "high"} <= content.keys() and "state" not in content:
        reason = reason_of(content.get("why") or "")
        found["state"] = reason.state if reason is not None else _state(content)
    return found


def _state(figure: dict[str, Any]) -> State:
    """State of a figure that no sentence was stored of."""
    if figure["value"] is None:
        return State.NOT_APPLICABLE
    if figure["low"] is None:
        return State.NO_INTERVAL
    return State.ROUGH if figure.get("rough") else State.KNOWN
