"""File formats that a board is exported in. PURE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from leaderboard.exports.tables import csv_file, json_file, latex, markdown
from leaderboard.exports.tables.table import Table


@dataclass(frozen=True)
class FileFormat:
    """A format: the ending of its file and of its address, its name in the menu, its media type, and its writer."""

    ending: str
    label: str
    content_type: str
    write: Callable[[Table], str]


FILE_FORMATS = {
    one.ending: one
    for one in (
        FileFormat("csv", "CSV", "text/csv", csv_file.write),
        FileFormat("json", "JSON", "application/json", json_file.write),
        FileFormat("tex", "LaTeX", "application/x-tex", latex.write),
        FileFormat("md", "Markdown", "text/markdown", markdown.write),
    )
}
