"""The clean views of a scene that are looked at, and their size: for metrics that hold a render against all of them."""

from __future__ import annotations

LONGEST = 960  # px; a longer side is shrunk to it
MOST_VIEWS = 100


def working_size(width: int, height: int) -> tuple[int, int]:
    """(width, height) at which an image is looked at: its own, or shrunk so that the longer side is 960 px."""
    if max(width, height) <= LONGEST:
        return width, height
    scale = LONGEST / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def subset(count: int) -> list[int]:
    """The views, of `count`, that are looked at: all, or 100 by a uniform stride."""
    return list(range(count)) if count <= MOST_VIEWS else [place * count // MOST_VIEWS for place in range(MOST_VIEWS)]
