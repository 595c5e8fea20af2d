"""Statements on first place by the metrics and with people, from `leaderboard.records.claim`. PURE."""

from __future__ import annotations

from leaderboard.records.claim import Claim, FirstPlace
from leaderboard.stats.states import too_few
from leaderboard.wording import contradiction
from leaderboard.wording.certainty import not_tested
from leaderboard.wording.nouns import NOUN, counted, some_of, verb
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement, name, person

UNKNOWN = "It is not known how certain this is."
UNTESTED = "First place by the metrics is not tested."


def others(first: FirstPlace, by: str, what: str = "place") -> str:
    """Sentence on the other entries that may be first in the order `by` metrics or people, and on those that are not tested; empty where
    first place is settled. `what` is a position in that order called."""
    k, n = len(first.open), len(first.open) + len(first.behind)
    said = [f"the {what} of the first entry may be as low as {first.low_end}"] if first.low_end else []
    if k:
        said = [f"{some_of(k, n)} may be first too" if first.tested else f"the first entry is tied with {some_of(k, n)}"]
    if first.untested:
        said.append(not_tested(first.untested))
    return f"{by}, {', and '.join(said)}." if said else ""


def details(claim: Claim, noun: str = NOUN, before: str = "") -> str:
    """Sentences below the statement: why metrics and people are not compared, how often people would pick theirs, which others may be first
    too, and which entries have no place beside the others. `before` is the reason as an earlier ranking says it."""
    if claim.reason is not None and not claim.means:
        return before or sentence(claim.reason, noun)
    if claim.means:
        return "Published means alone do not say how certain this is."
    (ours, *more), (theirs, *level) = claim.metrics, claim.people
    by_metrics = others(claim.first_by_metrics, "By the metrics", "rank") if claim.first_by_metrics is not None else UNTESTED
    with_people = others(claim.first, "By people's answers") if ours == theirs or more or level else ""
    alike = "The figures are the same for all raters and items, so no interval can be computed." if claim.alike else ""
    first = (by_metrics, with_people, alike) if claim.parted is None else (contradiction.how_often(claim.parted),)
    return " ".join(filter(None, (*first, _apart(claim))))


def statement(claim: Claim) -> Statement:
    """The statement over a board: whether metrics and people agree on the first."""
    (ours, *more), (theirs, *level) = claim.metrics, claim.people
    if claim.means:
        by_metrics, by_means = (some[0][0] if len(some) == 1 else f"{len(some)} entries" for some in (claim.metrics, claim.people))
        if set(claim.metrics) == set(claim.people):
            return Statement.of("The metrics and people's published means both put ", person(by_metrics), " first.")
        return Statement.of("The metrics put ", name(by_metrics), " first. People's published means put ", person(by_means), " first.")
    if claim.reason is not None:
        early = too_few(claim.reason)
        return Statement.of("Too early to compare the order with people." if early else "The order is not compared with people.")
    if claim.parted is not None:
        return contradiction.statement(claim.parted)
    if more or level:
        return _shared(claim)
    if ours == theirs:
        if any(first.open or first.low_end for first in (claim.first, claim.first_by_metrics) if first is not None):
            return Statement.of(person(ours[0]), " leads by the metrics and with people, but first place is not settled.")
        if claim.alike:
            return Statement.of("Metrics and people both put ", person(ours[0]), f" first. {UNKNOWN}")
        if claim.first_by_metrics is None:
            return Statement.of("Metrics and people both put ", person(ours[0]), " first.")
        return Statement.of("Metrics and people agree: ", person(ours[0]), " is first.")
    tied = f"With people these two are tied{', corrected for all pairs' if claim.corrected else ''}."
    rest = "Nobody was asked about these two." if not claim.met else UNKNOWN if claim.alike else tied
    return Statement.of(name(ours[0]), " leads by the metrics, ", person(theirs[0]), f" with people. {rest}")


def _shared(claim: Claim) -> Statement:
    """The same where several entries share first place by the metrics, with people, or both."""
    (ours, *more), (theirs, *level), n = claim.metrics, claim.people, len(claim.people)
    by_metrics = f"{len(claim.metrics)} entries share first place by the metrics."
    if more and level:
        return Statement.of(f"{by_metrics} {n} share it with people.")
    if level:
        others_ = counted(n - 1, "other entry")
        shared = f"it shares first place with {others_}" if ours in claim.people else f"{n} other entries share first place"
        return Statement.of("The metrics put ", name(ours[0]), f" first. With people {shared}.")
    if claim.first.open or claim.first.low_end:
        return Statement.of(f"{by_metrics} With people ", person(theirs[0]), " leads, but first place is not settled.")
    return Statement.of(f"{by_metrics} People put ", person(theirs[0]), " first.")


def _apart(claim: Claim) -> str:
    """Sentences on the entries that have no place beside the others."""
    said = []
    if claim.unmet:
        said.append(f"Nobody compared {counted(claim.unmet, 'other entry')} with the entries that have a place with people.")
    if claim.before:
        who = claim.before[0] if len(claim.before) == 1 else f"{len(claim.before)} entries"
        n = len(claim.before)
        said.append(f"With people, {who} {verb('leads', n)} {claim.people[0][0]} but {verb('has', n)} no rank.")
    return " ".join(said)
