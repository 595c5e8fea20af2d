"""The suite in slices: the same tables, measured a few seconds at a time by a process that is idle.

What is known so far travels as plain JSON, see `Progress`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.metrics import registry
from evaluation.properties import datasets, measure, suite
from evaluation.properties.outcomes import Plain, held, plain
from evaluation.properties.suite import Dataset, Table


@dataclass
class Progress:
    """The progress of a run of the suite.

    `outcomes`: one dict per model, in the dataset's order, as `outcomes.plain` writes it. Only the
    last may lack tests: they come next.
    `pending`: distances of the trial under way, of its first pairs.
    """

    outcomes: list[Plain] = field(default_factory=list)
    pending: list[float | None] = field(default_factory=list)


def measure_slice(
    key: str, params: Mapping[str, Any], outcomes: Sequence[Plain], pending: Sequence[float | None], seconds: float, total: int = 0
) -> dict[str, Any]:
    """One slice on the metric's dataset, as plain JSON: the progress, the number of models, and the
    table once that was the last slice. If the dataset is not the one of `total` tests that was begun on,
    everything begins again."""
    metric, family = (key, params, None), registry.get(key).family
    dataset, items = datasets.main(key)
    begun_on_others = total and total != len(items) * len(suite.tests_of(family))
    so_far = Progress() if begun_on_others else Progress(list(outcomes), list(pending))
    found = advance(metric, items, so_far, seconds)
    complete = is_complete(family, found.outcomes, len(items))
    finished = table(metric, dataset, found.outcomes, measure.milliseconds(metric, items)).to_dict() if complete else None
    return {"outcomes": found.outcomes, "pending": found.pending, "models": len(items), "table": finished}


def advance(metric: measure.Metric, items: Mapping[str, Any], progress: Progress, seconds: float) -> Progress:
    """`progress` and as much more as `seconds` allow, at least one value of the metric. `items` as a dataset gives them."""
    deadline = time.monotonic() + seconds
    column = measure.column_of(metric)
    family = column.spec.family
    procedures, pair_type = measure.procedures_of(family), measure.pair_type_of(family)
    tests = {test.id for test in suite.tests_of(family)}
    ready = procedures.prepared(items)
    found = Progress([dict(outcome) for outcome in progress.outcomes], list(progress.pending))
    for number, item_id in list(enumerate(ready))[max(0, len(found.outcomes) - 1) :]:
        if number == len(found.outcomes):
            found.outcomes.append({})
        outcome = found.outcomes[number]
        if tests <= outcome.keys():
            continue
        size = procedures.size(ready[item_id])
        shared: dict[int, dict[str, Any]] = {}  # what the metric prepares for a reference, by its id
        trials = procedures.all_trials(item_id, ready)  # all alive until the end, so ids are theirs alone
        for trial in trials:
            if set(trial.tests) <= outcome.keys():
                continue
            while not measure.is_decided(trial, column.spec, found.pending, size):
                prediction, reference = trial.pairs[len(found.pending)]
                pair = pair_type.of(prediction, reference, 1.0, shared.setdefault(id(reference), {}))
                found.pending.append(column.distance(pair))
                if time.monotonic() >= deadline:
                    break
            if not measure.is_decided(trial, column.spec, found.pending, size):
                return found
            outcome |= plain(measure.judged(trial, column.spec, found.pending, size))
            found.pending = []
            if time.monotonic() >= deadline:
                return found
    return found


def is_complete(family: str, outcomes: Sequence[Plain], n: int) -> bool:
    """True if every one of `n` models has been through every test."""
    return len(outcomes) == n and {test.id for test in suite.tests_of(family)} <= outcomes[-1].keys()


def table(metric: measure.Metric, dataset: Dataset, outcomes: Sequence[Plain], ms_per_sample: float) -> Table:
    """The table of complete outcomes: the one that `measure.run` makes, but for the day and the time per sample."""
    return measure.tabulated(metric, dataset, [held(outcome) for outcome in outcomes], ms_per_sample)
