"""Text and JSON from outside: bounded before Python builds anything from the bytes, and without characters that no database stores."""

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any

from submissions.formats.errors import FormatError, excerpt

MAX_INTEGER_DIGITS = 18
WIDE = "is UTF-16 or UTF-32 text; save it as UTF-8"
UNKEPT = "A text in it has a NUL, or half of a pair of surrogates, which no database keeps; leave such characters out."
_UNKEPT = re.compile("[\x00\ud800-\udfff]")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def is_wide(data: bytes) -> bool:
    """Return whether a file says by its first bytes that it is UTF-16 or UTF-32 text."""
    return data.startswith(_WIDE)


def decode_text(data: bytes, file: str) -> str:
    """UTF-8 text, with or without a byte order mark; ``FormatError`` where it is empty or anything else."""
    if not data.strip():
        raise FormatError(file, "", "is empty")
    if is_wide(data):
        raise FormatError(file, "", WIDE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = "is not UTF-8 text; is it a binary file, or saved in another encoding?"
        raise FormatError(file, f"line {line}", reason) from None
    if "\0" in text:
        where = f"line {text[: text.index(chr(0))].count(chr(10)) + 1}"
        raise FormatError(file, where, "holds a zero byte; is it a binary file, or UTF-16 text?")
    return text


class _Refusal(ValueError):
    pass


def parse_json(data: bytes, file: str, max_values: int) -> Any:
    """The value of a JSON file with at most about ``max_values`` values, in lists and numbers of plain Python.

    Refused with ``FormatError``: other encodings, NaN and infinities, whole numbers of more than 18 digits, keys that
    occur twice, and nesting deeper than Python's own reader goes.
    """
    text = decode_text(data, file)
    # Every value but the first follows a comma or opens a list or object, so this bounds memory before parsing.
    if text.count(",") + text.count("[") + text.count("{") > max_values:
        raise FormatError(file, "", f"holds more than {max_values} values, far more than such a file can need")
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object)
    except _Refusal as refusal:
        raise FormatError(file, "", str(refusal)) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise FormatError(file, where, f"is not JSON ({error.msg})") from None
    except RecursionError:
        raise FormatError(file, "", "nests lists or objects too deeply") from None


def _integer(literal: str) -> int:
    digits = len(literal.lstrip("-"))
    if digits > MAX_INTEGER_DIGITS:
        raise _Refusal(f"holds a whole number of {digits} digits, at most {MAX_INTEGER_DIGITS} are taken")
    return int(literal)


def _constant(name: str) -> float:
    raise _Refusal(f"holds {name}; every number must be finite")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refusal(f'holds the key "{excerpt(twice)}" twice in one object')
    return found


class UnkeptText(ValueError):
    """A text has a character that PostgreSQL refuses, and that nobody means: NUL, or half of a pair of surrogates. One sentence."""


def check_texts(said: Any) -> None:
    """Raise `UnkeptText` where any text of a JSON value cannot be kept, the names in its objects included."""
    left = [said]
    while left:  # not by recursion: it may be nested deep
        one = left.pop()
        if isinstance(one, str):
            if _UNKEPT.search(one):
                raise UnkeptText(UNKEPT)
        elif isinstance(one, Mapping):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            left += one
