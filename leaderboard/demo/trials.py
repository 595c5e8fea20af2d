"""The demo's trials, kept beside the code: they take minutes, and its boards shall rank from the first look on.

What is kept counts only for the very reference and fingerprint that it was found on; elsewhere the workers try the columns as they
do for everybody. The pictures are made here in any case.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.models import EvaluationBatch, Trial
from evaluation.networks.gate.design import Row
from leaderboard.demo.story import Demo
from submissions.models import Phase

FILE = Path(__file__).with_name("trials.json")


def restore(phase: Phase) -> int:
    """Give the phase's columns the verdicts that are kept for them; how many had one."""
    from evaluation.networks.gate.trial import verdict

    Trial.request_missing()
    restored = 0
    for trial in Trial.objects.waiting().filter(reference__phase=phase, rows=[]):
        recorded = _recorded().get(_name(trial))
        if recorded is None:
            continue
        rows = [
            Row(scene, int(number), damage, *score)
            for scene, numbers in recorded.items()
            for number, damages in numbers.items()
            for damage, score in damages.items()
        ]
        scenes = [verdict(trial.spec, trial.params, name, [row for row in rows if row.scene == name]) for name in trial.scene_names]
        restored += trial.take_over(rows, scenes)
    return restored


def write(demos: tuple[Demo, ...]) -> int:
    """Keep the trials of these demos as they stand on this service; how many."""
    content: dict[str, Any] = {}
    for demo in demos:
        batch = EvaluationBatch.current(Phase.objects.get(challenge__slug=demo.slug, slug=demo.phase))
        assert batch is not None  # the demo has scored it
        for trial in Trial.objects.filter(reference=batch.reference, judged_at__isnull=False).order_by("key"):
            table: dict[str, Any] = {}
            for row in trial.table:
                rounded = [None if number is None else float(f"{number:.6g}") for number in (row.value, row.area)]
                table.setdefault(row.scene, {}).setdefault(str(row.number), {})[row.damage] = rounded
            content[_name(trial)] = table
    FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    _recorded.cache_clear()
    return len(content)


def _name(trial: Trial) -> str:
    return f"{trial.key} {trial.fingerprint[:32]} on {trial.reference.sha256[:32]} by {trial.version}"


@cache
def _recorded() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}
