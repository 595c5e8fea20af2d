"""Texts that people enter about an entry, checked the same way at every door."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from submissions.errors import Refused

TEXTS = {"method_name": 80, "description": 10_000, "paper_url": 200, "code_url": 200}
LABELS = {"method_name": "method name", "description": "description", "paper_url": "paper link", "code_url": "code link"}
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


def checked_texts(**texts: str) -> dict[str, str]:
    """The texts of `TEXTS` that were given, stripped; raises `Refused` for the first that will not do."""
    clean = {}
    for name, value in texts.items():
        value = value.strip()
        if "\0" in value or len(value) > TEXTS[name]:
            raise Refused(f"The {LABELS[name]} may have at most {TEXTS[name]:,} characters; make it shorter.", name)
        if name == "method_name" and not value:
            raise Refused("The entry needs a method name; give it one.", name)
        if name == "method_name" and any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") for c in value):
            raise Refused("The method name holds invisible characters; type it anew, in one line.", name)
        if name.endswith("_url") and value:
            _check_url(name, value)
        clean[name] = value
    return clean


def _check_url(name: str, value: str) -> None:
    try:
        _is_url(value)
        urlsplit(value)
    except (ValidationError, ValueError):
        raise Refused(f"The {LABELS[name]} is not a web address; begin it with https://.", name) from None
