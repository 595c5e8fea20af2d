"""The objectness similarity of renders."""

from __future__ import annotations

from evaluation.metrics.spec import MetricSpec, Param

PUBLISHED = ("yolox-x", "yolox-l", "yolox-m", "yolox-s", "yolox-tiny", "yolox-nano")

# Whoever looks for the objects of a reference has these, in this order.
LOOKING = (
    Param(
        "weights",
        PUBLISHED[0],
        "choice",
        choices=PUBLISHED,
        network="yolox",
        doc="The detector. yolox-x is the paper's; the published ones are fetched and know the 80 classes of COCO.",
    ),
    Param(
        "conf", 0.35, "float", low=0.0, high=1.0, doc="An object counts where the detector's score (object times class) is at least this."
    ),
    Param(
        "nms", 0.65, "float", low=0.0, high=1.0, doc="Of boxes that overlap by more than this (intersection over union) the best is kept."
    ),
    Param("class_agnostic", False, "bool", doc="Boxes of different classes rule each other out too."),
)

OSIM = MetricSpec(
    key="osim",
    title="OSIM",
    family="render",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    unit="",
    params=(
        *LOOKING,
        Param(
            "feature",
            "dark5",
            "choice",
            choices=("dark3", "dark4", "dark5", "p3", "p4", "p5"),
            doc="The level of the detector whose features are compared: dark of its backbone, p of its pyramid; strides 8, 16, 32.",
        ),
        Param("saliency", "gbvs", "choice", choices=("gbvs", "none"), doc="What classes are weighed by; none: all classes count alike."),
        Param("gabor_compat", False, "bool", doc="The saliency's orientation filters with the sign slip of the Python port in common use."),
        Param(
            "low_quality_rule",
            "below_scene",
            "choice",
            choices=("below_scene",),
            doc="Which objects are marked as hard to recognise: those less alike than the scene as a whole.",
        ),
    ),
    worst="0",
    doc="Are the objects of a scene still there? A detector finds objects in the reference views; its features of render and reference are "
    "compared within each object's box, and classes are weighed by how much their objects catch the eye. A missing view counts 0 for its "
    "objects; a scene whose reference views show no object has no value.",
    paper="Object-level similarity (OSIM)",
    function="evaluation.metrics.render.osim.osim",
    finish="evaluation.metrics.render.osim.finish",
    formula="Σ s_l o_l / Σ s_l over classes l, o_l the mean over the class's objects of the mean cosine of features in the object's box, "
    "s_l the mean saliency of their boxes",
    weights="yolox",
    level="group",
)

SPECS: tuple[MetricSpec, ...] = (OSIM,)
