"""The tables that come with the project: complete, readable, and the published one copied exactly."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from evaluation.metrics import registry
from evaluation.properties import bundled_tables, suite
from evaluation.properties.bundled_tables import FOLDER, PUBLISHED, PUBLISHED_AS
from evaluation.properties.suite import PASS, TESTS, Table

ROWS = list(csv.DictReader(PUBLISHED.open(newline="")))
COLUMNS = [name for name in ROWS[0] if name not in ("group", "test")]
FILES = sorted(FOLDER.glob("*.json"))


def test_the_published_tests_are_ours_in_the_same_order():
    assert [row["test"] for row in ROWS[:17]] == [test.published or test.title for test in suite.tests_of("wireframe")]
    assert len(COLUMNS) == 16 and len(ROWS) == 18


@pytest.mark.parametrize("column", COLUMNS)
def test_the_published_pass_counts_follow_from_the_published_cells(column):
    key = next((key for key, name in PUBLISHED_AS.items() if name == column), column)
    cells = bundled_tables.published(key)
    assert list(cells) == [test.id for test in suite.tests_of("wireframe")]
    assert sum(cell >= suite.PASS for cell in cells.values()) == int(ROWS[17][column])
    assert list(cells.values()) == [float(row[column]) for row in ROWS[:17]]


def test_the_published_columns_belong_to_metrics_that_there_are():
    for column in COLUMNS:
        key = next((key for key, name in PUBLISHED_AS.items() if name == column), column)
        assert registry.get(key).family == "wireframe"
    assert bundled_tables.published("hss") is None and bundled_tables.published("chamfer_l1") is None
    assert bundled_tables.published("jaccard_distance")["triangle_del1_del2"] == 1.0
    assert bundled_tables.published("wf_hausdorff")["mono_moving_vertex"] == 0.99


def test_an_unknown_fingerprint_has_no_table():
    assert bundled_tables.tables("0" * 64) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_table_says_what_it_is_and_adds_up(path):
    table = Table.from_dict(json.loads(path.read_text()))
    assert table.to_dict() == json.loads(path.read_text())
    assert path.name == bundled_tables.file_name(table)
    spec = registry.get(table.key)
    assert table.params == registry.resolve_params(table.key, table.params)
    if spec.family != "render" or not spec.networks_with({}):  # else weights that may not be here are part of it
        assert table.fingerprint == registry.fingerprint(table.key, table.params), "measured under an earlier definition"
    assert table.suite_version == suite.SUITE_VERSION and table.ms_per_sample > 0
    assert list(table.tests) == [test.id for test in suite.tests_of(spec.family)]
    for name, rate in table.tests.items():
        assert rate.n + rate.skipped == table.dataset.n
        shares = [share for share in (rate.rate, rate.strict, rate.weak) if share is not None]
        assert [share for share in shares if not (round(share * rate.n) == pytest.approx(share * rate.n) and 0 <= share <= 1)] == []
        if name.startswith("mono") and rate.n:
            assert rate.strict <= rate.weak and rate.rate == (rate.strict if suite.strict(spec) else rate.weak)
    assert [test for test in TESTS if spec.family not in test.families and test.id in table.tests] == []


def test_a_table_is_named_after_the_parameters_that_are_not_the_defaults():
    (table,) = bundled_tables.tables(registry.fingerprint("mesh_fscore", {}))
    assert bundled_tables.file_name(table) == "mesh_fscore.meshes_16.json"
    other = replace(table, params=registry.resolve_params("mesh_fscore", {"threshold": 0.01, "n": 20000}))
    assert bundled_tables.file_name(other) == "mesh_fscore.threshold=0.01.n=20000.meshes_16.json"


def test_tables_come_with_the_main_dataset_first():
    found = {}
    for path in FILES:
        table = Table.from_dict(json.loads(path.read_text()))
        found.setdefault(table.fingerprint, []).append(table)
    for fingerprint, tables in found.items():
        ordered = bundled_tables.tables(fingerprint)
        assert sorted(t.dataset.key for t in ordered) == sorted(t.dataset.key for t in tables)
        assert [t.dataset.simulated for t in ordered] == sorted((t.dataset.simulated for t in tables), reverse=True)


def test_the_published_passes_are_counted_from_the_published_rates(data_folder):
    """The counts in the last line of the paper's table 2 are those of its cells at our threshold, for all 16 metrics."""
    with (data_folder.parent / "published" / "wf_table2_properties.csv").open(newline="") as stream:
        *tests, printed = list(csv.DictReader(stream))
    columns = [name for name in printed if name not in ("group", "test")]
    assert len(columns) == 16 and len(tests) == 17 and printed["test"] == "passed_of_17"
    for column in columns:
        assert sum(float(row[column]) >= PASS for row in tests) == int(printed[column]), column
    ours = {name: bundled_tables.published(name) for name in columns}
    assert all(ours.values())
    for name, rates in ours.items():
        assert sorted(rates.values()) == sorted(float(row[name]) for row in tests), name
