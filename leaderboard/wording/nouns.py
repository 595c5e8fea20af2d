"""Nouns, alone and in the plural."""

from __future__ import annotations

NOUN = "item"  # of what is scored on its own, where a challenge names none
VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def plural(noun: str, n: int | None = None) -> str:
    """The noun in the plural, unless `n` is 1, by the rules of English that need no dictionary: boxes, bodies, bays."""
    if n == 1:
        return noun
    if noun == "person":
        return "people"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def sampled_noun(noun: str, unsampled: bool) -> str:
    """Name of what counts as a sample of a study: where its judgements name none, each duel is one of its own."""
    return "duel" if unsampled else noun


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 entry`, `5,000 entries`."""
    return f"{n:,} {plural(noun, n)}"


def verb(word: str, n: int | None = None) -> str:
    """The verb of a number of things, given as of one: `is`, `has`, `lacks`."""
    return word if n == 1 else VERBS.get(word, word.removesuffix("s"))
