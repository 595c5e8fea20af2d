"""Procedural subjects for stage 1: objects, damage of any strength, and scores by rank.

A subject follows from its number and the seed alone. Its targets are the ranks of its damage: invisible damage has 5, an unrelated mesh the
least, and all others have equal steps between them in the order of their effective level. That is the mean of two levels: of the damage's
strength and of its measured deviation.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, overload

import numpy as np

from evaluation.metrics.mesh.locase.alignment import Shape
from evaluation.metrics.mesh.locase.dataset import Sample, Subject, subject
from evaluation.metrics.mesh.locase.sampling import Sampling
from evaluation.synthetic import distortions, meshes
from evaluation.synthetic.distortions import generator
from evaluation.synthetic.pseudo_scores import LADDER, Judge
from evaluation.synthetic.surfaces import box
from evaluation.training.checkpoint import write
from submissions.formats.arrays import Mesh

HELD_OUT = ("gear", "chair", "rock", "knot")  # kinds kept out of training, to measure on
KINDS = tuple(kind for kind in meshes.KINDS if kind not in HELD_OUT)
UNRELATED_STEPS = 3  # from the worst damage to an unrelated mesh, where one step is from one rank to the next
UNSEEN_LEVEL = 0.7  # effective; damage of a lower one is not told from none
LIKENESS = 2.5  # effective level up to which a box or an ellipsoid counts as a likeness, such as a ball's, and not as unrelated
PAIRS = 20  # of an object
SAMPLES = (1_000, 6_000)  # of the surfaces, by which damage is measured: enough for ranks
STRENGTHS = {  # of each kind: how many pairs, weakest, strongest
    "noise": (6, 1e-4, 0.03),
    "smoothing": (2, 1, 50),
    "decimation": (2, 0.9, 0.07),
    "quantisation": (2, 0.001, 0.07),
    "holes": (3, 0.008, 0.3),
    "bumps": (2, 0.002, 0.1),
}


class Procedural(Sequence[Subject]):
    """`count` subjects that other processes make, in order, while the first of them are already in use.

    Each is kept in a file of the folder once it is made, so that an interrupted run continues. Use it as a context.
    """

    def __init__(self, count: int, seed: int, folder: Path, processes: int = 1) -> None:
        self._folder, self._count, self._seed = folder, count, seed
        self._read: dict[int, Subject] = {}
        self._making: dict[int, Future[None]] = {}
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_end_with_parent)

    def __enter__(self) -> Procedural:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Subject: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Subject]: ...
    def __getitem__(self, number: int | slice) -> Subject | Sequence[Subject]:
        if isinstance(number, slice):
            return [self[at] for at in range(len(self))[number]]
        if not 0 <= number < self._count:
            raise IndexError(number)
        if number not in self._read:
            if not self._file(number).exists():
                if not self._making:
                    missing = [other for other in range(self._count) if not self._file(other).exists()]
                    self._making = {other: self._pool.submit(_make, self._file(other), other, self._seed) for other in missing}
                self._making[number].result()
            self._read[number] = read(self._file(number))
        return self._read[number]

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:05}.npz"


def simulated(number: int, seed: int, kinds: Sequence[str] = KINDS) -> Subject:
    """One subject: an object of one of the kinds, its damage and two unrelated meshes."""
    rng = generator(f"locase object:{seed}:{number}")
    kind = kinds[number % len(kinds)]
    reference = _object(kind, number, seed, rng)
    judge, rows = Judge(reference, *SAMPLES), []
    for damage, (count, weakest, strongest) in STRENGTHS.items():
        for part in rng.permutation(count):
            share = (part + rng.random()) / count
            strength = weakest * (strongest / weakest) ** share
            mesh = distortions.damage(reference, damage, strength, generator(f"locase damage:{seed}:{number}:{damage}:{part}"))
            level = (distortions.level(damage, strength) + effective(judge.deviation(mesh))) / 2
            rows.append((f"{damage} {strength:.4g}", mesh, level))
    rows.append(("subdivided", distortions.subdivide(reference), 0.0))
    other = kinds[(number + 1 + int(rng.integers(len(kinds) - 1))) % len(kinds)]
    rows.append((f"unrelated {other}", _object(other, number, seed + 1_000, rng), np.inf))
    low, high = reference.vertices.min(axis=0), reference.vertices.max(axis=0)
    side = (high - low).max()
    vertices, faces = box((0, 0, 0), tuple(np.maximum((high - low) / side, 0.02)), 0.1)
    if number % 2 == 1:
        middle = vertices - (vertices.min(axis=0) + vertices.max(axis=0)) / 2
        half = np.abs(middle).max(axis=0)
        unit = middle / half
        vertices = unit / np.linalg.norm(unit, axis=1, keepdims=True) * half
    around = Mesh(vertices * side, faces)
    like = effective(judge.deviation(around))
    rows.append(("ellipsoid" if number % 2 else "box", around, np.inf if like > LIKENESS else like))
    targets = ranked(np.array([level for _, _, level in rows]))
    samples = [(name, mesh, float(score)) for (name, mesh, _), score in zip(rows, targets, strict=True)]
    return subject(f"{kind} {number}", kind, reference, samples)


def effective(deviation: float) -> float:
    """The level 0, 1, ... that corresponds to a deviation, beyond the last by its slope."""
    beyond = max(0.0, deviation - LADDER[-1]) / (LADDER[-1] - LADDER[-2])
    return float(np.interp(deviation, LADDER, np.arange(len(LADDER)))) + beyond


def ranked(levels: np.ndarray) -> np.ndarray:
    """Targets 5 to 1 by rank of float64[n] levels; levels below UNSEEN_LEVEL share the first rank, infinite ones the last, further off."""
    _, rank = np.unique(np.where(levels < UNSEEN_LEVEL, 0.0, levels), return_inverse=True)
    rank = rank + (levels.min() >= UNSEEN_LEVEL) + (UNRELATED_STEPS - 1) * np.isinf(levels)
    return 5 - 4 * rank / max(1, rank.max())


def _object(kind: str, number: int, seed: int, rng: np.random.Generator) -> Mesh:
    """An object of a kind, stretched; every third has a part of another kind, every second is coarse."""
    mesh = meshes.mesh(kind, seed * 100_003 + number)
    if rng.random() < 1 / 3:
        part = meshes.mesh(KINDS[int(rng.integers(len(KINDS)))], seed * 100_003 + number + 50_000)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        placed = part.vertices @ turn * rng.uniform(0.3, 0.8) + rng.uniform(-0.4, 0.4, 3)
        mesh = Mesh(np.concatenate([mesh.vertices, placed]), np.concatenate([mesh.faces, part.faces + len(mesh.vertices)]))
    mesh = Mesh(mesh.vertices * np.exp(rng.normal(size=3) * 0.25), mesh.faces)
    if rng.random() < 0.5:
        mesh = distortions.decimate(mesh, np.exp(rng.uniform(np.log(100), np.log(1_000))) / len(mesh.vertices))
    return mesh


def read(file: Path) -> Subject:
    """A subject that was kept in a file."""
    with np.load(file) as stored:
        about = json.loads(str(stored["about"]))
        shapes = [Shape(stored[f"points{k}"].astype(np.float64), stored[f"weights{k}"]) for k in range(len(about["samples"]) + 1)]
        how = Sampling.from_array(stored["how"])
    samples = [Sample(name, points, score) for (name, score), points in zip(about["samples"], shapes[1:], strict=True)]
    return Subject(about["name"], about["group"], shapes[0], how, tuple(samples))


def keep(file: Path, made: Subject) -> None:
    """Write a subject to a file, whole or not at all."""
    about = {"name": made.name, "group": made.group, "samples": [(sample.name, sample.score) for sample in made.samples]}
    shapes = [made.reference, *(sample.points for sample in made.samples)]
    arrays: dict[str, Any] = {f"points{k}": shape.points.astype(np.float32) for k, shape in enumerate(shapes)}
    arrays |= {f"weights{k}": shape.weights for k, shape in enumerate(shapes)}
    held = io.BytesIO()
    np.savez(held, about=json.dumps(about), how=made.how.to_array(), **arrays)
    write(file, held.getvalue())


def _make(file: Path, number: int, seed: int) -> None:
    keep(file, simulated(number, seed))


def _end_with_parent() -> None:
    """A worker of a run that was killed would wait for work for ever."""

    def watch() -> None:
        parent = parent_process()
        assert parent is not None  # this is a worker
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
