"""YAML read with its line numbers, safely: no tags, no anchors, bounded; every fault is collected."""

from __future__ import annotations

import difflib
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, TypeVar, get_origin, get_type_hints

import yaml

MAX_BYTES = 1_000_000
MAX_DEPTH = 12
MAX_VALUES = 100_000
MAX_MEMBERS = 500  # of a list of mappings; of plain texts there may be more
MAX_PROBLEMS = 100
MAX_KEY, MAX_REASON = 200, 1200  # characters of a problem
LEAST_ABOVE_0, MAX_NUMBER = sys.float_info.min, sys.float_info.max
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, ten times as fast, where PyYAML was built with libyaml
REQUIRED: Any = object()
FORMER = {"made_up": "simulated"}  # keys that had another name before version 1.0
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Problem:
    """One fault of a document: in which file, on which line, at which key, and what was expected."""

    file: str
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else ""
        return ": ".join(part for part in (self.file, where, self.key, self.reason) if part)


class DocumentError(ValueError):
    """A document that cannot be used; `problems` holds every fault that was found."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class ExpectedError(ValueError):
    """A text that cannot be converted; the message says what was expected."""


class Problems:
    """Collects the faults of one document, and remembers on which line each key was read."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Problem] = []
        self.lines: dict[str, int] = {}

    def add(self, key: str, reason: str, line: int | None = None) -> None:
        """Note a fault; the hundredth ends the reading, for each costs time and nobody reads on."""
        line = self.lines.get(key, 0) if line is None else line
        self.found.append(Problem(self.file, line, _plain(key, MAX_KEY), _plain(reason, MAX_REASON)))
        if len(self.found) == MAX_PROBLEMS:
            self.raise_if_any()

    def raise_if_any(self) -> None:
        if self.found:
            raise DocumentError(tuple(sorted(self.found, key=lambda problem: problem.line)))

    def end(self, reason: str, line: int) -> NoReturn:
        """Note a fault of the document itself, which ends the reading."""
        self.add("", reason, line)
        raise DocumentError(tuple(sorted(self.found, key=lambda problem: problem.line)))


def _plain(text: str, most: int) -> str:
    """Text that a document led to, for a sentence: short, in one line, with nothing that a terminal obeys."""
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(c if unicodedata.category(c)[0] != "C" else c.encode("unicode_escape").decode() for c in text)


def compose(data: bytes, problems: Problems) -> yaml.Node:
    """The nodes of one YAML document. Raises `DocumentError` where it is not YAML, or more than plain values.

    The events are looked at first: they come one by one, so nothing is built from a document that
    refers to itself or nests without end.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.end("expected text in UTF-8; save the file in that encoding", data[: error.start].count(b"\n") + 1)
    if len(data) > MAX_BYTES:
        problems.end(f"expected at most {MAX_BYTES:,} bytes, found {len(data):,}", 0)
    try:
        depth = 0
        for count, event in enumerate(yaml.parse(text, Loader=LOADER)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                problems.end("expected plain values; anchors (&) and aliases (*) are not taken, write the value out", line)
            if getattr(event, "tag", None):
                problems.end(f"expected plain values; the tag {event.tag} is not taken", line)
            if depth > MAX_DEPTH:
                problems.end(f"expected at most {MAX_DEPTH} levels", line)
            if count > MAX_VALUES:
                problems.end(f"expected at most {MAX_VALUES:,} values", line)
        node = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.end(f"expected YAML; {error.problem or error.context}", mark.line + 1 if mark else 0)
    except yaml.reader.ReaderError as error:
        problems.end(f"expected YAML; character {error.character!r} is not allowed", text[: error.position].count("\n") + 1)
    if not isinstance(node, yaml.MappingNode):
        problems.end("expected keys with values, such as slug: rooflines", 1)
    return node


class Reader:
    """Typed access to one mapping. Faults go to `problems`; a faulty value comes back as its default or None."""

    def __init__(self, node: yaml.Node, path: str, problems: Problems) -> None:
        self.path, self.problems, self.line = path, problems, node.start_mark.line + 1
        self.nodes: dict[str, yaml.Node] = {}
        self._keys: dict[str, int] = {}
        self._known: list[str] = []
        if not isinstance(node, yaml.MappingNode):
            problems.add(path, f"expected keys with values, found {described(node)}", self.line)
            return
        for key_node, value in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problems.add(path, "expected a plain key", line)
            elif key in self.nodes:
                problems.add(self.at(key), f"is given twice, first on line {self._keys[key]}; keep one", line)
            else:
                self.nodes[key], self._keys[key] = value, line
                problems.lines[self.at(key)] = line

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def fault(self, key: str, reason: str, node: yaml.Node | None = None) -> None:
        node = node if node is not None else self.nodes.get(key)
        self.problems.add(self.at(key), reason, node.start_mark.line + 1 if node is not None else self.line)

    def fault_of(self, key: str, reason: str) -> None:
        """Note a fault of a key, which may lie below others ("licence.file"), or of the mapping itself where it is empty."""
        if "." in key or "[" in key:
            self.problems.add(self.at(key), reason)
        elif key:
            self.fault(key, reason)
        else:
            self.problems.add(self.path, reason, self.line)

    def node(self, key: str, default: object = REQUIRED) -> yaml.Node | None:
        """The YAML node of a key's value, or None; a missing required key is noted as a fault."""
        self._known.append(key)
        if key not in self.nodes and default is REQUIRED:
            self.fault(key, "expected a value; the key is missing")
        return self.nodes.get(key)

    def scalar(self, key: str, expected: str, default: Any = REQUIRED) -> str | None:
        """The value's text; None where it is left out, empty or faulty."""
        node = self.node(key, default)
        if node is None or (is_null(node) and default is None):
            return None
        if not isinstance(node, yaml.ScalarNode) or is_null(node):
            self.fault(key, f"expected {expected}, found {described(node)}")
            return None
        return node.value

    def text(self, key: str, default: Any = REQUIRED, most: int | None = None) -> Any:
        value = self.scalar(key, "a text", default)
        if value is None:
            return _absent(default)
        if most is not None and len(value) > most:
            self.fault(key, f"expected at most {most} characters, found {len(value)}")
        if "\0" in value:
            self.fault(key, "expected a text without NUL characters")
        return value

    def converted(self, key: str, expected: str, default: Any, convert: Callable[[str], Any]) -> Any:
        """The value that `convert` makes of a text; its ValueError is a fault of the key."""
        value = self.scalar(key, expected, default)
        if value is None:
            return _absent(default)
        try:
            return convert(value)
        except ValueError as error:
            self.fault(key, f'{error if isinstance(error, ExpectedError) else f"expected {expected}"}, found "{value}"')
            return _absent(default)

    def choice(self, key: str, choices: list[str], default: Any = REQUIRED) -> Any:
        return self.converted(key, f"one of {', '.join(choices)}", default, lambda text: choices[choices.index(text)])

    def flag(self, key: str, default: Any = REQUIRED) -> Any:
        def convert(text: str) -> bool:
            if text.lower() not in _WORDS:
                raise ValueError
            return _WORDS[text.lower()]

        return self.converted(key, "true or false", default, convert)

    def integer(self, key: str, default: Any = REQUIRED, low: int = 0, high: float = 2**31 - 1) -> Any:
        def convert(text: str) -> int:
            if not re.fullmatch(r"[+-]?\d{1,19}(_\d{1,3}){0,6}", text) or not low <= int(text) <= high:
                raise ValueError
            return int(text)

        return self.converted(key, f"a whole number from {low:,} to {high:,}", default, convert)

    def number(
        self, key: str, default: Any = REQUIRED, expected: str = "a number", low: float = -MAX_NUMBER, high: float = MAX_NUMBER
    ) -> Any:
        def convert(text: str) -> float:
            number = float(text)
            if not low <= number <= high:
                raise ValueError
            return number

        return self.converted(key, expected, default, convert)

    def items(self, key: str) -> list[tuple[str, yaml.Node]]:
        """The members of an optional list, each with its path."""
        node = self.node(key, None)
        if node is None or is_null(node):
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.fault(key, f"expected a list, found {described(node)}")
            return []
        members = [(f"{self.at(key)}[{n}]", member) for n, member in enumerate(node.value)]
        self.problems.lines |= {path: member.start_mark.line + 1 for path, member in members}
        return members

    def readers(self, key: str) -> Iterator[Reader]:
        """The members of an optional list of mappings."""
        members = self.items(key)
        if len(members) > MAX_MEMBERS:
            self.fault(key, f"expected at most {MAX_MEMBERS:,} members, found {len(members):,}")
        for path, node in members[:MAX_MEMBERS]:
            yield Reader(node, path, self.problems)

    def reader(self, key: str) -> Reader | None:
        """The mapping below an optional key."""
        node = self.node(key, None)
        return None if node is None or is_null(node) else Reader(node, self.at(key), self.problems)

    def texts_and_readers(self, key: str) -> Iterator[str | Reader]:
        """The members of an optional list of texts and mappings."""
        for path, node in self.items(key)[:MAX_MEMBERS]:
            if isinstance(node, yaml.ScalarNode) and not is_null(node):
                yield node.value
            else:
                yield Reader(node, path, self.problems)

    def texts(self, key: str) -> list[tuple[str, str]]:
        """The members of an optional list of texts, each with its path."""
        texts = []
        for path, node in self.items(key):
            if isinstance(node, yaml.ScalarNode) and not is_null(node):
                texts.append((path, node.value))
            else:
                self.problems.add(path, f"expected a text, found {described(node)}", node.start_mark.line + 1)
        return texts

    def close(self) -> None:
        """Report the keys that nobody asked for, with what may have been meant."""
        for key in self.nodes.keys() - set(self._known):
            near = difflib.get_close_matches(key[:80], self._known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(dict.fromkeys(self._known))}"
            if FORMER.get(key) in self._known:
                hint = f"it is called {FORMER[key]} now"
            self.problems.add(self.at(key), f"unknown key; {hint}", self._keys[key])


Read = Callable[[Reader, str], Any]
Made = TypeVar("Made")


def keys_of(cls: type) -> dict[str, Read]:
    """The keys of a mapping that is read as this dataclass, each with how it is read; see `made`."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def made(cls: type[Made], reader: Reader, **others: Any) -> Made:
    """A mapping as this dataclass. A field `key: Annotated[type, read]` is a key and how it is read; `others` are the other fields.

    Faults go to the reader: of a key, of keys that the class has not, and of keys together, which its method `check(reader)` finds.
    """
    found = cls(**{name: read(reader, name) for name, read in keys_of(cls).items()}, **others)
    reader.close()
    if (check := getattr(found, "check", None)) is not None:
        check(reader)
    return found


def text(most: int | None = None, default: Any = REQUIRED) -> Read:
    """Reader of a text; a faulty one is empty."""
    return lambda reader, key: reader.text(key, default, most=most) or ""


def one_of(choices: Sequence[str], default: Any = REQUIRED) -> Read:
    """Reader of one of these texts; a faulty one is empty."""
    return lambda reader, key: reader.choice(key, list(choices), default) or ""


def whole(default: Any = REQUIRED, low: int = 0, high: float = 2**31 - 1) -> Read:
    """Reader of a whole number; a faulty one is `low`."""
    return lambda reader, key: reader.integer(key, default, low, high) or low


def flag(reader: Reader, key: str) -> bool:
    return bool(reader.flag(key, False))


def texts(reader: Reader, key: str) -> tuple[str, ...]:
    return tuple(member for _, member in reader.texts(key))


def each(cls: type[Made]) -> Read:
    """Reader of a list of mappings, each as this dataclass."""
    return lambda reader, key: tuple(made(cls, one) for one in reader.readers(key))


def _absent(default: Any) -> Any:
    return None if default is REQUIRED else default


def is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def described(node: yaml.Node) -> str:
    """Describe a node in a few words."""
    if isinstance(node, yaml.ScalarNode):
        text = node.value if len(node.value) <= 60 else f"{node.value[:57]}…"
        return "nothing" if is_null(node) else f'"{text}"'
    return "a list" if isinstance(node, yaml.SequenceNode) else "keys with values"
