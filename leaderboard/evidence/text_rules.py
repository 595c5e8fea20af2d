"""Rules that make a name of a row's cells: a column, a template, and what is done to their text. PURE."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from submissions.formats.yaml_document import Reader, is_null

_BRACES = re.compile(r"\{([^{}]+)\}")
MAX_PATTERN = 200
Row = Sequence[str]


class NoText(ValueError):
    """A row's cells that the rule makes no text of; a sentence without its full stop."""


@dataclass(frozen=True)
class TextRule:
    """A column's text, or a `template` with columns in braces, or with none.

    Then in this order: the groups of `pattern` are joined; `fold` makes all letters small; `values` translates the whole text, and
    `otherwise` is for texts that neither pattern nor values know; `rename` mends spellings.
    """

    column: str = ""
    template: str = ""
    pattern: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    otherwise: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    fold: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rule reads."""
        return (self.column,) if self.column else tuple(_BRACES.findall(self.template))

    def bind(self, places: Mapping[str, int]) -> Callable[[Row], str]:
        """The rule as a function of a row, whose columns have these places. The function raises `NoText`."""
        if self.column:
            place = places[self.column]

            def text_of(row: Row) -> str:
                return row[place].strip()
        else:
            parts = _BRACES.split(self.template)  # text and columns in turn

            def text_of(row: Row) -> str:
                return "".join(row[places[part]].strip() if odd % 2 else part for odd, part in enumerate(parts)).strip()

        pattern = re.compile(self.pattern) if self.pattern else None
        values, rename = (
            {key.lower() if self.fold else key: value for key, value in table.items()} for table in (self.values, self.rename)
        )

        def made(row: Row) -> str:
            text = text_of(row)
            if pattern is not None:
                found = pattern.search(text)
                if found is None:
                    return self._other(text, "does not match the pattern")
                text = "".join(group or "" for group in found.groups()) if pattern.groups else found[0]
            if self.fold:
                text = text.lower()
            if values:
                if text not in values:
                    return self._other(text, "is not in the table of values")
                text = values[text]
            return rename.get(text, text)

        return made

    def _other(self, text: str, why: str) -> str:
        if self.otherwise is None:
            raise NoText(f"“{text[:80]}” {why}")
        return self.otherwise


def read_rule(reader: Reader, key: str, required: bool = True) -> TextRule | None:
    """The rule below a key, None where it is left out or faulty."""
    if key not in reader.nodes and not required:
        reader.node(key, None)
        return None
    node = reader.node(key)
    if node is None:
        return None
    if isinstance(node, yaml.ScalarNode) and not is_null(node):
        return _plain(reader, key, node.value)
    if not isinstance(node, yaml.MappingNode):
        reader.fault(key, "expected a column, a template such as “{Codec} {Rate}”, or keys with values")
        return None
    inner = reader.reader(key)
    assert inner is not None
    given = [name for name in ("column", "template") if name in inner.nodes]
    if len(given) != 1:
        reader.fault(key, "expected column or template, one of the two")
    base = _plain(inner, given[0], inner.text(given[0]) or "") if given else None
    for name in ("column", "template"):
        inner.node(name, None)
    pattern = inner.text("pattern", "", most=MAX_PATTERN) or ""
    try:
        re.compile(pattern)
    except re.error as error:
        inner.fault("pattern", f"expected a regular expression; {error}")
        pattern = ""
    values, rename = read_table(inner, "values"), read_table(inner, "rename")
    otherwise = inner.text("else", None)
    if otherwise is not None and not (pattern or values):
        inner.fault("else", "expected pattern or values beside it")
    fold = bool(inner.flag("fold", False))
    inner.close()
    if base is None:
        return None
    return TextRule(base.column, base.template, pattern, values, otherwise, rename, fold)


def _plain(reader: Reader, key: str, text: str) -> TextRule | None:
    if not text.strip() or "\0" in text:
        reader.fault(key, "expected the name of a column, or a template such as “{Codec} {Rate}”")
        return None
    if key != "template" and "{" not in text and "}" not in text:
        return TextRule(column=text)
    rest = _BRACES.sub("", text)
    if "{" in rest or "}" in rest:
        reader.fault(key, f"expected a template with columns in braces, found “{text[:80]}”")
        return None
    return TextRule(template=text)


def read_table(reader: Reader, key: str) -> dict[str, str]:
    """A table of texts by text below an optional key."""
    inner = reader.reader(key)
    if inner is None:
        return {}
    found = {name: inner.text(name) or "" for name in list(inner.nodes)}
    inner.close()
    return found
