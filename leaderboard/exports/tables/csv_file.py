"""A board as CSV, for programs and spreadsheets. PURE."""

from __future__ import annotations

import csv
import io
from typing import Any

from leaderboard.exports.tables.table import Column, Table, finite
from leaderboard.wording.reasons import why
from submissions.formats.spreadsheet_formulas import BYTE_ORDER_MARK, plain_text


def write(table: Table) -> str:
    """RFC 4180, one header line. Per metric: value, both ends of the interval and rank in full precision, and the number of groups of
    items, or of people's answers, behind the value. If people judged, each row also has the metric's agreement with them, the number of
    answers, and the reason for a missing interval.

    Text a spreadsheet could take for a formula gets a leading apostrophe. The last column holds the snapshot's address, since CSV has
    no place for a caption.
    """
    head = ["rank", "rank_low", "rank_high", "entry", "team", "flags", *(field.public for field, _ in table.stated)]
    for column in table.columns:
        head += [column.slug, f"{column.slug}_low", f"{column.slug}_high", f"{column.slug}_rank", f"{column.slug}_n"]
        head += [f"{column.slug}_people_{name}" for name, _ in _people_cells(column, table.noun)]
    agreement = [
        [value if isinstance(value, str) else finite(value) for _, value in _people_cells(column, table.noun)] for column in table.columns
    ]
    address = plain_text(table.caption.address)
    out = io.StringIO()
    out.write(BYTE_ORDER_MARK)
    writer = csv.writer(out, lineterminator="\r\n")  # which writes a float in full, and nothing for None
    writer.writerow([plain_text(name) for name in [*head, "snapshot"]])
    for row in table.rows:
        line: list[Any] = [row.rank, *(row.ranks or (None, None))]
        line += [plain_text(text) for text in (row.entry, row.team, " ".join(row.flags))]
        line += [plain_text(stated) if isinstance(stated, str) else stated for stated in row.stated]
        for (value, low, high, rank, n), people in zip(table.numbers(row), agreement, strict=True):
            line += (finite(value), finite(low), finite(high), rank, n)
            line += people
        line.append(address)
        writer.writerow(line)
    return out.getvalue()


def _people_cells(column: Column, noun: str) -> list[tuple[str, float | str | None]]:
    """The figures of a column's agreement with people, by the end of their name, and whether it learnt from them, where it may have;
    none where nothing is known."""
    if column.people is None:
        return []
    found: list[tuple[str, float | str | None]] = []
    for name, figure in column.people.figures.items():
        found += [(name, figure.value), (f"{name}_low", figure.low), (f"{name}_high", figure.high)]
        found += [(f"{name}_n", "" if figure.n is None else str(figure.n)), (f"{name}_why", plain_text(why(figure, noun)))]
    if "decided" in column.people.figures:
        low, high = column.people.places or (None, None)
        found += [("place_low", None if low is None else str(low)), ("place_high", None if high is None else str(high))]
    return [*found, ("trained", column.people.trained)] if column.people.trained else found
