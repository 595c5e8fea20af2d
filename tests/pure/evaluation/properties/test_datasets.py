"""Number of models that a metric is measured on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.kinds import KINDS, MESH, MadeUp
from evaluation.metrics import registry
from evaluation.properties import datasets, shipped


@pytest.fixture
def no_models(monkeypatch):
    """Datasets without the time it takes to make them."""
    monkeypatch.setattr(MadeUp, "first", lambda self, n: dict.fromkeys(range(n)))


@pytest.mark.parametrize("key", registry.REGISTRY)
def test_it_is_the_dataset_of_the_table_that_ships(key, no_models):
    ships = [table.dataset for table in shipped.tables(registry.fingerprint(key, {})) if table.dataset.made_up]
    dataset, items = datasets.main(key)
    assert len(items) == dataset.n and dataset.made_up
    if ships:
        assert (dataset.n, dataset.title) == (ships[0].n, ships[0].title)


def test_where_none_ships_it_is_the_whole_one_of_the_family(monkeypatch, no_models):
    monkeypatch.setattr(shipped, "tables", lambda fingerprint: [])
    assert datasets.main("hss")[0].key == "houses_128" and datasets.main("chamfer_l1")[0].key == "meshes_8"


def test_the_models_are_real_ones(monkeypatch):
    monkeypatch.setattr(shipped, "tables", lambda fingerprint: [])
    few = replace(MESH, made_up=replace(MESH.made_up, usual=2))
    monkeypatch.setattr(datasets, "KINDS", {**KINDS, MESH.key: few})
    assert len(datasets.main("chamfer_l1")[1]) == 2 and len(datasets.main("hss")[1]) == 128
