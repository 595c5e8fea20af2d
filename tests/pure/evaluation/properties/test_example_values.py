"""The values that ship for drawn examples are those that the metrics give."""

from __future__ import annotations

import json

import pytest

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.properties import example_values, weaknesses

DRAWN = [key for key in registry.REGISTRY if weaknesses.of(key)]


@pytest.mark.parametrize("key", DRAWN)
def test_what_ships_is_what_the_metric_says(key):
    """For wireframes, meshes and renders alike, as far as their kind has drawn examples."""
    kept = example_values.values(key)
    assert kept is not None, f"the definition has changed: python -m evaluation.properties.example_values --metric {key}"
    tolerance = 1e-3 if registry.get(key).weights else 1e-9  # networks differ from machine to machine
    for it, values in zip(weaknesses.of(key), kept, strict=True):
        assert it.values() == pytest.approx(values, rel=tolerance, abs=1e-8)


def test_every_kind_with_examples_is_drawn():
    kinds = {spec.family for spec in registry.REGISTRY.values() if KINDS[spec.family].weaknesses}
    assert {registry.get(key).family for key in DRAWN} == kinds >= {"wireframe", "mesh"}


def test_one_metric_is_drawn_anew_and_the_others_stay(monkeypatch, tmp_path):
    file = tmp_path / "example_values.json"
    other = {"fingerprint": "of before", "values": [[1.0]]}
    file.write_text(json.dumps({"corner_f1": other, "edge_f1": other}))
    monkeypatch.setattr(example_values, "FILE", file)
    example_values._kept.cache_clear()
    monkeypatch.setattr("sys.argv", ["drawn", "--metric", "corner_f1"])
    example_values.main()
    found = json.loads(file.read_text())
    assert found == {"corner_f1": example_values.compute("corner_f1"), "edge_f1": other}
    example_values._kept.cache_clear()


def test_there_is_one_value_a_prediction():
    for key in registry.REGISTRY:
        for it, values in zip(weaknesses.of(key), example_values.values(key) or (), strict=False):
            assert len(values) == len(it.predictions) and it.text(values)


def test_values_of_another_definition_are_not_used(monkeypatch):
    monkeypatch.setattr(registry, "fingerprint", lambda key, params: "0" * 64)
    assert example_values.values("corner_f1") is None
