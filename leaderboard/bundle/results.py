"""The `results` of a phase: published figures instead of uploads. Definition, reading, writing."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from evaluation import result_tables
from evaluation.models.definition import COLUMN
from evaluation.models.results import MAX_BYTES
from evaluation.result_tables import Detail, Layout, ResultColumn, ResultsError
from leaderboard.bundle import of_items
from leaderboard.bundle.definition import OpinionsDef, ResultsDef
from leaderboard.bundle.folder import Folder, name_fault, text_in
from leaderboard.evidence import by_hand, store
from leaderboard.evidence import manifest as manifests
from leaderboard.evidence.raw import EvidenceError
from leaderboard.stats.mos_table import USUAL
from submissions.formats.decimals import SeparatedNumber, hint
from submissions.formats.yaml_document import DocumentError, Problems, Reader, made

BETTER = {"higher": True, "lower": False}
PEOPLE = "people"  # the slug that a board gives the column of people
MAX_TITLE = 80
MAX_SOURCE = 240


def parse(reader: Reader | None, folder: Folder) -> ResultsDef | None:
    """Parse the optional key `results` of a phase."""
    if reader is None:
        return None
    if "items" in reader.nodes:
        return _of_items(reader, folder)
    path = folder.find(reader, "path")
    source = reader.text("source", most=MAX_SOURCE)
    if source is not None and not source.strip():
        reader.fault("source", "expected where the figures are from, such as a paper and its table")
    url = reader.text("url", "", most=200) or ""
    if url:
        try:
            URLValidator(["http", "https"])(url)
        except ValidationError:
            reader.fault("url", f'expected a web address, found "{url[:80]}"')

    layout = _layout(reader)
    of_people = reader.reader("opinions")
    opinions = None if of_people is None else made(OpinionsDef, of_people)
    reader.close()

    text = None
    if path is not None and (not path.is_file() or name_fault(path.name)):
        reader.fault("path", "expected one CSV file with a plain name")
    elif path is not None:
        text = text_in(path, reader, "path", MAX_BYTES)
    if text is not None and layout.columns:
        _check_table(reader, text, layout, opinions)
    name, text = path.name if path else "", text or ""
    return ResultsDef(source or "", url, name, hashlib.sha256(text.encode()).hexdigest(), layout, opinions, text=text)


def _check_table(reader: Reader, text: str, layout: Layout, opinions: OpinionsDef | None) -> None:
    """Report what keeps the table from being ranked, and people's opinions of methods that it does not have."""
    try:
        methods = {row.method for row in result_tables.read(text, layout).rows}
        if opinions is not None:
            published(text, layout, opinions)
            for n, name in enumerate(opinions.left_out):
                if name not in methods:
                    reader.problems.add(f"{reader.at('opinions')}.left_out[{n}]", f'expected a method of the table, found "{name}"')
    except ResultsError as error:
        for problem in error.problems:
            reader.fault("path", f"expected a table that can be ranked; {problem}")


def _layout(reader: Reader) -> Layout:
    """Parse the columns of the table: figures, of which one is primary, the method, and what else is shown."""
    columns = [_column(entry) for entry in reader.readers("columns")]
    if not columns:
        reader.fault("columns", "expected at least one column with a figure to rank by")
    for n, it in enumerate(columns):
        if it.slug in [other.slug for other in columns[:n]]:
            reader.problems.add(f"{reader.at('columns')}[{n}].slug", f'expected each once; "{it.slug}" stands before')
    return Layout(
        with_primary(reader.problems, reader.at("columns"), columns),
        reader.text("method", "method"),
        tuple(Detail(it) if isinstance(it, str) else _detail(it) for it in reader.texts_and_readers("details")),
        {name: head for name in result_tables.LINKS if (head := reader.text(name, ""))},
    )


def with_primary(problems: Problems, path: str, columns: Sequence[Any]) -> tuple[Any, ...]:
    """The columns in the list at `path`, of which one is primary: the first unless another is named. A second one is a fault."""
    first, *others = [n for n, column in enumerate(columns) if column.is_primary] or [0]
    for n in others:
        problems.add(f"{path}[{n}].primary", f"expected one primary column; {path}[{first}] is primary too")
    return tuple(replace(column, is_primary=n in (first, *others)) for n, column in enumerate(columns))


def _of_items(reader: Reader, folder: Folder) -> ResultsDef | None:
    """Parse `results` whose key `items` names the manifest of a set of answers and values by item, which lies beside its files."""
    path = folder.find(reader, "items")
    given = {key: reader.text(key, "", most=most) or "" for key, most in (("source", MAX_SOURCE), ("url", 200), ("question", 400))}
    primary = reader.text("primary", "") or ""
    reader.close()
    if path is None:
        return None
    if not path.is_file():
        reader.fault("items", "expected the manifest of a set, such as published/evidence.yaml; found a folder")
        return None
    try:
        manifest, found = by_hand.read_manifest(path, store.read_sheet)
        return of_items.results_of(manifest, found, primary=primary, **given)
    except DocumentError as error:
        reader.problems.found += error.problems
    except (EvidenceError, ResultsError) as error:
        for problem in error.problems:
            reader.fault("items", problem)
    return None


def _detail(reader: Reader) -> Detail:
    title, unit = reader.text("title", "", most=MAX_TITLE) or "", reader.text("unit", "", most=16) or ""
    found = Detail(reader.text("column") or "", title, unit)
    reader.close()
    return found


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
        weight=reader.number("weight", 1.0, "a number from 0 up", low=0),
        is_primary=reader.flag("primary", False),
        in_ranking=reader.flag("in_ranking", True),
    )
    reader.close()
    return column


def published(text: str, layout: Layout, opinions: OpinionsDef) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """Published scores by criterion and method: the mean, the ends of its interval and its number of scores, None for an empty cell.

    Raises `ResultsError` for what is no number, and for a mean outside the scale.
    """
    by_criterion: dict[str, dict[str, tuple[float | None, ...]]] = {column.criterion: {} for column in opinions.criteria}
    problems: list[str] = []
    separated: list[str] = []
    for number, line in result_tables.lines(text, (layout.method, *(head for column in opinions.criteria for head in column.heads))):
        for column in opinions.criteria:
            try:
                heads = (column.column, column.low, column.high, column.n)
                values = tuple(result_tables.number_in(line[head], head) if head else None for head in heads)
            except SeparatedNumber as error:
                separated.append(f"line {number}: {error}")
                continue
            except ValueError:
                problems.append(f"line {number}: what stands for {column.criterion} must be numbers, or empty.")
                continue
            low, high = opinions.scale
            if values[0] is not None and not low <= values[0] <= high:
                problems.append(f"line {number}: {column.column} is {line[column.column]!r}; a mean opinion lies from {low:g} to {high:g}.")
            by_criterion[column.criterion][" ".join(line[layout.method].split())] = values
    if problems or separated:
        raise ResultsError([*hint(separated), *problems])
    return by_criterion


def written(results: ResultsDef, folder: Path, prefix: str) -> dict[str, object]:
    """The keys of `results`, and the table beside them, byte for byte; of values of items the canonical tables with their manifest."""
    if results.answers is not None:
        with zipfile.ZipFile(io.BytesIO(results.answers.packed)) as archive:
            archive.extractall(folder / prefix / "items")
        primary = next(column.column for column in results.layout.columns if column.is_primary)
        about = {"source": results.source, "url": results.url, "question": results.answers.question, "primary": primary}
        return {"items": f"{prefix}/items/{manifests.FILE_NAME}", **{key: text for key, text in about.items() if text}}
    path = f"{prefix}/{results.file_name}"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(results.text.encode())
    data: dict[str, object] = {"path": path, "source": results.source, **({"url": results.url} if results.url else {})}
    data["method"] = results.layout.method
    if results.layout.details:
        data["details"] = [it.to_value() for it in results.layout.details]
    data |= results.layout.links
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
    if (of_people := results.opinions) is not None:
        opinions: dict[str, object] = {"title": of_people.title, "question": of_people.question}
        opinions |= {"scale": list(of_people.scale)} if of_people.scale != USUAL else {}
        opinions |= {"raters": of_people.raters} if of_people.raters is not None else {}
        opinions["criteria"] = [{name: value for name, value in asdict(one).items() if value} for one in of_people.criteria]
        opinions |= {"left_out": list(of_people.left_out)} if of_people.left_out else {}
        data["opinions"] = opinions | ({"note": of_people.note} if of_people.note else {})
    return data


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
    fields |= {"details": [it.to_value() for it in results.layout.details]}
    fields |= {name: results.layout.links.get(name, "") for name in result_tables.LINKS}
    fields |= {"question": results.answers.question, "answers": results.answers.sha256[:16]} if results.answers else {}
    return fields | ({"opinions": results.opinions.to_dict()} if results.opinions else {})
