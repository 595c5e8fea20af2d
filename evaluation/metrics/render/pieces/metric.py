"""`puzzlesim_pieces`: how plausible the places of a render are among clean views of its scene, each piece counted once."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import image
from evaluation.metrics.render.image import resized
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces.features import CELL, LEAST_DEVIATION, LITE0, SMALLEST, Features, Views, grid
from evaluation.metrics.render.pieces.plausibility import Clean, Known, Plausible, overall
from evaluation.metrics.render.variants import EMPTY_MASK, inside
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import SharedWork, remember
from evaluation.metrics.spec import PRECISION, Earlier, MetricSpec, Param, Source
from evaluation.metrics.tolerance import OF_NETWORKS, Tolerance
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    from evaluation.metrics.shared import Arrays
    from submissions.formats.render.views import CleanViews, Render

KEY, NETWORK = "puzzlesim_pieces", "pieces"
MIN_VIEWS = 4
ENOUGH_VIEWS = 16  # with fewer, scores depend much on which views they are
CORRECTED = "copies of clean views, and scenes with repeated ones"
COPIED, COPIED_SHARE = 0.1, 0.2  # a render with more places of a lower ρ than this share is flagged
ROOTED = (LITE0,)
_scenes: dict[tuple[Any, ...], Scene] = {}


@dataclass(frozen=True, eq=False)
class Scene:
    """Clean views at one size (width, height), and what is fitted on them."""

    features: Features
    clean: Clean
    size: tuple[int, int]
    rooted: bool  # whether the score is (mean √u)²

    @classmethod
    def fit(cls, images: Sequence[Render], size: tuple[int, int], features: str, least: float = LEAST_DEVIATION) -> Scene:
        """The scene of at least two clean views, brought to that size; `least` as for `Whitening.fit`."""
        views = Views(images, size)
        found, raw = Features.fit(views, features, least)
        return cls(found, Clean.of(np.stack([found.whitening(cells) for cells in raw])), size, features in ROOTED)

    @cached_property
    def known(self) -> Known:
        """The knowledge that the clean views have of each other."""
        return self.clean.known()

    def plausible(self, pixels: np.ndarray, without: int | None = None) -> Plausible:
        """Plausibility of the cells of uint8[H, W, 3] of any size, compared with all views or all but one."""
        known = self.known if without is None else self.clean.known(without)
        return self.clean.plausible(self.features(resized(pixels, *self.size, "bilinear")), known, without)


def puzzlesim_pieces(pair: RenderPair, features: str) -> MetricResult:
    """(mean √u)² over the cells of 16 × 16 px by EfficientNet-Lite0, the mean of u by other features, in [0, 1]; higher is more plausible.
    Lower than the clean band is worse than them.

    Copies of clean views gain nothing. A view with more than a fifth of its cells copied (flag `copied_reference`) counts 0.
    A view that scores above all clean views (flag `above_clean`) counts as the best of these. The part `measured` then has the
    score as it came out.

    Parts: `share` (mean s), `pieces` (effective share of different pieces), `unlike` (share of cells with u below u₅), and the
    scores of the clean views, each against the others: `clean_mean`, `clean_least`, `clean_greatest`. Flags: `few_references`
    (fewer than 4, no value), `reference_subset` (of more than 100), `resized`, `too_small` (a side under 96 px), `clean_views_alike`
    (clean views that do not differ, no value). WeightsError where a backbone's are not here.
    """
    return _score(pair, features, None, LEAST_DEVIATION)


def puzzlesim_pieces_mask(pair: RenderPair, features: str) -> MetricResult:
    """`puzzlesim_pieces` over the cells whose centre is inside the view's mask; n is counted in the whole picture."""
    mask = inside(pair)
    if isinstance(mask, MetricResult):
        return mask
    return _score(pair, features, mask, LEAST_DEVIATION)


def _as_measured(pair: RenderPair, features: str) -> MetricResult:
    """Version 2: no least deviation, and copies of clean views count as they score."""
    return _measured(_score(pair, features, None, 0.0))


def _as_measured_in_mask(pair: RenderPair, features: str) -> MetricResult:
    """Version 2 of `puzzlesim_pieces_mask`."""
    mask = inside(pair)
    return mask if isinstance(mask, MetricResult) else _measured(_score(pair, features, mask, 0.0))


def _measured(result: MetricResult) -> MetricResult:
    parts = dict(result.parts)
    return replace(result, value=parts.pop("measured", result.value), parts=parts)


def _score(pair: RenderPair, features: str, mask: np.ndarray | None, least: float) -> MetricResult:
    clean = pair.clean
    if clean is None or len(clean.images) < MIN_VIEWS:
        return MetricResult(None, Status.NOT_APPLICABLE, ("few_references" if clean and clean.images else "no_clean_views",))
    stored.require(NETWORK, features)
    if pair.missing is not None:
        return pair.missing
    assert pair.prediction is not None
    width, height = pair.prediction.width, pair.prediction.height
    size = image.working_size(width, height)
    if min(size) < SMALLEST:  # an entry may have chosen that size only where any will do
        asked = bool(pair.reference.width and pair.reference.height)
        return MetricResult(None, Status.NOT_APPLICABLE, ("too_small",)) if asked else MetricResult(0.0, flags=("too_small",))
    if mask is not None and mask.shape != (height, width):
        return MetricResult(0.0, Status.SIZE_MISMATCH)
    counted = None if mask is None else centres_inside(mask, size)
    if counted is not None and not counted.any():
        return EMPTY_MASK
    scene = _scene(pair, clean, features, size, least)
    if pair.preparing:
        return MetricResult(1.0)
    if scene.known.tolerance == 0.0:
        return MetricResult(None, Status.NOT_APPLICABLE, ("clean_views_alike",))
    return _against_band(pair, clean, scene, _found(pair, features, scene, least), counted)


def _against_band(pair: RenderPair, clean: CleanViews, scene: Scene, found: Plausible, counted: np.ndarray | None) -> MetricResult:
    """The score of the cells `counted`, or of all, limited by those of the clean views."""
    assert pair.prediction is not None
    size, sides = scene.size, (pair.prediction.width, pair.prediction.height)
    clean_mean, clean_least, greatest = scene.known.band(scene.rooted)
    u, share = (found.u, found.share) if counted is None else (found.u[counted], found.share[counted])
    value = min(max(overall(u, scene.rooted), 0.0), 1.0)
    noted = {
        "reference_subset": len(clean.images) > image.MAX_VIEWS,
        "resized": {sides, (clean.images[0].width, clean.images[0].height)} != {size} and "resized" not in pair.flags,
        "above_clean": found.score(scene.rooted) > greatest,
        "copied_reference": float((found.ratio < COPIED).mean()) > COPIED_SHARE,
    }
    parts = {
        "share": float(share.mean()),
        "pieces": found.pieces,
        "unlike": float((u < scene.known.rare).mean()),
        "clean_mean": clean_mean,
        "clean_least": clean_least,
        "clean_greatest": greatest,
    }
    if noted["copied_reference"] or noted["above_clean"]:
        parts["measured"] = value
        value = 0.0 if noted["copied_reference"] else min(value, greatest)
    return MetricResult(value, flags=tuple(flag for flag, holds in noted.items() if holds), parts=parts)


def odd_places(pair: RenderPair, features: str) -> np.ndarray | None:
    """bool[H, W]: the pixels of the render in cells with u below u₅, the 5 % quantile over the clean views; None where there is no
    score of places. WeightsError where a backbone's are not here."""
    result = puzzlesim_pieces(pair, features)
    if result.value is None or not result.parts:
        return None
    assert pair.clean is not None
    height, width = pair.pred.shape[:2]
    scene = _scene(pair, pair.clean, features, image.working_size(width, height), LEAST_DEVIATION)
    found = _found(pair, features, scene, LEAST_DEVIATION)
    rows, columns = grid(*scene.size)
    odd = np.pad((found.u < scene.known.rare).reshape(rows, columns), ((0, 1), (0, 1)))  # beyond the last whole cell nothing is judged
    down, across = (np.arange(n) * side // (n * CELL) for n, side in ((height, scene.size[1]), (width, scene.size[0])))
    return odd[np.ix_(down, across)]


def centres_inside(mask: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """bool[h · w]: which cells of a picture, looked at in `size` (width, height), have their centre inside the mask bool[H, W]."""
    rows, columns = (
        (np.arange(number) * CELL + CELL // 2) * whole // side
        for number, whole, side in zip(grid(*size), mask.shape, reversed(size), strict=True)
    )
    return mask[np.ix_(rows, columns)].ravel()


def _found(pair: RenderPair, features: str, scene: Scene, least: float) -> Plausible:
    """Plausibility of the render, computed once for all metrics of the pair."""
    return pair.once(("pieces", features, least), lambda: scene.plausible(pair.pred))


def _scene(work: SharedWork, clean: CleanViews, features: str, size: tuple[int, int], least: float) -> Scene:
    """The scene at that size: of this process, of what was prepared, or fitted."""
    digest = stored.digest(NETWORK, features) or f"dictionary of {KEY}"
    key = (clean.sha256, digest, size, least)

    def arrays() -> Arrays:
        scene = remember(_scenes, key, lambda: Scene.fit(clean.images, size, features, least))
        return (scene.clean.places, scene.clean.far, scene.clean.match, *scene.features.arrays())

    known = work.reference_once(f"{KEY} {digest} {size[0]}x{size[1]} least {least}", arrays)
    return remember(_scenes, key, lambda: Scene(Features.of_arrays(known[3:], features), Clean(*known[:3]), size, features in ROOTED))


class PiecesScorer:
    """`puzzlesim_pieces` on the clean views of a scene, at their working size, for its acceptance test. Matches, δ and the clean ratios do
    without the view that is left out; the dictionary and the whitening stay as they were fitted on all."""

    def __init__(self, clean: CleanViews, features: str, prepared: MutableMapping[str, Arrays] | None = None) -> None:
        size = image.working_size(clean.images[0].width, clean.images[0].height)
        self.scene = _scene(SharedWork(prepared), clean, features, size, LEAST_DEVIATION)
        self.views = len(self.scene.clean.places)

    def score(self, pixels: np.ndarray, without: int | None) -> tuple[float, np.ndarray]:
        """(the score, u float64[h, w]) of uint8[H, W, 3], which is brought to the views' size."""
        found = self.scene.plausible(pixels, without)
        return found.score(self.scene.rooted), found.u.reshape(grid(*self.scene.size))


def scorer(clean: CleanViews, params: Mapping[str, Any], prepared: MutableMapping[str, Arrays] | None = None) -> PiecesScorer:
    """The acceptance test's scorer on clean views, of which there must be three (ValueError); `prepared` has what was fitted on them, or
    gains it. WeightsError where a backbone's weights are not here."""
    if len(clean.images) < 3:
        raise ValueError("a clean view is compared with at least two others")
    return PiecesScorer(clean, str(params["features"]), prepared)


_FEATURES = Param(
    "features",
    LITE0,
    "choice",
    choices=(LITE0, "dictionary", "squeeze"),
    doc="The features that describe a cell of 16 × 16 px. lite0: of EfficientNet-Lite0, trained on ImageNet, whose weights come with the "
    "server; the score is (mean √u)². dictionary: of small patterns learnt from the scene's own pictures, without weights. squeeze: of the "
    "three layers of SqueezeNet that PuzzleSim uses, trained on ImageNet, whose weights are downloaded. Each choice is a column of its "
    "own.",
    source=Source.OURS,
)
_ORIGIN = Origin(
    (papers.PUZZLESIM, papers.EFFICIENTNET, papers.PATCHES),
    "our own definition, based on PuzzleSim, with features of EfficientNet-Lite0 or a dictionary of patches (Coates et al.)",
)
_BLIND = (
    "The metric cannot detect a wrong camera pose: a render that looks like another clean view scores as well as a clean view. The "
    "metric does not know which errors people notice, and accepts a smooth patch wherever a smooth wall is plausible. Use the "
    "metric together with a metric that compares with the reference picture of the view."
)
_U = (
    "u(p) = s(p) / n(p); s(p): share of clean cells whose ρ is above ρ(p) = d(p) / (δ(r(p)) + ¼ median δ); d(p): distance of cell p to its "
    "match r(p) in the clean views; δ(r): distance of clean cell r to the nearest cell of other clean views; n(p): number of cells with "
    "the same match"
)

# Of a backbone's features; cells at the threshold fall on either side of it, and of two matches that are equally near either is taken.
_TOLERANCE = replace(OF_NETWORKS, parts=(("unlike", Tolerance(absolute=2e-3)),))

_PIECES = MetricSpec(
    key="puzzlesim_pieces",
    title="PuzzleSim pieces",
    family="render",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    unit="",
    params=(_FEATURES, PRECISION),
    worst="0",
    doc="How plausible the parts of a render are, compared with clean views of its scene from any viewpoint. Clean views are undamaged "
    "pictures from other cameras. Each cell of the render is matched to the most similar cell of the clean views. The distance of the "
    "two cells is compared with the distance from the matched cell to the most similar cell of the other clean views. "
    "If many cells match one cell of a clean view, "
    "they count as one, so an empty picture gains nothing. There is no value with fewer than 4 clean views or a side under 96 px. At "
    "most 100 clean views are used, and images are scaled to at most 960 pixels on their longer side. A clean view itself scores about "
    "0.5 or less, not 1: compare entries view by view, and with the clean views' scores among the parts. An entry gets 0 for a "
    "copy of a clean view, so copying is of no use. A view that scores above all clean views gets the score of the best clean view.",
    origin=_ORIGIN,
    function=puzzlesim_pieces,
    needs=("clean views",),
    weights="pieces:features",
    tolerance=_TOLERANCE,
    warning=_BLIND,
    formula=f"(mean over cells p of √u(p))², with other features than lite0 the mean of u(p); {_U}",
    version=3,
    earlier=(Earlier(2, _as_measured, CORRECTED),),
    acceptance_scorer=scorer,
)

PLACE = 120  # in lists of metrics of its kind
SPECS = (
    _PIECES,
    replace(
        _PIECES,
        key="puzzlesim_pieces@mask",
        title="PuzzleSim pieces inside the mask",
        doc="The score of PuzzleSim pieces over the cells whose centre is inside the view's mask. Matches of a piece are "
        "counted in the whole picture. A view has no value without a mask, or if its mask contains no cell's centre.",
        function=puzzlesim_pieces_mask,
        earlier=(Earlier(2, _as_measured_in_mask, CORRECTED),),
        needs=("clean views", "mask"),
        formula=f"as PuzzleSim pieces, over cells p with their centre inside the mask; {_U}",
    ),
)
