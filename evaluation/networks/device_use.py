"""Devices that this process has computed on, and whether it must have a graphics card. PURE. Loads no torch."""

from __future__ import annotations

_used: set[str] = set()  # since somebody asked
_card: list[bool] = [False]


class CardTrouble(Exception):
    """There is no graphics card here that can be computed on now: it is gone, filled by others, or its driver too old; a sentence."""


def require_card() -> None:
    """From now on this process computes networks on a graphics card, or raises CardTrouble, because its speed is expected."""
    _card[0] = True


def must_be_card() -> bool:
    """True if networks are computed on a graphics card here or not at all."""
    return _card[0]


def note(device: str) -> None:
    """Note that something is computed on a device of that type: cpu or cuda."""
    _used.add(device)


def taken() -> set[str]:
    """The types of devices on which networks, or other work that a card may do, were computed since the last call."""
    found = set(_used)
    _used.clear()
    return found
