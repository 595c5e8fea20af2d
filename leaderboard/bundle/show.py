"""A plan as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator

from leaderboard.bundle.plan import Change, Plan

SIGNS = {"create": "+", "change": "~", "remove": "-"}
_MAX_LINES = 12  # of a long text's difference


def lines(plan: Plan) -> Iterator[str]:
    """The plan line by line: what is created (+), changed (~) and removed (-), and what follows."""
    if plan.is_empty:
        yield f"{plan.after.slug}: nothing to change."
    for path, changes in plan.things().items():
        name = " / ".join(path) if path else f"challenge {plan.after.slug}"
        yield f"{SIGNS[changes[0].kind]} {name}"
        for change in changes:
            if change.field:
                yield from (f"    {line}" for line in field_lines(change))
            if change.warning:
                yield f"    ! {change.warning}"
    for rescoring in plan.rescorings:
        yield f"! phase {rescoring.phase}: would {rescoring}"
    if not plan.is_empty:
        counts = plan.counts()
        yield f"{counts['create']} to create, {counts['change']} to change, {counts['remove']} to remove."
    for sentence in plan.waiting:
        yield f"! {sentence}"
    for sentence in plan.refusals:
        yield f"Refused: {sentence}"


def field_lines(change: Change) -> list[str]:
    diff = change.text_diff
    if diff:
        more = [f"  … {len(diff) - _MAX_LINES} more lines"] if len(diff) > _MAX_LINES else []
        return [f"{change.field}:", *(f"  {line}" for line in diff[:_MAX_LINES]), *more]
    if change.kind == "create":
        return [f"{change.field}: {as_text(change.after)}"]
    return [f"{change.field}: {as_text(change.before)} -> {as_text(change.after)}"]


def as_text(value: object) -> str:
    """A value in a few words."""
    if value in (None, "", [], {}):
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
