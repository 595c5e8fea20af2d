"""The graphics card to compute on, where there is one. PURE.

Loading torch takes seconds and hundreds of megabytes. Metrics that are not networks need it only where there is a
card, so they ask here, where files of the operating system answer for the machines that have none.
"""

from __future__ import annotations

from pathlib import Path

FILES = ("nvidia[0-9]*", "dxg", "kfd")  # below /dev: of NVIDIA's driver, of Windows' for Linux inside it, of AMD's
DEVICES = Path("/dev")


def may_be_there() -> bool:
    """True if a driver offers a card; it may still be one that torch cannot use."""
    return any(next(DEVICES.glob(name), None) is not None for name in FILES)


def card() -> str | None:
    """torch's name for the card to compute on; None where there is none that works, and then torch is not loaded."""
    if not may_be_there():
        return None
    from evaluation.networks.inference import best_device

    device = best_device().type
    return None if device == "cpu" else device
