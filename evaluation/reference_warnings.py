"""Warnings of probable mistakes in a reference and its metrics: without objects, prompts or a volume, no value. PURE.

Objects take a detector and volumes a second each, so this is asked in a child or on the command line, never while a page is made.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.volume import encloses
from evaluation.metrics.render.detections import Looking, detections
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces.metric import ENOUGH_VIEWS, MIN_VIEWS
from evaluation.networks import weights

if TYPE_CHECKING:
    from submissions.formats.arrays import Mesh
    from submissions.formats.render.views import View

DETECTOR = "yolox"  # the network, in evaluation/networks/weights.py
VOLUME, REGIONS, PIECES = "volume_iou", "osim_rois", "puzzlesim_pieces"  # metrics; the last begins the keys of two


def of(family: str, items: Mapping[str, Any], columns: Iterable[tuple[str, Mapping[str, Any]]], seconds: float = math.inf) -> list[str]:
    """All that speaks against these items of a family for these columns, a sentence each; see the functions for each family."""
    return KINDS[family].reference_warnings(items, list(columns), seconds)


def of_views(items: Mapping[str, View], columns: Sequence[tuple[str, Mapping[str, Any]]], seconds: float = math.inf) -> list[str]:
    """All that speaks against views: no texts, no marked regions, too few clean views, no objects."""
    keys = [key for key, _ in columns]
    return [*of_prompts(items, keys), *of_regions(items, keys), *of_clean_views(items, keys), *of_objects(items, columns, seconds)]


def of_volumes(meshes: Mapping[str, Mesh], columns: Iterable[tuple[str, Mapping[str, Any]]], seconds: float = math.inf) -> list[str]:
    """A sentence for each mesh that encloses nothing, where a metric compares volumes; nothing more after so many `seconds`.

    Meshes that cannot be measured against at all are refused in another place.
    """
    until = time.monotonic() + seconds
    resolutions = {registry.resolve_params(key, params)["resolution"] for key, params in columns if key == VOLUME}
    if not resolutions:
        return []
    found = []
    for name, mesh in meshes.items():
        if time.monotonic() > until:
            break
        try:
            pair = MeshPair.of(None, mesh)
        except ValueError:
            continue
        if not all(encloses(pair, resolution) for resolution in resolutions):
            found.append(
                f"{name}: encloses nothing (it is flat, or open with its faces turned inwards), so "
                f"{registry.get(VOLUME).title} has no value there; close it, or turn its faces outwards."
            )
    return found


def of_prompts(views: Mapping[str, View], keys: Iterable[str]) -> list[str]:
    """A sentence for each scene without a text, where a metric compares with texts. A reference without any is refused in another place."""
    titles = [spec.title for spec in map(registry.get, dict.fromkeys(keys)) if spec.wants_prompts]
    if not titles:
        return []
    bare = dict.fromkeys(name.partition("/")[0] for name, view in views.items() if not view.prompt.strip())
    return [f"{scene}: has no text in prompts.json, so {' and '.join(titles)} has no value there." for scene in bare]


def of_regions(views: Mapping[str, View], keys: Iterable[str]) -> list[str]:
    """A sentence for each scene without a marked region, where a metric looks at nothing else."""
    if REGIONS not in keys:
        return []
    marked = {name.partition("/")[0] for name, view in views.items() if view.rois and view.image is not None}
    bare = dict.fromkeys(name.partition("/")[0] for name in views)
    title = registry.get(REGIONS).title
    return [f"{scene}: marks no region in {scene}/rois.json, so {title} has no value there." for scene in bare if scene not in marked]


def of_clean_views(views: Mapping[str, View], keys: Iterable[str]) -> list[str]:
    """A sentence for each scene with too few clean views, or few, for a metric that judges by them."""
    titles = [registry.get(key).title for key in dict.fromkeys(keys) if key.startswith(PIECES)]
    if not titles:
        return []
    counts = {name.partition("/")[0]: len(view.clean.images) if view.clean else 0 for name, view in views.items()}
    named, found = " and ".join(titles), []
    for scene, count in counts.items():
        views_of = f"{scene}: has {count} clean view{'' if count == 1 else 's'}"
        if count < MIN_VIEWS:
            has = "has" if len(titles) == 1 else "have"
            found.append(f"{views_of}, so {named} {has} no value there; put {MIN_VIEWS} or more into {scene}/clean/.")
        elif count < ENOUGH_VIEWS:
            found.append(f"{views_of}; with fewer than {ENOUGH_VIEWS}, scores of {named} depend much on which views these are.")
    return found


def of_objects(views: Mapping[str, View], columns: Iterable[tuple[str, Mapping[str, Any]]], seconds: float = math.inf) -> list[str]:
    """A warning for each scene in which the detector of a column finds no object and no region is marked.

    `columns` are (key of a metric, its parameters as given). A scene's views are searched until an object is found. Detectors whose
    weights are missing or damaged, or that need too much memory, are skipped, because a warning must not stop anybody. The search ends
    after so many `seconds`.
    """
    until = time.monotonic() + seconds
    wanted: dict[Looking, list[str]] = {}
    for key, params in columns:
        spec = registry.get(key)
        given = registry.resolve_params(key, params)
        name = next((name for network, name in spec.networks if network == DETECTOR), None)
        if name is not None and not weights.refusal(spec, given):
            looking = Looking(given[name], given["conf"], given["nms"], given["class_agnostic"])
            wanted.setdefault(looking, []).append(spec.title)
    return [
        f"{scene}: the detector {looking.weights} finds no object in its views, so {' and '.join(titles)} "
        f"{'has' if len(titles) == 1 else 'have'} no value there; mark objects in {scene}/rois.json."
        for looking, titles in wanted.items()
        for scene in _without(views, looking, until)
    ]


def _without(views: Mapping[str, View], looking: Looking, until: float) -> Iterator[str]:
    """The scenes with reference images, in none of which there is an object; those that have been looked through by then."""
    scenes: dict[str, list[View]] = {}
    for name, view in views.items():
        if view.image is not None:
            scenes.setdefault(name.partition("/")[0], []).append(view)
    for scene, named in scenes.items():
        if any(view.rois for view in named):
            continue
        for view in named:
            if time.monotonic() > until:
                return
            try:
                found = detections(RenderPair.of(None, view), looking)
            except (weights.WeightsError, MemoryError):
                return
            if len(found):
                break
        else:
            yield scene
