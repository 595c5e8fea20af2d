"""Basis of figures of people, in words, from `leaderboard.records.people`. PURE."""

from __future__ import annotations

from leaderboard.records.people import Basis
from leaderboard.wording.nouns import answers, people, verb


def basis(of: Basis) -> str:
    """`1,200 votes by 11 raters`; of published means that they are no more."""
    return f"published means, {people(of.raters)}" if of.of == "means" else f"{answers(of.n, of.opinions)} by {people(of.raters)}"


def withdrawn(n: int, opinions: bool) -> str:
    """Answers that are in figures but no more in the database; nothing for none."""
    return f"{answers(n, opinions)} {verb('was', n)} withdrawn since" if n else ""
