"""The demo's acceptance tests, kept beside the code: they take minutes, and its boards shall rank from the first look on.

A kept test counts only for the same reference and fingerprint. The workers test all other columns, and make the pictures in any case.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.models import EvaluationBatch, SuiteRun, acceptance_test
from evaluation.properties.gate.acceptance_test import verdict
from evaluation.properties.gate.design import Row
from leaderboard.demo.story import Demo
from submissions.models import Phase

FILE = Path(__file__).with_name("acceptance_tests.json")


def restore(phase: Phase) -> int:
    """Give the phase's columns the verdicts that are kept for them; how many had one."""
    acceptance_test.request_missing()
    restored = 0
    for run in SuiteRun.objects.acceptance_tests().waiting().filter(reference__phase=phase, judged_at=None):
        recorded = _recorded().get(_name(run))
        if recorded is None:
            continue
        rows = [
            Row(scene, int(number), damage, *score)
            for scene, numbers in recorded.items()
            for number, damages in numbers.items()
            for damage, score in damages.items()
        ]
        scenes = [verdict(run.spec, run.params, name, [row for row in rows if row.scene == name]) for name in run.scene_names]
        restored += run.take_over(rows, scenes)
    return restored


def write(demos: tuple[Demo, ...]) -> int:
    """Keep the acceptance tests of these demos as they stand on this service; how many."""
    content: dict[str, Any] = {}
    for demo in demos:
        batch = EvaluationBatch.current(Phase.objects.get(challenge__slug=demo.slug, slug=demo.phase))
        assert batch is not None  # the demo has scored it
        for run in SuiteRun.objects.filter(reference=batch.reference, judged_at__isnull=False).order_by("key"):
            table: dict[str, Any] = {}
            for row in run.scores:
                rounded = [None if number is None else float(f"{number:.6g}") for number in (row.value, row.area)]
                table.setdefault(row.scene, {}).setdefault(str(row.number), {})[row.damage] = rounded
            content[_name(run)] = table
    FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    _recorded.cache_clear()
    return len(content)


def _name(run: SuiteRun) -> str:
    return f"{run.key} {run.fingerprint[:32]} on {run.reference.sha256[:32]} by {run.version}"


@cache
def _recorded() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}
