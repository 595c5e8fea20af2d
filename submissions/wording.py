"""Sentences on the state of an entry: the one place that words them, for page, API, client, mail and feed. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from submissions.entry_states import EntryState, Reader, Reason, State, Why
from submissions.format_time import in_words


class Failed(Protocol):
    """A row of work, as far as its failure goes."""

    @property
    def doing(self) -> str: ...

    @property
    def failed_why(self) -> Why | None: ...


# The word for a state, and the tone in which a page shows it.
LABELS: Mapping[State, tuple[str, str]] = {
    State.UPLOADING: ("uploading", "accent"),
    State.RECEIVED: ("received", "accent"),
    State.CHECKING: ("checking files", "accent"),
    State.SCORING: ("scoring", "accent"),
    State.SCORED: ("scored", ""),
    State.ON_HOLD: ("on hold", "warn"),
    State.REJECTED: ("rejected", "bad"),
    State.FAILED: ("failed", "bad"),
    State.CANCELLED: ("cancelled", ""),
    State.WITHDRAWN: ("withdrawn", ""),
    State.HIDDEN: ("hidden", "warn"),
    State.DISQUALIFIED: ("disqualified", "bad"),
    State.UNRANKED: ("unranked", ""),
    State.WITHHELD: ("not shown", ""),
}
# What became of an entry, behind its name in the subject of a mail.
BECAME = {State.SCORED: "is scored", State.ON_HOLD: "is on hold", State.REJECTED: "was rejected", State.FAILED: "could not be scored"}
PLAIN = {
    State.RECEIVED: "The entry's file has arrived.",
    State.CHECKING: "A worker is checking the entry's files.",
    State.SCORING: "The entry is being scored.",
    State.SCORED: "The entry is scored.",
    State.WITHHELD: "The entry is not shown.",
}
# The same for one reason, or without one for any other.
FIXED: Mapping[tuple[State, Reason | None], str] = {
    (State.UPLOADING, None): "The upload is not finished.",
    (State.CANCELLED, Reason.EXPIRED): "The upload was not finished in time.",
    (State.CANCELLED, None): "The entry was cancelled.",
    (State.WITHDRAWN, None): "The team withdrew this entry.",
    (State.SCORED, Reason.IMPORTED): "The entry's figures were imported as they were published. There are no files.",
}
UNUSED = "The entry used none of your uploads."
TO_DO: Mapping[tuple[State, Reason | None], str] = {
    (State.UPLOADING, None): "Send the parts that are missing.",
    (State.ON_HOLD, None): f"{UNUSED} Correct it and upload it again, or confirm {{before}} that it should be scored as it is.",
    (State.REJECTED, None): f"{UNUSED} Upload it again, {{again}}.",
    (State.FAILED, None): f"{UNUSED} Try it again, or ask the organizers.",
    (State.CANCELLED, Reason.EXPIRED): f"{UNUSED} Start it again.",
    (State.CANCELLED, None): UNUSED,
}
HOLDS = {
    Reason.KIND: "many of its files contain nothing that can be scored",
    Reason.INPUTS: "it does not fit the inputs that were given out",
    Reason.FOLDERS: "its files are in several folders, as if from several runs",
}
# Why work on an entry, or on anything else that workers do, came to nothing.
CAUSES = {
    Reason.MEMORY: "The job needed more memory than the {megabytes} MB that one job may use.",
    Reason.TIME: "The job was not done within the {seconds} s that one job may take.",
    Reason.ERROR: "An error in the service stopped the job.",
    Reason.CRASH: "The process that did the job crashed.",
    Reason.KILLED: "The process that did the job was killed.",
    Reason.ACCELERATOR: "An error of the graphics card, or of a computation on it, stopped the job.",
    Reason.ROOM: "The worker's disk was full.",
    Reason.AWAY: "The storage or the database could not be reached for a day.",
    Reason.REMOTE: "The remote worker gave up the job.",
}
WAITS = {
    Reason.BUDGET: "The entry waits: this challenge has used its computing budget. Scoring continues once the organizers raise the budget.",
    Reason.RETRY: "The entry waits because its worker was lost.",
    Reason.WORKER: "The entry waits for a worker; none is running.",
    Reason.GPU_WORKER: "The entry waits for a worker with a graphics card; none is running.",
    Reason.EQUIPMENT: "The entry waits for a worker that meets the needs of its metrics.",
    Reason.TURN: "The entry is next.",
}
COUNTED_WAITS = {  # for one, and for several
    Reason.ENTRIES: ("1 entry is ahead of this entry.", "{n:,} entries are ahead of this entry."),
    Reason.REEVALUATION: ("1 part of a re-evaluation is ahead of this entry.", "{n:,} parts of a re-evaluation are ahead of this entry."),
    Reason.OTHER_WORK: (
        "The entry is next. A worker is at other work, such as a metric program or a study.",
        "The entry is next. {n:,} workers are at other work, such as metric programs and studies.",
    ),
}
UNRANKED = {
    Reason.LATE: "The entry was received after the leaderboard was frozen, so it appears when the freeze is lifted.",
    Reason.KEPT_OFF: "This entry has no rank: its team withdrew a later entry after the phase was decided, and no earlier one replaces it.",
    Reason.BEST_COUNTS: "This entry has no rank. Only the best entry of each team by the primary metric counts: #{number}, {name}.",
    Reason.LATEST_COUNTS: "This entry has no rank. Only the latest entry of each team counts: #{number}, {name}.",
    Reason.CHOSEN_COUNTS: "This entry has no rank. Only the entry that a team chose counts: #{number}, {name}.",
    Reason.NONE_CHOSEN: "This entry has no rank. Only the entry that a team chose counts, and this team has not chosen yet.",
    Reason.NEXT_RANKING: "This entry is not in the newest ranking yet. The next ranking is made in a moment.",
}


def label(state: State) -> str:
    """Word for a state, as a tag or a column of a table has it."""
    return LABELS[state][0]


def tone(state: State) -> str:
    """Tone of that word: accent, warn, bad; empty for none."""
    return LABELS[state][1]


def sentence(entry: EntryState, reader: Reader) -> str:
    """State of an entry, and what there is to do, for one reader."""
    it = entry.as_told(reader)
    match it.state:
        case State.ON_HOLD:
            said = f"The entry is on hold, because {HOLDS[it.why.reason]}. Nothing was scored." if it.why else ""
        case State.REJECTED:
            said = _rejection(it)
        case State.FAILED:
            said = failure(it.why) if it.why else ""
        case State.HIDDEN | State.DISQUALIFIED:
            did = "hid" if it.state == State.HIDDEN else "disqualified"
            said = f"The organizers {did} this entry."
            if it.note:
                said += f" Their reason: {it.note.rstrip('.')}."
        case State.UNRANKED if it.why is not None:
            said = UNRANKED[it.why.reason].format(**it.why.numbers)
        case State.SCORED if it.reason == Reason.NEWER_METRICS:
            titles = ", ".join(it.numbers["titles"])
            said = f"The entry's items are scored, except by {titles}. Those values are missing until a re-evaluation with a newer version."
        case State.SCORING if it.waits:
            said = " ".join(map(waiting, it.waits))
        case _:
            said = FIXED.get((it.state, it.reason)) or FIXED.get((it.state, None)) or " ".join([PLAIN[it.state], *map(waiting, it.waits)])
    to_do = _to_do(it, reader)
    return f"{said} {to_do}" if to_do else said


def _to_do(it: EntryState, reader: Reader) -> str:
    """Return what the entry's team can do, in the words for one reader; empty for nothing."""
    before = f"before {in_words(it.until, it.zone)}" if it.until else "in time"
    if reader != Reader.TEAM:
        return f"The team may confirm {before} that the entry should be scored as it is." if it.state == State.ON_HOLD else ""
    again = "with `--as-is` if you mean it" if it.reason == Reason.HOLDS_OVER else "once you have corrected its files"
    then = TO_DO.get((it.state, it.reason)) or TO_DO.get((it.state, None), "")
    return then.format(before=before, again=again)


def duplicate(number: int, phase: str, state: State) -> str:
    """Warning of an entry whose team has sent the same bytes before, as the entry of that number and state."""
    return f"These are the same bytes as in entry #{number} of {phase} ({label(state)})."


def waiting(why: Why) -> str:
    """One thing that an entry waits for."""
    if why.reason in COUNTED_WAITS:
        n = why.numbers["n"]
        return COUNTED_WAITS[why.reason][n > 1].format(n=n)
    return WAITS[why.reason]


def cause(why: Why) -> str:
    """Cause of a failure, without what failed."""
    return CAUSES[why.reason].format(**why.numbers)


def failure(why: Why, doing: str = "") -> str:
    """Failure and its cause. `doing` names the work, such as "scoring items 1 to 8"; without it, the work is on an entry."""
    if not doing:
        doing = "scoring items {first} to {last}".format(**why.numbers) if "first" in why.numbers else "checking this entry"
    begun = f"{doing[:1].upper()}{doing[1:]}"
    match why.reason:
        case Reason.LOST | Reason.LOST_ON_MACHINES:
            lost = f"{begun} was begun {count(why.numbers['times'])}, and each time the worker was lost"
            if why.reason == Reason.LOST_ON_MACHINES:
                return f"{lost}, on more than one machine. So the entry or the program counts as the cause."
            return f"{lost}. This is the service's fault, and its operators were told."
        case Reason.LACKING:
            return f"No worker could begin {doing}. {why.note}".rstrip()
        case Reason.NO_CARD:
            return "No worker with a graphics card was available for a day. Start a worker of the queue gpu, then request the work again."
        case Reason.LEFT_OUT:
            return "The entry was left out of a re-evaluation while it was being scored."
        case Reason.OTHER | Reason.OTHER_OWN:
            return why.note or "The service could not score the entry."
    return f"{begun} failed. {cause(why)}"


def failed(row: Failed) -> str:
    """Failure of a row of work, or of its last attempt; empty where none failed."""
    return failure(row.failed_why, row.doing) if row.failed_why is not None else ""


def count(n: int) -> str:
    """Number of times, in words."""
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _rejection(it: EntryState) -> str:
    """Reason for a rejection."""
    numbers: Mapping[str, Any] = it.numbers
    match it.reason:
        case Reason.UNCONFIRMED:
            until = in_words(datetime.fromisoformat(numbers["until"]), it.zone) if "until" in numbers else "its time was over"
            return f"The entry was on hold until {until}, and its team did not confirm it."
        case Reason.NEWER_HOLDS:
            return f"The entry was on hold until {numbers['n']} newer entries of its team were on hold."
        case Reason.HOLDS_OVER:
            return "The team could have confirmed this entry, but the time for confirming entries is over."
    n = numbers.get("n", 0)
    return f"The entry was rejected for {n:,} problem{'' if n == 1 else 's'} in its files." if n else "The entry's files were rejected."
