"""Cluttered procedural rooms: objects of `evaluation.synthetic.objects` on the floor and on one another, and views of them.

PURE. A room follows from its seed, a view from the room's seed and the view's number. Ground truth is what is seen: the box of an object is
around its visible pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.rendering.cameras import Camera, looking
from evaluation.rendering.pictures import Light, Lighting, picture
from evaluation.rendering.triangles import Atlas, Triangles, joined
from evaluation.synthetic import textures
from evaluation.synthetic.distortions import generator
from evaluation.synthetic.objects import KINDS, Item, item
from evaluation.synthetic.shapes import Builder

SMALL = ("vase", "bottle", "ball", "plant", "lamp", "screen")  # may stand on others
SUPPORTS = ("table", "crate", "bookshelf")
TO_THE_WALL = ("bookshelf", "sofa", "bed", "screen")
MIN_PIXELS = 0.0006  # of the image, for an object to count as seen
MIN_SHOWN = 0.25  # of the area of the box it would have if nothing were in front of it


STEP = np.radians(7)  # of a walk, around the room's middle


@dataclass(frozen=True, eq=False)
class Room:
    """``items[n]`` is the class of the triangles' item n + 1; ``size``: float64[3], metres, centred on z."""

    seed: int | str
    scene: Triangles
    atlas: Atlas
    items: tuple[str, ...]
    lighting: Lighting
    size: NDArray[np.float64]
    boxes: NDArray[np.float64]  # float64[N, 2, 3], of the items, in the world


@dataclass(frozen=True)
class Box:
    """An object in a view: pixels x1 ≤ x < x2, y1 ≤ y < y2, the share of its box that is not hidden, and its item."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float
    shown: float
    item: int


@dataclass(frozen=True, eq=False)
class RoomView:
    """``image``: uint8[H, W, 3]; ``items``: int64[H, W], the item seen in each pixel's upper left sample, 0 for none."""

    image: NDArray[np.uint8]
    boxes: tuple[Box, ...]
    items: NDArray[np.int64]
    camera: Camera


def room(seed: int | str) -> Room:
    """One room with 7 to 16 objects."""
    rng = generator(f"room:{seed}")
    size = np.array([rng.uniform(3.2, 6.5), rng.uniform(3.2, 6.5), rng.uniform(2.4, 3.2)])
    shell, materials = _shell(rng, size)
    parts = [shell]
    kinds: list[str] = []
    taken: list[NDArray[np.float64]] = []
    boxes: list[NDArray[np.float64]] = []
    supports: list[NDArray[np.float64]] = []

    def add(one: Item, at: NDArray[np.float64], turn: float) -> NDArray[np.float64]:
        placed = one.triangles.placed(turn, 1.0, at, len(kinds) + 1, len(materials))
        box = np.stack([placed.corners.min(axis=(0, 1)), placed.corners.max(axis=(0, 1))])
        parts.append(placed)
        materials.extend(one.textures)
        kinds.append(one.kind)
        boxes.append(box)
        return box

    for number in range(int(rng.integers(7, 17))):
        one = item(KINDS[int(rng.integers(len(KINDS)))], f"{seed}:{number}")
        if one.kind in SMALL and one.size[2] < 0.9 and supports and rng.uniform() < 0.6:
            under = supports[int(rng.integers(len(supports)))]
            spot = _on_top(rng, one, under, boxes)
            if spot is not None:
                add(one, spot, rng.uniform(0, 2 * np.pi))
            continue
        found = _on_the_floor(rng, one, size, taken)
        if found is not None:
            box = add(one, *found)
            taken.append(box[:, :2])
            if one.kind in SUPPORTS:
                supports.append(box)
    lamps = []  # under the ceiling, warm to cool
    for _ in range(int(rng.integers(1, 4))):
        warm = np.array([1.0, rng.uniform(0.8, 1.0), rng.uniform(0.6, 1.1)])
        x, y = (rng.uniform(-0.4, 0.4, 2) * size[:2]).tolist()
        red, green, blue = (rng.uniform(0.5, 1.6) * warm).tolist()
        lamps.append(Light((x, y, float(size[2] - 0.3)), (red, green, blue), float(rng.uniform(1.5, 3.5))))
    up, down = rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.35)
    lighting = Lighting(tuple(lamps), (up, up, up), (down, down, down))
    return Room(seed, joined(parts), Atlas(materials), tuple(kinds), lighting, size, np.array(boxes).reshape(-1, 2, 3))


def view(of: Room, number: int, width: int = 256, height: int = 256, samples: int = 2) -> RoomView:
    """A view from inside the room at a standing or sitting person's height, towards one of the objects or the middle."""
    rng = generator(f"view:{of.seed}:{number}")
    for _ in range(60):  # until it is inside no object, and not nearer than a step to what it looks at
        eye = np.array([*(rng.uniform(-0.46, 0.46, 2) * of.size[:2]), rng.uniform(0.8, min(2.0, of.size[2] - 0.3))])
        aimed = len(of.boxes) > 0 and rng.uniform() < 0.8
        target = of.boxes[int(rng.integers(len(of.boxes)))].mean(axis=0) if aimed else np.array([0.0, 0.0, 0.7])
        inside = ((eye > of.boxes[:, 0] - 0.25) & (eye < of.boxes[:, 1] + 0.25)).all(axis=1).any()
        if not inside and np.linalg.norm(target - eye) > 1.0:
            break
    camera = looking(eye, target + rng.normal(size=3) * [0.3, 0.3, 0.15], rng.uniform(42, 78))
    drawn = picture(of.scene, of.atlas, camera, width, height, of.lighting, samples=samples)
    # As a camera that finds its own exposure would take it: the brightness of the middle tone drawn, not left to the lamps.
    values = drawn.colour.astype(np.float64) / 255
    wanted = rng.uniform(0.36, 0.55)
    power = np.log(wanted) / np.log(np.clip(np.median(values.mean(axis=2)), 0.05, 0.9))
    image = np.rint(255 * values ** np.clip(power, 0.5, 1.6)).astype(np.uint8)
    return RoomView(
        image, _boxes(of, camera, drawn.items, width, height, samples), np.maximum(drawn.items[::samples, ::samples], 0), camera
    )


def walk(of: Room, count: int, width: int = 256, height: int = 256, samples: int = 2) -> list[RoomView]:
    """Views of a slow walk through the room, a small step apart, all towards its middle and under one exposure. Scenes for reconstruction
    are captured like this, so that several views see each place."""
    rng = generator(f"walk:{of.seed}")
    start, turn = rng.uniform(0, 2 * np.pi), STEP * (1 if rng.uniform() < 0.5 else -1)
    power, found = 0.0, []
    for number in range(count):
        angle = start + turn * (number - (count - 1) / 2)
        eye = np.array([np.cos(angle) * 0.44 * of.size[0], np.sin(angle) * 0.44 * of.size[1], 1.6 + 0.1 * np.sin(number)])
        camera = looking(eye, np.array([0.0, 0.0, 0.7]), 62.0)
        drawn = picture(of.scene, of.atlas, camera, width, height, of.lighting, samples=samples)
        values = drawn.colour.astype(np.float64) / 255
        power = power or float(np.clip(np.log(0.45) / np.log(np.clip(np.median(values.mean(axis=2)), 0.05, 0.9)), 0.5, 1.6))
        boxes = _boxes(of, camera, drawn.items, width, height, samples)
        items = np.maximum(drawn.items[::samples, ::samples], 0)
        found.append(RoomView(np.rint(255 * values**power).astype(np.uint8), boxes, items, camera))
    return found


def _shell(rng: np.random.Generator, size: NDArray[np.float64]) -> tuple[Triangles, list[np.ndarray]]:
    """Floor, ceiling and walls seen from inside, skirting, pictures, a window, perhaps a rug."""
    b, (x, y, z), t = Builder(), size / [2, 2, 1], 0.1
    floor = b.material(textures.any_of(rng, textures.FLOORS), rng.uniform(0.8, 1.6))
    wall = b.material(textures.any_of(rng, textures.WALLS) * rng.uniform(0.7, 1.0), rng.uniform(0.8, 2.0))
    ceiling = b.material(textures.plain(rng, np.full(3, rng.uniform(0.5, 0.9)), 0.03), 2.0)
    b.box((-x - t, -y - t, -t), (x + t, y + t, 0), floor)
    b.box((-x - t, -y - t, z), (x + t, y + t, z + t), ceiling)
    for low, high in (
        ((-x - t, -y, 0), (-x, y, z)),
        ((x, -y, 0), (x + t, y, z)),
        ((-x, -y - t, 0), (x, -y, z)),
        ((-x, y, 0), (x, y + t, z)),
    ):
        b.box(low, high, wall)
    if rng.uniform() < 0.5:
        rug = b.material(textures.any_of(rng, textures.SURFACES), rng.uniform(0.8, 2.0))
        half_wide, half_long = rng.uniform(0.2, 0.6, 2) * (x, y)
        b.box((-half_wide, -half_long, 0), (half_wide, half_long, 0.01), rug, about_z=rng.uniform(-0.3, 0.3))
    frame = b.material(textures.wood(rng), 0.6)
    for number in range(int(rng.integers(2, 7))):
        shown, side = b.material(textures.painting(rng), 1.0), int(rng.integers(4))
        wide, tall, up = rng.uniform(0.15, 0.6), rng.uniform(0.15, 0.45), rng.uniform(1.3, 1.75)
        along = rng.uniform(-0.7, 0.7) * (x if side % 2 == 0 else y)
        angle = side * np.pi / 2  # the picture's front is −y, towards the room from the wall at +y
        middle = np.array([along, (y if side % 2 == 0 else x) - 0.01 * number])
        c, s = np.cos(angle), np.sin(angle)
        cx, cy = middle[0] * c - middle[1] * s, middle[0] * s + middle[1] * c
        b.box((cx - wide, cy - 0.02, up - tall), (cx + wide, cy + 0.02, up + tall), frame, about_z=angle, picture=shown)
    # Not `built`, which would centre it: the bottom of the room is to stay at z = 0.
    return b.whole(), b.textures


def _on_the_floor(
    rng: np.random.Generator, one: Item, size: NDArray[np.float64], taken: list[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], float] | None:
    """A place and a turn where the object touches no other; None where twenty tries find none."""
    for _ in range(20):
        quarter = int(rng.integers(4))
        to_wall = one.kind in TO_THE_WALL and rng.uniform() < 0.8
        turn = quarter * np.pi / 2 + (0.0 if to_wall else rng.normal() * 0.5)
        c, s = abs(np.cos(turn)), abs(np.sin(turn))
        half = np.array([one.size[0] * c + one.size[1] * s, one.size[0] * s + one.size[1] * c]) / 2
        room_left = size[:2] / 2 - half - 0.03
        if (room_left <= 0).any():
            continue
        at = rng.uniform(-room_left, room_left)
        if to_wall:  # its back (+y when not turned) to the wall
            back = np.array([-np.sin(turn), np.cos(turn)])
            axis = int(np.abs(back).argmax())
            at[axis] = np.sign(back[axis]) * room_left[axis]
        box = np.stack([at - half, at + half])
        if all((box[0] > other[1] + 0.03).any() or (box[1] < other[0] - 0.03).any() for other in taken):
            return np.array([*at, 0.0]), turn
    return None


def _on_top(
    rng: np.random.Generator, one: Item, under: NDArray[np.float64], boxes: list[NDArray[np.float64]]
) -> NDArray[np.float64] | None:
    """A place on a support where the object fits; None if ten tries find none."""
    half = np.hypot(*one.size[:2]) / 2
    middle, reach = under.mean(axis=0)[:2], np.maximum((under[1] - under[0])[:2] / 2 * 0.75 - half * 0.6, 0)
    top = under[1, 2]
    above = [box for box in boxes if box[0, 2] > top - 0.05]
    for _ in range(10):
        at = middle + rng.uniform(-reach, reach)
        if all((at + half < box[0, :2]).any() or (at - half > box[1, :2]).any() for box in above):
            return np.array([*at, top])
    return None


def _boxes(of: Room, camera: Camera, items: NDArray[np.int64], width: int, height: int, samples: int) -> tuple[Box, ...]:
    counts = np.bincount(np.maximum(items, 0).reshape(-1), minlength=len(of.items) + 1)
    found = []
    for number in np.flatnonzero(counts[1:] >= MIN_PIXELS * items.size) + 1:
        rows, columns = np.nonzero(items == number)
        x1, x2 = columns.min() / samples, (columns.max() + 1) / samples
        y1, y2 = rows.min() / samples, (rows.max() + 1) / samples
        # Of the box around the object as a whole, as far as it is in front of the camera.
        points = of.scene.corners[of.scene.items == number].reshape(-1, 3)
        points = points[camera.seen(points)[:, 2] > 0.05]
        places = np.clip(camera.projected(points, width, height), 0, (width, height)) if len(points) else np.zeros((1, 2))
        whole = float(np.prod(places.max(axis=0) - places.min(axis=0)))
        shown = (x2 - x1) * (y2 - y1) / max(whole, 1e-9)
        if shown >= MIN_SHOWN:
            found.append(Box(of.items[number - 1], float(x1), float(y1), float(x2), float(y2), float(min(shown, 1.0)), int(number)))
    return tuple(found)
