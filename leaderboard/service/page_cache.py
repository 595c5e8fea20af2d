"""Parts of public pages, computed once in a process.

What is kept is named by all that it depends on: the ranking (which never changes), the choices of the address, and what
the viewer may see. It is made without the request, so that nothing of one viewer (name, log-in, tokens of forms) can get into
what another is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any


class PageCache:
    """The `size` answers that were asked for last, each computed once also where many ask at the same moment."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = Lock()
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()

    def of(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
            self._answers.move_to_end(key)
            if len(self._answers) > self.size:
                self._answers.popitem(last=False)
        with answer.turn:  # who comes second waits for the first, and computes only where that failed
            if not answer.is_there:
                answer.value = compute()
                answer.is_there = True
        return answer.value

    def clear(self) -> None:
        with self._lock:
            self._answers.clear()


class _Answer:
    def __init__(self) -> None:
        self.turn = Lock()
        self.is_there = False
        self.value: Any = None


PARTS = PageCache(size=64)
