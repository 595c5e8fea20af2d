"""Files of one question for a rater's browser: both entries and the reference, under names that are the same for every question.

Nothing in the files tells whose an entry is. Coordinates are relative to the reference's centre. Vertices, edges and faces are put in a new
order. Images are encoded again from their pixels. No name, number or time of the original is kept. A sample with several items is shown
whole, in the items' own coordinates; of a scene with many views some are shown.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from leaderboard.kinds import KINDS
from leaderboard.models import PracticeQuestion, Question
from leaderboard.viewer import mesh_scene, viewer_cache
from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.mesh import mesh_files
from submissions.formats.render import store
from submissions.formats.render.views import Render
from submissions.formats.wireframe.wireframe_files import unpack
from submissions.storage import stored_files

VERSION = 1  # of all that is made here; what is stored carries it
MAX_VIEWS = 24  # of a scene, evenly spread
DIGITS = 6  # after the point, in the entry's unit
Asked = Question | PracticeQuestion
LEFT, RIGHT, REFERENCE = "left", "right", "reference"
MESH, IMAGE = "application/octet-stream", "image/webp"
NAME = re.compile(r"(?P<side>left|right|reference)(\.mesh|-(?P<number>[1-9][0-9]?)(?P<normal>-normal)?\.webp)", re.ASCII)


class NoSuchFile(LookupError):
    """The question has no file of that name."""


@dataclass(frozen=True)
class Side:
    """One thing that is shown: where its file lies, and under whose number what is made of it is kept."""

    name: str
    key: str
    owner: str
    missing: frozenset[str] = frozenset()

    @property
    def role(self) -> str:
        return "reference" if self.name == REFERENCE else "prediction"


def scene(question: Asked) -> dict[str, Any]:
    """The scene that the rating page reads of the question first, see static/viewer/src/rate_data.js and static/rate/slides.js."""
    return KINDS[question.study.phase.challenge.family].rated_scene(question)


def file(question: Asked, name: str) -> tuple[bytes | None, str]:
    """A file that the scene names, and its content type; None where it is being made for somebody else. Raises `NoSuchFile`."""
    match = NAME.fullmatch(name)
    side = next((one for one in sides(question) if match and one.name == match["side"]), None)
    if match is None or side is None or not name.endswith(f".{KINDS[question.study.phase.challenge.family].rated_suffix}"):
        raise NoSuchFile(name)
    if match["number"] is None:
        return _mesh(question, side), MESH
    views, place = _shown_views(question), int(match["number"]) - 1
    if place >= len(views) or views[place] in side.missing:
        raise NoSuchFile(name)
    return _image(question, side, place, views[place], bool(match["normal"])), IMAGE


def sides(question: Asked) -> list[Side]:
    """The reference, and one or two entries."""
    reference = question.study.reference
    rows = [Side(REFERENCE, reference.key, f"reference-{reference.pk}")]
    for name, entry in ((LEFT, question.left), (RIGHT, question.right)):
        if entry is not None:
            submission = entry.submission
            rows.append(Side(name, submission.artifact_key, str(submission.pk), frozenset(submission.missing_items)))
    return rows


def _items(question: Asked) -> list[str]:
    """The items of the sample, in the reference's order."""
    reference = question.study.reference
    return [item for item, group in zip(reference.item_ids, reference.groups, strict=True) if group == question.sample.name]


def _once(question: Asked, side: Side, suffix: str, compute: Callable[[], bytes], more: Any = None, heavy: bool = False) -> bytes | None:
    facts = {
        "rated": VERSION,
        "items": _items(question),
        "more": more,
        "side": side.role,
        "artifact": side.key,
        "reference": question.study.reference.key,
    }
    return viewer_cache.once(side.owner, facts, suffix, compute, heavy)


# --- wireframes


def wireframes(question: Asked) -> dict[str, Any]:
    """The lines of both sides and of the reference."""
    models = []
    for side in sides(question):
        made = _once(question, side, "json", partial(_wireframe, question, side))
        models.append({"name": side.name, "role": side.role, **json.loads(made or b"{}")})
    return {"form": "wireframe", "unit": question.study.phase.unit, "models": models}


def _wireframe(question: Asked, side: Side) -> bytes:
    read, ids = stored_files.store().read, _items(question)
    truth = _joined_frames(unpack(read(question.study.reference.key)), ids)
    shown = truth if side.name == REFERENCE else _joined_frames(unpack(read(side.key)), ids)
    centre = (truth.vertices.min(axis=0) + truth.vertices.max(axis=0)) / 2 if len(truth.vertices) else np.zeros(3)
    vertices, edges = plain(shown, centre)
    return json.dumps({"vertices": vertices.tolist(), "edges": edges.tolist()}, separators=(",", ":")).encode()


def plain(frame: Wireframe, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A wireframe as it looks and no more: (vertices float64[V, 3], edges int64[E, 2]), both in lexicographic order.

    Vertices are relative to `centre`, rounded; corners at one place are one, edges are there once, whatever their direction.
    """
    placed = np.round(frame.vertices - centre, DIGITS) + 0.0  # no minus zero
    vertices, name = np.unique(placed, axis=0, return_inverse=True)
    edges = np.sort(name.reshape(-1)[frame.edges], axis=1).reshape(-1, 2)
    return vertices.reshape(-1, 3), np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0).reshape(-1, 2)


def _joined_frames(items: Mapping[str, Wireframe], ids: Sequence[str]) -> Wireframe:
    found = [items[name] for name in ids if name in items]
    return Wireframe(*_joined([one.vertices for one in found], [one.edges for one in found], 2))


def _joined(vertices: Sequence[np.ndarray], parts: Sequence[np.ndarray], corners: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of several models, and their edges or faces of so many corners, as of one model."""
    starts = np.cumsum([0, *map(len, vertices)])
    moved = [part + start for part, start in zip(parts, starts, strict=False)]
    return np.concatenate([np.zeros((0, 3)), *vertices]), np.concatenate([np.zeros((0, corners), dtype=np.int64), *moved])


# --- meshes


def meshes(question: Asked) -> dict[str, Any]:
    """The files of both sides and of the reference, one mesh each."""
    models = [{"name": side.name, "role": side.role, "file": f"{side.name}.mesh"} for side in sides(question)]
    return {"form": "mesh", "unit": question.study.phase.unit, "models": models}


def _mesh(question: Asked, side: Side) -> bytes | None:
    def compute() -> bytes:
        read, ids = stored_files.store().read, _items(question)
        truth = _joined_meshes(mesh_files.unpack(read(question.study.reference.key)), ids)
        shown = truth if side.name == REFERENCE else _joined_meshes(mesh_files.unpack(read(side.key)), ids)
        return mesh_scene.single(shown, mesh_scene.frame(truth)[0])

    return _once(question, side, "mesh", compute, heavy=True)


def _joined_meshes(items: Mapping[str, Mesh], ids: Sequence[str]) -> Mesh:
    found = [items[name] for name in ids if name in items]
    if len(found) == 1:
        return found[0]
    colours = None
    if found and all(one.face_colours is not None for one in found):
        colours = np.concatenate([one.face_colours for one in found])
    return Mesh(*_joined([one.vertices for one in found], [one.faces for one in found], 3), colours)


# --- renders


def renders(question: Asked) -> dict[str, Any]:
    """The pictures of some views, and the text they were made from."""
    shown = sides(question)
    about = {side.name: _about_pictures(question, side) for side in shown}
    views = [
        {side.name: None if item in side.missing else f"{side.name}-{number}.webp" for side in shown}
        for number, item in enumerate(_shown_views(question), start=1)
    ]
    return {"form": "render", "prompt": about[REFERENCE].prompt, "normals": any(one.normal for one in about.values()), "views": views}


class AboutPictures(NamedTuple):
    """The text that a generated object was asked for with, and whether there are pictures of normals, as the first view says."""

    prompt: str
    normal: bool


def _about_pictures(question: Asked, side: Side) -> AboutPictures:

    def compute() -> bytes:
        item = next((one for one in _items(question) if one not in side.missing), "")
        view = _stored(side, item)
        picture = view if isinstance(view, Render) else getattr(view, "image", None)
        return json.dumps({"prompt": getattr(view, "prompt", ""), "normal": picture is not None and picture.normal is not None}).encode()

    return AboutPictures(**json.loads(_once(question, side, "json", compute) or b"{}"))


def _stored(side: Side, item: str) -> Any:
    """A view that is stored for a side; None where it has none."""
    with stored_files.store().open(side.key) as source:
        return store.read(source, only=[item]).get(item)


def _shown_views(question: Asked) -> list[str]:
    """The views of the scene that raters see: all, or so many that are evenly spread."""
    ids = _items(question)
    return [ids[k * len(ids) // MAX_VIEWS] for k in range(MAX_VIEWS)] if len(ids) > MAX_VIEWS else ids


def _image(question: Asked, side: Side, place: int, item: str, normal: bool) -> bytes | None:
    def compute() -> bytes:
        view = _stored(side, item)
        picture = view if isinstance(view, Render) else view and view.image
        if view and not picture and view.clean:  # where this very view has no image: one of the scene's clean views, another for each
            picture = view.clean.images[place % len(view.clean.images)]
        if not picture or (normal and picture.normal is None):
            raise NoSuchFile(item)
        return _encoded(replace(picture, png=picture.normal).pixels() if normal else picture.pixels())

    return _once(question, side, "webp", compute, more=[item, normal])


def _encoded(pixels: np.ndarray) -> bytes:
    """uint8[H, W, 3] as WebP, without loss and without anything but its pixels."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "WEBP", lossless=True, quality=40, method=2)
    return buffer.getvalue()
