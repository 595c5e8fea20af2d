"""Statements on the first entry of a board, and on where metrics and people differ, from `leaderboard.records.front`. PURE."""

from __future__ import annotations

from leaderboard.records.front import Contradiction, FirstByMeans, Front, Parted, Split, Turned
from leaderboard.wording.digits import rounded
from leaderboard.wording.figures import interval, number, share_end
from leaderboard.wording.nouns import answer, counted, on_scale, people, plural
from leaderboard.wording.ranks import ordinal, place
from leaderboard.wording.statement import Statement, name, person


def first(front: Front) -> Statement:
    """The first entry of a board with its value, and how many others may be first too; of several that share first place, one by name."""
    if front.level > 1:
        return Statement.of(name(front.name), f" and {counted(front.level - 1, 'other entry')} share first place.")
    rest = f"; {counted(front.open, 'other entry')} may be first too" if front.open else ""
    value = rounded(*front.value, front.bounds, front.decimals)
    of = "" if front.value[0] is None else f", {front.metric} {f'{value.text} {value.spread}'.strip()}"
    return Statement.of(name(front.name), f" is first{of}{rest}.")


def order(found: Contradiction) -> Statement:
    """The order in which metrics, or one of them, put the two; it says so if the order of all metrics is not settled."""
    (ahead, _), (preferred, _) = found.pair
    if isinstance(found, Turned):
        return Statement.of(f"{found.metric} puts ", name(ahead), f" before {preferred}.")
    rest = f", but {preferred} may be first too" if isinstance(found, Parted) and found.open else ""
    return Statement.of("The metrics put ", name(ahead), f" first{rest}.")


def preferred(found: Contradiction) -> Statement:
    return Statement.of("People prefer ", person(found.pair[1][0]), ".")


def statement(found: Contradiction) -> Statement:
    """The two orders."""
    return order(found) + preferred(found)


def how_often(found: Contradiction) -> str:
    """Sentence on how often people would pick their first entry, with its interval; empty where this is not known."""
    value, low, high = found.ends
    if value is None:
        return ""
    chosen = found.pair[1][0]
    if found.basis.opinions:
        return f"People score {chosen} {number(value, 2)} points higher {interval(low, high, 2)}".rstrip() + "."
    return f"People would pick {chosen} in {picks(found)} comparisons of the two {interval(low, high)}".rstrip() + "."


def by_means(found: FirstByMeans) -> Statement:
    """The first entry by the metrics, and that by people's published means."""
    rank = f", which the metrics rank {ordinal(found.rank)}" if found.rank is not None else ""
    ours, theirs = name(found.metrics[0]), person(found.people[0])
    unsure = "Published means alone do not say how certain this is."
    return Statement.of("The metrics put ", ours, " first. People's published means put ", theirs, f" first{rank}. {unsure}")


def figures(found: Contradiction) -> list[tuple[str, str]]:
    """The figures of the statement, each with its meaning: how often people would pick their first entry, and the number of answers."""
    value, low, high = found.ends
    said = []
    if value is not None:
        ends = f", 95 % interval {interval(low, high, 2 if found.basis.opinions else None)}" if low is not None else ""
        chosen = found.pair[1][0]
        if found.basis.opinions:
            said.append((f"{number(value, 2)} points", f"by which people score {chosen} higher, {on_scale(found.basis.scale)}{ends}"))
        else:
            said.append((picks(found), f"comparisons of these two in which people would pick {chosen}{ends}"))
    who = f"{plural(answer(found.basis.opinions), found.basis.n)} by {people(found.basis.raters)} on all entries of the study"
    return [*said, (f"{found.basis.n:,}", who)]


def picks(found: Contradiction) -> str:
    """Number of comparisons in which people would pick their first entry. It is never 100 of 100: no model of preference gives that."""
    value = found.ends[0] or 0.0
    return "more than 99 of 100" if value >= 0.995 else f"{share_end(value)} of 100"


def split(found: Split) -> str:
    """Sentence on the widest difference of a rank and a place, among the contradictions."""
    ranks = f"{found.name} is {ordinal(found.rank)} by {found.metric}, {place(found.place)} with people"
    return f"Widest of the significant contradictions: {ranks}."
