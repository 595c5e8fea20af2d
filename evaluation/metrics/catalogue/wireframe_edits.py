"""The wireframe edit distances and the spectral graph distances."""

from __future__ import annotations

from evaluation.metrics.catalogue.wireframe_parameters import BUILDING3D, ISOLATED, MERGE, S23DR_2024, WIREFRAME, distance, tau
from evaluation.metrics.spec import Effort, MetricSpec, Param

_LARGEST = 1e6


def _vertex_cost(name: str, default: float, what: str) -> Param:
    doc = f"Cost of {what}: below 0 that many times the reference's diameter, else metres."
    return Param(name, default, "float", low=-_LARGEST, high=_LARGEST, doc=doc)


_INSERT = _vertex_cost("cv_ins", -0.5, "inserting a vertex")
_DELETE = _vertex_cost("cv_del", -0.25, "deleting a vertex")
_REST = (
    Param("ce", 1.0, "float", low=0.0, high=_LARGEST, doc="Cost of inserting or deleting a metre of edge, in metres."),
    Param("normalized", True, "bool", doc="Divide by the reference's total length; else the value is in metres."),
    Param("clip_to_empty", False, "bool", doc="Never more than the empty prediction costs."),
    ISOLATED,
    MERGE,
)
_COST = "(T + c_del·n_del + c_ins·n_ins + c_e·(len_del + len_ins)) / L"
_TABLE = {
    "wed_prereg": (
        "Edit distance, registered",
        S23DR_2024,
        (
            _INSERT,
            _DELETE,
            *_REST,
            Param("single_scale", True, "bool", doc="Scale all axes alike when registering."),
            Param(
                "compat_index",
                False,
                "bool",
                doc="Repeat an error of the official code: with more vertices than the reference, deleted edges have wrong lengths.",
            ),
        ),
        "Cost of turning the prediction into the reference, relative to the reference's length, "
        "after giving it the reference's mean and spread. "
        "Vertices are matched one to one whatever their distance; deleting the edges of a deleted vertex is free. "
        "Moving or scaling a prediction as a whole hardly costs anything.",
        f"{_COST}, p ← (p − μ_P) σ_G / σ_P + μ_G, matched by Hungarian",
    ),
    "wed_mnn": (
        "Edit distance, mutual nearest",
        WIREFRAME,
        (_INSERT, _DELETE, *_REST),
        "Cost of turning the prediction into the reference, relative to the reference's length. "
        "Vertices that are each other's nearest are moved onto one another, all others deleted or inserted, and then edges.",
        f"{_COST}, p ↔ g iff each is the other's nearest",
    ),
    "wed_nearest": (
        "Edit distance, nearest",
        WIREFRAME,
        (_INSERT, _vertex_cost("merge_cost", 0.0, "each predicted vertex moved onto a vertex that another took first"), *_REST),
        "Cost of turning the prediction into the reference, relative to the reference's length. "
        "Every predicted vertex is moved to the nearest reference vertex, so several may become one; none is deleted.",
        "(T + c_ins·n_ins + c_merge·n_merged + c_e·(len_del + len_ins)) / L, T = Σ_p min_g ‖p − g‖",
    ),
    "wed_hungarian": (
        "Edit distance, Hungarian",
        WIREFRAME,
        (_INSERT, _DELETE, *_REST),
        "Cost of turning the prediction into the reference, relative to the reference's length. "
        "Vertices are matched one to one with the least total distance, whatever the distance of a pair.",
        f"{_COST}, matched by Hungarian on ‖p − g‖",
    ),
}  # fmt: skip


def _edit(key: str) -> MetricSpec:
    title, paper, params, doc, formula = _TABLE[key]
    return distance(
        key=key,
        title=title,
        unit="",
        params=params,
        worst="empty_prediction",
        doc=doc,
        paper=paper,
        function=f"wed.{key}",
        formula=formula,
    )


EDIT_DISTANCES = (
    *map(_edit, _TABLE),
    distance(
        key="wed_ap",
        title="Edit distance, matched edges",
        unit="",
        params=(tau("tau_edge", "A pair of edges whose Hausdorff distance is this or less is kept."), MERGE),
        worst="1",
        doc="Length of the edges to delete and to insert, and the way that the corners of kept edges have to go, "
        "relative to the reference's length. "
        "Edges are matched as for edge F1. Unlike the published evaluator it compares the prediction, not the labels, with the reference.",
        paper=BUILDING3D,
        function="wed.wed_ap",
        formula="(Σ_{p∈M_P} min_{g∈M_G} ‖p − g‖ + len_del + len_ins) / L",
        version=2,
    ),
)

_SPECTRAL = (
    Param(
        "size_mode",
        "quantile",
        "choice",
        choices=("quantile", "pad"),
        doc="Spectra of different size: compare quantiles, or give the shorter one zeros at its low end.",
    ),
    Param("normalize", "off", "choice", choices=("off", "diam"), doc="Divide by the reference's diameter, which leaves no unit."),
    ISOLATED,
    MERGE,
)


def _spectral(p: int, title: str) -> MetricSpec:
    return distance(
        key=f"spectral_l{p}",
        title=title,
        params=_SPECTRAL,
        worst="empty_prediction",
        doc=f"Wasserstein-{p} distance between the eigenvalues of the two graphs' Laplacians, edges weighted by their length. "
        "It sees how edges hang together and how long they are, not where they are. Large buildings weigh more in a mean over items.",
        paper=WIREFRAME,
        function=f"spectral.spectral_l{p}",
        effort=Effort(10.0, 3_000, power=3.0),  # both spectra, where all vertices hang together; parts that do not are solved alone
        formula=("∫₀¹ |F_λ⁻¹(u) − F_μ⁻¹(u)| du" if p == 1 else "(∫₀¹ |F_λ⁻¹(u) − F_μ⁻¹(u)|² du)^½")
        + ", λ, μ = eig(diag(A1) − A), A_ij = ‖v_i − v_j‖",
    )


SPECTRAL = (_spectral(1, "Spectral distance L1"), _spectral(2, "Spectral distance L2"))
