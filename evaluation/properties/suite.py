"""Suites of tests of metrics, and the sanity tests, which are one: what a metric should satisfy, measured on many models.

A sanity test holds or does not hold for one model; its rate is the share of models it holds for, and a metric passes it at PASS or
more. How well a metric does is a Table. The other suite is the acceptance test, `evaluation.properties.gate.design`. Nothing heavy is
imported here, so that pages can read tables; what measures is `evaluation.properties.measure`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.kinds import KINDS
from evaluation.metrics.spec import MetricSpec

SUITE_VERSION = 2  # raised whenever any rate can change
PASS = 0.9
# Held to the strict rule of the monotone tests, as in the published table: precision, recall and F1, of surfaces too.
SHARES = ("corner_precision", "corner_recall", "corner_f1", "edge_precision", "edge_recall", "edge_f1", "mesh_fscore")


@dataclass(frozen=True)
class Property:
    """One test of a suite. `least` is the share that passes, and `each` the share that every single kind of damage must reach.
    `published` is the test's name in the published table, where it is not the title."""

    id: str
    title: str
    group: str
    doc: str
    least: float = PASS
    each: float | None = None
    published: str = ""

    @property
    def families(self) -> tuple[str, ...]:
        """The families it is asked of: those whose rows name it, or all where none does."""
        named = (kind.key for kind in KINDS.values() if self.id in (*kind.tests, *(one.id for one in kind.corruptions)))
        return tuple(named) or tuple(KINDS)


TESTS = (
    *(Property(one.id, f"Monotonic ({one.title})", "Monotonic", one.doc) for kind in KINDS.values() for one in kind.corruptions),
    Property("identity", "Identity of indiscernibles", "Identity", "The distance of a model to itself is exactly 0."),
    Property(
        "near_identity",
        "Near identity of indiscernibles",
        "Identity",
        "The distance of a model to itself is 0 up to rounding: at most one millionth of the model's size, or 0.000001 if that is more.",
    ),
    Property(
        "symmetry_0mean",
        "Symmetry (noise)",
        "Symmetry",
        "The prediction is the reference with noise, stronger in some places than in others. Swapping prediction and reference does not "
        "change the distance.",
        published="Symmetry (0 mean, weighted)",
    ),
    Property(
        "near_symmetry_0mean",
        "Near symmetry (noise)",
        "Symmetry",
        "The prediction is the reference with noise, stronger in some places than in others. Swapping prediction and reference changes "
        "the distance by at most 5 %.",
        published="Near symmetry (0 mean, weighted)",
    ),
    Property(
        "symmetry_shift",
        "Symmetry (noise and shift)",
        "Symmetry",
        "The prediction is the reference with noise, moved by a tenth of its diameter. Swapping the two does not change the distance.",
        published="Symmetry (shift, weighted)",
    ),
    Property(
        "near_symmetry_shift",
        "Near symmetry (noise and shift)",
        "Symmetry",
        "The prediction is the reference with noise, moved by a tenth of its diameter. Swapping the two changes the distance by at most "
        "5 %.",
        published="Near symmetry (shift, weighted)",
    ),
    Property(
        "quasi_far",
        "Quasi-proportionality (far corner)",
        "Quasi-proportionality",
        "One corner that is far from its place moves further in equal steps. The distance changes by nearly the same amount at each step.",
        published="Quasi-proportionality (shift, far)",
    ),
    Property(
        "quasi_close",
        "Quasi-proportionality (near corner)",
        "Quasi-proportionality",
        "One corner moves away from its place in equal steps. The distance changes by nearly the same amount at each step.",
        published="Quasi-proportionality (shift, close)",
    ),
    Property(
        "triangle_rand_other",
        "Triangle inequality (other models)",
        "Triangle inequality",
        "The distance between two models is at most the sum of their distances to a third model.",
        published="Triangle ineq. (rand other)",
    ),
    Property(
        "triangle_add_noise",
        "Triangle inequality (noisy copies)",
        "Triangle inequality",
        "A copy of a model gets noise, and a copy of this copy gets more. The distance of the second copy to the model is at most its "
        "distance to the first copy plus the distance of the first copy to the model.",
        published="Triangle ineq. (add noise)",
    ),
    Property(
        "triangle_del1_del2",
        "Triangle inequality (deleted edges)",
        "Triangle inequality",
        "One copy of a model lacks one edge, a second copy lacks two. The distance of the second copy to the model is at most its distance "
        "to the first copy plus the distance of the first copy to the model.",
        published="Triangle ineq. (del1/del2)",
    ),
)


def tests_of(family: str) -> tuple[Property, ...]:
    """The tests that are asked of a family's metrics, in order."""
    return tuple(test for test in TESTS if family in test.families)


@dataclass(frozen=True)
class Suite:
    """A suite of tests: its name for people, its version, which is raised whenever any result can change, and the tests of a metric with
    some parameters, in order."""

    title: str
    version: str
    tests: Callable[[MetricSpec, Mapping[str, Any]], tuple[Property, ...]]


SANITY = Suite("sanity tests", f"sanity/{SUITE_VERSION}", lambda spec, params: tests_of(spec.family))


@dataclass(frozen=True)
class Progress:
    """Progress of a run of a suite, as plain JSON; each slice of it goes on from there.

    `rows`: the measurements. Sanity tests have one dict of outcomes per model (`outcomes.plain`), in the dataset's order; only the last may
    lack tests. Acceptance tests have one score each (`evaluation.properties.gate.design.Row`). `at`: where the next slice begins: the
    distances of the trial under way, of its first pairs; or the numbers of scene and subject. `results`: the Table of sanity tests, once
    all are measured; the SceneVerdict of each scene that is done. `done`, `total`: tests of single models, or scores.
    """

    rows: Sequence[Any] = ()
    at: Sequence[Any] = ()
    results: Sequence[Mapping[str, Any]] = ()
    done: int = 0
    total: int = 0


def strict(spec: MetricSpec) -> bool:
    """True if the monotone tests ask this metric to grow at every step, not merely never to fall: precision, recall and F1 alone.

    Both rates are always reported, so that readers can use either.
    """
    return spec.key in SHARES


def monotone_rule(spec: MetricSpec) -> str:
    """The rule, of two, that the monotone tests hold this metric to, in a sentence: said once, not test by test."""
    if strict(spec):
        return "In the monotonicity tests, precision, recall and F1 must get worse at every step (strict rule)."
    return (
        "In the monotonicity tests the distance to the original must not fall at any step (weak rule). The strict rule, by which it must "
        "grow at every step, holds for precision, recall and F1 alone."
    )


@dataclass(frozen=True)
class Rate:
    """The rate of a metric in one test: shares of the `n` models judged, None where none was.

    `rate` is the official one; `strict` and `weak` are the rates by the two rules of a monotone test.
    `skipped` models were too small for the test, or the metric says nothing about them.
    """

    rate: float | None
    strict: float | None
    weak: float | None
    n: int
    skipped: int

    @property
    def passes(self) -> bool | None:
        return None if self.rate is None else self.rate >= PASS


@dataclass(frozen=True)
class Dataset:
    """The models that were used; `simulated` says that they are procedural, not real."""

    key: str
    title: str
    n: int
    simulated: bool


@dataclass(frozen=True)
class Table:
    """The rates of one metric with these parameters on one dataset."""

    key: str
    params: Mapping[str, Any]
    fingerprint: str
    dataset: Dataset
    made: str  # YYYY-MM-DD
    ms_per_sample: float
    tests: Mapping[str, Rate]
    suite_version: int = SUITE_VERSION

    @property
    def passed(self) -> int:
        """k of "k of n"."""
        return sum(rate.passes is True for rate in self.tests.values())

    @property
    def of(self) -> int:
        """n of "k of n": the tests that could be judged at all."""
        return sum(rate.passes is not None for rate in self.tests.values())

    @property
    def failed(self) -> tuple[str, ...]:
        """Ids of the tests that could be judged and are not passed."""
        return tuple(name for name, rate in self.tests.items() if rate.passes is False)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; rates survive exactly."""
        return {
            "key": self.key,
            "params": dict(self.params),
            "fingerprint": self.fingerprint,
            "suite_version": self.suite_version,
            "dataset": asdict(self.dataset),
            "made": self.made,
            "ms_per_sample": self.ms_per_sample,
            "passed": self.passed,
            "of": self.of,
            "tests": {name: {**asdict(rate), "passes": rate.passes} for name, rate in self.tests.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Table:
        """The inverse of to_dict."""
        tests = {name: {key: value for key, value in row.items() if key != "passes"} for name, row in data["tests"].items()}
        return cls(
            key=data["key"],
            params=dict(data["params"]),
            fingerprint=data["fingerprint"],
            dataset=Dataset(**data["dataset"]),
            made=data["made"],
            ms_per_sample=data["ms_per_sample"],
            tests={name: Rate(**row) for name, row in tests.items()},
            suite_version=data["suite_version"],
        )
