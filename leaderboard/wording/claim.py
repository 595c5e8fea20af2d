"""Statements on first place by the metrics and with people, from `leaderboard.records.claim`. PURE."""

from __future__ import annotations

from leaderboard.records.claim import Claim, FirstPlace, Named
from leaderboard.stats.states import too_few
from leaderboard.wording import contradiction
from leaderboard.wording.nouns import NOUN, counted, verb
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement, name, person

ALIKE = "nothing says how certain this is, because all raters and items say the same"


def others(first: FirstPlace) -> str:
    """Number of other entries that may be first with people; empty for none."""
    k, n = len(first.open), len(first.open) + len(first.behind)
    if not k:
        return f"with people its place may be as low as {first.low_end}" if first.low_end else ""
    some = "the other" if n == 1 else f"{k} of {n} others" if k < n else f"all {n} others"
    return f"with people {some} could be first too" if first.tested else f"with people it is tied with {some}"


def statement(claim: Claim, noun: str = NOUN, before: str = "") -> Statement:
    """The statement over a board: whether metrics and people agree on the first. `before` is the reason as a ranking of before says it."""
    (ours, *more), (theirs, *level) = claim.metrics, claim.people
    if claim.means:
        return _of_means(claim)
    if claim.reason is not None:
        cause = "Too early to compare the order with people." if too_few(claim.reason) else "The order is not compared with people."
        return Statement.of(f"{cause} {before or sentence(claim.reason, noun)}")
    if claim.parted is not None:
        return contradiction.statement(claim.parted) + _apart(claim)
    open_ = f"; {said}" if (said := others(claim.first)) else ""
    if more and level:
        head = Statement.of(f"{len(claim.metrics)} entries share first place by the metrics, and {len(claim.people)} with people{open_}.")
    elif level:
        among = f"{name_of(ours)} is one of them" if ours in claim.people else "it is none of them"
        head = Statement.of(
            "The metrics put ", name(ours[0]), f" first. With people {len(claim.people)} entries share first place, and {among}{open_}."
        )
    elif more:
        head = Statement.of(
            f"{len(claim.metrics)} entries share first place by the metrics. People put ", person(theirs[0]), f" first{open_}."
        )
    elif ours == theirs:
        if claim.alike and not open_:
            head = Statement.of("Metrics and people both put ", person(ours[0]), f" first; {ALIKE}.")
        elif open_:
            head = Statement.of("Metrics and people both put ", person(ours[0]), f" first{open_}.")
        else:
            head = Statement.of("Metrics and people agree: ", person(ours[0]), " is first.")
    else:
        tied = f"with people these two are tied{', corrected for all pairs' if claim.corrected else ''}"
        rest = "nobody was asked about these two" if not claim.met else ALIKE if claim.alike else tied
        head = Statement.of("The metrics put ", name(ours[0]), " first, people ", person(theirs[0]), f"; {rest}.")
    return head + _apart(claim)


def name_of(one: Named) -> str:
    return one[0]


def _of_means(claim: Claim) -> Statement:
    ours, theirs = (name_of(some[0]) if len(some) == 1 else f"{len(some)} entries together" for some in (claim.metrics, claim.people))
    unsure = "; means alone do not say how certain this is."
    if set(claim.metrics) == set(claim.people):
        return Statement.of("The metrics and people's published means both put ", person(ours), f" first{unsure}")
    return Statement.of("The metrics put ", name(ours), " first, people's published means ", person(theirs), unsure)


def _apart(claim: Claim) -> str:
    """Sentences on the entries that have no place beside the others."""
    said = []
    if claim.unmet:
        said.append(f"{counted(claim.unmet, 'other')} met none of those that have a place with people.")
    if claim.before:
        who = claim.before[0] if len(claim.before) == 1 else f"{len(claim.before)} entries"
        n = len(claim.before)
        said.append(f"People prefer {who}, which {verb('holds', n)} no rank, to {name_of(claim.people[0])}.")
    return " ".join(said)
