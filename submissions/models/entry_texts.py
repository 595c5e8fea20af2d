"""Texts and numbers that people enter about an entry, checked in the same way on pages, in the API and in the client: name, description,
links, the method's card."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from submissions.entry_fields import FIELDS, EntryField, FieldKind
from submissions.errors import Refused
from submissions.formats.decimals import Ambiguous, typed
from submissions.formats.invisible import has_invisible

SUFFIXES: Mapping[str, float] = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
AMOUNT = re.compile(r"(.*?\d)\s*([kmbgt]?)", re.IGNORECASE)
SHA256 = re.compile(r"[0-9a-f]{64}")
_is_url = URLValidator(schemes=["http", "https"])


def checked_file_name(name: str) -> str:
    """The name without any folders. It becomes a path on workers, so nothing odd may be in it;
    raises `Refused`."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    odd = any(unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") for c in name)
    if not name or name.startswith(".") or odd or len(name) > 160 or len(name.encode()) > 200:
        raise Refused("This file name cannot be kept; rename the file to something short and plain such as entry.zip.", "file_name")
    return name


def checked_sha256(digest: str) -> str:
    """The digest in lower case, or empty where none was announced; raises `Refused`."""
    digest = digest.strip().lower()
    if digest and not SHA256.fullmatch(digest):
        raise Refused("The SHA-256 of the file must be 64 hexadecimal digits; leave it out if you cannot compute it.", "sha256")
    return digest


def checked_about(**given: str | float | None) -> dict[str, str | float | None]:
    """Clean values of fields of `entry_fields`: texts stripped, numbers as such or None where none is stated (0 too); raises `Refused` for
    the first that is not allowed."""
    clean: dict[str, str | float | None] = {}
    for name, entered in given.items():
        field = FIELDS[name]
        clean[name] = _checked_number(field, entered) if field.kind.is_number else _checked_text(field, str(entered or "").strip())
    return clean


def _checked_text(field: EntryField, value: str) -> str:
    if field.kind is FieldKind.LINE:
        value = unicodedata.normalize("NFC", value)
    if "\0" in value or len(value) > field.limit:
        raise Refused(f"The {field.noun} may have at most {field.limit:,} characters; make it shorter.", field.name)
    if field.required and not value:
        raise Refused(f"The entry needs a {field.noun}; give it one.", field.name)
    if field.kind is FieldKind.LINE and has_invisible(value):
        raise Refused(f"The {field.noun} contains invisible characters. Type it again, in one line.", field.name)
    if field.kind is FieldKind.LINK and value:
        try:
            _is_url(value)
            urlsplit(value)
        except (ValidationError, ValueError):
            raise Refused(f"The {field.noun} is not a web address; begin it with https://.", field.name) from None
    return value


def _checked_number(field: EntryField, entered: str | float | None) -> float | None:
    """A number that was typed (`38M`, `1,2 B`, `12,000`, `0,4`) or sent as one; counts are whole."""
    if entered is None or entered == "":
        return None
    whole = field.kind is FieldKind.COUNT
    if isinstance(entered, str):
        found = AMOUNT.fullmatch(entered.strip())
        suffix = found[2].lower() if found else ""
        try:
            if found is None or (suffix and not whole):
                raise ValueError
            value = typed(found[1], whole=whole and not suffix) * SUFFIXES[suffix]
        except Ambiguous as either:
            why = f"may be {either}{suffix.upper()}; write it without separators of thousands"
            raise Refused(f"The {field.noun} {why}, such as {field.example}.", field.name) from None
        except ValueError:
            raise Refused(f"The {field.noun} is not a number; write it as {field.example}.", field.name) from None
    else:
        value = float(entered)
    if not math.isfinite(value) or not 0 <= value <= field.limit:
        raise Refused(f"The {field.noun} must lie between 0 and {field.limit:,.0f}; check it.", field.name)
    return (round(value) if whole else value) or None
