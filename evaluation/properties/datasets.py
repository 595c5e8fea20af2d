"""Simulated models that metrics are tested on. Large libraries are imported only when the models are requested."""

from __future__ import annotations

from typing import Any

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.properties import bundled_tables
from evaluation.properties.suite import Dataset

PROGRAM_MODELS = 8  # on which a program of an organizer is measured at most


def main(key: str) -> tuple[Dataset, dict[str, Any]]:
    """The dataset that metric `key` is tested on, for any parameters, and its models, in metres, by id.

    As many models as the table has that ships for its default parameters, so that the two can be
    compared: slow metrics have been measured on fewer.
    """
    family = registry.get(key).family
    simulated, n = KINDS[family].simulated, KINDS[family].simulated.usual
    if registry.get(key).is_program:  # each value of a script takes the start of a process
        n = min(n, PROGRAM_MODELS)
    for table in bundled_tables.tables(registry.fingerprint(key, {})):
        if table.dataset.simulated:
            n = table.dataset.n
            break
    return dataset(family, n), simulated.first(n)


def dataset(family: str, n: int) -> Dataset:
    """The dataset of the first n simulated models of a family."""
    simulated = KINDS[family].simulated
    return Dataset(f"{simulated.stem}_{n}", f"{n} {simulated.title}", n, simulated=True)
