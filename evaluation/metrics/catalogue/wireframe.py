"""The wireframe metrics there are."""

from __future__ import annotations

from evaluation.metrics.spec import MetricSpec, Micro, Param

_HOHO = "HoHo / S23DR 2025 official scorer, hoho2025 0.2.2"
_WIREFRAME = "Wireframe metrics against human preference, ICCV 2025"
_BUILDING3D = "Building3D, ICCV 2023"
_PACKAGE = "evaluation.metrics.wireframe"


def _tau(name: str, doc: str) -> Param:
    return Param(name, 0.5, "float", low=0.0, positive=True, unit="m", doc=doc)


_MATCHING = Param(
    "matching",
    "hungarian_raw",
    "choice",
    choices=("hungarian_raw", "hungarian_capped"),
    doc="hungarian_raw minimises the total distance and then cuts at the threshold; hungarian_capped maximises the number of hits first.",
)
_MERGE = Param(
    "merge_tol",
    None,
    "float",
    low=0.0,
    positive=True,
    unit="m",
    doc="Merge vertices closer than this (single linkage) before anything else; off by default.",
)
_CORNER = (
    _tau("tau", "A pair of corners this far apart or nearer is a hit."),
    _MATCHING,
    Param("drop_isolated", False, "bool", doc="Leave out vertices that no edge uses."),
    _MERGE,
)
_EDGE = (
    _tau("tau_edge", "A pair of edges whose Hausdorff distance is this or less is a hit."),
    Param(
        "hausdorff",
        "exact",
        "choice",
        choices=("exact", "sampled20"),
        doc="exact closed form, or 20 equally spaced points on each segment as in Building3D.",
    ),
    _MATCHING,
    _MERGE,
)


def _samples(name: str, default: int, doc: str) -> Param:
    return Param(name, default, "int", low=1, high=1_000_000, doc=doc)


_CURVE = (
    _samples("n", 10_000, "Sample points on each wireframe."),
    Param(
        "sampling",
        "stratified",
        "choice",
        choices=("stratified", "random"),
        doc="Points at equal steps along all edges, or uniform random ones with a fixed seed.",
    ),
    Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of random sampling."),
    _MERGE,
)


def _counting(stem: str, name: str, title: str, params: tuple[Param, ...], doc: str) -> MetricSpec:
    numerator, denominator, factor = "tp", ("n_pred", "n_gt"), 2.0
    if name != "f1":
        denominator, factor = (("n_pred",) if name == "precision" else ("n_gt",)), 1.0
    key = f"{stem}_{name}"
    return MetricSpec(
        key=key,
        title=title,
        family="wireframe",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=params,
        worst="0",
        doc=doc,
        paper=_HOHO if stem == "corner" else _BUILDING3D,
        function=f"{_PACKAGE}.{stem}s.{key}",
        micro=Micro(f"{key}_micro", numerator, denominator, factor),
    )


SPECS = (
    _counting(
        "corner",
        "precision",
        "Corner precision",
        _CORNER,
        "Share of predicted corners that lie within tau of the reference corner they are matched to.",
    ),
    _counting(
        "corner",
        "recall",
        "Corner recall",
        _CORNER,
        "Share of reference corners that have a matched predicted corner within tau.",
    ),
    _counting("corner", "f1", "Corner F1", _CORNER, "Harmonic mean of corner precision and corner recall."),
    MetricSpec(
        key="corner_offset",
        title="Corner offset",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=_CORNER,
        worst="tau",
        doc="Mean distance of the corners that are hits; tau where there is none.",
        paper=_BUILDING3D,
        function=f"{_PACKAGE}.corners.corner_offset",
        micro=Micro("corner_offset_micro", "distance_sum", ("tp",)),
    ),
    _counting(
        "edge",
        "precision",
        "Edge precision",
        _EDGE,
        "Share of predicted edges within tau_edge (Hausdorff distance) of the reference edge they are matched to.",
    ),
    _counting(
        "edge",
        "recall",
        "Edge recall",
        _EDGE,
        "Share of reference edges that have a matched predicted edge within tau_edge.",
    ),
    _counting("edge", "f1", "Edge F1", _EDGE, "Harmonic mean of edge precision and edge recall."),
    MetricSpec(
        key="hss",
        title="HSS",
        family="wireframe",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            _tau("vert_thresh", "Corner threshold of its F1 (compared exactly, without tolerance)."),
            _tau("edge_thresh", "Radius of the tubes around the edges."),
            Param("sections", 6, "int", low=3, high=64, doc="Sides of a tube."),
        ),
        worst="0",
        doc="Hybrid Structure Score: harmonic mean of corner F1 and the IoU of tubes around the edges. "
        "As in the official scorer the tubes are sheared hexagonal prisms, so the score depends on orientation; "
        "unlike it, coordinates are first centred on the reference, so nothing is lost at projected coordinates.",
        paper=_HOHO,
        function=f"{_PACKAGE}.hss.hss",
    ),
    MetricSpec(
        key="jaccard_distance",
        title="Jaccard distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            _tau("radius", "Radius of the tubes around the edges."),
            Param(
                "primitive",
                "cylinder",
                "choice",
                choices=("cylinder", "capsule"),
                doc="Flat or round ends; the two give different values.",
            ),
            _samples("n_samples", 100_000, "Sample points (method sampling)."),
            Param(
                "method",
                "sampling",
                "choice",
                choices=("sampling", "exact"),
                doc="Unbiased sampling estimate, or exact volumes of 64-sided tubes.",
            ),
            Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the sampling."),
            _MERGE,
        ),
        worst="1",
        doc="One minus the intersection over union of the solid tubes around the edges.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.jaccard.jaccard_distance",
    ),
    MetricSpec(
        key="ecd_chamfer",
        title="Edge chamfer distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=(
            *_CURVE,
            Param(
                "one_sided",
                "off",
                "choice",
                choices=("off", "pred2gt", "gt2pred"),
                doc="Only one of the two directed means instead of their average.",
            ),
        ),
        worst="gt_diagonal",
        doc="Mean distance from points on the edges of one wireframe to the other, averaged over both directions.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.ecd.ecd_chamfer",
    ),
    MetricSpec(
        key="wf_hausdorff",
        title="Hausdorff distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=_CURVE,
        worst="gt_diagonal",
        doc="Largest distance from a point on the edges of either wireframe to the other.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.ecd.wf_hausdorff",
    ),
)
