"""Lines of a metric for the tests that hold its definition: its rows of the specification and its fingerprint. PURE."""

from __future__ import annotations

import json

from evaluation.metrics.registry import fingerprint, resolve_params
from evaluation.metrics.spec import MetricSpec

UNKNOWN_WEIGHTS = "0" * 64  # in place of the digest of a network's weights, so that the fingerprint is of the definition alone


def lines(spec: MetricSpec) -> str:
    """The lines to be checked against the metric's paper, and then to be pasted, each below the file that it is for."""
    index = (spec.higher_is_better, spec.bounds, spec.unit, spec.worst)
    digest = fingerprint(spec.key, {}, UNKNOWN_WEIGHTS if spec.networks else None)
    return "\n".join(
        (
            "tests/pure/evaluation/metrics/test_registry.py, INDEX:",
            f"    {json.dumps(spec.key)}: {index!r},",
            "tests/pure/evaluation/metrics/test_registry.py, DEFAULTS:",
            f"    {json.dumps(spec.key)}: {resolve_params(spec.key, {})!r},",
            "tests/pure/evaluation/metrics/fingerprints.json:",
            f" {json.dumps(spec.key)}: {json.dumps(digest)},",
            "",
        )
    )
