"""Views of procedural rooms with their boxes, drawn once into a folder and read from there afterwards. PURE."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.synthetic import rooms
from evaluation.synthetic.objects import KINDS
from evaluation.training.checkpoint import write

Progress = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Scene:
    """``image``: uint8[S, S, 3] RGB; ``boxes``: float32[G, 5]: row of KINDS, x1, y1, x2, y2 in pixels; ``room``: where it is seen."""

    image: NDArray[np.uint8]
    boxes: NDArray[np.float32]
    room: str


def scenes(folder: Path, name: str, count: int, views: int, size: int, progress: Progress | None = None) -> list[Scene]:
    """`views` views of each of the rooms "NAME:0" to "NAME:count − 1", of `size` pixels each way.

    Rooms that are not yet in `folder` are drawn and put there, a file per room, so that a stopped run continues.
    """
    found = []
    for number in range(count):
        file = folder / f"{name}-{number:05}-{views}x{size}.npz"
        if not file.exists():
            room = rooms.room(f"{name}:{number}")
            seen = [rooms.view(room, n, size, size) for n in range(views)]
            objects = [[(KINDS.index(box.kind), box.x1, box.y1, box.x2, box.y2) for box in view.boxes] for view in seen]
            held = io.BytesIO()
            np.savez(
                held,
                images=np.stack([view.image for view in seen]),
                boxes=np.concatenate([np.array(rows).reshape(-1, 5) for rows in objects]).astype(np.float32),
                counts=np.array([len(rows) for rows in objects]),
            )
            write(file, held.getvalue())
        with np.load(file) as arrays:
            images, boxes, ends = arrays["images"], arrays["boxes"], np.cumsum(arrays["counts"])
        found += [Scene(image, own, f"{name}:{number}") for image, own in zip(images, np.split(boxes, ends[:-1]), strict=True)]
        if progress is not None:
            progress()
    return found
