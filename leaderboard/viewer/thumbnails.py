"""Pictures of entries, drawn from the teams' files, without the reference: small ones for boards, of the first item that an entry has, and
larger ones of any item, shown in place of a 3D view.

Small ones are made when a board is ranked, so that its first visitor finds them. They are stored beside an entry's other drawings. A
missing one is made again on request. The colours hold on a light page and on a dark one.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection
from typing import Any

import numpy as np
import structlog
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from evaluation.models import Evaluation, EvaluationBatch, PictureRun
from leaderboard.kinds import KINDS
from leaderboard.viewer import svg
from leaderboard.viewer.viewer_cache import once
from submissions.models import Phase, Submission
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

VERSION = 4  # of the drawing
TURN = math.radians(-30)  # from where the 3D view opens: a three-quarter view of most models
WIDTH, HEIGHT = 144, 96  # px of a small picture, twice as many as on the page
LARGE = 4  # times as wide and high
FINER = 3  # how much finer lines are drawn first
MARGIN = 4
LINE = (70, 122, 214, 255)
DARK, BRIGHT = (66, 74, 88), (190, 202, 220)  # of a surface turned from the light and to it
POINTS = 60_000  # of a surface; more than a small picture has pixels
QUALITY = 80
MAX_PREPARED = 30  # entries of a phase in one go, the newest first
MAX_SCENES = 24  # of an entry of renders, whose pictures are made before anybody asks


def item_of(batch: EvaluationBatch, missing: Collection[str] = ()) -> str:
    """The item that is shown of an entry: the first of the reference without those that are `missing` in the entry."""
    items = batch.reference.item_ids
    return next((item for item in items if item not in missing), items[0] if items else "")


def picture(submission: Submission, item: str, times: int = 1) -> bytes | None:
    """The picture as WebP, so many `times` the size of a small one, made where it is not there yet; None where others are being made for
    long."""
    facts = {"thumbnail": VERSION, "artifact": submission.artifact_key, "item": item, "times": times}
    kind = KINDS[submission.phase.challenge.family]

    def compute() -> bytes:
        path = stored_files.store().local_path(submission.artifact_key)
        found = submission.phase.challenge.kind.load(path, [item]).get(item)
        out, image = io.BytesIO(), kind.thumb(found, times) if found is not None else _nothing(times)
        image.save(out, "WEBP", quality=QUALITY, method=4)
        return out.getvalue()

    return once(str(submission.pk), facts, "webp", compute, heavy=True)


def prepare(phase: Phase) -> None:
    """Make the pictures of the entries that were scored last. For renders their scenes' pictures are asked for too: workers make them
    behind everything else. Pictures that cannot be made are left out, and reported to the operator."""
    if not phase.has_files:
        return
    done = Evaluation.objects.filter(batch__phase=phase, batch__state=EvaluationBatch.State.CURRENT, state=Evaluation.State.DONE)
    newest = done.exclude(submission__artifact_key="").select_related("submission", "batch__reference").order_by("-finished_at", "-pk")
    for evaluation in newest[:MAX_PREPARED]:
        submission = evaluation.submission
        submission.phase = phase
        try:
            picture(submission, item_of(evaluation.batch, submission.missing_items))
        except Exception as error:  # for any error boards go on without it
            log.warning("no picture of an entry could be made", entry=submission.pk, error=str(error))
    if phase.challenge.kind.images:
        for evaluation in newest.filter(picture_runs=None)[:MAX_PREPARED]:
            reference = evaluation.batch.reference
            of_scene: dict[str, list[str]] = {}
            for item, scene in zip(reference.item_ids, reference.groups, strict=True):
                of_scene.setdefault(scene, []).append(item)
            for scene in list(of_scene)[:MAX_SCENES]:
                PictureRun.request(evaluation, scene, of_scene[scene])


# --- drawings, by kind


def wireframe(item: Any, times: int = 1) -> Image.Image:
    """The edges of a wireframe, as `svg` looks at it."""
    finer = FINER * times
    image = Image.new("RGBA", (WIDTH * finer, HEIGHT * finer))
    if len(item.vertices):
        at, draw = _placed(item.vertices, finer), ImageDraw.Draw(image)
        for a, b in item.edges.tolist():
            draw.line([tuple(at[a]), tuple(at[b])], fill=LINE, width=round(3 * FINER * times**0.5))
    return image.resize((WIDTH * times, HEIGHT * times), Image.Resampling.LANCZOS)


def mesh(item: Any, times: int = 1) -> Image.Image:
    """The surface of a mesh under a light from the left, by points on it: as much work for any number of faces."""
    pixels = np.zeros((HEIGHT * times, WIDTH * times, 4), dtype=np.uint8)
    corners = item.vertices[item.faces] if len(item.faces) else np.zeros((0, 3, 3))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    if not areas.sum() > 0:
        return Image.fromarray(pixels)
    rng = np.random.default_rng(0)
    face = rng.choice(len(areas), POINTS * times**2, p=areas / areas.sum())
    u, v = rng.random((2, len(face)))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    a, b, c = corners[face, 0], corners[face, 1], corners[face, 2]
    points = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    at = _placed(item.vertices, times, points)
    towards = np.array([np.sin(TURN) * np.cos(svg.RISE), np.cos(TURN) * np.cos(svg.RISE), -np.sin(svg.RISE)])  # away from the eye
    nearest_last = np.argsort(-(points @ towards), kind="stable")
    light = np.array([-0.45, -0.65, 0.6])
    turned = np.abs(normals[face] @ (light / np.linalg.norm(light))) / np.maximum(areas[face], 1e-300)  # of either side
    colours = np.array(DARK) + turned[:, None] * (np.array(BRIGHT) - np.array(DARK))
    x, y = (np.clip(at[:, k].astype(int), 0, size * times - 1) for k, size in ((0, WIDTH), (1, HEIGHT)))
    pixels[y[nearest_last], x[nearest_last], :3] = colours[nearest_last]
    pixels[y, x, 3] = 255
    return Image.fromarray(pixels).filter(ImageFilter.MedianFilter(3))  # where a point of the back shows between those of the front


def render(item: Any, times: int = 1) -> Image.Image:
    """A render, cut to the shape of the others."""
    with Image.open(io.BytesIO(item.png), formats=("PNG",)) as image:
        return ImageOps.fit(image.convert("RGB"), (WIDTH * times, HEIGHT * times), Image.Resampling.LANCZOS)


def _nothing(times: int) -> Image.Image:
    """Picture for an item that an entry lacks."""
    image = Image.new("RGBA", (WIDTH * times, HEIGHT * times))
    draw, middle = ImageDraw.Draw(image), HEIGHT * times // 2
    for start in range(4, WIDTH * times - 8, 14):
        draw.line([(start, middle), (start + 7, middle)], fill=LINE, width=2)
    return image


def _placed(vertices: Any, scale: int, points: Any = None) -> Any:
    """float64 [N, 2] in pixels, of `points` or of the vertices themselves, so that all vertices lie in the picture."""
    flat = svg.is_flat(vertices)
    frame = svg.seen(vertices, flat, TURN)
    low, span = frame.min(axis=0), np.ptp(frame, axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]) * scale
    fit = float(np.min(room / np.maximum(span, 1e-9)))
    at = (svg.seen(vertices if points is None else points, flat, TURN) - low) * fit
    at += (np.array([WIDTH, HEIGHT]) * scale - fit * span) / 2
    at[:, 1] = HEIGHT * scale - at[:, 1]
    return at
