"""An entry's gallery: some of its items from the worst to the best, each with its value and, as far as the reader may see it, a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from evaluation.metrics.wireframe.pair import Pair
from evaluation.models import Evaluation, PictureRun
from leaderboard.boards.scorecard import ItemTable, Result, results
from leaderboard.kinds import KINDS
from leaderboard.service.page_cache import PageCache
from leaderboard.viewer import render_scene, svg
from leaderboard.viewer.mesh_lod import simplify
from leaderboard.viewer.wireframe_scene import EXTRA, MISSED, classified
from leaderboard.wording import items
from leaderboard.wording.digits import rounded
from submissions.formats.arrays import Mesh
from submissions.formats.mesh import mesh_files
from submissions.formats.wireframe.wireframe_files import Wireframe, unpack
from submissions.lookup import EntryPlace
from submissions.storage import stored_files

MAX_LINES = 600  # of a drawing inside the page
MAX_FACES = 500  # of a mesh there, which is simplified to so many
MAX_BYTES = 40_000_000  # of stored meshes that are read while a page waits
LABELS = {1: ("only one",), 2: ("worst", "best"), 3: ("worst", "median", "best"), 4: ("worst", "2nd worst", "2nd best", "best")}
TILES = PageCache(size=256)  # drawings; what they are made of never changes
SIX = ("worst", "2nd worst", "median", "median", "2nd best", "best")


@dataclass(frozen=True)
class Tile:
    """One item: the reason why it is shown, its value, and its picture, drawn or as an image; without a picture if none may be seen."""

    item: str
    label: str
    value: str
    drawing: svg.Classed | None = None
    shaded: svg.Shaded | None = None
    picture: render_scene.Picture | None = None

    @property
    def more(self) -> str:
        """Numbers of the reference's lines and of the entry's without a counterpart, in words."""
        if self.drawing is None or not self.drawing.reference:
            return ""
        parts = [f"{n} {word}" for n, word in ((self.drawing.n_missed, "missed"), (self.drawing.n_extra, "extra")) if n]
        return ", ".join(parts) or "all matched"


@dataclass(frozen=True)
class Gallery:
    """Tiles from the worst item to the best by one metric; `run` is the progress of pictures that are still being made."""

    tiles: list[Tile]
    metric: str
    n_items: int
    run: PictureRun | None = None

    @property
    def has_reference(self) -> bool:
        """True if the reference is drawn under the entry."""
        return any(tile.drawing is not None and tile.drawing.reference for tile in self.tiles)

    @property
    def is_alone(self) -> bool:
        """True if the entry is drawn without the reference, which this reader may not see."""
        return not self.has_reference and any(tile.drawing is not None for tile in self.tiles)


def gallery(place: EntryPlace, evaluation: Evaluation, table: ItemTable) -> Gallery | None:
    """For viewers who may see the values per item. None if no item has a value by the metric that first sorts the table."""
    result = next((one for one in table.results if one.slug == table.sort), None)
    if result is None:
        return None
    if not _differs(table, result):  # without a worst item, because all are alike: the first metric whose items differ
        result = next((one for one in table.results if one.spec.level == "item" and _differs(table, one)), result)
        table = ItemTable(evaluation, table.results, result.slug, sees_reference=table.sees_reference)

    # Items with the reason why each is shown, the worst first.
    values = result.score.values_shown(table.sees_reference)
    order = [index for index in table.order() if not math.isnan(values[index])]
    if not order:
        return None
    places, labels = _places(len(order))
    if not _differs(table, result):
        places, labels = places[:3], ["all alike"] * min(3, len(places))
    chosen = [(order[at], label) for at, label in zip(places, labels, strict=True)]
    pictures, waiting = _pictures(place, evaluation, [index for index, _ in chosen])
    tiles = []
    for index, label in chosen:
        note = items.STATUSES.get(result.score.statuses[index], "")
        drawn = _drawing(place, evaluation, table.ids[index])
        classed, shaded = (drawn, None) if isinstance(drawn, svg.Classed) else (None, drawn)
        label = f"{label} · {note}" if note else label
        tiles.append(Tile(table.ids[index], label, rounded(float(values[index])).text, classed, shaded, pictures.get(index)))
    return Gallery(tiles, result.metric.title, len(table.ids), waiting)


def _places(n: int) -> tuple[tuple[int, ...], Sequence[str]]:
    """Places of the items that are shown, of n from the worst to the best, and the reason for each."""
    if n >= len(SIX):
        middle = (n - 1) // 2 if n % 2 == 0 else n // 2 - 1
        return (0, 1, middle, middle + 1, n - 2, n - 1), SIX if n % 2 == 0 else (*SIX[:2], "below the median", *SIX[3:])
    return ((0, 2, 4), LABELS[3]) if n == 5 else (tuple(range(n)), LABELS[n])


def _pictures(
    place: EntryPlace, evaluation: Evaluation, chosen: Sequence[int]
) -> tuple[dict[int, render_scene.Picture], PictureRun | None]:
    """Pictures of these views, of images, as far as they are made, and the run of one that is still waited for."""
    pictures: dict[int, render_scene.Picture] = {}
    waiting = None
    if not (place.submission.phase.challenge.kind.images and place.may("see_render")):
        return pictures, waiting
    reference, every = evaluation.batch.reference, results(evaluation, None)
    evaluation.submission = place.submission
    runs: dict[str, tuple[render_scene.Scene, PictureRun]] = {}
    for index in chosen:
        group = reference.groups[index]
        if group not in runs:
            scene = render_scene.Scene(evaluation, group, every, place.may("see_geometry"))
            runs[group] = scene, scene.request()
        scene, run = runs[group]
        view = scene.view(reference.item_ids[index], run)
        if view.render is not None:
            pictures[index] = view.render
        elif run.state == PictureRun.State.WAITING:
            waiting = run
    return pictures, waiting


def _drawing(place: EntryPlace, evaluation: Evaluation, item: str) -> svg.Classed | svg.Shaded | None:
    """The drawing of an item, of a kind that has such, as far as the reader may see it."""
    kind = KINDS[place.submission.phase.challenge.family]
    if not (kind.tile and place.may("see_render") and place.submission.artifact_key):
        return None
    reference_key = evaluation.batch.reference.key if place.may("see_geometry") else ""
    columns = json.dumps([(one.key, one.params) for one in evaluation.batch.columns], sort_keys=True)
    facts = (reference_key, place.submission.artifact_key, item, columns, evaluation.batch.unit_scale)
    return TILES.of(facts, partial(kind.draw_tile, *facts))


def _differs(table: ItemTable, result: Result) -> bool:
    """True if the items do not all have one value by that metric."""
    values = result.score.values_shown(table.sees_reference)
    return len({rounded(float(value)).text for value in values if not math.isnan(value)}) > 1


@lru_cache(maxsize=4)
def stored(key: str) -> dict[str, Wireframe]:
    """The wireframes under a storage key, which never changes; kept, because people step from item to item."""
    return unpack(stored_files.store().read(key))


def wireframe_tile(reference: str, entry: str, item: str, columns: str, unit_scale: float) -> svg.Classed | None:
    """An entry's wireframe with matched, missed and extra lines as the phase counts them. `reference` is the key of the stored one; if it
    is empty, the wireframe is drawn alone. None if there are too many lines for a page."""
    predicted = stored(entry).get(item)
    truth = stored(reference)[item] if reference else None
    if (predicted is None and truth is None) or max(
        (len(one.edges) for one in (predicted, truth) if one is not None), default=0
    ) > MAX_LINES:
        return None
    if truth is None:
        assert predicted is not None
        return svg.draw_classed(None, predicted, [], [False] * len(predicted.edges))
    of_entry, _, of_truth, _ = classified(Pair.of(predicted, truth, unit_scale), json.loads(columns))
    return svg.draw_classed(truth, predicted, [one == MISSED for one in of_truth], [one == EXTRA for one in of_entry])


@lru_cache(maxsize=2)
def stored_meshes(key: str) -> dict[str, Mesh]:
    """The meshes under a storage key, which never changes; kept while the tiles of one page are drawn."""
    return mesh_files.unpack(stored_files.store().read(key))


def mesh_tile(reference: str, entry: str, item: str, columns: str, unit_scale: float) -> svg.Shaded | None:
    """An entry's mesh, simplified and shaded, in the reference's frame if its key is given; None if there is none, or if the stored meshes
    are too large to be read while a page waits."""
    if any(stored_files.store().size(key) > MAX_BYTES for key in (entry, reference) if key):
        return None
    mesh = stored_meshes(entry).get(item)
    if mesh is None or not len(mesh.faces):
        return None
    vertices, faces = mesh.vertices, mesh.faces
    if len(faces) > MAX_FACES:
        vertices, faces, _ = simplify(vertices, faces, MAX_FACES)
    return svg.draw_shaded(Mesh(vertices, faces, None), stored_meshes(reference)[item] if reference else None)
