"""Reasons why an entry waits while nobody works on it, as data, and the one place that words them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.apps import apps

from evaluation.models import EvaluationBatch, OutsideWorker, Part, Process
from submissions.leases import Leased
from submissions.models import Submission


class What(StrEnum):
    BUDGET = "budget"  # the challenge's budget of computing is used up
    RETRY = "retry"  # the pause after its worker was lost
    WORKER = "worker"  # no worker listens to the queue cpu
    GPU_WORKER = "gpu_worker"  # no worker listens to the queue gpu
    EQUIPMENT = "equipment"  # those that are there lack weights, a library or a sandbox
    ENTRIES = "entries"  # n entries are ahead
    REEVALUATION = "reevaluation"  # n parts of a re-evaluation are ahead
    OTHER_WORK = "other_work"  # it is next, and n workers are at other work
    TURN = "turn"  # it is next


SENTENCES = {
    What.BUDGET: "It waits: scoring this challenge has used up its budget of computing; it goes on once the organizers raise that.",
    What.RETRY: "It waits because its worker was lost.",
    What.WORKER: "It waits for a worker: none is there.",
    What.GPU_WORKER: "It waits for a worker with a graphics card: none is there.",
    What.EQUIPMENT: "It waits for a worker that has what its metrics need.",
    What.TURN: "It is next.",
}
COUNTED = {  # for one, and for several
    What.ENTRIES: ("1 entry is ahead of it.", "{n} entries are ahead of it."),
    What.REEVALUATION: ("1 part of a re-evaluation is ahead of it.", "{n} parts of a re-evaluation are ahead of it."),
    What.OTHER_WORK: (
        "It is next. A worker is at other work, such as a metric program or a study.",
        "It is next. {n} workers are at other work, such as metric programs and studies.",
    ),
}


@dataclass(frozen=True)
class Wait:
    """One thing that an entry waits for, and how many of it."""

    what: What
    n: int = 0

    @property
    def sentence(self) -> str:
        if self.what in COUNTED:
            return COUNTED[self.what][self.n > 1].format(n=f"{self.n:,}")
        return SENTENCES[self.what]


@dataclass
class Service:
    """State of the service, as far as entries wait for it: live workers by queue, the queues of those that only call out by their
    challenge, the turns of a re-evaluation's waiting parts by device, and how many workers are at other work. Read once for any number
    of entries."""

    listeners: dict[str, int] = field(default_factory=dict)
    remote: dict[int, set[str]] = field(default_factory=dict)
    turns: dict[str, list[float]] = field(default_factory=dict)
    other_work: int = 0

    @classmethod
    def now(cls) -> Service:
        building = Part.objects.filter(state=Part.State.WAITING, evaluation__batch__state=EvaluationBatch.State.BUILDING)
        turns: dict[str, list[float]] = {}
        for device, turn in building.order_by("turn").values_list("device", "turn"):
            turns.setdefault(device, []).append(turn)
        remote: dict[int, set[str]] = {}
        for challenge, queues in OutsideWorker.live().values_list("token__challenge", "token__queues"):
            remote.setdefault(challenge, set()).update(queues)
        kinds = [kind for kind in apps.get_models() if issubclass(kind, Leased) and kind not in (Submission, Part)]
        return cls(Process.objects.listeners(), remote, turns, sum(kind._default_manager.all().held().count() for kind in kinds))

    def waits(self, challenge: int, parts: Sequence[Any], position: int | None, retry_in: float | None) -> tuple[Wait, ...]:
        """Reasons why an entry of a challenge waits. Its `parts` are those that are left, none before it is cut into parts; `position` is its place among
        the entries that nobody has begun."""
        devices = {part.device for part in parts} or {"cpu"}
        if retry_in is not None:
            return (Wait(What.RETRY),)
        remote = self.remote.get(challenge, set()) if parts else set()  # only the service checks files
        if not any(self.listeners.get(device) or device in remote for device in devices):
            return (Wait(What.WORKER if "cpu" in devices else What.GPU_WORKER),)
        if parts and all(part.lacking_since for part in parts):
            return (Wait(What.EQUIPMENT),)
        found = []
        if position is not None and position > 1:
            found.append(Wait(What.ENTRIES, position - 1))
        firsts = {device: min(part.turn for part in parts if part.device == device) for device in devices} if parts else {}
        if ahead := min((bisect_left(self.turns.get(device, []), turn) for device, turn in firsts.items()), default=0):
            found.append(Wait(What.REEVALUATION, ahead))
        return tuple(found) or (Wait(What.OTHER_WORK, self.other_work) if self.other_work else Wait(What.TURN),)
