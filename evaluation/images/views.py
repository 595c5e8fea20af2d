"""Making of the pictures of a view. PURE."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.images import paint
from evaluation.images.names import CELLS, ERROR, LOW, MAP, MASK, REFERENCE, RENDER, SMALL, Made, file_name
from evaluation.metrics import registry
from evaluation.metrics.render import osim
from evaluation.metrics.render.osim import SeenObject
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces import metric as pieces
from evaluation.metrics.render.puzzlesim.metric import puzzlesim, similarity_map


def pictures(
    pair: RenderPair, maps: Mapping[str, Mapping[str, Any]], objects: Mapping[str, tuple[float, Sequence[SeenObject]]]
) -> Iterator[Any]:
    """(name, uint8[H, W, 3]) of each picture that the view has.

    `maps` are the key and the parameters of the columns that judge places by clean views, by slug; `objects` the scene's value and the
    view's objects of the columns of objectness by slug. Parts that the view lacks (a render, a reference image, clean views, a mask) make
    no picture.
    """
    render = None if pair.prediction is None else pair.pred
    reference = None if pair.reference.image is None else pair.ref
    if render is not None:
        yield RENDER, render
    if reference is not None:
        yield REFERENCE, reference
    mask, under = pair.mask, reference if reference is not None else render
    if mask is not None and under is not None and mask.shape == under.shape[:2]:
        yield MASK, paint.within(under, mask)
    if render is None:
        return
    if reference is not None and pair.not_alike is None:
        yield ERROR, paint.difference(render, reference)
    for slug, column in maps.items():
        if column["key"].startswith(pieces.KEY):
            with registry.get(column["key"]).computing(column["params"]):
                odd = pieces.odd_places(pair, column["params"]["features"])
            if odd is not None:
                yield f"{CELLS}{slug}", paint.marked(render, odd)
        else:
            with registry.get(column["key"]).computing(column["params"]):
                found = _map(pair, column["params"]["weights"])
            if found is not None:
                yield f"{MAP}{slug}", paint.similarity(render, found)
    for slug, (value, seen) in objects.items():
        if seen and pair.not_alike is None:
            yield f"{LOW}{slug}", osim.masked(render, osim.low_quality(seen, value))


def _map(pair: RenderPair, weights: str) -> np.ndarray | None:
    """The map that the score is the mean of; None where the score is not the mean of one."""
    result = puzzlesim(pair, weights=weights)
    if result.value is None or not result.parts:
        return None
    return similarity_map(pair, weights)[0]


def make(
    folder: Path,
    predictions: Mapping[str, Any],
    references: Mapping[str, Any],
    item_ids: Sequence[str],
    columns: Mapping[str, Any],
    unit_scale: float,
    seconds: float,
    prepared: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Made]:
    """Make the pictures of these views in this order, at least one view, until the `seconds` are over: what was made, by view.

    The files lie in `folder` as `file_name` says. `columns` are {"maps": {slug: {"key", "params"}}, "objects": {slug: {"value",
    "views": {item id: rows of SeenObject}}}} as plain JSON. `prepared` is what is known of the references.
    """
    until = clock() + seconds
    made: dict[str, Made] = {}
    for number, item_id in enumerate(item_ids):
        if made and clock() > until:
            break
        known = (prepared or {}).get(item_id)
        pair = RenderPair.of(predictions.get(item_id), references[item_id], unit_scale, prepared=known)
        objects = {
            slug: (one["value"], [SeenObject(*row) for row in one["views"].get(item_id, ())]) for slug, one in columns["objects"].items()
        }
        made[item_id] = {}
        for name, image in pictures(pair, columns["maps"], objects):
            for end, longest in (("", paint.LARGE), (SMALL, paint.SMALL)):
                (folder / file_name(number, name + end)).write_bytes(paint.webp(image, longest))
            made[item_id][name] = list(paint.sized(image.shape[1], image.shape[0], paint.LARGE))
    return made
