"""The values that ship for drawn examples are those that the metrics give."""

from __future__ import annotations

import pytest

from evaluation.metrics import registry
from evaluation.properties import drawn, weaknesses

CHEAP = [key for key, spec in registry.REGISTRY.items() if spec.family == "wireframe" and not spec.weights and key != "hss_exact"]


@pytest.mark.parametrize("key", CHEAP)
def test_what_ships_is_what_the_metric_says(key):
    kept = drawn.values(key)
    assert kept is not None, "the definition has changed: python -m evaluation.properties.drawn"
    for it, values in zip(weaknesses.of(key), kept, strict=True):
        assert it.values() == pytest.approx(values, rel=1e-9, abs=1e-12)


def test_there_is_one_value_a_prediction():
    for key in registry.REGISTRY:
        for it, values in zip(weaknesses.of(key), drawn.values(key) or (), strict=False):
            assert len(values) == len(it.predictions) and it.text(values)


def test_values_of_another_definition_are_not_used(monkeypatch):
    monkeypatch.setattr(registry, "fingerprint", lambda key, params: "0" * 64)
    assert drawn.values("corner_f1") is None
