"""Texts that no database keeps. PURE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_UNKEPT = re.compile("[\x00\ud800-\udfff]")
UNKEPT = "A text in it has a NUL, or half of a pair of surrogates, which no database keeps; leave such characters out."


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
