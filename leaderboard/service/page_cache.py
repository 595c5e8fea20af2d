"""Parts of public pages, computed once in a process.

Cached pages are named by everything they depend on: the ranking (which never changes), the choices in the address, and the viewer's rights.
It is made without the request, so that nothing of one viewer (name, log-in, tokens of forms) can get into what another is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


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

    def __len__(self) -> int:
        return len(self._answers)


class Kept(Generic[P, T]):
    """A function whose last answers are kept. Unlike with `functools.lru_cache`, of many simultaneous requests for the same only the first
    computes; the others wait for it."""

    def __init__(self, size: int, function: Callable[P, T]) -> None:
        self.answers, self._function = PageCache(size), function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.answers.of((args, *sorted(kwargs.items())), lambda: self._function(*args, **kwargs))


def kept(size: int) -> Callable[[Callable[P, T]], Kept[P, T]]:
    """Keep the `size` answers of a function that were asked for last."""
    return lambda function: Kept(size, function)


class _Answer:
    def __init__(self) -> None:
        self.turn = Lock()
        self.is_there = False
        self.value: Any = None


PARTS = PageCache(size=64)
