"""The made-up models that every metric of a family is measured on. Nothing heavy is imported before they are asked for."""

from __future__ import annotations

from typing import Any

from evaluation.properties.suite import Dataset

HOUSES = Dataset("houses_128", "128 procedural houses", 128, made_up=True)


def main(family: str) -> tuple[Dataset, dict[str, Any]]:
    """The main dataset of `family` and its models, in metres, by id."""
    if family == "wireframe":
        from evaluation.synthetic.houses import houses

        return HOUSES, houses(HOUSES.n)
    raise ValueError(f"there is no made-up dataset of the family {family!r}")
