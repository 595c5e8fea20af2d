"""Sanity tests of metrics with parameters that no table ships for: measured here, in the background."""

from __future__ import annotations

from evaluation.metrics import registry
from evaluation.models.definition import PhaseMetric
from evaluation.models.program import MetricProgram
from evaluation.models.suite_run import SuiteRun
from evaluation.properties import bundled_tables
from evaluation.properties.suite import SANITY, tests_of


def request_missing() -> int:
    """Request sanity tests for every metric of a phase, and every program, that no table ships for; how many runs are new or begin
    again."""
    wanted = {}
    for metric in PhaseMetric.objects.order_by("id"):
        try:
            fingerprint, params = metric.fingerprint, metric.resolved
        except (registry.UnknownMetric, registry.ParamError):
            continue  # of a metric, or a parameter, that is no more
        if not metric.is_retired and is_measurable(metric.spec) and not bundled_tables.tables(fingerprint):
            wanted[fingerprint] = (metric.key, params)
    for program in MetricProgram.objects.newest():
        if is_measurable(program.spec):
            params = registry.resolve_params(program.full_key, {})
            wanted[registry.fingerprint(program.full_key, params)] = (program.full_key, params)
    return SuiteRun.objects.sanity_tests().request(
        SuiteRun(fingerprint=fingerprint, key=key, params=params, version=SANITY.version) for fingerprint, (key, params) in wanted.items()
    )


def is_measurable(spec: registry.MetricSpec) -> bool:
    """Return whether workers run the suite for such a metric. The metric must have tests, and a value for a single model without prompts.
    It must need no accelerator, unless it is a metric program: workers with a card measure those."""
    return (spec.device == "cpu" or spec.is_program) and spec.level != "set" and not spec.wants_prompts and bool(tests_of(spec.family))
