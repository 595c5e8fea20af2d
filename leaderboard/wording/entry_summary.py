"""Statements on an entry of a ranking, from `leaderboard.records.entry_summary`. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.cell import Strip
from leaderboard.records.entry_summary import EntrySummary, NoRank, OwnPlace, OwnRank, Unranked
from leaderboard.wording.acceptance_test import outcome
from leaderboard.wording.board import no_order, rule
from leaderboard.wording.certainty import not_tested
from leaderboard.wording.digits import decimals_for, rounded
from leaderboard.wording.figures import interval, share
from leaderboard.wording.nouns import answers, counted, listed, some_of
from leaderboard.wording.people import basis as basis_words
from leaderboard.wording.people import rough
from leaderboard.wording.ranks import ordinal, place
from leaderboard.wording.statement import Part, Statement, Tone, name, person
from submissions.entry_states import Reason
from submissions.wording import UNRANKED

NAMED = 3  # entries or metrics that a sentence names; of more entries it gives the number


def unranked(it: Unranked | None) -> str:
    """Reason why an entry of a ranking has no rank; empty where it has one."""
    if it is None:
        return ""
    match it.reason:
        case NoRank.WAITING:
            return "This entry waits for a re-evaluation: the newer version of a metric that decides the order has not scored it yet."
        case NoRank.OFF:
            return f"This entry is {it.state}: it has no rank, and the public does not see its scores."
        case NoRank.LATE:
            return UNRANKED[Reason.LATE]
        case NoRank.BASELINE:
            return "This entry is a baseline: it is shown without a rank."
        case NoRank.NO_ORDER:
            return f"There is no overall rank here: {no_order(it.problem)}."
        case NoRank.NOT_PASSED:
            return outcome(it.acceptance_test)
    return f"This entry has no value in {listed(it.titles) if it.titles else 'a metric that decides the order'}."


def rank(it: OwnRank) -> Statement:
    """Rank of an entry, and the number of entries that it is significantly different from."""
    shared = f", shared with {counted(it.level - 1, 'other entry')}" if it.level > 1 else ""
    parts = [f"significantly ahead of {counted(it.behind, 'entry')}"] if it.behind else []
    parts += [f"significantly behind {counted(it.ahead, 'entry')}"] if it.ahead else []
    if it.tied:
        parts.append(f"statistically tied with {listed(it.names) if 0 < len(it.names) <= NAMED else counted(it.tied, 'other')}")
    tested = f": {', '.join(parts)}" if parts else ""
    rest = f" {not_tested(it.untested)}." if it.untested else ""
    return Statement.of(name(f"Rank {it.rank} of {it.ranked}{shared}"), f" by {rule(it.rule)}{tested}.{rest}")


def _some(names: Sequence[str], of: int | None = None) -> str:
    """These entries by their names; of more than a sentence names, their number, `of` so many where that is given."""
    n = len(names)
    if n <= NAMED:
        return listed(names)
    return f"{n} other entries" if of is None else some_of(n, of)


def people(it: OwnPlace) -> Statement:
    """Place of an entry with people, its figure with the interval, and the entries that it is tied with there."""
    head = Part("People compared this entry", Tone.NAME)
    if it.is_first:
        ranked = " of those that have a rank" if it.among_ranked else ""
        head = person(f"People put this entry first{ranked}" + (f", together with {_some(it.firsts)}" if it.firsts else ""))
    elif it.place is not None:
        head = name(f"People put this entry {place(it.place)} of {it.placed}")
    if it.basis.opinions:
        value = rounded(it.value, it.low, it.high, decimals=2).text
        rest = f": {value} {it.basis.unit} on average {interval(it.low, it.high, 2)}"
    else:
        rest = f": they would pick it in {share(it.value)} of 100 comparisons {interval(it.low, it.high)}"
    if it.is_first and it.open:
        who = _some(it.open, it.others)
        rest += f"; {who} may be first too" if it.tested else f"; it is tied with {who}"
    elif it.tied is not None:
        rest += f", {'tied with' if it.tied else 'behind'} people's first, {_some(it.firsts)}"
    return Statement.of(head, f"{rest}.")


def people_basis(it: OwnPlace) -> str:
    """Answers that the place of an entry with people is of."""
    said = f"{answers(it.n, it.basis.opinions)} on this entry, {basis_words(it.basis)} in all" if it.n else basis_words(it.basis)
    few = rough(*it.counts) if it.counts is not None else ""
    return f"{said}; {few}" if few else said


def extremes(it: EntrySummary) -> str:
    """The metrics by which an entry ranks best and worst; empty where their ranks are not apart."""
    if (found := it.extremes) is None:
        return ""
    best, worst = (listed(titles[:NAMED]) for titles in (found.strongest, found.weakest))
    return f"Strongest: {best} ({ordinal(found.best)}). Weakest: {worst} ({ordinal(found.worst)})."


def verdict(it: EntrySummary) -> Statement:
    """Rank of an entry, or the reason why it has none."""
    return rank(it.rank) if it.rank is not None else Statement.of(unranked(it.unranked))


def brief(it: EntrySummary) -> str:
    """All of a summary as one text, for descriptions."""
    with_people = people(it.people).text if it.people is not None else ""
    return " ".join(filter(None, [verdict(it).text, with_people, extremes(it)]))


def strip_note(strip: Strip) -> str:
    """Words beside one value of an entry among all values: its difference from the first, or the entries that the first is tied with."""
    column, it = strip.column, strip.from_first
    if strip.is_people:
        return "how often people would pick it; 50 % is even" if column.percent else ""
    if it is None:
        return "" if column.may_rank else "shown, not ranked"
    if it.difference is None:
        who = listed(it.tied) if len(it.tied) <= 2 else f"{it.tied[0]} and {len(it.tied) - 1} others"
        return f"tied with {who}" if who else ""
    size = rounded(abs(it.difference), decimals=decimals_for(it.difference, 3)).text
    sign = "" if size.startswith("<") else "+" if it.difference > 0 else "−"
    return f"{sign}{size} to the first{', tied' if it.is_tied else ''}"
