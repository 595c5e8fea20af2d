"""Rows of before version 23 of the statistics, which held a sentence where later ones hold a state and a reason.

It is read here and nowhere else: where a snapshot is read, whose bytes never change, and by the migration of what is kept beside them.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from leaderboard.stats.states import Counted, Key, Reason, State
from leaderboard.wording.reasons import SENTENCES

PLACES = {
    "counted": r"(?P<counted>.+?)",
    "need": r"(?P<need>\d+)",
    "have": r"(?P<have>\d+)",
    "are": r"(?:is|are)",
    "value:g": r"(?P<value>-?[\d.e+-]+?)",
    "item": r".+?",
}
# Worded otherwise then.
EARLIER = (
    (Key.FEW_FOR_CORRELATION, r"Correlations need three entries whose values differ: two are always in one line\."),
    (Key.ALIKE, r"All answers are alike"),
    (Key.NO_TWO, r"No two entries that people compared have values of this metric on one sample\."),
    (Key.FEW_FOR_TOLERANCE, r"Two samples are needed to find a tolerance on one and judge it on the other\."),
    (Key.NO_COMPARISONS, r"Nobody scored two entries on one .+?, so no duels follow from the scores\."),
)
COUNTED = {"raters": Counted.RATERS, "people": Counted.RATERS, "entries": Counted.ENTRIES, "pairs of entries": Counted.PAIRS}


def _pattern(template: str) -> str:
    """A sentence's template as an expression that finds its numbers."""
    parts = re.split(r"\{([^}]+)\}", template)
    return "".join(PLACES[part] if n % 2 else re.escape(part) for n, part in enumerate(parts))


# The longest first: some begin as others do.
PATTERNS = [(key, re.compile(pattern)) for key, pattern in EARLIER] + [
    (key, re.compile(_pattern(words))) for key, words in sorted(SENTENCES.items(), key=lambda one: -len(one[1])) if key is not Key.EARLIER
]


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
