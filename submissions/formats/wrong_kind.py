"""Entries of the wrong kind: files that can be read but hold nothing to score, such as points where a phase asks for meshes. PURE.

The answer comes from the entry's files alone, never from the reference. It is a question, which puts the entry on hold until its team
confirms it.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from submissions.kinds import Family

SHARE = 4  # the question is asked from one item in so many on
FACE, LINE = re.compile(rb"(?:^|\r)[ \t]*f[ \t]", re.MULTILINE), re.compile(rb"(?:^|\r)[ \t]*l[ \t]", re.MULTILINE)
_SPLAT = re.compile(rb"^property \w+ (?:f_dc_0|opacity|scale_0|rot_0)\s", re.MULTILINE)
_HEAD = 8_000  # bytes that hold the header of a PLY file
SHOWN = 3  # files that a sentence names


def contents(kind: Family, item: Any, name: str, data: bytes) -> str:
    """Return what the file ``name`` holds, as in "points and no faces". Its item is degenerate. ``data`` are its bytes, empty for an item
    of a table."""
    corners, parts = kind.size(item)
    noun = kind.sizes[1]
    if parts:
        return f"{noun} of no size"
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".ply" and _SPLAT.search(data[:_HEAD]):
        return "Gaussian splats"
    if suffix == ".obj":
        records = {"faces": ("f", FACE), "edges": ("l", LINE)}
        own = records.get(noun, ("", FACE))[0]
        for other, (letter, pattern) in records.items():
            if other != noun and pattern.search(data):
                return f"{other} ({letter} records) and no {noun} ({own} records)"
    return f"points and no {noun}" if corners else "nothing"


def sentences(kind: Family, n_items: int, found: Mapping[str, str]) -> list[str]:
    """Return a question for each kind of content in ``found`` (the content by file name); none if these are less than a quarter of the
    ``n_items`` items."""
    if not found or SHARE * len(found) < n_items:
        return []
    by_content: dict[str, list[str]] = {}
    for name, content in found.items():
        by_content.setdefault(content, []).append(name)
    words = []
    for content, names in by_content.items():
        shown = ", ".join(names) if len(names) <= SHOWN else f"{names[0]} and {len(names) - 1} others"
        verb = "holds" if len(names) == 1 else "hold"
        plural = kind.singular if n_items == 1 else kind.plural
        words.append(f"{shown} {verb} {content}; a {kind.singular} needs {kind.needs} ({len(names)} of {n_items} {plural}).")
    return words
