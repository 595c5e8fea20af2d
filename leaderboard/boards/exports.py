"""A board as CSV, JSON, LaTeX and Markdown.

CSV and JSON carry every number in full; LaTeX and Markdown show each with the digits that the
page shows it with. What is missing is an empty field, ``null`` or a dash,
never 0.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from leaderboard.records.unit import NOUN
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.digits import Bounds, rounded
from leaderboard.wording.reasons import why
from submissions.formats.formulas import BYTE_ORDER_MARK, plain_text

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "−": r"$-$",
        "±": r"$\pm$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "ρ": r"$\rho$",
    }
)
KEPT = 16_384  # texts whose escaped form is kept: a board's values have few digits, so most come again and again
_MARKDOWN = re.compile(r"[\\`*_{}\[\]|~#!]")


@dataclass(frozen=True)
class People:
    """Agreement of a column with people: shares by their name ("decided": decided agreement; "pairs" in rankings of earlier rules),
    Spearman's rho, and its places among the columns. `is_few` says that too few people judged, or too few items, for any figure where
    people read it."""

    figures: dict[str, Figure]
    places: tuple[int, int] | None = None
    trained: str = ""  # "these", "entries", "unknown" or "refused", see `leaderboard.studies.training_overlap`
    is_few: bool = False


@dataclass(frozen=True)
class Column:
    """A metric as the table shows it. ``decimals`` is how many its values without an interval were published with, if they were."""

    slug: str
    title: str
    higher_is_better: bool
    unit: str = ""
    decimals: int | None = None
    people: People | None = None
    bounds: Bounds = (None, None)


# A score, both ends of its 95 % interval, its rank in the column, and of how many it is; None is missing. A bare tuple of numbers, for a
# board has tens of thousands, and the collector of garbage forgets those.
Cell = tuple[float | None, float | None, float | None, int | None, int | None]


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
    """Source of a table: enough to cite it. ``date`` is ISO 8601, ``address`` the snapshot's own."""

    challenge: str
    phase: str
    snapshot: str
    date: str
    address: str
    people: str = ""  # which study the agreement with people is of

    @property
    def lines(self) -> tuple[str, ...]:
        lines = (f"{self.challenge}, {self.phase}", f"Snapshot {self.snapshot}, {self.date}", self.address)
        return (*lines, f"People: {self.people}") if self.people else lines


@dataclass(frozen=True)
class Table:
    """A board to be written down, its rows in the order to be shown; its intervals are over what is called ``noun``."""

    caption: Caption
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    noun: str = NOUN

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"row {row.entry!r} has {len(row.cells)} cells for {len(self.columns)} columns")


def to_csv(table: Table) -> str:
    """RFC 4180, one header line. Per metric: value, both ends of the interval, rank, in full, and of how many groups of items the value is
    the mean, or of how many answers of people; and where people judged, how far the metric agrees with them, of how many answers, and why
    without an interval, the same on every row.

    Text a spreadsheet could take for a formula gets a leading apostrophe. The last column holds
    the snapshot's address, since CSV has no place for a caption.
    """
    head = ["rank", "rank_low", "rank_high", "entry", "team", "flags"]
    for column in table.columns:
        head += [column.slug, f"{column.slug}_low", f"{column.slug}_high", f"{column.slug}_rank", f"{column.slug}_n"]
        head += [f"{column.slug}_people_{name}" for name, _ in _people_cells(column, table.noun)]
    agreement = [
        [value if isinstance(value, str) else _number(value) for _, value in _people_cells(column, table.noun)] for column in table.columns
    ]
    address = plain_text(table.caption.address)
    out = io.StringIO()
    out.write(BYTE_ORDER_MARK)
    writer = csv.writer(out, lineterminator="\r\n")  # which writes a float in full, and nothing for None
    writer.writerow([plain_text(name) for name in [*head, "snapshot"]])
    for row in table.rows:
        line: list[Any] = [row.rank, row.rank_low, row.rank_high]
        line += [plain_text(text) for text in (row.entry, row.team, " ".join(row.flags))]
        for (value, low, high, rank, n), people in zip(row.cells, agreement, strict=True):
            line += (_number(value), _number(low), _number(high), rank, n)
            line += people
        line.append(address)
        writer.writerow(line)
    return out.getvalue()


def to_json(table: Table) -> str:
    """One object: ``caption``, ``columns``, and ``rows`` with their ``scores`` by slug, in full; a row a line."""
    caption = asdict(table.caption)
    if not table.caption.people:
        del caption["people"]
    columns = []
    for column in table.columns:
        about: dict[str, Any] = {name: getattr(column, name) for name in ("slug", "title", "higher_is_better", "unit")}
        if column.people is not None:
            about["people"] = {name: _written(figure, table.noun) for name, figure in column.people.figures.items()}
            if "decided" in column.people.figures:
                about["people"]["places"] = column.people.places
            if column.people.trained:
                about["people"]["trained"] = column.people.trained
        columns.append(about)
    slugs = [column.slug for column in table.columns]
    write = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    rows = [
        write(
            {
                "rank": row.rank,
                "rank_interval": _pair(row.rank_low, row.rank_high),
                "entry": row.entry,
                "team": row.team,
                "flags": list(row.flags),
                "scores": {
                    slug: {"value": _number(value), "ci": _pair(low, high), "rank": rank, "n": n}
                    for slug, (value, low, high, rank, n) in zip(slugs, row.cells, strict=True)
                },
            }
        )
        for row in table.rows
    ]
    return "\n".join(
        (
            "{",
            f'"caption": {write(caption)},',
            f'"columns": [{",".join(chr(10) + write(column) for column in columns)}',
            "],",
            f'"rows": [{",".join(chr(10) + row for row in rows)}',
            "]",
            "}\n",
        )
    )


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
        cells = []
        for (value, low, high, *_), column, chosen in zip(row.cells, table.columns, best, strict=True):
            own = rounded(value, low, high, column.bounds, column.decimals)
            text = rf"\textbf{{{_latex(own.text)}}}" if number in chosen else _latex(own.text)
            if own.up:  # the two sides, stacked
                cells.append(rf"{text}$^{{{own.up}}}_{{{own.down.replace('−', '-')}}}$")
            else:
                cells.append(f"{text} {_latex(own.half)}".rstrip())
        lines.append(" & ".join([_latex(_rank_text(row)), _latex(_entry_text(row)), *cells]) + r" \\")
    people_rows = _people_rows(table)
    if people_rows:
        lines.append(r"\midrule")
    lines += [" & ".join(["", *(_latex(cell) for cell in (title, *cells))]) + r" \\" for title, cells in people_rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """A GitHub-style table under its caption; the board's best value of each column is bold."""
    best = _best(table)
    first, second, address, *more = table.caption.lines
    address = re.sub(r"[\s<>]", "", _one_line(address))  # it cannot end the angle brackets it is put in
    above = [f"**{_markdown(first)}**", f"{_markdown(second)}, <{address}>", *(_markdown(line) for line in more)]
    lines = ["  \n".join(above), ""]
    lines.append(_markdown_line(["Rank", "Entry", *(_markdown(_title(column)) for column in table.columns)]))
    lines.append(_markdown_line(["---:", ":---", *["---:"] * len(table.columns)]))
    for number, row in enumerate(table.rows):
        cells = []
        for (value, low, high, *_), column, chosen in zip(row.cells, table.columns, best, strict=True):
            own = rounded(value, low, high, column.bounds, column.decimals)
            text = _markdown(own.text)
            cells.append(f"{f'**{text}**' if number in chosen else text} {_markdown(own.spread)}".rstrip())
        lines.append(_markdown_line([_rank_text(row), _markdown(_entry_text(row)), *cells]))
    for title, texts in _people_rows(table):
        lines.append(_markdown_line(["", f"*{_markdown(title)}*", *(_markdown(cell) for cell in texts)]))
    return "\n".join(lines) + "\n"


def _written(it: Figure, noun: str) -> dict[str, Any]:
    """A figure with its 95 % interval, of how many answers or entries it is, and why it has no interval."""
    return {name: getattr(it, name) for name in ("value", "low", "high", "n", "state")} | {"why": why(it, noun)}


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


def _people_rows(table: Table) -> list[tuple[str, list[str]]]:
    """Lines that say how far each column agrees with people, with their cells as plain text; none where nobody judged."""
    found = []
    titles = {"decided": "Agrees with people", "pairs": "Agrees with people, by an earlier rule", "rho": "Spearman's ρ with people"}
    for name, title in titles.items():
        figures = []
        for column in table.columns:
            every = column.people.figures if column.people and not column.people.is_few else {}
            figure = every.get(name)
            if figure is not None and figure.state is State.TOO_FEW:  # it has values for answers of too few people, or on too few items
                figure = None
            # A correlation without an interval is of too few entries; of means that were published it is all there is.
            alone = name == "rho" and "decided" in every and figure is not None and figure.low is None
            figures.append(None if alone else figure)
        # Below the smallest numbers of people and items there is no figure.
        if any(figure is not None and figure.value is not None and (figure.low is not None or name != "decided") for figure in figures):
            texts = []
            for figure in figures:
                if figure is None or figure.value is None:
                    texts.append("–")
                    continue
                more = [f"{figure.low:.2f} to {figure.high:.2f}" if figure.low is not None else "no interval"]
                if name == "rho" and figure.n:  # of entries, which no caption counts
                    more.append(f"{figure.n:,} {'entry' if figure.n == 1 else 'entries'}")
                texts.append(f"{figure.value:.2f} ({', '.join(more)})")
            found.append((title, texts))
    return found


def _best(table: Table) -> list[set[int]]:
    """Per column the rows that share the first place of the whole board; rows that do not count have no place."""
    ranks = ([rank for _, _, _, rank, _ in cells] for cells in zip(*(row.cells for row in table.rows), strict=True))
    return [{number for number, rank in enumerate(column) if rank == 1} for column in ranks]


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


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _pair(low: float | None, high: float | None) -> list[float | int] | None:
    return None if low is None or high is None or not math.isfinite(high - low) else [low, high]


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


@lru_cache(maxsize=KEPT)
def _latex(text: str) -> str:
    return _one_line(text).translate(_LATEX)


@lru_cache(maxsize=KEPT)
def _markdown(text: str) -> str:
    text = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda found: "\\" + found[0], text)


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
