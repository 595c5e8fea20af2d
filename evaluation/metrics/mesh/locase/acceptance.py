"""The acceptance figures: changes of the score under what should hardly change it, measured, met or not.

They include every row of the paper's tables 9 to 11, with the number that it prints, which is of other meshes and other weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import t as student

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
    """One acceptance figure: `value` is the mean over `n` objects, `interval` its 95 % interval (Student's t over the objects), None for
    one object. It is to be at most `limit` in absolute terms; without a limit it is information. `published` is the paper's number."""

    name: str
    value: float
    limit: float | None = None
    table: int | None = None  # of the paper
    published: float | None = None
    n: int = 0
    interval: tuple[float, float] | None = None

    @property
    def met(self) -> bool | None:
        return None if self.limit is None else abs(self.value) <= self.limit


@dataclass(frozen=True)
class Row:
    """One figure before it is measured; `measure` gives its value for each case."""

    name: str
    measure: Callable[[Bench], np.ndarray] = field(compare=False)
    limit: float | None = None
    table: int | None = None
    published: float | None = None

    def measured(self, bench: Bench) -> Figure:
        """The figure of the bench's model and cases."""
        values = self.measure(bench)
        return Figure(self.name, float(values.mean()), self.limit, self.table, self.published, len(values), interval(values))


def interval(values: np.ndarray) -> tuple[float, float] | None:
    """The 95 % interval of the mean of float64[n] by Student's t; None where n is 1."""
    if len(values) < 2:
        return None
    half = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def procedural_cases(seed: int) -> list[Case]:
    """One object of each kind that training leaves out, with every distortion, at the second and the fourth level in turn."""
    made = []
    for kind in HELD_OUT:
        own = seed * 1_000
        reference = meshes.mesh(kind, own)
        judge, damaged, scores = Judge(reference), [], []
        for number, damage in enumerate(distortions.KINDS):
            level = (2, 4)[number % 2]
            damaged.append(distortions.distort(reference, damage, level, own))
            scores.append(judge.score(damaged[-1], level))
        made.append(Case(f"{kind} {own}", reference, tuple(damaged), tuple(scores)))
    return made


def figures(model: LoCaSE, cases: Sequence[Case], advance: Callable[[], object]) -> list[Figure]:
    """All figures, over these cases; `advance` is called after each."""
    bench, made = Bench(model, cases), []
    for row in ROWS:
        made.append(row.measured(bench))
        advance()
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


class Bench:
    """The model's scores of the cases, and how they change. Changes are made to the damaged mesh before its alignment, unless a method says
    otherwise. Each method gives float64[cases], whose mean is the figure."""

    def __init__(self, model: LoCaSE, cases: Sequence[Case]) -> None:
        self.model, self.cases = model, cases
        self.points = [_shape(case) for case in cases]
        self.samplings = [sampling(points) for points in self.points]
        self.references = [encoding(model, points, how) for points, how in zip(self.points, self.samplings, strict=True)]
        self.plain = [self._scores(number, case.damaged) for number, case in enumerate(cases)]

    def plcc_change(self, change: Change) -> np.ndarray:
        """Change of the PLCC with the given scores, over the mean PLCC without the change."""
        after = [self._scores(number, self._changed(case, change)) for number, case in enumerate(self.cases)]
        now, then = (np.array([_plcc(own, case) for own, case in zip(scores, self.cases, strict=True)]) for scores in (self.plain, after))
        return (then - now) / now.mean()

    def score_change(self, change: Change) -> np.ndarray:
        """Mean of |change| / score."""
        after = [self._scores(number, self._changed(case, change)) for number, case in enumerate(self.cases)]
        return np.array([np.abs(b / a - 1).mean() for a, b in zip(self.plain, after, strict=True)])

    def turned_change(self, degrees: float) -> np.ndarray:
        """The same for a rotation about a random axis between the alignment and the network."""
        changes = []
        for number, case in enumerate(self.cases):
            rng = generator(f"acceptance:turn:{case.name}")
            scores = [self._score(number, _points(mesh), _turn(degrees, rng)) for mesh in case.damaged]
            changes.append(np.abs(np.array(scores) / self.plain[number] - 1).mean())
        return np.array(changes)

    def undamaged(self, change: Change = lambda mesh, rng: mesh) -> np.ndarray:
        """The scores of the references themselves, or of what `change` makes of them."""
        meshes = [change(case.reference, generator(f"acceptance:{case.name}")) for case in self.cases]
        return np.array([self._score(number, _points(mesh)) for number, mesh in enumerate(meshes)])

    def spread(self, turns: Sequence[np.ndarray], both: bool) -> np.ndarray:
        """Standard deviation of the score over some turns after the alignment, of every fifth damaged mesh."""
        spreads = []
        for number, case in enumerate(self.cases):
            seen = [encoding(self.model, self.points[number], self.samplings[number], turn) if both else None for turn in turns]
            scores = [[self._score(number, _points(mesh), *pair) for pair in zip(turns, seen, strict=True)] for mesh in case.damaged[::5]]
            spreads.append(np.std(scores, axis=1).mean())
        return np.array(spreads)

    def spread_over_changes(self, change: Change) -> np.ndarray:
        """Standard deviation of the score over eight draws of a change before the alignment, of every fifth damaged mesh."""
        spreads = []
        for number, case in enumerate(self.cases):
            rng = generator(f"acceptance:draws:{case.name}")
            drawn = [[self._score(number, _points(change(mesh, rng))) for _ in range(DRAWS)] for mesh in case.damaged[::5]]
            spreads.append(np.std(drawn, axis=1).mean())
        return np.array(spreads)

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


def _turn(degrees: float, rng: np.random.Generator) -> np.ndarray:
    """The matrix of a rotation about a random axis."""
    axis = rng.normal(size=3)
    return Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis)).as_matrix()


def _turned(degrees: float) -> Change:
    return lambda mesh, rng: Mesh(mesh.vertices @ _turn(degrees, rng).T, mesh.faces)


def _any_turn(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    return Mesh(mesh.vertices @ Rotation.random(random_state=rng).as_matrix().T, mesh.faces)


def _points(mesh: Mesh) -> Shape:
    points = shape(mesh.vertices, mesh.faces)
    if points is None:
        raise ValueError("a mesh of the acceptance figures is degenerate")
    return points


def _plcc_row(name: str, change: Change, published: float, limit: float | None = None) -> Row:
    return Row(f"PLCC change, {name}", lambda bench: bench.plcc_change(change), limit, 9, published)


def _score_row(name: str, change: Change, published: float | None, limit: float | None = None) -> Row:
    table = None if published is None else 11
    return Row(f"mean score change, {name}", lambda bench: bench.score_change(change), limit, table, published)


def _turned_row(degrees: int, published: float, limit: float | None = None) -> Row:
    name = f"mean score change, {degrees}° rotation after the alignment"
    return Row(name, lambda bench: bench.turned_change(degrees), limit, 11, published)


def _spread_row(name: str, measure: Callable[[Bench], np.ndarray], published: float | None, limit: float | None = None) -> Row:
    return Row(f"standard deviation of the score over {name}", measure, limit, None if published is None else 10, published)


DRAWS = 8
_SIGNS = [np.diag(sign) for sign in product((1.0, -1.0), repeat=3)]
_SWAPS = [np.eye(3)[list(order)] for order in permutations(range(3))]
ROWS: tuple[Row, ...] = (
    _plcc_row("triangle soup", lambda mesh, rng: distortions.soup(mesh), -0.0003, 0.001),
    _plcc_row("one subdivision", lambda mesh, rng: distortions.subdivide(mesh), 0.0004, 0.01),
    _plcc_row("two subdivisions", lambda mesh, rng: distortions.subdivide(distortions.subdivide(mesh)), 0.0326),
    _plcc_row("noise of 0.001", _noise(0.001), -0.0011),
    _plcc_row("noise of 0.01", _noise(0.01), -0.0044, 0.01),
    _spread_row("sign flips of both meshes", lambda bench: bench.spread(_SIGNS, True), 0.031, 0.05),
    _spread_row("sign flips of the damaged mesh alone", lambda bench: bench.spread(_SIGNS, False), None),
    _spread_row("axis swaps of both meshes", lambda bench: bench.spread(_SWAPS, True), 0.052),
    _spread_row("rotations before the alignment", lambda bench: bench.spread_over_changes(_any_turn), 0.040),
    _spread_row("vertex noise of 0.1 %", lambda bench: bench.spread_over_changes(_noise(0.001)), 0.005),
    _score_row("vertex noise of 0.05 %", _noise(0.0005), 0.0008),
    _score_row("vertex noise of 0.1 %", _noise(0.001), 0.0017),
    _score_row("vertex noise of 0.5 %", _noise(0.005), 0.0104),
    _score_row("vertex noise of 1 %", _noise(0.01), 0.0242, 0.025),
    _score_row("outliers, 0.5 % of the vertices", _strewn(0.005), 0.0164),
    _score_row("outliers, 1 % of the vertices", _strewn(0.01), 0.0161),
    _score_row("outliers, 2 % of the vertices", _strewn(0.02), 0.0180),
    _score_row("outliers, 5 % of the vertices", _strewn(0.05), 0.0215, 0.03),
    _turned_row(1, 0.0187),
    _turned_row(2, 0.0239),
    _turned_row(5, 0.0396),
    _turned_row(10, 0.0642, 0.07),
    _score_row("10° rotation before the alignment", _turned(10), None, 0.07),
    _score_row("scaled by 0.5 %", _scaled(0.005), 0.0002, 0.0005),
    _score_row("scaled by 1 %", _scaled(0.01), 0.0002),
    _score_row("scaled by 2 %", _scaled(0.02), 0.0001),
    _score_row("scaled by 5 %", _scaled(0.05), 0.0002, 0.0005),
    Row("mean score of the undamaged mesh", lambda bench: bench.undamaged()),
    Row(
        "mean score change of the undamaged mesh, vertex noise of 0.05 %",
        lambda bench: np.abs(bench.undamaged(_noise(0.0005)) / bench.undamaged() - 1),
    ),
)
COUNT = len(ROWS)
