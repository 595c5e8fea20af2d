"""The image that goes with a question: grids of views of two objects side by side, or two wireframes over their reference. PURE.

Views are numbered from 0 over one turn around the object; of 120 of them, four are 0, 30, 60 and 90.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from evaluation.rendering.cameras import around, turntable
from evaluation.rendering.reference import mesh_views
from leaderboard.studies.judge.instructions import Row
from leaderboard.viewer import svg
from submissions.formats.arrays import Mesh

SIDE = 512  # pixels of one view
TURN = 120  # views of a mesh around it
ELEVATION = 15.0  # degrees above the ground from which a mesh is seen
BLACK, BLUE, WHITE = (0, 0, 0), (31, 95, 240), (255, 255, 255)
SMOOTH = 3  # lines are drawn so many times larger and shrunk
BEYOND = 0.5  # how far, in shares of the reference's size, a reconstruction may widen the frame
_SEEDED = re.compile(r"(.+)-(\d+)")

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Look:
    """One view of an object: colour uint8[S, S, 3], and its normals in the same form or None."""

    colour: Pixels
    normals: Pixels | None


def view_numbers(available: int, views: int) -> list[int]:
    """Numbers of the shown views among the views 0 … available − 1 of a turn: every ⌊available / views⌋-th, `views` of them.

    ValueError where there are fewer than that.
    """
    if available < views:
        raise ValueError(f"there are {available} views and {views} are shown")
    step = available // views
    return [number * step for number in range(views)]


def turn_of(items: Iterable[str]) -> list[str]:
    """The items of one object in one scene in the order of the turn.

    A generated object's views are called `seed-number`; of several seeds the first by name is taken. Items of another name are
    one turn by themselves, in the order of names.
    """
    seeds: dict[str, list[tuple[int, str]]] = {}
    plain = []
    for item in items:
        match = _SEEDED.fullmatch(item.partition("/")[2])
        if match:
            seeds.setdefault(match[1], []).append((int(match[2]), item))
        else:
            plain.append(item)
    return sorted(plain) if plain or not seeds else [item for _, item in sorted(seeds[min(seeds)])]


def side_by_side(left: Sequence[Look], right: Sequence[Look], row: Row) -> Pixels:
    """The composite uint8[H, W, 3] of as many views of both objects as the row shows.

    ValueError where views or normals are missing.
    """
    halves = []
    for looks, words in ((left, "Left"), (right, "Right")):
        if len(looks) != row.views:
            raise ValueError(f"{len(looks)} views are given and {row.views} are shown")
        grids = []
        if row.rgb:
            grids.append(_grid([_square(look.colour) for look in looks]))
        if row.normal:
            normals = [_square(look.normals) for look in looks if look.normals is not None]
            if len(normals) < len(looks):
                raise ValueError("there are no normals of these views")
            grids.append(_grid(normals))
        half = np.concatenate(grids[::-1] if row.normals_first else grids, axis=0)
        if row.watermark:
            image = Image.fromarray(half)
            font, middle = ImageFont.load_default(size=max(16, image.width // 12)), image.width // 2
            edge = max(2, image.width // 250)
            ImageDraw.Draw(image).text((middle, 8), words, fill=BLACK, font=font, anchor="ma", stroke_width=edge, stroke_fill=WHITE)
            half = np.asarray(image)
        halves.append(half)
    return np.concatenate(halves, axis=1)


def _grid(cells: Sequence[Pixels]) -> Pixels:
    """√n × √n cells, row by row."""
    side = int(len(cells) ** 0.5)
    if side * side != len(cells):
        raise ValueError(f"{len(cells)} views fill no square grid")
    return np.concatenate([np.concatenate(cells[r * side : (r + 1) * side], axis=1) for r in range(side)], axis=0)


def _square(pixels: Pixels) -> Pixels:
    """uint8[SIDE, SIDE, 3]: the image on white, as large as fits."""
    if pixels.shape[:2] == (SIDE, SIDE):
        return pixels
    image = Image.fromarray(pixels)
    scale = SIDE / max(image.size)
    small = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))), Image.Resampling.LANCZOS)
    square = Image.new("RGB", (SIDE, SIDE), WHITE)
    square.paste(small, ((SIDE - small.width) // 2, (SIDE - small.height) // 2))
    return np.asarray(square)


# --- meshes


def mesh_looks(mesh: Mesh, numbers: Sequence[int], up: str = "z") -> Iterator[Look]:
    """Views of a mesh by their number of 120, slightly from above; normals are in the world's frame, (n + 1) / 2 as uint8.

    ValueError if no face of the mesh has an area.
    """
    every = turntable(TURN, ELEVATION)
    for drawn in mesh_views(mesh, [every[number] for number in numbers], SIDE, up):
        # They were painted in the camera's frame (right, up, towards the viewer); white is where nothing is.
        turn = around(drawn.view, np.zeros(3), 1.0).turn * np.array([[1.0], [-1.0], [-1.0]])
        inside = 2 * drawn.normals[drawn.mask].astype(np.float64) / 255 - 1
        normals = np.full_like(drawn.normals, 255)
        normals[drawn.mask] = np.clip(np.rint(255 * (inside @ turn + 1) / 2), 0, 255).astype(np.uint8)
        yield Look(drawn.colour, normals)


# --- wireframes


def wireframes(reference: Any, left: Any, right: Any, side: int = 0) -> Pixels:
    """uint8[side, 2 side, 3] (by default 1024 pixels): two reconstructions in blue over the same reference in black, seen alike.

    Each is a wireframe with `vertices` and `edges`, or None where there is none. The frame holds the reference, and of the
    reconstructions what is not far away from it.
    """
    side = side or 2 * SIDE
    flat = svg.is_flat(reference.vertices)
    seen = svg.seen(reference.vertices, flat)
    low, high = seen.min(axis=0), seen.max(axis=0)
    reach = BEYOND * max(float((high - low).max()), 1e-9)
    for model in (left, right):
        if model is None or not len(model.vertices):
            continue
        points = svg.seen(model.vertices, flat)
        low = np.maximum(np.minimum(low, points.min(axis=0)), seen.min(axis=0) - reach)
        high = np.minimum(np.maximum(high, points.max(axis=0)), seen.max(axis=0) + reach)

    big = side * SMOOTH
    margin = 0.06 * big
    scale = (big - 2 * margin) / max(float((high - low).max()), 1e-9)
    shift = (big - scale * (high - low)) / 2
    halves = []
    for other in (left, right):
        image = Image.new("RGB", (big, big), WHITE)
        draw = ImageDraw.Draw(image)
        for model, colour, width in ((reference, BLACK, side / 128), (other, BLUE, side / 200)):
            if model is None or not len(model.vertices):
                continue
            at = (svg.seen(model.vertices, flat) - low) * scale + shift
            at = np.clip(np.column_stack([at[:, 0], big - at[:, 1]]), -10 * big, 11 * big)
            for a, b in model.edges:
                ends = [(float(at[a, 0]), float(at[a, 1])), (float(at[b, 0]), float(at[b, 1]))]
                draw.line(ends, colour, max(1, round(width * SMOOTH)))
        draw.line([(big - 1, 0), (big - 1, big)], (200, 200, 200), SMOOTH)  # where one half ends and the other begins
        halves.append(np.asarray(image.resize((side, side), Image.Resampling.BOX)))
    return np.concatenate(halves, axis=1)


def png(pixels: Pixels) -> bytes:
    """The image as PNG; the same image gives the same bytes."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()
