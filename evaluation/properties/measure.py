"""Measures metrics on the trials of every model of a dataset and counts for how many each test holds."""

from __future__ import annotations

import datetime
import importlib
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.metrics.result import ItemPartial, MetricResult
from evaluation.metrics.spec import MetricSpec
from evaluation.properties import suite, verdicts
from evaluation.properties.outcomes import Kept, Outcome, digest_of
from evaluation.properties.suite import Dataset, Rate, Table
from evaluation.properties.trials import Question, Trial
from evaluation.properties.verdicts import Held

# Metrics that estimate by sampling or on a grid may miss a triangle inequality by this much.
TRIANGLE_ALLOWED = {"jaccard_distance": 0.01, "volume_iou": 0.01}
TIMED_MODELS = 7

Metric = tuple[str, Mapping[str, Any], str | None]  # key, parameters, sha256 of the weights


def _own_value(result: MetricResult) -> float | None:
    """The value, or the measured one if a flag changed it: the suite damages its own clean views, and a copy of these counts as 0."""
    return result.parts.get("measured", result.value)


@dataclass(frozen=True)
class _Column:
    """A metric made ready."""

    spec: MetricSpec
    params: dict[str, Any]

    def distance(self, pair: Any) -> float | None:
        """The metric's own value, without the cap for ranking, as a distance: 0 is best. A model is a group by itself.

        If no value is the best possible, the reference's own takes its place.
        """
        result = self.spec.compute(pair, self.params)
        if self.spec.level != "item":
            assert self.spec.finish is not None
            (result,) = self.spec.finish([ItemPartial("model", "model", result)], self.params)
        value = _own_value(result)
        if value is None or not self.spec.higher_is_better:
            return value
        if self.spec.bounds[1] is not None:
            return self.spec.bounds[1] - value

        def of_itself() -> tuple[np.ndarray]:
            """The value of the reference as a prediction of itself."""
            reference = pair.given[1]
            perfect = type(pair).of(type(pair).itself(reference), reference, pair.unit_scale)
            own = _own_value(self.spec.compute(perfect, self.params))
            return (np.array([math.nan if own is None else own]),)

        key = f"{self.spec.key} of the reference itself {sorted(self.params.items())}"
        (best,) = pair.reference_once(key, of_itself)
        return float(best[0]) - value


def run(
    key: str,
    params: Mapping[str, Any],
    items: Mapping[str, Any],
    dataset: Dataset,
    weights_sha256: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    jobs: int = 1,
) -> Table:
    """Measure one metric on `items` (models of its family, in metres, by id); see run_all."""
    return run_all([(key, params, weights_sha256)], items, dataset, progress, jobs)[0]


def run_all(
    metrics: Sequence[Metric],
    items: Mapping[str, Any],
    dataset: Dataset,
    progress: Callable[[int, int], None] | None = None,
    jobs: int = 1,
    kept_in: Path | None = None,
) -> list[Table]:
    """The tables of several metrics of one family, given as (key, parameters, sha256 of the weights or None).

    All metrics see the same damaged models and share the work on each. The models depend on the items and their ids alone. `progress` is
    called with (done, total) items; `jobs` processes share the items, which changes no number but the time per sample. Measurements of each
    item are stored in the folder `kept_in`, and what is there already is not measured again.
    """
    if not metrics:
        return []
    families = {registry.get(key).family for key, _, _ in metrics}
    if len(families) > 1:
        raise ValueError(f"metrics of one family at a time, not of {' and '.join(sorted(families))}")
    stores: list[Kept] = []
    if kept_in is not None:
        models = digest_of(items)
        stores = [Kept(kept_in, key, registry.fingerprint(key, params, weights), models) for key, params, weights in metrics]
    found: list[list[Outcome]] = []
    for row in _rows(metrics, items, stores, jobs):
        found.append(row)
        if progress is not None:
            progress(len(found), len(items))
    return [tabulated(metric, dataset, [row[n] for row in found], milliseconds(metric, items)) for n, metric in enumerate(metrics)]


def _rows(metrics: Sequence[Metric], items: Mapping[str, Any], stores: Sequence[Kept], jobs: int) -> Iterator[list[Outcome]]:
    """The outcomes of each item in order, by metric: from the stores, if there are any, or measured and added to them."""
    kept = {item_id: [store.get(item_id) for store in stores] or [None] * len(metrics) for item_id in items}
    todo = [(item_id, tuple(n for n, stored in enumerate(row) if stored is None)) for item_id, row in kept.items()]
    measured = _measured(metrics, items, [(item_id, wanted) for item_id, wanted in todo if wanted], jobs)
    for item_id, wanted in todo:
        new = dict(zip(wanted, next(measured) if wanted else (), strict=True))
        for n, outcome in new.items() if stores else ():
            stores[n].add(item_id, outcome)
        yield [new[n] if stored is None else stored for n, stored in enumerate(kept.pop(item_id))]


def outcomes_of(metrics: Sequence[Metric], item_id: str, items: Mapping[str, Any]) -> list[Outcome]:
    """The outcome of one of the prepared `items`, by metric.

    Pairs that tests share are scored once, pairs that can no longer change a verdict not at all.
    """
    columns = [column_of(metric) for metric in metrics]
    family = columns[0].spec.family
    procedures, pair_type = procedures_of(family), pair_type_of(family)
    size = procedures.size(items[item_id])
    outcomes: list[Outcome] = [{} for _ in columns]
    # Models are alive until the end, so their ids are theirs alone.
    known: dict[tuple[int, int], dict[int, float | None]] = {}  # distances by pair and column
    shared: dict[int, dict[str, Any]] = {}  # what metrics prepare for a reference, by its id
    repeats: dict[Any, Any] = {}  # what they found for equal geometry
    for trial in procedures.all_trials(item_id, items):
        measured: list[list[float | None]] = [[] for _ in columns]
        for prediction, reference in trial.pairs:
            asking = [n for n, column in enumerate(columns) if not is_decided(trial, column.spec, measured[n], size)]
            found = known.setdefault((id(prediction), id(reference)), {})
            if any(n not in found for n in asking):
                pair = pair_type.of(prediction, reference, 1.0, shared.setdefault(id(reference), {}))
                pair.repeats = repeats
                found |= {n: columns[n].distance(pair) for n in asking if n not in found}
            for n in asking:
                measured[n].append(found[n])
        for n, (column, outcome) in enumerate(zip(columns, outcomes, strict=True)):
            outcome.update(judged(trial, column.spec, measured[n], size))
    return outcomes


@dataclass(frozen=True)
class Misordered:
    """Step of a damage that a metric finds better than the step before it: `before` and `after` are the metric's distances from the
    reference, of which 0 is best."""

    model: str
    test: str
    step: int
    before: float
    after: float


def misordered(metric: Metric, items: Mapping[str, Any]) -> Iterator[Misordered]:
    """Every step at which the metric's distance falls though the damage grows, beyond rounding."""
    column = column_of(metric)
    procedures, pair_type = procedures_of(column.spec.family), pair_type_of(column.spec.family)
    for item_id, item in items.items():
        allowed = verdicts.tolerance(procedures.size(item))
        for trial in procedures.all_trials(item_id, items):
            if trial.question is not Question.MONOTONE:
                continue
            distances = [column.distance(pair_type.of(prediction, reference, 1.0)) for prediction, reference in trial.pairs]
            for step, (before, after) in enumerate(pairwise(distances), start=1):
                if before is not None and after is not None and after < before - allowed:
                    yield Misordered(item_id, trial.tests[0], step, before, after)


def is_decided(trial: Trial, spec: MetricSpec, distances: Sequence[float | None], size: float) -> bool:
    """True if the distances of the trial's first pairs settle its tests, for any values of the others.

    A pair without a value settles them: there is no verdict then. Otherwise later ones are assumed to have a value, because only a
    reference leaves a metric without one, and the trials that are decided early have only one reference.
    """
    known = [distance for distance in distances if distance is not None]
    if len(distances) == len(trial.pairs) or len(known) < len(distances):
        return True
    if trial.question is Question.MONOTONE:
        return verdicts.has_fallen(known, size)
    return trial.question is Question.PROPORTIONAL and verdicts.is_uneven(known, len(trial.pairs))


def judged(trial: Trial, spec: MetricSpec, distances: Sequence[float | None], size: float) -> Outcome:
    """The verdicts on one trial's tests, from all its distances or from the first that decide them.

    None where the trial has no pairs or the metric no value for one.
    """
    known = [distance for distance in distances if distance is not None]
    if not known or len(known) < len(distances):
        return dict.fromkeys(trial.tests)
    if trial.question is Question.MONOTONE:
        found: tuple[Held, ...] = (verdicts.monotone(known, size, suite.strict(spec)),)
    elif trial.question is Question.IDENTITY:
        found = (verdicts.identical(known[0]), verdicts.nearly_identical(known[0], size))
    elif trial.question is Question.SYMMETRY:
        there, back = known
        found = (verdicts.symmetric(there, back, size), verdicts.nearly_symmetric(there, back))
    elif trial.question is Question.PROPORTIONAL:
        found = (verdicts.proportional(known) if len(known) >= len(trial.pairs) else Held(False),)
    else:
        direct, first_leg, second_leg = known
        found = (verdicts.triangle(direct, first_leg, second_leg, TRIANGLE_ALLOWED.get(spec.key, verdicts.tolerance(size))),)
    return dict(zip(trial.tests, found, strict=True))


def tabulated(metric: Metric, dataset: Dataset, outcomes: Sequence[Outcome], ms_per_sample: float) -> Table:
    """Verdicts on single models as a table of rates."""
    key, params, weights = metric
    spec = registry.get(key)
    return Table(
        key=key,
        params=registry.resolve_params(key, params),
        fingerprint=registry.fingerprint(key, params, weights),
        dataset=dataset,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        ms_per_sample=round(ms_per_sample, 3),
        tests={test.id: _rate([outcome[test.id] for outcome in outcomes]) for test in suite.tests_of(spec.family)},
    )


def milliseconds(metric: Metric, items: Mapping[str, Any]) -> float:
    """Median processor time of one value on its own: a noisy copy against a model whose side is prepared. Of a metric program, which
    computes in processes of its own, the median time on the clock."""
    column = column_of(metric)
    seconds = time.perf_counter if column.spec.is_program else time.process_time
    procedures, pair_type = procedures_of(column.spec.family), pair_type_of(column.spec.family)
    times = []
    for item_id, model in islice(procedures.prepared(items).items(), TIMED_MODELS):
        damaged = procedures.noisy_copy(item_id, model)
        shared: dict[str, Any] = {}
        for _ in range(2):  # the first time loads code and prepares the reference
            pair = pair_type.of(damaged, model, 1.0, shared)
            start = seconds()
            column.distance(pair)
            taken = seconds() - start
        times.append(taken)
    return 1000 * statistics.median(times) if times else 0.0


def _measured(
    metrics: Sequence[Metric], items: Mapping[str, Any], todo: Sequence[tuple[str, tuple[int, ...]]], jobs: int
) -> Iterator[list[Outcome]]:
    """The outcomes of some items, in order, each of the metrics with the numbers given."""
    if not todo:
        return
    if jobs == 1:
        ready = procedures_of(registry.get(metrics[0][0]).family).prepared(items)
        yield from (outcomes_of([metrics[n] for n in wanted], item_id, ready) for item_id, wanted in todo)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (metrics, items)) as pool:
        yield from pool.map(_next, todo)


_work: tuple[Sequence[Metric], Mapping[str, Any]] | None = None  # of this process, set once by _begin


def _begin(metrics: Sequence[Metric], items: Mapping[str, Any]) -> None:
    global _work
    _work = metrics, procedures_of(registry.get(metrics[0][0]).family).prepared(items)


def _next(task: tuple[str, tuple[int, ...]]) -> list[Outcome]:
    assert _work is not None
    metrics, ready = _work
    item_id, wanted = task
    return outcomes_of([metrics[n] for n in wanted], item_id, ready)


def _rate(verdict: Sequence[Held | None]) -> Rate:
    asked = [held for held in verdict if held is not None]
    n = len(asked)

    def share(values: Sequence[bool | None]) -> float | None:
        return sum(map(bool, values)) / n if n and None not in values else None

    return Rate(
        rate=share([held.official for held in asked]),
        strict=share([held.strict for held in asked]),
        weak=share([held.weak for held in asked]),
        n=n,
        skipped=len(verdict) - n,
    )


def column_of(metric: Metric) -> _Column:
    key, params, _ = metric
    spec = registry.get(key)
    return _Column(spec, registry.resolve_params(key, params))


def procedures_of(family: str) -> Any:
    return importlib.import_module(KINDS[family].trials)


def pair_type_of(family: str) -> Any:
    """The class of a pair of two models: a family's own, or that of its trials where a model is more than an item."""
    procedures = procedures_of(family)
    return procedures.Pair if hasattr(procedures, "Pair") else KINDS[family].pair_type
