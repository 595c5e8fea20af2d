"""Data to train LoCaSE on: references, damaged meshes and their scores, as the points that the network looks at."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase.alignment import Shape, shape
from evaluation.metrics.mesh.locase.sampling import Sampling, Surroundings, sampled, sampling
from evaluation.training.errors import DataError
from submissions.formats.arrays import Mesh


@dataclass(frozen=True, eq=False)
class Sample:
    """The points of a damaged mesh that are looked at, and its score."""

    name: str
    points: Shape
    score: float


@dataclass(frozen=True, eq=False)
class Subject:
    """A reference and what has been made of it. Folds keep subjects of one group together."""

    name: str
    group: str
    reference: Shape
    how: Sampling
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Batch:
    """Patches float32[M, Q, 64, 7] of one subject, its reference first, then its samples; the samples' scores float32[M - 1]."""

    patches: np.ndarray
    scores: np.ndarray


def subject(name: str, group: str, reference: Mesh, samples: Sequence[tuple[str, Mesh, float]]) -> Subject:
    """A reference with (name, mesh, score) of its samples. Degenerate samples are left out; DataError for a degenerate reference."""
    points = _points(reference)
    if points is None:
        raise DataError(f"The reference {name} has no surface to speak of; take it out of the scores.")
    how, made = sampling(points), []
    for label, mesh, score in samples:
        own = _points(mesh)
        if own is not None:
            made.append(Sample(label, sampled(own, how), score))
    return Subject(name, group, sampled(points, how), how, tuple(made))


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
        subject(name, name, read(scores.parent / name), [(file, read(scores.parent / file), score) for file, score in samples])
        for name, samples in by_reference.items()
    ]


def batch(item: Subject, queries: int, rng: np.random.Generator, meshes: int | None = None, tilted: float = 0.15) -> Batch:
    """Points of every mesh of a subject, or of `meshes` of them drawn at random, all seen in one random mirror image.

    The frames of the sampling take turns, so that a mean over the points is one over the frames as well. With the probability
    `tilted` a sample is turned by up to ten degrees.
    """
    mirror, offset, first = np.diag(rng.choice([-1.0, 1.0], 3)), rng.random(), int(rng.integers(1_000))
    frames = item.how.frames @ mirror
    seen = [_seen(item.reference, item.how.radius, queries, frames, offset, first)]
    samples = item.samples if meshes is None else [item.samples[number] for number in rng.permutation(len(item.samples))[:meshes]]
    for sample in samples:
        turn = np.eye(3)
        if rng.random() < tilted:
            axis = rng.normal(size=3)
            turn = Rotation.from_rotvec(axis / np.linalg.norm(axis) * np.radians(rng.uniform(0, 10))).as_matrix()
        seen.append(_seen(sample.points, item.how.radius, queries, frames @ turn, offset, first))
    scores = np.array([sample.score for sample in samples], dtype=np.float32)
    return Batch(np.stack(seen), scores)


def _seen(points: Shape, radius: float, queries: int, frames: np.ndarray, offset: float, first: int) -> np.ndarray:
    """Patches around `queries` points at equal steps of surface area along a space-filling curve, each seen in the next of the frames.

    So every point represents as much surface as any other, damaged mesh and reference are seen near the same places, and means over the
    points vary far less than those over points drawn at random.
    """
    low, size = points.points.min(axis=0), np.ptp(points.points, axis=0).max()
    cell = np.minimum((points.points - low) / size * 1024, 1023).astype(np.int64)
    number = np.zeros(len(points.points), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            number |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    order = np.argsort(number, kind="stable")
    share = np.cumsum(points.weights[order])
    at = np.searchsorted(share, (np.arange(queries) + offset) / queries * share[-1]).clip(0, len(order) - 1)
    patches = Surroundings(points.points).patches(order[at], radius)
    turns = frames[(np.arange(queries) + first) % len(frames)].astype(np.float32).transpose(0, 2, 1)
    return np.concatenate([patches[..., :3] @ turns, patches[..., 3:4], patches[..., 4:] @ turns], axis=-1)


def _points(mesh: Mesh) -> Shape | None:
    return shape(mesh.vertices, mesh.faces)
