"""Reasons why an entry waits while nobody works on it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.apps import apps

from evaluation.models import EvaluationBatch, Part, Process, RemoteWorker
from submissions.entry_states import Reason, Why
from submissions.leases import Leased
from submissions.models import Submission


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
        for challenge, queues in RemoteWorker.live().values_list("token__challenge", "token__queues"):
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

    def waits(self, challenge: int, parts: Sequence[Any], position: int | None, retry_in: float | None) -> tuple[Why, ...]:
        """Reasons why an entry of a challenge waits. Its `parts` are those that are left, none before it is cut into parts; `position` is
        its place among the entries that nobody has begun."""
        devices = {part.device for part in parts} or {"cpu"}
        if retry_in is not None:
            return (Why(Reason.RETRY),)
        # Only the service checks files.
        if not any(self.listeners[device] or (parts and device in self.remote.get(challenge, ())) for device in devices):
            return (Why(Reason.WORKER if "cpu" in devices else Reason.GPU_WORKER),)
        if parts and all(part.lacking_since for part in parts):
            return (Why(Reason.EQUIPMENT),)
        ahead = ((Reason.ENTRIES, (position or 1) - 1), (Reason.REEVALUATION, self._parts_ahead(parts)))
        found = tuple(Why(reason, {"n": n}) for reason, n in ahead if n > 0)
        return found or (Why(Reason.OTHER_WORK, {"n": self.other_work}) if self.other_work else Why(Reason.TURN),)

    def _parts_ahead(self, parts: Sequence[Any]) -> int:
        """Number of parts of re-evaluations that are done before the first of these parts on any device."""
        firsts: dict[str, float] = {}
        for part in parts:
            firsts[part.device] = min(part.turn, firsts.get(part.device, part.turn))
        return min((bisect_left(self.turns.get(device, []), turn) for device, turn in firsts.items()), default=0)
