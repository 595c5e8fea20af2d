"""The mesh metrics there are."""

from __future__ import annotations

from evaluation.metrics.spec import Effort, MetricSpec, Param

_OSIM = "Object-level similarity (OSIM), and the usual conventions for surfaces"
_LOCASE = "LoCaSE, and the usual conventions for surfaces"
_PIFU = "PIFu, ICCV 2019"
_SAUCD = "SAUCD: 3D shape quality by spectrum area under curve difference, arXiv 2403.01619"
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


def _length(
    key: str, title: str, doc: str, formula: str, function: str, paper: str, worst: str = "gt_diagonal", version: int = 1
) -> MetricSpec:
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
        version=version,
    )


def _saucd(key: str, title: str, doc: str, formula: str, *params: Param) -> MetricSpec:
    return MetricSpec(
        key=key,
        title=title,
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, 2.0),
        unit="",
        params=(
            Param(
                "max_vertices",
                12_000,
                "int",
                low=100,
                high=20_000,
                doc="A mesh of more vertices is first brought down to 5/6 of this number, and flagged; time grows with its third power.",
            ),
            _ALIGN,
            *params,
        ),
        worst="2",
        doc=doc,
        paper=_SAUCD,
        function=f"{_PACKAGE}.saucd.{key}",
        weights=key if params else None,
        effort=Effort(120.0, 10_000, power=3.0, most="max_vertices"),
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
        "How far the worst point of the reference is missed by the prediction's surface. Samples and vertices are measured to the "
        "triangles themselves, and what lies between them where it may be further by more than a hundredth.",
        "max over points b of the reference (samples, vertices and what lies between) of min ‖b − p‖, p on the prediction's triangles",
        "hausdorff.uhd",
        _LOCASE,
        version=2,
    ),
    _length(
        "p2s",
        "Point to surface distance",
        "Mean distance from points of the predicted surface to the reference's surface itself; what is missing costs nothing.",
        "mean over samples p of the prediction of min |p - q|, q on the reference's triangles",
        "surfaces.p2s",
        _PIFU,
    ),
    MetricSpec(
        key="normal_difference",
        title="Normal difference",
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        unit="",
        params=(_SAMPLES, _ALIGN, _SEED),
        worst="1",
        doc="How far the surfaces face the same way: one minus the absolute cosine between the normals of a point and of the nearest "
        "point of the other surface, averaged over both directions. Faces turned inside out cost nothing.",
        paper=_LOCASE,
        function=f"{_PACKAGE}.surfaces.normal_difference",
        formula="(mean (1 - |n(A) · n(nearest B)|) + mean (1 - |n(B) · n(nearest A)|)) / 2",
    ),
    MetricSpec(
        key="volume_iou",
        title="Volume IoU",
        family="mesh",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            Param("resolution", 256, "int", low=8, high=512, doc="Cells along the longest side of the box around both meshes."),
            _ALIGN,
        ),
        worst="0",
        doc="Intersection over union of the two volumes, counted in cells by their centres. A mesh that is not watertight is filled "
        "where its generalised winding number is at least a half, and flagged; one whose faces point inwards then encloses nothing. "
        "Then up to 262,144 cells, one in each block of neighbours, stand for all, and the standard error of the value is a part of it "
        "(about 0.001); of two watertight meshes every cell is looked at. A reference that encloses nothing gives no value.",
        paper=_LOCASE,
        function=f"{_PACKAGE}.volume.volume_iou",
        effort=Effort(5.0, 200_000, power=1.0, by=1, least=True),
        formula="|A ∩ B| / |A ∪ B|",
        version=3,
    ),
    _saucd(
        "saucd",
        "SAUCD",
        "Area between the spectra of the two meshes: what their coordinates weigh on the eigenvectors of the cotangent Laplacian. "
        "Place, rotation and scale of the whole do not count, and detail counts as much as shape.",
        "area between the curves of |(Uᵀ V)_i| over λ_i, L = U Λ Uᵀ, each brought to an area of 1",
    ),
    _saucd(
        "saucd_w",
        "SAUCD, weighted",
        "SAUCD with the area in each of 20 bands of frequency weighted by what people noticed. It needs a file of trained weights; "
        "none is published, and the metric cannot be used without one.",
        "as SAUCD, each piece of the area multiplied by |w_b| of its band b",
        Param("weights", "shape_grading", "choice", choices=("shape_grading",), doc="The 20 weights, by the data they were trained on."),
    ),
)
