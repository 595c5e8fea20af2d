"""The suite in slices gives the suite's own tables, wherever the slices end."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from evaluation.properties import measure, slices
from evaluation.properties.suite import Dataset, Progress
from evaluation.synthetic.houses import houses

ITEMS = houses(2)
DATASET = Dataset("two", "two houses", 2, True)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1e9])
@pytest.mark.parametrize(("key", "params"), [("edge_f1", {"tau_edge": 0.3}), ("corner_offset", {})])
def test_slices_of_any_length_add_up_to_the_table(key, params, seconds):
    metric = (key, params, None)
    found, rounds = Progress(), 0
    while not slices.is_complete("wireframe", found.rows, len(ITEMS)):
        before = json.dumps(asdict(found))
        found = Progress(**json.loads(json.dumps(asdict(slices.advance(metric, ITEMS, found, seconds)))))
        assert json.dumps(asdict(found)) != before, "every slice gets on"
        rounds += 1
    outcomes = found.rows
    assert rounds == (1 if seconds == 1e9 else rounds) and (seconds or rounds > 3 * 50)
    whole = measure.run(key, params, ITEMS, DATASET)
    assert replace(slices.table(metric, DATASET, outcomes, 0.0), made="") == replace(whole, made="", ms_per_sample=0.0)


def test_a_run_that_is_complete_stays_as_it_is():
    metric = ("corner_f1", {}, None)
    found = slices.advance(metric, ITEMS, Progress(), 1e9)
    assert slices.advance(metric, ITEMS, found, 1e9) == found and found.at == []
    outcomes = found.rows
    assert not slices.is_complete("wireframe", [], 3) and not slices.is_complete("wireframe", outcomes[:2], 3)


def test_a_dataset_that_has_changed_since_begins_anew(monkeypatch):
    monkeypatch.setattr(slices.datasets, "main", lambda key: (DATASET, ITEMS))
    begun = [{"identity": [False, None, None]}] * 9
    found = slices.measure_slice("corner_f1", {}, Progress(begun, [1.0], total=9 * 17), 0.0)
    assert (found.rows, len(found.at), found.total) == ([{}], 1, 2 * 17)
    assert slices.measure_slice("corner_f1", {}, Progress(at=[-1.0], total=2 * 17), 0.0).at == [-1.0, 0.0]
