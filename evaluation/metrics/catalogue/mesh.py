"""The mesh metrics there are."""

from __future__ import annotations

from evaluation.metrics.spec import MetricSpec, Param

_OSIM = "Object-level similarity (OSIM), and the usual conventions for surfaces"
_LOCASE = "LoCaSE, and the usual conventions for surfaces"
_PIFU = "PIFu, ICCV 2019"
_PACKAGE = "evaluation.metrics.mesh"
_IN_FRAME = "Lengths are fractions of the longest side of the reference's bounding box; with normalize=none they are metres."

_NORMALIZE = Param(
    "normalize",
    "gt_unit",
    "choice",
    choices=("gt_unit", "none"),
    doc="gt_unit: the longest side of the reference's bounding box is 1, and the prediction is scaled with it; none: metres.",
)
_ALIGN = Param(
    "align",
    "none",
    "choice",
    choices=("none", "similarity_icp"),
    doc="similarity_icp first lays the prediction onto the reference by a rotation, a scale and a shift, reported as parts.",
)
_SEED = Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the surface samples; the same for both sides.")
_SAMPLES = Param("n", 100_000, "int", low=1, high=1_000_000, doc="Sample points on each surface, uniform over its area.")
_SURFACE = (_SAMPLES, _NORMALIZE, _ALIGN, _SEED)


def _length(key: str, title: str, doc: str, formula: str, function: str, paper: str, worst: str = "gt_diagonal") -> MetricSpec:
    return MetricSpec(
        key=key,
        title=title,
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="",
        params=_SURFACE,
        worst=worst,
        doc=f"{doc} {_IN_FRAME}",
        paper=paper,
        function=f"{_PACKAGE}.{function}",
        formula=formula,
    )


SPECS: tuple[MetricSpec, ...] = (
    _length(
        "chamfer_l1",
        "Chamfer distance (L1)",
        "Mean distance from points of one surface to the nearest point of the other, averaged over both directions.",
        "(mean a + mean b) / 2, where a are the distances from samples of the prediction to the nearest sample of the reference, "
        "b those the other way",
        "distances.chamfer_l1",
        _OSIM,
    ),
    _length(
        "chamfer_l2",
        "Chamfer distance (L2, squared)",
        "Mean squared distance from points of one surface to the nearest point of the other, summed over both directions.",
        "mean a² + mean b²",
        "distances.chamfer_l2",
        _OSIM,
        worst="gt_diagonal_squared",
    ),
    MetricSpec(
        key="mesh_fscore",
        title="Surface F-score",
        family="mesh",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            Param(
                "threshold",
                0.05,
                "float",
                low=0.0,
                positive=True,
                doc="A point this near to the other surface, or nearer, counts; a fraction of the reference's longest side, "
                "or metres with normalize=none.",
            ),
            *_SURFACE,
        ),
        worst="0",
        doc="Harmonic mean of the share of the predicted surface near the reference and the share of the reference near the prediction.",
        paper=_OSIM,
        function=f"{_PACKAGE}.distances.mesh_fscore",
        formula="2 P R / (P + R), P the share of a ≤ threshold, R the share of b ≤ threshold",
    ),
    _length(
        "uhd",
        "Unidirectional Hausdorff distance",
        "How far the worst point of the reference is missed by the prediction.",
        "max b, from samples of the reference to the nearest sample of the prediction",
        "distances.uhd",
        _LOCASE,
    ),
)
