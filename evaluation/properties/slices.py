"""The suite in slices: the same tables, measured a few seconds at a time by whoever has them to spare.

Outcomes travel as plain JSON: one dict per model, in the dataset's order, from test id to
[official, strict, weak] or None where the test could not be asked. Only the last dict may lack
tests: they come next.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.metrics import registry
from evaluation.properties import datasets, measure, suite
from evaluation.properties.suite import Dataset, Table
from evaluation.properties.verdicts import Held

Plain = dict[str, list[bool | None] | None]


def one(key: str, params: Mapping[str, Any], outcomes: Sequence[Plain], seconds: float) -> dict[str, Any]:
    """One slice on the family's main dataset, as plain JSON: the outcomes so far, the number of
    models, and the table once that was the last slice."""
    metric, family = (key, params, None), registry.get(key).family
    dataset, items = datasets.main(family)
    found = advance(metric, items, outcomes, seconds)
    complete = is_complete(family, found, len(items))
    finished = table(metric, dataset, found, measure.milliseconds(metric, items)).to_dict() if complete else None
    return {"outcomes": found, "models": len(items), "table": finished}


def advance(metric: measure.Metric, items: Mapping[str, Any], outcomes: Sequence[Plain], seconds: float) -> list[Plain]:
    """`outcomes` with as many more as `seconds` allow, and at least those of one trial. `items` as a dataset gives them.

    A trial is what cannot be cut: at most eleven values of the metric.
    """
    deadline = time.monotonic() + seconds
    column = measure.column_of(metric)
    family = column.spec.family
    procedures, pair_type = measure.procedures_of(family), measure.pair_type_of(family)
    tests = {test.id for test in suite.tests_of(family)}
    ready = procedures.prepared(items)
    found = [dict(outcome) for outcome in outcomes]
    for number in range(max(0, len(found) - 1), len(ready)):
        item_id = list(ready)[number]
        if number == len(found):
            found.append({})
        if tests <= found[number].keys():
            continue
        size = procedures.size(ready[item_id])
        shared: dict[int, dict[str, Any]] = {}  # what the metric prepares for a reference, by its id
        trials = procedures.all_trials(item_id, ready)  # all alive until the end, so ids are theirs alone
        for trial in trials:
            if set(trial.tests) <= found[number].keys():
                continue
            distances = [
                column.distance(pair_type.of(prediction, reference, 1.0, shared.setdefault(id(reference), {})))
                for prediction, reference in trial.pairs
            ]
            found[number] |= _plain(measure.judged(trial, column.spec, distances, size))
            if time.monotonic() >= deadline:
                return found
    return found


def is_complete(family: str, outcomes: Sequence[Plain], n: int) -> bool:
    """Whether every one of `n` models has been through every test."""
    return len(outcomes) == n and {test.id for test in suite.tests_of(family)} <= outcomes[-1].keys()


def table(metric: measure.Metric, dataset: Dataset, outcomes: Sequence[Plain], ms_per_sample: float) -> Table:
    """The table of complete outcomes: the one that `suite.run` makes, but for the day and the time per sample."""
    return measure.tabulated(metric, dataset, [_held(outcome) for outcome in outcomes], ms_per_sample)


def _plain(outcome: measure.Outcome) -> Plain:
    return {test: held and [held.official, held.strict, held.weak] for test, held in outcome.items()}


def _held(outcome: Plain) -> measure.Outcome:
    return {test: held and Held(*held) for test, held in outcome.items()}
