"""Names that people take for one another: skeletons of Unicode Technical Standard 39, from Unicode's own table. PURE.

`unicode/confusables.txt` is the table of Unicode 15.0.0, unchanged, under the licence beside it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import regex

TABLE = Path(__file__).parent / "unicode" / "confusables.txt"
INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
# In common use (Unicode Standard Annex 31, table 5); letters of all others, and of none, count as one.
SCRIPTS = (
    *("Arabic", "Armenian", "Bengali", "Bopomofo", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati", "Gurmukhi"),
    *("Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Myanmar", "Oriya", "Sinhala"),
    *("Tamil", "Telugu", "Thaana", "Thai", "Tibetan"),
)
_LETTER = regex.compile("|".join([*(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS), r"(?P<other>\p{L})"]))


@cache
def _prototypes() -> dict[int, str]:
    """Prototype of each character that has another one, by its number."""
    lines = (line.split(";") for line in TABLE.read_text("utf-8-sig").splitlines() if line and not line.startswith("#"))
    return {int(source, 16): "".join(chr(int(code, 16)) for code in target.split()) for source, target, *_ in lines}


def skeleton(text: str) -> str:
    """Skeleton by UTS 39: texts with the same skeleton look the same."""
    seen = text if text.isascii() else INVISIBLE.sub("", unicodedata.normalize("NFD", text))  # of all accounts most are ASCII
    return unicodedata.normalize("NFD", seen.translate(_prototypes()))


def scripts(text: str) -> frozenset[str]:
    """Scripts of the letters of a text; digits and marks have none."""
    return frozenset(str(letter.lastgroup) for letter in _LETTER.finditer(text))


def look_alike(name: str, others: Iterable[str]) -> str | None:
    """First of the other names that looks like `name`; None if there is none.

    It looks the same, as written, in small letters or in capitals, and either the scripts of the two differ or one holds characters
    that nobody sees. Look-alikes within one script, such as modern and modem, are left to careful readers.
    """
    forms, own_scripts, is_ascii = _forms(name), scripts(name), name.isascii()
    for other in others:
        if is_ascii and other.isascii():  # of one script, and nothing that is not seen
            continue
        if not any(one == two for one, two in zip(forms, _forms(other), strict=True)):
            continue
        if own_scripts != scripts(other) or INVISIBLE.search(name + other) or folded(name) == folded(other):
            return other
    return None


def _forms(name: str) -> tuple[str, ...]:
    return tuple(skeleton(text) for text in (name, name.casefold(), name.upper()))


def folded(name: str) -> str:
    """Name without differences of case and of how its characters are encoded."""
    return unicodedata.normalize("NFKC", name).casefold()
