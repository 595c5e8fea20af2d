"""Moments as people write them: wall-clock time in a zone, or with an offset where the clock is not enough."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from submissions.format_time import WRITE_ANYWHERE, means_anywhere_on_earth
from submissions.formats.yaml_document import ExpectedError

EXPECTED = "a date and time such as 2026-12-14T23:59"
_FORM = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?( ?(Z|[+-]\d\d:\d\d))?")
YEARS = range(1990, 2200)


class MomentError(ExpectedError):
    """A text that is no moment; the message says what was expected."""


def read_moment(text: str, zone: ZoneInfo) -> datetime:
    """The instant, in UTC, that `text` names on the clocks of `zone`.

    An hour that the clocks skip or repeat is refused unless the text carries its own offset.
    """
    if means_anywhere_on_earth(text):
        raise MomentError(f"expected {EXPECTED}, with the zone in time_zone; for anywhere on Earth {WRITE_ANYWHERE} there")
    if not _FORM.fullmatch(text):
        raise MomentError(f"expected {EXPECTED}")
    try:
        given = datetime.fromisoformat(text[:10] + "T" + text[11:].replace(" ", ""))
    except ValueError:
        raise MomentError(f"expected {EXPECTED}, with a day and an hour that exist") from None
    if given.year not in YEARS:
        raise MomentError(f"expected {EXPECTED}, in a year from {YEARS.start} to {YEARS.stop - 1}")
    if given.tzinfo is not None:
        return given.astimezone(UTC)
    instants = _instants(given, zone)
    if not instants:
        raise MomentError(f"expected a time that exists; the clocks of {zone.key} skip {given:%H:%M} on that day")
    if len(instants) > 1:
        raise MomentError(
            f"expected an offset too, such as {given.isoformat(timespec='minutes')}"
            f"{_offset(instants[0], zone)}; {given:%H:%M} comes twice on that day in {zone.key}"
        )
    return instants[0]


def moment_text(at: datetime, zone: ZoneInfo) -> str:
    """The shortest text that `read_moment` turns back into the same instant."""
    local = at.astimezone(zone)
    plain = local.replace(tzinfo=None)
    spec = "microseconds" if plain.microsecond else "seconds" if plain.second else "minutes"
    text = plain.isoformat(timespec=spec)
    return text if _instants(plain, zone) == [at] else text + _offset(at, zone)


def _instants(plain: datetime, zone: ZoneInfo) -> list[datetime]:
    """The instants at which the clocks of `zone` show `plain`: none, one or two, in order."""
    found = {plain.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(at for at in found if at.astimezone(zone).replace(tzinfo=None, fold=0) == plain)


def _offset(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).isoformat(timespec="minutes")[-6:]
