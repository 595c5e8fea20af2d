"""A board as Markdown, for pages and issues. PURE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from leaderboard.exports.tables.table import KEPT, Table, one_line

_MARKDOWN = re.compile(r"[\\`*_{}\[\]|~#!]")


def write(table: Table) -> str:
    """A GitHub-style table under its caption, the best value of each column in bold."""
    first, second, address, *more = table.caption.lines
    address = re.sub(r"[\s<>]", "", one_line(address))  # it cannot end the angle brackets it is put in
    above = [f"**{_markdown(first)}**", f"{_markdown(second)}, <{address}>", *(_markdown(line) for line in more)]
    lines = ["  \n".join(above), ""]
    lines.append(_markdown_line([_markdown(heading) for heading in table.headings]))
    lines.append(_markdown_line(["---:", ":---", *["---:"] * (len(table.headings) - 2)]))
    for row in table.rows:
        cells = []
        for own, best in table.shown(row):
            text = _markdown(own.text)
            cells.append(f"{f'**{text}**' if best else text} {_markdown(own.spread)}".rstrip())
        lines.append(_markdown_line([row.place, *map(_markdown, (row.name, *table.stated_texts(row))), *cells]))
    for title, texts in table.people_rows():
        lines.append(_markdown_line(["", f"*{_markdown(title)}*", *(_markdown(cell) for cell in texts)]))
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=KEPT)
def _markdown(text: str) -> str:
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda found: "\\" + found[0], text)


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
