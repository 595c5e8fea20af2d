"""Property tables as they ship and as workers leave them, with chosen counts."""

from __future__ import annotations

from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import SuiteRun
from evaluation.properties import suite
from evaluation.properties.suite import Dataset, Rate, Table

HOUSES = Dataset("houses_128", "128 procedural houses", 128, True)
TIGHT = {"tau": 0.21}


def table(key: str, params: dict, passed: int, dataset: Dataset = HOUSES, ms: float = 4.0) -> Table:
    """A table in which the first `passed` tests pass and the next one cannot be judged."""
    tests = suite.tests_of("wireframe")
    rates = {test.id: Rate(1.0 if n < passed else 0.25, None, None, 128, 0) for n, test in enumerate(tests)}
    rates[tests[passed].id] = Rate(None, None, None, 0, 128)
    return Table(key, registry.resolve_params(key, params), registry.fingerprint(key, params), dataset, "2026-03-01", ms, rates)


def run_of(key: str, params: dict, **values) -> SuiteRun:
    fingerprint = registry.fingerprint(key, params)
    given = {"key": key, "params": registry.resolve_params(key, params), "version": suite.SANITY.version, **values}
    return SuiteRun.objects.create(fingerprint=fingerprint, **given)


def measured(key: str = "corner_f1", params: dict = TIGHT, passed: int = 11) -> SuiteRun:
    done = table(key, params, passed)
    return run_of(key, params, state="done", judged_at=timezone.now(), results=[done.to_dict()])
