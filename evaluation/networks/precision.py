"""The arithmetic in which networks compute: float32, unless a metric's parameter `precision` asks for another. PURE.

It is ambient, as torch's own choices of the kind are: the caller of a metric sets it once, with `computing_in`, and code that computes or
keeps something looks it up with `current`. Loads no torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from evaluation.networks.weights import WeightsError

FLOAT32 = "float32"
PRECISIONS = (FLOAT32, "tf32", "bfloat16", "float16")

_current: ContextVar[str] = ContextVar("precision", default=FLOAT32)


class PrecisionMissing(WeightsError):
    """The device here has no units for a precision, so its columns are left to others; one sentence."""


def current() -> str:
    """The precision that networks compute in now, one of PRECISIONS."""
    return _current.get()


@contextmanager
def computing_in(precision: str) -> Iterator[None]:
    """Let networks compute in that precision meanwhile. Never hold it over a `yield`, which would hand it to the caller."""
    token = _current.set(precision)
    try:
        yield
    finally:
        _current.reset(token)
