"""Plumbline for participants: check an entry, score it as the server does, and read boards, entries and studies as pandas frames.

    import plumbline

    site = plumbline.Site("https://boards.example.org")
    site.board("rooflines", "practice")                                     # a frame: one row per entry
    plumbline.check("results/", "manifest.json").accepted                   # the server's verdict
    plumbline.score("results/", "reference/", manifest="manifest.json").table()

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.package.frames import Site
    from leaderboard.package.local import check, score

_HOMES = {"Site": "frames", "check": "local", "score": "local"}

__all__ = ["Site", "check", "score"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module(f"{__name__}.installed").version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
