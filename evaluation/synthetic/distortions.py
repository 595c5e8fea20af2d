"""Six ways to damage a mesh, at four levels each. Pure and deterministic.

Lengths are shares of the diagonal of the mesh's bounding box. Vertices at exactly the same place count as
one, so that a triangle soup does not crack. Every result has at least one face where the source had one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial import cKDTree

from submissions.formats.arrays import Mesh

LEVELS = (1, 2, 3, 4)


def distort(mesh: Mesh, kind: str, level: int, seed: int = 0) -> Mesh:
    """The mesh with the damage of a kind in KINDS at a level in LEVELS."""
    if kind not in _STRENGTHS:
        raise ValueError(f"there is no distortion {kind!r}; there are {', '.join(KINDS)}")
    if level not in LEVELS:
        raise ValueError(f"there is no level {level!r}; levels are 1, 2, 3 and 4")
    function, strengths = _STRENGTHS[kind]
    return function(mesh, strengths[level - 1], generator(f"distort:{kind}:{level}:{seed}"))


def damage(mesh: Mesh, kind: str, strength: float, rng: np.random.Generator) -> Mesh:
    """The mesh with the damage of a kind in KINDS of any strength, in that kind's own unit."""
    return _STRENGTHS[kind][0](mesh, strength, rng)


def level(kind: str, strength: float) -> float:
    """The level of a strength: 1 to 4 at the strengths of LEVELS, 0 at none, between them in proportion, beyond them by the log."""
    at = np.array(_STRENGTHS[kind][1], dtype=np.float64)
    none = 1.0 if kind == "decimation" else 0.0
    if (strength - at[-1]) * (at[-1] - none) > 0:
        return 4 + float(np.log(strength / at[-1]) / np.log(at[-1] / at[-2]))
    order = np.argsort([none, *at])
    return float(np.interp(strength, np.array([none, *at])[order], order))


def smooth(mesh: Mesh, passes: float, rng: np.random.Generator | None = None) -> Mesh:
    """Every vertex moves half the way to the mean of its neighbours, `passes` times."""
    mesh = welded(mesh)
    n, pairs = len(mesh.vertices), _sides(mesh.faces)
    links = csr_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    links = links + links.T
    links.data[:] = 1.0
    degree = np.maximum(links.sum(axis=1), 1)
    mean, vertices = diags_array(1 / degree) @ links, mesh.vertices
    alone = np.diff(links.indptr) == 0
    for _ in range(int(passes)):
        vertices = np.where(alone[:, None], vertices, (vertices + mean @ vertices) / 2)
    return Mesh(vertices, mesh.faces, mesh.face_colours)


def add_noise(mesh: Mesh, sigma: float, rng: np.random.Generator) -> Mesh:
    """Gaussian noise on every coordinate."""
    mesh = welded(mesh)
    vertices = mesh.vertices + rng.normal(size=mesh.vertices.shape) * sigma * diagonal(mesh)
    return Mesh(vertices, mesh.faces, mesh.face_colours)


def decimate(mesh: Mesh, keep: float, rng: np.random.Generator | None = None) -> Mesh:
    """About the share `keep` of the vertices, evenly spread; each takes the mean place of those nearest to it."""
    mesh = welded(mesh)
    wanted = max(4, round(keep * len(mesh.vertices)))
    if wanted >= len(mesh.vertices):
        return mesh
    owner = cKDTree(mesh.vertices[_spread(mesh.vertices, wanted)]).query(mesh.vertices)[1]
    count = np.maximum(np.bincount(owner, minlength=wanted), 1)[:, None]
    centre = np.stack([np.bincount(owner, mesh.vertices[:, k], wanted) for k in range(3)], -1) / count
    return _faces_kept(Mesh(centre, owner[mesh.faces], mesh.face_colours), mesh)


def quantise(mesh: Mesh, step: float, rng: np.random.Generator | None = None) -> Mesh:
    """Every coordinate rounded to a grid of that step."""
    mesh = welded(mesh)
    size = step * diagonal(mesh)
    if size <= 0:
        return mesh
    low = mesh.vertices.min(axis=0)
    return _faces_kept(Mesh(low + np.round((mesh.vertices - low) / size) * size, mesh.faces, mesh.face_colours), mesh)


def punch_holes(mesh: Mesh, share: float, rng: np.random.Generator) -> Mesh:
    """About that share of the area cut away, in three round holes."""
    mesh = welded(mesh)
    centres, area = mesh.vertices[mesh.faces].mean(axis=1), face_areas(mesh)
    if area.sum() <= 0 or len(area) < 2:
        return mesh
    near = np.full(len(area), np.inf)
    for _ in range(3):
        middle = centres[rng.choice(len(area), p=area / area.sum())]
        near = np.minimum(near, np.linalg.norm(centres - middle, axis=1))
    order = np.argsort(near, kind="stable")
    gone = int(np.searchsorted(np.cumsum(area[order]), share * area.sum(), side="right"))
    left = np.ones(len(area), dtype=bool)
    left[order[: min(gone, len(area) - 1)]] = False
    return used_only(Mesh(mesh.vertices, mesh.faces[left], _colours(mesh, left)))


def bump(mesh: Mesh, height: float, rng: np.random.Generator) -> Mesh:
    """Six soft bumps and dents along the normals, each about a tenth of the diagonal wide."""
    mesh = welded(mesh)
    normals, vertices = vertex_normals(mesh), mesh.vertices.copy()
    wide, high = 0.06 * diagonal(mesh), height * diagonal(mesh)
    if high <= 0:
        return mesh
    for _ in range(6):
        middle = mesh.vertices[rng.integers(len(mesh.vertices))]
        sign = 1.0 if rng.random() < 0.6 else -0.6
        near = np.exp(-((mesh.vertices - middle) ** 2).sum(axis=1) / (2 * wide**2))
        vertices += sign * high * rng.uniform(0.6, 1.4) * near[:, None] * normals
    return Mesh(vertices, mesh.faces, mesh.face_colours)


def subdivide(mesh: Mesh) -> Mesh:
    """Every triangle cut into four at the middles of its sides; the surface stays as it is."""
    sides, number = np.unique(_sides(mesh.faces), axis=0, return_inverse=True)
    ab, bc, ca = (len(mesh.vertices) + number.reshape(-1, 3)).T
    a, b, c = mesh.faces.T
    faces = np.stack([np.stack(f, -1) for f in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))], 1)
    colours = None if mesh.face_colours is None else np.repeat(mesh.face_colours, 4, axis=0)
    return Mesh(np.concatenate([mesh.vertices, mesh.vertices[sides].mean(axis=1)]), faces.reshape(-1, 3), colours)


def soup(mesh: Mesh) -> Mesh:
    """The same triangles, sharing no vertex."""
    return Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(mesh.faces.size, dtype=np.int64).reshape(-1, 3), mesh.face_colours)


def stray(mesh: Mesh, share: float, rng: np.random.Generator) -> Mesh:
    """The mesh with that share of its vertices thrown anywhere into the bounding box, grown by a tenth."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    vertices, chosen = mesh.vertices.copy(), rng.random(len(mesh.vertices)) < share
    margin = 0.1 * (high - low)
    vertices[chosen] = rng.uniform(low - margin, high + margin, (int(chosen.sum()), 3))
    return Mesh(vertices, mesh.faces, mesh.face_colours)


def welded(mesh: Mesh) -> Mesh:
    """The mesh with vertices at exactly the same position merged and unused vertices removed; faces keep their order."""
    places, number = np.unique(mesh.vertices + 0.0, axis=0, return_inverse=True)
    return used_only(Mesh(places, number.reshape(-1)[mesh.faces], mesh.face_colours)) if len(mesh.faces) else mesh


def used_only(mesh: Mesh) -> Mesh:
    """Without the vertices that no face uses."""
    used, number = np.unique(mesh.faces, return_inverse=True)
    return Mesh(mesh.vertices[used], number.reshape(-1, 3), mesh.face_colours)


def diagonal(mesh: Mesh) -> float:
    """Diagonal of the bounding box."""
    return float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))) if len(mesh.vertices) else 0.0


def face_areas(mesh: Mesh) -> np.ndarray:
    """Area of every face."""
    return np.linalg.norm(_crosses(mesh), axis=1) / 2


def vertex_normals(mesh: Mesh) -> np.ndarray:
    """Area-weighted unit normals of the vertices; zero where they cancel."""
    normals = np.stack([np.bincount(mesh.faces.ravel(), np.repeat(c, 3), len(mesh.vertices)) for c in _crosses(mesh).T], -1)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)


def generator(text: str) -> np.random.Generator:
    """A PCG64 generator fixed by a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))


def _crosses(mesh: Mesh) -> np.ndarray:
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    return np.cross(b - a, c - a)


def _sides(faces: np.ndarray) -> np.ndarray:
    """The three sides of every face, each from its smaller to its larger vertex."""
    return np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)


def _spread(points: np.ndarray, wanted: int) -> np.ndarray:
    """`wanted` points, each the farthest from those before it; the first is the farthest from the mean."""
    chosen = [int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())]
    near = np.full(len(points), np.inf)
    for _ in range(wanted - 1):
        near = np.minimum(near, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(near.argmax()))
    return np.array(chosen)


def _faces_kept(mesh: Mesh, source: Mesh) -> Mesh:
    """Without faces that have collapsed or repeat another; the source if nothing is left."""
    places, number = np.unique(mesh.vertices, axis=0, return_inverse=True)
    mesh = Mesh(places, number.reshape(-1)[mesh.faces], mesh.face_colours)
    a, b, c = np.sort(mesh.faces, axis=1).T
    first = np.unique(np.stack([a, b, c], -1), axis=0, return_index=True)[1]
    left = np.zeros(len(mesh.faces), dtype=bool)
    left[first] = True
    left &= (a != b) & (b != c)
    return used_only(Mesh(mesh.vertices, mesh.faces[left], _colours(mesh, left))) if left.any() else source


def _colours(mesh: Mesh, left: np.ndarray) -> np.ndarray | None:
    return None if mesh.face_colours is None else mesh.face_colours[left]


# At one level all kinds bring about about the same mean deviation over the procedural objects (pseudo_scores.LADDER).
_STRENGTHS: dict[str, tuple[Callable[..., Mesh], tuple[float, ...]]] = {
    "smoothing": (smooth, (1, 2, 5, 14)),
    "noise": (add_noise, (0.0011, 0.0026, 0.0057, 0.0147)),
    "decimation": (decimate, (0.8, 0.5, 0.2, 0.09)),
    "quantisation": (quantise, (0.0042, 0.0098, 0.022, 0.054)),
    "holes": (punch_holes, (0.025, 0.065, 0.122, 0.22)),
    "bumps": (bump, (0.0072, 0.017, 0.035, 0.066)),
}
KINDS = tuple(_STRENGTHS)
