"""Processes that end with the process that started them, however that one ended."""

from __future__ import annotations

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1  # linux/prctl.h
_libc = ctypes.CDLL(None)  # before any fork: a child of a process with threads should load nothing


def end_with(parent: int) -> None:
    """In a child just forked by the process `parent`: let the kernel kill this process when its parent ends.

    It outlasts exec, but the child's own children do not inherit it: each must ask for it again. Strictly, it comes with the end
    of the *thread* that forked, so only a thread that lives as long as its process may fork such children.
    """
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before it could be watched
        os._exit(1)
