"""What LoCaSE is trained on: references, damaged meshes and their scores, as aligned points."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase.alignment import Shape, shape
from evaluation.metrics.mesh.locase.patches import Surroundings
from evaluation.synthetic import distortions, meshes
from evaluation.synthetic.pseudo_scores import Judge
from evaluation.training.errors import DataError
from submissions.formats.arrays import Mesh

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sample:
    """A damaged mesh and its score; `finer` is the same surface subdivided, or None."""

    name: str
    points: Shape
    score: float
    finer: Shape | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """A reference and what has been made of it. Folds keep subjects of one group together."""

    name: str
    group: str
    reference: Shape
    radius: float
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Batch:
    """Patches float32[M, Q, 64, 7] of one subject, its reference first, then its samples; the samples' scores float32[M - 1]."""

    patches: np.ndarray
    scores: np.ndarray


def subject(name: str, group: str, reference: Mesh, samples: Sequence[tuple[str, Mesh, float]], finer: bool = True) -> Subject:
    """A reference with (name, mesh, score) of its samples. Degenerate samples are left out; DataError for a degenerate reference."""
    points = _points(reference)
    if points is None:
        raise DataError(f"The reference {name} has no surface to speak of; take it out of the scores.")
    made = []
    for label, mesh, score in samples:
        own = _points(mesh)
        if own is not None:
            made.append(Sample(label, own, score, _points(distortions.subdivide(mesh)) if finer else None))
    return Subject(name, group, points, Surroundings(points.points).radius(), tuple(made))


def procedural(per_kind: int, seed: int, kinds: Sequence[str] = meshes.KINDS, progress: Progress | None = None) -> list[Subject]:
    """`per_kind` made-up objects of every kind with all distortions at all levels, scored by the pseudo-score; one undamaged."""
    made = []
    for number in range(per_kind * len(kinds)):
        kind, own = kinds[number % len(kinds)], seed * 1_000 + number // len(kinds)
        reference = meshes.mesh(kind, own)
        judge, samples = Judge(reference), [("undamaged", reference, 5.0)]
        for damage in distortions.KINDS:
            for level in distortions.LEVELS:
                mesh = distortions.distort(reference, damage, level, own)
                samples.append((f"{damage} {level}", mesh, judge.score(mesh, level)))
        made.append(subject(f"{kind} {own}", kind, reference, samples))
        if progress is not None:
            progress(number + 1, per_kind * len(kinds))
    return made


def rated(scores: Path, read: Callable[[Path], Mesh]) -> list[Subject]:
    """Subjects from a CSV with the columns reference, distorted and score (1 to 5); paths count from the CSV's folder."""
    rows = list(csv.DictReader(io.StringIO(scores.read_text(encoding="utf-8-sig"))))
    if not rows or not {"reference", "distorted", "score"} <= set(rows[0]):
        raise DataError(f"{scores.name} must have the columns reference, distorted and score, and at least one row.")
    by_reference: dict[str, list[tuple[str, float]]] = {}
    for line, row in enumerate(rows, start=2):
        try:
            score = float(row["score"])
        except (TypeError, ValueError):
            score = float("nan")
        if not 1 <= score <= 5:
            raise DataError(f"{scores.name}: line {line}: the score must be a number from 1 to 5, got {row['score']!r}.")
        by_reference.setdefault(row["reference"], []).append((row["distorted"], score))
    return [
        subject(name, name, read(scores.parent / name), [(file, read(scores.parent / file), score) for file, score in samples], finer=False)
        for name, samples in by_reference.items()
    ]


def batch(
    item: Subject,
    queries: int,
    rng: np.random.Generator,
    meshes: int | None = None,
    finer: float = 0.25,
    tilted: float = 0.2,
    flipped: float = 0.3,
) -> Batch:
    """Some vertices of every mesh of a subject, or of `meshes` of them drawn at random, seen in one random mirror image.

    With those probabilities a sample comes subdivided, tilted by up to ten degrees, or mirrored otherwise than its reference.
    """
    mirror, offset = rng.choice([-1.0, 1.0], 3), rng.random()
    seen = [_seen(item.reference, item.radius, queries, np.diag(mirror), offset)]
    samples = item.samples if meshes is None else [item.samples[number] for number in rng.permutation(len(item.samples))[:meshes]]
    for sample in samples:
        points = sample.finer if sample.finer is not None and rng.random() < finer else sample.points
        turn = np.diag(rng.choice([-1.0, 1.0], 3) if rng.random() < flipped else mirror)
        if rng.random() < tilted:
            axis = rng.normal(size=3)
            turn = Rotation.from_rotvec(axis / np.linalg.norm(axis) * np.radians(rng.uniform(0, 10))).as_matrix() @ turn
        seen.append(_seen(points, item.radius, queries, turn, offset))
    scores = np.array([sample.score for sample in samples], dtype=np.float32)
    return Batch(np.stack(seen), scores)


def _seen(points: Shape, radius: float, queries: int, turn: np.ndarray, offset: float) -> np.ndarray:
    """Patches of `queries` vertices at equal steps of surface along a space-filling curve.

    So every vertex stands for as much surface as any other, near places are seen of damaged mesh and reference, and
    means over the vertices waver far less than those over vertices drawn at random.
    """
    order = np.argsort(_along_a_curve(points.points), kind="stable")
    share = np.cumsum(points.weights[order])
    at = np.searchsorted(share, (np.arange(queries) + offset) / queries * share[-1]).clip(0, len(order) - 1)
    patches = Surroundings(points.points).patches(order[at], radius)
    turn = turn.astype(np.float32).T
    patches[..., :3], patches[..., 4:] = patches[..., :3] @ turn, patches[..., 4:] @ turn
    return patches


def _along_a_curve(points: np.ndarray) -> np.ndarray:
    """Morton numbers of the points: their places on a curve that fills space, in a grid of 1,024 cells a side."""
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    cell = np.minimum((points - low) / size * 1024, 1023).astype(np.int64)
    number = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            number |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return number


def _points(mesh: Mesh) -> Shape | None:
    return shape(mesh.vertices, mesh.faces)
