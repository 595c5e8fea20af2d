"""Statements on people beside a board: what figures of people are of, and why there are none. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.records.agreement import Line
from leaderboard.records.board import HumanAgreement
from leaderboard.records.people import Basis
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, ITEMS_FOR_FIRM_INTERVAL, RATERS_FOR_FIGURE, RATERS_FOR_FIRM_INTERVAL
from leaderboard.stats.states import too_few
from leaderboard.wording import agreement
from leaderboard.wording.nouns import NOUN, answers, counted, listed, people, plural, verb
from leaderboard.wording.reasons import why

EARLIER = (
    "People's figures here were made by an earlier rule. “Equal” from a rater or a metric counts half. Intervals do not allow for "
    "other raters, and metrics are not tested against each other."
)
EARLIER_STATES = "People's figures here were made by an earlier rule that did not compare metrics with another rater."


def basis(of: Basis) -> str:
    """`1,200 votes by 11 raters`; of published means that they are no more."""
    return f"published means, {people(of.raters)}" if of.of == "means" else f"{answers(of.n, of.opinions)} by {people(of.raters)}"


def withdrawn(n: int, opinions: bool) -> str:
    """Answers that are in figures but no more in the database; nothing for none."""
    return f"{answers(n, opinions)} {verb('was', n)} withdrawn since" if n else ""


def rough(raters: int, samples: int, unit: str) -> str:
    """Words beside intervals of so few raters or samples, each called `unit`, that they are rough ones; empty where there are more, or too
    few for any."""
    few = ["raters"] if RATERS_FOR_FIGURE <= raters < RATERS_FOR_FIRM_INTERVAL else []
    few += [plural(unit)] if ITEMS_FOR_FIGURE <= samples < ITEMS_FOR_FIRM_INTERVAL else []
    return f"few {listed(few)}: rough intervals" if few else ""


# --- of a ranking


def earlier(found: HumanAgreement) -> str:
    """The rule that the figures were made by, where it is not today's."""
    return EARLIER if found.people < 2 else EARLIER_STATES if found.people < 3 else ""


def no_place(found: HumanAgreement, noun: str = NOUN) -> str:
    """Reason why there are no figures, beside an entry: it has no place with people. An earlier ranking says it as it did then."""
    early = "Too early to say what people prefer. " if too_few(found.reason) else ""
    return f"{early}{why(found, noun)}"


def missing(found: HumanAgreement, lines: Sequence[Line], noun: str = NOUN) -> str:
    """Reason why no metric can be compared with people."""
    return why(found, noun) or agreement.unheld(lines, plural(noun))


def rough_on_board(found: HumanAgreement, noun: str = NOUN) -> str:
    """`rough` of the figures of a ranking."""
    counts = found.counts(noun)
    return rough(*counts) if counts is not None else ""


@dataclass(frozen=True)
class Head:
    """Words in the head of a column: `line` is None where the figures are too few, or of an earlier rule, for a drawing."""

    words: str
    title: str
    trained: str
    line: Line | None = None


def head(found: HumanAgreement, line: Line) -> Head:
    """Agreement of a column with people, in its head."""
    column = next(one for one in found.metrics if one.slug == line.key)
    of = f"{agreement.sentenced(f'{basis(found.basis)}, {found.at:%-d %B %Y} (UTC)')}"
    if found.people < 2:
        value = column.decided.value
        words = f"{round(100 * value)} / 100 answers" if value is not None else agreement.rho(column.rho)
        return Head(words or "no values here", f"{EARLIER} {of}", agreement.trained(line))
    more = agreement.trained_more(line)
    if found.of == "means":
        words = f"{agreement.rho(column.rho)} · {counted(column.rho.n, 'entry')}" if column.rho.value is not None else "too few entries"
        return Head(words, f"{agreement.order(line.title, column.rho)} {of} {more}".rstrip(), agreement.trained(line))
    return Head(agreement.head(line), f"{agreement.reading(line)} {of} {more}".rstrip(), agreement.trained(line), line)
