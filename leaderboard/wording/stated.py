"""Values that teams state of their entries. PURE."""

from __future__ import annotations

from leaderboard.wording.digits import NONE
from submissions.entry_fields import EntryField, FieldKind


def amount(n: float | None) -> str:
    """A large number in three digits: `38 M`, `1.2 billion`."""
    if n is None:
        return NONE
    for size, unit in ((1e12, " trillion"), (1e9, " billion"), (1e6, " M"), (1e3, " k")):
        if n >= 0.9995 * size:
            return f"{n / size:.3g}{unit}"
    return f"{n:.0f}"


def value(field: EntryField, stated: float | str | None) -> str:
    """A stated value without its unit; a dash where nothing is stated."""
    if stated is None or stated == "":
        return NONE
    match field.kind:
        case FieldKind.COUNT:
            return amount(float(stated))
        case FieldKind.AMOUNT:
            return f"{float(stated):g}"
    return str(stated)
