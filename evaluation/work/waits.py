"""Reasons why an entry waits while nobody works on it, as data, and the one place that words them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
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


class Service:
    """State of the service, as far as entries wait for it. Each part is read once for any number of entries, when the first asks."""

    @cached_property
    def listeners(self) -> Counter[str]:
        """Number of live workers by queue."""
        return Process.objects.listeners()

    @cached_property
    def remote(self) -> dict[int, set[str]]:
        """Queues of the live workers that only call out, by their challenge."""
        found: dict[int, set[str]] = {}
        for challenge, queues in OutsideWorker.live().values_list("token__challenge", "token__queues"):
            found.setdefault(challenge, set()).update(queues)
        return found

    @cached_property
    def turns(self) -> dict[str, list[float]]:
        """Turns of the waiting parts of re-evaluations by device, in order."""
        building = Part.objects.filter(state=Part.State.WAITING, evaluation__batch__state=EvaluationBatch.State.BUILDING)
        found: dict[str, list[float]] = {}
        for device, turn in building.order_by("turn").values_list("device", "turn"):
            found.setdefault(device, []).append(turn)
        return found

    @cached_property
    def other_work(self) -> int:
        """Number of workers that are at other work."""
        kinds = [kind for kind in apps.get_models() if issubclass(kind, Leased) and kind not in (Submission, Part)]
        first, *others = (kind._default_manager.all().held().order_by().values("pk") for kind in kinds)
        return int(first.union(*others, all=True).count())

    def waits(self, challenge: int, parts: Sequence[Any], position: int | None, retry_in: float | None) -> tuple[Wait, ...]:
        """Reasons why an entry of a challenge waits. Its `parts` are those that are left, none before it is cut into parts; `position` is
        its place among the entries that nobody has begun."""
        devices = {part.device for part in parts} or {"cpu"}
        if retry_in is not None:
            return (Wait(What.RETRY),)
        # Only the service checks files.
        if not any(self.listeners[device] or (parts and device in self.remote.get(challenge, ())) for device in devices):
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
