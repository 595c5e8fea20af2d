"""`with_room`, under which calls do not ask the system for memory for their frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def with_room(call: Callable[[], T]) -> T:
    """Result of a call that is made in a frame so large that those of the calls in it lie behind it.

    Python 3.11 keeps frames in pieces of 16 kB, and gives a piece back as soon as its first frame returns. A loop that calls at the end
    of one therefore maps and unmaps memory in each round: a fifth of the time of tests that draw pages.
    """
    return call()


with_room.__code__ = with_room.__code__.replace(co_stacksize=1 << 16)
