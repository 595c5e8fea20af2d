"""`python -m evaluation properties`: what metrics satisfy, measured on one's own models or on procedural ones."""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import astuple, fields
from typing import Any

from evaluation.kinds import KINDS
from evaluation.local import CannotScore, requested, using_files, with_programs
from evaluation.metrics import registry
from evaluation.metrics.scoring import MetricRequest
from evaluation.properties import bundled_tables, datasets, measure, suite
from evaluation.properties.suite import Dataset, Table
from submissions.formats.errors import FormatError
from submissions.formats.spreadsheet_formulas import neutral
from submissions.kinds import FAMILIES


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> str:
    """Measure what the options ask for; the tables as text, or as JSON with --json. Raises CannotScore."""
    family, items, dataset = _models(options)
    if options.jobs < 1:
        raise CannotScore("--jobs must be at least 1.")
    with ExitStack() as opened:
        named = with_programs(options.metric, lambda: family, None, options.sandbox, opened)
        columns = requested(named, options.param, None, FAMILIES[family])
        for column in columns:
            if registry.get(column.key).family != family:
                what = f"{column.key} does not measure {FAMILIES[family].plural}"
                raise CannotScore(f"{what}; leave it out, or give it its own kind of model.")
        if options.jobs > 1 and any(registry.get(column.key).is_program for column in columns):
            raise CannotScore("A metric program is measured by one process; leave --jobs out.")
        return _measured(options, items, dataset, columns, progress)


def _measured(
    options: argparse.Namespace,
    items: dict[str, Any],
    dataset: Dataset,
    columns: Sequence[MetricRequest],
    progress: Callable[[str, int], Any],
) -> str:
    kept = using_files(f"What is measured cannot be kept in {options.resume}") if options.resume else nullcontext()
    with closing(progress("measuring", len(items))) as bar, kept:
        tables = measure.run_all(
            [(column.key, column.params, None) for column in columns],
            items,
            dataset,
            progress=lambda done, total: bar.update(1),
            jobs=min(options.jobs, len(items)),
            kept_in=options.resume,
        )
    if options.tables:
        with using_files(f"The tables cannot be written to {options.tables}"):
            options.tables.mkdir(parents=True, exist_ok=True)
            for table in tables:
                path = options.tables / bundled_tables.file_name(table)
                path.write_text(json.dumps(table.to_dict(), indent=1, allow_nan=False) + "\n")
    if options.misordered:
        rows = [(column.slug, *astuple(one)) for column in columns for one in measure.misordered((column.key, column.params, None), items)]
        heads = ("metric", *(field.name for field in fields(measure.Misordered)))
        to = options.misordered
        with using_files(f"{to} cannot be written"), to.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([heads, *([neutral(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)])
    if options.json:
        return json.dumps([{"slug": c.slug, **t.to_dict()} for c, t in zip(columns, tables, strict=True)], indent=1, allow_nan=False)
    return as_text([column.slug for column in columns], tables)


def as_text(slugs: Sequence[str], tables: Sequence[Table]) -> str:
    """A row per metric, a numbered column per test, and a legend of the numbers."""
    tests = [test for test in suite.TESTS if test.id in tables[0].tests]
    rows = [("metric", *(str(n) for n in range(1, len(tests) + 1)), "passed")]
    rows += [
        (slug, *("-" if (rate := table.tests[test.id].rate) is None else f"{rate:.2f}" for test in tests), f"{table.passed} of {table.of}")
        for slug, table in zip(slugs, tables, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{row[0]:<{widths[0]}} " + " ".join(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True)) for row in rows]
    legend = [f"{n:>3}  {test.title}: {test.doc}" for n, test in enumerate(tests, start=1)]
    rules = {"must grow at every step (strict rule)": True, "must not fall at any step (weak rule)": False}
    told = []
    for words, strict in rules.items():
        of_rule = [slug for slug, table in zip(slugs, tables, strict=True) if suite.strict(registry.get(table.key)) == strict]
        if of_rule:
            told.append(f"{words} for {', '.join(of_rule)}")
    legend += ["", f"In the monotonicity tests the distance to the original {'; it '.join(told)}."]
    skipped = max((rate.skipped for rate in tables[0].tests.values()), default=0)
    data = tables[0].dataset
    head = f"Share of {data.n} models for which each test holds ({data.title}); {suite.PASS:.2f} passes, - does not apply."
    if skipped:
        head += f" Up to {skipped} models were too small for some tests."
    return "\n".join([head, "", *lines, "", *legend])


def _models(options: argparse.Namespace) -> tuple[str, dict[str, Any], Dataset]:
    """(family, models by id, what to call them)"""
    given = vars(options)
    for family, row in KINDS.items():
        n = given[row.simulated.option]
        if n is not None:
            if not 1 <= n <= 100_000:
                raise CannotScore("The number of models must be from 1 to 100000.")
            return family, row.simulated.first(n), datasets.dataset(family, n)
    kind, path = next((kind, given[kind.plural]) for kind in FAMILIES.values() if given.get(kind.plural))
    if not path.exists():
        raise CannotScore(f"There is nothing at {path}.")
    try:
        items = kind.load_folder(path)
    except FormatError as error:
        raise CannotScore(f"The {kind.plural} cannot be read: {error}.") from error
    if not items:
        raise CannotScore(f"{path} holds no {kind.singular}; files end in {', '.join(kind.suffixes)}.")
    for name, item in items.items():
        if kind.is_degenerate(item):
            raise CannotScore(f"{name} cannot be measured against; it needs {kind.needs}.")
    name = path.resolve().stem
    key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or kind.plural
    return kind.key, items, Dataset(f"{key}_{len(items)}", options.title or name, len(items), simulated=False)
