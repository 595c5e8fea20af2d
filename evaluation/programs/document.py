"""`metric.yaml`: the declaration of a metric program, as a typed record.

The file is hostile: it is read without any tag, alias or duplicate name, and each wrong field is refused in one sentence that names it.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import math
import platform
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Effort, MetricSpec, Param
from evaluation.metrics.tolerance import Tolerance
from submissions.formats.errors import excerpt
from submissions.formats.invisible import has_invisible
from submissions.kinds import FAMILIES

FILE = "metric.yaml"
KEY = re.compile(r"[a-z][a-z0-9_]{1,39}")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ENTRY = re.compile(r"(?P<file>[A-Za-z0-9_][A-Za-z0-9_./-]{0,119}\.py):(?P<function>[A-Za-z_][A-Za-z0-9_]{0,63})")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:-]{0,199}@sha256:[0-9a-f]{64}")
LINK = re.compile(r"https?://[^\s<>\"']{1,300}")
# Of categories that are seen, and yet drawn as nothing: fillers, selectors of variants, the empty pattern of Braille.
BLANK = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # a spreadsheet takes what begins so for a formula
MAX_BYTES = 64_000
MAX_DEPTH = 8
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


class DocumentError(ValueError):
    """`metric.yaml` cannot be used, in one sentence that names the field."""


@dataclass(frozen=True)
class Work:
    """The declared effort of one item: seconds of one core, and megabytes of memory."""

    seconds: float
    memory_mb: int


@dataclass(frozen=True)
class MetricDocument:
    """A program's `metric.yaml`. `bounds` end in None where there is no end; `worst` is None where a missing item has no value.
    `as_files` says that it gets items as files, of its challenge's kind: until that is known, its kind is FILES."""

    key: str
    title: str
    kind: str
    level: str
    higher_is_better: bool
    bounds: tuple[float | None, float | None]
    unit: str
    worst: float | None
    version: int
    needs: tuple[str, ...]
    params: tuple[Param, ...]
    run: str
    entry: str
    image: str
    packages: tuple[str, ...]
    device: str
    effort: Work
    doc: str
    paper: str
    source: str
    tolerance: float
    as_files: bool = False

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
    (not `here`), be among those a worker may have. Raises DocumentError."""
    if len(data) > MAX_BYTES:
        raise DocumentError(f"{FILE} has {len(data):,} bytes; at most {MAX_BYTES:,} are taken.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{FILE} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    fields = _parsed(text)
    return _Reader(fields, here=here).document()


def _parsed(text: str) -> dict[str, Any]:
    """The mapping that the text is; aliases, tags of one's own, names given twice and deep nesting are refused before anything is built."""
    try:
        depth, anchors = 0, False
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                anchors = True
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH or anchors:
                what = "anchors and aliases" if anchors else f"values nested more than {MAX_DEPTH} deep"
                raise DocumentError(f"{FILE} uses {what}; write plain values.")
        fields = yaml.load(text, Loader=_Plain)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}:" if error.problem_mark else ""
        raise DocumentError(f"{FILE}:{line} {error.problem or 'is not YAML'}; mend it.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(f"{FILE} is not YAML that can be read ({str(error).splitlines()[0][:120]}).") from None
    if not isinstance(fields, dict):
        raise DocumentError(f"{FILE} must be a mapping of fields, like `key: my_metric`.")
    return fields


class _Plain(yaml.SafeLoader):
    """The safe loader, which refuses a name that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"{twice!r} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


_MISSING = object()


class _Reader:
    """The fields of a file, each typed and checked as it is taken."""

    def __init__(self, fields: dict[str, Any], where: str = "", here: bool = True) -> None:
        self.fields, self.where, self.here = fields, where, here

    def document(self) -> MetricDocument:
        known = {field.name for field in dataclasses.fields(MetricDocument)} - {"as_files"}
        self.only(known)
        key = self.text("key", 40)
        if not KEY.fullmatch(key):
            raise self.wrong("key", "must be 2 to 40 small letters, digits and _, beginning with a letter", key)
        run = self.choice("run", RUNS)
        level = self.choice("level", LEVELS, "item")
        higher = self.flag("higher_is_better")
        bounds = self.bounds()
        worst = self.worst(bounds)
        needs = self.names("needs", NEEDS, ("reference",))
        image = self.image(run)
        device = self.choice("device", DEVICES, "cpu")
        kind = self.choice("kind", (*FAMILIES, FILES))
        return MetricDocument(
            key=key,
            title=self.title(),
            kind=kind,
            as_files=kind == FILES,
            level=level,
            higher_is_better=higher,
            bounds=bounds,
            unit=self.text("unit", 20, ""),
            worst=worst,
            version=self.integer("version", 1, 1_000_000, 1),
            needs=needs,
            params=self.params(),
            run=run,
            entry=self.entry(run),
            image=image,
            packages=self.packages(run),
            device=device,
            effort=self.effort(),
            doc=self.text("doc", 1000, ""),
            paper=self.text("paper", 300, ""),
            source=self.link("source"),
            tolerance=self.number("tolerance", 0.0, 0.01, TOLERANCE),
        )

    # --- one field each

    def title(self) -> str:
        found = self.text("title", 80)
        if found.startswith(FORMULA):
            raise self.wrong("title", f"must not begin with {found[0]}, as formulas of spreadsheets do", found)
        return found

    def bounds(self) -> tuple[float | None, float | None]:
        found = self.fields.get("bounds")
        found = [None, None] if found is None else found
        if not isinstance(found, list) or len(found) != 2 or not all(end is None or _is_number(end) for end in found):
            raise self.wrong("bounds", "must be two numbers or null, like [0, 1] or [0, null]", found)
        low, high = (None if end is None else float(end) for end in found)
        if low is not None and high is not None and low >= high:
            raise self.wrong("bounds", "must begin with the smaller number", found)
        return low, high

    def worst(self, bounds: tuple[float | None, float | None]) -> float | None:
        if "worst" not in self.fields:
            raise self.missing("worst", "the value of a missing item, a number, or null if it has none")
        found = self.fields["worst"]
        if found is None or found == "none":
            return None
        if not _is_number(found):
            raise self.wrong("worst", "must be a number, or null if a missing item has no value", found)
        low, high = bounds
        if (low is not None and found < low) or (high is not None and found > high):
            raise self.wrong("worst", "must lie within the bounds", found)
        return float(found)

    def params(self) -> tuple[Param, ...]:
        found = self.fields.get("params") or []
        if not isinstance(found, list) or len(found) > MAX_PARAMS:
            raise self.wrong("params", f"must be a list of at most {MAX_PARAMS} parameters", found)
        params = tuple(
            _Reader(one, f"params[{n}].").param() if isinstance(one, dict) else self.no_mapping(n) for n, one in enumerate(found)
        )
        names = [param.name for param in params]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise DocumentError(f"{FILE}: params has {twice!r} twice; give each parameter a name of its own.")
        return params

    def no_mapping(self, n: int) -> Param:
        raise DocumentError(f"{FILE}: params[{n}] must be a mapping with name, kind and default.")

    def param(self) -> Param:
        self.only({"name", "kind", "default", "low", "high", "choices", "unit", "doc"})
        name = self.text("name", 40)
        rule = f"must be small letters, digits and _, and not {' or '.join(RESERVED)}"
        self.require(NAME.fullmatch(name) and name not in RESERVED, "name", rule, name)
        kind = self.choice("kind", KINDS_OF_PARAM)
        if "default" not in self.fields:
            raise self.missing("default", "the default value")
        default, choices, is_number = self.fields["default"], self.fields.get("choices") or [], kind in ("int", "float")
        low, high = (self.optional_number(end) for end in ("low", "high"))
        least, most = -math.inf if low is None else low, math.inf if high is None else high
        is_list = isinstance(choices, list) and len(choices) <= 100
        texts = is_list and all(isinstance(one, str) and 0 < len(one) <= 80 for one in choices)
        self.require(texts, "choices", "must be a list of texts", choices)
        seen = "must have no invisible characters, and none that change the direction of text"
        self.require(all(map(is_seen, choices)), "choices", seen, choices)
        self.require((kind == "choice") == bool(choices), "choices", "are for a parameter of kind choice, and needed there", choices)
        for end, value in (("low", low), ("high", high)):
            self.require(is_number or value is None, end, "is for int and float only", value)
        self.require(least <= most, "low", f"must be at most high, which is {most:g}", low)
        fits = {
            "choice": isinstance(default, str) and default in choices,
            "bool": isinstance(default, bool),
            "int": isinstance(default, int) and not isinstance(default, bool),
            "float": _is_number(default),
        }
        wanted = {"choice": f"one of its choices, {', '.join(choices)}"}.get(kind, f"of kind {kind}")
        self.require(fits[kind], "default", f"must be {wanted}", default)
        self.require(not is_number or least <= default <= most, "default", "must lie between low and high", default)
        if kind == "float":
            default = float(default)
        doc, unit = self.text("doc", 300, ""), self.text("unit", 20, "")
        return Param(name, default, kind, low=low, high=high, choices=tuple(choices), unit=unit, doc=doc)

    def entry(self, run: str) -> str:
        found = self.text("entry", 300)
        if run == "python":
            if not ENTRY.fullmatch(found) or ".." in found.split(":")[0].split("/"):
                raise self.wrong("entry", "must name a file and a function, like score.py:score", found)
            return found
        try:
            words = shlex.split(found)
        except ValueError:
            words = []
        if not words:
            raise self.wrong("entry", "must be a command, like `python score.py`", found)
        return found

    def image(self, run: str) -> str:
        found = self.fields.get("image")
        if run != "image":
            if found is not None:
                raise self.wrong("image", "is for run: image only; set it to null", found)
            return ""
        if not isinstance(found, str) or not IMAGE.fullmatch(found):
            raise self.wrong("image", "must be a name with its digest, like registry/name@sha256:…", found)
        return found

    def packages(self, run: str) -> tuple[str, ...]:
        found = self.fields.get("packages") or []
        if not isinstance(found, list) or not all(isinstance(one, str) and PACKAGE.fullmatch(one) for one in found):
            raise self.wrong("packages", "must be a list of package names without versions, like [numpy, scipy]", found)
        if run == "image":
            return tuple(found)
        there = installed() if self.here else OFFERED
        for name in found:
            if name.lower() not in {one.lower() for one in there}:
                raise DocumentError(f"{FILE}: packages names {name!r}, which is not installed here; there are {', '.join(there)}.")
        return tuple(found)

    def effort(self) -> Work:
        found = self.fields.get("effort", {})
        if not isinstance(found, dict):
            raise self.wrong("effort", "must be a mapping with seconds and memory_mb", found)
        reader = _Reader(found, "effort.")
        reader.only({"seconds", "memory_mb"})
        return Work(reader.number("seconds", 0.01, MAX_SECONDS, 1.0), reader.integer("memory_mb", 10, MAX_MEMORY_MB, 500))

    def link(self, name: str) -> str:
        found = self.text(name, 310, "")
        if found and not LINK.fullmatch(found):
            raise self.wrong(name, "must be an address that begins with https:// or http://", found)
        return found

    # --- kinds of value

    def only(self, known: set[str]) -> None:
        for name in self.fields:
            if name not in known:
                raise DocumentError(f"{FILE}: {self.where}{str(name)[:60]} is not a field; the fields are {', '.join(sorted(known))}.")

    def require(self, holds: object, name: str, wanted: str, got: Any) -> None:
        if not holds:
            raise self.wrong(name, wanted, got)

    def wrong(self, name: str, wanted: str, got: Any) -> DocumentError:
        # As its author wrote it, or nearly: null and true, not the words that this language has for them.
        written = json.dumps(got, ensure_ascii=False, default=str)
        return DocumentError(f"{FILE}: {self.where}{name} {wanted}; it is {excerpt(written)}.")

    def missing(self, name: str, what: str) -> DocumentError:
        return DocumentError(f"{FILE}: {self.where}{name} is missing: {what}.")

    def text(self, name: str, most: int, default: Any = _MISSING) -> str:
        found = self.fields.get(name, default)
        if found is _MISSING:
            raise self.missing(name, f"a text of at most {most} characters")
        if found is None and default is not _MISSING:
            return str(default)
        if not isinstance(found, str) or len(found.strip()) > most or (not found.strip() and default is _MISSING):
            raise self.wrong(name, f"must be a text of at most {most} characters", found)
        if not is_seen(found):
            raise self.wrong(name, "must have no invisible characters, and none that change the direction of text", found)
        return " ".join(found.split())

    def choice(self, name: str, known: tuple[str, ...], default: str | None = None) -> str:
        found = self.fields.get(name, default)
        if found is None:
            raise self.missing(name, f"one of {', '.join(known)}")
        if found not in known:
            raise self.wrong(name, f"must be one of {', '.join(known)}", found)
        return str(found)

    def names(self, name: str, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
        found = self.fields.get(name, list(default))
        found = [] if found is None else found
        if not isinstance(found, list) or not all(isinstance(one, str) and one in known for one in found):
            raise self.wrong(name, f"must be a list of {', '.join(known)}", found)
        return tuple(dict.fromkeys(found))

    def flag(self, name: str) -> bool:
        found = self.fields.get(name)
        if not isinstance(found, bool):
            raise self.wrong(name, "must be true or false", found) if name in self.fields else self.missing(name, "true or false")
        return found

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        found = self.fields.get(name, default)
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            raise self.wrong(name, f"must be a whole number from {low:,} to {high:,}", found)
        return found

    def number(self, name: str, low: float, high: float, default: float) -> float:
        found = self.fields.get(name, default)
        if not _is_number(found) or not low <= found <= high:
            raise self.wrong(name, f"must be a number from {low:g} to {high:g}", found)
        return float(found)

    def optional_number(self, name: str) -> float | None:
        found = self.fields.get(name)
        if found is not None and not _is_number(found):
            raise self.wrong(name, "must be a number", found)
        return found


def is_seen(text: str) -> bool:
    """Return whether a reader sees every character of a text, in its place; line ends and tabs count as spaces."""
    return not BLANK.search(text) and not has_invisible(text.replace("\n", " ").replace("\t", " "))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)


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
