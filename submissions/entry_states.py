"""State of an entry as data: its state, the reason with its numbers, and the part of that a reader may know. PURE.

`submissions.wording` makes sentences of it, and nothing else does. Code asks states and reasons, never sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Standing of an entry: its status by the same name, but for an entry on hold, and for flags that keep it off the board."""

    UPLOADING = "uploading"
    RECEIVED = "received"  # nobody has begun to check it
    CHECKING = "checking"
    SCORING = "scoring"
    SCORED = "scored"
    ON_HOLD = "on_hold"  # waits for its team
    REJECTED = "rejected"  # by the team's files
    FAILED = "failed"
    CANCELLED = "cancelled"
    WITHDRAWN = "withdrawn"  # by its team
    HIDDEN = "hidden"  # by the organizers
    DISQUALIFIED = "disqualified"  # by the organizers
    UNRANKED = "unranked"  # scored, and not in the ranking
    WITHHELD = "withheld"  # this reader may not know


class Reason(StrEnum):
    """Reason for a state. Beside each member are its numbers, see `Why`."""

    # On hold; the first that applies is the entry's.
    KIND = "kind"  # many of its files hold nothing that can be scored
    INPUTS = "inputs"  # it does not fit the inputs
    FOLDERS = "folders"  # its files may be of several runs
    # Rejected.
    PROBLEMS = "problems"  # n: of its files
    UNCONFIRMED = "unconfirmed"  # until: it was on hold
    NEWER_HOLDS = "newer_holds"  # n: newer entries of its team on hold ended its wait
    HOLDS_OVER = "holds_over"  # it would be on hold, but the time for confirming was over
    # Cancelled.
    EXPIRED = "expired"  # the upload was not finished in time
    # Failed by the entry's own doing. Of a slice of its items: first, last.
    MEMORY = "memory"  # megabytes
    TIME = "time"  # seconds
    LOST_ON_MACHINES = "lost_on_machines"  # times: workers were lost with it, on more than one machine
    OTHER_OWN = "other_own"  # an earlier version kept it as a note
    # Failed by the service's fault. Of a slice of its items: first, last.
    LOST = "lost"  # times: workers were lost with it
    ERROR = "error"
    CRASH = "crash"
    KILLED = "killed"
    ACCELERATOR = "accelerator"
    ROOM = "room"  # none on the worker's disk
    AWAY = "away"  # storage or database, for a day
    LACKING = "lacking"  # no worker had what it needs; the note says what
    NO_CARD = "no_card"  # no worker with a graphics card was there, for a day
    REMOTE = "remote"  # a remote worker gave it up
    LEFT_OUT = "left_out"  # of a re-evaluation, while it was being scored
    OTHER = "other"  # an earlier version kept it as a note
    # Received or being scored, while nobody works on it.
    BUDGET = "budget"  # the challenge's budget of computing is used up
    RETRY = "retry"  # the pause after its worker was lost
    WORKER = "worker"  # no worker listens to the queue cpu
    GPU_WORKER = "gpu_worker"  # no worker listens to the queue gpu
    EQUIPMENT = "equipment"  # those that are there lack weights, a library or a sandbox
    ENTRIES = "entries"  # n: entries that are ahead
    REEVALUATION = "reevaluation"  # n: parts of a re-evaluation that are ahead
    OTHER_WORK = "other_work"  # n: workers that are at other work; it is next
    TURN = "turn"  # it is next
    # Scored.
    IMPORTED = "imported"
    NEWER_METRICS = "newer_metrics"  # titles: metrics that it has no score of before a re-evaluation
    # Scored, and not in the ranking.
    LATE = "late"  # it was received after the board was frozen
    KEPT_OFF = "kept_off"  # its team has withdrawn a later entry
    BEST_COUNTS = "best_counts"  # number, name: the team's entry that counts
    LATEST_COUNTS = "latest_counts"  # number, name
    CHOSEN_COUNTS = "chosen_counts"  # number, name
    NONE_CHOSEN = "none_chosen"
    NEXT_RANKING = "next_ranking"  # the next one has it


HOLDS = (Reason.KIND, Reason.INPUTS, Reason.FOLDERS)
OWN_FAULTS = (Reason.MEMORY, Reason.TIME, Reason.LOST_ON_MACHINES, Reason.OTHER_OWN)


class Reader(StrEnum):
    """Reader of a sentence on an entry."""

    TEAM = "team"
    ORGANIZERS = "organizers"
    PUBLIC = "public"


# What the public may be told. All else would tell of files, of entries that organizers hid, or of a board that is not shown.
PUBLIC_STATES = (State.SCORED, State.WITHDRAWN, State.DISQUALIFIED, State.UNRANKED)
PUBLIC_REASONS = (
    *(Reason.IMPORTED, Reason.NEWER_METRICS, Reason.KEPT_OFF, Reason.NONE_CHOSEN, Reason.NEXT_RANKING),
    *(Reason.BEST_COUNTS, Reason.LATEST_COUNTS, Reason.CHOSEN_COUNTS),
)


@dataclass(frozen=True)
class Why:
    """A reason with its numbers and names, which JSON holds. The `note` is text of people, of a worker or of an earlier version: it is
    shown, and no code looks into it."""

    reason: Reason
    numbers: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class EntryState:
    """State of an entry, and why. `waits` says what it waits for while nobody works on it. `note` is the organizers' reason. `since` is
    when a flag was set. `until` is the moment before which its team may confirm it, on the clock of `zone`."""

    state: State
    why: Why | None = None
    waits: tuple[Why, ...] = ()
    note: str = ""
    since: datetime | None = None
    until: datetime | None = None
    zone: str = "UTC"

    @property
    def reason(self) -> Reason | None:
        first = next(iter(self.waits), self.why)
        return first.reason if first else None

    @property
    def numbers(self) -> Mapping[str, Any]:
        first = next(iter(self.waits), self.why)
        return first.numbers if first else {}

    def as_told(self, reader: Reader) -> EntryState:
        """As much of it as the reader may know."""
        if reader != Reader.PUBLIC:
            return self
        if self.state not in PUBLIC_STATES or (self.why is not None and self.why.reason not in PUBLIC_REASONS):
            return EntryState(State.WITHHELD)
        return replace(self, waits=(), note=self.note if self.state == State.DISQUALIFIED else "", until=None)
