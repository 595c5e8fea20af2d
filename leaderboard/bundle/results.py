"""The `results` of a phase: published figures instead of uploads. Definition, reading, writing."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from evaluation import result_tables
from evaluation.models.definition import COLUMN
from evaluation.models.results import MOST_BYTES
from evaluation.result_tables import Layout, ResultColumn, ResultsError
from leaderboard.bundle.definition import OpinionColumn, OpinionsDef, ResultsDef
from leaderboard.bundle.document import Reader
from leaderboard.bundle.folder import Folder, name_fault

BETTER = {"higher": True, "lower": False}
PEOPLE = "people"  # the slug that a board gives the column of people
MAX_TITLE = 80
MAX_SOURCE = 240


def parse(reader: Reader | None, folder: Folder) -> ResultsDef | None:
    """Parse the optional key `results` of a phase."""
    if reader is None:
        return None
    path = folder.find(reader, "path")
    source = reader.text("source", most=MAX_SOURCE)
    if source is not None and not source.strip():
        reader.fault("source", "expected where the figures are from, such as a paper and its table")
    url = _url(reader)
    columns = _columns(reader)
    layout = Layout(
        columns,
        reader.text("method", "method"),
        tuple(text for _, text in reader.texts("details")),
        reader.text("paper", "") or "",
        reader.text("code", "") or "",
    )
    opinions = _opinions(reader.reader("opinions"))
    reader.close()
    text = _table_text(reader, path)
    if text is not None and columns:
        _check_table(reader, text, layout, opinions)
    return ResultsDef(
        source or "", url, path.name if path else "", hashlib.sha256((text or "").encode()).hexdigest(), layout, opinions, text or ""
    )


def _url(reader: Reader) -> str:
    url = reader.text("url", "", most=200) or ""
    if url:
        try:
            URLValidator(["http", "https"])(url)
        except ValidationError:
            reader.fault("url", f'expected a web address, found "{url[:80]}"')
    return url


def _columns(reader: Reader) -> tuple[ResultColumn, ...]:
    found = [_column(entry) for entry in reader.readers("columns")]
    if not found:
        reader.fault("columns", "expected at least one column with a figure to rank by")
    for n, it in enumerate(found):
        if it.slug in [other.slug for other in found[:n]]:
            reader.problems.add(f"{reader.at('columns')}[{n}].slug", f'expected each once; "{it.slug}" stands before')
    primary = [n for n, it in enumerate(found) if it.is_primary]
    for n in primary[1:]:
        reader.problems.add(f"{reader.at('columns')}[{n}].primary", "expected one primary column; another is primary too")
    if found and not primary:
        found[0] = ResultColumn(**{**asdict(found[0]), "is_primary": True})
    return tuple(found)


def _column(reader: Reader) -> ResultColumn:
    head = reader.text("column") or ""
    slug = reader.text("slug", None) or re.sub(r"[^a-z0-9@-]+", "_", head.lower()).strip("_-")
    try:
        COLUMN(slug)
    except ValidationError as error:
        reader.fault("slug" if "slug" in reader.nodes else "column", f'{error.messages[0].rstrip(".")}; found "{slug[:63]}"')
    if slug == PEOPLE:
        reader.fault("slug" if "slug" in reader.nodes else "column", f'expected another slug; "{PEOPLE}" is that of the people\'s column')
    better = reader.choice("better", list(BETTER))
    column = ResultColumn(
        slug=slug,
        column=head,
        title=reader.text("title", head, most=MAX_TITLE) or head,
        higher_is_better=BETTER.get(better or "", True),
        unit=reader.text("unit", "", most=16) or "",
        weight=reader.number("weight", 1.0, "a number from 0 up", positive=False),
        is_primary=reader.flag("primary", False),
        in_ranking=reader.flag("in_ranking", True),
    )
    reader.close()
    return column


def _opinions(reader: Reader | None) -> OpinionsDef | None:
    if reader is None:
        return None
    criteria = []
    for entry in reader.readers("criteria"):
        heads = {name: entry.text(name, "") or "" for name in ("low", "high", "n")}
        criteria.append(OpinionColumn(entry.text("column") or "", entry.text("criterion", "overall", most=60) or "overall", **heads))
        if bool(heads["low"]) != bool(heads["high"]):
            entry.fault("low" if heads["low"] else "high", "expected both ends of the interval, low and high")
        entry.close()
    if not criteria:
        reader.fault("criteria", "expected at least one criterion, with the column of its means")
    names = [column.criterion for column in criteria]
    for n, name in enumerate(names):
        if name in names[:n]:
            reader.problems.add(f"{reader.at('criteria')}[{n}].criterion", f'expected each once; "{name}" stands before')
    opinions = OpinionsDef(
        title=reader.text("title", "Opinion scores as published", most=120),
        question=reader.text("question", most=400) or "",
        criteria=tuple(criteria),
        raters=reader.integer("raters", None, 1, 1_000_000),
        left_out=tuple(text for _, text in reader.texts("left_out")),
        note=reader.text("note", "", most=240) or "",
    )
    reader.close()
    return opinions


def _table_text(reader: Reader, path: Path | None) -> str | None:
    if path is None:
        return None
    if not path.is_file() or name_fault(path.name):
        reader.fault("path", "expected one CSV file with a plain name")
        return None
    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        reader.fault("path", f"expected at most {MOST_BYTES:,} bytes, found {len(data):,}")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        reader.fault("path", f"expected text in UTF-8; save {path.name} in that encoding")
        return None
    if "\0" in text:
        reader.fault("path", f"expected a text; {path.name} holds NUL characters")
        return None
    return text


def _check_table(reader: Reader, text: str, layout: Layout, opinions: OpinionsDef | None) -> None:
    try:
        table = result_tables.read(text, layout)
        methods = {row.method for row in table.rows}
        if opinions is not None:
            published(text, layout, opinions)
            for n, name in enumerate(opinions.left_out):
                if name not in methods:
                    reader.problems.add(f"{reader.at('opinions')}.left_out[{n}]", f'expected a method of the table, found "{name}"')
    except ResultsError as error:
        for problem in error.problems:
            reader.fault("path", f"expected a table that can be ranked; {problem}")


def published(text: str, layout: Layout, opinions: OpinionsDef) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """By criterion and method: the mean, the ends of its interval and how many scores it is of, None where nothing stands.

    Raises `ResultsError` for what is no number, and for a mean outside 1 to 5.
    """
    by_criterion: dict[str, dict[str, tuple[float | None, ...]]] = {column.criterion: {} for column in opinions.criteria}
    problems = []
    for number, line in result_tables.lines(text, (layout.method, *(head for column in opinions.criteria for head in column.heads))):
        for column in opinions.criteria:
            try:
                values = tuple(
                    result_tables.number_in(line[head]) if head else None for head in (column.column, column.low, column.high, column.n)
                )
            except ValueError:
                problems.append(f"line {number}: what stands for {column.criterion} must be numbers, or empty.")
                continue
            if values[0] is not None and not 1 <= values[0] <= 5:
                problems.append(f"line {number}: {column.column} is {line[column.column]!r}; a mean opinion lies from 1 to 5.")
            by_criterion[column.criterion][" ".join(line[layout.method].split())] = values
    if problems:
        raise ResultsError(problems)
    return by_criterion


def written(results: ResultsDef, folder: Path, prefix: str) -> dict[str, object]:
    """The keys of `results`, and the table beside them, byte for byte."""
    path = f"{prefix}/{results.file_name}"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(results.text.encode())
    data: dict[str, object] = {"path": path, "source": results.source, **({"url": results.url} if results.url else {})}
    data["method"] = results.layout.method
    if results.layout.details:
        data["details"] = list(results.layout.details)
    data |= {name: getattr(results.layout, name) for name in ("paper", "code") if getattr(results.layout, name)}
    data["columns"] = [
        {
            "column": one.column,
            "slug": one.slug,
            "title": one.title,
            "better": "higher" if one.higher_is_better else "lower",
            "unit": one.unit,
            "weight": one.weight,
            "primary": one.is_primary,
            "in_ranking": one.in_ranking,
        }
        for one in results.layout.columns
    ]
    if results.opinions is not None:
        data["opinions"] = _written_opinions(results.opinions)
    return data


def _written_opinions(it: OpinionsDef) -> dict[str, object]:
    data: dict[str, object] = {"title": it.title, "question": it.question}
    if it.raters is not None:
        data["raters"] = it.raters
    data["criteria"] = [{name: value for name, value in asdict(one).items() if value} for one in it.criteria]
    if it.left_out:
        data["left_out"] = list(it.left_out)
    return data | ({"note": it.note} if it.note else {})


def fields_of(results: ResultsDef | None) -> dict[str, object]:
    """Fields that a plan compares, besides its columns."""
    if results is None:
        return {}
    fields: dict[str, object] = {
        "source": results.source,
        "url": results.url,
        "table": f"{results.file_name} {results.sha256[:16]}",
        "method": results.layout.method,
    }
    fields |= {"details": list(results.layout.details), "paper": results.layout.paper, "code": results.layout.code}
    return fields | ({"opinions": results.opinions.to_dict()} if results.opinions else {})
