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

from submissions.errors import Refused
from submissions.formats.decimals import Ambiguous, typed
from submissions.formats.invisible import has_invisible

TEXTS = {
    "method_name": 80,
    "description": 10_000,
    "paper_url": 200,
    "code_url": 200,
    "weights_url": 200,
    "licence": 80,
    "hardware": 120,
    "training_data": 400,
}
NUMBERS = {"parameters": 10.0**15, "run_seconds": 10.0**8}  # the largest that is believed; 0 and nothing are: not stated
ABOUT = (*TEXTS, *NUMBERS)
LABELS = {
    "method_name": "method name",
    "description": "description",
    "paper_url": "paper link",
    "code_url": "code link",
    "weights_url": "weights link",
    "licence": "licence",
    "hardware": "hardware",
    "training_data": "training data",
    "parameters": "number of parameters",
    "run_seconds": "run time",
}
ONE_LINE = ("method_name", "licence", "hardware", "training_data")
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
    """Clean the values given of `ABOUT`: texts stripped, numbers as such or None where none is stated (0 too); raises `Refused` for the
    first that is not allowed."""
    clean: dict[str, str | float | None] = {}
    for name, entered in given.items():
        if name in NUMBERS:
            number = _checked_number(name, entered)
            clean[name] = round(number) if number is not None and name == "parameters" else number
            continue
        value = str(entered or "").strip()
        if name in ONE_LINE:
            value = unicodedata.normalize("NFC", value)
        if "\0" in value or len(value) > TEXTS[name]:
            raise Refused(f"The {LABELS[name]} may have at most {TEXTS[name]:,} characters; make it shorter.", name)
        if name == "method_name" and not value:
            raise Refused("The entry needs a method name; give it one.", name)
        if name in ONE_LINE and has_invisible(value):
            raise Refused(f"The {LABELS[name]} contains invisible characters. Type it again, in one line.", name)
        if name.endswith("_url") and value:
            try:
                _is_url(value)
                urlsplit(value)
            except (ValidationError, ValueError):
                raise Refused(f"The {LABELS[name]} is not a web address; begin it with https://.", name) from None
        clean[name] = value
    return clean


def _checked_number(name: str, entered: str | float | None) -> float | None:
    """A number that was typed (`38M`, `1,2 B`, `12,000`, `0,4`) or sent as one; parameters are whole."""
    if entered is None or entered == "":
        return None
    if isinstance(entered, str):
        example = "38M, 1.2B or 38000000" if name == "parameters" else "0.4 or 12, in seconds"
        found = AMOUNT.fullmatch(entered.strip())
        suffix = found[2].lower() if found else ""
        try:
            if found is None or (suffix and name != "parameters"):
                raise ValueError
            value = typed(found[1], whole=name == "parameters" and not suffix) * SUFFIXES[suffix]
        except Ambiguous as either:
            why = f"may be {either}{suffix.upper()}; write it without separators of thousands"
            raise Refused(f"The {LABELS[name]} {why}, such as {example}.", name) from None
        except ValueError:
            raise Refused(f"The {LABELS[name]} is not a number; write it as {example}.", name) from None
    else:
        value = float(entered)
    if not math.isfinite(value) or not 0 <= value <= NUMBERS[name]:
        raise Refused(f"The {LABELS[name]} must lie between 0 and {NUMBERS[name]:,.0f}; check it.", name)
    return value or None
