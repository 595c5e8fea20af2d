"""Metrics of renders by features that are learnt from pictures of their own scene."""

from __future__ import annotations

from dataclasses import replace

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
    trial=f"{_PACKAGE}.trial.scorer",
)

SPECS: tuple[MetricSpec, ...] = (
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
        trial="",
    ),
)
