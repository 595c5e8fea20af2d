"""The wireframe metrics that compare shapes: edges as curves and as solid tubes."""

from __future__ import annotations

from dataclasses import replace

from evaluation.metrics.catalogue.wireframe_parameters import HOHO, MERGE, PACKAGE, SEED, WIREFRAME, distance, samples, share, tau
from evaluation.metrics.spec import Effort, MetricSpec, Param

# Solids of 64-sided tubes: 0.6 s for 30 edges, and more than twice that where there are twice as many.
_SOLIDS = Effort(seconds=0.6, size=30, power=2.0, by=1)


def _curve(default: int, most: int = 1_000_000) -> tuple[Param, ...]:
    return (
        samples("n", default, "Sample points on each wireframe.", most),
        Param(
            "sampling",
            "stratified",
            "choice",
            choices=("stratified", "random"),
            doc="Points at equal steps along all edges, or uniform random ones with a fixed seed.",
        ),
        SEED,
        MERGE,
    )


def _distance(key: str, title: str, params: tuple[Param, ...], doc: str, formula: str, version: int = 1) -> MetricSpec:
    return distance(
        key=key,
        title=title,
        params=params,
        worst="gt_diagonal",
        doc=doc,
        paper=WIREFRAME,
        function=f"ecd.{key}",
        formula=formula,
        version=version,
    )


CURVES = (
    _distance(
        "ecd_chamfer",
        "Edge chamfer distance",
        (
            *_curve(10_000),
            Param(
                "one_sided",
                "off",
                "choice",
                choices=("off", "pred2gt", "gt2pred"),
                doc="Only one of the two directed means instead of their average.",
            ),
        ),
        "Mean distance from points on the edges of one wireframe to the edges of the other, averaged over both directions.",
        "½ (mean_{a∈A} min_{q∈Q} ‖a − q‖ + mean_{b∈B} min_{p∈P} ‖b − p‖), A, B samples of the edges P, Q",
        version=2,
    ),
    _distance(
        "ecd_emd",
        "Edge earth mover distance",
        _curve(1024, most=4096),
        "Mean distance between points on the edges of the two wireframes, matched one to one so that it is least. "
        "It asks for the right amount of edge everywhere, which chamfer distance does not.",
        "min_σ (1/n) Σ_k ‖a_k − b_σ(k)‖ over permutations σ",
    ),
    _distance(
        "wf_hausdorff",
        "Hausdorff distance",
        _curve(10_000),
        "Largest distance from a point on the edges of either wireframe, a sample or an end, to the edges of the other.",
        "max(max_{a∈A} min_{q∈Q} ‖a − q‖, max_{b∈B} min_{p∈P} ‖b − p‖), A, B samples and ends of the edges P, Q",
        version=2,
    ),
)

JACCARD = MetricSpec(
    key="jaccard_distance",
    title="Jaccard distance",
    family="wireframe",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    unit="",
    params=(
        tau("radius", "Radius of the tubes around the edges."),
        Param(
            "primitive",
            "cylinder",
            "choice",
            choices=("cylinder", "capsule"),
            doc="Flat or round ends; the two give different values.",
        ),
        samples("n_samples", 100_000, "Sample points (method sampling)."),
        Param(
            "method",
            "sampling",
            "choice",
            choices=("sampling", "exact"),
            doc="Unbiased sampling estimate, or exact volumes of 64-sided tubes.",
        ),
        Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the sampling."),
        MERGE,
    ),
    worst="1",
    doc="One minus the intersection over union of the solid tubes around the edges; exactly 0 for equal edges, by either method.",
    paper=WIREFRAME,
    function=f"{PACKAGE}.jaccard.jaccard_distance",
    version=3,
    effort=replace(_SOLIDS, only=("method", "exact")),
    formula="1 − vol(A ∩ B) / vol(A ∪ B), A = ∪_e tube(e, r)",
)

_THRESHOLDS = (
    tau("vert_thresh", "Corner threshold of its F1 (compared exactly, without tolerance)."),
    tau("edge_thresh", "Radius of the tubes around the edges."),
)
_HSS = "2 F1 · IoU / (F1 + IoU), IoU = vol(A ∩ B) / vol(A ∪ B)"


def _hss(key: str, title: str, params: tuple[Param, ...], doc: str, formula: str, version: int, effort: Effort | None = None) -> MetricSpec:
    return share(
        key=key,
        title=title,
        params=params,
        doc=doc,
        paper=HOHO,
        function=f"hss.{key}",
        version=version,
        effort=effort,
        formula=formula,
    )


HYBRID = (
    _hss(
        "hss",
        "HSS",
        (*_THRESHOLDS, Param("sections", 6, "int", low=3, high=64, doc="Sides of a tube.")),
        "Hybrid Structure Score: harmonic mean of corner F1 and the IoU of tubes around the edges. "
        "As in the official scorer the tubes are sheared hexagonal prisms, so the score depends on orientation; "
        "unlike it, coordinates are first centred on the reference, so nothing is lost at projected coordinates, "
        "and equal edges have an IoU of exactly 1, not 0.99999….",
        f"{_HSS}, A, B of sheared hexagonal prisms",
        version=4,
    ),
    _hss(
        "hss_exact",
        "HSS, true tubes",
        _THRESHOLDS,
        "The Hybrid Structure Score with straight round tubes (64 sides, the volume of true cylinders), "
        "so that it does not depend on orientation. "
        "Its values are not those of the official scorer and are not comparable with them; equal edges have an IoU of exactly 1.",
        f"{_HSS}, A, B of round tubes",
        version=3,
        effort=_SOLIDS,
    ),
)  # fmt: skip
