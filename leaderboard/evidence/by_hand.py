"""Files of answers that somebody describes in a form or by options, instead of a manifest. The description becomes one, so that every
file is read, checked and refused by the same reader. PURE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from leaderboard.evidence import manifest as manifests
from leaderboard.evidence import reading
from leaderboard.evidence.manifest import DIRECTIONS, FORMATS, Manifest, SourceFile, filled, other_file, published_names
from leaderboard.evidence.raw import EvidenceError, RawTable, ReadSheet, read_table
from leaderboard.evidence.reading import USUAL_CRITERION, Reading
from leaderboard.stats.labels import DAMAGED, LABELS
from submissions.formats.errors import excerpt
from submissions.formats.file_digest import file_digest
from submissions.formats.yaml_document import DocumentError

ITEM = ("item", "sample")  # heads of the column of items; files of votes call it a sample
ERRORS = ("sd", "n", "se", "low", "high", "half_width")
NAMED = {*ITEM, "entry", "group", "family", "criterion", "key"}  # heads of a file of values that are no metrics
# Description of a publication. All fields are required together, except the DOI of the paper and the note.
OF_PUBLICATIONS = {
    "authors": "Say who the authors are.",
    "address": "Say where it was published: the address of its repository or its paper.",
    "version": manifests.NO_VERSION,
    "licence": manifests.NO_LICENCE,
    "published": "Say when it was published, such as 2026-02-04.",
}


class Layout(StrEnum):
    """Form of a file of answers."""

    SCORES = "scores"  # a row for each score
    WIDE = "wide"  # a column for each rater
    MEANS = "means"
    PAIRS = "pairs"


class FieldError(EvidenceError):
    """A field of the description is wrong, by its name; the sentences are the error's."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.field = name


@dataclass(frozen=True)
class ByHand:
    """Description of files of answers. `columns` says what the file calls a column, or makes a name of several: `item` may be
    "{Scene} path {Path}". `groups` and `families` are columns like these, or tables by item and by entry. `scale` is two ends such as 0:10,
    or a word. `metrics` are lines such as PSNR_Y=psnr-y:higher, for columns of the file of `values`, else of the file of answers."""

    name: str
    title: str
    answers: Path
    values: Path | None = None
    sheet: str = ""
    layout: Layout = Layout.SCORES
    wide: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    groups: str | Mapping[str, str] = ""
    families: str | Mapping[str, str] = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    scale: str = "1:5"
    better: str = "higher"
    raters: str = "columns"
    because: str = ""
    material: str = "pictures"
    source: str = ""  # who collected the answers, where they were not published
    authors: str = ""
    repository: str = ""
    paper: str = ""
    doi: str = ""
    commit: str = ""
    release: str = ""
    licence: str = ""
    licence_note: str = ""
    published: str = ""  # the day; of answers that were not published, the day on which they are brought in

    @property
    def is_published(self) -> bool:
        """True if any field describes a publication."""
        said = (self.authors, self.repository, self.paper, self.doi, self.commit, self.release, self.licence)
        return any(said)

    def brought_in(self, day: date) -> ByHand:
        """The same, with the day on which it is brought in where it was not published and names none."""
        return self if self.is_published or self.published else replace(self, published=day.isoformat())


def read(said: ByHand, read_sheet: ReadSheet) -> tuple[Manifest, Reading]:
    """The manifest that the description comes to, and the answers. Raises `EvidenceError`, and `FieldError` where one field is wrong."""
    kept: dict[tuple[Path, str], list[list[str]]] = {}

    def once(path: Path, sheet: str) -> list[list[str]]:
        if (path, sheet) not in kept:
            kept[path, sheet] = read_sheet(path, sheet)
        return kept[path, sheet]

    text = yaml.safe_dump(_document(said, once), allow_unicode=True, sort_keys=False)
    try:
        manifest = manifests.parse(text.encode())
    except DocumentError as error:
        first = error.problems[0]
        name = first.key.rpartition(".")[2] or first.key
        sentences = [problem.reason if problem.reason.endswith(".") else f"{problem.reason}." for problem in error.problems]
        raise FieldError(_FIELDS.get(name, name), list(dict.fromkeys(sentences))) from None
    folders = {said.answers.name: said.answers.parent, **({said.values.name: said.values.parent} if said.values else {})}
    return manifest, reading.read(manifest, lambda name: folders[name] / name, once)


def read_manifest(path: Path, read_sheet: ReadSheet) -> tuple[Manifest, Reading]:
    """The set of a manifest whose files lie beside it. Raises `DocumentError` for a faulty manifest, and `EvidenceError`."""
    manifest, faults = manifests.parse(path.read_bytes(), path.name), []
    for file in manifest.files:
        here = path.parent / file.name
        if not here.is_file() or not here.resolve().is_relative_to(path.parent.resolve()):
            faults.append(f"{file.name} is not beside {path.name}.")
        elif (digest := file_digest(here)) != file.sha256:
            faults.append(other_file(file, digest))
    if faults:
        raise EvidenceError(faults)
    return manifest, reading.read(manifest, path.parent, read_sheet)


_FIELDS = {
    "score": "wide",
    "stated": "licence",
    "source": "commit",
    "name": "metrics",
    "files": "answers",
}  # keys that have other names here


def _document(said: ByHand, read_sheet: ReadSheet) -> dict[str, Any]:
    """The manifest's content, as plain values."""
    if said.values is not None and said.values.name == said.answers.name and said.values != said.answers:
        raise FieldError("values", [f"Both files are called {said.answers.name}; give one of them another name."])
    made: dict[str, Any] = {"evidence": manifests.VERSION, "name": said.name, "title": said.title, **_publication(said)}
    answers = _file("answers", said.answers, said.sheet)
    made["files"] = [answers]
    table = _heads(answers, said.answers, read_sheet)
    block = _block(said, table)
    made["judgements"] = [{"file": "answers", **block}]
    made |= {key: dict(named) for key in ("groups", "families") if isinstance(named := getattr(said, key), Mapping)}
    by_label: dict[str, list[str]] = {}
    for entry, label in said.labels.items():
        if label not in LABELS:
            raise FieldError("labels", [f"{excerpt(entry)} is labelled {excerpt(label)}; a label is one of {', '.join(LABELS)}."])
        if label in DAMAGED:
            by_label.setdefault(label, []).append(entry)
    made["labels"] = [{"entries": entries, "label": label} for label, entries in by_label.items()]
    if said.values is not None and said.values != said.answers:
        values = _file("values", said.values, "")
        made["files"].append(values)
        heads = _heads(values, said.values, read_sheet).heads
        columns = _columns(said.metrics, [head for head in heads if head not in NAMED])
        made["metrics"] = [{"file": "values", **_joined(said, block, heads), "columns": columns}]
    elif said.metrics or said.values is not None:
        columns = _columns(said.metrics, [head for head in table.heads if head.rpartition(":")[2] in DIRECTIONS])
        made["metrics"] = [{"file": "answers", "columns": columns}]
    return made


def _publication(said: ByHand) -> dict[str, Any]:
    """Keys of a publication; of answers that their collector brings in: who that is, and the day."""
    if not said.is_published:
        brought = {"source": {"release": f"brought in on {said.published}"}, "licence": {"stated": "none"}, "material": said.material}
        return {"authors": said.source or "the organizers", **brought}
    version = said.commit or said.release or (said.doi and not said.repository)
    given = {
        "authors": said.authors,
        "address": said.repository or said.paper or said.doi,
        "version": version,
        "licence": said.licence,
        "published": said.published,
    }
    for name, sentence in OF_PUBLICATIONS.items():
        if not given[name]:
            raise FieldError({"address": "repository", "version": "commit"}.get(name, name), [sentence])
    source = filled({"repository": said.repository, "commit": said.commit, "release": said.release})
    if not (said.commit or said.release):
        source["doi"] = said.doi
    licence = {"stated": said.licence, **filled({"note": said.licence_note})}
    made = {"authors": said.authors, "source": source, "licence": licence, "material": said.material, "published": said.published}
    return made | filled({"paper": said.paper, "doi": said.doi})


def _file(name: str, path: Path, sheet: str) -> dict[str, Any]:
    """The entry of a file, with the digest that it has."""
    suffix = path.suffix.lower()
    if FORMATS.get(suffix) not in ("csv", "tsv", "xlsx"):
        raise FieldError(name, [f"{path.name} is no table that is read here: a CSV, TSV or XLSX file was expected."])
    return {"id": name, "path": path.name, "sha256": file_digest(path), "bytes": path.stat().st_size, **filled({"sheet": sheet})}


def _heads(file: Mapping[str, Any], path: Path, read_sheet: ReadSheet) -> RawTable:
    form = FORMATS[path.suffix.lower()]
    return read_table(path, SourceFile(file["id"], path.name, "", 0, "", form, file.get("sheet", "")), read_sheet)


def _block(said: ByHand, table: RawTable) -> dict[str, Any]:
    """The block of answers: the columns that were named, else those that are called as the block's keys."""
    heads = table.heads
    keys = {"item", "entry", "group", "family", "criterion", "session", "rater", "key", "score", "mean", *ERRORS, "left", "right", "choice"}
    if unknown := sorted(set(said.columns) - keys):
        raise FieldError(
            "columns", [f"There is no column {excerpt(unknown[0])} of answers; these may be named: {', '.join(sorted(keys))}."]
        )

    def named(key: str, *usual: str, default: str = "") -> dict[str, Any]:
        """The rule of a key: as it was said, else its usual head where the file has one, else the default."""
        text = said.columns.get(key, "") or next((head for head in (usual or (key,)) if head in heads), default)
        return filled({key: text})

    def grouped(key: str, of: str | Mapping[str, str]) -> dict[str, Any]:
        """The same of a key that a table may say instead."""
        return named(key) if not of else {key: of} if isinstance(of, str) else {}

    low, colon, high = said.scale.partition(":")
    scale: Any = [low.strip(), high.strip()] if colon else said.scale.strip()
    pairs = said.layout == Layout.PAIRS
    block: dict[str, Any] = {"scale": "left or right" if pairs else scale, "better": said.better}
    block |= named("item", *ITEM, default="item") | grouped("group", said.groups)
    block |= {"criterion": USUAL_CRITERION} | named("criterion") | named("session") | named("key")
    if pairs:
        block |= {key: said.columns.get(key, key) for key in ("left", "right", "choice")}
    else:
        block |= named("entry", default="entry") | grouped("family", said.families)
    if said.layout == Layout.MEANS:
        block |= {"mean": said.columns.get("mean", "mean"), "raters": "none"}
        return block | {key: text for error in ERRORS for key, text in named(error).items()}
    block |= {"raters": said.raters, **filled({"because": said.because})}
    if said.layout == Layout.WIDE:
        return block | {"score": said.wide}
    block |= named("rater", default="" if said.raters == "anonymous" else "rater")
    return block if pairs else block | {"score": said.columns.get("score", "score")}


def _joined(said: ByHand, block: Mapping[str, Any], heads: Sequence[str]) -> dict[str, Any]:
    """Keys by which a file of values is joined with the answers: the same key, else the same columns of items and entries, else its own."""
    if "key" in block:
        return {"key": block["key"]}
    same = [block.get("item", ""), block.get("entry", "")]
    if all(text and _is_made_of(text, heads) for text in same):
        return {"item": same[0], "entry": same[1]}
    return {"item": next((head for head in ITEM if head in heads), "item"), "entry": "entry"}


def _is_made_of(text: str, heads: Sequence[str]) -> bool:
    """True where a column, or every column in a text's braces, is among these heads."""
    if "{" not in text:
        return text in heads
    return all(part.partition("}")[0] in heads for part in text.split("{")[1:])


def _columns(lines: Sequence[str], usual: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Columns of metrics: the columns named with directions, else all `usual` ones, whose heads have directions (PSNR_Y:higher)."""
    said = [line.rpartition("=")[::2] if "=" in line else (line, line) for line in lines] if lines else [(head, head) for head in usual]
    if not said:
        raise FieldError("metrics", ["Say which columns are metrics, and whether higher or lower is better: PSNR_Y=psnr-y:higher."])
    made, faults = {}, []
    for column, text in said:
        title, colon, better = text.rpartition(":")
        if not colon and text in DIRECTIONS:
            title, better = column, text
        elif not colon or better not in DIRECTIONS:
            faults.append(f"{excerpt(column)}: say whether higher or lower is better.")
            continue
        name = title if title in published_names() else ""
        if lines and not name and title not in ("", column):
            faults.append(f"{excerpt(column)}: {excerpt(title)} is no name of a published metric.")
        made[column] = {"name": name, "better": better, "reference_point": name == "size"}
        if column.endswith(f":{better}"):
            made[column]["title"] = column.removesuffix(f":{better}")
    if faults:
        raise FieldError("metrics", faults)
    return made
