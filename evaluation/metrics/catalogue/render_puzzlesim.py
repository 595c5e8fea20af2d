"""Puzzle Similarity of renders."""

from __future__ import annotations

from evaluation.metrics.spec import MetricSpec, Param
from evaluation.networks import weights

_DEFAULT = "squeezenet-imagenet"
_WEIGHTS = Param(
    "weights",
    _DEFAULT,
    "choice",
    choices=tuple(dict.fromkeys((_DEFAULT, *sorted(weights.PUBLISHED["backbone"])))),
    network="backbone",
    doc="The backbone and what it was trained on. squeezenet-imagenet is the paper's; alexnet-imagenet and vgg16-imagenet are the other "
    "two of its code. They are fetched.",
)
_PAPER = "N. Hermann, J. Condor, P. Didyk: Puzzle Similarity (arXiv 2411.17489); the mean of the map is our own score"
_FORMULA = (
    "S(p) = Σ_l w_l max_{n,q} ⟨F_l(ref_n, q), F_l(render, p)⟩, w = (0.67, 0.20, 0.13) on the third to fifth feature map of the backbone, "
    "features of length 1, each map enlarged bilinearly"
)

SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="puzzlesim",
        title="PuzzleSim",
        family="render",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(_WEIGHTS,),
        worst="0",
        doc="Whether each place of a render is found again somewhere in the clean views of its scene, whatever the viewpoint: "
        "the mean of a map that shows artifacts as low places. It needs no aligned reference. Of more than 100 clean views 100 are "
        "taken, and images are looked at with at most 960 pixels on their longer side.",
        paper=_PAPER,
        function="evaluation.metrics.render.puzzlesim.metric.puzzlesim",
        formula=f"mean over the pixels p of {_FORMULA}",
        needs=("clean views",),
        weights="backbone",
        trial="evaluation.metrics.render.puzzlesim.metric.scorer",
    ),
    MetricSpec(
        key="puzzlesim@mask",
        title="PuzzleSim inside the mask",
        family="render",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(_WEIGHTS,),
        worst="0",
        doc="The mean of the PuzzleSim map over the pixels inside the view's mask.",
        paper=_PAPER,
        function="evaluation.metrics.render.puzzlesim.metric.puzzlesim_mask",
        formula=f"mean over the pixels p inside the mask of {_FORMULA}",
        needs=("clean views", "mask"),
        weights="backbone",
    ),
)
