"""Bars of progress of a training, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def bar(label: str, total: int, initial: int = 0, leave: bool = True) -> Any:
    """A bar with `update`, which is also a context that closes it."""
    from tqdm import tqdm

    every = 0.2 if sys.stderr.isatty() else 5.0
    return tqdm(total=total, initial=initial, desc=label, file=sys.stderr, mininterval=every, leave=leave)


def stepping(label: str, total: int, leave: bool = True) -> Callable[[], None]:
    """A function to call after each step; a bar shows the steps, and closes after the last."""
    shown = bar(label, total, leave=leave)

    def advance() -> None:
        shown.update()
        if shown.n >= total:
            shown.close()

    return advance
