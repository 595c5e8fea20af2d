"""Metric programs as organizers write them, in folders and in the database."""

from __future__ import annotations

import textwrap
from pathlib import Path

from evaluation.models import MetricProgram, program
from evaluation.programs import files
from submissions.models import Challenge, User

LENGTHS = """
    import numpy as np

    def length(item):
        ends = item.vertices[item.edges]
        return float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum())

    def score(prediction, reference, params):
        return {"value": abs(length(prediction) - length(reference)) * params.get("factor", 1), "parts": {"length": length(prediction)}}
"""
# Drawn anew each time, but never better for what is damaged: nothing else is wrong with it.
DRAWN = """
    import os

    def score(prediction, reference, params):
        a, b = prediction.vertices, reference.vertices
        moved = a.shape != b.shape or bool((a != b).any())
        return int.from_bytes(os.urandom(2), "little") / 65536 + moved
"""
LIAR = """
    def score(prediction, reference, params):
        return 1.5 + len(prediction.vertices)
"""
SLOW = """
    def score(prediction, reference, params):
        while True:
            pass
"""


def written(folder: Path, code: str = LENGTHS, **fields: object) -> Path:
    """A program's folder: `code` in score.py, and what is given beside a plain document."""
    lines = {
        "key": "lengths",
        "title": "Lengths",
        "kind": "wireframe",
        "higher_is_better": "false",
        "bounds": "[0, null]",
        "worst": "100",
        "run": "python",
        "entry": "score.py:score",
        "effort": "{seconds: 0.5, memory_mb: 60}",
    } | fields
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "metric.yaml").write_text("".join(f"{name}: {value}\n" for name, value in lines.items()))
    (folder / "score.py").write_text(textwrap.dedent(code))
    return folder


def added(challenge: Challenge, folder: Path, **values) -> MetricProgram:
    """The program in the folder, added to the challenge and not checked yet."""
    return MetricProgram.add(challenge, folder, folder.name, None, **values)


def ready(challenge: Challenge, folder: Path, by: User | None = None, **fields: object) -> MetricProgram:
    """A program that may score, as if `by` had brought it and a worker had checked it."""
    found = files.read(written(folder, **{"key": "own_lengths", "title": "Own lengths"} | fields))
    return passed(MetricProgram._stored(challenge, challenge.slug, found, by, True))


def passed(row: MetricProgram) -> MetricProgram:
    """The program as if a worker had checked it."""
    checks = {name: {"passed": True, "sentence": "It went well.", "rows": []} for name in ("run", "determinism")}
    MetricProgram.objects.filter(pk=row.pk).update(state=MetricProgram.State.READY, report=checks, environment={"python": "3.11.0"})
    program.forget()
    row.refresh_from_db()
    return row
