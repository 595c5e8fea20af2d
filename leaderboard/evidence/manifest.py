"""`evidence.yaml`: where one publication's answers lie, what their columns mean, and under which licence. PURE.

The reader is strict: every key is known, every fault is reported with its line. A manifest holds addresses, digests and descriptions, and
no answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import yaml

from leaderboard.bundle.document import Problems, Reader, compose, described
from leaderboard.evidence.tables import Label, RatersAre
from leaderboard.evidence.text_rules import TextRule, read_rule, read_table
from leaderboard.stats.evidence.record import Asked, Licence, SetSource, Words
from leaderboard.stats.evidence.record import SourceFile as Digest
from leaderboard.stats.evidence.reproduction import Statistic

VERSION = 1
FILE_NAME = "evidence.yaml"
MATERIALS = ("splat videos", "nerf videos", "point clouds", "meshes", "generated meshes", "wireframes", "pictures")
FORMATS = {".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".tex": "tex"}
LABELS = [str(label) for label in Label if label]
STATISTICS = [str(statistic) for statistic in Statistic]
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


@dataclass(frozen=True)
class SourceFile:
    """One published file, pinned by its digest. `url` is its own address, empty where nothing is known."""

    id: str
    path: str
    sha256: str
    bytes: int
    url: str
    format: str  # csv, tsv, xlsx or tex; empty for a text that only people read
    sheet: str = ""
    heads: tuple[str, ...] = ()  # of a table in TeX, which has none that could be read

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Judgements:
    """Columns of one file with people's answers: single scores, means or pairs."""

    file: str
    item: TextRule
    group: TextRule | None
    entry: TextRule | None
    family: TextRule | None
    criterion: TextRule | None
    session: TextRule | None
    key: TextRule | None
    score: str = ""
    rater: TextRule | None = None
    mean: str = ""
    sd: str = ""
    n: str = ""
    se: str = ""
    low: str = ""
    high: str = ""
    half_width: str = ""
    level: float = 95.0
    left: TextRule | None = None
    right: TextRule | None = None
    choice: TextRule | None = None

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


@dataclass(frozen=True)
class MetricColumn:
    """A metric's column: its published name and direction; `missing` is what the file writes for no value, and `title` what the
    publication calls the metric, where the column is called otherwise."""

    column: str
    name: str
    higher_is_better: bool
    reference_point: bool = False
    missing: str = ""
    title: str = ""


@dataclass(frozen=True)
class MetricValues:
    """Columns of one file with metrics' values. Rows are joined with those of the answers by `key`, or by item and entry."""

    file: str
    columns: tuple[MetricColumn, ...]
    key: TextRule | None = None
    item: TextRule | None = None
    entry: TextRule | None = None


T = TypeVar("T", Words, Asked)
Where = tuple[tuple[str, tuple[str, ...]], ...]  # any of these texts, by column


@dataclass(frozen=True)
class EntryLabel:
    """A label of all entries whose row has one of these texts in each of these columns."""

    where: Where
    label: Label


@dataclass(frozen=True)
class Printed:
    """A number that the publication prints. `metric` and `against` are columns of the file with the metric's values; `where` chooses its
    rows (a column's text, or a list of texts). `procedure` names a function beside the catalogue where it is no plain correlation."""

    statistic: str
    metric: str
    against: str
    where: Where
    value: float
    digits: int
    procedure: str = ""


@dataclass(frozen=True)
class PrintedCell:
    """A column of a printed table: its statistic, and the rows that it is of."""

    column: str
    statistic: str
    where: Where


@dataclass(frozen=True)
class PrintedTable:
    """A published table of correlations. `metric` makes the metric's column of a printed row, or nothing where the row is not checked;
    `where` makes texts of the data's columns, several of them with | between, and nothing for all."""

    file: str
    metric: TextRule
    against: str
    digits: int
    cells: tuple[PrintedCell, ...]
    where: tuple[tuple[str, TextRule], ...]


@dataclass(frozen=True)
class Manifest:
    """One published set."""

    name: str
    title: str
    short: str
    authors: str
    paper: str
    doi: str
    published: str
    source: SetSource
    licence: Licence
    material: str
    stimuli: str
    words: Words
    asked: Asked
    not_available: tuple[str, ...]
    overlaps: tuple[str, ...]
    files: tuple[SourceFile, ...]
    judgements: tuple[Judgements, ...]
    raters_are: RatersAre
    because: str
    scale: tuple[float, float] | None
    scale_name: str
    better_is_higher: bool
    metrics: tuple[MetricValues, ...]
    labels: tuple[EntryLabel, ...]
    compare: tuple[str, ...]
    printed: tuple[Printed, ...]
    printed_tables: tuple[PrintedTable, ...]
    groups: Mapping[str, str] = field(default_factory=dict)  # by item, where no column says it
    families: Mapping[str, str] = field(default_factory=dict)  # by entry
    label_of: Mapping[str, Label] = field(default_factory=dict)  # by entry
    made_of: tuple[Digest, ...] = ()  # the published files, where `files` were made of them
    left_out: tuple[str, ...] = ()  # and sentences on what was left out of them

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


def other_file(file: SourceFile, digest: str = "") -> str:
    """Sentence on a file with another digest than the manifest's, or one that is too long."""
    if not digest:
        return f"{file.name} is not the file of the catalogue: it is longer than {file.bytes:,} bytes. Nothing was imported."
    return f"{file.name} is not the file of the catalogue: its SHA-256 is {digest}, {file.sha256} is needed. Nothing was imported."


@cache
def published_names() -> dict[str, dict[str, str]]:
    """The names of published metrics: title, what each must be, and the key of ours that it resembles."""
    names: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("published_names.toml").read_text())
    return names


def parse(data: bytes, file: str = FILE_NAME) -> Manifest:
    """The manifest in a document called `file`. Raises `BundleError` with every fault, each with its line."""
    problems = Problems(file)
    reader = Reader(compose(data, problems), "", problems)
    version = reader.integer("evidence", low=1)
    if version is not None and version != VERSION:
        reader.fault("evidence", f"expected {VERSION}, found {version}")
    name = reader.text("name") or ""
    if name and not NAME.fullmatch(name):
        reader.fault("name", "expected small letters, digits and hyphens")
    title, authors = reader.text("title", most=200) or "", reader.text("authors", most=500) or ""
    short = reader.text("short", "", most=30) or ""
    paper, doi, published = (reader.text(key, "", most=500) or "" for key in ("paper", "doi", "published"))
    if doi and not _DOI.fullmatch(doi):
        reader.fault("doi", "expected a DOI such as 10.1109/ICIP.2021.9506457")
    _web(reader, "paper", paper)
    source = _source(reader)
    licence = _licence(reader)
    material = reader.choice("material", list(MATERIALS))
    stimuli = reader.choice("stimuli", ["elsewhere", "here"], "elsewhere")
    overlaps = tuple(text for _, text in reader.texts("overlaps"))
    files = _files(reader, source)
    if licence.file and licence.file not in [one.path for one in files]:
        problems.add("licence.file", f"expected the path of a file in `files`, found “{licence.file}”")
    judgements, said = _judgements(reader, {one.id for one in files})
    metrics = _metrics(reader, {one.id for one in files})
    labels, label_of = _labels(reader)
    groups, families = (read_table(reader, key) for key in ("groups", "families"))
    known = {column.column for one in metrics for column in one.columns}
    compare = []
    for path, text in reader.texts("compare"):
        compare.append(text)
        if text not in known:
            problems.add(path, f"expected a column of `metrics`, found “{text}”")
    printed = tuple(_printed(one, known) for one in reader.readers("printed"))
    tables = _printed_tables(reader, known, {one.id for one in files})
    words = _texts(reader, "words", Words())
    asked = _texts(reader, "asked", Asked(), most=300)
    not_available = tuple(text for _, text in reader.texts("not_available"))
    made_of = tuple(
        Digest(one.text("path", most=500) or "", one.text("sha256", most=64) or "", one.integer("bytes", high=1 << 40) or 0)
        for one in reader.readers("made_of")
    )
    left_out = tuple(text for _, text in reader.texts("left_out"))
    reader.close()
    problems.raise_if_any()
    return Manifest(
        name=name,
        title=title,
        short=short,
        authors=authors,
        paper=paper,
        doi=doi,
        published=published,
        source=source,
        licence=licence,
        material=material,
        stimuli=stimuli,
        words=words,
        asked=asked,
        not_available=not_available,
        overlaps=overlaps,
        files=files,
        judgements=judgements,
        raters_are=said.raters,
        because=said.because,
        scale=said.scale,
        scale_name=said.scale_name,
        better_is_higher=said.better_is_higher,
        metrics=metrics,
        labels=labels,
        label_of=label_of,
        groups=groups,
        families=families,
        compare=tuple(compare),
        printed=printed,
        printed_tables=tables,
        made_of=made_of,
        left_out=left_out,
    )


def _texts(reader: Reader, key: str, usual: T, most: int = 40) -> T:
    """The texts of an optional mapping, of which each that is left out is the usual one."""
    inner = reader.reader(key)
    if inner is None:
        return usual
    found = {name: inner.text(name, text, most=most) or text for name, text in vars(usual).items()}
    inner.close()
    return replace(usual, **found)


def _web(reader: Reader, key: str, address: str) -> None:
    if address and not re.fullmatch(r"https?://[^\s<>\"']{3,500}", address):
        reader.fault(key, f"expected a web address, found “{address[:80]}”")


def _source(reader: Reader) -> SetSource:
    """The key `source`. A branch is no version: a commit has forty digits, a release a date."""
    inner = reader.reader("source")
    if inner is None:
        reader.fault("source", NO_VERSION)
        return SetSource()
    found = {key: inner.text(key, "", most=500) or "" for key in ("repository", "commit", "doi", "release")}
    inner.close()
    _web(inner, "repository", found["repository"])
    if found["commit"] and not _COMMIT.fullmatch(found["commit"]):
        inner.fault("commit", f"expected the 40 digits of a commit, found “{found['commit'][:60]}”. {NO_VERSION}")
    if found["doi"] and not _DOI.fullmatch(found["doi"]):
        inner.fault("doi", "expected a DOI such as 10.5281/zenodo.1234567")
    if found["release"] and not _RELEASE.fullmatch(found["release"]):
        inner.fault("release", f"expected a release with its date, such as “v1.2 of 2026-02-04”. {NO_VERSION}")
    if not (found["commit"] or found["doi"] or found["release"]):
        reader.fault("source", NO_VERSION)
    return SetSource(**found)


def _licence(reader: Reader) -> Licence:
    inner = reader.reader("licence")
    if inner is None:
        if "licence" not in reader.nodes or isinstance(reader.nodes["licence"], yaml.ScalarNode):
            reader.fault("licence", NO_LICENCE)
        return Licence("none")
    stated = inner.text("stated", None, most=100)
    if not stated:
        inner.fault("stated", NO_LICENCE)
    file, note = inner.text("file", None), inner.text("note", "", most=500)
    inner.close()
    return Licence(stated or "none", file or "", note or "")


def _files(reader: Reader, source: SetSource) -> tuple[SourceFile, ...]:
    found: dict[str, SourceFile] = {}
    names: dict[str, str] = {}
    for one in reader.readers("files"):
        file_id, path = one.text("id", most=60) or "", one.text("path", most=500) or ""
        sha256, size = one.text("sha256") or "", one.integer("bytes", low=0, high=1 << 40) or 0
        url, sheet = one.text("url", "", most=1000) or "", one.text("sheet", "", most=100) or ""
        usual = FORMATS.get(PurePosixPath(path).suffix.lower(), "text")
        form = one.choice("format", [*FORMATS.values(), "text"], usual)
        heads = tuple(text for _, text in one.texts("heads"))
        one.close()
        if (form == "tex") != bool(heads):
            one.fault("heads", "expected heads for a table in TeX, and for no other")
        _web(one, "url", url)
        if sha256 and not _SHA256.fullmatch(sha256):
            one.fault("sha256", "expected the 64 digits of the file's SHA-256")
        parts = PurePosixPath(path).parts
        if path and (path.startswith("/") or ".." in parts or "\\" in path or not parts):
            one.fault("path", f"expected a path inside the source, found “{path[:80]}”")
        elif path and names.setdefault(PurePosixPath(path).name, path) != path:
            one.fault("path", f"expected names that differ; {names[PurePosixPath(path).name]} is called so, too")
        if file_id in found:
            one.fault("id", f"expected ids that differ; “{file_id}” stands twice")
        github = _GITHUB.fullmatch(source.repository)
        if not url and github and source.commit:
            url = f"https://raw.githubusercontent.com/{github[1]}/{github[2]}/{source.commit}/{path}"
        found[file_id] = SourceFile(file_id, path, sha256, size, url, "" if form == "text" else form, sheet, heads)
    if not found:
        reader.fault("files", "expected at least one file")
    return tuple(found.values())


@dataclass
class _Said:
    """Facts that all blocks of answers say alike."""

    raters: RatersAre = RatersAre.NONE
    because: str = ""
    scale: tuple[float, float] | None = None
    scale_name: str = ""
    better_is_higher: bool = True


def _column(reader: Reader, key: str) -> str:
    """The name of a column below an optional key; personal data is refused."""
    column: str = reader.text(key, "", most=300) or ""
    _refuse_personal(reader, key, (column,))
    return column


def _refuse_personal(reader: Reader, key: str, columns: Iterable[str]) -> None:
    for column in columns:
        if is_personal(column):
            reader.fault(key, f"Column {column} is personal data. It is not read.")


def _rule(reader: Reader, key: str, required: bool = False) -> TextRule | None:
    rule = read_rule(reader, key, required)
    if rule is not None and key != "rater":
        _refuse_personal(reader, key, rule.columns)
    return rule


def _judgements(reader: Reader, files: set[str]) -> tuple[tuple[Judgements, ...], _Said]:
    said: _Said | None = None
    found = []
    for one in reader.readers("judgements"):
        block, own = _block(one, files)
        found.append(block)
        if said is None:
            said = own
        elif said != own:
            reader.problems.add(one.path, "expected the same raters, scale and direction in all blocks", one.line)
    if not found:
        reader.fault("judgements", "expected at least one block of answers")
    return tuple(found), said or _Said()


def _block(one: Reader, files: set[str]) -> tuple[Judgements, _Said]:
    file = one.text("file") or ""
    if file and file not in files:
        one.fault("file", f"expected the id of a file, found “{file[:60]}”")
    item = _rule(one, "item", required=True) or TextRule(column="item")
    optional = ("group", "entry", "family", "criterion", "session", "key", "rater", "left", "right", "choice")
    rules: dict[str, Any] = {key: _rule(one, key) for key in optional}
    columns: dict[str, Any] = {key: _column(one, key) for key in ("score", "mean", "sd", "n", "se", "low", "high", "half_width")}
    level = one.number("level", 95.0, "a level in percent, such as 95") or 95.0
    if not 50 <= level < 100:
        one.fault("level", f"expected a level from 50 to below 100 percent, found {level:g}")
    raters, because = _raters(one)
    scale, scale_name, higher = _scale(one)
    one.close()
    pairs = any(rules[key] for key in ("left", "right", "choice"))
    kinds = [word for word, is_so in (("score", columns["score"]), ("mean", columns["mean"]), ("left, right and choice", pairs)) if is_so]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none of them"
        one.problems.add(one.path, f"expected score, mean, or left, right and choice; found {given}", one.line)
    if pairs and not all(rules[key] for key in ("left", "right", "choice")):
        one.problems.add(one.path, "expected left, right and choice together", one.line)
    if not pairs and rules["entry"] is None and "entry" not in one.nodes:
        one.fault("entry", "expected a value; the key is missing")
    if pairs and (rules["entry"] or rules["family"]):
        one.problems.add(one.path, "expected neither entry nor family; left and right name the entries", one.line)
    errors = [key for key in ("sd", "n", "se", "low", "high", "half_width") if columns[key]]
    if errors and not columns["mean"]:
        one.fault(errors[0], "expected mean beside it")
    if bool(columns["low"]) != bool(columns["high"]):
        one.fault("low" if columns["low"] else "high", "expected low and high together")
    if columns["mean"] and raters != RatersAre.NONE:
        one.fault("raters", "expected none; means have no raters")
    if not columns["mean"] and raters == RatersAre.NONE and kinds:
        one.fault("raters", "expected columns, persons or anonymous; single answers have somebody who gave them")
    wide = "*" in columns["score"]
    if wide and rules["rater"]:
        one.fault("rater", "expected no rater; every column that matches score is one")
    if columns["score"] and not wide and rules["rater"] is None and raters != RatersAre.ANONYMOUS:
        one.fault("score", "expected rater beside it, or a pattern such as “Subject_*”")
    found = Judgements(file, item, **rules, **columns, level=level)
    return found, _Said(raters, because, scale, scale_name, higher)


def _raters(one: Reader) -> tuple[RatersAre, str]:
    """The key `raters`. Persons are believed only with the place where the publication says so."""
    raters = RatersAre(one.choice("raters", [str(word) for word in RatersAre], "none") or "none")
    because: str = one.text("because", "", most=500) or ""
    if raters == RatersAre.PERSONS and not because:
        one.fault("raters", "expected `because` beside it, with the place where the publication says that they are persons")
    return raters, because


def _scale(one: Reader) -> tuple[tuple[float, float] | None, str, bool]:
    """The keys `scale` (two ends, or a word) and `better`."""
    node = one.node("scale")
    better = one.choice("better", ["higher", "lower"])
    if isinstance(node, yaml.SequenceNode):
        try:
            low, high = (float(end.value) for end in node.value)
        except (ValueError, TypeError, AttributeError):
            one.fault("scale", "expected two numbers such as [1, 5], or a word such as JOD")
            return None, "", better != "lower"
        if not -1e9 < low < high < 1e9:
            one.fault("scale", f"expected the lower end first, found [{low:g}, {high:g}]")
        return (low, high), "", better != "lower"
    if isinstance(node, yaml.ScalarNode) and re.fullmatch(r"[A-Za-z][\w -]{0,40}", node.value):
        return None, node.value, better != "lower"
    if node is not None:
        one.fault("scale", f"expected two numbers such as [1, 5], or a word such as JOD; found {described(node)}")
    return None, "", better != "lower"


def _metrics(reader: Reader, files: set[str]) -> tuple[MetricValues, ...]:
    found, seen = [], set()
    for one in reader.readers("metrics"):
        file = one.text("file") or ""
        if file and file not in files:
            one.fault("file", f"expected the id of a file, found “{file[:60]}”")
        key, item, entry = _rule(one, "key"), _rule(one, "item"), _rule(one, "entry")
        if bool(item) != bool(entry):
            one.problems.add(one.path, "expected item and entry together", one.line)
        inner = one.reader("columns")
        columns = []
        for column in list(inner.nodes) if inner is not None else ():
            about = inner.reader(column) if inner is not None else None
            _refuse_personal(one, "columns", (column,))
            if about is None or inner is None:
                continue
            name = about.text("name", most=60) or ""
            if name and name not in published_names():
                about.fault("name", f"expected a name of published_names.toml, found “{name}”")
            better = about.choice("better", ["higher", "lower"], None) if "better" in about.nodes else None
            if "better" not in about.nodes:
                about.node("better", None)
                reader.problems.add(about.path, f"{column}: say whether higher or lower is better.", about.line)
            point = bool(about.flag("reference_point", False))
            missing, title = about.text("missing", "", most=40) or "", about.text("title", "", most=300) or ""
            about.close()
            if column in seen:
                inner.fault(column, "expected each metric in one file; it stands twice")
            seen.add(column)
            columns.append(MetricColumn(column, name, better != "lower", point, missing, title))
        if inner is not None:
            inner.close()
        if not columns:
            one.fault("columns", "expected at least one column")
        one.close()
        found.append(MetricValues(file, tuple(columns), key, item, entry))
    return tuple(found)


def _labels(reader: Reader) -> tuple[tuple[EntryLabel, ...], dict[str, Label]]:
    """The key `labels`: rules on columns, and labels of entries that are named."""
    found: list[EntryLabel] = []
    named: dict[str, Label] = {}
    for one in reader.readers("labels"):
        where, entries = _where(one), [text for _, text in one.texts("entries")]
        label = one.choice("label", LABELS)
        one.close()
        if bool(where) == bool(entries):
            one.fault("where", "expected either where, with at least one column and its text, or entries")
        if label and where:
            found.append(EntryLabel(where, Label(label)))
        named |= dict.fromkeys(entries, Label(label or Label.ENTRY))
    return tuple(found), named


def _where(one: Reader) -> Where:
    """The key `where`: texts by column; a list means any of them."""
    inner = one.reader("where")
    if inner is None:
        return ()
    found = []
    for column in list(inner.nodes):
        _refuse_personal(one, "where", (column,))
        if isinstance(inner.nodes[column], yaml.SequenceNode):
            texts = tuple(text for _, text in inner.texts(column))
            if not texts:
                inner.fault(column, "expected at least one text")
        else:
            texts = (inner.text(column) or "",)
        found.append((column, texts))
    inner.close()
    return tuple(found)


def _printed(one: Reader, known: set[str]) -> Printed:
    statistic = one.choice("statistic", STATISTICS) or STATISTICS[0]
    metric, against = one.text("metric") or "", _column(one, "against")
    if metric and metric not in known:
        one.fault("metric", f"expected a column of `metrics`, found “{metric}”")
    if not against:
        one.fault("against", "expected the column that the metric is correlated with")
    where = _where(one)
    value = _signed(one, "value")
    digits = one.integer("digits", low=1, high=15) or 4
    procedure = one.text("procedure", "", most=60) or ""
    one.close()
    return Printed(statistic, metric, against, where, value, digits, procedure)


def _signed(one: Reader, key: str) -> float:
    text = one.scalar(key, "a number from −1 to 1") or "0"
    try:
        value = float(text)
    except ValueError:
        value = 2.0
    if not -1 <= value <= 1:
        one.fault(key, f"expected a number from −1 to 1, found “{text[:40]}”")
        return 0.0
    return value


def _printed_tables(reader: Reader, known: set[str], files: set[str]) -> tuple[PrintedTable, ...]:
    """The key `printed_tables`: tables of correlations among the published files."""
    found = []
    for one in reader.readers("printed_tables"):
        file = one.text("file") or ""
        if file and file not in files:
            one.fault("file", f"expected the id of a file, found “{file[:60]}”")
        metric = read_rule(one, "metric") or TextRule(column="metric")
        against, digits = _column(one, "against"), one.integer("digits", low=1, high=15) or 4
        inner = one.reader("where")
        rules = {column: read_rule(inner, column) for column in list(inner.nodes)} if inner is not None else {}
        if inner is not None:
            inner.close()
        cells = []
        for cell in one.readers("cells"):
            statistic = cell.choice("statistic", STATISTICS) or STATISTICS[0]
            cells.append(PrintedCell(cell.text("column") or "", statistic, _where(cell)))
            cell.close()
        one.close()
        where = tuple((column, rule) for column, rule in rules.items() if rule is not None)
        found.append(PrintedTable(file, metric, against, digits, tuple(cells), where))
    return tuple(found)
