"""`puzzlesim`: the mean of the similarity map of a render, against the clean views of its scene; and the map as a picture."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.image import subset, working_size
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.variants import inside
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import remember
from evaluation.metrics.spec import PRECISION, MetricSpec, Param, Source
from evaluation.metrics.tolerance import OF_NETWORKS, Tolerance
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    import torch

    from evaluation.metrics.render.puzzlesim.similarity import Scene
    from evaluation.metrics.shared import Arrays
    from submissions.formats.render.views import CleanViews


LOW = 0.6  # pixels below are counted
_scenes: dict[tuple[Any, ...], Scene] = {}
_arrays: dict[tuple[Any, ...], Arrays] = {}


def puzzlesim(pair: RenderPair, weights: str) -> MetricResult:
    """The mean over all pixels of the map of `similarity_map`, in [0, 1]; 1 says that every place is found in a clean view.

    Parts: `puzzlesim_p05`, the 5th percentile of the map, and `share_below_0.6` of its pixels. Flags: `single_reference`,
    `reference_subset` (of more than 100 views), `resized` (the longer side was over 960 px, or the views have another
    size). A scene without clean views does not apply. WeightsError where the weights are not here.
    """
    return _score(pair, weights, None)


def puzzlesim_mask(pair: RenderPair, weights: str) -> MetricResult:
    """`puzzlesim` over the pixels inside the view's mask; a view without one does not apply, an empty one has no value."""
    mask = inside(pair)
    if isinstance(mask, MetricResult):
        return mask
    return _score(pair, weights, mask)


def similarity_map(pair: RenderPair, weights: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """(float32[H, W], flags) of a pair that has a render and clean views: S(p) = Σ_l w_l max_q <F_l,ref(q), F_l,test(p)>, the
    layers upsampled to the render's size. Done once for the pair. WeightsError where the weights are not here."""
    return pair.once(("puzzlesim", weights), lambda: _map(pair, weights))


def _score(pair: RenderPair, weights: str, mask: np.ndarray | None) -> MetricResult:
    from evaluation.metrics.render.puzzlesim.similarity import SMALLEST

    if pair.clean is None or not pair.clean.images:
        return MetricResult(None, Status.NOT_APPLICABLE, ("no_clean_views",))
    stored.require("backbone", weights)
    if pair.missing is not None:
        return pair.missing
    if min(pair.pred.shape[:2]) < SMALLEST:  # an entry may have chosen that size only where any will do
        asked = bool(pair.reference.width and pair.reference.height)
        return MetricResult(None, Status.NOT_APPLICABLE, ("too_small",)) if asked else MetricResult(0.0, flags=("too_small",))
    if mask is not None and mask.shape != pair.pred.shape[:2]:
        return MetricResult(0.0, Status.SIZE_MISMATCH)
    found, flags = similarity_map(pair, weights)
    return summary(found if mask is None else found[mask], flags)


def summary(values: np.ndarray, flags: tuple[str, ...] = ()) -> MetricResult:
    """The score of a map's values (float, any shape, at least one)."""
    numbers = values.astype(np.float64)
    parts = {"puzzlesim_p05": float(np.percentile(numbers, 5)), "share_below_0.6": float((numbers < LOW).mean())}
    return MetricResult(float(np.clip(numbers.mean(), 0.0, 1.0)), flags=flags, parts=parts)


def _map(pair: RenderPair, weights: str) -> tuple[np.ndarray, tuple[str, ...]]:
    from evaluation.networks.inference import with_room

    pixels, clean = pair.pred, pair.clean
    assert clean is not None  # `_score` gives a pair without them no value
    height, width = pixels.shape[:2]
    size = working_size(width, height)
    views = {(width, height), (clean.images[0].width, clean.images[0].height)}
    noted = {
        "single_reference": len(clean.images) == 1,
        "reference_subset": len(subset(len(clean.images))) < len(clean.images),
        "resized": views != {size} and "resized" not in pair.flags,
    }

    def compute(device: torch.device) -> np.ndarray:
        scene = _scene(pair, clean, weights, size, device.type)
        return np.ones((height, width), np.float32) if pair.preparing else scene.map(pixels)

    return with_room(compute), tuple(flag for flag, holds in noted.items() if holds)


def _scene(pair: RenderPair, clean: CleanViews, weights: str, size: tuple[int, int], device: str) -> Scene:
    """The scene's features at that size: of this process, of what was prepared, or computed."""
    from evaluation.metrics.render.puzzlesim import similarity
    from evaluation.networks.load import load

    digest = stored.get("backbone", weights).sha256
    key = (clean.sha256, digest, size, device)
    network = load("backbone", weights, device)
    name = f"puzzlesim features {digest} {size[0]}x{size[1]}"
    arrays = pair.reference_once(name, lambda: remember(_arrays, key, lambda: _collected(network, clean, key)))

    def compute() -> Scene:
        if arrays:
            return similarity.from_arrays(network, arrays, size, device)
        return similarity.scene(network, _views(clean), size, device)

    return remember(_scenes, key, compute)


def _collected(network: Any, clean: CleanViews, key: tuple[Any, ...]) -> Arrays:
    """The features as arrays, the same ones for all items of the scene; () where they are too many to be kept."""
    from evaluation.metrics.render.puzzlesim import similarity

    _, _, size, device = key
    collectors = similarity.collect(network, _views(clean), size, device)
    if similarity.weight(collectors) > similarity.Budget().features:
        remember(_scenes, key, lambda: similarity.of_collectors(network, collectors, size, device))
        return ()
    return tuple(one.array() for one in collectors)


def _views(clean: CleanViews) -> Any:
    return (clean.images[place].pixels() for place in subset(len(clean.images)))


class MapScorer:
    """`puzzlesim` on the clean views of a scene, at their working size, for its acceptance test. The features of the others are computed
    again when another view is left out, so ask for all scores without one view before the next."""

    def __init__(self, clean: CleanViews, weights: str) -> None:
        from evaluation.networks.inference import best_device
        from evaluation.networks.load import load

        self._images = [clean.images[place] for place in subset(len(clean.images))]
        self._size = working_size(self._images[0].width, self._images[0].height)
        self._device = best_device().type
        self._network = load("backbone", weights, self._device)
        self._scene: tuple[int | None, Scene] | None = None
        self.views = len(self._images)

    def score(self, pixels: np.ndarray, without: int | None) -> tuple[float, np.ndarray]:
        """(the mean of the map, the map float32[H, W]) of uint8[H, W, 3]."""
        from evaluation.metrics.render.puzzlesim import similarity

        if self._scene is None or self._scene[0] != without:
            others = (image.pixels() for place, image in enumerate(self._images) if place != without)
            self._scene = None  # before the next one needs the room
            self._scene = without, similarity.scene(self._network, others, self._size, self._device)
        found = self._scene[1].map(pixels)
        return float(np.clip(found.mean(dtype=np.float64), 0.0, 1.0)), found


def scorer(clean: CleanViews, params: Mapping[str, Any], prepared: MutableMapping[str, Arrays] | None = None) -> MapScorer:
    """The acceptance test's scorer on clean views, of which there must be two (ValueError). `prepared` gains nothing: the clean views to
    compare with change with each view. WeightsError where the weights are not here."""
    if len(clean.images) < 2:
        raise ValueError("a clean view is compared with at least one other")
    return MapScorer(clean, str(params["weights"]))


_DEFAULT = "squeezenet-imagenet"
_WEIGHTS = Param(
    "weights",
    _DEFAULT,
    "choice",
    choices=tuple(dict.fromkeys((_DEFAULT, *sorted(stored.PUBLISHED["backbone"])))),
    network="backbone",
    doc=(
        "The network whose features are compared, and its training data. The paper uses squeezenet-imagenet; its code also has "
        "alexnet-imagenet and vgg16-imagenet. All three are downloaded. Layers and their weights (0.67, 0.20, 0.13) are those of the "
        "authors' code."
    ),
    source=Source.PAPER,
)
# Pixels of a map that lie at the threshold fall on either side of it.
_TOLERANCE = replace(OF_NETWORKS, parts=(("share_below_0.6", Tolerance(absolute=2e-3)),))
_ORIGIN = Origin((papers.PUZZLESIM,), "the mean of the map is our own score")
_FORMULA = (
    "S(p) = Σ_l w_l max_{n,q} ⟨F_l(ref_n, q), F_l(render, p)⟩, w = (0.67, 0.20, 0.13); F_l: third to fifth feature map of the backbone, "
    "features of length 1, each map enlarged bilinearly"
)

PLACE = 80  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="puzzlesim",
        title="PuzzleSim",
        family="render",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(_WEIGHTS, PRECISION),
        worst="0",
        doc=(
            "How much each patch of a render resembles the most similar patch of the scene's clean views, from any viewpoint. The value is "
            "the mean of a map in which artifacts have low values. The metric compares with clean views (undamaged pictures from other "
            "cameras) and needs no reference picture of the view itself. At most 100 clean views are used, and images are scaled to at "
            "most 960 pixels on their longer side."
        ),
        origin=_ORIGIN,
        function=puzzlesim,
        formula=f"mean over the pixels p of {_FORMULA}",
        needs=("clean views",),
        weights="backbone",
        tolerance=_TOLERANCE,
        acceptance_scorer=scorer,
    ),
    MetricSpec(
        key="puzzlesim@mask",
        title="PuzzleSim inside the mask",
        family="render",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(_WEIGHTS, PRECISION),
        worst="0",
        doc="The mean of the PuzzleSim map over the pixels inside the view's mask.",
        origin=_ORIGIN,
        function=puzzlesim_mask,
        formula=f"mean over the pixels p inside the mask of {_FORMULA}",
        needs=("clean views", "mask"),
        weights="backbone",
        tolerance=_TOLERANCE,
    ),
)


# From dark blue by grey to light yellow, after Cividis (Nuñez, Anderton, Renslow, 2018): people with a deficiency of colour
# vision see much the same, and lightness alone tells the order.
SCALE = np.array(
    [
        (0, 34, 78),
        (11, 51, 112),
        (52, 68, 109),
        (80, 86, 108),
        (103, 103, 112),
        (124, 123, 120),
        (147, 142, 120),
        (171, 162, 115),
        (197, 184, 104),
        (225, 207, 85),
        (254, 232, 56),
    ],
    dtype=np.float64,
)
SCALE_LOW, SCALE_HIGH = 0.6, 1.0  # similarities at the ends of the scale; below the lower one the metric counts a pixel as low


def picture(
    values: np.ndarray, low: float = SCALE_LOW, high: float = SCALE_HIGH, opacity: tuple[float, float] = (0.85, 0.25)
) -> np.ndarray:
    """uint8[H, W, 4] (RGBA, not premultiplied) from a similarity map float[H, W].

    Dark blue is `low` or less, light yellow `high` or more. Places unlike the scene cover the render more: `opacity` is of `low` and of
    `high`. ValueError where `low` is not below `high`, or a value is not finite.
    """
    if not low < high:
        raise ValueError(f"the scale must rise, got {low} to {high}")
    if not np.isfinite(values).all():
        raise ValueError("the map has values that are not finite")
    place = np.clip((values.astype(np.float64) - low) / (high - low), 0.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(SCALE))
    colours = [np.interp(place, stops, SCALE[:, channel]) for channel in range(3)]
    alpha = 255 * (opacity[0] + (opacity[1] - opacity[0]) * place)
    return np.rint(np.stack([*colours, alpha], axis=-1)).astype(np.uint8)


def legend(low: float = SCALE_LOW, high: float = SCALE_HIGH, steps: int = 7) -> list[tuple[float, str]]:
    """(similarity, "#rrggbb") at even steps of the scale, for a key beside the picture."""
    values = np.linspace(low, high, steps)
    colours = picture(values[None], low, high)[0]
    return [(float(value), "#" + bytes(colour[:3]).hex()) for value, colour in zip(values, colours, strict=True)]
