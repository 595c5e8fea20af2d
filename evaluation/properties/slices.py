"""The sanity tests in slices: the same tables, measured a few seconds at a time by a process that is idle."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.metrics import registry
from evaluation.properties import datasets, measure, suite
from evaluation.properties.outcomes import Plain, held, plain
from evaluation.properties.suite import Dataset, Progress, Table


def measure_slice(key: str, params: Mapping[str, Any], progress: Progress, seconds: float) -> Progress:
    """One slice on the metric's dataset. If the dataset is not the one that was begun on, everything begins again."""
    metric, family = (key, params, None), registry.get(key).family
    dataset, items = datasets.main(key)
    begun_on_others = progress.total not in (0, len(items) * len(suite.tests_of(family)))
    found = advance(metric, items, Progress() if begun_on_others else progress, seconds)
    if not is_complete(family, found.rows, len(items)):
        return found
    return replace(found, results=[table(metric, dataset, found.rows, measure.milliseconds(metric, items)).to_dict()])


def advance(metric: measure.Metric, items: Mapping[str, Any], progress: Progress, seconds: float) -> Progress:
    """`progress` and as much more as `seconds` allow, at least one value of the metric. `items` as a dataset gives them."""
    deadline = time.monotonic() + seconds
    column = measure.column_of(metric)
    family = column.spec.family
    procedures, pair_type = measure.procedures_of(family), measure.pair_type_of(family)
    tests = {test.id for test in suite.tests_of(family)}
    ready = procedures.prepared(items)
    outcomes, pending = [dict(outcome) for outcome in progress.rows], list(progress.at)

    def found() -> Progress:
        return Progress(outcomes, pending, done=sum(map(len, outcomes)), total=len(items) * len(tests))

    for number, item_id in list(enumerate(ready))[max(0, len(outcomes) - 1) :]:
        if number == len(outcomes):
            outcomes.append({})
        outcome = outcomes[number]
        if tests <= outcome.keys():
            continue
        size = procedures.size(ready[item_id])
        shared: dict[int, dict[str, Any]] = {}  # what the metric prepares for a reference, by its id
        trials = procedures.all_trials(item_id, ready)  # all alive until the end, so ids are theirs alone
        for trial in trials:
            if set(trial.tests) <= outcome.keys():
                continue
            while not measure.is_decided(trial, column.spec, pending, size):
                prediction, reference = trial.pairs[len(pending)]
                pair = pair_type.of(prediction, reference, 1.0, shared.setdefault(id(reference), {}))
                pending.append(column.distance(pair))
                if time.monotonic() >= deadline:
                    break
            if not measure.is_decided(trial, column.spec, pending, size):
                return found()
            outcome |= plain(measure.judged(trial, column.spec, pending, size))
            pending = []
            if time.monotonic() >= deadline:
                return found()
    return found()


def is_complete(family: str, outcomes: Sequence[Plain], n: int) -> bool:
    """True if every one of `n` models has been through every test."""
    return len(outcomes) == n and {test.id for test in suite.tests_of(family)} <= outcomes[-1].keys()


def table(metric: measure.Metric, dataset: Dataset, outcomes: Sequence[Plain], ms_per_sample: float) -> Table:
    """The table of complete outcomes: the one that `measure.run` makes, except the day and the time per sample."""
    return measure.tabulated(metric, dataset, [held(outcome) for outcome in outcomes], ms_per_sample)
