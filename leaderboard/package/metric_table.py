"""All metrics as a frame: what each measures, which sanity tests it fails, and its agreement with people in published sets."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evaluation.metrics import registry
from evaluation.properties import bundled_tables
from leaderboard.package.frames import frame
from submissions.kinds import FAMILIES

if TYPE_CHECKING:
    from pandas import DataFrame

FIGURES = {"within items": "decided", "across items": "srocc"}  # of agreement, and what records call them


def metrics(kind: str = "") -> DataFrame:
    """One row per metric, of all kinds or of one ("wireframe", "mesh", "render"). Columns: key, title, kind, direction, unit, parameters
    with defaults, paper, and the sanity tests that it fails with its defaults (None if they were not run). `agreement` holds the figures of
    published sets that the package ships for a metric of this name (see `agreement_with_people`).
    """
    if kind and kind not in FAMILIES:
        raise ValueError(f"there are no metrics of {kind!r}; give one of {', '.join(FAMILIES)}, or nothing for all")
    rows = []
    for spec in registry.REGISTRY.values():
        if kind not in ("", spec.family):
            continue
        tables = bundled_tables.tables(registry.fingerprint(spec.key, {}))
        rows.append(
            {
                "key": spec.key,
                "title": spec.title,
                "kind": spec.family,
                "direction": "higher is better" if spec.higher_is_better else "lower is better",
                "unit": spec.unit,
                "parameters": {param.name: param.default for param in spec.params},
                "paper": "; ".join(map(str, spec.origin.papers)),
                "sanity_tests_failed": list(tables[0].failed) if tables else None,
                "agreement": list(agreement_with_people(spec.key)),
            }
        )
    return frame(rows)


@cache
def agreement_with_people(key: str) -> tuple[dict[str, Any], ...]:
    """Figures of published sets whose metric has the name of this one: set, criterion, figure, value, the ends of its 95 % interval, and n.
    The figure is "within items", the share of comparisons on one item that it decides as people did, or "across items", a rank correlation.

    Each set has values that its authors computed, with their own program: the name is the same, the digits may not be.
    """
    folder = files("leaderboard.evidence")
    names = tomllib.loads(folder.joinpath("published_names.toml").read_text(encoding="utf-8"))
    alike = {name for name, about in names.items() if about["resembles"] == key}
    found = []
    for path in sorted(folder.joinpath("records").iterdir(), key=lambda path: path.name):
        record = tomllib.loads(path.read_text(encoding="utf-8"))
        for criterion, figures in record.get("criteria", {}).items():
            for metric in figures.get("metrics", {}).values():
                for said, name in FIGURES.items():
                    figure = metric.get(name, {})
                    if metric["name"] in alike and figure.get("state") == "known":
                        about = {"set": record["title"], "criterion": criterion, "figure": said}
                        found.append(about | {part: figure[part] for part in ("value", "low", "high", "n")})
    return tuple(found)
