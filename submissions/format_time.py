"""Moments as people read them, the same on pages, in messages and in mail.

A moment of a phase is on the phase's clock, an announcement on the clock of its challenge's main phase, and any other in UTC. Each says
so. Pages add the reader's own time behind it or in its tooltip. A day without an hour is of the same clock. Files, feeds, citations and
the API are in UTC.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime

WRITE_ANYWHERE = "write Etc/GMT+12"  # the zone in which it is a day until it is over everywhere


def means_anywhere_on_earth(text: str) -> bool:
    """True if a text names the deadline zone “anywhere on Earth”, which no list of time zones has by that name."""
    return bool(re.search(r"\baoe\b|\banywhere on earth\b", text, re.IGNORECASE))


def in_words(at: datetime, zone: str = "UTC", short: bool = False) -> str:
    """`14 December 2026, 23:59 CET`; short: without year and zone. An unknown zone is read as UTC; one without letters is `UTC−12`."""
    try:
        local = at.astimezone(zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        local = at.astimezone(UTC)
    if short:
        return f"{local.day} {local:%B}, {local:%H:%M}"
    name = f"{local:%Z}"
    return f"{local.day} {local:%B %Y, %H:%M} {f'UTC{name}'.replace('-', '−') if name[0] in '+-' else name}"


def day_in_words(at: datetime, zone: str) -> str:
    """`14 December 2026` on a phase's clock: a deadline at 23:59 anywhere on Earth is the next day in UTC."""
    local = at.astimezone(zoneinfo.ZoneInfo(zone))
    return f"{local.day} {local:%B %Y}"
