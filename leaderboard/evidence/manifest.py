"""`evidence.yaml`: where one publication's answers lie, what their columns mean, and under which licence. PURE.

Each class is a mapping of the document: its annotated fields are the keys, each with how it is read, its `check` is what must hold of them
together. Every key is known, every fault is reported with its line. A manifest holds addresses, digests and descriptions, and no answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar

import yaml

from leaderboard.evidence.tables import Label, RatersAre
from leaderboard.evidence.text_rules import TextRule, read_rule, read_table
from leaderboard.stats.evidence.record import Asked, Licence, SetSource, Words
from leaderboard.stats.evidence.record import SourceFile as Digest
from leaderboard.stats.evidence.reproduction import Statistic
from submissions.formats.yaml_document import (
    LEAST_ABOVE_0,
    Problems,
    Read,
    Reader,
    compose,
    described,
    each,
    flag,
    made,
    one_of,
    text,
    texts,
    whole,
)

VERSION = 1
FILE_NAME = "evidence.yaml"
MATERIALS = ("splat videos", "nerf videos", "point clouds", "meshes", "generated meshes", "wireframes", "pictures")
FORMATS = {".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".tex": "tex"}
LABELS = [str(label) for label in Label if label]
STATISTICS = [str(statistic) for statistic in Statistic]
DIRECTIONS = ("higher", "lower")
NO_VERSION = "Say which version: a commit, a DOI or a dated release. A branch changes."
NO_LICENCE = "Say what licence is stated, or `stated: none`."
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DOI = re.compile(r"10\.\d{4,9}/\S{1,200}")
_RELEASE = re.compile(r".*\b(19|20)\d\d-\d\d-\d\d\b.*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
_WORDS = re.compile(r"[^a-z]+")
# Headers of columns about persons, which are never read. A name or an address counts where the header says whose, or nothing else.
_PERSONAL = {"sex", "gender", "age", "ages", "mail", "email", "birthday", "birthdate", "birthyear", "phone", "telephone", "surname"}
_WHOSE = {
    *("first", "last", "full", "given", "family", "real", "user", "person", "persons", "people", "participant", "participants"),
    *("subject", "subjects", "observer", "observers", "rater", "raters", "viewer", "viewers", "voter", "voters", "worker", "workers"),
    *("e", "mail", "email", "ip", "home", "street", "postal"),
}
_ALONE = {"name", "names", "address", "addresses", "ip", "username", "firstname", "lastname", "fullname", "nickname"}


def is_personal(header: str) -> bool:
    """True for the header of a column of names, mail, sex, age, addresses or IP numbers of people."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", header)  # FirstName, IPAddress
    words = [word for word in _WORDS.split(apart.lower()) if word]
    if not words:
        return False
    if len(words) == 1 and words[0] in _ALONE:
        return True
    if any(word in _PERSONAL for word in words):
        return True
    return any(word in _ALONE for word in words) and all(word in _WHOSE or word in _ALONE for word in words)


def filled(named: Mapping[str, object]) -> dict[str, object]:
    """Keys of a manifest that are written: those whose values are not empty."""
    return {key: value for key, value in named.items() if value}


def other_file(file: SourceFile, digest: str) -> str:
    """Sentence on a file with another digest than the manifest's; on one that is too long where the digest is empty."""
    if not digest:
        return f"{file.name} is not the file of the catalogue: it is longer than {file.bytes:,} bytes. Nothing was imported."
    return f"{file.name} is not the file of the catalogue: its SHA-256 is {digest}, {file.sha256} is needed. Nothing was imported."


@cache
def published_names() -> dict[str, dict[str, str]]:
    """The names of published metrics: title, what each must be, and the key of ours that it resembles."""
    names: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("published_names.toml").read_text())
    return names


T = TypeVar("T", Words, Asked, SetSource)
Where = tuple[tuple[str, tuple[str, ...]], ...]  # any of these texts, by column


# --- values of keys --------------------------------------------------------------------------------


def _refuse_personal(reader: Reader, key: str, columns: Iterable[str]) -> None:
    for column in columns:
        if is_personal(column):
            reader.fault(key, f"Column {column} is personal data. It is not read.")


def _column(reader: Reader, key: str) -> str:
    """The name of a column below an optional key; personal data is refused."""
    column: str = reader.text(key, "", most=300) or ""
    _refuse_personal(reader, key, (column,))
    return column


def _rule(reader: Reader, key: str) -> TextRule | None:
    rule = read_rule(reader, key, required=False)
    if rule is not None and key != "rater":
        _refuse_personal(reader, key, rule.columns)
    return rule


def _item(reader: Reader, key: str) -> TextRule:
    if key not in reader.nodes:
        reader.fault(key, "expected a value; the key is missing")
    return _rule(reader, key) or TextRule(column=key)


def _web(reader: Reader, key: str) -> str:
    address: str = reader.text(key, "", most=1000) or ""
    _check_web(reader, key, address)
    return address


def _check_web(reader: Reader, key: str, address: str) -> None:
    if address and not re.fullmatch(r"https?://[^\s<>\"']{3,500}", address):
        reader.fault(key, f"expected a web address, found “{address[:80]}”")


def _texts_of(usual: T, most: int = 40) -> Read:
    """Reader of an optional mapping of texts, of which each that is left out is the usual one."""

    def read(reader: Reader, key: str) -> T:
        inner = reader.reader(key)
        return usual if inner is None else _filled(inner, usual, most)

    return read


def _filled(inner: Reader, usual: T, most: int) -> T:
    found = {name: inner.text(name, text, most=most) or text for name, text in vars(usual).items()}
    inner.close()
    return replace(usual, **found)


def _source(reader: Reader, key: str) -> SetSource:
    """Place and version. A branch is no version: a commit has forty digits, a release a date."""
    inner = reader.reader(key)
    found = SetSource() if inner is None else _filled(inner, SetSource(), most=500)
    if not found.version:
        reader.fault(key, NO_VERSION)
    if inner is None:
        return found
    _check_web(inner, "repository", found.repository)
    if found.commit and not _COMMIT.fullmatch(found.commit):
        inner.fault("commit", f"expected the 40 digits of a commit, found “{found.commit[:60]}”. {NO_VERSION}")
    if found.doi and not _DOI.fullmatch(found.doi):
        inner.fault("doi", "expected a DOI such as 10.5281/zenodo.1234567")
    if found.release and not _RELEASE.fullmatch(found.release):
        inner.fault("release", f"expected a release with its date, such as “v1.2 of 2026-02-04”. {NO_VERSION}")
    return found


def _licence(reader: Reader, key: str) -> Licence:
    inner = reader.reader(key)
    if inner is None:
        reader.fault(key, NO_LICENCE)
        return Licence("none")
    stated = inner.text("stated", None, most=100)
    if not stated:
        inner.fault("stated", NO_LICENCE)
    file, note = inner.text("file", None), inner.text("note", "", most=500)
    inner.close()
    return Licence(stated or "none", file or "", note or "")


def _format(reader: Reader, key: str) -> str:
    """Format of a file, by its name unless it is given; empty for a text that only people read."""
    path = getattr(reader.nodes.get("path"), "value", "")
    usual = FORMATS.get(PurePosixPath(str(path)).suffix.lower(), "text")
    form: str = reader.choice(key, [*FORMATS.values(), "text"], usual)
    return "" if form == "text" else form


def _level(reader: Reader, key: str) -> float:
    level: float = reader.number(key, 95.0, "a level in percent, such as 95", LEAST_ABOVE_0) or 95.0
    if not 50 <= level < 100:
        reader.fault(key, f"expected a level from 50 to below 100 percent, found {level:g}")
    return level


def _scale(reader: Reader, key: str) -> tuple[float, float] | str:
    """Two ends, or a word."""
    node = reader.node(key)
    if isinstance(node, yaml.SequenceNode):
        try:
            low, high = (float(end.value) for end in node.value)
        except (ValueError, TypeError, AttributeError):
            reader.fault(key, "expected two numbers such as [1, 5], or a word such as JOD")
            return ""
        if not -1e9 < low < high < 1e9:
            reader.fault(key, f"expected the lower end first, found [{low:g}, {high:g}]")
        return low, high
    if isinstance(node, yaml.ScalarNode) and re.fullmatch(r"[A-Za-z][\w -]{0,40}", node.value):
        return str(node.value)
    if node is not None:
        reader.fault(key, f"expected two numbers such as [1, 5], or a word such as JOD; found {described(node)}")
    return ""


def _where(reader: Reader, key: str) -> Where:
    """Texts by column; a list means any of them."""
    inner = reader.reader(key)
    if inner is None:
        return ()
    found = []
    for column in list(inner.nodes):
        _refuse_personal(reader, key, (column,))
        if isinstance(inner.nodes[column], yaml.SequenceNode):
            any_of = texts(inner, column)
            if not any_of:
                inner.fault(column, "expected at least one text")
        else:
            any_of = (inner.text(column) or "",)
        found.append((column, any_of))
    inner.close()
    return tuple(found)


def _rules(reader: Reader, key: str) -> tuple[tuple[str, TextRule], ...]:
    """Rules by column."""
    inner = reader.reader(key)
    if inner is None:
        return ()
    found = tuple((column, rule) for column in list(inner.nodes) if (rule := read_rule(inner, column)) is not None)
    inner.close()
    return found


def _correlation(reader: Reader, key: str) -> float:
    said = reader.scalar(key, "a number from −1 to 1") or "0"
    try:
        value = float(said)
    except ValueError:
        value = 2.0
    if not -1 <= value <= 1:
        reader.fault(key, f"expected a number from −1 to 1, found “{said[:40]}”")
        return 0.0
    return value


def _label(reader: Reader, key: str) -> Label:
    return Label(reader.choice(key, LABELS) or Label.ENTRY)


def _metric(reader: Reader, key: str) -> TextRule:
    return read_rule(reader, key) or TextRule(column=key)


def _digests(reader: Reader, key: str) -> tuple[Digest, ...]:
    return tuple(
        Digest(one.text("path", most=500) or "", one.text("sha256", most=64) or "", one.integer("bytes", high=1 << 40) or 0)
        for one in reader.readers(key)
    )


# --- mappings --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceFile:
    """One published file, pinned by its digest. `url` is its own address, or empty if unknown. `format` is csv, tsv, xlsx or tex, or
    empty for a text that only people read. A table in TeX has no `heads` that could be read."""

    id: Annotated[str, text(60)]
    path: Annotated[str, text(500)]
    sha256: Annotated[str, text()]
    bytes: Annotated[int, whole(high=1 << 40)]
    url: Annotated[str, _web]
    format: Annotated[str, _format]
    sheet: Annotated[str, text(100, "")] = ""
    heads: Annotated[tuple[str, ...], texts] = ()

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    def check(self, reader: Reader) -> None:
        if (self.format == "tex") != bool(self.heads):
            reader.fault("heads", "expected heads for a table in TeX, and for no other")
        if self.sha256 and not _SHA256.fullmatch(self.sha256):
            reader.fault("sha256", "expected the 64 digits of the file's SHA-256")
        parts = PurePosixPath(self.path).parts
        if self.path and (self.path.startswith("/") or ".." in parts or "\\" in self.path or not parts):
            reader.fault("path", f"expected a path inside the source, found “{self.path[:80]}”")


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """Columns of one file with people's answers: single scores, means or pairs. The last four are the same in all blocks."""

    file: Annotated[str, text()]
    item: Annotated[TextRule, _item]
    group: Annotated[TextRule | None, _rule]
    entry: Annotated[TextRule | None, _rule]
    family: Annotated[TextRule | None, _rule]
    criterion: Annotated[TextRule | None, _rule]
    session: Annotated[TextRule | None, _rule]
    key: Annotated[TextRule | None, _rule]
    score: Annotated[str, _column]
    rater: Annotated[TextRule | None, _rule]
    mean: Annotated[str, _column]
    sd: Annotated[str, _column]
    n: Annotated[str, _column]
    se: Annotated[str, _column]
    low: Annotated[str, _column]
    high: Annotated[str, _column]
    half_width: Annotated[str, _column]
    level: Annotated[float, _level]
    left: Annotated[TextRule | None, _rule]
    right: Annotated[TextRule | None, _rule]
    choice: Annotated[TextRule | None, _rule]
    raters: Annotated[str, one_of([str(word) for word in RatersAre], "none")]
    because: Annotated[str, text(500, "")]
    scale: Annotated[tuple[float, float] | str, _scale]
    better: Annotated[str, one_of(DIRECTIONS)]

    @property
    def is_wide(self) -> bool:
        """True where every column that matches is one rater's."""
        return "*" in self.score

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read, but those that a pattern names, and `criterion`, which may be a plain name."""
        rules = (self.item, self.group, self.entry, self.family, self.session, self.key, self.rater, self.left, self.right, self.choice)
        found = [column for rule in rules if rule for column in rule.columns]
        numbers = (self.mean, self.sd, self.n, self.se, self.low, self.high, self.half_width, "" if self.is_wide else self.score)
        return (*found, *filter(None, numbers))

    def check(self, reader: Reader) -> None:
        """Faults of a block: each row of the table says whether something is wrong, at which key, and what was expected. The table has a
        branch for each rule."""
        sides = [self.left, self.right, self.choice]
        given = {"score": bool(self.score), "mean": bool(self.mean), "left, right and choice": any(sides)}
        kinds = [name for name, is_given in given.items() if is_given]
        errors = [name for name in ("sd", "n", "se", "low", "high", "half_width") if getattr(self, name)]
        is_single = bool(self.score) and not self.is_wide
        persons, nobody, anonymous = (self.raters == one for one in (RatersAre.PERSONS, RatersAre.NONE, RatersAre.ANONYMOUS))
        for is_wrong, key, reason in (
            (len(kinds) != 1, "", f"expected score, mean, or left, right and choice; found {' and '.join(kinds) or 'none of them'}"),
            (any(sides) and not all(sides), "", "expected left, right and choice together"),
            (not any(sides) and "entry" not in reader.nodes, "entry", "expected a value; the key is missing"),
            (any(sides) and (self.entry or self.family), "", "expected neither entry nor family; left and right name the entries"),
            (errors and not self.mean, (errors or [""])[0], "expected mean beside it"),
            (bool(self.low) != bool(self.high), "low" if self.low else "high", "expected low and high together"),
            (
                persons and not self.because,
                "raters",
                "expected `because` beside it, with the place where the publication says that they are persons",
            ),
            (self.mean and not nobody, "raters", "expected none; means have no raters"),
            (
                not self.mean and nobody and kinds,
                "raters",
                "expected columns, persons or anonymous; single answers have somebody who gave them",
            ),
            (self.is_wide and self.rater, "rater", "expected no rater; every column that matches score is one"),
            (is_single and self.rater is None and not anonymous, "score", "expected rater beside it, or a pattern such as “Subject_*”"),
        ):
            if is_wrong:
                reader.fault_of(key, reason)


@dataclass(frozen=True)
class MetricColumn:
    """A metric's column: its published name and direction; `missing` is what the file writes for no value, and `title` what the
    publication calls the metric, where the column is called otherwise."""

    column: str
    name: Annotated[str, text(60)]
    better: Annotated[str, one_of(DIRECTIONS, None)]
    reference_point: Annotated[bool, flag]
    missing: Annotated[str, text(40, "")]
    title: Annotated[str, text(300, "")]

    @property
    def higher_is_better(self) -> bool:
        return self.better != "lower"

    def check(self, reader: Reader) -> None:
        if self.name and self.name not in published_names():
            reader.fault("name", f"expected a name of published_names.toml, found “{self.name}”")
        if "better" not in reader.nodes:
            reader.fault_of("", f"{self.column}: say whether higher or lower is better.")


def _metric_columns(reader: Reader, key: str) -> tuple[MetricColumn, ...]:
    inner, found = reader.reader(key), []
    for column in list(inner.nodes) if inner is not None else ():
        about = inner.reader(column) if inner is not None else None
        _refuse_personal(reader, key, (column,))
        if about is not None:
            found.append(made(MetricColumn, about, column=column))
    if not found:
        reader.fault(key, "expected at least one column")
    return tuple(found)


@dataclass(frozen=True)
class MetricValues:
    """Columns of one file with metrics' values. Rows are joined with the answers' rows by `key`, or by item and entry."""

    file: Annotated[str, text()]
    columns: Annotated[tuple[MetricColumn, ...], _metric_columns]
    key: Annotated[TextRule | None, _rule]
    item: Annotated[TextRule | None, _rule]
    entry: Annotated[TextRule | None, _rule]

    def check(self, reader: Reader) -> None:
        if bool(self.item) != bool(self.entry):
            reader.fault_of("", "expected item and entry together")


@dataclass(frozen=True)
class EntryLabel:
    """A label of these entries, or of all whose row has one of these texts in each of these columns."""

    where: Annotated[Where, _where]
    entries: Annotated[tuple[str, ...], texts]
    label: Annotated[Label, _label]

    def check(self, reader: Reader) -> None:
        if bool(self.where) == bool(self.entries):
            reader.fault("where", "expected either where, with at least one column and its text, or entries")


@dataclass(frozen=True)
class Printed:
    """A number that the publication prints. `metric` and `against` are columns of the file with the metric's values; `where` chooses its
    rows (a column's text, or a list of texts). `procedure` names a function beside the catalogue where it is no plain correlation."""

    statistic: Annotated[str, one_of(STATISTICS)]
    metric: Annotated[str, text()]
    against: Annotated[str, _column]
    where: Annotated[Where, _where]
    value: Annotated[float, _correlation]
    digits: Annotated[int, whole(4, 1, 15)]
    procedure: Annotated[str, text(60, "")] = ""

    def check(self, reader: Reader) -> None:
        if not self.against:
            reader.fault("against", "expected the column that the metric is correlated with")


@dataclass(frozen=True)
class PrintedCell:
    """A column of a printed table: its statistic, and the rows that it is of."""

    column: Annotated[str, text()]
    statistic: Annotated[str, one_of(STATISTICS)]
    where: Annotated[Where, _where]


@dataclass(frozen=True)
class PrintedTable:
    """A published table of correlations. `metric` makes the metric's column of a printed row, or nothing where the row is not checked;
    `where` makes texts of the data's columns, several of them with | between, and nothing for all."""

    file: Annotated[str, text()]
    metric: Annotated[TextRule, _metric]
    against: Annotated[str, _column]
    digits: Annotated[int, whole(4, 1, 15)]
    cells: Annotated[tuple[PrintedCell, ...], each(PrintedCell)]
    where: Annotated[tuple[tuple[str, TextRule], ...], _rules]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """One published set. `groups` are by item and `families` by entry, where no column says them. `made_of` are the published files where
    `files` were made of them, and `left_out` sentences on what was left out of them."""

    name: Annotated[str, text()]
    title: Annotated[str, text(200)]
    short: Annotated[str, text(30, "")]
    authors: Annotated[str, text(500)]
    paper: Annotated[str, _web]
    doi: Annotated[str, text(500, "")]
    published: Annotated[str, text(500, "")]
    source: Annotated[SetSource, _source]
    licence: Annotated[Licence, _licence]
    material: Annotated[str, one_of(MATERIALS)]
    stimuli: Annotated[str, one_of(("elsewhere", "here"), "elsewhere")]
    words: Annotated[Words, _texts_of(Words())]
    asked: Annotated[Asked, _texts_of(Asked(), most=300)]
    not_available: Annotated[tuple[str, ...], texts]
    overlaps: Annotated[tuple[str, ...], texts]
    files: Annotated[tuple[SourceFile, ...], each(SourceFile)]
    judgements: Annotated[tuple[Judgements, ...], each(Judgements)]
    metrics: Annotated[tuple[MetricValues, ...], each(MetricValues)]
    labels: Annotated[tuple[EntryLabel, ...], each(EntryLabel)]
    groups: Annotated[Mapping[str, str], read_table]
    families: Annotated[Mapping[str, str], read_table]
    compare: Annotated[tuple[str, ...], texts]
    printed: Annotated[tuple[Printed, ...], each(Printed)]
    printed_tables: Annotated[tuple[PrintedTable, ...], each(PrintedTable)]
    made_of: Annotated[tuple[Digest, ...], _digests]
    left_out: Annotated[tuple[str, ...], texts]

    @property
    def raters_are(self) -> RatersAre:
        return RatersAre(self.judgements[0].raters)

    @property
    def because(self) -> str:
        return self.judgements[0].because

    @property
    def scale(self) -> tuple[float, float] | None:
        """The two ends; None for a scale that has a name alone."""
        scale = self.judgements[0].scale
        return None if isinstance(scale, str) else scale

    @property
    def scale_name(self) -> str:
        scale = self.judgements[0].scale
        return scale if isinstance(scale, str) else ""

    @property
    def better_is_higher(self) -> bool:
        return self.judgements[0].better != "lower"

    @property
    def label_of(self) -> dict[str, Label]:
        """Labels of entries that are named."""
        return {entry: one.label for one in self.labels for entry in one.entries}

    def check(self, reader: Reader) -> None:
        for is_wrong, key, reason in self._faults():
            if is_wrong:
                reader.fault_of(key, reason)

    def _faults(self) -> Iterator[tuple[bool, str, str]]:
        """Faults of several mappings together: whether there is one, at which key, and its sentence. There is a branch for each rule."""
        yield bool(self.name) and not NAME.fullmatch(self.name), "name", "expected small letters, digits and hyphens"
        yield bool(self.doi) and not _DOI.fullmatch(self.doi), "doi", "expected a DOI such as 10.1109/ICIP.2021.9506457"
        yield not self.files, "files", "expected at least one file"
        yield not self.judgements, "judgements", "expected at least one block of answers"
        text = self.licence.file
        is_absent = bool(text) and text not in [one.path for one in self.files]
        yield is_absent, "licence.file", f"expected the path of a file in `files`, found “{text}”"
        ids, names = [one.id for one in self.files], [one.name for one in self.files]
        for n, file in enumerate(self.files):
            yield file.name in names[:n], f"files[{n}].path", f"expected names that differ; another file is called {file.name}, too"
            yield file.id in ids[:n], f"files[{n}].id", f"expected ids that differ; “{file.id}” is given twice"
        of_files = [(f"judgements[{n}]", one.file) for n, one in enumerate(self.judgements)]
        of_files += [(f"metrics[{n}]", one.file) for n, one in enumerate(self.metrics)]
        of_files += [(f"printed_tables[{n}]", one.file) for n, one in enumerate(self.printed_tables)]
        for key, of in of_files:
            yield bool(of) and of not in ids, f"{key}.file", f"expected the id of a file, found “{of[:60]}”"
        for n, block in enumerate(self.judgements):
            own, first = ((one.raters, one.because, one.scale, one.better) for one in (block, self.judgements[0]))
            yield own != first, f"judgements[{n}]", "expected the same raters, scale and direction in all blocks"
        known: list[str] = []
        for n, values in enumerate(self.metrics):
            for column in (one.column for one in values.columns):
                yield column in known, f"metrics[{n}].columns.{column}", "expected each metric in one file; this column is in two"
                known.append(column)
        named = [(f"compare[{n}]", column) for n, column in enumerate(self.compare)]
        named += [(f"printed[{n}].metric", one.metric) for n, one in enumerate(self.printed)]
        for key, column in named:
            yield bool(column) and column not in known, key, f"expected a column of `metrics`, found “{column}”"

    @property
    def published_files(self) -> tuple[Digest, ...]:
        """Path, digest and size of each file as it was published."""
        return self.made_of or tuple(Digest(file.path, file.sha256, file.bytes) for file in self.files)

    def file(self, file_id: str) -> SourceFile:
        return next(file for file in self.files if file.id == file_id)

    @property
    def tables(self) -> frozenset[str]:
        """The ids of the files that are read as tables."""
        answers, values, printed = ({one.file for one in some} for some in (self.judgements, self.metrics, self.printed_tables))
        return frozenset(answers | values | printed)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def mended(self) -> tuple[tuple[str, str], ...]:
        """Spellings that are mended, which the set's page lists."""
        rules = [rule for one in self.judgements for rule in (one.item, one.group, one.entry, one.family, one.key, one.left, one.right)]
        rules += [rule for values in self.metrics for rule in (values.item, values.entry, values.key)]
        return tuple(dict.fromkeys(pair for rule in rules if rule for pair in rule.rename.items()))


def parse(data: bytes, file: str = FILE_NAME) -> Manifest:
    """The manifest in a document called `file`. Raises `DocumentError` with every fault, each with its line."""
    problems = Problems(file)
    reader = Reader(compose(data, problems), "", problems)
    version = reader.integer("evidence", low=1)
    if version is not None and version != VERSION:
        reader.fault("evidence", f"expected {VERSION}, found {version}")
    found = made(Manifest, reader)
    problems.raise_if_any()
    github = _GITHUB.fullmatch(found.source.repository)
    if github is None or not found.source.commit:
        return found
    address = f"https://raw.githubusercontent.com/{github[1]}/{github[2]}/{found.source.commit}"
    return replace(found, files=tuple(replace(one, url=one.url or f"{address}/{one.path}") for one in found.files))
