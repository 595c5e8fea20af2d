"""SAUCD: the area between the spectra of two meshes.

A mesh's spectrum is what its coordinates weigh on the eigenvectors of its cotangent Laplacian (absolute weights, areas
of vertices after the reference implementation). Scale falls out by making the area under each spectrum 1, place by
taking coordinates from their mean, rotation by itself. Where eigenvalues coincide (symmetric solids) the weights of single
eigenvectors depend on the basis, which rounding chooses, another on each machine: there each has the root mean square of them all,
which does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from evaluation.metrics import papers
from evaluation.metrics.mesh import parameters
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.surface import Surface, surface
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Effort, MetricSpec, Param, Source
from evaluation.networks import weights as stored

WORST = 2.0
MAX_COTANGENT = 1000.0
TINY = 1e-10  # as in the reference implementation
COINCIDE = 1e-9  # of the highest frequency: eigenvalues that follow one another no further apart count as one
PRUNED = 0.001  # of the entries, from the highest frequency
KEPT = 10_000 / 12_000  # a mesh of more than the most vertices is brought down to this share of them
LOWEST, BINS = -0.05, 20  # range of the normalised eigenvalues that the weights divide among them


def saucd(pair: MeshPair, max_vertices: int, align: str) -> MetricResult:
    """Area between the two spectra, in [0, 2]; 0 for the same mesh, moved, turned or scaled; 2 without faces."""
    return _compared(pair, max_vertices, align, None)


def saucd_w(pair: MeshPair, max_vertices: int, align: str, weights: str) -> MetricResult:
    """The same with each piece of the area multiplied by the weight of its frequency's bin, of 20.

    WeightsError where the file of weights is not here, or another than its card says.
    """
    return _compared(pair, max_vertices, align, read_weights(stored.require("saucd_w", weights).read()))


def read_weights(data: bytes) -> np.ndarray:
    """float64[20], the tensor `weights` of a safetensors file; WeightsError where it holds none such."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        weights = np.asarray(load(data)["weights"], dtype=np.float64)
    except (SafetensorError, KeyError) as error:
        raise stored.WeightsError("The weights of saucd_w are not a safetensors file with a tensor named weights; restore it.") from error
    if weights.shape != (BINS,) or not np.isfinite(weights).all():
        raise stored.WeightsError(f"The weights of saucd_w must be {BINS} finite numbers; restore the file.")
    return weights


def laplacian(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """float64[N, N], symmetric and negative semidefinite, of a mesh without repeated or degenerate faces."""
    corners = points[faces]
    opposite = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]  # the side opposite each corner
    sides = np.linalg.norm(opposite, axis=2)
    next_side, last_side = opposite[:, [1, 2, 0]], opposite[:, [2, 0, 1]]
    cosines = -np.einsum("mij,mij->mi", next_side, last_side) / (sides[:, [1, 2, 0]] * sides[:, [2, 0, 1]])
    cosines = np.clip(cosines, -1.0, 1.0)
    sines = np.sqrt(1 - cosines**2)
    weights = np.clip(np.abs(cosines / (sines + TINY)), 0, MAX_COTANGENT)
    a, b = faces[:, [1, 2, 0]].ravel(), faces[:, [2, 0, 1]].ravel()  # the side opposite each corner, from a to b
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    summed = scipy.sparse.coo_array((np.tile(weights.ravel(), 2), ends), shape=(len(points),) * 2)
    summed.sum_duplicates()
    areas = vertex_areas(points, faces, cosines, sines, sides)
    # The reference implementation adds TINY itself, which weighs more the smaller a mesh is.
    product = areas[summed.row] * areas[summed.col] + TINY * areas.mean() ** 2
    summed.data /= 2 * np.sqrt(product)
    found = summed.toarray()
    found[np.diag_indices_from(found)] = -summed.sum(axis=1)
    return found


def vertex_areas(points: np.ndarray, faces: np.ndarray, cosines: np.ndarray, sines: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """float64[N]: the share of the faces' areas that each vertex gets.

    `cosines`, `sines` of the angle at each corner and `sides` opposite it are float64[M, 3].
    """
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)[:, None] / 2
    radius = sides.prod(axis=1, keepdims=True) / (4 * area)
    shares = (area - sines * cosines * radius**2) / 2  # sine times cosine: half the sine of twice the angle
    obtuse = cosines < 0
    shares = np.where(obtuse.any(axis=1, keepdims=True), np.where(obtuse, area / 2, area / 4), shares)
    return np.bincount(faces.ravel(), shares.ravel(), minlength=len(points))


def spectrum(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(eigenvalues float64[N], the highest frequency first; what the coordinates weigh on each, float64[N])."""
    # L = Q T Q^T with T tridiagonal, so U^T V = Z^T (Q^T V) with the eigenvectors Z of T. Q stays the product of
    # reflections it comes as: U itself is never made, and one matrix of N^2 is held at a time instead of four.
    centred = points - points.mean(axis=0)
    matrix = laplacian(points, faces).T  # it is symmetric, and LAPACK wants columns in a row to work in place
    work, _ = scipy.linalg.lapack.dsytrd_lwork(len(points), lower=1)
    reflections, diagonal, beside, factors, _ = scipy.linalg.lapack.dsytrd(matrix, lower=1, lwork=int(work), overwrite_a=1)
    for step, factor in enumerate(factors):
        across = reflections[step + 1 :, step]
        across[0] = 1.0
        centred[step + 1 :] -= factor * np.outer(across, across @ centred[step + 1 :])
    del matrix, reflections, across
    eigenvalues, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside, lapack_driver="stevd")
    squared = ((vectors.T @ centred) ** 2).sum(axis=1)
    begins = np.diff(eigenvalues, prepend=-np.inf) > COINCIDE * np.abs(eigenvalues).max()
    space = np.cumsum(begins) - 1
    return eigenvalues, np.sqrt((np.bincount(space, squared) / np.bincount(space))[space])


def normalised(eigenvalues: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The spectrum without its noise and with an area of 1; None where it has no area."""
    first = int(PRUNED * len(eigenvalues))
    eigenvalues, weights = eigenvalues[first:], weights[first:]
    area = float(np.sum((weights[1:] + weights[:-1]) / 2 * np.diff(eigenvalues)))
    if not area > 0:
        return None
    scaled = eigenvalues / area**2, weights * area
    return scaled if np.isfinite(scaled).all() else None


def area_between(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None) -> float:
    """The area between two normalised spectra, each nothing outside its own eigenvalues, in [0, 2].

    `weights` float64[20] multiply each piece of it by the bin of its upper end.
    """
    grid = np.sort(np.concatenate([one[0], other[0]]))
    apart = np.interp(grid, *one, left=0.0, right=0.0) - np.interp(grid, *other, left=0.0, right=0.0)
    steps, d1, d2 = np.diff(grid), apart[:-1], apart[1:]
    crossing = (d1**2 + d2**2) / (2 * np.abs(d2 - d1) + TINY)
    pieces = np.where(d1 * d2 < 0, crossing, (np.abs(d1) + np.abs(d2)) / 2) * steps
    if weights is not None:
        pieces = pieces * np.abs(weights)[bins(grid[1:])]
    return float(np.clip(pieces.sum(), 0.0, WORST))


def bins(eigenvalues: np.ndarray) -> np.ndarray:
    """int64[N]: the weight that each normalised eigenvalue falls to."""
    inside = np.clip(eigenvalues, LOWEST + TINY, -TINY)
    return np.clip(np.floor(BINS - 1 + inside / (-LOWEST / (BINS - 1))), 0, BINS - 1).astype(np.int64)


def _compared(pair: MeshPair, max_vertices: int, align: str, weights: np.ndarray | None) -> MetricResult:
    key = f"saucd spectrum max_vertices={max_vertices}"
    ref = pair.reference_once(key, lambda: _spectrum_of(pair.reference, max_vertices))
    found = pair.prediction(align)
    if not len(found):
        return MetricResult(WORST, Status.EMPTY_PRED)
    pred = pair.once((key, align), lambda: _spectrum_of(found, max_vertices))
    flags = tuple(flag for flag, side in (("decimated", pred), ("gt_decimated", ref)) if side[2])
    one, other = normalised(*pred[:2]), normalised(*ref[:2])
    if other is None:
        return MetricResult(None, Status.NOT_APPLICABLE, (*flags, "gt_flat_spectrum"))
    if one is None:
        return MetricResult(WORST, flags=(*flags, "flat_spectrum"))
    parts = {"n_pred": float(len(pred[0])), "n_gt": float(len(ref[0]))}
    return MetricResult(area_between(one, other, weights), flags=flags, parts=parts)


def _spectrum_of(found: Surface, max_vertices: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(eigenvalues, weights, whether the mesh was decimated as bool[]) of a surface."""
    small = decimated(found, max_vertices)
    faces = np.unique(small.faces, axis=0)
    return *spectrum(small.points, faces), np.array(small is not found)


def decimated(found: Surface, max_vertices: int) -> Surface:
    """The surface, or, where it has more than `max_vertices`, one of at most 5/6 of these by quadric edge collapse."""
    if len(found.points) <= max_vertices:
        return found
    import fast_simplification

    wanted, small = int(max_vertices * KEPT), found
    while len(small.points) > wanted:
        share = max(0.0, 1 - 0.99 * wanted / len(small.points))
        points, faces = fast_simplification.simplify(small.points.copy(), small.oriented.copy(), target_reduction=share)
        fewer = surface(np.asarray(points, np.float64), np.asarray(faces, np.int64), 0.0)
        if not 0 < len(fewer.points) < len(small.points):
            break
        small = fewer
    return small


def _spec(
    key: str, title: str, function: Callable[..., MetricResult], doc: str, formula: str, *params: Param, warning: str = ""
) -> MetricSpec:
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
                doc="A mesh with more vertices is first simplified to 5/6 of this number, and flagged. Time grows with the cube of the "
                "number of vertices.",
                source=Source.OURS,
            ),
            parameters.ALIGN,
            *params,
        ),
        worst="2",
        doc=doc,
        origin=Origin((papers.SAUCD,)),
        function=function,
        examples=() if params else ("MIRROR_IMAGE", "SIZE_AND_PLACE_UNSEEN"),
        weights=key if params else None,
        effort=Effort(120.0, 10_000, power=3.0, most="max_vertices"),
        formula=formula,
        warning=warning,
        version=2,
    )


PLACE = 30  # in lists of metrics of its kind
SPECS = (
    _spec(
        "saucd",
        "SAUCD",
        saucd,
        "Area between the spectra of the two meshes: the weight of their coordinates on the eigenvectors of the cotangent Laplacian. The "
        "position, rotation and scale of the whole mesh do not count. Fine detail counts as much as overall shape.",
        "area between the curves of |(Uᵀ V)_i| over λ_i, L = U Λ Uᵀ, each brought to an area of 1; where λ coincide, the root mean square",
        warning="SAUCD puts degrees of noise, smoothing and decimation into the wrong order. In the sanity tests, more noise "
        "did not raise the value at every step on 11 of 16 procedural meshes, and more smoothing on 8 of 16. The published "
        "code does the same.",
    ),
    _spec(
        "saucd_w",
        "SAUCD, weighted",
        saucd_w,
        "SAUCD with the area in each of 20 bands of frequency weighted by how much people noticed differences in the band. The metric "
        "needs a file of trained weights. No such file is published, so the metric cannot be used yet.",
        "as SAUCD, each piece of the area multiplied by |w_b| of its band b",
        Param(
            "weights",
            "shape_grading",
            "choice",
            choices=("shape_grading",),
            doc="The 20 weights, by the data they were trained on.",
            source=Source.PAPER,
        ),
    ),
)
