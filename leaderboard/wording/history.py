"""Sentences on the changes of a board, from `leaderboard.records.history`. PURE."""

from __future__ import annotations

from datetime import datetime

from leaderboard.records.history import (
    Again,
    Baselines,
    Change,
    Entered,
    Gone,
    Leaving,
    Left,
    Moved,
    Opened,
    PeopleChanged,
    Ranked,
    Scored,
    Step,
    Texts,
)
from leaderboard.wording.nouns import answer, answers, counted, listed, plural, verb
from submissions.format_time import in_words

NAMED = 3  # entries that a sentence names; of more it gives the number
MOVES = 4  # changes of rank that are said of one step
LEAVING = {Leaving.WITHDRAWN: "withdrawn by its team", Leaving.KEPT_OFF: "its team has withdrawn a later entry"}
INSTEAD = {"best": "a better entry", "latest": "a later entry", "chosen": "another choice"}


def change(it: Change) -> str:
    """A change in a sentence."""
    match it:
        case Opened():
            return f"This is the oldest ranking that is kept. It has {counted(it.n, 'entry')}."
        case Again():
            return f"The ranking of {in_words(it.made, str(it.made.tzinfo))} is shown again."
        case Scored():
            return _scored(it)
        case Entered():
            return _entered(it)
        case Left():
            return _left(it)
        case Moved():
            said = [f"{one.name} {'rises' if one.now < one.was else 'falls'} from rank {one.was} to {one.now}" for one in it.moves[:MOVES]]
            more = f", and {len(it.moves) - MOVES} more" if len(it.moves) > MOVES else ""
            return f"{', '.join(said)}{more}."
        case PeopleChanged():
            return _people(it)
        case Baselines():
            who = listed(it.names) if len(it.names) <= NAMED else f"{len(it.names)} entries"
            are, what = ("is", "a baseline") if len(it.names) == 1 else ("are", "baselines")
            return f"{who} {are} now {what}, without a rank." if it.made else f"{who} {are} no longer {what}."
        case Ranked():
            who = listed(it.names) if len(it.names) <= NAMED else f"{len(it.names)} entries"
            return f"{who} {verb('has', len(it.names))} {'no rank any more' if it.lost else 'a rank now'}."
        case Texts():
            return f"The description of {listed(it.names) if len(it.names) <= NAMED else f'{len(it.names)} entries'} changed."
    raise TypeError(f"no sentence for {it!r}")


def _scored(it: Scored) -> str:
    why = ["under a new version of the reference"] if it.reference else []
    for words, titles in (("with {} added", it.added), ("without {}", it.removed), ("with another definition of {}", it.redefined)):
        if titles:
            why.append(words.format(listed(titles)))
    return f"All entries were scored again{', ' + '; '.join(why) if why else ''}."


def _entered(it: Entered) -> str:
    if len(it.entries) > NAMED:
        names = ", ".join(one.name for one in it.entries[:NAMED])
        return f"{len(it.entries)} new entries: {names} and {len(it.entries) - NAMED} more."
    places = (f"at rank {one.rank}" if one.rank is not None else "without a rank" for one in it.entries)
    new = (f"{one.name}{f' by {one.team}' if one.team else ''}, {place}" for one, place in zip(it.entries, places, strict=True))
    return f"New: {'; '.join(new)}."


def _left(it: Left) -> str:
    said = [_gone(one, it.counts) for one in it.entries]
    if len(said) > NAMED:
        said = [*said[:NAMED], f"and {len(said) - NAMED} more"]
    if it.hidden:
        said.append(f"{it.hidden} that {'is' if it.hidden == 1 else 'are'} not shown any more")
    return f"Gone: {'; '.join(said)}."


def _gone(it: Gone, counts: str) -> str:
    if it.reason is not None:
        return f"{it.name}: {LEAVING[it.reason]}"
    return f"{it.name}: its team has {INSTEAD[counts]}, {it.instead}" if it.instead else it.name


def _people(it: PeopleChanged) -> str:
    in_all = answers(it.now, it.opinions)
    if not it.was and it.now:
        return f"People's votes and ratings were added: {in_all}."
    if it.was and not it.now:
        return "People's votes and ratings are not shown any more."
    if it.other:
        return f"People's votes and ratings are now of another study{f': {in_all}' if it.now else ''}."
    more = f"{abs(it.now - it.was):,} {'more' if it.now > it.was else 'fewer'}"
    return f"People: {more} {plural(answer(it.opinions))}, {it.now:,} in all."


def leaders(it: Step) -> str:
    """The entries that are first after a step; empty for none."""
    first, *more = it.leaders or ("",)
    return f"{first} and {len(more)} more" if more else first


def rank_on(at: datetime, rank: int) -> str:
    """A rank of a chart with its date."""
    return f"{at:%-d %B %Y}: rank {rank}"


def day(at: datetime) -> str:
    """A date at the foot of a chart."""
    return f"{at:%-d %b %Y}"
