"""A board as CSV, JSON, LaTeX and Markdown.

CSV and JSON carry every number in full; LaTeX and Markdown round each value so that the first two
significant digits of its interval show. What is missing is an empty field, ``null`` or a dash,
never 0.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_DECIMALS = 9
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "–": "--", "—": "---", "±": r"$\pm$", "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}  # fmt: skip
_MARKDOWN = re.compile(r"[\\`*_{}\[\]|~#!]")


@dataclass(frozen=True)
class Column:
    """A metric as the table shows it. ``decimals`` is the least number of decimals to show."""

    slug: str
    title: str
    higher_is_better: bool
    unit: str = ""
    decimals: int = 0


@dataclass(frozen=True)
class Cell:
    """One score with its 95 % interval and its rank in the column; None is missing."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None


@dataclass(frozen=True)
class Row:
    """One entry; ``cells`` line up with the table's columns. ``flags`` are words: "baseline", "verified"."""

    rank: int | None
    entry: str
    team: str
    cells: tuple[Cell, ...]
    rank_low: int | None = None
    rank_high: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Caption:
    """Where the table is from: enough to cite it. ``date`` is ISO 8601, ``address`` the snapshot's own."""

    challenge: str
    phase: str
    snapshot: str
    date: str
    address: str

    @property
    def lines(self) -> tuple[str, str, str]:
        return f"{self.challenge}, {self.phase}", f"Snapshot {self.snapshot}, {self.date}", self.address


@dataclass(frozen=True)
class Table:
    """A board to be written down, its rows in the order to be shown."""

    caption: Caption
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"row {row.entry!r} has {len(row.cells)} cells for {len(self.columns)} columns")


def shown(value: float | None, low: float | None = None, high: float | None = None, decimals: int = 0) -> str:
    """``value`` rounded for reading, or "–".

    With an interval as many decimals as show the first two significant digits of its half width,
    without one four significant digits; at least ``decimals``, at most 9, never an exponent.
    """
    if value is None or not math.isfinite(value):
        return "–"
    spread = half_width(low, high)
    return _fixed(value, max(decimals, _decimals_for(spread, 2) if spread else _decimals_for(value, 4)))


def shown_half_width(value: float | None, low: float | None, high: float | None, decimals: int = 0) -> str:
    """Half the interval's width with the same decimals as :func:`shown` gives the value; "" without one."""
    spread = half_width(low, high)
    if spread is None or value is None or not math.isfinite(value):
        return ""
    fraction = shown(value, low, high, decimals).partition(".")[2]
    return _fixed(spread, len(fraction))


def half_width(low: float | None, high: float | None) -> float | None:
    """Half the width of an interval, None where an end is missing."""
    if low is None or high is None or not math.isfinite(high - low):
        return None
    return (high - low) / 2


def to_csv(table: Table) -> str:
    """RFC 4180, one header line. Per metric: value, both ends of the interval, rank, in full.

    Text a spreadsheet could take for a formula gets a leading apostrophe. The last column holds
    the snapshot's address, since CSV has no place for a caption.
    """
    head = ["rank", "rank_low", "rank_high", "entry", "team", "flags"]
    for column in table.columns:
        head += [column.slug, f"{column.slug}_low", f"{column.slug}_high", f"{column.slug}_rank"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_plain_text(name) for name in [*head, "snapshot"]])
    for row in table.rows:
        line: list[Any] = [row.rank, row.rank_low, row.rank_high]
        line += [_plain_text(text) for text in (row.entry, row.team, " ".join(row.flags))]
        for cell in row.cells:
            line += [*(_full(number) for number in (cell.value, cell.low, cell.high)), cell.rank]
        writer.writerow(["" if field is None else field for field in [*line, _plain_text(table.caption.address)]])
    return out.getvalue()


def to_json(table: Table) -> str:
    """One object: ``caption``, ``columns``, and ``rows`` with their ``scores`` by slug, in full."""
    caption = table.caption
    data = {
        "caption": {
            "challenge": caption.challenge,
            "phase": caption.phase,
            "snapshot": caption.snapshot,
            "date": caption.date,
            "address": caption.address,
        },
        "columns": [{"slug": c.slug, "title": c.title, "higher_is_better": c.higher_is_better, "unit": c.unit} for c in table.columns],
        "rows": [_row_object(table.columns, row) for row in table.rows],
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def to_latex(table: Table) -> str:
    r"""A ``table`` environment for booktabs; the board's best value of each column is bold."""
    best = _best(table)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{'. '.join(_latex(line) for line in table.caption.lines)}.}}",
        rf"\begin{{tabular}}{{rl{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["Rank", "Entry", *(_latex(_title(column)) for column in table.columns)]) + r" \\",
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        cells = [
            _with_interval(cell, column, r"\textbf{%s}" if number in chosen else "%s", _latex)
            for cell, column, chosen in zip(row.cells, table.columns, best, strict=True)
        ]
        lines.append(" & ".join([_latex(_rank_text(row)), _latex(_entry_text(row)), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """A GitHub-style table under its caption; the board's best value of each column is bold."""
    best = _best(table)
    first, second, address = table.caption.lines
    lines = [f"**{_markdown(first)}**  ", f"{_markdown(second)}, <{_address(address)}>", ""]
    lines.append(_markdown_line(["Rank", "Entry", *(_markdown(_title(column)) for column in table.columns)]))
    lines.append(_markdown_line(["---:", ":---", *["---:"] * len(table.columns)]))
    for number, row in enumerate(table.rows):
        cells = [
            _with_interval(cell, column, "**%s**" if number in chosen else "%s", str)
            for cell, column, chosen in zip(row.cells, table.columns, best, strict=True)
        ]
        lines.append(_markdown_line([_rank_text(row), _markdown(_entry_text(row)), *cells]))
    return "\n".join(lines) + "\n"


def _row_object(columns: Sequence[Column], row: Row) -> dict[str, Any]:
    scores = {
        column.slug: {"value": _number(cell.value), "ci": _pair(cell.low, cell.high), "rank": cell.rank}
        for column, cell in zip(columns, row.cells, strict=True)
    }
    return {
        "rank": row.rank,
        "rank_interval": _pair(row.rank_low, row.rank_high),
        "entry": row.entry,
        "team": row.team,
        "flags": list(row.flags),
        "scores": scores,
    }


def _best(table: Table) -> list[set[int]]:
    """Per column the rows that share the first place of the whole board; rows that do not count have no place."""
    columns = range(len(table.columns))
    return [{number for number, row in enumerate(table.rows) if row.cells[index].rank == 1} for index in columns]


def _with_interval(cell: Cell, column: Column, emphasis: str, escape: Callable[[str], str]) -> str:
    text = shown(cell.value, cell.low, cell.high, column.decimals)
    spread = shown_half_width(cell.value, cell.low, cell.high, column.decimals)
    value = emphasis % escape(text)
    return f"{value} {escape('±')} {spread}" if spread else value


def _rank_text(row: Row) -> str:
    if row.rank is None:
        return "–"
    if row.rank_low is None or row.rank_high is None:
        return str(row.rank)
    return f"{row.rank} ({row.rank_low}–{row.rank_high})"


def _entry_text(row: Row) -> str:
    name = f"{row.entry} ({row.team})" if row.team else row.entry
    return f"{name} [{', '.join(row.flags)}]" if row.flags else name


def _title(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit else ""
    return f"{column.title}{unit} {'↑' if column.higher_is_better else '↓'}"


def _decimals_for(number: float, digits: int) -> int:
    """Decimals that show the first ``digits`` significant digits of ``number``."""
    if number == 0 or not math.isfinite(number):
        return 0
    # The exponent is taken after rounding: 0.0996 to two digits is 0.10.
    exponent = int(f"{abs(number):.{digits - 1}e}".partition("e")[2])
    return min(MAX_DECIMALS, max(0, digits - 1 - exponent))


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{min(decimals, MAX_DECIMALS)}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _full(value: float | None) -> str | None:
    number = _number(value)
    return None if number is None else repr(number)


def _pair(low: float | None, high: float | None) -> list[float | int] | None:
    return None if low is None or high is None or not math.isfinite(high - low) else [low, high]


def _plain_text(text: str) -> str:
    """Text that no spreadsheet evaluates."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def _markdown(text: str) -> str:
    text = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda found: "\\" + found[0], text)


def _address(text: str) -> str:
    """A web address that cannot end the angle brackets it is put in."""
    return re.sub(r"[\s<>]", "", _one_line(text))


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
