"""A statement to a reader: one or a few sentences, with the tone of its parts. PURE.

Statements are made in this folder alone, one function each, from records. A page draws one by `{% statement %}`; all else takes its `text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Tone(StrEnum):
    """Tone of a part, which a page sets in bold and, unless it is a name, in a colour."""

    PLAIN = ""
    NAME = "name"
    PERSON = "person"  # what people prefer, and a metric at human level
    BETTER = "better"  # a metric better than chance
    COIN = "coin"  # at chance
    BELOW = "below"  # below human level, and what contradicts people
    EARLY = "early"


@dataclass(frozen=True)
class Part:
    """Some words of a statement in one tone."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Statement:
    """Parts that read on as one text; none where there is nothing to say."""

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, *parts: str | Part) -> Self:
        """A statement of texts and parts; what is empty is left out."""
        made = (Part(one) if isinstance(one, str) else one for one in parts)
        return cls(tuple(one for one in made if one.text))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: Statement | str) -> Self:
        """This statement, then the other behind a blank."""
        more = Statement.of(other) if isinstance(other, str) else other
        gap = (Part(" "),) if self and more else ()
        return type(self)((*self.parts, *gap, *more.parts))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def name(text: str) -> Part:
    return Part(text, Tone.NAME)


def person(text: str) -> Part:
    return Part(text, Tone.PERSON)
