"""A statement: one sentence that a reader is told, with its tone and where it leads. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """Tone of a statement, which a page shows by a colour and a mark, never by a colour alone."""

    PLAIN = ""
    GOOD = "good"
    WARNING = "warning"


@dataclass(frozen=True)
class Statement:
    """One sentence. `names` are the parts of it that a page sets in bold: one name of an entry may hold a comma or a semicolon. `link` is
    the address that it leads to, empty where there is none."""

    text: str
    tone: Tone = Tone.PLAIN
    link: str = ""
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text
