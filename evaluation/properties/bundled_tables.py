"""Property tables that come with the project: ours for the default parameters and the demo's, and the published one.

Nothing heavy is imported here, not even numpy: pages read this.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

from evaluation.metrics import registry
from evaluation.properties.suite import SUITE_VERSION, TESTS, Table

FOLDER = Path(__file__).parent / "tables"
PUBLISHED = FOLDER / "published.csv"
PUBLISHED_AS = {"jaccard_distance": "jaccard", "wf_hausdorff": "hausdorff"}  # other columns carry our keys


def tables(fingerprint: str) -> list[Table]:
    """The shipped tables of this fingerprint: procedural models first, then larger datasets before smaller ones."""
    return list(_by_fingerprint().get(fingerprint, ()))


def file_name(table: Table) -> str:
    """The name of a table's file in a folder of tables: the metric, the parameters that are not its defaults, and the dataset."""
    spec = registry.get(table.key)
    params = spec.every_param(table.params)
    others = [f"{param.name}={params[param.name]}" for param in spec.params if params[param.name] != param.default]
    return ".".join([table.key.replace("/", "-"), *others, table.dataset.key, "json"])


def published(key: str) -> dict[str, float] | None:
    """The rates that the paper on wireframes and people (`papers.WIREFRAMES`) prints for this metric, by test id.

    None for a metric it does not have. Its amounts of damage are unpublished, so its rates are shown beside ours for comparison only.
    """
    return _published().get(PUBLISHED_AS.get(key, key))


@cache
def _by_fingerprint() -> dict[str, tuple[Table, ...]]:
    found: dict[str, list[Table]] = {}
    for path in sorted(FOLDER.glob("*.json")):
        table = Table.from_dict(json.loads(path.read_text()))
        if table.suite_version == SUITE_VERSION:
            found.setdefault(table.fingerprint, []).append(table)
    order = {key: sorted(rows, key=lambda table: (not table.dataset.simulated, -table.dataset.n)) for key, rows in found.items()}
    return {key: tuple(rows) for key, rows in order.items()}


@cache
def _published() -> dict[str, dict[str, float]]:
    ids = {test.published or test.title: test.id for test in TESTS}
    columns: dict[str, dict[str, float]] = {}
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            test = ids.get(row.pop("test"))
            group = row.pop("group")
            if test is None:
                assert group == "Pass count"
                continue
            for column, cell in row.items():
                columns.setdefault(column, {})[test] = float(cell)
    return columns
