"""What a judge's answer says: the last line's options, or the last side named in capitals. PURE.

A text that does not end as it was asked to is worth nothing and says so (None); no guess is made at what was meant.
"""

from __future__ import annotations

import re

VERDICTS = {"1": -1, "2": 1, "3": 0}  # left better, right better, cannot decide
SIDES = {"LEFT": -1, "RIGHT": 1}
_SIDE = re.compile(r"\b(LEFT|RIGHT)\b")
_MARKS = ("**", '"', "'", "`", "“”", "‘’")


def verdicts(text: str, count: int) -> tuple[int, ...] | None:
    """The verdicts (−1 left better, +1 right better, 0 neither) on `count` criteria, from the text's last line.

    The line holds an option 1, 2 or 3 per criterion with single spaces between. A full stop behind it and quotes,
    back-ticks or asterisks around it are taken off first. None for anything else.
    """
    lines = text.strip().splitlines()
    tokens = _bare(lines[-1]).split(" ") if lines else []
    if len(tokens) != count or any(token not in VERDICTS for token in tokens):
        return None
    return tuple(VERDICTS[token] for token in tokens)


def side(text: str) -> tuple[int, ...] | None:
    """The verdict of a wireframe judge, (−1,) or (+1,): the last whole word LEFT or RIGHT, in capitals, anywhere in the text."""
    found = _SIDE.findall(text)
    return (SIDES[found[-1]],) if found else None


def _bare(line: str) -> str:
    """The line without a full stop behind it and without marks around it."""
    while True:
        before = line
        line = line.strip().removesuffix(".")
        for mark in _MARKS:
            opening, closing = (mark[0], mark[1]) if mark[0] != mark[-1] else (mark, mark)
            if len(line) > len(opening) + len(closing) and line.startswith(opening) and line.endswith(closing):
                line = line[len(opening) : -len(closing)]
        if line == before:
            return line
