"""The lines that hold a metric's definition, as the command prints them."""

import json
from pathlib import Path

import pytest

from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.specification_lines import lines

RECORDED = json.loads(Path(__file__).with_name("fingerprints.json").read_text())


def test_the_lines_of_a_metric_say_where_each_belongs():
    assert lines(REGISTRY["hss"]).splitlines() == [
        "tests/pure/evaluation/metrics/test_registry.py, INDEX:",
        "    \"hss\": (True, (0.0, 1.0), '', '0'),",
        "tests/pure/evaluation/metrics/test_registry.py, DEFAULTS:",
        "    \"hss\": {'vert_thresh': 0.5, 'edge_thresh': 0.5, 'sections': 6},",
        "tests/pure/evaluation/metrics/fingerprints.json:",
        f' "hss": "{RECORDED["hss"]}",',
    ]


@pytest.mark.parametrize("key", REGISTRY)
def test_the_fingerprint_is_the_recorded_one(key):
    assert lines(REGISTRY[key]).splitlines()[-1] == f' "{key}": "{RECORDED[key]}",'
