"""Metrics of renders by features that are learnt from pictures of their own scene."""

from __future__ import annotations

from dataclasses import replace

from evaluation.metrics.catalogue.render_osim import OSIM
from evaluation.metrics.spec import MetricSpec, Param

_PACKAGE = "evaluation.metrics.render.pieces"
_FEATURES = Param(
    "features",
    "dictionary",
    "choice",
    choices=("dictionary", "squeeze"),
    doc="How a cell of 16 × 16 px is described. dictionary: by small patterns that are learnt from the scene's own pictures, so no "
    "weights are needed. squeeze: by the three layers of SqueezeNet that PuzzleSim looks at, trained on ImageNet; its weights are fetched, "
    "and its values are a column of their own.",
)
_PAPER = (
    "Plumbline; own definition, after Puzzle Similarity (arXiv 2411.17489), with a dictionary of patches as in Coates, Lee, Ng "
    "(AISTATS 2011)"
)
_BLIND = (
    "It cannot see a wrong pose: another clean view of the scene scores as a clean one, and a copy of it near 1. It does not know what "
    "people mind, and passes a smooth patch where a smooth wall could be. Let a column that compares with the true view stand beside it."
)
_U = (
    "u(p) = s(p) / n(p), s(p) the share of clean views' ρ above ρ(p) = d(p) / (δ(r(p)) + ¼ median δ), d(p) the distance of cell p to its "
    "match r(p) in the clean views, δ(r) that of a clean cell to the nearest of other clean views, n(p) the cells with the same match"
)

PIECES = MetricSpec(
    key="puzzlesim_pieces",
    title="PuzzleSim pieces",
    family="render",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    unit="",
    params=(_FEATURES,),
    worst="0",
    doc="Whether the places of a render are as plausible as those of clean views of its scene, whatever the viewpoint: each cell is "
    "matched to the clean views, judged by how far clean views are from each other there, and a piece that is used often counts once, so "
    "that an empty picture wins nothing. It needs no aligned reference, and no weights by default. Fewer than 4 clean views, or a side "
    "under 96 px, have no value; of more than 100 views 100 are taken, and images are looked at with at most 960 pixels on their longer "
    "side. A clean view scores about a half, not 1: compare entries view by view, and with the scores of the clean views that stand among "
    "the parts.",
    paper=_PAPER,
    function=f"{_PACKAGE}.metric.puzzlesim_pieces",
    needs=("clean views",),
    weights="pieces:features",
    warning=_BLIND,
    formula=f"mean over cells p of {_U}",
    trial=f"{_PACKAGE}.metric.scorer",
)

_UNTRIED = "How far it agrees with people nobody has measured yet."
DISTANCE = MetricSpec(
    key="piece_distance",
    title="Piece distance",
    family="render",
    higher_is_better=False,
    bounds=(0.0, None),
    unit="",
    params=(),
    worst="10",
    doc="Distance of render and reference in features that are learnt from the reference images of the scene, where the same place seen "
    "from a step aside counts about 1: the mean over cells of 16 × 16 px. It needs no weights. Images with a side under 96 px have no "
    "value, and images are looked at with at most 960 pixels on their longer side. For ranking, larger values count as 10.",
    paper="Plumbline; own definition, with a dictionary of patches as in Coates, Lee, Ng (AISTATS 2011)",
    function=f"{_PACKAGE}.distance.piece_distance",
    learnt=True,
    warning=f"It is not LPIPS, and no network has learnt from people's judgements here. {_UNTRIED}",
    formula="mean over cells p of ‖x̂_reference(p) − x̂_render(p)‖ / d₀, x̂ the features whitened by what a step aside changes, d₀ the median "
    "length of such a change",
)
ROIS = replace(
    OSIM,
    key="osim_rois",
    title="OSIM in marked regions",
    params=tuple(param for param in OSIM.params if param.name in ("saliency", "gabor_compat", "low_quality_rule")),
    doc="Are the marked regions of a scene still there? Render and reference are compared at the same place within each region that the "
    "organizer marked, in features that are learnt from the reference images of the scene, and the labels are weighed by how much their "
    "regions catch the eye. It needs no weights. A missing view counts 0 for its regions; regions of fewer than 4 cells of 16 × 16 px are "
    "passed over; a scene without regions has no value.",
    paper="Plumbline; own definition, after Object-level similarity (OSIM), without its detector",
    function="evaluation.metrics.render.osim_rois.osim_rois",
    formula="Σ s_l o_l / Σ s_l over labels l, o_l the mean over the label's regions of the mean over the region's cells of "
    "1 / (1 + (‖x̂_reference − x̂_render‖ / d₀)²), s_l the mean saliency of their boxes",
    weights=None,
    learnt=True,
    warning=f"It has no notion of an object, only of the places that somebody marked: its values are not OSIM's. {_UNTRIED}",
)

SPECS: tuple[MetricSpec, ...] = (
    DISTANCE,
    ROIS,
    PIECES,
    replace(
        PIECES,
        key="puzzlesim_pieces@mask",
        title="PuzzleSim pieces inside the mask",
        doc="The mean of PuzzleSim pieces' u over the cells whose centre is inside the view's mask; how often a piece is used is counted "
        "in the whole picture. A view without a mask, or with one that holds no cell's centre, has no value.",
        function=f"{_PACKAGE}.metric.puzzlesim_pieces_mask",
        needs=("clean views", "mask"),
        formula=f"mean over cells p with their centre inside the mask of {_U}",
    ),
)
