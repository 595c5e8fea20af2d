"""Number of models that a metric is measured on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.kinds import KINDS, MESH, Simulated
from evaluation.metrics import registry
from evaluation.properties import bundled_tables, datasets


@pytest.fixture
def no_models(monkeypatch):
    """Datasets without the time it takes to make them."""
    monkeypatch.setattr(Simulated, "first", lambda self, n: dict.fromkeys(range(n)))


@pytest.mark.parametrize("key", registry.REGISTRY)
def test_it_is_the_dataset_of_the_table_that_ships(key, no_models):
    ships = [table.dataset for table in bundled_tables.tables(registry.fingerprint(key, {})) if table.dataset.simulated]
    dataset, items = datasets.main(key)
    assert len(items) == dataset.n and dataset.simulated
    if ships:
        assert (dataset.n, dataset.title) == (ships[0].n, ships[0].title)


def test_where_none_ships_it_is_the_whole_one_of_the_family(monkeypatch, no_models):
    monkeypatch.setattr(bundled_tables, "tables", lambda fingerprint: [])
    assert datasets.main("hss")[0].key == "houses_128" and datasets.main("chamfer_l1")[0].key == "meshes_8"


def test_the_models_are_real_ones(monkeypatch):
    monkeypatch.setattr(bundled_tables, "tables", lambda fingerprint: [])
    few = replace(MESH, simulated=replace(MESH.simulated, usual=2))
    monkeypatch.setattr(datasets, "KINDS", {**KINDS, MESH.key: few})
    assert len(datasets.main("chamfer_l1")[1]) == 2 and len(datasets.main("hss")[1]) == 128
