"""Acceptance test of a column that may not rank yet, by a worker: a few views at a time, after uploads and scoring.

A test that got nothing for a while because entries came all the time goes before them for one slice: a board that cannot rank is as bad as
an entry that waits. All other slices are idle work, done at low priority.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from django.utils import timezone

from evaluation.images.names import file_name
from evaluation.metrics import registry
from evaluation.models.acceptance_test import AcceptanceTest
from evaluation.networks import weights
from evaluation.networks.gate import design as gate
from evaluation.work import attempts, reference_cache
from evaluation.work.child import SCORED
from evaluation.work.sandbox import sandbox
from evaluation.work.shares import SLICE_SECONDS
from submissions.storage import stored_files

MAX_SLICE_SECONDS = 1800  # seconds of the processor for a slice: one subject of a slow network
OVERDUE_SECONDS = 60.0  # without a slice, after which an acceptance test goes before entries


def try_once(worker: str, overdue: bool = False) -> bool:
    """Claim an acceptance test, with `overdue` only one that waited long, and do a slice of it; False if there is none."""
    rows = AcceptanceTest.objects.overdue(OVERDUE_SECONDS) if overdue else AcceptanceTest.objects.waiting()
    return attempts.claim_one(AcceptanceTest, worker, partial(do, idle=not overdue), rows)


def do(acceptance_test: AcceptanceTest, idle: bool = True) -> None:
    """The next slice of a claimed acceptance test: scores, and when all scenes are judged, pictures."""
    attempts.do_slice(
        acceptance_test,
        lambda: _obstacle(acceptance_test),
        lambda folder: (_paint if acceptance_test.judged_at else _score)(acceptance_test, folder, idle),
    )


def _score(acceptance_test: AcceptanceTest, folder: Path, idle: bool) -> bool:
    from evaluation.networks.gate.acceptance_test import verdict

    start, scenes = time.monotonic(), acceptance_test.scene_names
    place, subject = acceptance_test.at or (0, 0)
    job = _job(acceptance_test, scenes[place], subject=subject, seconds=SLICE_SECONDS, idle=idle)
    # Of this test alone, by its gate's version: the files that entries are scored with hold all items, and belong to their batch.
    key = acceptance_test.reference.cache_key(
        acceptance_test.unit_scale, [acceptance_test.fingerprint, acceptance_test.version], job["item_ids"]
    )
    store = stored_files.store()
    job["prepared"] = str(store.local_path(key)) if subject and store.exists(key) else ""

    def heartbeat() -> bool:
        said = (folder / SCORED).read_text() if (folder / SCORED).exists() else ""
        return (
            acceptance_test.heartbeat(done=min(acceptance_test.done + int(said), acceptance_test.total))
            if said.isdigit()
            else acceptance_test.heartbeat()
        )

    found = sandbox.run(folder, job, heartbeat, MAX_SLICE_SECONDS)
    rows = [gate.Row(**row) for row in found["rows"]]
    end = subject + found["subjects"]
    judged = None
    if end < found["of"] and (folder / "prepared").exists():
        reference_cache.save(key, folder / "prepared")
    if end >= found["of"]:
        if subject:
            stored_files.try_delete(key)
        table = [row for row in [*acceptance_test.table, *rows] if row.scene == scenes[place]]
        judged = (
            verdict(acceptance_test.spec, acceptance_test.params, scenes[place], table)
            if table
            else gate.unfit(acceptance_test.spec, acceptance_test.params, scenes[place])
        )
    done = len(acceptance_test.rows) + len(rows)
    left = found["of"] - end + (len(scenes) - place - 1) * gate.MAX_VIEWS
    return acceptance_test.keep(
        rows,
        judged,
        at=[place, end] if judged is None else [place + 1, 0],
        done=done,
        total=done + left * gate.scores_per_subject(acceptance_test.spec, acceptance_test.params),
        seconds=acceptance_test.seconds + time.monotonic() - start,
    )


def _paint(acceptance_test: AcceptanceTest, folder: Path, idle: bool) -> bool:
    """The pictures of one scene that has none yet, unless another test of the kind has made them: they change nothing counted."""
    has_pictures = gate.kind_of(acceptance_test.spec, acceptance_test.params) in (gate.CROSS, gate.FULL)
    missing = (
        [one.scene for one in acceptance_test.verdicts if one.views and one.scene not in acceptance_test.pictures] if has_pictures else []
    )
    if not missing:
        return acceptance_test.keep([], None, state=AcceptanceTest.State.DONE, finished_at=timezone.now())
    job = _job(acceptance_test, missing[0], subject=None, seconds=0, idle=idle)
    made = sandbox.run(folder, job, acceptance_test.heartbeat, MAX_SLICE_SECONDS)["pictures"]
    for number, (damage, *_) in enumerate(made):
        stored_files.store().save_file(acceptance_test.picture_key(missing[0], damage), folder / file_name(number, "acceptance_test"))
    return acceptance_test.keep([], None, pictures={**acceptance_test.pictures, missing[0]: made})


def _obstacle(acceptance_test: AcceptanceTest) -> str:
    """Reason why this worker must not do it: weights are not here, or they or the code are not those of the column."""
    spec = acceptance_test.spec
    if found := weights.refusal(spec, acceptance_test.params):
        return found
    if registry.fingerprint(acceptance_test.key, acceptance_test.params) != acceptance_test.fingerprint:
        return f"The acceptance test of {spec.title} is wanted for another version, or for other weights, than this worker has."
    return ""


def _job(acceptance_test: AcceptanceTest, scene: str, **asked: Any) -> dict[str, Any]:
    reference = acceptance_test.reference
    column = {"slug": "tried", "key": acceptance_test.key, "params": acceptance_test.params, "fingerprint": acceptance_test.fingerprint}
    return {
        "kind": "acceptance_test",
        "family": reference.family.key,
        "reference": str(stored_files.store().local_path(reference.key)),
        "item_ids": gate.items_of(acceptance_test.spec, acceptance_test.params, scene, reference.item_ids),
        "unit_scale": acceptance_test.unit_scale,
        "requests": [{**column, "weights_sha256": weights.digest_of(acceptance_test.spec, acceptance_test.params)}],
        "scene": scene,
        **asked,
    }
