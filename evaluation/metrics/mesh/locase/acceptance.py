"""The acceptance figures: changes of the score under what should hardly change it, measured, met or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase.alignment import Shape, shape
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.procedural import HELD_OUT
from evaluation.metrics.mesh.locase.sampling import sampling
from evaluation.metrics.mesh.locase.scoring import compared, encoding
from evaluation.metrics.mesh.locase.training import agreement
from evaluation.synthetic import distortions, meshes
from evaluation.synthetic.distortions import generator
from evaluation.synthetic.pseudo_scores import Judge
from submissions.formats.arrays import Mesh

Change = Callable[[Mesh, np.random.Generator], Mesh]


@dataclass(frozen=True, eq=False)
class Case:
    """A reference, its damaged meshes and their scores, as meshes."""

    name: str
    reference: Mesh
    damaged: tuple[Mesh, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Figure:
    """One acceptance figure: `value` is to be at most `limit` in absolute terms; without a limit it is information."""

    name: str
    value: float
    limit: float | None = None

    @property
    def met(self) -> bool | None:
        return None if self.limit is None else abs(self.value) <= self.limit


def procedural_cases(seed: int, kinds: Sequence[str] = HELD_OUT) -> list[Case]:
    """One object of each of some kinds with every distortion, at the second and the fourth level in turn."""
    made = []
    for kind in kinds:
        own = seed * 1_000
        reference = meshes.mesh(kind, own)
        judge, damaged, scores = Judge(reference), [], []
        for number, damage in enumerate(distortions.KINDS):
            level = (2, 4)[number % 2]
            damaged.append(distortions.distort(reference, damage, level, own))
            scores.append(judge.score(damaged[-1], level))
        made.append(Case(f"{kind} {own}", reference, tuple(damaged), tuple(scores)))
    return made


def figures(model: LoCaSE, cases: Sequence[Case], advance: Callable[[str], None] | None = None) -> list[Figure]:
    """All figures, over these cases. Changes are made to the damaged mesh, before its alignment unless said otherwise."""
    bench = _Bench(model, cases)
    made = []
    for name, change, limit in _KEEPING_PLCC:
        made.append(Figure(f"PLCC change, {name}", bench.plcc_change(change), limit))
        _tell(advance, name)
    for name, change, limit in _KEEPING_SCORES:
        made.append(Figure(f"mean score change, {name}", bench.score_change(change), limit))
        _tell(advance, name)
    for degrees in (1, 2, 5, 10):
        limit = 0.07 if degrees == 10 else None
        made.append(Figure(f"mean score change, {degrees}° rotation after the alignment", bench.turned_change(degrees), limit))
        _tell(advance, f"{degrees}° rotation")
    signs = [np.diag(sign) for sign in product((1.0, -1.0), repeat=3)]
    swaps = [np.eye(3)[list(order)] for order in permutations(range(3))]
    for name, turns, both, limit in (
        ("sign flips of both meshes", signs, True, 0.05),
        ("sign flips of the damaged mesh alone", signs, False, None),
        ("axis swaps of both meshes", swaps, True, None),
    ):
        made.append(Figure(f"standard deviation of the score over {name}", bench.spread(turns, both), limit))
        _tell(advance, name)
    made.append(Figure("mean score of the undamaged mesh", float(np.mean(bench.undamaged()))))
    _tell(advance, "undamaged")
    change = np.abs(bench.undamaged(_noise(0.0005)) / bench.undamaged() - 1).max()
    made.append(Figure("largest score change of an undamaged mesh, vertex noise of 0.05 %", float(change)))
    _tell(advance, "undamaged and noise")
    return made


def _shape(case: Case) -> Shape:
    found = shape(case.reference.vertices, case.reference.faces)
    if found is None:
        raise ValueError(f"The reference of {case.name} is degenerate; leave the case out.")
    return found


def _plcc(own: np.ndarray, case: Case) -> float:
    found = agreement(own, np.array(case.scores))
    if found is None:
        raise ValueError(f"The scores of {case.name} do not vary; leave the case out.")
    return found[0]


class _Bench:
    """The model's scores of the cases, and what becomes of them."""

    def __init__(self, model: LoCaSE, cases: Sequence[Case]) -> None:
        self.model, self.cases = model, cases
        self.points = [_shape(case) for case in cases]
        self.samplings = [sampling(points) for points in self.points]
        self.references = [encoding(model, points, how) for points, how in zip(self.points, self.samplings, strict=True)]
        self.plain = [self._scores(number, case.damaged) for number, case in enumerate(cases)]

    def plcc_change(self, change: Change) -> float:
        """Relative change of the PLCC with the given scores, averaged over cases."""
        after = [self._scores(number, self._changed(case, change)) for number, case in enumerate(self.cases)]
        now, then = (np.mean([_plcc(own, case) for own, case in zip(scores, self.cases, strict=True)]) for scores in (self.plain, after))
        return float(then / now - 1)

    def score_change(self, change: Change) -> float:
        """Mean of |change| / score."""
        after = [self._scores(number, self._changed(case, change)) for number, case in enumerate(self.cases)]
        return float(np.mean([np.abs(b / a - 1).mean() for a, b in zip(self.plain, after, strict=True)]))

    def turned_change(self, degrees: float) -> float:
        """The same for a rotation about a random axis between the alignment and the network."""
        changes = []
        for number, case in enumerate(self.cases):
            rng = generator(f"acceptance:turn:{case.name}")
            for mesh, plain in zip(case.damaged, self.plain[number], strict=True):
                axis = rng.normal(size=3)
                turn = Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis)).as_matrix()
                changes.append(abs(self._score(number, _points(mesh), turn) / plain - 1))
        return float(np.mean(changes))

    def undamaged(self, change: Change = lambda mesh, rng: mesh) -> np.ndarray:
        """The scores of the references themselves, or of what `change` makes of them."""
        meshes = [change(case.reference, generator(f"acceptance:{case.name}")) for case in self.cases]
        return np.array([self._score(number, _points(mesh)) for number, mesh in enumerate(meshes)])

    def spread(self, turns: Sequence[np.ndarray], both: bool) -> float:
        """Standard deviation of the score over some turns after the alignment; a few damaged meshes per case."""
        spreads = []
        for number, case in enumerate(self.cases):
            seen = [encoding(self.model, self.points[number], self.samplings[number], turn) if both else None for turn in turns]
            for mesh in case.damaged[::5]:
                points = _points(mesh)
                spreads.append(np.std([self._score(number, points, turn, own) for turn, own in zip(turns, seen, strict=True)]))
        return float(np.mean(spreads))

    def _scores(self, number: int, meshes: Sequence[Mesh]) -> np.ndarray:
        return np.array([self._score(number, _points(mesh)) for mesh in meshes])

    def _score(self, number: int, points: Shape, turn: np.ndarray | None = None, reference: np.ndarray | None = None) -> float:
        own = encoding(self.model, points, self.samplings[number], turn)
        return compared(self.model, own, self.references[number] if reference is None else reference)

    def _changed(self, case: Case, change: Change) -> list[Mesh]:
        rng = generator(f"acceptance:{case.name}")
        return [change(mesh, rng) for mesh in case.damaged]


def _noise(share: float) -> Change:
    """Gaussian noise, its spread a share of the mean distance of the vertices from their middle."""

    def change(mesh: Mesh, rng: np.random.Generator) -> Mesh:
        size = np.linalg.norm(mesh.vertices - mesh.vertices.mean(axis=0), axis=1).mean()
        return Mesh(mesh.vertices + rng.normal(size=mesh.vertices.shape) * share * size, mesh.faces)

    return change


def _scaled(share: float) -> Change:
    return lambda mesh, rng: Mesh(mesh.vertices * (1 + share), mesh.faces)


def _strewn(share: float) -> Change:
    return lambda mesh, rng: distortions.stray(mesh, share, rng)


def _turned(degrees: float) -> Change:
    def change(mesh: Mesh, rng: np.random.Generator) -> Mesh:
        axis = rng.normal(size=3)
        return Mesh(Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis)).apply(mesh.vertices), mesh.faces)

    return change


def _points(mesh: Mesh) -> Shape:
    points = shape(mesh.vertices, mesh.faces)
    if points is None:
        raise ValueError("a mesh of the acceptance figures is degenerate")
    return points


def _tell(advance: Callable[[str], None] | None, name: str) -> None:
    if advance is not None:
        advance(name)


_KEEPING_PLCC: tuple[tuple[str, Change, float | None], ...] = (
    ("triangle soup", lambda mesh, rng: distortions.soup(mesh), 0.001),
    ("one subdivision", lambda mesh, rng: distortions.subdivide(mesh), 0.01),
    ("noise of 0.001", _noise(0.001), None),
    ("noise of 0.01", _noise(0.01), 0.01),
)
_KEEPING_SCORES: tuple[tuple[str, Change, float | None], ...] = (
    ("scaled by 0.5 %", _scaled(0.005), 0.0005),
    ("scaled by 5 %", _scaled(0.05), 0.0005),
    ("vertex noise of 0.05 %", _noise(0.0005), None),
    ("vertex noise of 0.1 %", _noise(0.001), None),
    ("vertex noise of 0.5 %", _noise(0.005), None),
    ("vertex noise of 1 %", _noise(0.01), 0.025),
    ("outliers, 0.5 % of the vertices", _strewn(0.005), None),
    ("outliers, 5 % of the vertices", _strewn(0.05), 0.03),
    ("10° rotation before the alignment", _turned(10), 0.07),
)
COUNT = len(_KEEPING_PLCC) + len(_KEEPING_SCORES) + 9
