"""Runs of suites of tests, by a worker: a slice at a time, at low priority, when nothing else is to be done.

A slice is short, so that an upload that arrives meanwhile waits a moment at most. Sanity tests whose slice turns out long (a metric that
takes seconds a value) are dropped as soon as an entry waits. An acceptance test that got nothing for a while because entries came all the
time goes before them for one slice: a board that cannot rank is as bad as an entry that waits.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.images.names import file_name
from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.models import MetricProgram, SuiteRun
from evaluation.networks import weights
from evaluation.properties.gate import design as gate
from evaluation.work import attempts, reference_cache, shares
from evaluation.work.child import SCORED
from evaluation.work.sandbox import sandbox
from submissions.storage import stored_files

SLICE_SECONDS = shares.TURN_SECONDS  # what a slice aims at; a single value or subject of a slow metric may take longer
MAX_SLICE_SECONDS = 1800  # seconds of the processor for a slice: one subject of a slow network
OVERDUE_SECONDS = 60.0  # without a slice, after which an acceptance test goes before entries


def sanity_tests_once(worker: str, device: str = "cpu") -> bool:
    """Claim sanity tests of a device and do a slice of them; False if there are none."""
    return attempts.claim_one(SuiteRun, worker, partial(do, device=device), SuiteRun.objects.sanity_tests().waiting(device))


def acceptance_test_once(worker: str, overdue: bool = False) -> bool:
    """Claim an acceptance test, with `overdue` only one that waited long, and do a slice of it; False if there is none."""
    rows = SuiteRun.objects.acceptance_tests()
    rows = rows.overdue(OVERDUE_SECONDS) if overdue else rows.waiting()
    return attempts.claim_one(SuiteRun, worker, partial(do, idle=not overdue), rows)


def do(run: SuiteRun, device: str = "cpu", idle: bool = True) -> None:
    """The next slice of a claimed run, by a worker of a device: measurements, and when an acceptance test is judged, pictures."""
    slice_in = partial(_paint, run, idle) if run.judged_at else partial(_measure, run, device, idle)
    attempts.do_slice(run, lambda: _obstacle(run), slice_in)


def _measure(run: SuiteRun, device: str, idle: bool, folder: Path) -> bool:
    start, job, kept = time.monotonic(), _job(run, idle) | {"seconds": SLICE_SECONDS}, ""
    if run.reference is not None:
        place, subject = run.at or (0, 0)
        scenes = run.scene_names
        job |= _on_reference(run, scenes[place]) | {"scenes_left": len(scenes) - place - 1, "pictures": False}
        # Of this test alone, by its suite's version: the files that entries are scored with hold all items, and belong to their batch.
        kept = run.reference.cache_key(run.unit_scale, [run.fingerprint, run.version], job["item_ids"])
        store = stored_files.store()
        job["prepared"] = str(store.local_path(kept)) if subject and store.exists(kept) else ""

    def heartbeat() -> bool:
        if run.reference is None and shares.entries_wait(device):
            raise attempts.Yielded
        said = (folder / SCORED).read_text() if (folder / SCORED).exists() else ""
        return run.heartbeat(**({"done": min(int(said), run.total)} if said.isdigit() else {}))

    found = sandbox.run(folder, job, heartbeat, None if run.reference is None else MAX_SLICE_SECONDS)
    if run.reference is not None and len(found["results"]) > len(run.results):
        if subject:
            stored_files.try_delete(kept)
    elif (folder / "prepared").exists():
        reference_cache.save(kept, folder / "prepared")
    return run.keep(found, time.monotonic() - start)


def _paint(run: SuiteRun, idle: bool, folder: Path) -> bool:
    """The pictures of one scene that has none yet, unless another test of the kind has made them: they change nothing counted."""
    has_pictures = gate.kind_of(run.spec, run.params) in (gate.CROSS, gate.FULL)
    missing = [one.scene for one in run.verdicts if one.views and one.scene not in run.pictures] if has_pictures else []
    if not missing:
        return run.finish()
    job = _job(run, idle) | _on_reference(run, missing[0]) | {"pictures": True}
    made = sandbox.run(folder, job, run.heartbeat, MAX_SLICE_SECONDS)["pictures"]
    for number, (damage, *_) in enumerate(made):
        stored_files.store().save_file(run.picture_key(missing[0], damage), folder / file_name(number, "acceptance_test"))
    return run.keep_pictures(missing[0], made)


def _obstacle(run: SuiteRun) -> str:
    """Reason why this worker cannot do it: weights are missing, or the weights or the code differ from the request's."""
    spec = registry.find(run.key)
    if spec is None:
        return f"There is no metric {run.key} any more."
    if found := weights.refusal(spec, run.params):
        return found
    if registry.fingerprint(run.key, run.params) == run.fingerprint:
        return ""
    if not spec.networks:
        return f"The {run.suite.title} of {spec.title} are wanted for another version than this worker's code has."
    return (
        f"The {run.suite.title} of {spec.title} are wanted for other weights (their sha256 differs) or other code than this server has. "
        "Put those back, or take the metric out of its phase and add it again."
    )


def _job(run: SuiteRun, idle: bool) -> dict[str, Any]:
    column = Column("tried", run.key, run.params, run.fingerprint, weights.digest_of(run.spec, run.params))
    progress = {name: getattr(run, name) for name in ("rows", "at", "results", "done", "total")}
    return {
        "kind": "suite",
        "requests": [column.definition()],
        "programs": MetricProgram.orders([column]),
        "progress": progress,
        "idle": idle,
    }


def _on_reference(run: SuiteRun, scene: str) -> dict[str, Any]:
    assert run.reference is not None
    return {
        "family": run.reference.family.key,
        "reference": str(stored_files.store().local_path(run.reference.key)),
        "item_ids": gate.items_of(run.spec, run.params, scene, run.reference.item_ids),
        "unit_scale": run.unit_scale,
        "scene": scene,
    }
