"""The trials of one model: the pairs whose distances decide its tests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

DRAWN = 1  # raised where other models are to be drawn, and the suite's version with it


class Question(StrEnum):
    """The question that the distances of a trial answer."""

    MONOTONE = "monotone"
    IDENTITY = "identity"
    SYMMETRY = "symmetry"
    PROPORTIONAL = "proportional"
    TRIANGLE = "triangle"


@dataclass(frozen=True, eq=False)
class Trial:
    """Pairs (prediction, reference) for the tests of `tests`, all answered from the same distances.

    MONOTONE and PROPORTIONAL: one pair per step, the untouched or least moved model first.
    IDENTITY (exact and near): one pair. SYMMETRY (exact and near): there and back.
    TRIANGLE: the direct pair, then the two legs. Without pairs the model is too small: skipped.
    """

    question: Question
    tests: tuple[str, ...]
    pairs: tuple[tuple[Any, Any], ...]


def sequence(test: str, original: Any, steps: list[Any]) -> Trial:
    """A monotone trial: the original itself, then each step, all against the original; skipped without steps."""
    pairs = [(model, original) for model in [original, *steps]] if steps else []
    return Trial(Question.MONOTONE, (test,), tuple(pairs))


def symmetry(name: str, damaged: Any, original: Any) -> Trial:
    return Trial(Question.SYMMETRY, (f"symmetry_{name}", f"near_symmetry_{name}"), ((damaged, original), (original, damaged)))


def identity(original: Any) -> Trial:
    return Trial(Question.IDENTITY, ("identity", "near_identity"), ((original, original),))


def triangle(name: str, start: Any, over: Any, end: Any) -> Trial:
    """True if d(start, end) is at most d(start, over) + d(over, end)."""
    return Trial(Question.TRIANGLE, (f"triangle_{name}",), ((start, end), (start, over), (over, end)))


def skipped(question: Question, *tests: str) -> Trial:
    return Trial(question, tests, ())


def generator(item_id: str, test: str) -> np.random.Generator:
    """The random numbers of one item in one test; no metric enters, so all see the same models."""
    digest = hashlib.sha256(f"{item_id}:{test}:{DRAWN}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))


def directions(rng: np.random.Generator, count: int) -> np.ndarray:
    """float64[count, 3]: unit vectors, all directions alike."""
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def drift_free_noise(rng: np.random.Generator, count: int, sigma: float) -> np.ndarray:
    """float64[count, 3]: normal noise, weighted from 0 to 1 row by row, of mean 0."""
    noise = rng.normal(0.0, sigma, (count, 3)) * rng.uniform(0.0, 1.0, (count, 1))
    return noise - noise.mean(axis=0)


def others(item_id: str, items: Any, rng: np.random.Generator) -> tuple[Any, Any] | None:
    """Two other models of the dataset, for any order in it; None if there are none."""
    ids = sorted(other for other in items if other != item_id)
    if len(ids) < 2:
        return None
    first, second = rng.choice(len(ids), 2, replace=False)
    return items[ids[first]], items[ids[second]]
