"""Known weaknesses of metrics, each as a small drawing with the numbers the metric gives on it.

The sentences hold no numbers of their own: `values()` computes them, `told()` puts them in.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from evaluation.kinds import KINDS
from evaluation.metrics import registry


@dataclass(frozen=True, eq=False)
class Weakness:
    """One example: predictions, each under a label, beside one reference, all in metres.

    `sentence` says what people would expect and what the metric says, with {0}, {1}, ... (and a
    format, as in {0:.2f}) where the values of the predictions belong.
    """

    key: str
    title: str
    sentence: str
    reference: Any
    predictions: tuple[tuple[str, Any], ...]

    def values(self, params: Mapping[str, Any] | None = None) -> tuple[float | None, ...]:
        """The metric's own value for each prediction, with default parameters unless others are given."""
        spec = registry.get(self.key)
        pair_type = KINDS[spec.family].pair_type
        settings = registry.resolve_params(self.key, params or {})
        return tuple(spec.compute(pair_type.of(model, self.reference, 1.0), settings).value for _, model in self.predictions)

    def text(self, values: tuple[float | None, ...] | None = None) -> str:
        """The sentence with its numbers."""
        return self.sentence.format(*(self.values() if values is None else values))


@cache
def of(key: str) -> tuple[Weakness, ...]:
    """The examples for a metric; none for one that nobody has written any for."""
    spec = registry.get(key)
    if not spec.examples:
        return ()
    drawn = importlib.import_module(KINDS[spec.family].weaknesses)
    return tuple(Weakness(key, *getattr(drawn, name)) for name in spec.examples)
