"""The names of a view's pictures. Nothing heavy is imported here. PURE."""

from __future__ import annotations

VERSION = 1  # of all that is painted; raised whenever a picture can change
RENDER, REFERENCE, ERROR, MASK = "render", "reference", "error", "mask"
# Before the slug of a column: its similarity map; the render with its odd cells marked; with its poor objects masked.
MAP, CELLS, LOW = "map.", "cells.", "low."
OBJECTNESS = ("osim", "osim_rois")  # the metrics whose parts are objects
SMALL = ".small"  # behind the name of a picture: the thumbnail

Made = dict[str, list[int]]  # by name: [width, height] of the large picture


def file_name(number: int, name: str) -> str:
    """File name of the picture `name` of the view at place `number` of the request."""
    return f"{number}-{name}.webp"
