"""The learned wireframe metric."""

from __future__ import annotations

import math

from evaluation.metrics.catalogue.wireframe_parameters import PACKAGE, WIREFRAME
from evaluation.metrics.spec import Effort, MetricSpec, Param

LEARNED: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="wf_learned",
        title="Learned preference",
        family="wireframe",
        higher_is_better=True,
        bounds=(-math.inf, None),
        unit="logit",
        params=(
            Param(
                "weights",
                "study",
                "choice",
                choices=("study",),
                network="wf_learned",
                doc="What was trained, by its name. None ship: they are trained on a study's votes (python -m evaluation train "
                "wireframe-preference) and stand under their own name beside the server's other weights.",
            ),
        ),
        worst="empty_prediction",
        doc="What a network that was trained on people's choices makes of one picture of the wireframe over its reference. The difference "
        "of two entries' values on a sample is the log-odds that people would prefer the one; a value alone means nothing.",
        paper=f"{WIREFRAME} (view, head and weights are our own)",
        function=f"{PACKAGE}.learned.metric.wf_learned",
        warning="Never let it decide alone. A network learns what raters happened to like, from one side, and an entry can be made to "
        "please it without being better (reward hacking): rank by a geometric metric and read this one beside it.",
        formula="g(r), P(i before j) = σ(g(r_i) − g(r_j)); r the picture of 518 × 518 pixels of the prediction in blue over the reference "
        "in black, without perspective, azimuth 45°, elevation 30°; g = head(features(r)), features frozen",
        weights="wf_learned",
        effort=Effort(6.0, 30, power=0.0),  # DINOv2 on one core, twice where the reference alone is not known yet
    ),
)
