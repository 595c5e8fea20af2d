"""Nouns, alone and in the plural."""

from __future__ import annotations

from collections.abc import Iterable

from leaderboard.records.unit import NOUN as NOUN

UNSAMPLED = "comparison"  # what counts as a sample where votes name none
VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def plural(noun: str, n: int | None = None) -> str:
    """The noun in the plural, unless `n` is 1, by the rules of English that need no dictionary: boxes, bodies, bays, kinds of blur."""
    if n == 1:
        return noun
    head, of, rest = noun.partition(" of ")
    if of:
        return f"{plural(head)}{of}{rest}"
    if noun == "person":
        return "people"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def sampled_noun(noun: str, unsampled: bool) -> str:
    """Name of what counts as a sample of a study: where its votes name none, each comparison is one of its own."""
    return UNSAMPLED if unsampled else noun


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 entry`, `5,000 entries`."""
    return f"{n:,} {plural(noun, n)}"


def some_of(k: int, n: int) -> str:
    """So many of the other `n` entries: `the other entry`, `both other entries`, `2 of 5 other entries`."""
    if k < n:
        return f"{k} of {n} other entries"
    return {1: "the other entry", 2: "both other entries"}.get(n, f"all {n} other entries")


def verb(word: str, n: int | None = None) -> str:
    """The verb of a number of things, given as of one: `is`, `has`, `lacks`."""
    return word if n == 1 else VERBS.get(word, word.removesuffix("s"))


def people(n: int | None, noun: str = "rater") -> str:
    """A number of people, which may not be known: `9 raters`, `raters unknown`."""
    return f"{plural(noun)} unknown" if n is None else counted(n, noun)


def answers(n: int, opinions: bool) -> str:
    """A number of what people gave: `120 votes` on comparisons, `1 rating`."""
    return counted(n, answer(opinions))


def answer(opinions: bool) -> str:
    """The noun of what one person gave: a rating where people score, else a vote."""
    return "rating" if opinions else "vote"


def decision(opinions: bool) -> str:
    """The noun of what names a winner: a vote, or the comparison of two ratings of one rater."""
    return "comparison" if opinions else "vote"


def on_scale(scale: tuple[float, float]) -> str:
    """The scale that scores are on: `on a scale from 1 to 5`."""
    return f"on a scale from {scale[0]:g} to {scale[1]:g}"


def listed(names: Iterable[str], last: str = "and", most: int | None = None) -> str:
    """Names as a list: `a, b and c`; of more than `most` the first, and how many others."""
    every = list(names)
    if most is not None and len(every) > most:
        every = [*every[: most - 1], f"{len(every) - most + 1} others"]
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}" if every else ""
