"""Devices that this process has computed on. PURE. Loads no torch."""

from __future__ import annotations

_used: set[str] = set()  # since somebody asked


def note(device: str) -> None:
    """Note that something is computed on a device of that type: cpu or cuda."""
    _used.add(device)


def taken() -> set[str]:
    """The types of devices on which networks, or other work that a card may do, were computed since the last call."""
    found = set(_used)
    _used.clear()
    return found
