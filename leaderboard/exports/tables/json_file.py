"""A board as JSON, for programs. PURE."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from leaderboard.exports.tables.table import Table, finite
from leaderboard.wording.reasons import why


def write(table: Table) -> str:
    """One object: `caption`, `columns`, and `rows` with their `scores` by slug, in full; a row a line."""
    caption = asdict(table.caption)
    if not table.caption.people:
        del caption["people"]
    columns = []
    for column in table.columns:
        about: dict[str, Any] = {name: getattr(column.metric, name) for name in ("slug", "title", "higher_is_better", "unit")}
        if column.people is not None:
            about["people"] = {  # each with its 95 % interval, of how many answers or entries it is, and why it has no interval
                name: {key: getattr(figure, key) for key in ("value", "low", "high", "n", "state")} | {"why": why(figure, table.noun)}
                for name, figure in column.people.figures.items()
            }
            if "decided" in column.people.figures:
                about["people"]["places"] = column.people.places
            if column.people.trained:
                about["people"]["trained"] = column.people.trained
        columns.append(about)
    slugs = [column.slug for column in table.columns]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    rows = [
        encode(
            {
                "rank": row.rank,
                "rank_interval": row.ranks,
                "entry": row.entry,
                "team": row.team,
                "flags": list(row.flags),
                **{field.public: stated for (field, _), stated in zip(table.stated, row.stated, strict=True)},
                "scores": {
                    slug: {"value": finite(value), "ci": _pair(low, high), "rank": rank, "n": n}
                    for slug, (value, low, high, rank, n) in zip(slugs, table.numbers(row), strict=True)
                },
            }
        )
        for row in table.rows
    ]
    return "\n".join(
        (
            "{",
            f'"caption": {encode(caption)},',
            f'"columns": [{",".join(chr(10) + encode(column) for column in columns)}',
            "],",
            f'"rows": [{",".join(chr(10) + row for row in rows)}',
            "]",
            "}\n",
        )
    )


def _pair(low: float | None, high: float | None) -> list[float | int] | None:
    return None if low is None or high is None or not math.isfinite(high - low) else [low, high]
