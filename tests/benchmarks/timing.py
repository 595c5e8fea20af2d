"""Time that actions take, for all benchmarks: the shortest of several rounds, because whatever else a machine does only adds."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

Name = TypeVar("Name", bound=Hashable)


def shortest(
    actions: Mapping[Name, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.process_time
) -> tuple[dict[Name, float], dict[Name, Any]]:
    """The shortest seconds of each action by `clock` (those of this process), and what each gave last.

    The actions take turns, so that a machine that is busy for a while slows all alike.
    """
    times: dict[Name, float] = dict.fromkeys(actions, float("inf"))
    answers: dict[Name, Any] = {}
    for _ in range(rounds):
        for name, action in actions.items():
            start = clock()
            answers[name] = action()
            times[name] = min(times[name], clock() - start)
    return times, answers
