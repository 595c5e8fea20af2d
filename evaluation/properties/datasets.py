"""The made-up models that metrics are measured on. Nothing heavy is imported before they are asked for."""

from __future__ import annotations

from typing import Any

from evaluation.metrics import registry
from evaluation.properties import shipped
from evaluation.properties.suite import Dataset

KINDS = {
    "wireframe": ("houses", "procedural houses", 128),
    "mesh": ("meshes", "procedural meshes", 8),
    "render": ("rooms", "views of procedural rooms", 12),
}


def main(key: str) -> tuple[Dataset, dict[str, Any]]:
    """The dataset that metric `key` is measured on, whatever its parameters, and its models, in metres, by id.

    As many models as the table has that ships for its default parameters, so that the two can be
    compared: slow metrics have been measured on fewer.
    """
    family = registry.get(key).family
    stem, title, n = KINDS[family]
    for table in shipped.tables(registry.fingerprint(key, {})):
        if table.dataset.made_up:
            n = table.dataset.n
            break
    return Dataset(f"{stem}_{n}", f"{n} {title}", n, made_up=True), models(family, n)


def models(family: str, n: int) -> dict[str, Any]:
    """The first n of a family's made-up models, by id."""
    if family == "wireframe":
        from evaluation.synthetic.houses import houses

        return houses(n)
    if family == "render":
        from evaluation.properties import render_trials

        return render_trials.models(n)
    from evaluation.synthetic.meshes import meshes

    return meshes(n)
