"""Records of published sets as files: TOML that is reviewed like code, six digits behind the point, and read back typed. PURE."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from leaderboard.stats.evidence.record import FORMAT, EvidenceRecord
from leaderboard.stats.records import plain

DIGITS = 6
READER: TypeAdapter[EvidenceRecord] = TypeAdapter(EvidenceRecord)


class RecordError(ValueError):
    """A file is no record of a published set; one sentence."""


def as_plain(record: EvidenceRecord) -> dict[str, Any]:
    """The record in JSON's own types, without what is not known, each number rounded as files have it."""
    known: dict[str, Any] = _known(plain(record))
    return known


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_known(one) for one in value]
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0  # no negative zero
    return str(value) if isinstance(value, str) else value


def to_toml(record: EvidenceRecord) -> str:
    """The text of a record's file; a figure has one line."""
    return "\n".join(_lines(as_plain(record), ())).lstrip("\n") + "\n"


def of_toml(text: str, name: str = "record") -> EvidenceRecord:
    """The record in a text of TOML; `RecordError` in a sentence."""
    try:
        return of_plain(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise RecordError(f"{name} is no TOML: {error}.") from None


def of_plain(content: Mapping[str, Any], name: str = "record") -> EvidenceRecord:
    """The record in JSON's own types; `RecordError` in a sentence."""
    if content.get("evidence") != FORMAT:
        raise RecordError(f"{name} has the format {content.get('evidence')!r}; {FORMAT} is read here.")
    try:
        return READER.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise RecordError(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from None


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    own = {key: value for key, value in table.items() if not _is_table(value)}
    head = [f"\n[{'.'.join(map(_key, path))}]"] if path and (own or not table) else []
    lines = [*head, *(f"{_key(key)} = {_written(value)}" for key, value in own.items())]
    for key, value in table.items():
        if _is_table(value):
            lines += _lines(value, (*path, key))
    return lines


def _is_table(value: Any) -> bool:
    """True for values with a head of their own. Figures, and tables of numbers and texts alone, are written in one line."""
    return isinstance(value, dict) and "state" not in value and any(isinstance(one, (dict, list)) and one for one in value.values())


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "[\n" + "".join(f"    {_written(one)},\n" for one in value) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    return name if name and all(one.isascii() and (one.isalnum() or one in "-_") for one in name) else _written(name)


Difference = tuple[str, Any, Any]  # names joined with points, and what each of two records has there
DRAWN = {"check", "same_in_sessions", "across"}  # what is drawn at random: checks of columns, and bounds across items


def differences(record: EvidenceRecord, other: EvidenceRecord, tolerance: float = 1e-6, of_draws: float = 0.02) -> list[Difference]:
    """Places in which two records differ: numbers by more than the tolerance, and what is drawn at random by more than `of_draws`. The day
    is not compared."""
    found: list[Difference] = []
    _compare(as_plain(record), as_plain(other), (), tolerance + 0.5 * 10**-DIGITS, of_draws, found)
    return found


def _compare(one: Any, other: Any, path: tuple[str, ...], near: float, of_draws: float, found: list[Difference]) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if (*path, key) != ("made",):
                _compare(one.get(key), other.get(key), (*path, key), of_draws if key in DRAWN else near, of_draws, found)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            _compare(mine, theirs, (*path, str(n)), near, of_draws, found)
    elif isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool) and not isinstance(other, bool):
        if abs(one - other) > near:
            found.append((".".join(path), one, other))
    elif one != other:
        found.append((".".join(path), one, other))
