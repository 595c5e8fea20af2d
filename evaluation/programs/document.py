"""`metric.yaml`: the declaration of a metric program, as a typed record.

The file is hostile: `submissions.formats.yaml_document` reads it, and each wrong field is refused in a sentence with its line and name.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import math
import platform
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Effort, MetricSpec, Param
from evaluation.metrics.tolerance import Tolerance
from submissions.formats.invisible import has_invisible
from submissions.formats.yaml_document import (
    REQUIRED,
    DocumentError,
    Problems,
    Read,
    Reader,
    compose,
    is_null,
    made,
    one_of,
    texts,
    whole,
)
from submissions.kinds import FAMILIES

FILE = "metric.yaml"
KEY = re.compile(r"[a-z][a-z0-9_]{1,39}")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ENTRY = re.compile(r"(?P<file>[A-Za-z0-9_][A-Za-z0-9_./-]{0,119}\.py):(?P<function>[A-Za-z_][A-Za-z0-9_]{0,63})")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:-]{0,199}@sha256:[0-9a-f]{64}")
LINK = re.compile(r"(https?://[^\s<>\"']{1,300})?")
# Of categories that are seen, and yet drawn as nothing: fillers, selectors of variants, the empty pattern of Braille.
BLANK = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # a spreadsheet takes what begins so for a formula
MAX_PARAMS = 20
MAX_SECONDS, MAX_MEMORY_MB = 600.0, 64_000
FILES = "files"  # the kind of a program that gets items as files
LEVELS = ("item", "group", "set")
RUNS = ("python", "script", "image")
NEEDS = ("reference", "clean_views", "masks", "prompt")
DEVICES = ("cpu", "gpu")
KINDS_OF_PARAM = ("float", "int", "bool", "choice")
RESERVED = ("seed",)  # given to every program
TOLERANCE = 1e-6
# Libraries of the service that a program may import; the names are the distributions'.
OFFERED = (
    "numpy",
    "scipy",
    "trimesh",
    "torch",
    "pillow",
    "pandas",
    "networkx",
    "libigl",
    "manifold3d",
    "fast-simplification",
    "safetensors",
    "rtree",
    "embreex",
    "PyYAML",
    "scikit-image",
    "torchvision",
)


class ProgramError(ValueError):
    """A program that cannot be used; the message is one sentence, or of `metric.yaml` one for each fault."""


def _text(most: int, needed: bool = False) -> Read:
    """Reader of a text in one line, of which a reader of the page sees every character."""

    def read(reader: Reader, key: str) -> str:
        given = reader.text(key, REQUIRED if needed else None)
        found = " ".join((given or "").split())
        if len(found) > most or (needed and given is not None and not found):
            reader.fault(key, f"expected a text of {int(needed)} to {most} characters, found {len(found)}")
        if not is_seen(given or ""):
            reader.fault(key, "expected no invisible characters, and none that change the direction of text")
        return found

    return read


def _title(reader: Reader, key: str) -> str:
    found: str = _text(80, needed=True)(reader, key)
    if found.startswith(FORMULA):
        reader.fault(key, f"expected a title that does not begin with {found[0]}, as formulas of spreadsheets do")
    return found


def _spelled(pattern: re.Pattern[str], expected: str, default: Any = REQUIRED) -> Read:
    """Reader of a text of this pattern; a faulty one is empty."""

    def convert(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError
        return text

    return lambda reader, key: reader.converted(key, expected, default, convert) or ""


def _number(low: float, high: float, default: float) -> Read:
    """Reader of an optional number; a faulty one is the default."""
    return lambda reader, key: reader.number(key, default, f"a number from {low:g} to {high:g}", low, high)


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < 1e300:
        raise ValueError
    return number


def _bounds(reader: Reader, key: str) -> tuple[float | None, float | None]:
    members = [member for _, member in reader.items(key)]
    if not members:
        return None, None
    try:
        low, high = (None if is_null(member) else _finite(str(member.value)) for member in members)
    except ValueError:
        reader.fault(key, "expected two numbers or null, like [0, 1] or [0, null]")
        return None, None
    if low is not None and high is not None and low >= high:
        reader.fault(key, f"expected the smaller number first, found {low:g} and {high:g}")
    return low, high


def _worst(reader: Reader, key: str) -> float | None:
    node = reader.node(key)
    if node is None or is_null(node) or node.value == "none":
        return None
    return reader.converted(key, "a number, or null if a missing item has no value", REQUIRED, _finite)


def _needs(reader: Reader, key: str) -> tuple[str, ...]:
    found = texts(reader, key)
    for name in found:
        if name not in NEEDS:
            reader.fault(key, f'expected a list of {", ".join(NEEDS)}, found "{name}"')
    return tuple(dict.fromkeys(found)) if key in reader.nodes else ("reference",)


def _packages(reader: Reader, key: str) -> tuple[str, ...]:
    found = texts(reader, key)
    for name in found:
        if not PACKAGE.fullmatch(name):
            reader.fault(key, f'expected names of packages without versions, like [numpy, scipy], found "{name}"')
    return found


def _effort(reader: Reader, key: str) -> Work:
    inner = reader.reader(key)
    return Work() if inner is None else made(Work, inner)


def _params(reader: Reader, key: str) -> tuple[Param, ...]:
    params = tuple(_param(one) for one in reader.readers(key))
    if len(params) > MAX_PARAMS:
        reader.fault(key, f"expected at most {MAX_PARAMS} parameters, found {len(params)}")
    names = [param.name for param in params]
    for name in sorted({name for name in names if names.count(name) > 1}):
        reader.fault(key, f'expected each name once, found "{name}" twice')
    return params


def _param(reader: Reader) -> Param:
    name = _spelled(NAME, "a name of small letters, digits and _")(reader, "name")
    if name in RESERVED:
        reader.fault("name", f"expected another name than {' or '.join(RESERVED)}")
    kind = one_of(KINDS_OF_PARAM)(reader, "kind")
    low, high = (_end(reader, end, kind) for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        reader.fault("low", f"expected at most high, which is {high:g}")
    choices = texts(reader, "choices")
    if (kind == "choice") != bool(choices):
        reader.fault("choices", "expected texts for a parameter of kind choice, and for no other")
    if not all(0 < len(one) <= 80 and is_seen(one) for one in choices):
        reader.fault("choices", "expected texts of 1 to 80 characters, and none that are invisible or change the direction of text")
    param = Param(
        name, _default(reader, kind, low, high, choices), kind, low, high, choices, _text(20)(reader, "unit"), _text(300)(reader, "doc")
    )
    reader.close()
    return param


def _end(reader: Reader, key: str, kind: str) -> float | None:
    """The end of a parameter's range, a whole number where it is one."""
    found = reader.converted(key, "a number", None, _finite)
    if found is not None and kind not in ("int", "float"):
        reader.fault(key, "expected for parameters of kind int and float only")
    return int(found) if found is not None and found.is_integer() else found


def _default(reader: Reader, kind: str, low: float | None, high: float | None, choices: tuple[str, ...]) -> Any:
    if kind == "choice":
        return reader.choice("default", list(choices)) if choices else reader.text("default")
    if kind == "bool":
        return reader.flag("default")

    def convert(text: str) -> float:
        number = int(text) if kind == "int" else _finite(text)
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError
        return number

    return reader.converted("default", f"a value of kind {kind}, between low and high if they are given", REQUIRED, convert)


@dataclass(frozen=True)
class Work:
    """The declared effort of one item: seconds of one core, and megabytes of memory."""

    seconds: Annotated[float, _number(0.01, MAX_SECONDS, 1.0)] = 1.0
    memory_mb: Annotated[int, whole(500, 10, MAX_MEMORY_MB)] = 500


@dataclass(frozen=True)
class MetricDocument:
    """A program's `metric.yaml`. `bounds` end in None where there is no end; `worst` is None where a missing item has no value.
    `as_files` says that it gets items as files, of its challenge's kind: until that is known, its kind is FILES."""

    key: Annotated[str, _spelled(KEY, "2 to 40 small letters, digits and _, beginning with a letter")]
    title: Annotated[str, _title]
    kind: Annotated[str, one_of((*FAMILIES, FILES))]
    level: Annotated[str, one_of(LEVELS, "item")]
    higher_is_better: Annotated[bool, lambda reader, key: reader.flag(key)]
    bounds: Annotated[tuple[float | None, float | None], _bounds]
    unit: Annotated[str, _text(20)]
    worst: Annotated[float | None, _worst]
    version: Annotated[int, whole(1, 1, 1_000_000)]
    needs: Annotated[tuple[str, ...], _needs]
    params: Annotated[tuple[Param, ...], _params]
    run: Annotated[str, one_of(RUNS)]
    entry: Annotated[str, _text(300, needed=True)]
    image: Annotated[str, _spelled(IMAGE, "a name with its digest, like registry/name@sha256:…", None)]
    packages: Annotated[tuple[str, ...], _packages]
    device: Annotated[str, one_of(DEVICES, "cpu")]
    effort: Annotated[Work, _effort]
    doc: Annotated[str, _text(1000)]
    paper: Annotated[str, _text(300)]
    source: Annotated[str, _spelled(LINK, "an address that begins with https:// or http://", None)]
    tolerance: Annotated[float, _number(0.0, 0.01, TOLERANCE)]
    as_files: bool = False

    def check(self, reader: Reader) -> None:
        """Note the faults of fields together, once each is sound by itself."""
        if reader.problems.found:
            return
        low, high = self.bounds
        if self.worst is not None and ((low is not None and self.worst < low) or (high is not None and self.worst > high)):
            reader.fault("worst", f"expected a value within the bounds, found {self.worst:g}")
        if self.run == "python":
            if not ENTRY.fullmatch(self.entry) or ".." in self.entry.split(":")[0].split("/"):
                reader.fault("entry", f'expected a file and a function, like score.py:score, found "{self.entry}"')
        elif not _words(self.entry):
            reader.fault("entry", f'expected a command, like `python score.py`, found "{self.entry}"')
        if (self.run == "image") != bool(self.image):
            reader.fault("image", "expected the name of an image with run: image, and null with any other")

    @property
    def sandbox(self) -> str:
        """Name of the sandbox that the program needs."""
        return self.run if self.device == "cpu" else f"{self.run} with a card"

    def of_kind(self, kind: str) -> MetricDocument:
        """The document for entries of a kind: a program that takes files takes files of any kind."""
        return dataclasses.replace(self, kind=kind) if self.kind == FILES else self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, which `from_dict` reads back. Every default is the organizer's, so no parameter says so."""
        found = dataclasses.asdict(self)
        return found | {"params": [{name: value for name, value in one.items() if name != "source"} for one in found["params"]]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricDocument:
        """The inverse of to_dict, for what was accepted before."""
        params = tuple(Param(**{**one, "choices": tuple(one["choices"])}) for one in data["params"])
        lists = {name: tuple(data[name]) for name in ("bounds", "needs", "packages")}
        return cls(**{**data, **lists, "params": params, "effort": Work(**data["effort"])})

    def spec(self, challenge: str, contents: str, program: Any = None) -> MetricSpec:
        """The record that boards, pages and studies know of any metric. `contents` is the digest of the program's files; `program` runs
        it, where it is to be run in this process."""
        low, high = self.bounds
        return MetricSpec(
            key=f"{challenge}/{self.key}",
            title=self.title,
            family=self.kind,
            higher_is_better=self.higher_is_better,
            bounds=(-math.inf if low is None else low, high),
            unit=self.unit,
            params=self.params,
            worst="null" if self.worst is None else repr(float(self.worst)),
            doc=self.doc,
            origin=Origin(note=self.paper),
            function=_NotHere(f"{challenge}/{self.key}") if program is None else program.one,
            needs=self.needs,
            device=self.device,
            version=self.version,
            level=self.level,
            finish=None if self.level == "item" else one_for_all,
            effort=Effort(self.effort.seconds, 1, 0.0),
            tolerance=Tolerance(self.tolerance),
            contents=contents,
            program=program,
            source=self.source,
        )


@dataclass(frozen=True)
class _NotHere:
    """The function of a program where only its description is known."""

    key: str

    def __call__(self, pair: Any, **params: Any) -> Any:
        raise RuntimeError(f"{self.key} is a metric program, whose files are not here")


def one_for_all(items: Any, params: Mapping[str, Any]) -> list[Any]:
    """Each item of a group or set with the one value that the program gave it, which is in every item's partial."""
    found = next((item.result.partial for item in items if item.result.partial is not None), None)
    if found is None:
        return [MetricResult(None, Status.FAILED) for _ in items]
    result = MetricResult(found["value"], Status(found["status"]), tuple(found["flags"]), found["parts"])
    return [result for _ in items]


def read(data: bytes, here: bool = True) -> MetricDocument:
    """The record of the file's bytes; packages must be installed in this process' environment, or, if the program runs on another machine
    (not `here`), be among those a worker may have. Raises ProgramError."""
    problems = Problems(FILE)
    try:
        reader = Reader(compose(data, problems), "", problems)
        found = made(MetricDocument, reader)
        problems.raise_if_any()
        there = installed() if here else OFFERED
        for name in found.packages:
            if found.run != "image" and name.lower() not in map(str.lower, there):
                reader.fault("packages", f'expected packages that are installed here ({", ".join(there)}), found "{name}"')
        problems.raise_if_any()
    except DocumentError as error:
        faults = map(str, error.problems)
        raise ProgramError(" ".join(fault if fault.endswith("?") else f"{fault}." for fault in faults)) from None
    return dataclasses.replace(found, as_files=found.kind == FILES)


def _words(command: str) -> list[str]:
    """The words of a command; none where a quotation is open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def is_seen(text: str) -> bool:
    """Return whether a reader sees every character of a text, in its place; line ends and tabs count as spaces."""
    return not BLANK.search(text) and not has_invisible(text.replace("\n", " ").replace("\t", " "))


@cache
def installed() -> tuple[str, ...]:
    """The packages that a program may import, of those that are installed here."""
    found = []
    for name in OFFERED:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found.append(name)
    return tuple(found)


def environment_of(packages: tuple[str, ...]) -> dict[str, str]:
    """Versions of the interpreter and of these packages. They may change a program's numbers but are not part of its fingerprint."""
    versions = {"python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in packages}
